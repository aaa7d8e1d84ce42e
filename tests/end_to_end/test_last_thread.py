"""Programs that end with their last thread end so while they are recorded, and print what they print otherwise."""
import os
import pathlib
import shutil
import subprocess
import unittest

from recorder_programs import TELLTALE, new_folder

SOURCE = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"]) / "tests/programs/recorders/cases/ends_by_last_thread.c"
CLANG = next((name for name in ("clang-22", "clang-19") if shutil.which(name)), None)
RUNS = 8


def build(compiler, *flags):
    program = new_folder() / "program"
    subprocess.run([compiler, "-g", "-O1", *flags, "-pthread", SOURCE, "-o", program], check=True, timeout=60)
    return program


def programs():
    yield "gcc", build("gcc", "-finstrument-functions")
    if CLANG is not None:
        yield "clang", build(CLANG, "-fxray-instrument", "-fxray-instruction-threshold=1")


class LastThreadTest(unittest.TestCase):
    def check(self, options, arguments):
        for compiler, program in programs():
            for run in range(RUNS):
                with self.subTest(compiler=compiler, run=run):
                    file = new_folder() / "a.xray"
                    done = subprocess.run([TELLTALE, "run", *options, "-o", file, "--", program, *map(str, arguments)], capture_output=True,
                                          text=True, timeout=60)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(done.stdout, "worked\n" * arguments[0] + "all are gone\n")

    def test_without_threads_of_the_recorder(self):
        self.check([], (3, "all"))

    def test_with_a_sparse_clock(self):
        for who in ("all", "first", "others"):
            self.check(["--sparse", "16"], (3, who))

    def test_with_control(self):
        self.check(["--control"], (0, "all"))
        self.check(["--control"], (3, "all"))
        self.check(["--control"], (40, "all"))
        self.check(["--control"], (3, "others"))

    def test_with_both(self):
        self.check(["--control", "--sparse", "16"], (3, "all"))

    def test_with_control_of_a_thread_that_records_nothing(self):
        """The recorder does not see it end. The process ends all the same, a second later, but without the program's files."""
        for compiler, program in programs():
            with self.subTest(compiler=compiler):
                done = subprocess.run([TELLTALE, "run", "--control", "-o", new_folder() / "a.xray", "--", program, "1", "first"],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
