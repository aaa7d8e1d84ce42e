"""Programs crash at random instructions; the paths are those of a full trace. TELLTALE_LONG=1: real programs, from Debian's source
packages, at 1,000 points each (TELLTALE_POINTS), in the first 1,000,000 instructions of main (TELLTALE_STEPS), with path tracing or
another schema (TELLTALE_SCHEMA); TELLTALE_REAL="PROGRAM [LEVEL [RELEASE]]" runs one of these. Their programs are built anew; their own tests are those of test_path_programs.py."""
import os
import platform
import shutil
import sqlite3
import subprocess
import unittest

import debian_sources
import test_sampler_real_programs as real
from path_crash_points import crash_and_compare, crash_where_caught, crash_where_returning
from sampler_programs import BINARY_DIR, RELEASES, SOURCE_DIR, SamplerCase, build

PROGRAMS = SOURCE_DIR / "tests/programs/csi"
INPUTS = SOURCE_DIR / "tests/programs/csi/crash_points"
POINTS = int(os.environ.get("TELLTALE_POINTS", "1000"))
SCHEMA = os.environ.get("TELLTALE_SCHEMA", "pt.schema")
STEPS = int(os.environ.get("TELLTALE_STEPS", "1000000"))
# How many of a program's commands build it, the program, and what it is run with; {inputs} is a folder with the inputs.
REAL = {
    "bzip2": (1, "bzip2/bzip2", "-k -c {inputs}/text"),
    "gzip": (2, "gzip/gzip", "-c {inputs}/text"),
    "lua": (2, "lua5.4/src/lua", "{inputs}/script.lua"),
    "tinyxml2": (2, "tinyxml2/out/xmltest", ""),
    "ninja": (2, "ninja-build/out/ninja", "-n -f {inputs}/build.ninja all"),
    "sqlite": (1, "sqlite3/fuzzcheck", "{inputs}/cases.db"),
}
WITH_CONSTRUCTORS = ("tinyxml2", "ninja")
# Its own link command has no --trace, so that it has no crash handler.
LINK_LUA = "cd src && {cc} {flags} l*.o -Wl,-E -ldl -lm -o lua"


def write_inputs(folder):
    folder.mkdir()
    shutil.copy(INPUTS / "script.lua", folder)
    (folder / "text").write_text("".join(f"{n * 7919 % 1003:04} {'open' if n % 3 else 'close'} /{n * 31 % 97}: after {n * n % 512} ms\n"
                                         for n in range(500)))
    parts = [f"part{n}.o" for n in range(20)]
    (folder / "build.ninja").write_text("rule cc\n  command = cc -c $in -o $out\n" + "".join(f"build {part}: cc /dev/null\n" for part in parts) +
                                        f"build all: phony {' '.join(parts)}\n")
    with sqlite3.connect(folder / "cases.db") as cases:
        cases.executescript("CREATE TABLE db(dbid INTEGER PRIMARY KEY, dbcontent BLOB); CREATE TABLE readme(msg TEXT);"
                            "CREATE TABLE xsql(sqlid INTEGER PRIMARY KEY, sqltext TEXT);")
        cases.execute("INSERT INTO xsql(sqltext) VALUES(?)", ((INPUTS / "statements.sql").read_text(),))
    cases.close()


