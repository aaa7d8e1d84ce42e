"""Functions that a linker puts at one address since their code is equal: what a stack says of the address may be of either."""
import itertools
import json
import os
import unittest

from core_files import crash
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run

TELLTALE = os.environ["TELLTALE"]
SOURCES = [SOURCE_DIR / f"tests/programs/csi/cases/{name}" for name in ("folded.c", "folded_too.c")]
FOLD = ("-ffunction-sections", "-fuse-ld=lld", "-Wl,--icf=all")
# By number of arguments: what ran. Local functions have the number of their file.
RAN = ("first", "second", "local of folded.c", "local of folded_too.c")


def ran_name(function):
    """As in RAN."""
    return function["function"] + (f" of {function['file'].rsplit('/')[-1]}" if function["function"] == "local" else "")


class FoldedFunctions(SamplerCase):
    def build(self, schema, level, *words):
        self.path("own.schema").write_text(schema)
        return build(self.path("program"), RELEASES[0], "-g", f"--trace={self.path('own.schema')}", "-silent", level, *words, *SOURCES)

    def addresses(self, program):
        """The addresses of each function's symbols."""
        found = {}
        for address, _, name in (line.split() for line in run("nm", "--defined-only", program).stdout.splitlines()):
            found.setdefault(name, []).append(address)
        return found

    def answers(self, program, arguments):
        core = crash(self.path("core"), program, *["x"] * arguments)
        document = json.loads(run(TELLTALE, "coverage", core, "--program", program, "--json").stdout)
        return {ran_name(function): function["ran"] for function in document["functions"]}

    def test_a_stack_does_not_tell_which_of_them_ran(self):
        for schema, level in itertools.product(("*;{}\n", "*;{PT}\n", "*;{CC}\n"), ("-O0", "-O1")):
            program = self.build(schema, level, *FOLD)
            addresses = self.addresses(program)
            self.assertEqual(addresses["first"], addresses["second"])
            self.assertEqual((len(addresses["local"]), len(set(addresses["local"]))), (2, 1))
            for number, ran in enumerate(RAN):
                with self.subTest(schema=schema, level=level, ran=ran):
                    answers = self.answers(program, number)
                    self.assertIn(answers[ran], ("yes", "maybe"))
                    for other in RAN:
                        if other != ran:
                            self.assertIn(answers[other], ("no", "maybe"), other)
                    # The paths of its caller, and the function that it called, decide.
                    if schema == "*;{PT}\n" and ran in ("first", "second"):
                        self.assertEqual({name: answers[name] for name in RAN}, {**dict.fromkeys(RAN, "no"), ran: "yes"})

    def test_paths_names_the_other_functions_at_the_address(self):
        for schema in ("*;{}\n", "*;{PT}\n"):
            program = self.build(schema, "-O1", *FOLD)
            for number, ran in enumerate(RAN):
                with self.subTest(schema=schema, ran=ran):
                    core = crash(self.path("core"), program, *["x"] * number)
                    words = (TELLTALE, "paths", core, "--program", program)
                    frames = json.loads(run(*words, "--json").stdout)["threads"][0]["frames"]
                    folded = [frame for frame in frames if "same_address" in frame]
                    self.assertEqual(len(folded), 1, frames)
                    self.assertNotIn("main", [folded[0]["function"]])
                    names = {ran_name(each) for each in (folded[0], *folded[0]["same_address"])}
                    self.assertEqual(names, set(RAN[:2] if ran in RAN[:2] else RAN[2:]))
                    others = ", ".join(f"{each['function']} in {each['file'].rsplit('/')[-1]}" for each in folded[0]["same_address"])
                    said = f"or {others}: the linker put functions with equal code at one address"
                    self.assertIn(f"     {said}\n", run(*words).stdout)
                    page = self.path("page.html")
                    run(*words, "--html", "--force", "-o", page)
                    self.assertIn(said, page.read_text())
                    chosen = [run(*words, "--function", name.split()[0]).stdout for name in names]
                    self.assertTrue(all(said in text for text in chosen), chosen)

    def test_flags_are_each_functions_own(self):
        program = self.build("*;{BBC}\n", "-O1", *FOLD)
        self.assertNotEqual(*(self.addresses(program)[name] for name in ("first", "second")))
        for number, ran in enumerate(RAN):
            with self.subTest(ran=ran):
                answers = self.answers(program, number)
                self.assertEqual({name: answers[name] for name in RAN}, {**dict.fromkeys(RAN, "no"), ran: "yes"})


if __name__ == "__main__":
    unittest.main()
