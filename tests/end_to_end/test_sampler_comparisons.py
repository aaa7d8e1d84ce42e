"""Pairs of values are compared in many ways; the counts are the same."""
import subprocess
import unittest

from sampler_programs import PROGRAMS, RELEASES, SamplerCase, build, resolved

NEWEST = RELEASES[-1] if RELEASES else None


class Comparisons(SamplerCase):
    def test_comparisons_are_the_same_however_they_are_made(self):
        """Immediately or as part of a region, one by one or several at a time, of 32 or 64 bits: correct for every
        value."""
        source = PROGRAMS / "compared.c"
        for more in ((), ("-fcompare-constants",)):
            flags = ("-w", "-fsampler-scheme=scalar-pairs", *more, source)
            exact = build(self.path("p"), NEWEST, "-O0", "-fno-sample", *flags)
            self.assertEqual(self.run_reported(exact).returncode, 0)
            expected = resolved(self.report, exact)
            self.assertGreater(sum("\tno_" not in line for line in expected), 100)
            lacking = [line.split("\t")[9:] for line in expected if "\tno_" in line]
            self.assertEqual(lacking, [["0", "0", "0"]] * len(lacking))
            self.assertGreater(len(lacking), 20)
            for release in RELEASES:
                for words in (("-O0",), ("-O2",), ("-O2", "-pthread"), ("-O2", "-fno-sample-regions"), ("-O1", "-ftimestamp-last"),
                              ("-O2", "-mgeneral-regs-only"), ("-O2", "-masm=intel"), ("-O2", "-march=x86-64-v3"), ("-O2", "-fno-sample"),
                              ("-O2", "-fno-sample", "-pthread")):
                    with self.subTest(release=release, words=words, more=more):
                        program = build(self.path("q"), release, *words, *flags)
                        self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").returncode, 0)
                        self.assertEqual(resolved(self.report, program), expected)
            without_avx2 = self.path("without_avx2.o")
            subprocess.run(["gcc", "-c", PROGRAMS / "parts/without_avx2.c", "-o", without_avx2], check=True)
            for words in (("-O2",), ("-O2", "-pthread"), ("-O2", "-fno-sample"), ("-O2", "-fno-sample", "-pthread")):
                with self.subTest(words=words, more=more):
                    program = build(self.path("q"), NEWEST, *words, *flags, without_avx2)
                    self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").returncode, 0)
                    self.assertEqual(resolved(self.report, program), expected)


if __name__ == "__main__":
    unittest.main()