@unittest.skipUnless(platform.machine() == "x86_64", "positions are exact on x86-64")
class CrashPoints(SamplerCase):
    def compare(self, program, arguments, folder, count, seed, steps, starts_at_main=True):
        scratch = self.path("scratch")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        found = crash_and_compare(program, arguments, folder, scratch, count, seed, steps,
                                  starts_at_main)
        self.assertEqual(found.wrong[:5], [])
        self.assertEqual(found.counts["points"], count)
        self.assertGreater(found.counts["frames by position"], count // 4)
        for answer in ("yes", "no"):
            self.assertGreater(found.counts[f"blocks of the program: {answer}"], 0)
            self.assertGreater(found.counts[f"blocks of frames: {answer}"], 0)
        return found.counts

    def test_small_programs(self):
        for number, name in enumerate(("control_flow.c", "exceptions.cc")):
            for level in ("-O0", "-O2"):
                release = RELEASES[(number + (level == "-O2")) % len(RELEASES)]
                with self.subTest(program=name, release=release, level=level):
                    schema = "cc_pt.schema" if level == "-O2" else "pt.schema"
                    program = build(self.path("program"), release, f"--trace={schema}", "-silent", level, PROGRAMS / name,
                                    cxx=name.endswith(".cc"))
                    self.compare(program, [], self.folder, 40, seed=number, steps=100_000)

    def test_functions_that_end_with_a_jump_to_code_without_paths(self):
        program = build(self.path("program"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O2", PROGRAMS / "jumps_away.c")
        self.compare(program, [], self.folder, 40, seed=3, steps=20_000)

    def test_after_a_library_called_a_function(self):
        # Its return is the last that is seen of the program, while the library calls others deeper in the stack.
        program = build(self.path("program"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O2", PROGRAMS / "called_by_exit.c")
        self.compare(program, [], self.folder, 60, seed=3, steps=20_000)

    def test_while_large_frames_are_left(self):
        # Their variables are far below the stack pointer.
        program = build(self.path("program"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O1", PROGRAMS / "large_frame.c")
        scratch = self.path("scratch")
        scratch.mkdir()
        found = crash_where_returning(program, self.folder, scratch, 10_000, 20)
        self.assertEqual(found.wrong[:5], [])
        self.assertGreater(found.counts["frames"], 30)
        self.assertEqual(found.counts["frames outside the core file"], 0)

    def test_while_an_exception_is_caught(self):
        # The last thing that the runtime does before a landing pad is to replace what it has saved of its caller by what the landing
        # pad's function has, in some 300 instructions.
        back = [1, 2, 3, 5, 9, 20, 90, 230]
        for level, release, schema in (("-O0", RELEASES[0], "pt.schema"), ("-O2", RELEASES[-1], "cc_pt.schema")):
            with self.subTest(level=level, release=release, schema=schema):
                program = build(self.path("program"), release, f"--trace={schema}", "-silent", level, PROGRAMS / "exceptions.cc", cxx=True)
                scratch = self.path("scratch")
                shutil.rmtree(scratch, ignore_errors=True)
                scratch.mkdir()
                found = crash_where_caught(program, self.folder, scratch, 200_000, back)
                self.assertEqual(found.wrong[:5], [])
                self.assertGreater(found.counts["landing pads"], 3)
                self.assertGreaterEqual(found.counts["points where an exception is caught"], 5 * found.counts["landing pads"])

    def build_real(self, name, release, level):
        packages, commands, _, _ = real.PROGRAMS[name]
        try:
            sources = [debian_sources.unpacked(package) for package in packages]
        except debian_sources.NotThere as why:
            self.skipTest(f"the sources of {name} are not here: {why}")
        folder = self.path("build")
        shutil.rmtree(folder, ignore_errors=True)
        for source in sources:
            shutil.copytree(source, folder / source.name, symlinks=True)
        words = {"cc": BINARY_DIR / "bin/telltale-cc", "cxx": BINARY_DIR / "bin/telltale-c++", "flags": f"{level} --trace={SCHEMA} -silent"}
        for command in [*commands[:REAL[name][0]], *([LINK_LUA] if name == "lua" else [])]:
            done = subprocess.run(["bash", "-c", command.format(**words)], cwd=folder / sources[0].name,
                                  env={**os.environ, "TELLTALE_CLANG_RELEASE": release, "LC_ALL": "C"}, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=real.STEP_TIMEOUT)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return folder / sources[0].name, folder / REAL[name][1]

    @unittest.skipUnless(real.LONG or real.ONLY, "takes hours: TELLTALE_LONG=1")
    def test_real_programs(self):
        write_inputs(self.path("inputs"))
        for number, name in enumerate(real.ONLY[:1] or REAL):
            for level in real.ONLY[1:2] or ("-O0", "-O2"):
                release = (real.ONLY[2:3] or [RELEASES[(number + (level == "-O2")) % len(RELEASES)]])[0]
                with self.subTest(program=name, release=release, level=level):
                    folder, program = self.build_real(name, release, level)
                    arguments = REAL[name][2].format(inputs=self.path("inputs")).split()
                    print(name, release, level, dict(self.compare(program, arguments, folder, POINTS, seed=1, steps=STEPS,
                                                                   starts_at_main=name not in WITH_CONSTRUCTORS)), flush=True)


if __name__ == "__main__":
    unittest.main()
