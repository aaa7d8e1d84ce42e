"""What each call on the stack ran, by the flags of coverage in its frame: telltale paths."""
import itertools
import json
import os
import random
import re
import signal
import unittest

from core_files import crash
from json_schemas import validator
from sampler_programs import RELEASES, SamplerCase, build, run
from test_paths import LINES, PROGRAMS, WALK, Recorded

TELLTALE = os.environ["TELLTALE"]


class FrameCoverage(SamplerCase):
    def frames(self, core, *words):
        done = run(TELLTALE, "paths", core, "--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        validator("paths").validate(document)
        return document["threads"][0]["frames"]

    def walk(self, *words, schema=PROGRAMS / "recorded_walk_coverage.schema"):
        return build(self.path("walk"), RELEASES[-1], "-g", f"--trace={schema}", "-silent", *words, WALK)

    def test_each_call_has_its_own_lines(self):
        """Calls of one function on one stack ran different lines; the program recorded which."""
        draws = random.Random(3)
        for words in (["-O0", "-csi-opt=0"], ["-O2", "-csi-opt=0"], ["-O0"], ["-O2", "-csi-opt=3"]):
            certain = maybe = different = 0
            program = self.walk(*words)
            for _ in range(25):
                seed, records = draws.randrange(1 << 30), 1 + draws.randrange(400)
                with self.subTest(words=words, seed=seed, records=records):
                    core = crash(self.path("core"), program, self.path("trace"), seed, records)
                    recorded = Recorded(self.path("trace"))
                    # main, which is recorded first, has no branches: it may need no flags.
                    frames = [frame for frame in self.frames(core) if "lines_ran" in frame and frame["function"] != "main"]
                    self.assertEqual(len(frames), len(recorded.open) - 1)
                    answers = {}
                    for frame, activation in zip(frames, reversed(recorded.open[1:])):
                        ran = set(recorded.lines[activation])
                        lines = {each["line"]: each["ran"] for each in frame["lines_ran"] if each["line"] in LINES}
                        different += answers.setdefault(frame["function"], lines) != lines
                        for line, answer in lines.items():
                            maybe += answer == "maybe"
                            certain += answer != "maybe"
                            if answer != "maybe":
                                self.assertEqual(answer == "yes", line in ran, (frame["function"], line))
            self.assertGreater(certain, 100)
            self.assertGreater(different, 5)
            self.assertLess(maybe, certain)
            if "-csi-opt=0" in words:  # only of the block that a call stopped in
                self.assertLess(maybe, certain / 20)

    def test_what_older_paths_ran_is_known_by_flags(self):
        """A ring of one path has lost nearly all; the flags have not."""
        schema = self.path("both.schema")
        schema.write_text("record;{}\ndraw;{}\n*;{PT,BBC}\n")
        program = self.walk("-O0", "-csi-opt=0", "-no-filter", "-path-array-size=1", schema=schema)
        paths_alone = 0
        for seed in range(8):
            core = crash(self.path("core"), program, self.path("trace"), seed, 150)
            frames = re.split(r"(?m)^(?=#\d)", run(TELLTALE, "paths", core).stdout)
            traced = [text for text in frames if re.match(r"#\d+ +(walk|irreducible|main) ", text)]
            self.assertTrue(traced)
            self.assertNotIn("may have run", "".join(traced))
            paths_alone += any(block["ran"] == "maybe" for frame in self.frames(core) for block in frame.get("blocks_ran", []))
        self.assertGreater(paths_alone, 0)

    def test_a_function_with_coverage_alone(self):
        core = crash(self.path("core"), self.walk("-O0", "-csi-opt=0"), self.path("trace"), 5, 60)
        text = run(TELLTALE, "paths", core).stdout
        self.assertRegex(text, r"(?m)^#\d+ +walk at .*\n     no paths: .*\n     ran in this call: \d+(, \d+)*\n     did not run in this call: \d+")
        stopped = [int(line) for line in re.findall(r"^#\d+ +walk at recorded_walk.c:(\d+)$", text, re.M)]
        lists = [set(map(int, each.split(", "))) for each in re.findall(r"(?m)^#\d+ +walk at .*\n.*\n     ran in this call: (.*)$", text)]
        self.assertEqual(len(stopped), len(lists))
        for line, ran in zip(stopped, lists):
            self.assertIn(line, ran)

    def test_flags_of_blocks_do_not_decide_about_each_line(self):
        """Of the block that a call stopped in, later lines did not run; and a line may have run where no block has it any more."""
        source = PROGRAMS / "kept_in_one_copy.c"
        text = source.read_text().splitlines()
        ran, = [number for number, line in enumerate(text, 1) if "/* ran */" in line]
        later = {number for number, line in enumerate(text, 1) if "/* not reached */" in line}
        schema = self.path("both.schema")
        schema.write_text("*;{PT,BBC}\n")
        for release, mechanisms, words in itertools.product(RELEASES, (schema, "bb.schema"), (["-O0"], ["-O2"], ["-O3"])):
            with self.subTest(release=release, mechanisms=mechanisms, words=words):
                program = build(self.path("program"), release, f"--trace={mechanisms}", "-silent", "-csi-opt=0", *words, source)
                core = self.path("core")
                core.unlink(missing_ok=True)
                self.assertEqual(run(program, env={"TELLTALE_PATHS": str(core)}).returncode, -signal.SIGABRT)
                frame, = [each for each in self.frames(core) if each["function"] == "count"]
                for key in ("lines_ran", "lines_of_call"):
                    answers = {each["line"]: each["ran"] for each in frame[key] if each["file"].endswith(source.name)}
                    self.assertNotEqual(answers.get(ran), "no", key)
                    for line in later:
                        self.assertNotEqual(answers.get(line), "yes", (key, line))
                shown = run(TELLTALE, "paths", core, "--function", "count").stdout
                lines = re.findall(r"(?m)^     did not run in this call: (.*)$", shown)
                self.assertNotIn(ran, [int(number) for line in lines for number in line.split(", ")], shown)


if __name__ == "__main__":
    unittest.main()
