"""Row R6 for the sampler's runtime: a host's handlers see, and its processes end, exactly as without it. Handlers that
are installed after the runtime's (176 combinations of signal, way of handling it and time) and those that were there
before (63)."""
import itertools
import platform
import shutil
import signal
import subprocess
import unittest

from program_text import program_text
from sampler_programs import PROGRAMS, RELEASES, SOURCE_DIR, SamplerCase, build, run, samples

NEWEST = RELEASES[-1] if RELEASES else None
# Remove the recorders' environment of the same test: no recorder is started here.
EVENT = program_text("sampler/cases/event.h")
QUIET = ("sh", "-c", 'echo 0 > /proc/self/coredump_filter; exec "$@"', "sh")


class HostSignals(SamplerCase):
    maxDiff = None

    def test_handlers_after_ours(self):
        source = shutil.copy(SOURCE_DIR / "tests/programs/recorders/host_signals.cc", self.folder)
        self.path("event.h").write_text(EVENT)
        plain = self.path("plain")
        subprocess.run([f"clang++-{NEWEST}", "-std=c++17", "-w", "-pthread", "-o", plain, source], check=True)
        expected = run(*QUIET, plain, "file", self.path("x"), cwd=self.folder).stdout.splitlines()
        self.assertEqual(len(expected), 176)
        for words in (("-fno-sample",), ("-fsampler-runtime=shared",)):
            program = build(self.path("p"), NEWEST, "-std=c++17", "-w", "-pthread", *words, "-fsampler-scheme=branches", source, cxx=True)
            for name in ("report", "of.%p"):
                done = run(*QUIET, program, "file", self.path("x"), cwd=self.folder,
                           env={"SAMPLER_FILE": str(self.path(name)), "SAMPLER_SPARSITY": "1"})
                self.assertEqual(done.stdout.splitlines(), expected, (words, name))

    def test_handlers_before_ours(self):
        """Each handler sees the same signal, information, mask and stack; the report is there as well."""
        earlier = self.path("earlier.so")
        subprocess.run([f"clang-{NEWEST}", "-shared", "-fPIC", "-o", earlier, PROGRAMS / "earlier_way.c"], check=True)
        plain = self.path("plain")
        subprocess.run([f"clang-{NEWEST}", "-w", "-pthread", "-o", plain, PROGRAMS / "crash.c"], check=True)
        program = build(self.path("p"), NEWEST, "-pthread", "-fno-sample", "-fsampler-scheme=branches", PROGRAMS / "crash.c")
        for how in ("segv", "fpe", "trap", "abort", "bus", "term", "int", "hup", "pipe"):
            number = {"trap": signal.SIGILL, "abort": signal.SIGABRT}.get(how) or getattr(signal, "SIG" + how.upper())
            for way in ("default", "ignored", "classic", "informed", "stack", "once", "nodefer"):
                with self.subTest(how=how, way=way):
                    preload = {"LD_PRELOAD": str(earlier), "EARLIER_SIGNAL": str(int(number)), "EARLIER_WAY": way}
                    expected = run(*QUIET, plain, how, env=preload, cwd=self.folder)
                    self.report.unlink(missing_ok=True)
                    done = run(*QUIET, program, how, env={**preload, "SAMPLER_FILE": str(self.report)}, cwd=self.folder)
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (expected.returncode, expected.stdout, expected.stderr))
                    ids = [name for name, _ in self.subreports()]
                    if way == "ignored" and how in ("term", "int", "hup", "pipe", "bus"):
                        self.assertEqual(ids, ["samples"])  # it survived
                    elif way != "ignored" or how in ("segv", "fpe", "trap"):
                        self.assertEqual(ids[:2], ["samples", "main-backtrace"])


    @unittest.skipUnless(platform.machine() == "x86_64", "the program traps after each instruction of x86-64")
    def test_a_handler_that_interrupts_the_counting_of_pairs_at_any_instruction_loses_no_count(self):
        for release, threads in itertools.product(RELEASES, ((), ("-pthread",))):
            program = build(self.path("p"), release, "-O1", "-fno-sample", *threads, "-fsampler-scheme=scalar-pairs",
                            PROGRAMS / "interrupted_pairs.c")
            for leaves in (0, 400):  # handlers that leave by siglongjmp: at the first instruction, at the second ...
                with self.subTest(release=release, threads=threads, leaves=leaves):
                    done = self.run_reported(program, str(leaves))
                    self.assertEqual(done.returncode, 0, done.stderr)
                    began, ended = map(int, done.stdout.split())
                    self.assertGreater(ended, 1000)
                    (_, rows), = samples(self.report)
                    self.assertGreater(len(rows), 8)
                    rows = [[int(number) for number in row] for row in rows]
                    for row in rows:
                        self.assertTrue(ended <= sum(row) <= began, (row, ended, began))
                    # 5 compared with the target, which is 5 but for the first time, and with 9 down to 1.
                    self.assertEqual([row.index(max(row)) for row in rows[:10]], [1] + [0] * 4 + [1] + [2] * 4)
                    self.assertEqual({row.count(0) for row in rows[1:10]}, {2})


if __name__ == "__main__":
    unittest.main()
