"""telltale coverage and paths of programs that stopped at an instruction, of functions without paths."""
import bisect
import itertools
import json
import os
import platform
import random
import re
import signal
import struct
import unittest

from core_files import crash
from path_crash_points import EVENT, crasher
from path_steps import bounds_of_functions
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run

TELLTALE = os.environ["TELLTALE"]
SOURCE = SOURCE_DIR / "tests/programs/csi/cases/stops_at_a_fault.c"
TEXT = SOURCE.read_text().splitlines()

CRASHES = (("branches", ()), ("straight", ("x",)))  # (function, arguments of the program with which it stops there)
COUNT = int(os.environ.get("TELLTALE_STOPS", "30"))
STEPPED = SOURCE_DIR / "tests/programs/csi/cases/stepped_lines.c"
STEPPED_TEXT = STEPPED.read_text().splitlines()
SAMPLED = (("-fsampler-scheme=branches",), ("-fsampler-scheme=branches,returns,scalar-pairs",),
           ("-fsampler-scheme=branches", "-fno-sample"), ("-fsampler-scheme=branches,returns", "-fsampler-adaptive"))


class Stores:
    """The instructions of stepped_lines.c that note a line, from the code alone."""

    def __init__(self, program):
        self.line = {}  # by address
        ends = []  # of code without jumps and calls
        for line in run("objdump", "-d", "--no-show-raw-insn", program).stdout.splitlines():
            row = re.match(r" *([0-9a-f]+):\t(\S+)(.*)", line)
            noted = row and row[2] == "movb" and re.search(r"<ran\+0x([0-9a-f]+)>", row[3])
            if noted:
                self.line[int(row[1], 16)] = int(noted[1], 16)
            if row and row[2].startswith(("j", "call", "ret")):
                ends.append(int(row[1], 16))
        self.ends = sorted(ends)

    def straight_on(self, pc):
        """The lines that are noted before the next jump or call."""
        end = self.ends[bisect.bisect_left(self.ends, pc)]
        return {line for address, line in self.line.items() if pc <= address <= end}


def marked(function):
    """By number of the line: "yes" or "no"; and the line where it stops."""
    begin = next(number for number, text in enumerate(TEXT, 1) if f" {function}(int number) {{" in text)
    end = TEXT.index("}", begin) + 1
    found = {number: re.search(r"/\* (ran|not)(: here)? \*/$", TEXT[number - 1]) for number in range(begin, end)}
    lines = {number: "yes" if match[1] == "ran" else "no" for number, match in found.items() if match}
    (here,) = [number for number, match in found.items() if match and match[2]]
    return lines, here


