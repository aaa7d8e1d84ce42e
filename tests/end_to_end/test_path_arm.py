"""Paths of programs for AArch64, which qemu runs: at many instructions, from core files that I write here, and from those of qemu, beside the
same program for this machine."""
import os
import pathlib
import platform
import resource
import shutil
import subprocess
import unittest

import core_files
from arm_crash_points import EMULATOR, TARGET, compare_steps
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build
from test_paths import paths

PROGRAMS = SOURCE_DIR / "tests/programs/csi"
ROOT = pathlib.Path("/usr") / TARGET
LIBRARIES = [ROOT / "lib" / name for name in ("libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "ld-linux-aarch64.so.1")]
LINKER = shutil.which("ld.lld-19")


@unittest.skipUnless(shutil.which(EMULATOR) and LINKER and all(map(os.path.exists, LIBRARIES)), "needs qemu-user, lld and libraries of AArch64")
class Arm(SamplerCase):
    def trace(self, release, level, source, *words, target=TARGET):
        return build(self.path(f"program-{target}"), release, f"--target={target}", *([f"--ld-path={LINKER}"] if target == TARGET else []),
                     "--trace=pt.schema", "-silent", level, *words, source, cxx=source.suffix == ".cc")

    def test_at_instructions_that_call_or_access_memory(self):
        cases = [("control_flow.c", "-O0", RELEASES[0]), ("control_flow.c", "-O2", RELEASES[-1]), ("exceptions.cc", "-O2", RELEASES[0])]
        for name, level, release in cases:
            with self.subTest(program=name, level=level, release=release):
                scratch = self.path("scratch")
                shutil.rmtree(scratch, ignore_errors=True)
                scratch.mkdir()
                program = self.trace(release, level, PROGRAMS / name, "-static")
                found = compare_steps(program, [], self.folder, scratch, most=6000, every=67)
                self.assertEqual(found.wrong[:5], [])
                self.assertGreater(found.counts["frames by position"], 80)
                self.assertGreater(found.counts["blocks of frames: yes"], 200)

    def crash_in_emulator(self, program, how):
        for old in self.folder.glob("qemu_*.core"):
            old.unlink()

        def allow_core():
            _, most = resource.getrlimit(resource.RLIMIT_CORE)
            resource.setrlimit(resource.RLIMIT_CORE, (most, most))
        # A folder of its own: the kernel may write the emulator's core file, too.
        done = subprocess.run([EMULATOR, "-L", ROOT, program, how], cwd=self.folder, preexec_fn=allow_core, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=60)
        self.assertLess(done.returncode, 0, done)
        (core,) = self.folder.glob("qemu_*.core")
        return core

    @staticmethod
    def traced(document):
        """Of each frame that is not in a library: function, line, the lines of its paths."""
        (thread,) = document["threads"]
        return [(frame["function"], frame["line"], frame["complete_history"],
                 [[block["lines"] for block in path["blocks"]] for path in [*frame["paths"], *([frame["partial"]] if frame["partial"] else [])]])
                for frame in thread["frames"] if frame["line"]]

    @unittest.skipUnless(platform.machine() == "x86_64", "compares with the program for x86-64")
    def test_core_files_of_the_emulator(self):
        """They name no files, and lack what is executable, with the files' headers."""
        source = PROGRAMS / "cases/crashes_elsewhere.cc"
        for level, release in (("-O0", RELEASES[-1]), ("-O2", RELEASES[0])):
            arm = self.trace(release, level, source, "-g")
            here = self.trace(release, level, source, "-g", target="x86_64-linux-gnu")
            for how in ("nothing", "caught", "qsort", "large", "uncaught"):
                with self.subTest(level=level, release=release, how=how):
                    core_files.crash(self.path("here"), here, how)
                    expected = self.traced(paths(self.path("here"), "--program", here))
                    found = paths(self.crash_in_emulator(arm, how), *(word for file in (arm, *LIBRARIES) for word in ("--program", file)))
                    self.assertEqual(self.traced(found), expected)
                    self.assertGreater(len(expected), 1)


if __name__ == "__main__":
    unittest.main()
