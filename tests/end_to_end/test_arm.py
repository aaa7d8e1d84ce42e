"""Programs for AArch64, which qemu runs. Paths: at many instructions, from core files that are written here, and from those of qemu, beside
the same program for this machine. The runtimes are compiled for AArch64 here: telltale-cc links those of the machine that telltale was built on."""
import csv
import io
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
from test_paths import TELLTALE, paths

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
        done = subprocess.run([EMULATOR, "-cpu", "max", "-L", ROOT, program, how], cwd=self.folder, preexec_fn=allow_core, stdin=subprocess.DEVNULL,
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
        # Those of distributions and recent processors sign return addresses.
        signed = "-mbranch-protection=standard"
        for level, release, words in (("-O0", RELEASES[-1], ()), ("-O2", RELEASES[0], ()), ("-O2", RELEASES[-1], (signed,))):
            arm = self.trace(release, level, source, "-g", *words)
            here = self.trace(release, level, source, "-g", target="x86_64-linux-gnu")
            for how in ("nothing", "caught", "qsort", "large", "uncaught"):
                with self.subTest(level=level, release=release, words=words, how=how):
                    core_files.crash(self.path("here"), here, how)
                    expected = self.traced(paths(self.path("here"), "--program", here))
                    found = paths(self.crash_in_emulator(arm, how), *(word for file in (arm, *LIBRARIES) for word in ("--program", file)))
                    self.assertEqual(self.traced(found), expected)
                    self.assertGreater(len(expected), 1)

    def build_runtime(self, sources):
        runtime = self.path("runtime.o")
        done = run(f"clang++-{RELEASES[0]}", f"--target={TARGET}", "-std=c++17", "-DTELLTALE_BEFORE_LIBC", "-Wall", "-Wextra", "-Werror", "-O1",
                   "-ftls-model=initial-exec", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-r", "-nostdlib", f"--ld-path={LINKER}",
                   f"-I{SOURCE_DIR / 'src'}", *sources, SOURCE_DIR / "runtime/signals/kept_handlers.cc", "-o", runtime)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return runtime

    @unittest.skipUnless(platform.machine() == "x86_64", "compares with the program for x86-64")
    def test_reports_of_the_sampler(self):
        """The same as on x86-64, whose counters are other code. In a C program without libm."""
        runtime = self.build_runtime(path for path in sorted((SOURCE_DIR / "runtime/sampler").glob("*.cc"))
                                     if not path.stem.endswith("_test") and path.stem != "wrapped_threads")
        schemes = [f"-fsampler-scheme={name}" for name in ("branches", "returns", "scalar-pairs", "function-entries", "float-kinds")]
        for release, level, mode in ((RELEASES[0], "-O2", ("-fno-sample",)), (RELEASES[-1], "-O2", ("-fsample", "-fsampler-adaptive")),
                                     (RELEASES[-1], "-O0", ("-fsample", "-pthread"))):
            with self.subTest(level=level, release=release, mode=mode):
                words = ("-w", level, *mode, *schemes, "-ftrivial-auto-var-init=zero", PROGRAMS / "crash_ways.c")
                here = build(self.path("here"), release, *words, "-pthread")
                build(self.path("arm.o"), release, f"--target={TARGET}", *words, "-c")
                arm = build(self.path("arm"), release, "-w", f"--target={TARGET}", f"--ld-path={LINKER}", self.path("arm.o"), runtime, "-pthread")
                found = []
                for command, program in (([here], here), ([EMULATOR, "-L", ROOT, arm], arm)):
                    self.report.unlink(missing_ok=True)
                    done = run(*command, "fault", env={"SAMPLER_FILE": str(self.report), "SAMPLER_SPARSITY": "1"})
                    self.assertLess(done.returncode, 0, done.stderr)
                    rows = csv.DictReader(io.StringIO(run(TELLTALE, "resolve", self.report, "--program", program, "--csv").stdout))
                    found.append([{name: value for name, value in row.items() if name not in ("program", "unit")} for row in rows])
                self.assertGreater(len(found[0]), 50)
                self.assertEqual(found[1], found[0])

    def test_the_crash_handler(self):
        runtime = self.build_runtime(sorted((SOURCE_DIR / "runtime/paths").glob("*.cc")))
        handler = ["-Wl,-u,telltale_paths_v1", "-Wl,-u,telltale_paths_threads_v1", runtime]
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