class StopsAtFaults(SamplerCase):
    def program(self, schema, level, *words, release):
        if not schema.endswith(".schema"):
            self.path("own.schema").write_text(schema)
            schema = self.path("own.schema")
        return build(self.path("program"), release, "-g", f"--trace={schema}", "-silent", level, *words, SOURCE)

    def lines(self, core, name, *words):
        document = json.loads(run(TELLTALE, "coverage", core, *words, "--json").stdout)
        (function,) = [function for function in document["functions"] if function["function"] == name]
        return {row["line"]: row["ran"] for row in function["lines"]}

    def test_lines_before_the_fault_are_certain(self):
        for release, schema, flags in itertools.product(RELEASES, ("cc.schema", "bb.schema"), ("-csi-opt=0", "-csi-opt=2", "-csi-opt=3")):
            program = self.program(schema, "-O0", flags, release=release)
            for name, arguments in CRASHES:
                expected, here = marked(name)
                before = {number: ran for number, ran in expected.items() if number <= here}
                with self.subTest(function=name, release=release, schema=schema, flags=flags):
                    answers = self.lines(crash(self.path("core"), program, *arguments), name)
                    self.assertEqual({number: answers[number] for number in before}, before)
                    self.assertNotIn("yes", [answers[number] for number in expected if number > here])

    def test_no_line_has_a_wrong_answer(self):
        for release, schema, level in itertools.product(RELEASES, ("*;{}\n", "cc.schema", "bb.schema"), ("-O0", "-O1", "-O2", "-Os")):
            program = self.program(schema, level, release=release)
            for name, arguments in CRASHES:
                with self.subTest(function=name, release=release, schema=schema, level=level):
                    answers = self.lines(crash(self.path("core"), program, *arguments), name)
                    for number, ran in marked(name)[0].items():
                        self.assertIn(answers.get(number, "maybe"), (ran, "maybe"), number)

    def test_a_function_of_one_block_names_the_line_where_it_stopped(self):
        expected, here = marked("straight")
        for release, level in itertools.product(RELEASES, ("-O0", "-O2")):
            with self.subTest(release=release, level=level):
                core = crash(self.path("core"), self.program("pt.schema", level, release=release), "x")
                text = run(TELLTALE, "paths", core, "--function", "straight").stdout
                ran = [int(number) for number in re.search(r"(?m)^     ran in this call: (.*)$", text)[1].split(", ")]
                self.assertEqual([number for number in ran if number in expected],
                                 [number for number in expected if number <= here])
                self.assertRegex(text, "path tracing excluded it: ")

    def steps(self, program, main, addresses, points):
        """`main`: its address. (number of steps of main(), [(step, address) of `addresses`], [(step, address, core file) of steps that are stopped])."""
        self.path("addresses").write_bytes(b"".join(struct.pack("<Q", address) for address in sorted(addresses)))
        self.path("points").write_text("".join(f"{step} {int(signal.SIGILL)}\n" for step in points))
        done = run(crasher(), self.path("events"), self.path("addresses"), self.path("points"), 100_000, f"{main:x}", program,
                   env={"LD_BIND_NOW": "1", "SAMPLER_SEED": "1", "SAMPLER_SPARSITY": "3", "TELLTALE_PATHS": f"{self.folder}/core-%p"})
        self.assertEqual(done.returncode, 0, done.stderr)
        *lines, end = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(len({line[4] for line in lines}), len(points))
        return (int(end[1]), [event[:2] for event in EVENT.iter_unpack(self.path("events").read_bytes())],
                [(int(step), int(pc), self.path(f"core-{pid}")) for step, pc, _, _, pid in lines])

    def stopped_at(self, program, stores, count, seed):
        """(lines that ran, lines that run next, address, core file) of stops at `count` instructions from work() to the last line of main()."""
        main = next(begin for begin, _, name in bounds_of_functions(program) if name == "main")
        noted = [(step, stores.line[pc]) for step, pc in self.steps(program, main, stores.line, [])[1]]
        first = next(step for step, line in noted if "table[number]" in STEPPED_TEXT[line - 1])
        points = sorted(random.Random(seed).sample(range(first - 8, noted[-1][0] + 2), count))
        for stop, pc, core in self.steps(program, main, stores.line, points)[2]:
            after = next((line for step, line in noted if step >= stop), 0)
            yield {line for step, line in noted if step < stop}, stores.straight_on(pc) | {after}, pc, core

    @unittest.skipUnless(platform.machine() == "x86_64", "steps are those of x86-64")
    def test_a_function_that_stopped_before_its_body_ran_no_line(self):
        first = next(number for number, text in enumerate(STEPPED_TEXT, 1) if " small(int number) {" in text) + 1
        for release, schema in itertools.product(RELEASES, ("*;{}\n", "*;{CC}\n", "*;{PT}\n")):
            with self.subTest(release=release, schema=schema):
                self.path("own.schema").write_text(schema)
                program = build(self.path("program"), release, "-no-pie", "-g", f"--trace={self.path('own.schema')}", "-silent", "-O0", STEPPED)
                bounds = {name: (begin, end) for begin, end, name in bounds_of_functions(program)}
                (main, _), (begin, end) = bounds["main"], bounds["small"]
                entered = min(step for step, pc in self.steps(program, main, [begin], [])[1] if begin <= pc < end)
                (_, pc, core), (_, next_pc, next_core) = self.steps(program, main, [begin], [entered, entered + 1])[2]
                self.assertEqual(pc, begin)
                self.assertLess(next_pc, end)
                for each in (core, next_core):
                    answers = self.lines(each, "small", "--program", program)
                    self.assertNotEqual(answers[first], "yes")
                    self.assertNotIn("yes", answers.values())

    def check_stops(self, schema, level, release, count, seed, *words):
        """No answer of stops at random instructions is wrong. Returns how many lines have certain answers."""
        program = build(self.path("program"), release, "-no-pie", "-g", f"--trace={schema}", "-silent", level, *words, STEPPED)
        stores = Stores(program)
        self.assertGreater(len(set(stores.line.values())), 20)
        wrong, known = [], 0
        for ran, next_ones, pc, core in self.stopped_at(program, stores, count, seed):
            document = json.loads(run(TELLTALE, "coverage", core, "--program", program, "--json").stdout)
            for row in itertools.chain(*(function["lines"] for function in document["functions"])):
                line, answer = row["line"], row["ran"]
                if line not in stores.line.values():
                    continue
                known += answer != "maybe"
                if (answer == "yes" and line not in ran | next_ones) or (answer == "no" and line in ran):
                    wrong.append((core.name, hex(pc), line, answer))
            core.unlink()
        self.assertEqual(wrong[:5], [])
        return known

    @unittest.skipUnless(platform.machine() == "x86_64", "stores are found in code for x86-64")
    def test_no_stop_at_any_instruction_has_a_wrong_answer(self):
        self.path("fc.schema").write_text("*;{FC}\n")
        schemas = (self.path("fc.schema"), "cc.schema", "bb.schema", "realistic.schema", "all.schema")
        for number, (schema, level) in enumerate(itertools.product(schemas, ("-O0", "-O1", "-O2", "-O3"))):
            release = RELEASES[number % len(RELEASES)]
            with self.subTest(schema=schema, level=level, release=release):
                self.assertGreater(self.check_stops(schema, level, release, COUNT, number), 0)

    @unittest.skipUnless(platform.machine() == "x86_64", "stores are found in code for x86-64")
    def test_no_stop_in_copies_that_the_sampler_makes_has_a_wrong_answer(self):
        for number, (words, schema, level) in enumerate(itertools.product(SAMPLED, ("cc.schema", "bb.schema"), ("-O0", "-O2"))):
            # Each release has each schema at each level.
            release = RELEASES[(number + number // 4) % len(RELEASES)]
            with self.subTest(words=words, schema=schema, level=level, release=release):
                self.assertGreater(self.check_stops(schema, level, release, COUNT // 2, number, *words), 0)

    def check_branches(self, release, schema, level, *sampled):
        source = SOURCE_DIR / "tests/programs/csi/cases/fault_in_branch.c"
        text = source.read_text().splitlines()
        number = {each: next(i for i, line in enumerate(text, 1) if each in line) for each in ("large", "*first =", "small", "*second =", "return value")}
        program = build(self.path("program"), release, f"--trace={schema}", "-silent", "-g", level, *sampled, source)
        for words, ran, not_run in ((("a", "b", "c"), ("large", "*first ="), ("small", "*second =")), ((), ("small", "*second ="), ("large", "*first ="))):
            with self.subTest(release=release, schema=schema, level=level, sampled=sampled, words=words):
                run(program, *words, env={"TELLTALE_PATHS": str(self.path("paths")), "SAMPLER_SEED": "1", "SAMPLER_SPARSITY": "1"})
                frame = json.loads(run(TELLTALE, "paths", self.path("paths"), "--program", program, "--json").stdout)["threads"][0]["frames"][0]
                lines = {line["line"]: line["ran"] for line in frame["lines_of_call"]}
                self.assertEqual([lines[number[each]] for each in ran], ["yes", "yes"])
                self.assertEqual([lines[number[each]] for each in (*not_run, "return value")], ["no"] * 3)

    def test_the_branch_of_a_fault_is_known_without_paths(self):
        """In optimised code, of functions with coverage alone: the program says which block the instruction is in."""
        for release, schema, level in itertools.product(RELEASES, ("bb.schema", "cc.schema"), ("-O1", "-O2", "-O3", "-Os")):
            self.check_branches(release, schema, level)

    def test_the_branch_of_a_fault_is_known_in_copies_that_the_sampler_makes(self):
        for release, schema, level, words in itertools.product(RELEASES, ("bb.schema", "cc.schema"), ("-O0", "-O2"), SAMPLED):
            self.check_branches(release, schema, level, *words)


if __name__ == "__main__":
    unittest.main()
