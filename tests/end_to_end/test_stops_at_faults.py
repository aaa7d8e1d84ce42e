"""telltale coverage and paths of programs that stopped at an instruction, of functions without paths."""
import itertools
import json
import os
import re
import unittest

from core_files import crash
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run

TELLTALE = os.environ["TELLTALE"]
SOURCE = SOURCE_DIR / "tests/programs/csi/cases/stops_at_a_fault.c"
TEXT = SOURCE.read_text().splitlines()


def marked(function):
    """By number of the line: "yes" or "no"; and the line where it stops."""
    begin = next(number for number, text in enumerate(TEXT, 1) if f" {function}(int number) {{" in text)
    end = TEXT.index("}", begin) + 1
    found = {number: re.search(r"/\* (ran|not)(: here)? \*/$", TEXT[number - 1]) for number in range(begin, end)}
    lines = {number: "yes" if match[1] == "ran" else "no" for number, match in found.items() if match}
    (here,) = [number for number, match in found.items() if match and match[2]]
    return lines, here


class StopsAtFaults(SamplerCase):
    def crash(self, schema, level, *words, release=RELEASES[-1], arguments=()):
        if not schema.endswith(".schema"):
            self.path("own.schema").write_text(schema)
            schema = self.path("own.schema")
        program = build(self.path("program"), release, "-g", f"--trace={schema}", "-silent", level, *words, SOURCE)
        return crash(self.path("core"), program, *arguments)

    def lines(self, core, name):
        document = json.loads(run(TELLTALE, "coverage", core, "--json").stdout)
        (function,) = [function for function in document["functions"] if function["function"] == name]
        return {row["line"]: row["ran"] for row in function["lines"]}

    def test_lines_before_the_fault_are_certain(self):
        for name, arguments in (("branches", ()), ("straight", ("x",))):
            expected, here = marked(name)
            before = {number: ran for number, ran in expected.items() if number <= here}
            for release, schema, flags in itertools.product(RELEASES, ("cc.schema", "bb.schema"), ("-csi-opt=0", "-csi-opt=2", "-csi-opt=3")):
                with self.subTest(function=name, release=release, schema=schema, flags=flags):
                    answers = self.lines(self.crash(schema, "-O0", flags, release=release, arguments=arguments), name)
                    self.assertEqual({number: answers[number] for number in before}, before)
                    self.assertNotIn("yes", [answers[number] for number in expected if number > here])

    def test_no_line_has_a_wrong_answer(self):
        for name, arguments in (("branches", ()), ("straight", ("x",))):
            expected, _ = marked(name)
            for release, schema, level in itertools.product(RELEASES, ("*;{}\n", "cc.schema", "bb.schema"), ("-O0", "-O1", "-O2", "-Os")):
                with self.subTest(function=name, release=release, schema=schema, level=level):
                    answers = self.lines(self.crash(schema, level, release=release, arguments=arguments), name)
                    for number, ran in expected.items():
                        self.assertIn(answers.get(number, "maybe"), (ran, "maybe"), number)

    def test_a_function_of_one_block_names_the_line_where_it_stopped(self):
        expected, here = marked("straight")
        for release, level in itertools.product(RELEASES, ("-O0", "-O2")):
            with self.subTest(release=release, level=level):
                core = self.crash("pt.schema", level, release=release, arguments=("x",))
                text = run(TELLTALE, "paths", core, "--function", "straight").stdout
                ran = [int(number) for number in re.search(r"(?m)^     ran in this call: (.*)$", text)[1].split(", ")]
                self.assertEqual([number for number in ran if number in expected],
                                 [number for number in expected if number <= here])
                self.assertRegex(text, "path tracing excluded it: ")


if __name__ == "__main__":
    unittest.main()
