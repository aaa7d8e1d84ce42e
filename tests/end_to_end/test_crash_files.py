"""TELLTALE_PATHS where it is hard to write the file: rights, descriptors, threads, stacks of handlers."""
import json
import os
import resource
import signal
import subprocess
import unittest

from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run
from test_paths import TELLTALE, ids, paths, traced_frames

SOURCE = SOURCE_DIR / "tests/programs/csi/dies_hard.c"


class CrashFiles(SamplerCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o777)
        self.program = self.build("pt.schema")
        self.file = self.path("paths")

    def build(self, schema):
        program = build(self.path("dies_hard"), RELEASES[-1], f"--trace={schema}", "-silent", "-O0", "-g", "-pthread", SOURCE)
        os.chmod(program, 0o755)
        return program

    def crash(self, *how, signal_number=signal.SIGSEGV, **options):
        self.file.unlink(missing_ok=True)
        done = run(self.program, *how, env={"TELLTALE_PATHS": str(self.file)}, cwd=self.folder, **options)
        self.assertEqual(done.returncode, -signal_number, done.stderr)
        return done

    def leaf(self, document):
        """What is known of the frame of leaf(), the number of whose paths is the same in all ways."""
        (frame,) = [frame for frame in traced_frames(document) if frame["function"] == "leaf"]
        self.assertTrue(frame["complete_history"])
        return [path["number"] for path in frame["paths"]], ids(frame["partial"])

    def test_paths_are_those_of_an_ordinary_crash(self):
        self.crash("")
        expected = self.leaf(paths(self.file, "--program", self.program))
        for how, ended in (("rights", signal.SIGSEGV), ("handler", signal.SIGABRT), ("locked", signal.SIGSEGV)):
            with self.subTest(how=how):
                self.assertEqual(self.crash(how, signal_number=ended).stderr, "")
                document = paths(self.file, "--program", self.program)
                self.assertEqual(self.leaf(document), expected)
                (thread,) = document["threads"]
                self.assertIn("main", [frame["function"] for frame in thread["frames"]])
                if how == "locked":
                    self.assertEqual([frame["function"] for frame in thread["frames"]].count("lock_stack"), 81)

    def test_a_crash_after_main(self):
        self.crash("late", signal_number=signal.SIGABRT)
        done = run(TELLTALE, "paths", self.file, "--program", self.program)
        self.assertIn("the functions that keep paths were not called or had returned", done.stderr)
        self.assertRegex(run(TELLTALE, "coverage", self.file, "--program", self.program).stdout, r"\nyes .* main\n")

    def test_a_stack_in_pieces_of_a_running_process(self):
        with subprocess.Popen([self.program, "locked", "waits"], stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                (thread,) = json.loads(run(TELLTALE, "paths", "--json", "--pid", process.pid).stdout)["threads"]
                self.assertEqual([frame["function"] for frame in thread["frames"]].count("lock_stack"), 81)
                self.assertIn("main", [frame["function"] for frame in thread["frames"]])
            finally:
                process.kill()

    def test_threads_that_crash_together(self):
        self.crash("")
        expected = self.leaf(paths(self.file, "--program", self.program))
        self.crash("together")
        document = paths(self.file, "--program", self.program)
        self.assertEqual(len(document["threads"]), 9)
        crashed = [thread for thread in document["threads"] if any(frame["function"] == "crash_together" for frame in thread["frames"])]
        self.assertEqual(len(crashed), 8)
        in_leaf = [thread for thread in crashed if any(frame["function"] == "leaf" for frame in thread["frames"])]
        self.assertGreater(len(in_leaf), 0)
        for thread in in_leaf:
            self.assertEqual(self.leaf({"threads": [thread]}), expected)

    def test_a_file_that_cannot_be_written_is_told(self):
        done = self.crash("descriptors", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
        self.assertIn(f"TELLTALE_PATHS: no file was written to {self.file}: too many open files", done.stderr)
        self.assertFalse(self.file.exists())
        # While it is written, the process id is part of its name.
        for letters, is_told in ((240, False), (254, True), (256, True)):
            name = letters * "x"
            done = run(self.program, "", env={"TELLTALE_PATHS": name}, cwd=self.folder)
            self.assertEqual("its name is too long" in done.stderr, is_told, done.stderr)
            self.assertEqual(name in os.listdir(self.folder), not is_told)

    def test_many_threads(self):
        """Lines that no thread has reached are no certain answer, also if the file does not have all threads."""
        self.program = self.build("all.schema")
        line = 1 + SOURCE.read_text().splitlines().index("  sink = 2;  // not reached")
        for count, is_whole in ((600, True), (4200, False)):
            with self.subTest(count=count):
                self.crash("threads", count)
                shown = json.loads(run(TELLTALE, "info", "--json", self.file).stdout)
                self.assertEqual(len(shown["threads"]), count + 1 if is_whole else 4096)
                self.assertEqual([problem["kind"] for problem in shown["problems"]], [] if is_whole else ["loss"])
                done = run(TELLTALE, "coverage", "--json", self.file, "--program", self.program)
                answers = {of_line["ran"] for function in json.loads(done.stdout)["functions"] for of_line in function["lines"] if of_line["line"] == line}
                self.assertEqual(answers, {"maybe"})
                self.assertEqual("and not the other 105 of the process" in done.stderr, not is_whole, done.stderr)


if __name__ == "__main__":
    unittest.main()
