"""Calls are counted wherever an expression is allowed: as many returns are observed as the function has entries."""
import unittest

from program_text import program_text
from sampler_programs import (ALL, CONCURRENT, PROGRAMS, RELEASES, SamplerCase, build, compile_with, resolved, run,
                              site_tables)

NOT_LOOKED_AT = {"everywhere.c": 0, "everywhere.cc": 2}  # initialisers of globals
STANDARD = {"everywhere.c": "-std=gnu17", "everywhere.cc": "-std=c++23"}


class Places(SamplerCase):
    def seen(self, program):
        """(calls entered, returns observed) of `told`."""
        entered = returned = 0
        for line in resolved(self.report, program):
            columns = line.split("\t")
            if columns[0] == "function-entries" and columns[3].startswith("told"):
                entered += int(columns[-1])
            elif columns[0] == "returns" and columns[4] == "told":
                returned += sum(int(n) for n in columns[-3:])
        return entered, returned

    def test_every_call_is_seen(self):
        for name, standard in STANDARD.items():
            plain = run(build(self.path("plain"), RELEASES[-1], standard, "-w", PROGRAMS / name, cxx=name.endswith("cc")))
            for release in RELEASES:
                for level in ("-O0", "-O2"):
                    with self.subTest(program=name, release=release, level=level):
                        program = build(self.path("p"), release, standard, "-w", level, "-fno-sample", *ALL, *CONCURRENT,
                                        PROGRAMS / name, cxx=name.endswith("cc"))
                        self.assertEqual(self.run_reported(program).stdout, plain.stdout)
                        entered, returned = self.seen(program)
                        self.assertGreater(entered, 100)
                        self.assertEqual(returned, entered - NOT_LOOKED_AT[name])

    def test_entries_of_functions_with_an_empty_body_but_not_of_defaulted_ones(self):
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                with self.subTest(release=release, level=level):
                    program = build(self.path("p"), release, level, "-fno-sample", "-fsampler-scheme=function-entries",
                                    PROGRAMS / "defaulted.cc", cxx=True)
                    self.assertEqual(self.run_reported(program).returncode, 0)
                    entries = {columns[3]: columns[-1] for columns in (line.split("\t") for line in resolved(self.report, program))}
                    self.assertEqual(entries, {"main": "1", "Empty::Empty": "1", "Empty::~Empty": "1", "Member::Member": "4", "Member::~Member": "4"})

    def test_generic_lambdas_are_looked_at_wherever_they_are_instantiated(self):
        source = self.path("lambdas.cc")
        source.write_text(program_text("sampler/cases/generic_lambdas.cc"))
        for release in RELEASES:
            for words in (("-O0",), ("-O2", "-fno-sample"), ("-O2", "-fsampler-adaptive")):
                with self.subTest(release=release, words=words):
                    program = build(self.path("p"), release, "-std=c++20", *words, "-fsampler-scheme=branches,function-entries", source, cxx=True)
                    self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").returncode, 0)
                    rows = [line.split("\t") for line in resolved(self.report, program)]
                    taken = {tuple(row[4:]) for row in rows if row[0] == "branches" and row[-2:] != ["0", "0"]}
                    self.assertEqual(taken, {(f"{name} > {n}", "1", "0") for name, n in (("x", "1"), ("x", "2"), ("x", "3"), ("y", "4"))})
                    entered = [row[3] for row in rows if row[0] == "function-entries" and row[-1] == "1"]
                    self.assertEqual(sum("operator()" in name for name in entered), 5)

    def test_declarations_in_heads_are_covered_if_an_expression_initialises_them(self):
        source = self.path("heads.cc")
        source.write_text(program_text("sampler/cases/heads.cc"))
        for release in RELEASES:
            with self.subTest(release=release):
                done = compile_with(release, "-std=c++17", "-fsampler-scheme=coverage", "-c", source, "-o", self.path("heads.o"),
                                    cxx=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                ((_, rows),) = site_tables(self.path("heads.o")).items()
                self.assertEqual([row[-1] for row in rows], ["sum = 0;", "i < n", "++i;", "sum += i;", "j = 0;", "j < n", "++j;",
                                                             "sum += j;", "k > 3", "sum += k;", "return sum;"])

    def test_inline_functions_of_c_that_a_later_declaration_makes_external(self):
        schemes = "-fsampler-scheme=function-entries,branches,coverage"
        for release in RELEASES:
            for words in (("-O0", "-fno-sample"), ("-O2", "-fno-sample"), ("-O2",), ("-O2", "-fsampler-adaptive")):
                with self.subTest(release=release, words=words):
                    program = build(self.path("p"), release, *words, schemes, PROGRAMS / "inline_definition.c",
                                    PROGRAMS / "inline_definition_user.c")
                    self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1", SAMPLER_RATES="uniform").stdout, "2 10\n")
                    of_function = [line.split("\t") for line in resolved(self.report, program) if "\ttwice" in line]
                    self.assertEqual([line[-1] for line in of_function if line[0] == "function-entries"], ["2"])
                    self.assertEqual([line[-2:] for line in of_function if line[0] == "branches"], [["1", "1"]])
                    self.assertEqual(sorted(line[-1] for line in of_function if line[0] == "coverage"), ["1", "1", "2"])


if __name__ == "__main__":
    unittest.main()
