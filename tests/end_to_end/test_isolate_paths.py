"""`telltale isolate`, on runs that left core files of TELLTALE_PATHS."""
import itertools
import json
import pathlib
import re
import shutil
import unittest

from core_files import crash
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run
from study_case import telltale

SOURCE = SOURCE_DIR / "tests/programs/csi/graded.c"
TEXT = SOURCE.read_text().splitlines()


def line(text):
    (number,) = [number for number, each in enumerate(TEXT, 1) if text in each]
    return number


class IsolatePaths(SamplerCase):
    def runs(self, schema, modes):
        """Runs with 5 to 8 turns of these modes, into the folders failed and passed by exit status 1."""
        program = build(self.path("graded"), RELEASES[-1], f"--trace={schema}", "-silent", "-O0", SOURCE)
        for label in ("failed", "passed"):
            self.path(label).mkdir()
        for turns in range(5, 9):
            for mode in modes:
                core = self.path("core")
                status = run(program, str(turns), str(mode), env={"TELLTALE_PATHS": str(core), "TELLTALE_PATHS_AT_EXIT": "1"}).returncode
                core.rename(self.path("failed" if status == 1 else "passed") / f"{turns}-{mode}.core")
        return program

    def isolate(self, *words):
        done = telltale("isolate", "--failed", self.path("failed"), "--passed", self.path("passed"), "--json", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def check(self, row, source=SOURCE):
        self.assertEqual([row[key] for key in ("true_in_failing", "true_in_successful", "observed_in_failing", "observed_in_successful")], [4, 0, 4, 8])
        self.assertEqual(pathlib.Path(row["file"]).name, source.name)

    def test_a_path_that_predicts_failure(self):
        """Both outcomes have grade() on the stack; only failing runs took the path with the wrong turn."""
        program = self.runs("pt.schema", (7, 11, 12))
        document = self.isolate("--program", program)
        self.assertEqual((document["runs"]["failing"], document["runs"]["successful"]), (4, 8))
        (row,) = document["rows"]
        self.check(row)
        equal = [row, *row["same"]]
        wrong = f"{line('if (i % 3 == 0)')} {line('mode == 7')} {line('total -= 100')}"
        paths = [each["predicate"] for each in equal if each["predicate"].startswith("grade took path")]
        self.assertTrue(any(wrong in text for text in paths), equal)
        self.assertIn(f"grade ran line {line('total -= 100')} in a call on the stack", [each["predicate"] for each in equal])
        self.assertEqual(row["function"], "grade")

    def test_core_files_of_several_programs(self):
        """What a program says of its functions is read once for many core files: each has that of its own program."""
        program = self.runs("pt.schema", (7, 11, 12))
        alone = self.isolate("--program", program)["rows"]
        others = []
        for number, (release, level) in enumerate(itertools.product(RELEASES, ("-O0", "-O1"))):
            others.append(build(self.path(f"other{number}"), release, "--trace=pt.schema", "-silent", level, SOURCE.with_name("ends_early.c")))
            for turns, (label, mode) in itertools.product((5, 6, 7), (("failed", 1), ("passed", 0))):
                run(others[-1], str(mode), env={"TELLTALE_PATHS": str(self.path(label) / f"{turns}-{number}.core"), "TELLTALE_PATHS_AT_EXIT": "1"})
        rows = self.isolate("--jobs", "1")["rows"]
        keys = ("predicate", "true_in_failing", "true_in_successful", "observed_in_failing", "observed_in_successful", "same")
        self.assertIn([alone[0][key] for key in keys], [[row[key] for key in keys] for row in rows])

    def test_a_line_that_predicts_failure(self):
        """Runs that passed have nothing but main on the stack; coverage tells what they ran."""
        self.runs("all.schema", (1, 2, 7))
        (row,) = self.isolate()["rows"]
        self.check(row)
        # The only line of fail() is as good.
        self.assertIn((f"line {line('total -= 100')} ran", "lines"), [(each["predicate"], each["scheme"]) for each in [row, *row["same"]]])

    def test_runs_that_passed_without_paths(self):
        """Nothing was on their stacks but what ends a program: no predicate can predict failure."""
        for schema in ("pt.schema", "cc_pt.schema"):
            program = build(self.path("early"), RELEASES[-1], f"--trace={schema}", "-silent", "-O0", SOURCE.with_name("ends_early.c"))
            for label, mode in (("failed", 1), ("passed", 0)):
                self.path(label).mkdir(exist_ok=True)
                run(program, str(mode), env={"TELLTALE_PATHS": str(self.path(label) / "1.core"), "TELLTALE_PATHS_AT_EXIT": "1"})
            done = telltale("isolate", "--failed", self.path("failed"), "--passed", self.path("passed"))
            self.assertEqual("the runs that passed left no paths to compare with: their calls had returned" in done.stderr, schema == "pt.schema", done.stderr)

    def test_a_branch_that_shares_its_line(self):
        """Runs that passed say which lines ran, but predicates are of lines; no function of the program is on the stacks of its exit."""
        study = self.path("study")
        program = build(self.path("one_line"), RELEASES[-1], "--trace=bb.schema", "-silent", "-O0", SOURCE_DIR / "tests/programs/csi/branch_on_one_line.c")
        done = telltale("run", "--study", study, "--times", "6", "--reference", shutil.which("echo"), "--", program, "{}")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = telltale("isolate", study, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual((document["runs"]["failing"], document["rows"]), (2, []))
        self.assertEqual([(each["ending"], each["stack"]) for each in document["clusters"]], [("output", "")])
        self.assertIn("the runs that passed say of no line that it did not run", done.stderr)
        self.assertNotIn("left no paths", done.stderr)

    def test_what_a_crash_prevents_does_not_predict_it(self):
        """Lines that the crashed calls could still have reached, and those of functions that were not called yet."""
        source = SOURCE.with_name("ends_early.c")
        text = source.read_text().splitlines()
        program = build(self.path("early"), RELEASES[-1], "--trace=all.schema", "-csi-opt=0", "-silent", "-O0", source)
        for label in ("failed", "passed"):
            self.path(label).mkdir()
        for number in range(12):
            core, mode = self.path("core"), number % 3
            status = run(program, str(mode), env={"TELLTALE_PATHS": str(core), "TELLTALE_PATHS_AT_EXIT": "1"}).returncode
            self.assertEqual(status != 0, mode == 1)
            core.rename(self.path("failed" if status else "passed") / f"{number}.core")
        document = self.isolate()
        self.assertEqual((document["runs"]["failing"], document["runs"]["successful"]), (4, 8))
        (row,) = document["rows"]
        self.check(row, source)
        wrong, right = (number for number, each in enumerate(text, 1) if each.strip().startswith("place = "))
        # The other branch was taken by no failing run, and choose() had returned: that is an observation.
        same = [each["predicate"] for each in row["same"]]
        self.assertEqual({row["predicate"], same[0]}, {f"line {wrong} ran", f"line {right} did not run"})
        # What is known of the call that crashed, because it is on the stack, predicts nothing; it only comes last here.
        self.assertEqual([text for text in same[1:] if not re.match(r"main (ran line|followed path) ", text)], [])

    def test_lines_after_the_place_of_a_crash_did_not_run(self):
        """Of the block that a call stopped in, lines that follow; and lines that ran in a copy that was inlined."""
        source = SOURCE.with_name("crash_in_block.c")
        text = source.read_text().splitlines()
        later = {f"line {number} ran" for number, each in enumerate(text, 1)
                 if each.strip() in ("return right + 1;", "after = before + 1;", "return after;", "exit(sum < 0);")}
        inlined = {f"line {number} did not run" for number, each in enumerate(text, 1) if "number < 0" in each or "number + before" in each}
        self.assertEqual((len(later), len(inlined)), (4, 2))
        for level in ("-O0", "-O1", "-O2"):
            with self.subTest(level=level):
                program = build(self.path("crashes"), RELEASES[-1], "--trace=all.schema", "-silent", "-g", level, source)
                for label in ("failed", "passed"):
                    self.path(label).mkdir(exist_ok=True)
                for number in range(12):
                    core = self.path("core")
                    status = run(program, str(number), env={"TELLTALE_PATHS": str(core), "TELLTALE_PATHS_AT_EXIT": "1"}).returncode
                    self.assertEqual(status != 0, number % 2 == 1)
                    core.replace(self.path("failed" if status else "passed") / f"{number}.core")
                rows = self.isolate("--program", program, "--all", "--filter", "none", "--limit", "0")["rows"]
                true = {kind: [row for row in rows if row["scheme"] == kind and row["true_in_failing"]] for kind in ("lines", "lines-of-call")}
                for row in true["lines"]:
                    self.assertNotIn(row["predicate"], later | inlined)
                for row in true["lines-of-call"]:
                    ran = re.search(r" ran (line \d+) in a call on the stack$", row["predicate"])
                    self.assertFalse(ran and f"{ran[1]} ran" in later, row["predicate"])
                self.assertTrue(any(row["predicate"].endswith(" ran") for row in true["lines"]))
                self.assertTrue(true["lines-of-call"])
                # Only runs that pass come to exit(), and so leave main on a path to it. That is no cause.
                self.assertEqual([row["predicate"] for row in self.isolate("--program", program)["rows"] if row["function"] == "main"], [])

    def test_core_files_of_the_kernel_are_evidence_too(self):
        self.runs("pt.schema", (7, 11))
        crashing = build(self.path("ways"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O0", "-pthread", SOURCE.with_name("crash_ways.c"))
        for path in self.path("failed").iterdir():
            path.unlink()
        crash(self.path("failed") / "core", crashing, "fault")
        document = self.isolate()
        self.assertEqual(document["runs"]["failing"], 1)

    def test_recordings_without_paths_are_refused(self):
        self.runs("pt.schema", (7, 11))
        (self.path("passed") / "z.folded").write_text("main;f 1\n")
        done = telltale("isolate", "--failed", self.path("failed"), "--passed", self.path("passed"))
        self.assertIn("z.folded", done.stderr)


if __name__ == "__main__":
    unittest.main()
