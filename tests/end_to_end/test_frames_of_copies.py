"""Stacks of programs with the Sampler's schemes and path tracing: each call of the source has one frame, although copies ran in its place."""
import itertools
import json
import os
import re
import unittest

from json_schemas import validator
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run

TELLTALE = os.environ["TELLTALE"]
SOURCE = SOURCE_DIR / "tests/programs/csi/cases/copies_on_the_stack.cc"
# The innermost first.
CALLS = ["stop", "sum", "Store::put", "even", "odd", "even", "odd", "even", "down", "down", "down", "deep", "deep", "deep", "large", "main"]
SAMPLED = (("-fsampler-scheme=branches,returns",), ("-fsampler-scheme=branches", "-fsampler-adaptive"),
           ("-fsampler-scheme=branches", "-fno-sample-turns"), ("-fsampler-scheme=branches", "-fsampler-adaptive", "-pthread"),
           ("-fsampler-scheme=branches", "-fno-sample"))
# All calls are observed; or few, most of them as first executions.
SPARSITIES = ("1", "100")


def lines_marked(mark):
    return {number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if f"/* {mark} */" in line}


class FramesOfCopies(SamplerCase):
    def crash(self, program, sparsity):
        core = self.path("core")
        core.unlink(missing_ok=True)
        run(program, env={"TELLTALE_PATHS": str(core), "SAMPLER_FILE": str(self.path("report")), "SAMPLER_SPARSITY": sparsity})
        return core

    def thread(self, core, program, *words):
        done = run(TELLTALE, "paths", core, "--program", program, "--json", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        document = json.loads(done.stdout)
        validator("paths").validate(document)
        return document["threads"][0]

    def own_frames(self, frames, program):
        """Those of the program's functions that the source calls."""
        return [frame for frame in frames if frame["module"] == str(program) and frame["function"] != "_start"]

    def check(self, schema, levels):
        for number, (level, words) in enumerate(itertools.product(levels, SAMPLED)):
            # Each release builds half of them; SAMPLED has an odd number of builds.
            release = RELEASES[number % len(RELEASES)]
            program = build(self.path("program"), release, f"--trace={schema}", "-silent", level, *words, SOURCE, cxx=True)
            for sparsity in SPARSITIES if "-fno-sample" not in words else SPARSITIES[:1]:
                with self.subTest(release=release, level=level, words=words, sparsity=sparsity):
                    core = self.crash(program, sparsity)
                    thread = self.thread(core, program, "--slice")
                    frames = self.own_frames(thread["frames"], program)
                    self.assertEqual([frame["function"].split("(")[0] for frame in frames], CALLS)
                    for frame in frames:
                        self.assertIsNotNone(frame["line"], frame["function"])
                        ran = {line["line"]: line["ran"] for line in frame.get("lines_of_call") or []}
                        self.assertEqual({line for line in lines_marked("ran") if ran.get(line) == "no"}, set(), frame["function"])
                        self.assertEqual({line for line in lines_marked("not") if ran.get(line) == "yes"}, set(), frame["function"])
                    lines = [(line["frame"], line["function"], line["line"]) for line in thread["slice"]["lines"]]
                    self.assertEqual(len(lines), len(set(lines)))
                    self.assertLess(max(frame for frame, *_ in lines if frame is not None), len(thread["frames"]))
                    text = run(TELLTALE, "paths", core, "--program", program).stdout
                    self.assertEqual(re.findall(r"(?m)^#(\d+) ", text), [str(i) for i in range(len(thread["frames"]))])
                    self.assertNotIn("(no lines", text)

    def test_paths(self):
        self.check("pt.schema", ("-O0", "-O1", "-O2"))

    def test_paths_and_coverage_of_calls(self):
        self.check("cc_pt.schema", ("-O0", "-O2"))

    def test_coverage_alone(self):
        self.check("bb.schema", ("-O0", "-O2"))

    def test_neither_paths_nor_coverage(self):
        self.path("none.schema").write_text("*;{}\n")
        self.check(self.path("none.schema"), ("-O0", "-O2"))


if __name__ == "__main__":
    unittest.main()
