"""On a terminal, long work shows how far it is; nowhere else."""
import os
import pathlib
import pty
import re
import select
import subprocess
import tempfile
import time
import unittest

import recorded_programs as programs
from recorded_programs import Recorded
from sampler_programs import RELEASES, SOURCE_DIR, build


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

    def test_path_files(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        program = build(folder / "graded", RELEASES[-1], "--trace=pt.schema", "-silent", "-O0", SOURCE_DIR / "tests/programs/csi/graded.c")
        files = {}
        for mode, label in ((7, "failed"), (11, "passed"), (12, "passed")):
            files[mode] = folder / label / f"{mode}.core"
            files[mode].parent.mkdir(exist_ok=True)
            subprocess.run([program, "5", str(mode)], stdout=subprocess.DEVNULL, check=False,
                           env={"TELLTALE_PATHS": str(files[mode]), "TELLTALE_PATHS_AT_EXIT": "1"})
        errors, out = self.errors("isolate", "--failed", folder / "failed", "--passed", folder / "passed", "--program", program)
        self.assertRegex(errors, r"\rreading( again)?: \d+ %\x1b\[K")
        self.assertNotIn("reading", out)
        errors, out = self.errors("paths", files[7], "--program", program, "--slice")
        self.assertRegex(errors, r"\rsearching what made the program stop\x1b\[K")
        self.assertNotIn("searching", out)

    def test_patience(self):
        self.assertEqual(self.errors("top", self.file, patience="100000")[0], "")

    def test_no_terminal_no_line(self):
        done = subprocess.run([programs.TELLTALE, "top", self.file], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, TELLTALE_PROGRESS_MS="0"))
        self.assertEqual(done.stderr, "")


class RunProgress(unittest.TestCase):
    """`telltale run`. No test depends on how fast anything is: where no line is expected, there was time for many."""
    LINE = re.compile(rb"recording: \d+ s, [\d.]+ (bytes|KiB|MiB)(, about [\d,]+ events)?\x1b\[K\r")

    @classmethod
    def setUpClass(cls):
        cls.program = programs.build("g++", *programs.CALL_FLAGS, source=(programs.PROGRAMS / "recorders/waits_for_input.cc").read_text())

    def start(self, *options, output_too=False):
        """Starts a recording with a terminal at standard error; its input stays open."""
        self.terminal, theirs = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        out = theirs if output_too else subprocess.DEVNULL
        self.place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        process = subprocess.Popen([programs.TELLTALE, "run", *options, "--", self.program], cwd=self.place, stdin=subprocess.PIPE,
                                   stdout=out, stderr=theirs, env=dict(os.environ, TELLTALE_PROGRESS_MS="0"))
        os.close(theirs)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        return process

    def read(self, until=None):
        """What the terminal got: up to a pattern, or to the end."""
        text = b""
        while until is None or not re.search(until, text):
            self.assertTrue(select.select([self.terminal], [], [], 60)[0], text)
            try:
                block = os.read(self.terminal, 4096)
            except OSError:  # the other end is closed
                block = b""
            if not block:
                self.assertIsNone(until, text)
                break
            text += block
        return text

    def test_the_line_comes_and_goes(self):
        process = self.start()
        process.stdin.write(b"x")
        process.stdin.flush()
        # The line says 0 bytes until the recording begins.
        before = self.read(rb"recording: \d+ s, [\d.]+ KiB, about [\d,]+ events\x1b\[K\r")
        self.assertRegex(before, self.LINE)
        process.stdin.close()
        after = self.read()
        self.assertRegex(self.LINE.sub(b"", after), rb"^\x1b\[Ktelltale: recorded ")
        self.assertEqual(process.wait(), 1)

    def none_is_shown(self, process):
        time.sleep(0.3)
        # Without a call there would be no recording.
        process.stdin.write(b"x")
        process.stdin.close()
        text = self.read()
        process.wait()
        return text

    def test_quiet(self):
        self.assertEqual(self.none_is_shown(self.start("-q")), b"")

    def test_a_program_that_may_write_to_the_same_terminal(self):
        text = self.none_is_shown(self.start(output_too=True))
        self.assertNotRegex(text, self.LINE)
        self.assertIn(b"telltale: recorded ", text)

    def test_no_terminal(self):
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        with subprocess.Popen([programs.TELLTALE, "run", "--", self.program], cwd=place, stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, TELLTALE_PROGRESS_MS="0")) as process:
            time.sleep(0.3)
            _, errors = process.communicate()
        self.assertNotIn(b"recording:", errors)


if __name__ == "__main__":
    unittest.main()
