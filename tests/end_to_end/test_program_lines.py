"""telltale coverage: certain answers about lines are right, whatever the optimiser and the Sampler did to them."""
import itertools
import re
import unittest

from coverage_case import CASES, CoverageCase
from sampler_programs import RELEASES


class ProgramLines(CoverageCase):
    def test_lines_of_optimised_code(self):
        """As without optimisation, although instructions were moved, merged and removed. (Some lines have none left.)"""
        runs = ((), ("60",), ("2000",))
        for release in RELEASES:
            exact = {}
            program = self.build_source(release, "--trace=bb.schema", "-csi-opt=0")
            for arguments in runs:
                exact[arguments], unknown = self.lines_of_run(program, *arguments)
                self.assertEqual(unknown, 0)
            for level, words in itertools.product(("-O1", "-O2", "-O3", "-Os"), ((), ("-fsampler-scheme=branches,scalar-pairs",), ("-g",))):
                program = self.build_source(release, "--trace=bb.schema", level, *words)
                for arguments in runs:
                    with self.subTest(release=release, arguments=arguments, level=level, words=words):
                        lines, unknown = self.lines_of_run(program, *arguments)
                        right = exact[arguments]
                        wrong = {line: ran for line, ran in lines.items() if line in right and ran != right[line]}
                        self.assertEqual(wrong, {})
                        if "branches" not in " ".join(words):
                            self.assertEqual(unknown, 0)
                            self.assertGreater(len(lines.keys() & right.keys()), 0.75 * len(right))

    def test_lines_of_odd_programs(self):
        """Certain answers at all levels, with and without the Sampler's schemes, are those without optimisation and with all flags."""
        sources = [CASES / name for name in ("odd_flow.c", "odd_objects.cc", "odd_coroutines.cc", "unswitched_loops.c", "moved_branches.c")]
        for source, release in itertools.product(sources, RELEASES):
            exact, _ = self.lines_at_exit(release, "--trace=bb.schema", "-csi-opt=0", source=source, with_headers=True)
            self.assertGreater(len(exact), 30)
            for level, words in itertools.product(("-O0", "-O1", "-O2", "-O3", "-Os"), ((), ("-fsampler-scheme=branches,returns,scalar-pairs",))):
                with self.subTest(source=source.name, release=release, level=level, words=words):
                    lines, _ = self.lines_at_exit(release, "--trace=bb.schema", level, *words, source=source, with_headers=True)
                    self.assertEqual({line: ran for line, ran in lines.items() if ran != exact.get(line, ran)}, {})
                    self.assertGreater(len(lines.keys() & exact.keys()), 0.4 * len(exact))

    def test_lines_after_the_end(self):
        self.check_marked_lines(CASES / "after_the_end.c")
        self.check_marked_lines(CASES / "after_the_end.c", "-fbasic-block-sections=all", schemas=("pt.schema", "bb.schema"))
        program = self.build("bb.schema", "-O1", source=CASES / "after_the_end.c")
        _, lines = self.frame(program, "main")
        source = (CASES / "after_the_end.c").read_text().splitlines()
        main = next(number for number, text in enumerate(source, 1) if " main(" in text)
        for number, text in enumerate(source, 1):
            if number > main and (found := re.search(r"/\* (ran|not) \*/$", text)):
                self.assertEqual(lines[number], {"ran": "yes", "not": "no"}[found[1]], text)

    def test_lines_of_removed_code(self):
        for name in ("removed_code.c", "loops_with_calls.c"):
            self.check_marked_lines(CASES / name, schemas=("pt.schema", "bb.schema"))

    def test_lines_of_merged_code(self):
        self.check_marked_lines(CASES / "merged_code.c", schemas=("pt.schema", "bb.schema"), all_have_answers=True)

    def test_lines_of_calls_that_vanished(self):
        self.check_marked_lines(CASES / "vanished_calls.c", schemas=("pt.schema", "bb.schema"), least=0.7)

    def test_lines_of_calls_that_only_observed_code_has(self):
        for schemes in ("branches,function-entries", "branches,returns,scalar-pairs"):
            self.check_marked_lines(CASES / "observed_calls.c", f"-fsampler-scheme={schemes}", schemas=("pt.schema", "bb.schema"), least=0.5)
        self.check_marked_lines(CASES / "observed_destructors.cc", "-fsampler-scheme=function-entries", schemas=("bb.schema",), least=0.5)
        self.check_marked_lines(CASES / "merged_copies.c", "-fsampler-scheme=scalar-pairs,function-entries", least=0.3)

    def test_lines_of_calls_on_one_line(self):
        for words in ((), ("-gno-column-info",)):
            self.check_marked_lines(CASES / "same_line_calls.c", *words, schemas=("pt.schema", "bb.schema"), least=0.7)

    def test_lines_after_a_throw(self):
        self.check_marked_lines(CASES / "after_a_throw.cc", least=0.7)
        self.check_marked_lines(CASES / "after_a_throw.cc", "-csi-opt=0", schemas=("cc.schema",))

    def test_lines_that_run_before_main(self):
        """The optimiser runs constructors of objects with known values itself."""
        self.check_marked_lines(CASES / "before_main.cc", schemas=("pt.schema", "bb.schema"))

    def test_lines_of_destructors_that_do_nothing(self):
        """The optimiser does not register those of static objects, and clang calls the base class's destructor instead."""
        source = CASES / "empty_destructors.cc"
        for release in RELEASES:
            exact, _ = self.lines_at_exit(release, "--trace=bb.schema", "-csi-opt=0", source=source)
            for line, text in enumerate(source.read_text().splitlines(), 1):
                if found := re.search(r"// (ran|not)$", text):
                    self.assertEqual(exact[line], {"ran": "yes", "not": "no"}[found[1]], text)
            for level, words in itertools.product(("-O0", "-O1", "-O2", "-Os"), ((), ("-fsampler-scheme=branches,function-entries",))):
                with self.subTest(release=release, level=level, words=words):
                    lines, _ = self.lines_at_exit(release, "--trace=bb.schema", level, *words, source=source)
                    self.assertEqual({line: ran for line, ran in lines.items() if ran != exact.get(line, ran)}, {})
                    self.assertGreater(len(lines.keys() & exact.keys()), 5)

    def test_lines_of_coroutines(self):
        for name in ("coroutine_body.cc", "resumed_twice.cc"):
            self.check_marked_lines(CASES / name, "-std=c++20", schemas=("pt.schema", "bb.schema"), least=0.8)

    def test_lines_of_copies_of_a_function(self):
        source = CASES / "copies.c"
        text = source.read_text().splitlines()
        first, last = (number for number, line in enumerate(text, 1) if line.startswith("int pick") or line.startswith("static void never"))
        for release in RELEASES:
            with self.subTest(release=release):
                functions = self.functions(self.build("cc_pt.schema", "-O1", release=release, source=source))
                self.assertEqual((functions["pick"]["ran"], functions["pick"]["blocks"][0]["ran"]), ("yes", "no"))  # in main, itself
                answers = {}
                for line in (line for function in functions.values() for line in function["lines"]):
                    answers.setdefault(line["line"], set()).add(line["ran"])
                # The inlined copy in main ran, but left no instruction: both results are known there.
                self.assertEqual(answers[text.index("}", first) + 1], {"no", "yes"})
                # Both copies have this one, and neither ran it.
                crash_line = next(number for number, line in enumerate(text, 1) if "return *" in line)
                self.assertEqual([number for number in answers if first <= number < last and answers[number] == {"no"}], [crash_line])
                self.assertEqual(answers[last], {"maybe"})  # as below
                # The function's own lines, in all copies together.
                lines = {line["line"]: line["ran"] for line in functions["pick"]["source_lines"]}
                self.assertEqual({number for number, how in lines.items() if how != "yes"}, {crash_line})
                self.assertTrue(lines.keys() < set(range(first, last)))
                # Nothing else is left of this one. It is so small that it may have been removed elsewhere.
                self.assertEqual((functions["never"]["mechanisms"], functions["never"]["ran"], functions["never"]["blocks"]), ("inlined", "maybe", []))
                self.assertEqual(functions["never"]["source_lines"], [{"line": last, "ran": "maybe"}])

    def test_lines_of_copies_that_the_sampler_makes(self):
        for words in self.SAMPLED:
            self.check_marked_lines(CASES / "copied_by_the_sampler.c", "-csi-opt=0", *words)

    def test_lines_that_only_the_samplers_code_has(self):
        """Checks at the end of a branch have the line of `else`, marks of coverage that of `break`: such lines have no answer."""
        source = CASES / "lines_of_checks.c"
        self.check_marked_lines(source)
        sampled = (*self.SAMPLED, ("-fsampler-scheme=coverage,function-entries",), ("-fsampler-scheme=coverage", "-fno-sample"))
        for words in sampled:
            self.check_marked_lines(source, "-csi-opt=0", *words, schemas=("bb.schema",), least=0.6)
        for release, schema in itertools.product(RELEASES, ("pt.schema", "bb.schema", "cc.schema")):
            lines = [line["line"] for line in self.functions(self.build(schema, release=release, source=source))["main"]["lines"]]
            for words in sampled:
                with self.subTest(release=release, schema=schema, words=words):
                    functions = self.functions(self.build(schema, *words, release=release, source=source))
                    self.assertEqual([line["line"] for line in functions["main"]["lines"]], lines)

    def test_names_with_control_characters(self):
        """Tabs, line feeds and backslashes separate and escape fields of records."""
        source = self.path("tab\tline\nslash\\.c")
        source.write_bytes((CASES / "strange_names.c").read_bytes())
        self.check_marked_lines(source)


if __name__ == "__main__":
    unittest.main()
