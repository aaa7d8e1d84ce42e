"""The size of recordings: never a full disk, and what would have made them smaller."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from program_text import program_text
import recorded_programs as programs
from recorded_programs import Recorded, top

HARD_NAMES = program_text("recorders/cases/hard_names.cc")
FIB = program_text("recorders/cases/fib.cc")


class Volume(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = programs.build("g++", *programs.CALL_FLAGS, source=FIB)

    def test_a_small_disk_is_not_filled(self):
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small disk")
        with tempfile.TemporaryDirectory() as folder:
            script = ('mount -t tmpfs -o size=8M none "$0" && cd "$0" && "$1" run -o x.xray -- "$2" 26 && df -B1 --output=avail . &&'
                      ' "$1" info --json x.xray >"$3"; "$1" run --size 9M -- "$2" 3; echo "status $?"')
            told = os.path.join(tempfile.mkdtemp(dir=programs.folder()), "info.json")
            done = subprocess.run(["unshare", "--mount", "sh", "-c", script, folder, programs.TELLTALE, self.program, told],
                                  capture_output=True, text=True, timeout=120)
            if "mount" in done.stderr:
                self.skipTest(done.stderr)
            available, status = done.stdout.split("\n")[1:3]
            self.assertGreater(int(available), 3_000_000)
            self.assertRegex(done.stderr, r"\d+ events lost: the file may not grow further, see --size")
            self.assertIn("a recording of 9M does not fit", done.stderr)
            self.assertEqual(status, "status 2")
            # fib(26) makes 392,835 calls of itself; main is the last.
            self.assertRegex(pathlib.Path(told).read_text(), r"\d+ events lost: without a buffer")

    def test_a_large_recording_says_what_made_it_large(self):
        if shutil.disk_usage(tempfile.gettempdir()).free < 200_000_000:
            self.skipTest("needs 200 MB of disk")
        run = Recorded(self.program, 30)
        self.assertRegex(run.done.stderr, r"telltale: fib\(long\) made 100 % of the calls, 43 MB; --without 'fib\(\*' leaves it out")
        self.assertRegex(run.done.stderr, r"telltale: --min 1+0*us leaves out at least \d+ % of the calls, \d+ MB")
        small = Recorded(self.program, 30, options=["--without", "fib(*"])
        self.assertLess(small.file.stat().st_size, 100_000)
        self.assertNotIn("--without", small.done.stderr)
        self.assertNotIn("made 100 %", Recorded(self.program, 30, options=["--quiet"]).done.stderr)

    def test_what_it_suggests_has_an_effect(self):
        if shutil.disk_usage(tempfile.gettempdir()).free < 200_000_000:
            self.skipTest("needs 200 MB of disk")
        names = {"Row::operator[](unsigned long)", "int shop::pair_of<int, long>(int, long)", "(anonymous namespace)::hidden(int)"}
        program = programs.build("g++", *programs.CALL_FLAGS, "-finstrument-functions-exclude-file-list=/c++/,/usr/", source=HARD_NAMES)
        hints = re.findall(r"telltale: (.*) made \d+ % of the calls, \d+ MB; --without (.*) leaves it out", Recorded(program, 750_000).done.stderr)
        self.assertEqual({name for name, _ in hints}, names)
        for name, pattern in hints:
            with self.subTest(name=name):
                run = Recorded(program, 10, options=["--without", *shlex.split(pattern)])
                self.assertEqual(set(top(run.file)) & names, names - {name}, pattern)


if __name__ == "__main__":
    unittest.main()
