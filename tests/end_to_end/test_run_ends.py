"""A recording says how its program ended, and what its threads are called."""
import json
import os
import signal
import subprocess
import tempfile
import unittest

from program_text import program_text
import recorded_programs as programs
from recorded_programs import Recorded, info, telltale

PROGRAM = program_text("recorders/cases/ends.cc")
AFTER = r", after [\d.]+ (ns|us|ms|s); [\d.]+ (ns|us|ms|s) user and [\d.]+ (ns|us|ms|s) system time"


class Ends(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = programs.build("g++", *programs.CALL_FLAGS, source=PROGRAM)

    def ended(self, *arguments, options=()):
        return info(Recorded(self.program, *arguments, options=options).file)["properties"]["ended"]

    def test_status_and_signals(self):
        self.assertRegex(self.ended(), "^by exit, status 0" + AFTER)
        self.assertRegex(self.ended("seven"), "^by exit, status 7" + AFTER)
        self.assertRegex(self.ended("kill"), "^by SIGKILL" + AFTER)
        self.assertRegex(self.ended("seven", options=["--mode", "ring", "--quiet"]), "^by exit, status 7" + AFTER)

    def test_the_faulting_thread(self):
        for mode in ("continuous", "ring", "snapshot"):
            with self.subTest(mode=mode):
                self.assertRegex(self.ended("fault", options=["--mode", mode]),
                                 r"^by SIGSEGV in thread \d+ \(late name\), at address 0x10" + AFTER)
                self.assertRegex(self.ended("abort", options=["--mode", mode]),
                                 r"^by SIGABRT in thread \d+ \(late name\)" + AFTER)
        # Without it the recorder leaves the program's signals alone.
        self.assertRegex(self.ended("fault", options=["--set", "crash=off"]), "^by SIGSEGV" + AFTER)

    def test_a_snapshot_is_no_end(self):
        recorder = lambda end: info(Recorded(self.program, end, options=["--mode", "snapshot"]).file)["properties"]["recorder"]
        self.assertEqual(recorder("snapshot"), "telltale, snapshot; the process ran on")
        self.assertEqual(recorder("fault"), "telltale, snapshot; the process was ended by a signal")

    def test_replay_marks_the_thread(self):
        file = Recorded(self.program, "fault").file
        (line,) = [line for line in telltale("replay", file).stdout.splitlines() if "it ended the process" in line]
        self.assertRegex(line, r"^thread \d+:\d+ \(late name\), last event .*; it ended the process by SIGSEGV, "
                               "at address 0x10$")
        steps = json.loads(telltale("replay", "--json", file).stdout)
        marked = [row for row in steps["open_at_end"] if row["fault"] is not None]
        self.assertEqual([row["function"] for row in marked][-1], "fault()")
        self.assertEqual({row["fault"] for row in marked}, {"SIGSEGV, at address 0x10"})
        self.assertTrue(any(row["fault"] is None and row["function"] == "main" for row in steps["open_at_end"]))

    def test_a_fault_that_the_program_survives_is_not_its_end(self):
        self.assertRegex(self.ended("recover"), "^by exit, status 0" + AFTER)

    def test_without_telltale_run_the_recorder_says_what_it_knows(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([self.program, "fault"], cwd=folder, timeout=60,
                                  env=dict(os.environ, LD_PRELOAD=str(programs.RECORDER), TELLTALE_XRAY="mode=snapshot,file=x.xray"))
            self.assertEqual(done.returncode, -signal.SIGSEGV)
            ended = info(os.path.join(folder, "x.xray"))["properties"]["ended"]
            self.assertRegex(ended, r"^by SIGSEGV in thread \d+ \(.*\), at address 0x10$")

    def test_threads_have_their_last_names(self):
        run = Recorded(self.program)
        self.assertEqual(sorted(thread.get("name") for thread in info(run.file)["threads"]), ["late name", "program"])
        self.assertRegex(telltale("info", run.file).stdout, r"threads +2 \(\d+:\d+ program, \d+:\d+ late name\)")
        chrome = json.loads(telltale("convert", run.file, "--to", "chrome", "-o", "-").stdout)
        names = [event["args"]["name"] for event in chrome["traceEvents"] if event["name"] == "thread_name"]
        self.assertEqual(sorted(names), ["late name", "program"])
        # It does not end, but has waited.
        killed = Recorded(self.program, "wait")
        self.assertEqual(sorted(thread.get("name") for thread in info(killed.file)["threads"]), ["late name", "program"])


if __name__ == "__main__":
    unittest.main()
