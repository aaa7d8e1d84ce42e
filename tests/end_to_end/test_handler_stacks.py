"""Handlers of signals align their own stacks: qemu-user 7.2 calls them with one that is off by eight bytes."""
import platform
import shutil
import signal
import unittest

from sampler_programs import PROGRAMS, RELEASES, SOURCE_DIR, SamplerCase, build, run
from test_paths import paths, traced_frames

COMBINED = ("-fno-sample", "-fsampler-scheme=branches", "--trace=pt.schema", "-silent", "-g")
EMULATOR = shutil.which("qemu-x86_64")


@unittest.skipUnless(platform.machine() == "x86_64", "the stack is that of x86-64")
class HandlerStacks(SamplerCase):
    def crash(self, *command):
        """The names of the report's parts, and the functions on the stack that have paths."""
        file = self.path("paths")
        for old in (file, self.report):
            old.unlink(missing_ok=True)
        done = run(*command, env={"SAMPLER_FILE": str(self.report), "TELLTALE_PATHS": str(file)})
        self.assertEqual(done.returncode, -signal.SIGSEGV, done.stderr)
        return ([name for name, _ in self.subreports()],
                [frame["function"] for frame in traced_frames(paths(file))])

    def test_a_stack_that_is_off_by_eight_bytes(self):
        for release in RELEASES:
            with self.subTest(release=release):
                program = build(self.path("program"), release, "-O0", *COMBINED, PROGRAMS / "misaligned_handler.c")
                parts, functions = self.crash(program, "crashes")
                self.assertIn("main-backtrace", parts)
                self.assertEqual(functions, ["may_crash"])  # the others have one path

    @unittest.skipUnless(EMULATOR, "needs qemu-x86_64")
    def test_under_qemu(self):
        for release in RELEASES:
            with self.subTest(release=release):
                program = build(self.path("program"), release, "-O0", *COMBINED, SOURCE_DIR / "tests/programs/csi/cases/fault_in_branch.c")
                expected = self.crash(program)
                self.assertIn("main-backtrace", expected[0])
                self.assertNotEqual(expected[1], [])
                self.assertEqual(self.crash(EMULATOR, program), expected)


if __name__ == "__main__":
    unittest.main()
