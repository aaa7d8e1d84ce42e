"""CMake's projects that need more of LLVM than the compiler: link-time optimisation and C++20 modules."""
import json
import os
import re
import shutil
import unittest

from sampler_programs import BINARY_DIR, RELEASES, SOURCE_DIR, SamplerCase, run

PROJECTS = SOURCE_DIR / "tests/programs/cmake"
TELLTALE = os.environ["TELLTALE"]
OPTIONS = ("-fsampler-scheme=branches", "-fno-sample", "--trace=pt.schema", "-silent", "-g")


def cmake_version():
    return tuple(map(int, re.search(r"(\d+)\.(\d+)", run("cmake", "--version").stdout).groups()))


class CMakeBuilds(SamplerCase):
    def build(self, project, release):
        """A program's report and path metadata."""
        env = {"TELLTALE_CLANG_RELEASE": release}
        folder = self.path(f"{project}-{release}")
        for words in (("-S", PROJECTS / project, "-B", folder, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={BINARY_DIR / 'bin/telltale-c++'}",
                       f"-DCMAKE_CXX_FLAGS={' '.join(OPTIONS)}", "-DCMAKE_BUILD_TYPE=Release"),
                      ("--build", folder)):
            done = run("cmake", *words, env=env)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = self.path("report")
        done = run(folder / "main", env={"SAMPLER_FILE": str(report)})
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = run(TELLTALE, "resolve", report, "--program", folder / "main").stdout
        self.assertRegex(answer, r"branches +\S*limits\S*:\d+ +limited\S* +value > 3 +false 1, true 0\n")
        self.assertIn("limited", run(TELLTALE, "sites", folder / "main").stdout)

    def test_archives_of_bitcode(self):
        for release in RELEASES:
            with self.subTest(release=release):
                self.build("archive", release)

    def test_modules(self):
        if cmake_version() < (3, 28):
            self.skipTest("CMake before 3.28 has no C++20 modules")
        for release in RELEASES:
            with self.subTest(release=release):
                self.build("module", release)

    def test_dependencies_of_modules(self):
        """What CMake 3.28 and later run on each source of C++20."""
        for release in RELEASES:
            scanner = shutil.which(f"clang-scan-deps-{release}")
            if scanner is None:
                continue
            for source, key in (("limits.cppm", "provides"), ("main.cc", "requires")):
                words = ("-std=c++20", "-x", "c++", PROJECTS / "module" / source, "-c", "-o", "made.o")
                expected = run(scanner, "-format=p1689", "--", f"clang++-{release}", *words).stdout
                done = run(BINARY_DIR / "bin/telltale-clang-scan-deps", "-format=p1689", "--", BINARY_DIR / "bin/telltale-c++", *OPTIONS, *words,
                           env={"TELLTALE_CLANG_RELEASE": release})
                self.assertEqual((done.stdout, done.stderr), (expected, ""))
                self.assertIn(key, json.loads(expected)["rules"][0])

    def test_tools_that_are_not_installed(self):
        done = run(BINARY_DIR / "bin/telltale-clang-scan-deps", "--version", env={"PATH": str(self.compilers_alone())})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^telltale-cc: clang-scan-deps of LLVM \d+ is not installed\n$")

    def compilers_alone(self):
        """A folder with compilers that are alone in their folder."""
        folder = self.path("compilers")
        folder.mkdir()
        for release in RELEASES:
            shutil.copy("/bin/true", folder / f"clang-{release}")
        return folder


if __name__ == "__main__":
    unittest.main()
