"""Programs with crash handlers of their own: they see and end as without our runtimes, which have their say when the
default action is restored (runtime/signals)."""
import pathlib
import signal
import subprocess
import unittest

import recorder_programs
from sampler_programs import PROGRAMS, RELEASES, SamplerCase, build, run
from test_paths import paths, traced_frames

SOURCE = PROGRAMS / "own_handler.c"
SAMPLED = ("-fno-sample", "-fsampler-scheme=branches")
TRACED = ("--trace=pt.schema", "-silent")
DIE = ("default", "sigaction", "nodefer", "signal", "restores", "defaults", "sysv", "once", "once-nodefer", "ignores",
       "ignores-sigaction", "asks", "asks-abort", "thread")


class KeptHandlers(SamplerCase):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.plain = self.path("plain")
        subprocess.run([f"clang-{RELEASES[-1]}", "-w", "-pthread", "-o", self.plain, SOURCE], check=True)
        self.paths = self.path("paths")

    def compare(self, program, way):
        """Runs both; returns what was written: the names of the report's parts, and whether there are paths."""
        self.report.unlink(missing_ok=True)
        self.paths.unlink(missing_ok=True)
        expected = run(self.plain, way, cwd=self.folder)
        done = run(program, way, cwd=self.folder, env={"SAMPLER_FILE": str(self.report), "TELLTALE_PATHS": str(self.paths)})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (expected.returncode, expected.stdout, expected.stderr))
        return ([name for name, _ in self.subreports()] if self.report.exists() else [], self.paths.exists())

    def test_the_default_action_is_ours(self):
        for words in (SAMPLED, TRACED, (*SAMPLED, *TRACED), ("-fsampler-runtime=shared", *SAMPLED), ("-fsampler-runtime=shared", *SAMPLED, *TRACED)):
            program = build(self.path("program"), RELEASES[-1], "-O1", "-w", "-pthread", *words, SOURCE)
            for way in DIE:
                with self.subTest(words=words, way=way):
                    names, has_paths = self.compare(program, way)
                    self.assertEqual("main-backtrace" in names, "-fno-sample" in words)
                    self.assertEqual(has_paths, TRACED[0] in words)

    def test_a_program_that_was_started_with_an_ignored_signal(self):
        for words in (SAMPLED, TRACED, (*SAMPLED, *TRACED)):
            program = build(self.path("program"), RELEASES[-1], "-O1", "-w", "-pthread", *words, SOURCE)
            for way in ("none", "ignores", "asks", "signal"):
                with self.subTest(words=words, way=way):
                    self.paths.unlink(missing_ok=True)
                    self.report.unlink(missing_ok=True)
                    command = ("sh", "-c", """trap '' SEGV; exec "$@" """, "sh")
                    expected = run(*command, self.plain, way, cwd=self.folder)
                    done = run(*command, program, way, cwd=self.folder, env={"SAMPLER_FILE": str(self.report), "TELLTALE_PATHS": str(self.paths)})
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (expected.returncode, expected.stdout, expected.stderr))
                    self.assertEqual(done.returncode, -signal.SIGSEGV)
                    if "-fno-sample" in words:
                        self.assertIn("main-backtrace", [name for name, _ in self.subreports()])
                    self.assertEqual(self.paths.exists(), TRACED[0] in words)

    def test_handlers_that_go_on(self):
        program = build(self.path("program"), RELEASES[-1], "-O1", "-w", "-pthread", *SAMPLED, *TRACED, SOURCE)
        for way in ("repairs", "leaves"):
            with self.subTest(way):
                self.assertEqual(self.compare(program, way), (["samples"], False))
        # A child writes no report unless the file's name contains %p.
        names, _ = self.compare(program, "child")
        self.assertEqual(names, ["samples"])
        # abort() restores the default action inside libc.
        self.assertEqual(self.compare(program, "abort"), ([], False))

    def test_what_ran_before_the_handler(self):
        program = build(self.path("program"), RELEASES[-1], "-O1", "-w", "-pthread", *TRACED, SOURCE)
        # A blocked signal is delivered when the handler has returned.
        for way, functions in (("sigaction", ["fault", "main"]), ("nodefer", ["by_sigaction", "fault", "main"]), ("once", ["fault", "main"])):
            self.compare(program, way)
            self.assertEqual([frame["function"] for frame in traced_frames(paths(self.paths, "--program", program))], functions)

    def test_a_program_that_overwrites_its_name(self):
        program = build(self.path("program"), RELEASES[-1], "-O1", "-w", "-pthread", *SAMPLED, SOURCE)
        self.compare(program, "title")
        (frames,) = (body for name, body in self.subreports() if name == "main-backtrace")
        self.assertTrue(frames.startswith(f"{program}("), frames)

    def test_other_ways_to_link(self):
        for words in (("-static", *SAMPLED), ("-static", *TRACED), ("-static", *SAMPLED, *TRACED), ("-fsanitize=address", *SAMPLED, *TRACED)):
            with self.subTest(words):
                program = build(self.path("program"), RELEASES[-1], "-O1", "-w", "-pthread", *words, SOURCE)
                done = run(program, "signal", cwd=self.folder, env={"SAMPLER_FILE": str(self.report), "TELLTALE_PATHS": str(self.paths)})
                self.assertEqual((done.returncode, done.stdout), (-signal.SIGSEGV, "handled\n"))

    def test_thread_sanitizer_sees_handlers(self):
        source = recorder_programs.SOURCE / "tests/programs/recorders/unsafe_handler.cc"
        words = ["-std=c++17", "-O1", "-g", "-fsanitize=thread", "-pthread", f"-I{recorder_programs.SOURCE}/include", "-o", self.path("program"), source]
        tsan = subprocess.run([f"clang-{RELEASES[-1]}", "-print-file-name=libclang_rt.tsan-x86_64.so"], capture_output=True, text=True, check=True).stdout.strip()
        shared = recorder_programs.STACKTRACK.with_suffix(".so")
        preloads = {"LD_PRELOAD": str(recorder_programs.XRAY)}
        cases = (
            ("nothing of ours", ["g++"], [], {}),
            ("StackTrack", ["g++", "-DSTACKTRACK"], [recorder_programs.STACKTRACK], {}),
            ("StackTrack's library", ["g++", "-DSTACKTRACK"], [shared, f"-Wl,-rpath,{shared.parent}"], {}),
            ("StackTrack, the sanitizer linked into the program", ["g++", "-DSTACKTRACK", "-static-libtsan"], [recorder_programs.STACKTRACK], {}),
            ("XRay", ["g++", "-finstrument-functions"], [], preloads),
            ("Sampler", ["telltale-c++", *SAMPLED], [], {}),
            ("Sampler, the sanitizer's library", ["telltale-c++", *SAMPLED, "-shared-libsan", f"-Wl,-rpath,{pathlib.Path(tsan).parent}"], [], {}),
        )
        for name, command, more, environment in cases:
            with self.subTest(name):
                if command[0] == "g++":
                    subprocess.run([*command, *words, *more], check=True)
                else:
                    build(self.path("program"), RELEASES[-1], *words[:-3], *command[1:], *more, source, cxx=True)
                done = run(self.path("program"), cwd=self.folder, env={**environment, "SAMPLER_FILE": str(self.report), "TSAN_OPTIONS": "exitcode=0"})
                self.assertEqual(done.stdout, "2\n")
                self.assertEqual(done.stderr.count("WARNING: ThreadSanitizer: signal-unsafe call inside of a signal"), 4)


if __name__ == "__main__":
    unittest.main()
