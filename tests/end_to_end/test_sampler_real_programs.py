"""Real programs, from Debian's source packages, built by telltale-cc and telltale-c++: they pass their own test suites, with
all schemes together, observed always and one time in a hundred, and with first executions. TELLTALE_LONG=1 adds larger programs and each scheme by
itself; TELLTALE_REAL="PROGRAM [SCHEME|all]" runs one of these."""
import os
import re
import shutil
import subprocess
import time
import unittest

import debian_sources
from sampler_programs import BINARY_DIR, RELEASES, SCHEMES, SamplerCase, section, tables

CONCURRENT_SCHEMES = ("data", "yields", "atoms", "atoms-rw", "compare-swap")
EVERY_SCHEME = SCHEMES + CONCURRENT_SCHEMES
WIDE = "-fassign-across-pointer -fassign-into-field -fassign-into-index"
LONG = os.environ.get("TELLTALE_LONG") == "1"
ONLY = os.environ.get("TELLTALE_REAL", "").split()
STEP_TIMEOUT = 3600 if LONG or ONLY else 300

# Debian's patches are newer than what autotools made.
NO_AUTOTOOLS = "ACLOCAL=: AUTOCONF=: AUTOMAKE=: AUTOHEADER=: MAKEINFO=: HELP2MAN=:"

# Shell commands that build a program and run its tests in a copy of its sources, the expected text in their output, and
# the program with the sites. One of gzip's tests, with files of 4 GB, is left out. {cc}, {cxx} and {flags} are substituted.
# The tests of lpeg, a library for Lua, exercise the interpreter: Debian has none of Lua's own.
PROGRAMS = {
    "bzip2": (["bzip2"], ["make -s CC={cc} CFLAGS='-w -D_FILE_OFFSET_BITS=64 {flags}' bzip2", "make -s CC={cc} test"],
              "If you got this far and the 'cmp's didn't complain, it looks", "bzip2/bzip2"),
    "tinyxml2": (["tinyxml2"], ["cmake -S . -B out -DCMAKE_CXX_COMPILER={cxx} -DCMAKE_CXX_FLAGS='-w {flags}' "
                                "-DBUILD_TESTING=ON -DBUILD_SHARED_LIBS=OFF", "cmake --build out -j2", "out/xmltest"],
                 r"Pass (\d+), Fail 0", "tinyxml2/out/xmltest"),
    "gzip": (["gzip"], ["sed -i '/^  list-big/d' tests/Makefile.in && ./configure -q CC={cc} CFLAGS='-w {flags}'",
             "make -s -j2 " + NO_AUTOTOOLS,
             "make check " + NO_AUTOTOOLS], r"# FAIL:\s+0\n",
             "gzip/gzip"),
    "lua": (["lua5.4", "lua-lpeg"],
            ["cp -r ../lua-lpeg lpeg; sed -i '/deb-multiarch.h/d' src/luaconf.h",
             "cd src && ls l*.c | grep -v luac.c | xargs -P2 -n1 {cc} -w {flags} -std=gnu99 -DLUA_COMPAT_5_3 -DLUA_USE_LINUX "
             "-DDEB_HOST_MULTIARCH='\"\"' -c && {cc} l*.o -Wl,-E -ldl -lm -o lua",
             "cd lpeg && {cc} -w {flags} -fPIC -shared -DDEB_HOST_MULTIARCH='\"\"' -I../src lp*.c -o lpeg.so",
             "cd lpeg && ../src/lua test.lua"], r"OK\s*$", "lua5.4/src/lua"),
    "zstd": (["libzstd"], ["make -s -j2 -C tests CC={cc} CFLAGS='-w {flags}' zstd datagen fuzzer",
                           "make -C tests CC={cc} CFLAGS='-w {flags}' check", "tests/fuzzer -s1 -i200"],
             "", "libzstd/programs/zstd"),
    # The amalgamation with the one of its test programs that needs no Tcl: 46,000 scripts and damaged databases.
    "sqlite": (["sqlite3"], ["./configure -q --disable-tcl && make -s sqlite3.c && make -s fuzzcheck CC={cc} CFLAGS='-w {flags}'",
                             "./fuzzcheck test/fuzzdata*.db"], r"fuzzcheck: 0 errors out of \d+ tests", "sqlite3/fuzzcheck"),
    "ninja": (["ninja-build"], ["cmake -S . -B out -DCMAKE_CXX_COMPILER={cxx} -DCMAKE_CXX_FLAGS='-w {flags}'",
                                "cmake --build out -j2", "out/ninja_test"], "passed", "ninja-build/out/ninja_test"),
    "zlib": (["zlib"], ["CC={cc} CFLAGS='-w {flags}' ./configure && make -s -j2", "make -s check"], r"zlib test OK", "zlib/minigzip"),
    # Templates, exceptions, and as modern a C++ as its tests can be compiled with.
    "fmt": (["fmtlib"], ["cmake -S . -B out -DCMAKE_CXX_COMPILER={cxx} -DCMAKE_C_COMPILER={cc} -DCMAKE_CXX_FLAGS='-w {flags}' "
                         "-DCMAKE_C_FLAGS='-w {flags}' -DCMAKE_CXX_STANDARD=20", "cmake --build out -j2", "cd out && ctest"],
            "100% tests passed", "fmtlib/out/bin/format-test"),
    "cppcheck": (["cppcheck"], ["make -s -j2 CXX={cxx} CXXFLAGS='-w {flags} -std=c++14' testrunner", "./testrunner -q"],
                 "Tests failed: 0", "cppcheck/testrunner"),
}
SHORT = ("bzip2", "tinyxml2")
# With sources of these, and schemes that have first executions.
ADAPTIVE = ("bzip2", "tinyxml2", *(("lua", "gzip") if LONG else ()))
WITH_FIRST = ("branches", "returns", "scalar-pairs", "function-entries", "float-kinds", "coverage")
SAMPLE = re.compile(r'<report id="samples">\n(.*?)</report>\n', re.S)
FIRST = re.compile(r'<report id="first-samples" sparsity="\d+" first="\d+">\n(.*?)</report>\n', re.S)


