"""telltale paths of a stripped program whose debug file is on a debuginfod server: one on this machine, which is a stand-in."""
import http.server
import json
import os
import pty
import re
import subprocess
import threading
import unittest

from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run
from test_paths import TELLTALE, traced_frames

SOURCE = SOURCE_DIR / "tests/programs/csi/crash_ways.c"


class Debuginfod(SamplerCase):
    def setUp(self):
        super().setUp()
        program = build(self.path("crash_ways"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O1", "-pthread", SOURCE)
        self.debug, self.stripped, self.file = self.path("ways.debug"), self.path("stripped"), self.path("paths")
        run("objcopy", "--only-keep-debug", program, self.debug)
        run("strip", "-g", program, "-o", self.stripped)
        run(self.stripped, "fault", env={"TELLTALE_PATHS": str(self.file)}, cwd=self.folder)
        build_id = re.search("Build ID: ([0-9a-f]+)", run("readelf", "-n", self.stripped).stdout)[1]
        self.debug_url = f"/buildid/{build_id}/debuginfo"
        self.asked = []

    def serve(self, answer):
        """The environment of a program that asks a server, which calls `answer` with each request."""
        asked = self.asked

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                answer(self)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}", "DEBUGINFOD_CACHE_PATH": str(self.path("cache"))}

    def test_debug_information_of_a_server(self):
        def answer(request):
            known = request.path == self.debug_url
            request.send_response(200 if known else 404)
            request.end_headers()
            if known:
                request.wfile.write(self.debug.read_bytes())
        done = run(TELLTALE, "paths", self.file, "--program", self.stripped, "--json", env=self.serve(answer))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        frames = traced_frames(json.loads(done.stdout))
        self.assertEqual([frame["function"] for frame in frames], ["end", "parse", "main"], self.asked)
        self.assertEqual(len(frames[1]["paths"]), 2)

    def test_a_file_of_another_build_is_not_used(self):
        other, debug = self.path("other"), self.path("other.debug")
        build(other, RELEASES[-1], "--trace=pt.schema", "-silent", "-O0", "-pthread", SOURCE)
        run("objcopy", "--only-keep-debug", other, debug)

        def answer(request):
            request.send_response(200)
            request.end_headers()
            request.wfile.write(debug.read_bytes())
        without = run(TELLTALE, "paths", self.file, "--program", self.stripped)
        done = run(TELLTALE, "paths", self.file, "--program", self.stripped, env=self.serve(answer))
        self.assertIn(self.debug_url, self.asked)
        self.assertEqual((done.returncode, done.stdout), (0, without.stdout))
        self.assertIn(f"telltale: {self.stripped}: .debug_info at byte 0: a server of DEBUGINFOD_URLS sent the debug file of another build, which is not "
                      "used\n", done.stderr)

    def test_a_server_that_does_not_answer_is_asked_once_for_each_file(self):
        over = threading.Event()
        self.addCleanup(over.set)
        environment = self.serve(lambda _: over.wait(60))
        ours, theirs = pty.openpty()  # who is waited for is said on terminals
        self.addCleanup(os.close, ours)
        merged = {**os.environ, **environment, "DEBUGINFOD_TIMEOUT": "2", "TELLTALE_PROGRESS_MS": "100"}
        merged.pop("DEBUGINFOD_RETRY_LIMIT", None)
        done = subprocess.run([TELLTALE, "paths", self.file, "--program", self.stripped], stdout=subprocess.DEVNULL, stderr=theirs,
                              stdin=subprocess.DEVNULL, env=merged, timeout=60)
        os.close(theirs)
        self.assertEqual(done.returncode, 0)
        said = os.read(ours, 65536).decode()
        self.assertEqual(said.count(f"telltale: waiting for debug files from {environment['DEBUGINFOD_URLS']} (DEBUGINFOD_URLS)"), 1, said)
        self.assertIn(self.debug_url, self.asked)
        self.assertEqual(len(self.asked), len(set(self.asked)), self.asked)


if __name__ == "__main__":
    unittest.main()
