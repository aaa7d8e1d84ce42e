"""`run --depth` and `run --min` where the recorder has to know which calls are open: handlers on stacks of their own, recursion that is
deeper than it can follow, forked children."""
import json
import shutil
import unittest

from program_text import program_text
import recorded_programs as programs
from recorded_programs import Recorded, calls, info, telltale

SIGNAL_STACKS = program_text("recorders/cases/signal_stacks.cc")
DEEP = program_text("recorders/cases/deep_recursion.cc")
FORKS = program_text("recorders/cases/forks_in_a_call.cc")
VARIANTS = {f"{compiler} {level}": (compiler, level, *flags)
            for compiler, flags in (("g++", programs.CALL_FLAGS), (programs.CLANG, programs.XRAY_FLAGS)) if compiler for level in ("-O1", "-O2")}


@unittest.skipUnless(shutil.which("g++"), "needs g++")
class OpenCalls(unittest.TestCase):
    def ends(self, file):
        """How the recorded calls ended, by function."""
        ended = {}
        for row in json.loads(telltale("convert", file, "--to", "json", "-o", "-").stdout):
            if row["function"] != "(waiting)":
                ended.setdefault(row["function"], set()).add((row["kind"], row.get("ended")))
        return ended

    def test_handlers_on_a_stack_of_their_own(self):
        depths = {"main": 1, "body(void*)": 1, "outer()": 2, "middle()": 3, "inner()": 4, "handler(int)": 5}
        for variant, flags in VARIANTS.items():
            program = programs.build(*flags, source=SIGNAL_STACKS)
            for words in (("below",), ("above",), ("below", "leaves"), ("above", "leaves")):
                leaves = len(words) == 2
                for depth in range(1, 7):
                    with self.subTest(variant=variant, words=words, depth=depth):
                        run = Recorded(program, *words, options=["--depth", depth])
                        expected = {name: 10 if at > 1 else 1 for name, at in depths.items() if at <= depth}
                        # By middle(), by inner(), and by the handler.
                        leaf = 10 * ((depth >= 4) + (depth >= 5) * (1 if leaves else 2) + (depth >= 6) * (1 if leaves else 2))
                        if leaf:
                            expected["leaf()"] = leaf
                        self.assertEqual(calls(run.file, prefix=""), expected)
                        unwound = {"inner()", "handler(int)"} if leaves else set()
                        for name, ended in self.ends(run.file).items():
                            if name not in unwound:
                                self.assertLessEqual(ended, {("call", "normal"), ("call", "tail")}, name)
                with self.subTest(variant=variant, words=words, option="--min"):
                    run = Recorded(program, *words, options=["--min", "10us"])
                    found = calls(run.file, prefix="")
                    self.assertEqual({name: found.get(name) for name in ("main", "body(void*)", "outer()", "middle()")},
                                     {"main": 1, "body(void*)": 1, "outer()": 10, "middle()": 10})
                    if not leaves:
                        self.assertEqual(found.get("inner()"), 10)
                    for name in ("outer()", "middle()"):
                        self.assertLessEqual(self.ends(run.file)[name], {("call", "normal"), ("call", "tail")}, name)

    def test_recursion_that_is_deeper_than_the_filters_follow(self):
        for variant, flags in VARIANTS.items():
            program = programs.build(*flags, "-fno-optimize-sibling-calls", source=DEEP)
            for depth in (2, 5, 65536):
                with self.subTest(variant=variant, depth=depth):
                    run = Recorded(program, options=["--depth", depth])
                    counts = info(run.file)["records_by_kind"]
                    # main and body; in each round one deep recursion, and one of two calls inside of shallow().
                    entries = 2 + 3 * (depth - 1) + 3 * min(3, depth - 1)
                    self.assertEqual((counts["FunctionEnter"], counts["FunctionExit"] + counts.get("FunctionTailExit", 0)), (entries, entries))
                    self.assertEqual(set.union(*self.ends(run.file).values()), {("call", "normal")})
        self.assertIn("this must be a number from 1 to 65536", telltale("run", "--depth", 65537, "--", "true").stderr)

    def test_a_forked_child_has_no_calls_of_its_parent(self):
        for variant, flags in VARIANTS.items():
            program = programs.build(*flags, source=FORKS)
            for options in ((), ("--min", "150ms"), ("--depth", 3)):
                with self.subTest(variant=variant, options=options):
                    run = Recorded(program, options=options)
                    self.assertEqual(len(run.files), 2, run.done.stderr)
                    entries = {bool(info(file)["properties"].get("forked by")): info(file)["records_by_kind"]["FunctionEnter"] for file in run.files}
                    self.assertEqual(entries[True], 2)
                    # fork() may take as long as the pauses.
                    self.assertIn(entries[False], (2, 3) if "--min" in options else (3,))


if __name__ == "__main__":
    unittest.main()
