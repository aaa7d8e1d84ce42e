"""The systemd unit of `telltale collect`: systemd accepts it, and its commands start, reload and stop the server."""
import configparser
import json
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.request

from collect_server import TELLTALE
from sampler_programs import SOURCE_DIR

UNIT = SOURCE_DIR / "packages/systemd/telltale-collect.service"


class UnitTest(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="telltale-unit-")))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_systemd_accepts_it(self):
        text = UNIT.read_text()
        self.assertIn("\nExecStart=telltale ", text)
        unit = self.place / UNIT.name
        unit.write_text(text.replace("\nExecStart=telltale ", f"\nExecStart={TELLTALE} "))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
        self.assertEqual((done.returncode, [line for line in done.stderr.splitlines() if UNIT.name in line]), (0, []), done.stderr)
        # Of 100, where 0 is a service that may do nothing; services without any restriction have 96.
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=25", "--no-pager", unit], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_its_commands_start_reload_and_stop_the_server(self):
        unit = configparser.ConfigParser(interpolation=None, delimiters="=", strict=False)
        unit.optionxform = str
        unit.read(UNIT)
        service = unit["Service"]
        store = self.place / service["StateDirectory"]
        words = service["ExecStart"].split()
        self.assertEqual((words[0], words[-1]), ("telltale", "$COLLECT_OPTIONS"))
        self.assertIn(f"/var/lib/{service['StateDirectory']}", words)
        self.assertEqual(service["ExecReload"], "kill -HUP $MAINPID")
        words = [TELLTALE, *(str(store) if word == f"/var/lib/{service['StateDirectory']}" else word for word in words[1:-1])]
        server = subprocess.Popen([*words, "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, env={"PATH": "/usr/bin:/bin"},
                                  umask=int(service["UMask"], 8))
        try:
            ready = next(event for event in map(json.loads, server.stderr) if event["event"] == "ready")
            for number in (signal.SIGHUP, 0):
                with urllib.request.urlopen(f"http://127.0.0.1:{ready['port']}/healthz", timeout=60) as answer:
                    self.assertEqual(answer.status, 200)
                server.send_signal(number)
            server.terminate()
            self.assertEqual(server.wait(timeout=60), 0, "a stop is no failure that Restart=on-failure would answer")
            self.assertEqual(store.stat().st_mode & 0o777, int(service["StateDirectoryMode"], 8))
        finally:
            server.kill()
            server.wait()
            server.stderr.close()


if __name__ == "__main__":
    unittest.main()
