"""Handlers of signals align their own stacks: qemu-user 7.2 calls them with one that is off by eight bytes."""
import os
import platform
import shutil
import signal
import subprocess
import unittest

import own_recorder
import recorder_programs
import stacktrack_file
from sampler_programs import PROGRAMS, RELEASES, SOURCE_DIR, SamplerCase, build, run
from test_paths import paths, traced_frames

COMBINED = ("-fno-sample", "-fsampler-scheme=branches", "--trace=pt.schema", "-silent", "-g")
EMULATOR = shutil.which("qemu-x86_64")


@unittest.skipUnless(platform.machine() == "x86_64", "the stack is that of x86-64")
class HandlerStacks(SamplerCase):
    def crash(self, *command, by=signal.SIGSEGV):
        """The names of the report's parts, and the functions on the stack that have paths."""
        file = self.path("paths")
        for old in (file, self.report):
            old.unlink(missing_ok=True)
        done = run(*command, env={"SAMPLER_FILE": str(self.report), "TELLTALE_PATHS": str(file)})
        self.assertEqual(done.returncode, -by, done.stderr)
        return ([name for name, _ in self.subreports()],
                [frame["function"] for frame in traced_frames(paths(file))])

    def test_a_stack_that_is_off_by_eight_bytes(self):
        for release in RELEASES:
            with self.subTest(release=release):
                program = build(self.path("program"), release, "-O0", *COMBINED, PROGRAMS / "misaligned_handler.c")
                parts, functions = self.crash(program, "crashes")
                self.assertIn("main-backtrace", parts)
                self.assertEqual(functions, ["may_crash"])  # the others have one path

    def test_a_program_that_checks_the_alignment_of_addresses(self):
        """Handlers keep its flag, and would raise SIGBUS themselves."""
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                with self.subTest(release=release, level=level):
                    program = build(self.path("program"), release, level, *COMBINED, SOURCE_DIR / "tests/programs/csi/checks_alignment.c")
                    parts, functions = self.crash(program, by=signal.SIGBUS)
                    self.assertIn("main-backtrace", parts)
                    self.assertEqual(functions, ["fill"])

    @unittest.skipUnless(EMULATOR, "needs qemu-x86_64")
    def test_under_qemu(self):
        for release in RELEASES:
            with self.subTest(release=release):
                program = build(self.path("program"), release, "-O0", *COMBINED, SOURCE_DIR / "tests/programs/csi/cases/fault_in_branch.c")
                expected = self.crash(program)
                self.assertIn("main-backtrace", expected[0])
                self.assertNotEqual(expected[1], [])
                self.assertEqual(self.crash(EMULATOR, program), expected)


@unittest.skipUnless(platform.machine() == "x86_64", "the stack is that of x86-64")
class RecorderHandlerStacks(unittest.TestCase):
    SOURCE = recorder_programs.SOURCE / "tests/programs/recorders/cases/misaligned_handler.cc"

    def build(self, compiler, *words):
        program = recorder_programs.new_folder() / "program"
        subprocess.run([compiler, "-std=c++17", "-O1", "-g", f"-I{recorder_programs.SOURCE}/include", self.SOURCE, *words, "-pthread", "-o", program],
                       check=True, timeout=120)
        return program

    def run_program(self, program, number, status, *words, **environment):
        done = subprocess.run([program, number if isinstance(number, str) else str(int(number)), *words], capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
        self.assertEqual(done.returncode, status, done.stderr)

    @unittest.skipUnless(recorder_programs.CLANG, "needs clang")
    def test_the_xray_recorder_writes_a_snapshot(self):
        program = self.build(recorder_programs.CLANG, "-DTELLTALE_STACKTRACK_DISABLED", "-fno-xray-link-deps", "-fxray-instrument",
                             "-fxray-instruction-threshold=1")
        for number, status in ((signal.SIGSEGV, -signal.SIGSEGV), (signal.SIGABRT, -signal.SIGABRT), (signal.SIGUSR2, 0),
                               ("unaligned", -signal.SIGBUS)):
            with self.subTest(number):
                trace = program.with_name(f"{number}.xray")
                self.run_program(program, number, status, **recorder_programs.settings("xray", trace, "mode=snapshot"))
                snapshots = sorted(trace.parent.glob(f"{number}*.xray"))
                self.assertEqual(len(snapshots), 1)
                self.assertEqual(own_recorder.calls_by_name(str(snapshots[0]), str(program)).get("step"), 10)

    def test_stacktrack_dumps_its_ring(self):
        program = self.build("g++", recorder_programs.STACKTRACK)
        for number, status in ((signal.SIGSEGV, -signal.SIGSEGV), (signal.SIGABRT, -signal.SIGABRT), ("unaligned", -signal.SIGBUS)):
            with self.subTest(number):
                ring = program.with_name(f"{number}.tlg")
                self.run_program(program, number, status, ring)
                self.assertEqual([hit[2] for hit in stacktrack_file.File(ring).hits], ["write"] * 10)


if __name__ == "__main__":
    unittest.main()
