"""Programs with undefined behaviour: compilers' warnings with and without sites, and which predicates reveal it."""
import unittest

from sampler_programs import PROGRAMS, RELEASES, SamplerCase, build, compile_with, resolved, run

LUCK = (PROGRAMS / "cases/uninitialised.c").read_text()
BUFFERS = (PROGRAMS / "cases/buffers.cc").read_text()
SCHEMES = ("scalar-pairs", "bounds", "branches", "returns", "coverage", "data", "yields", "atoms", "compare-swap")


class Undefined(SamplerCase):
    def test_a_local_that_survives_by_luck(self):
        """The guide's example: scalar-pairs compares the assigned value with the variable's old one, as local-uninit
        where it may not be set."""
        source = self.path("luck.c")
        for text, kind in ((LUCK, "local-uninit"), (LUCK.replace("int n;", "int n = 0;"), "local-init")):
            source.write_text(text)
            for release in RELEASES:
                program = build(self.path("p"), release, "-w", "-O0", "-fno-sample", "-fsampler-scheme=scalar-pairs", source)
                self.assertEqual(self.run_reported(program).returncode, 0)
                rows = [line.split("\t") for line in resolved(self.report, program)]
                ((seen, counts),) = [(row[8], [int(n) for n in row[9:]]) for row in rows
                                     if (int(row[2]), row[4], row[7]) == (5, "n", "n")]
                self.assertEqual(seen, kind)
                self.assertEqual(sum(counts), 1000)

    def test_memory_sanitizer_names_it(self):
        source = self.path("luck.c")
        source.write_text(LUCK)
        for release in RELEASES:
            # The sampler's options may stay; without a scheme nothing is planted.
            done = compile_with(release, "-w", "-g", "-O0", "-fsanitize=memory", "-frelative-paths", source, "-o", self.path("p"))
            self.assertEqual(done.returncode, 0, done.stderr)
            told = run(self.path("p"))
            self.assertIn("use-of-uninitialized-value", told.stderr)
            self.assertRegex(told.stderr, r"counter .*luck\.c:6")


class Warnings(SamplerCase):
    def test_each_is_told_once(self):
        """clang's analyses at the end of a unit run on code with planted sites."""
        source = self.path("a.cc")
        source.write_text(BUFFERS)

        def told(release, *words):
            done = compile_with(release, "-Wall", "-Wextra", "-Wunsafe-buffer-usage", *words, "-c", source, "-o", self.path("a.o"),
                                cxx=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return sorted(line for line in done.stderr.splitlines() if "warning:" in line or "note:" in line)

        for release in RELEASES:
            plain = told(release)
            self.assertGreater(len(plain), 15)
            for words in (*((f"-fsampler-scheme={name}",) for name in SCHEMES), tuple(f"-fsampler-scheme={n}" for n in SCHEMES)):
                self.assertEqual(told(release, *words), plain, words)


if __name__ == "__main__":
    unittest.main()
