"""telltale coverage: what of a whole program ran, by stacks, paths and flags together (docs/analysis/paths.md, "The whole program")."""
import itertools
import json
import os
import platform
import re
import subprocess
import unittest

from core_files import crash
from coverage_case import CASES, LINES, TELLTALE, CoverageCase
from json_schemas import validator
from sampler_programs import RELEASES, build, run, section


class ProgramBlocks(CoverageCase):
    def answers(self, program, *words):
        return {name: function["ran"] for name, function in self.functions(program, *words).items()}

    def line(self, functions, name, text):
        return next(line["ran"] for line in functions[name]["lines"] if line["line"] == LINES[text])

    def test_a_frame_without_paths_says_which_of_its_lines_ran(self):
        ends = {"fails(argc);": "yes", "later_too();": "no", "return 0;": "no"}
        for level in ("-O0", "-O2"):
            # What follows the call that did not return did not run; the stack does not show which branch was taken before.
            program = self.build("fails;{PT}\n*;{}\n", level)
            for answers in self.frame(program, "main", "x"):
                told = {text: answers.get(LINES[text]) for text in (*ends, "chosen();", "other();")}
                expected = {**ends, "chosen();": "maybe", "other();": "maybe"}
                if level == "-O2":
                    del told["return 0;"], expected["return 0;"]
                with self.subTest(level=level, told=told):
                    self.assertEqual({**told, "later_too();": "no"}, expected)
            # The functions that main called say it.
            program = self.build("main;{}\n*;{FC}\n", level)
            for words, ran, other in ((["x"], "chosen();", "other();"), ([], "other();", "chosen();")):
                for answers in self.frame(program, "main", *words):
                    with self.subTest(level=level, words=words):
                        self.assertEqual((answers[LINES[ran]], answers[LINES[other]]), ("yes", "no"))

    def test_the_stack_alone(self):
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                with self.subTest(release=release, level=level):
                    answers = self.answers(self.build("*;{}\n", level, release=release), "x")
                    certain = {name: ran for name, ran in answers.items() if ran != "maybe"}
                    # What main would call next did not run.
                    self.assertEqual({name: certain.get(name) for name in ("main", "fails", "later_too")},
                                     {"main": "yes", "fails": "yes", "later_too": "no"})
                    for name in ("chosen", "other", "below_other", "in_a_table"):
                        self.assertEqual(answers[name], "maybe", name)

    def test_paths_of_callers_tell_which_functions_were_called(self):
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                program = self.build("pt.schema", level, release=release)
                for words, ran, did_not in ((["x"], ["chosen"], ["other", "below_other"]), ([], ["other", "below_other"], ["chosen"])):
                    with self.subTest(release=release, level=level, words=words):
                        functions = self.functions(program, *words)
                        expected = {**dict.fromkeys(["main", "fails", "in_both", *ran], "yes"),
                                    **dict.fromkeys(["later", "later_too", *did_not], "no"), "in_a_table": "maybe"}
                        self.assertEqual({name: functions[name]["ran"] for name in expected}, expected)
                        if level == "-O0":
                            # A call that has returned passed these, and one of the branches before.
                            self.assertEqual(self.line(functions, "in_both", "sink += 6;"), "yes")
                            self.assertEqual(self.line(functions, "in_both", "sink += 4;"), "maybe")

    def test_exports_of_lines_say_what_the_table_says(self):
        """No line did not run if it may have run in a function of the source."""
        source = CASES / "small_and_gone.cc"
        for release, level in itertools.product(RELEASES, ("-O1", "-O2", "-O3", "-Os")):
            with self.subTest(release=release, level=level):
                program = build(self.path("program"), release, "-silent", level, "--trace=bb.schema", source, cxx=True)
                file = self.path("paths")
                file.unlink(missing_ok=True)
                self.assertEqual(run(program, env={"TELLTALE_PATHS": str(file), "TELLTALE_PATHS_AT_EXIT": "1"}).returncode, 0)
                document = json.loads(run(TELLTALE, "coverage", file, "--program", program, "--json").stdout)
                possible = {line["line"] for function in document["functions"] for line in function["source_lines"] if line["ran"] != "no"}
                tracefile = run(TELLTALE, "coverage", file, "--program", program, "--to", "lcov").stdout
                not_run = {int(found[1]) for found in re.finditer(r"^DA:(\d+),0$", tracefile, re.M)}
                text = run(TELLTALE, "coverage", file, "--program", program, "--lines").stdout
                without_a_mark = {int(found[1]) for found in re.finditer(r"^- +(\d+) ", text, re.M)}
                self.assertEqual((not_run & possible, without_a_mark & possible), (set(), set()))
                self.assertEqual(not_run, without_a_mark)

    def test_places_of_blocks_are_the_lines_that_ran(self):
        """Also where nothing was inlined: those that the text shows."""
        source = CASES / "hoisted.c"
        text = source.read_text().splitlines()
        for release in RELEASES:
            with self.subTest(release=release):
                program = self.build("pt.schema", "-O2", "-g", release=release, source=source)
                core = crash(self.path("core"), program)
                document = json.loads(run(TELLTALE, "paths", core, "--program", program, "--json").stdout)
                frame = next(frame for frame in document["threads"][0]["frames"] if frame["function"] == "repeat")
                blocks = [block for path in (*frame["paths"], frame["partial"]) for block in path["blocks"]]
                ran = {place["line"] for block in blocks for place in block.get("places", [{"line": line} for line in block["lines"]])}
                for number, line in enumerate(text, 1):
                    if "int sum = 0" in line or "out = i;" in line or "abort();" in line:
                        self.assertIn(number, ran)
                self.assertNotIn(next(number for number, line in enumerate(text, 1) if "return sum" in line), ran)
        # The published metadata alone has lines of instructions, and does not say that none of them ran.
        program = self.build("pt.schema", "-O0", "-g", source=source)
        core = crash(self.path("core"), program)
        subprocess.run(["objcopy", "--remove-section=.debug_telltale_paths", program], check=True)
        document = json.loads(run(TELLTALE, "paths", core, "--program", program, "--json").stdout)
        frame = next(frame for frame in document["threads"][0]["frames"] if frame["function"] == "repeat")
        blocks = [block for path in (*frame["paths"], frame["partial"]) for block in path["blocks"]]
        self.assertGreater(sum(bool(block["lines"]) for block in blocks), 5)
        self.assertEqual([block for block in blocks if "places" in block], [])

    def test_functions_that_are_only_inlined(self):
        source = CASES / "merged_code.c"
        for release, level in itertools.product(RELEASES, ("-O0", "-O2")):
            with self.subTest(release=release, level=level):
                program = self.build("bb.schema", level, release=release, source=source)
                functions = self.functions(program)
                self.assertEqual({"main", "rule", "alternatives", "positive", "token", "give_up", "is_known"}, functions.keys())
                inlined = {name for name, function in functions.items() if function["mechanisms"] == "inlined"}
                self.assertEqual(inlined, {"alternatives", "positive"} if level == "-O2" else set())
                self.assertEqual({functions[name]["ran"] for name in ("alternatives", "positive")}, {"yes"})
                shown = run(TELLTALE, "coverage", self.path("core"), "--program", program).stdout
                for name in ("alternatives", "positive"):
                    counts = [line["ran"] for line in functions[name]["source_lines"]]
                    row = next(line.split() for line in shown.splitlines() if line.endswith(" " + name))
                    self.assertEqual(row[:5], ["yes", *(str(n) for n in (len(counts), *(counts.count(how) for how in ("yes", "no", "maybe"))))])
                    self.assertGreater(len(counts), 2)
                    self.assertIn(f" {name}(", source.read_text().splitlines()[functions[name]["line"] - 1])

    def test_names_that_are_missing(self):
        """A program without its record of names: the rest is read, and the loss is told."""
        source = CASES / "merged_code.c"
        program = self.build("bb.schema", "-O2", source=source)
        core = crash(self.path("core"), program)
        whole = json.loads(run(TELLTALE, "coverage", core, "--program", program, "--json").stdout)["functions"]
        image = bytearray(program.read_bytes())
        start = image.index(section(program, ".debug_telltale_paths"))
        at = start
        while image[at + 4] != 10:
            at += 4 + int.from_bytes(image[at:at + 4], "little")
        image[at + 4] = 200  # a kind that no reader knows
        program.write_bytes(image)
        done = run(TELLTALE, "coverage", core, "--program", program, "--json", "--strict")
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, rf"path record at byte {start}: \d+ references to names of functions that the section does not have")
        self.assertEqual([(function["function"], function["ran"]) for function in json.loads(done.stdout)["functions"]],
                         [(function["function"], function["ran"]) for function in whole if function["mechanisms"] != "inlined"])

    def test_copies_that_the_sampler_makes(self):
        """Answers are those for the program without it: of the same functions, in the same files, for the same lines."""
        source = CASES / "copied_by_the_sampler.c"
        for release, level, schema in itertools.product(RELEASES, ("-O0", "-O2"), ("pt.schema", "bb.schema", "cc.schema", "all.schema")):
            options = (level, "-g", "-csi-opt=0")
            plain = self.functions(self.build(schema, *options, release=release, source=source))
            for words in self.SAMPLED:
                with self.subTest(release=release, level=level, schema=schema, words=words):
                    program = self.build(schema, *options, *words, release=release, source=source)
                    functions = self.functions(program)
                    self.assertEqual(functions.keys(), plain.keys())
                    self.assertEqual({function["file"] for function in functions.values()}, {str(source)})
                    for name, function in functions.items():
                        self.assertEqual((function["linkage_name"], function["line"]), (name, plain[name]["line"]))
                        calls = {call["callee"] for call in function["calls"]}
                        self.assertLessEqual(calls, {"?", *(call["callee"] for call in plain[name]["calls"])})
                        lines = {line["line"]: line["ran"] for line in function["lines"]}
                        for line in (line for line in plain[name]["lines"] if line["ran"] != "maybe"):
                            self.assertIn(lines.get(line["line"], "maybe"), (line["ran"], "maybe"), (name, line))
                            # Without optimisation and with all flags, or on the way to the crash by paths, as certain as there.
                            if level == "-O0" and (schema in ("cc.schema", "all.schema") or
                                                   schema == "pt.schema" and line["ran"] == "yes" or "-fno-sample" in words):
                                self.assertEqual(lines.get(line["line"]), line["ran"], (name, line))
                    if level == "-O0" and "-fno-sample" in words:
                        self.assertEqual([len(function["blocks"]) for function in functions.values()],
                                         [len(function["blocks"]) for function in plain.values()])
                    for format in ("text", "lcov", "cobertura", "html"):
                        text = run(TELLTALE, "coverage", self.path("core"), "--program", program, "--to", format).stdout
                        self.assertNotRegex(text, r"telltale\.sampler|\.(aside|slow|fast|asking)\b", format)

    def test_a_function_called_once_has_one_activation_although_it_has_copies(self):
        """What its frame did not run, no copy of it did; so with the Sampler's schemes as many lines have certain answers."""
        source = CASES / "lines_of_checks.c"
        for release, schema in itertools.product(RELEASES, ("pt.schema", "bb.schema", "cc.schema")):
            plain = self.functions(self.build(schema, release=release, source=source))
            for words in (*self.SAMPLED, ("-fsampler-scheme=coverage,function-entries",)):
                with self.subTest(release=release, schema=schema, words=words):
                    functions = self.functions(self.build(schema, *words, release=release, source=source))
                    self.assertEqual(functions["main"]["lines"], plain["main"]["lines"])

    def test_frames_of_copies_that_the_sampler_makes(self):
        """They have the names of the source, with debug information or without."""
        source = CASES / "copied_by_the_sampler.c"
        for release, level, debug in itertools.product(RELEASES, ("-O0", "-O2"), ("-g", "-g0")):
            with self.subTest(release=release, level=level, debug=debug):
                program = self.build("pt.schema", level, debug, "-fsampler-scheme=branches", release=release, source=source)
                core = crash(self.path("core"), program)
                done = run(TELLTALE, "paths", core, "--program", program, "--slice", "--json")
                document = json.loads(done.stdout)
                validator("paths").validate(document)
                frames = [frame for frame in document["threads"][0]["frames"] if frame["untraced"] is None]
                self.assertEqual([frame["function"] for frame in frames], ["stops", "main"])
                self.assertEqual([frame["linkage_name"] for frame in frames], ["stops", "main"])
                self.assertNotRegex(done.stdout, r"\.(aside|slow|fast|asking)\b")

    def test_a_schema_names_copies_by_their_source(self):
        source = CASES / "copied_by_the_sampler.c"
        program = self.build("weigh;{BBC}\n*;{}\n", "-O1", "-g", "-fsampler-scheme=branches", source=source)
        functions = self.functions(program)
        self.assertEqual({name for name, function in functions.items() if function["mechanisms"]}, {"weigh"})
        self.assertNotIn("maybe", [block["ran"] for block in functions["weigh"]["blocks"]][:1])

    def test_constructors_ran_before_main(self):
        for release in RELEASES:
            for level in ("-O0", "-O1"):
                program = self.build("pt.schema", level, release=release, source=CASES / "constructors.cc", cxx=True)
                with self.subTest(release=release, level=level):
                    answers = self.answers(program)
                    expected = {"main": "yes", "begins()": "yes", "asks()": "yes", "ends()": "maybe"}
                    if level == "-O0":
                        expected |= {"_GLOBAL__sub_I_constructors.cc": "yes", "Table::Table()": "yes", "Table::twice(int)": "yes",
                                     "rarely()": "maybe"}
                    self.assertEqual({name: answers.get(name) for name in expected}, expected)
        program = self.build("pt.schema", "-O0", source=CASES / "constructors.cc", cxx=True)
        os.environ["EARLY"] = "1"
        self.addCleanup(os.environ.pop, "EARLY")
        answers = self.answers(program)
        self.assertEqual([answers[name] for name in ("begins()", "asks()", "main", "crash()")], ["yes", "maybe", "maybe", "yes"])

    def test_flags_of_calls(self):
        for level in ("-O0", "-O2"):
            answers = self.answers(self.build("cc.schema", level), "x")
            self.assertEqual([answers[name] for name in ("chosen", "other", "below_other", "in_both")], ["yes", "no", "no", "yes"])

    def test_flags_of_blocks_and_paths(self):
        functions = self.functions(self.build("*;{PT,BBC}\n", "-O0", "-csi-opt=0"), "x")
        self.assertEqual([self.line(functions, "in_both", f"sink += {n};") for n in (4, 5, 6)], ["yes", "no", "yes"])
        shares = run(TELLTALE, "coverage", self.path("core")).stdout.splitlines()[-1]
        ran = [block["ran"] for function in functions.values() for block in function["blocks"]]
        yes, no, maybe = (f"{100 * ran.count(answer) / len(ran):.1f} %" for answer in ("yes", "no", "maybe"))
        self.assertEqual(shares, f"{len(ran)} blocks: {yes} ran, {no} did not run, {maybe} may have run")

    def test_path_files_of_programs_with_much_data_have_the_flags(self):
        for release, words in zip(RELEASES, ((), ("-fsanitize=thread",))):
            with self.subTest(release=release, words=words):
                program = self.build("*;{BBC}\n", "-O0", *words, CASES / "large_data.c", release=release)
                file = self.path("paths")
                file.unlink(missing_ok=True)
                # ThreadSanitizer needs mappings where it expects them.
                run("setarch", "-R", program, "x", env={"TELLTALE_PATHS": str(file)})
                self.assertLess(file.stat().st_size, 100_000)
                done = run(TELLTALE, "coverage", file, "--program", program, "--json")
                answers = {function["function"]: function["ran"] for function in json.loads(done.stdout)["functions"]}
                self.assertEqual([answers[name] for name in ("chosen", "in_both", "other")], ["yes", "yes", "no"])

    def test_other_code_may_call_functions_that_are_not_local(self):
        other = self.path("other.o")
        self.assertEqual(run("cc", "-c", CASES / "other_code.c", "-o", other).returncode, 0)
        answers = self.answers(self.build("pt.schema", "-O1", other), "x")
        self.assertEqual((answers["later_too"], answers["later"], answers["other"]), ("maybe", "no", "no"))
        # Without its symbol table, it is not known what else is in the program.
        program = self.build("pt.schema", "-O1")
        self.assertEqual(self.answers(program, "x")["later_too"], "no")
        run("objcopy", "--strip-all", "--keep-section=.debug_PT", "--keep-section=.debug_telltale_paths", program)
        self.assertEqual(self.answers(program, "x")["later_too"], "maybe")

    @unittest.skipUnless(platform.machine() == "x86_64", "the assembly is that of x86-64")

    def test_assembly_calls_functions_and_returns(self):
        called = ("from_naked", "local_from_naked", "from_assembly")
        for number, level in enumerate(("-O0", "-O2")):
            functions = self.functions(self.build("pt.schema", level, CASES / "calls_of_assembly.S", release=RELEASES[number % len(RELEASES)],
                                                  source=CASES / "assembly.c"))
            self.assertEqual([functions[name]["ran"] for name in called], ["maybe"] * 3)
            self.assertNotIn("naked", functions)
            after = [line["ran"] for line in functions["below"]["lines"]]
            self.assertNotIn("no", after)
            self.assertEqual(functions["never"]["ran"], "no")

    def test_the_compilers_own_setjmp(self):
        for number, level in enumerate(("-O0", "-O2")):
            program = self.build("pt.schema", level, release=RELEASES[number % len(RELEASES)], source=CASES / "builtin_setjmp.c")
            functions = self.functions(program)
            self.assertNotEqual(functions["jumps"]["ran"], "no")
            frames = json.loads(run(TELLTALE, "paths", self.path("core"), "--program", program, "--json").stdout)["threads"][0]["frames"]
            main = next(frame for frame in frames if frame["function"] == "main")
            self.assertTrue(main["unreliable"])
            self.assertNotIn("no", [block["ran"] for block in main["blocks_ran"]])

    def test_lambdas_are_told_apart(self):
        # Without flags, the loop of the function that calls them may have ended at once.
        for release, schema, called in zip(RELEASES, ("pt.schema", "*;{PT,BBC}\n"), ("maybe", "yes")):
            program = self.build(schema, "-O0", release=release, source=CASES / "lambdas.cc", cxx=True)
            ran = sorted(function["ran"] for name, function in self.functions(program).items() if "$" in name)
            self.assertEqual(ran, sorted(["no", "no", "yes", called]), schema)

    def test_answers_do_not_depend_on_the_linker(self):
        answers = [self.answers(self.build("pt.schema", "-O1", f"-fuse-ld={linker}"), "x") for linker in ("bfd", "gold", "lld", "mold")]
        self.assertEqual(answers, [answers[0]] * 4)
        self.assertEqual(answers[0]["later_too"], "no")

    def test_link_time_optimisation_leaves_single_functions(self):
        answers = self.answers(self.build("pt.schema", "-O1", "-flto", "-fuse-ld=lld"), "x")
        self.assertEqual((answers["main"], answers["later_too"]), ("yes", "maybe"))


if __name__ == "__main__":
    unittest.main()
