"""Sites in OpenMP regions and in default arguments: their exact counters, and unchanged program output."""
import pathlib
import unittest

from program_text import program_text
from sampler_programs import ALL, CONCURRENT, PROGRAMS, RELEASES, SamplerCase, build, resolved, run, section, site_tables

# Any release's code runs with this one's runtime.
LIBRARY = pathlib.Path("/usr/lib/llvm-19/lib")
OPENMP = ("-w", "-fopenmp", "--start-no-unused-arguments", f"-L{LIBRARY}", f"-Wl,-rpath,{LIBRARY}",
          "--end-no-unused-arguments")
WIDE = ("-fassign-across-pointer", "-fassign-into-field", "-fassign-into-index")
# Not those whose counters depend on thread interleaving.
EXACT = tuple(f"-fsampler-scheme={name}" for name in ("branches", "returns", "data", "function-entries", "coverage"))


class Regions(SamplerCase):
    def setUp(self):
        super().setUp()
        self.assertTrue((LIBRARY / "libomp.so").exists(), "libomp-19-dev is not there: ./dev setup")

    def check(self, name):
        cxx = name.endswith(".cc")
        expected = (PROGRAMS / f"{name}.expected").read_text().splitlines()
        for release in RELEASES:
            compiler = f"clang{'++' if cxx else ''}-{release}"
            words = {mode: (*mode, PROGRAMS / name) for mode in (OPENMP, ("-w", "-fopenmp-simd"))}
            outputs = {}
            for mode, rest in words.items():
                self.assertEqual(run(compiler, *rest, "-o", self.path("plain")).returncode, 0)
                outputs[mode] = run(self.path("plain")).stdout
                self.assertGreater(len(outputs[mode].splitlines()), 2)
            for mode, level in ((OPENMP, "-O0"), (OPENMP, "-O2"), (("-w", "-fopenmp-simd"), "-O1")):
                for sampling in ("-fno-sample", "-fsample", "-fno-sample-regions"):
                    with self.subTest(release=release, mode=mode[:2], level=level, sampling=sampling):
                        program = build(self.path("p"), release, level, sampling, *ALL, *CONCURRENT, *WIDE, *words[mode],
                                        cxx=cxx)
                        done = self.run_reported(program, SAMPLER_SPARSITY="3", SAMPLER_SEED="123456789012")
                        self.assertEqual((done.returncode, done.stdout), (0, outputs[mode]))
                        self.assertTrue(resolved(self.report, program))
            program = build(self.path("p"), release, "-O2", "-fno-sample", *EXACT, *words[OPENMP], cxx=cxx)
            self.run_reported(program)
            self.assertEqual(resolved(self.report, program), expected)
            self.nodes_are_those_of_the_graph(program)

    def nodes_are_those_of_the_graph(self, program):
        lines = section(program, ".debug_sampler_cfg").decode().split("\n")
        names = {line.split("\t")[1] for line in lines if line[:2] in ("+\t", "-\t")}
        for rows in site_tables(program).values():
            for row in rows:
                self.assertIn(row[2], names)

    def test_c(self):
        self.check("parallel.c")

    def test_cxx(self):
        self.check("parallel.cc")

    def test_default_arguments_of_others(self):
        """A caller that is not instrumented, and a global's initialiser, count nothing."""
        source = self.path("a.cc")
        source.write_text(program_text("sampler/cases/default_arguments.cc"))
        for release in RELEASES:
            for sampling in ("-fno-sample", "-fsample"):
                program = build(self.path("p"), release, "-O1", sampling, "-fexclude-function=quiet", "-fsampler-scheme=branches",
                                source, cxx=True)
                self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").returncode, 0)
                self.assertEqual([line.split("\t")[3:] for line in resolved(self.report, program)],
                                 [["main", "next() > 4", "0", "1"]])


if __name__ == "__main__":
    unittest.main()
