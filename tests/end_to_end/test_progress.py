"""On a terminal, long work shows how far it is; nowhere else."""
import os
import pathlib
import pty
import subprocess
import tempfile
import unittest

import recorded_programs as programs
from recorded_programs import Recorded


class Progress(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Buffers of 4 KiB: many parts.
        program = programs.build("g++", *programs.CALL_FLAGS)
        cls.file = Recorded(program, 20_000, options=["--set", "buffer=4K"]).file

    def errors(self, *command, patience="0"):
        """What a terminal at standard error gets, and what standard output gets."""
        with tempfile.TemporaryFile() as out:
            ours, theirs = pty.openpty()
            with subprocess.Popen([programs.TELLTALE, *map(str, command)], stdout=out, stderr=theirs, stdin=subprocess.DEVNULL,
                                  env=dict(os.environ, TELLTALE_PROGRESS_MS=patience)) as process:
                os.close(theirs)
                text = b""
                while True:
                    try:
                        block = os.read(ours, 4096)
                    except OSError:  # the other end is closed
                        break
                    if not block:
                        break
                    text += block
            os.close(ours)
            self.assertEqual(process.returncode, 0, text)
            out.seek(0)
            return text.decode(), out.read().decode()

    def test_the_line_comes_and_goes(self):
        output = pathlib.Path(tempfile.mkdtemp(dir=programs.folder())) / "calls.csv"
        for command in (["top"], ["report"], ["stacks"], ["convert", "-o", output]):
            with self.subTest(command=command[0]):
                errors, out = self.errors(command[0], self.file, *command[1:])
                self.assertRegex(errors, r"\rreading( again)?: \d+ %\x1b\[K")
                self.assertTrue(errors.endswith("\r\x1b[K"), errors)
                self.assertNotIn("reading", out)

    def test_patience(self):
        self.assertEqual(self.errors("top", self.file, patience="100000")[0], "")

    def test_no_terminal_no_line(self):
        done = subprocess.run([programs.TELLTALE, "top", self.file], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, TELLTALE_PROGRESS_MS="0"))
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
