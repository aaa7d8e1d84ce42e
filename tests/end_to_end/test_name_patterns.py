"""`run --function` and `run --without`: which names their patterns are compared with."""
import shutil
import unittest

from program_text import program_text
import recorded_programs as programs
from recorded_programs import Recorded, info, telltale, top

HARD_NAMES = program_text("recorders/cases/hard_names.cc")
PLAIN = program_text("recorders/cases/deep_recursion.cc")
ROW, PAIR, HIDDEN = "Row::operator[](unsigned long)", "int shop::pair_of<int, long>(int, long)", "(anonymous namespace)::hidden(int)"
# The last one does not export its C++ library.
VARIANTS = {"gcc": ("g++", *programs.CALL_FLAGS, "-finstrument-functions-exclude-file-list=/c++/,/usr/")}
VARIANTS["gcc, static library"] = (*VARIANTS["gcc"], "-static-libstdc++")
if programs.CLANG:
    VARIANTS["clang"] = (programs.CLANG, *programs.XRAY_FLAGS)
    VARIANTS["clang, static library"] = (programs.CLANG, *programs.XRAY_FLAGS, "-static-libstdc++")


@unittest.skipUnless(shutil.which("g++"), "needs g++")
class NamePatterns(unittest.TestCase):
    def test_names_with_and_without_return_type_and_parameters(self):
        for variant, flags in VARIANTS.items():
            program = programs.build(*flags, source=HARD_NAMES)
            for pattern, without in (("shop::*", PAIR), (PAIR, PAIR), ("shop::pair_of<int, long>(int, long)", PAIR), ("shop::pair_of<int, long>", PAIR),
                                     ("int shop::pair_of<int, long>", PAIR), ("*<int, long>*", PAIR), ("_ZN4shop7pair_of*", PAIR),
                                     ("Row::operator[[]]", ROW), ("Row::operator*", ROW), ("(anonymous namespace)::hidden", HIDDEN),
                                     ("*hidden(int)", HIDDEN), ("int", None), ("pair_of*", None), ("namespace)*", None)):
                with self.subTest(variant=variant, pattern=pattern):
                    run = Recorded(program, 3, options=["--without", pattern])
                    names = set(top(run.file))
                    self.assertEqual({ROW, PAIR, HIDDEN} - names, {without} - {None})
                    self.assertNotIn("linkage names", run.done.stderr)
                    self.assertNotIn("patterns", info(run.file)["properties"])

    def test_comparisons_say_that_other_functions_were_recorded(self):
        for variant, flags in VARIANTS.items():
            program = programs.build(*flags)
            whole = Recorded(program, 5).file
            chosen = Recorded(program, 5, options=["--function", "shop::*", "--without", "*fib*"]).file
            patterns = "--function 'shop::*' --without '*fib*'"
            self.assertNotIn("chosen functions", info(whole)["properties"])
            self.assertEqual(info(chosen)["properties"]["chosen functions"], patterns)
            different = f"different functions were recorded, of A all and of B those that {patterns} chooses: "
            for words in ((), ("--order",), ("--gate", "calls=0%"), ("--gate", "calls=0%", "--gate-by", "path")):
                with self.subTest(variant=variant, words=words):
                    begin = "telltale: gate: " if "--gate" in words else "telltale: "
                    done = telltale("diff", *words, whole, chosen)
                    self.assertIn(begin + different, done.stderr)
                    self.assertEqual("gate passed on what was recorded: " in done.stderr, "--gate" in words)
                    self.assertNotIn("different functions", telltale("diff", *words, chosen, chosen).stderr)
                    self.assertNotIn("different functions", telltale("diff", *words, whole, whole).stderr)
            for words in (("diff", "--gate", "calls=0%", whole, whole, "--", whole, chosen), ("flame", whole, chosen, "-o", "-")):
                self.assertIn("different functions were recorded, of A all and of B ", telltale(*words).stderr)

    def test_recordings_of_forked_children_have_the_patterns(self):
        program = programs.build("g++", *programs.CALL_FLAGS)
        for options, expected in ((["--function", "shop::*"], {"--function 'shop::*'"}), ([], {None})):
            files = Recorded(program, 1, "fork", options=options).files
            self.assertEqual(len(files), 2)
            self.assertEqual({info(file)["properties"].get("chosen functions") for file in files}, expected)

    def test_without_a_demangler(self):
        """A program in C++ that needs nothing of its library: what was recorded says which names were compared."""
        program = programs.build("g++", *programs.CALL_FLAGS, "-fno-exceptions", source=PLAIN, after=("-nodefaultlibs", "-lgcc", "-lc"))
        run = Recorded(program, options=["--without", "down(int)", "--depth", 9])
        self.assertIn("--function and --without were compared with linkage names ('_ZN1V3getEi') alone", run.done.stderr)
        self.assertIn("with linkage names alone", info(run.file)["properties"]["patterns"])
        self.assertIn("down(int)", top(run.file))
        run = Recorded(program, options=["--without", "_Z4downi", "--depth", 9])
        self.assertNotIn("down(int)", top(run.file))
        none = Recorded(program, options=["--function", "down(int)"])
        self.assertIn("nothing was recorded: none of the functions that --function and --without leave was called", none.done.stderr)
        self.assertIn("in a program without the C++ library only linkage names: '_ZN*4work*'", none.done.stderr)
        self.assertNotIn("patterns", info(Recorded(program, options=["--depth", 9]).file)["properties"])


if __name__ == "__main__":
    unittest.main()
