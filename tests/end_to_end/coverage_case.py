"""Test cases that build a program and ask `telltale coverage` which of its lines ran."""
import itertools
import json
import os
import re

from certain_lines import certain_lines
from core_files import crash
from json_schemas import validator
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run

TELLTALE = os.environ["TELLTALE"]
CASES = SOURCE_DIR / "tests/programs/csi/cases"
SOURCE = CASES / "whole_program.c"
LINES = {text.strip(): number for number, text in enumerate(SOURCE.read_text().splitlines(), 1)}


class CoverageCase(SamplerCase):
    SAMPLED = (("-fsampler-scheme=branches",), ("-fsampler-scheme=branches,returns,scalar-pairs",),
               ("-fsampler-scheme=branches", "-fno-sample"), ("-fsampler-scheme=branches,returns", "-fsampler-adaptive"))

    def build(self, schema, *words, release=RELEASES[0], source=SOURCE, cxx=False):
        if not schema.endswith(".schema"):
            self.path("own.schema").write_text(schema)
            schema = self.path("own.schema")
        return build(self.path("program"), release, f"--trace={schema}", "-silent", *words, source, cxx=cxx)

    def functions(self, program, *words):
        done = run(TELLTALE, "coverage", crash(self.path("core"), program, *words), "--program", program, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        validator("coverage").validate(document)
        for function in document["functions"]:
            # It ran where it was inlined, or itself.
            order = ("no", "maybe", "yes")
            itself = function["blocks"][0]["ran"] if function["mechanisms"] != "inlined" else "no"
            self.assertGreaterEqual(order.index(function["ran"]), order.index(itself), function["function"])
        return {function["function"]: function for function in document["functions"]}

    def frame(self, program, name, *words):
        """What `telltale paths` says of the lines of a frame without paths: in JSON, and in its text."""
        core = crash(self.path("core"), program, *words)
        done = run(TELLTALE, "paths", core, "--program", program, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        validator("paths").validate(document)
        frame = next(frame for frame in document["threads"][0]["frames"] if frame["function"] == name)
        self.assertIsNotNone(frame["untraced"])
        blocks = {line: block["ran"] for block in frame["blocks_ran"] for line in block["lines"]}
        text = run(TELLTALE, "paths", core, "--program", program, "--function", name).stdout
        lines = {}
        for ran, heading in (("yes", "ran"), ("no", "did not run"), ("maybe", "may have run")):
            listed = re.search(rf"^     {heading} in this call: (.*)", text, re.M)
            lines |= {int(line): ran for line in (listed[1].split(", ") if listed else [])}
        return blocks, lines

    def lines_at_exit(self, release, *words, source=CASES / "moved_lines.c", with_headers=False):
        """lines_of_run() of the program that is built with these options."""
        return self.lines_of_run(self.build_source(release, *words, source=source), source=source, with_headers=with_headers)

    def build_source(self, release, *words, source=CASES / "moved_lines.c"):
        language = ["-std=c++20"] if source.suffix == ".cc" else []
        return build(self.path("program"), release, "-silent", *language, *words, source, cxx=bool(language))

    def lines_of_run(self, program, *arguments, source=CASES / "moved_lines.c", with_headers=False):
        """By number of the line: whether it ran before the program ended; lines of headers by file and number. And how many blocks may have."""
        file = self.path("paths")
        file.unlink(missing_ok=True)
        self.assertIn(run(program, *arguments, env={"TELLTALE_PATHS": str(file), "TELLTALE_PATHS_AT_EXIT": "1"}).returncode, (0, 1))
        document = json.loads(run(TELLTALE, "coverage", file, "--program", program, "--json").stdout)
        certain = {number if file == str(source) else (file, number): ran for (file, number), ran in certain_lines(document).items()
                   if with_headers or file == str(source)}
        return certain, sum(block["ran"] == "maybe" for function in document["functions"] for block in function["blocks"])

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
