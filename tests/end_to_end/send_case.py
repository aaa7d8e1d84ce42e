"""Shared by the tests of what waits in a spool and is sent: a spool, a user's home, and a server that replies as it is told."""
import http.server
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

from study_case import telltale

DEAD = "http://127.0.0.1:1"  # nobody listens there


class FakeServer:
    """Replies to each POST as it is told, and keeps what it got."""

    def __init__(self, *replies):
        self.replies, self.requests = list(replies), []
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                fake.requests.append((self.path, dict(self.headers), body))
                status, fields, text = fake.replies.pop(0) if fake.replies else (200, {}, '{"duplicate":false}')
                self.send_response(status)
                for name, value in {**fields, "Content-Length": str(len(text))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class SendCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-send-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.spool, self.store = self.folder / "spool", self.folder / "store"
        self.spool.mkdir()
        self.home = self.folder / "home"
        self.home.mkdir()

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SAMPLER_", "TELLTALE_COLLECT", "XDG_"))}
        return {**kept, "HOME": str(self.home), **{name: str(value) for name, value in more.items()}}

    def telltale(self, *words, **options):
        environment = options.pop("env", self.environment())
        return telltale(*words, env=environment, **options)

    def spooled(self, program, *arguments, **more):
        """Runs a program that puts its report into the spool by itself."""
        variables = {"TELLTALE_COLLECT": self.spool, "SAMPLER_SPARSITY": 1, **more}
        variables = {name: value for name, value in variables.items() if value is not None}
        return subprocess.run([program, *map(str, arguments)], env=self.environment(**variables), capture_output=True, text=True, timeout=60)

    def waiting(self):
        return sorted(path.stem for path in self.spool.glob("*.report"))

    def consent(self, text):
        path = self.home / ".config/telltale/collect"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def send(self, url, *words, **options):
        return self.telltale("send", self.spool, "--to", url, *words, **options)
