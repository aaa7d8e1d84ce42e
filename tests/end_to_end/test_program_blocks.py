"""telltale coverage: what of a whole program ran, by stacks, paths and flags together (docs/analysis/paths.md, "The whole program")."""
import itertools
import json
import os
import platform
import re
import subprocess
import unittest

import jsonschema

from certain_lines import certain_lines
from core_files import crash
from sampler_programs import BINARY_DIR, RELEASES, SOURCE_DIR, SamplerCase, build, run, section

TELLTALE = os.environ["TELLTALE"]
SCHEMA = json.loads((BINARY_DIR / "schemas/coverage.schema.json").read_text())
PATHS_SCHEMA = json.loads((BINARY_DIR / "schemas/paths.schema.json").read_text())
CASES = SOURCE_DIR / "tests/programs/csi/cases"
SOURCE = CASES / "whole_program.c"
LINES = {text.strip(): number for number, text in enumerate(SOURCE.read_text().splitlines(), 1)}


class ProgramBlocks(SamplerCase):
    def build(self, schema, *words, release=RELEASES[0], source=SOURCE, cxx=False):
        if not schema.endswith(".schema"):
            self.path("own.schema").write_text(schema)
            schema = self.path("own.schema")
        return build(self.path("program"), release, f"--trace={schema}", "-silent", *words, source, cxx=cxx)

    def functions(self, program, *words):
        done = run(TELLTALE, "coverage", crash(self.path("core"), program, *words), "--program", program, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        jsonschema.validate(document, SCHEMA)
        for function in document["functions"]:
            # It ran where it was inlined, or itself.
            order = ("no", "maybe", "yes")
            itself = function["blocks"][0]["ran"] if function["mechanisms"] != "inlined" else "no"
            self.assertGreaterEqual(order.index(function["ran"]), order.index(itself), function["function"])
        return {function["function"]: function for function in document["functions"]}

    def answers(self, program, *words):
        return {name: function["ran"] for name, function in self.functions(program, *words).items()}

    def line(self, functions, name, text):
        return next(line["ran"] for line in functions[name]["lines"] if line["line"] == LINES[text])

    def frame(self, program, name, *words):
        """What `telltale paths` says of the lines of a frame without paths: in JSON, and in its text."""
        core = crash(self.path("core"), program, *words)
        done = run(TELLTALE, "paths", core, "--program", program, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        jsonschema.validate(document, PATHS_SCHEMA)
        frame = next(frame for frame in document["threads"][0]["frames"] if frame["function"] == name)
        self.assertIsNotNone(frame["untraced"])
        blocks = {line: block["ran"] for block in frame["blocks_ran"] for line in block["lines"]}
        text = run(TELLTALE, "paths", core, "--program", program, "--function", name).stdout
        lines = {}
        for ran, heading in (("yes", "ran"), ("no", "did not run"), ("maybe", "may have run")):
            listed = re.search(rf"^     {heading} in this call: (.*)", text, re.M)
            lines |= {int(line): ran for line in (listed[1].split(", ") if listed else [])}
        return blocks, lines

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

    def lines_at_exit(self, release, *words, arguments=(), source=CASES / "moved_lines.c", with_headers=False):
        """By number of the line: whether it ran before the program ended; lines of headers by file and number. And how many blocks may have."""
        language = ["-std=c++20"] if source.suffix == ".cc" else []
        program = build(self.path("program"), release, "-silent", *language, *words, source, cxx=bool(language))
        file = self.path("paths")
        file.unlink(missing_ok=True)
        self.assertIn(run(program, *arguments, env={"TELLTALE_PATHS": str(file), "TELLTALE_PATHS_AT_EXIT": "1"}).returncode, (0, 1))
        document = json.loads(run(TELLTALE, "coverage", file, "--program", program, "--json").stdout)
        certain = {number if file == str(source) else (file, number): ran for (file, number), ran in certain_lines(document).items()
                   if with_headers or file == str(source)}
        return certain, sum(block["ran"] == "maybe" for function in document["functions"] for block in function["blocks"])

    def test_lines_of_optimised_code(self):
        """As without optimisation, although instructions were moved, merged and removed. (Some lines have none left.)"""
        for release in RELEASES:
            for arguments in ((), ("60",), ("2000",)):
                exact, unknown = self.lines_at_exit(release, "--trace=bb.schema", "-csi-opt=0", arguments=arguments)
                self.assertEqual(unknown, 0)
                for level in ("-O1", "-O2", "-O3", "-Os"):
                    for words in ((), ("-fsampler-scheme=branches,scalar-pairs",), ("-g",)):
                        with self.subTest(release=release, arguments=arguments, level=level, words=words):
                            lines, unknown = self.lines_at_exit(release, "--trace=bb.schema", level, *words, arguments=arguments)
                            wrong = {line: ran for line, ran in lines.items() if line in exact and ran != exact[line]}
                            self.assertEqual(wrong, {})
                            if "branches" not in " ".join(words):
                                self.assertEqual(unknown, 0)
                                self.assertGreater(len(lines.keys() & exact.keys()), 0.75 * len(exact))

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

    def check_marked_lines(self, source, *words, schemas=("pt.schema", "bb.schema", "cc.schema"), least=0.8, all_have_answers=False):
        """Lines with the comment "ran" or "not" have no other certain answer; `least`: share of certain answers with flags of blocks
        and without optimisation; `all_have_answers`: code of each of these lines is left, or may have been merged with others."""
        marked = {number: found[1] for number, text in enumerate(source.read_text().splitlines(), 1)
                  if (found := re.search(r"(?:/\*|//) (ran|not)(?: \*/| \*/ })?$", text))}
        for release, schema, level in itertools.product(RELEASES, schemas, ("-O0", "-O1", "-O2", "-O3", "-Os")):
            with self.subTest(source=source.name, release=release, schema=schema, level=level):
                program = self.build(schema, level, "-g", *words, release=release, source=source, cxx=source.suffix == ".cc")
                answers = {}
                for function in self.functions(program).values():
                    for line in function["lines"]:
                        if line["file"] == str(source):
                            answers[line["line"]] = max(answers.get(line["line"], "no"), line["ran"], key=("no", "maybe", "yes").index)
                if all_have_answers:
                    self.assertEqual(marked.keys() - answers.keys(), set())
                right = {"ran": "yes", "not": "no"}
                for number, how in marked.items():
                    self.assertIn(answers.get(number, "maybe"), (right[how], "maybe"), (number, how))
                certain = sum(answers.get(number) == right[how] for number, how in marked.items())
                if level == "-O0" and schema == "bb.schema":
                    self.assertGreaterEqual(certain, least * len(marked))

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

    def test_names_with_control_characters(self):
        """Tabs, line feeds and backslashes separate and escape fields of records."""
        source = self.path("tab\tline\nslash\\.c")
        source.write_bytes((CASES / "strange_names.c").read_bytes())
        self.check_marked_lines(source)

    def test_lines_of_removed_code(self):
        self.check_marked_lines(CASES / "removed_code.c", schemas=("pt.schema", "bb.schema"))

    def test_lines_of_merged_code(self):
        self.check_marked_lines(CASES / "merged_code.c", schemas=("pt.schema", "bb.schema"), all_have_answers=True)

    def test_lines_of_calls_that_vanished(self):
        self.check_marked_lines(CASES / "vanished_calls.c", schemas=("pt.schema", "bb.schema"), least=0.7)

    def test_lines_of_calls_that_only_observed_code_has(self):
        for schemes in ("branches,function-entries", "branches,returns,scalar-pairs"):
            self.check_marked_lines(CASES / "observed_calls.c", f"-fsampler-scheme={schemes}", schemas=("pt.schema", "bb.schema"), least=0.5)
        self.check_marked_lines(CASES / "observed_destructors.cc", "-fsampler-scheme=function-entries", schemas=("bb.schema",), least=0.5)
        self.check_marked_lines(CASES / "merged_copies.cc", "-fsampler-scheme=scalar-pairs,function-entries", least=0.3)

    def test_lines_of_calls_on_one_line(self):
        for words in ((), ("-gno-column-info",)):
            self.check_marked_lines(CASES / "same_line_calls.c", *words, schemas=("pt.schema", "bb.schema"), least=0.7)

    def test_lines_after_a_throw(self):
        self.check_marked_lines(CASES / "after_a_throw.cc", least=0.7)
        self.check_marked_lines(CASES / "after_a_throw.cc", "-csi-opt=0", schemas=("cc.schema",))

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

    SAMPLED = (("-fsampler-scheme=branches",), ("-fsampler-scheme=branches,returns,scalar-pairs",),
               ("-fsampler-scheme=branches", "-fno-sample"), ("-fsampler-scheme=branches,returns", "-fsampler-adaptive"))

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
                jsonschema.validate(document, PATHS_SCHEMA)
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
