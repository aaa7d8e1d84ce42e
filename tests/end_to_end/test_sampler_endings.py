"""The report after all ways to end a program."""
import os
import pathlib
import signal
import subprocess
import time
import unittest

from sampler_programs import PROGRAMS, RELEASES, SamplerCase, build, resolved, run

NEWEST = RELEASES[-1] if RELEASES else None
BASIC = ("-fno-sample", "-fsampler-scheme=branches", "-fsampler-scheme=returns", "-fsampler-scheme=scalar-pairs")


class Endings(SamplerCase):
    def counted(self, program, predicate):
        """The counters of a branch, summed over the sections of the report."""
        rows = [line.split("\t") for line in resolved(self.report, program)]
        rows = [[int(n) for n in row[5:]] for row in rows if row[0] == "branches" and row[4] == predicate]
        self.assertTrue(rows)
        return [sum(column) for column in zip(*rows)]

    def test_without_a_word(self):
        """_exit, quick_exit, exec that works and exec that fails, in a program and in the child of a vfork."""
        for release in RELEASES:
            program = build(self.path("p"), release, "-O1", "-pthread", *BASIC, PROGRAMS / "crash.c")
            for how, status, samples in (("_exit", 5, 1), ("quick", 6, 1), ("exec", 0, 1), ("noexec", 0, 2), ("vfork", 9, 1)):
                with self.subTest(release=release, how=how):
                    self.assertEqual(self.run_reported(program, how).returncode, status)
                    self.assertEqual([name for name, _ in self.subreports()], ["samples"] * samples)
                    self.assertEqual(self.counted(program, f'strcmp(argv[1], "{how}") == 0'), [0, 1])
                    self.assertEqual(self.counted(program, "argc > 2"), [2, 0])  # it is there twice
            # The parent ends inside libc; the daemon writes only its own counts.
            self.assertEqual(self.run_reported(program, "daemon").returncode, 0)
            self.assertEqual([name for name, _ in self.subreports()], ["samples"])
            self.assertEqual(self.counted(program, 'strcmp(argv[1], "daemon") == 0'), [0, 1])
            run(program, "daemon", env={"SAMPLER_FILE": str(self.path("daemon.%p"))})
            for _ in range(200):
                texts = [file.read_text() for file in self.folder.glob("daemon.*")]
                if len(texts) == 2 and all(text.endswith("</report>\n") for text in texts):
                    break
                time.sleep(0.05)
            self.assertEqual([text.count("<report") for text in texts], [1, 1])
            for file in self.folder.glob("daemon.*"):
                file.unlink()
            child = self.path("of.%p")
            run(program, "fork", env={"SAMPLER_FILE": str(child)})
            self.assertEqual(len(list(self.folder.glob("of.*"))), 2)
            for file in self.folder.glob("of.*"):
                file.unlink()

    def test_stack_overflow_in_threads(self):
        for words in (("-fno-sample",), ("-fsample",), ("-fno-sample", "-fsampler-runtime=shared")):
            program = build(self.path("p"), NEWEST, "-O0", "-pthread", *words, "-fsampler-scheme=branches",
                            PROGRAMS / "overflow.cc", cxx=True)
            for how in ("posix", "small", "std"):
                with self.subTest(words=words, how=how):
                    done = self.run_reported(program, how, SAMPLER_SPARSITY="1")
                    self.assertEqual(done.returncode, -signal.SIGSEGV)
                    self.assertEqual([name for name, _ in self.subreports()], ["samples", "main-backtrace"])
                    self.assertGreater(self.counted(program, "n < 0")[0], 10)

    def test_static_threads(self):
        program = build(self.path("p"), NEWEST, "-static", "-pthread", "-fno-sample", "-fsampler-scheme=branches",
                        PROGRAMS / "overflow.cc", cxx=True)
        for how in ("posix", "std"):
            self.assertEqual(self.run_reported(program, how).returncode, -signal.SIGSEGV)
            self.assertEqual([name for name, _ in self.subreports()], ["samples", "main-backtrace"])

    def test_earlier_handlers(self):
        """Handlers that were installed first get their signal as without the runtime."""
        earlier = self.path("earlier.so")
        subprocess.run([f"clang-{NEWEST}", "-shared", "-fPIC", "-o", earlier, PROGRAMS / "earlier.c"], check=True)
        plain = self.path("plain")
        subprocess.run([f"clang-{NEWEST}", "-w", "-pthread", "-o", plain, PROGRAMS / "crash.c"], check=True)
        program = build(self.path("p"), NEWEST, "-O0", "-pthread", *BASIC, PROGRAMS / "crash.c")
        for how in ("segv", "term", "int", "fpe"):
            with self.subTest(how=how):
                without = run(plain, how, env={"LD_PRELOAD": str(earlier)}, cwd=self.folder)
                done = self.run_reported(program, how, LD_PRELOAD=str(earlier))
                self.assertEqual(done.returncode, without.returncode)
                # The handler has a stack to run on.
                self.assertEqual(done.stdout.replace("on its stack\n", ""), without.stdout)
                names = [name for name, _ in self.subreports()]
                # A program that ignores a signal, or survives it, ends as usual.
                expected = {"int": ["samples"], "term": ["samples", "main-backtrace", "samples"]}
                self.assertEqual(names, expected.get(how, ["samples", "main-backtrace"]))
                self.assertEqual(self.counted(program, f'strcmp(how, "{how}") == 0'), [0, 1])

    def test_nobody_reads(self):
        """A pipe without a reader, a full device, a file with a size limit: the program ends as usual."""
        program = build(self.path("p"), NEWEST, "-O1", "-pthread", *BASIC, PROGRAMS / "crash.c")
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([program, "exit"], env={"SAMPLER_REPORT_FD": str(writing)}, pass_fds=[writing], timeout=20,
                              capture_output=True, restore_signals=True)
        os.close(writing)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, b"", b""))
        for place in ("/dev/full", self.path("missing/report"), pathlib.Path("/proc/nothing")):
            done = run(program, "exit", env={"SAMPLER_FILE": str(place)})
            self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "", ""), place)
        done = run("bash", "-c", f"ulimit -f 0; exec {program} exit", env={"SAMPLER_FILE": str(self.report)})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "", ""))


if __name__ == "__main__":
    unittest.main()