class RealPrograms(SamplerCase):
    def passes(self, name, release, flags, sparsity=None, part=SAMPLE):
        packages, commands, expected, program = PROGRAMS[name]
        try:
            sources = [debian_sources.unpacked(package) for package in packages]
        except debian_sources.NotThere as why:
            self.skipTest(f"the sources of {name} are not here: {why}")
        folder = self.path("build")
        shutil.rmtree(folder, ignore_errors=True)
        for source in sources:
            shutil.copytree(source, folder / source.name, symlinks=True)
        reports = self.path("reports")
        shutil.rmtree(reports, ignore_errors=True)
        reports.mkdir()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SAMPLER_")}
        environment.update(TELLTALE_CLANG_RELEASE=release, SAMPLER_FILE=f"{reports}/%p", LC_ALL="C")
        if sparsity is not None:
            environment["SAMPLER_SPARSITY"] = str(sparsity)
        words = {"cc": BINARY_DIR / "bin/telltale-cc", "cxx": BINARY_DIR / "bin/telltale-c++", "flags": flags}
        text = ""
        for command in commands:
            done = subprocess.run(["bash", "-c", command.format(**words)], cwd=folder / sources[0].name, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                  timeout=STEP_TIMEOUT)
            text = done.stdout.decode(errors="replace")
            self.assertEqual(done.returncode, 0, f"{name} {flags}: {command}\n{text[-3000:]}")
        self.assertRegex(text, expected)
        return self.look_at(reports, folder / program, part)

    def look_at(self, reports, program, part):
        """The number of observations in these parts of reports. Reports fit the sites of their program."""
        sites = {key[:2]: len(rows) for key, rows in
                 tables(section(program, ".debug_site_info").replace(b"\0", b"").decode(), "sites")}
        observed = 0
        seen = 0
        # The programs that a configure script runs write reports, too.
        for file in sorted(reports.iterdir()):
            text = "".join(part.findall(file.read_text()))
            mine = [(key, rows) for key, rows in tables(text, "samples") if key[:2] in sites]
            seen += 1 if mine else 0
            if seen > 20:
                break
            for key, rows in mine:
                if rows:
                    self.assertEqual(len(rows), sites[key[:2]], key)
                    observed += sum(1 for row in rows if set(row) != {"0"})
        return observed

    def both(self, name, release, level, schemes, more=""):
        # On a busy machine, a program makes no progress if it yields at each assignment, or at each hundredth.
        for sampling, sparsity in (("-fno-sample", None), ("-fsample", 100), ("-fsample", 10_000)):
            if sparsity == 10_000 and "yields" not in schemes:
                continue
            chosen = [scheme for scheme in schemes if scheme != "yields" or sparsity == 10_000]
            if not chosen:
                continue
            flags = " ".join(f"-fsampler-scheme={scheme}" for scheme in chosen)
            with self.subTest(program=name, release=release, schemes=schemes, sampling=sampling, sparsity=sparsity):
                begin = time.monotonic()
                observed = self.passes(name, release, f"{level} {flags} {more} {sampling}", sparsity)
                # Some programs have no floating point, few have such objects, and a short run may not be sampled.
                if not sparsity and schemes[0] not in ("g-object-unref", "float-kinds"):
                    self.assertGreater(observed, 0)
                if LONG or ONLY:
                    print(f"{name} {release} {sampling} {'all' if len(schemes) > 1 else schemes[0]}: passed, {observed} rows "
                          f"observed, {time.monotonic() - begin:.0f} s", flush=True)

    def test_all_schemes_together(self):
        if ONLY:
            self.skipTest("TELLTALE_REAL asks for another")
        for number, name in enumerate(SHORT):
            self.both(name, RELEASES[number % len(RELEASES)], "-O0", EVERY_SCHEME, WIDE)

    def test_first_executions(self):
        """Beside a sample, and apart from it."""
        if ONLY:
            self.skipTest("TELLTALE_REAL asks for another")
        flags = " ".join(f"-fsampler-scheme={scheme}" for scheme in WITH_FIRST)
        for number, name in enumerate(ADAPTIVE):
            release = RELEASES[number % len(RELEASES)]
            for blocks in ("", "-fsampler-adaptive-blocks") if LONG else ("",):
                with self.subTest(program=name, release=release, blocks=blocks):
                    observed = self.passes(name, release, f"-O1 {flags} -fsampler-adaptive {blocks}", 100, FIRST)
                    self.assertGreater(observed, 500)

    @unittest.skipUnless(LONG or ONLY, "takes hours: TELLTALE_LONG=1")
    def test_each_scheme(self):
        programs = ONLY[:1] or [name for name in PROGRAMS]
        for name in programs:
            for number, scheme in enumerate((*EVERY_SCHEME, "all")):
                if len(ONLY) > 1 and scheme not in ONLY[1:]:
                    continue
                # The largest takes an hour a time.
                if name == "cppcheck" and scheme != "all" and len(ONLY) < 2:
                    continue
                schemes = EVERY_SCHEME if scheme == "all" else (scheme,)
                more = WIDE if re.search("bounds|float", scheme) else ""
                self.both(name, RELEASES[number % len(RELEASES)], "-O1", schemes, more)


if __name__ == "__main__":
    unittest.main()
