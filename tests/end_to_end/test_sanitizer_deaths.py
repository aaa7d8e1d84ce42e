"""Programs that a sanitizer ends, without a signal or exit(): the report, the paths, and what recorders keep in memory are
written (runtime/signals/sanitizer_death.h)."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import recorded_programs
import recorder_programs
import stacktrack_file
from sampler_programs import PROGRAMS, RELEASES, SamplerCase, build, run
from test_paths import paths, traced_frames

SOURCE = PROGRAMS / "found_by_sanitizers.c"
SAMPLED = ("-fno-sample", "-fsampler-scheme=branches")
TRACED = ("--trace=pt.schema", "-silent")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1", "-w")
# The exit status, and the traced functions on the stack.
DEATHS = {"overflow": (1, ["fill", "main"]), "undefined": (1, ["main"]), "signal": (1, ["fill", "main"]), "leak": (1, [])}


class SanitizerDeaths(SamplerCase):
    def test_report_and_paths(self):
        for number, words in enumerate(((*SAMPLED, *TRACED), ("-fsampler-runtime=shared", *SAMPLED, *TRACED), SAMPLED, TRACED)):
            release = RELEASES[number % len(RELEASES)]
            program = build(self.path("program"), release, *SANITIZERS, *words, SOURCE)
            for how, (status, functions) in DEATHS.items():
                with self.subTest(words=words, how=how):
                    spool = self.path("spool")
                    shutil.rmtree(spool, ignore_errors=True)
                    spool.mkdir()
                    file = self.path("paths")
                    file.unlink(missing_ok=True)
                    done = run(program, how, cwd=self.folder, env={"TELLTALE_COLLECT": str(spool), "TELLTALE_PATHS": str(file)})
                    self.assertEqual(done.returncode, status, done.stderr)
                    if SAMPLED[0] in words:
                        (report,) = spool.glob("*.report")
                        text = report.read_text()
                        self.assertIn('<report id="samples">', text)
                        self.assertEqual(text.count('<report id="main-backtrace">'), 1)
                        outcome = text.split('<report id="outcome">\n')[1].split("\n</report>")[0]
                        self.assertIn("signal SIGSEGV" if how == "signal" else "status 1", outcome)
                    if TRACED[0] in words and how != "leak":
                        document = paths(file, "--program", program)
                        self.assertEqual([frame["function"] for frame in traced_frames(document)], functions)

    def test_thread_sanitizer(self):
        """It calls our function with its locks held, and would wait for them again in libc's functions that synchronize threads."""
        for number, words in enumerate(((*SAMPLED, *TRACED), SAMPLED, TRACED)):
            with self.subTest(words=words):
                program = build(self.path("program"), RELEASES[number % len(RELEASES)], "-fsanitize=thread", "-g", "-O1", "-w", *words,
                                SOURCE)
                file = self.path("paths")
                file.unlink(missing_ok=True)
                done = run(program, "freed", cwd=self.folder, env={"SAMPLER_FILE": str(self.report), "TELLTALE_PATHS": str(file),
                                                                  "TSAN_OPTIONS": "halt_on_error=1"})
                self.assertEqual(done.returncode, 66, done.stderr)
                self.assertIn("heap-use-after-free", done.stderr)
                if SAMPLED[0] in words:
                    self.assertEqual([name for name, _ in self.subreports()], ["samples", "main-backtrace"])
                if TRACED[0] in words:
                    self.assertEqual([frame["function"] for frame in traced_frames(paths(file, "--program", program))], ["fill", "main"])

    def test_nothing_changes_without_an_error(self):
        program = build(self.path("program"), RELEASES[-1], *SANITIZERS, *SAMPLED, *TRACED, SOURCE)
        done = run(program, cwd=self.folder, env={"SAMPLER_FILE": str(self.report), "TELLTALE_PATHS": str(self.path("paths"))})
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"))
        self.assertEqual([name for name, _ in self.subreports()], ["samples"])
        self.assertFalse(self.path("paths").exists())


class RecordedWithASanitizer(unittest.TestCase):
    """g++'s AddressSanitizer is a shared library, which does not like to be preceded by the recorder's."""

    @classmethod
    def setUpClass(cls):
        cls.program = recorded_programs.build("g++", *recorded_programs.CALL_FLAGS, "-fsanitize=address", source=SOURCE.read_text())

    def record(self, how, *words):
        place = pathlib.Path(tempfile.mkdtemp(dir=recorded_programs.folder()))
        done = recorded_programs.telltale("run", "-o", place / "a.xray", *words, "--", self.program, how)
        return done, place / "a.xray"

    def test_calls_are_recorded(self):
        for how, status in (("", 0), ("overflow", 1)):
            done, recording = self.record(how)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertNotIn("does not come first", done.stderr)
            self.assertEqual(recorded_programs.calls(recording, prefix="fill"), {"fill(char*, int)": 1 if how == "" else 0})

    def test_a_snapshot_is_written(self):
        for how, is_there in (("", False), ("overflow", True), ("signal", True)):
            _, recording = self.record(how, "--mode", "snapshot")
            self.assertEqual(recording.exists(), is_there, how)


class CheckpointsWithASanitizer(unittest.TestCase):
    @unittest.skipIf(recorder_programs.SANITIZED, "the library is built with sanitizers")
    def test_a_ring_in_memory_is_written(self):
        source = recorder_programs.SOURCE / "tests/programs/recorders/cases/ring_and_overflow.cc"
        for compiler in ("g++", "clang++-22"):
            with self.subTest(compiler):
                place = recorder_programs.new_folder()
                subprocess.run([compiler, "-std=c++17", "-O1", "-fsanitize=address", f"-I{recorder_programs.SOURCE}/include", source,
                                recorder_programs.STACKTRACK, "-o", place / "program", "-pthread"], check=True, timeout=120)
                for more, status in (((), 0), (("overflow",), 1)):
                    done = subprocess.run([place / "program", place / "ring.tlg", *more], capture_output=True, text=True, timeout=60)
                    self.assertEqual(done.returncode, status, done.stderr)
                    self.assertEqual((place / "ring.tlg").exists(), status == 1)
                self.assertEqual(len([hit for hit in stacktrack_file.File(place / "ring.tlg").hits if hit[2] == "write"]), 11)


if __name__ == "__main__":
    unittest.main()
