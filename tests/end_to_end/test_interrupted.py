"""A signal that ends telltale leaves neither temporary files nor programs behind."""
import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import recorded_programs as programs
from recorded_programs import Recorded
from sampler_programs import RELEASES, build
from study_case import PROGRAMS, SCHEMES

# Commands that write their process id into the file "started", wait, and obey SIGTERM.
DIES = "echo $$ >started; exec sleep 1000"
EXITS = "trap 'exit 0' TERM; echo $$ >started; while :; do sleep 0.05; done"


class InterruptedTest(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="telltale-interrupted-")))
        self.temporary = self.place / "temporary"
        self.temporary.mkdir()

    def start(self, *words):
        process = subprocess.Popen([programs.TELLTALE, *map(str, words)], cwd=self.place, env={**os.environ, "TMPDIR": str(self.temporary)},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    @staticmethod
    def end(program):
        with contextlib.suppress(ProcessLookupError):
            os.kill(program, signal.SIGKILL)

    def wait_for(self, pattern, process):
        """The first file of that name that is not empty."""
        while True:
            found = [path for path in self.place.glob(pattern) if path.stat().st_size]
            if found:
                return found[0]
            self.assertIsNone(process.poll(), f"{pattern} did not come")

    def test_bench_ends_with_its_program(self):
        for script in (DIES, EXITS):
            with self.subTest(script):
                (self.place / "started").unlink(missing_ok=True)
                process = self.start("bench", "--runs", 3, "sh", "-c", script, "--", "true")
                started = self.wait_for("started", process)
                program = int(started.read_text())
                self.addCleanup(self.end, program)
                self.assertEqual(len(list(self.temporary.glob("telltale-bench-*/a1"))), 1)
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(60), -signal.SIGTERM)
                with self.assertRaises(ProcessLookupError):
                    os.kill(program, 0)
                self.assertEqual(list(self.temporary.iterdir()), [])

    def test_a_comparison_of_runs_ends_with_its_program(self):
        for script in (DIES, EXITS):
            with self.subTest(script):
                (self.place / "started").unlink(missing_ok=True)
                process = self.start("run", "--overhead", 3, "-o", self.place / "run.xray", "--", "sh", "-c", script)
                program = int(self.wait_for("started", process).read_text())
                self.addCleanup(self.end, program)
                process.send_signal(signal.SIGINT if script == DIES else signal.SIGTERM)
                self.assertEqual(process.wait(60), -(signal.SIGINT if script == DIES else signal.SIGTERM))
                with self.assertRaises(ProcessLookupError):
                    os.kill(program, 0)

    def test_an_unfinished_export_is_removed(self):
        recording = Recorded(programs.build("g++", *programs.CALL_FLAGS), 20_000).file
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                process = self.start("convert", recording, "--to", "csv", "-o", self.place / "calls.csv")
                self.wait_for("calls.csv.telltale-*", process)
                process.send_signal(number)
                self.assertEqual(process.wait(60), -number)
                self.assertEqual(list(self.place.glob("calls.csv*")), [])

    def test_outputs_of_interrupted_runs_are_removed(self):
        program = build(self.place / "signals", RELEASES[-1], "-O1", *SCHEMES, PROGRAMS / "signals.c")
        corpus = self.place / "corpus"
        corpus.mkdir()
        (corpus / "seed").write_text("seed\n")
        process = self.start("study", "fuzz", corpus, "--label", "true", "--timeout", "1h", "-o", self.place / "study", "--", program)
        while not list(self.place.glob("study/reports/*.output")):
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)
        self.assertEqual(list(self.place.glob("study/reports/*.output")), [])
        self.assertEqual(list(self.temporary.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
