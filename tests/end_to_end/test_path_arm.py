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
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run
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

    def crash_in_emulator(self, program, how, environment=None):
        for old in self.folder.glob("qemu_*.core"):
            old.unlink()

        def allow_core():
            _, most = resource.getrlimit(resource.RLIMIT_CORE)
            resource.setrlimit(resource.RLIMIT_CORE, (most, most))
        # A folder of its own: the kernel may write the emulator's core file, too.
        done = subprocess.run([EMULATOR, "-L", ROOT, program, how], cwd=self.folder, preexec_fn=allow_core, stdin=subprocess.DEVNULL,
                              env={**os.environ, **(environment or {})}, capture_output=True, check=False, timeout=60)
        self.assertLess(done.returncode, 0, done)
        (core,) = self.folder.glob("qemu_*.core")
        return core

    @staticmethod
    def traced(document):
        """Of each frame of the thread that crashed, and is not in a library: function, line, the lines of its paths."""
        thread = document["threads"][0]
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

    def test_the_crash_handler(self):
        """It is compiled for AArch64 here: telltale-cc links it into programs of the machine that telltale was built on."""
        runtime = SOURCE_DIR / "runtime"
        done = run(f"clang++-{RELEASES[0]}", f"--target={TARGET}", "-std=c++17", "-DTELLTALE_BEFORE_LIBC", "-Wall", "-Wextra", "-Werror", "-O2",
                   "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-r", "-nostdlib", f"--ld-path={LINKER}",
                   *sorted(runtime.glob("paths/*.cc")), runtime / "signals/kept_handlers.cc", "-o", self.path("handler.o"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        handler = ["-Wl,-u,telltale_paths_v1", "-Wl,-u,telltale_paths_threads_v1", self.path("handler.o")]
        for level, release in (("-O0", RELEASES[-1]), ("-O2", RELEASES[0])):
            program = self.trace(release, level, PROGRAMS / "crash_ways.c", "-g", "-pthread", *handler)
            for how, functions in (("fault", ["end", "parse", "main"]), ("abort", ["end", "parse", "main"]), ("overflow", ["recurse"] * 20),
                                   ("thread", ["end", "parse", "parse_in_thread"])):
                with self.subTest(level=level, release=release, how=how):
                    file = self.path("paths")
                    file.unlink(missing_ok=True)
                    core = self.crash_in_emulator(program, how, {"TELLTALE_PATHS": str(file)})
                    from_file, from_core = (self.traced(paths(each, "--program", program, "--program", LIBRARIES[0])) for each in (file, core))
                    self.assertEqual([frame[0] for frame in from_file][:20], functions)
                    self.assertEqual(from_file[:20], from_core[:20])
                    self.assertIsNotNone(from_file[1][2])


if __name__ == "__main__":
    unittest.main()
