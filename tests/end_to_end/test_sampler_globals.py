"""Pairs with variables that are passed by their addresses have the counts of those that are passed as values."""
import subprocess
import unittest

from sampler_programs import PROGRAMS, RELEASES, SamplerCase, build, samples

FLAGS = ("-fsampler-scheme=scalar-pairs", "-fassign-across-pointer", "-w", PROGRAMS / "compared_globals.c")


class Globals(SamplerCase):
    def rows(self):
        return [rows for _, rows in samples(self.report)]

    def test_all_widths_and_kinds_of_variables(self):
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                exact = build(self.path("exact"), release, level, "-fno-sample", *FLAGS)
                expected = self.run_reported(exact).stdout
                truth = self.rows()
                self.assertGreater(sum(len(rows) for rows in truth), 150)
                for words in ((), ("-fthreads",), ("-fsampler-adaptive",), ("-fno-sample-turns",)):
                    with self.subTest(release=release, level=level, words=words):
                        program = build(self.path("sampled"), release, level, *words, *FLAGS)
                        done = self.run_reported(program, SAMPLER_SPARSITY="1", SAMPLER_RATES="uniform")
                        self.assertEqual(done.stdout, expected)
                        self.assertEqual(self.rows(), truth)
                        names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
                        self.assertIn("telltale.sampler.load", names)

    def test_addresses_of_variables_of_an_archive(self):
        schemes = "-fsampler-scheme=scalar-pairs,bounds,data,atoms,atoms-rw,compare-swap,yields"
        for release in RELEASES:
            member = build(self.path("member.o"), release, "-c", PROGRAMS / "archived_globals.c")
            archive = self.path("library.a")
            subprocess.run(["ar", "rcs", archive, member], check=True)
            for use, expected in (("ALLOCATOR", "8\n"), ("MEMBER", "9\n"), ("GLOBAL", "6\n")):
                for words in (("-O0",), ("-O2",), ("-O2", "-fno-sample"), ("-O2", "-fPIC"), ("-O2", "-fsampler-adaptive")):
                    with self.subTest(release=release, use=use, words=words):
                        program = build(self.path("program"), release, *words, schemes, f"-D{use}",
                                        PROGRAMS / "archived_addresses.c", archive)
                        done = self.run_reported(program, SAMPLER_SPARSITY="1")
                        self.assertEqual((done.returncode, done.stdout), (0, expected))


if __name__ == "__main__":
    unittest.main()
