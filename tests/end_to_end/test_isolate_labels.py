"""`isolate --slow`, `--annotations` and `--combine`."""
import json
import re
import unittest

from program_text import program_text
from sampler_programs import RELEASES, build
from study_case import SCHEMES, StudyCase, table, telltale

# Each tenth run sleeps in one place; each seventh aborts.
PROGRAM = program_text("study/cases/waiting.c")


class IsolateLabelsTest(StudyCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.folder / "a,b 50%.c"
        source.write_text(PROGRAM)
        cls.program = build(cls.folder / "waiting", RELEASES[-1], "-O1", "-frelative-paths", *SCHEMES, source.name, cwd=cls.folder)
        cls.runs = cls.folder / "runs"
        done = telltale("run", "-q", "--study", cls.runs, "--times", 60, "--", cls.program, "{}")
        assert done.returncode == 0, done.stderr

    def test_slow_runs_share_where_they_waited(self):
        before = table(self.runs)
        # 6 of 52 runs that did not abort wait.
        document = json.loads(telltale("isolate", self.runs, "--slow", "p88", "--json").stdout)
        self.assertEqual((document["runs"]["skipped"], document["runs"]["failing"] + document["runs"]["successful"]), (8, 52))
        self.assertEqual(document["runs"]["failing"], 52 - 46)
        first = document["rows"][0]
        predicates = {other["predicate"] for other in (first, *first["same"])}
        self.assertIn("waits(n) is TRUE", predicates)
        self.assertEqual((first["true_in_failing"], first["true_in_successful"]), (6, 0))
        self.assertEqual([(one["ending"], one["stack"], one["runs"]) for one in document["clusters"]], [("slow", "", 6)])
        self.assertEqual(table(self.runs), before, "the study keeps its labels")

    def test_percentiles(self):
        self.assertEqual(telltale("isolate", self.runs, "--slow", "88").stdout, telltale("isolate", self.runs, "--slow", "p88.0").stdout)
        for wrong in ("p0", "p100", "x", "p", "-1", "p9x"):
            done = telltale("isolate", self.runs, f"--slow={wrong}")
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn("needs a percentile", done.stderr)

    def test_annotations_are_workflow_commands(self):
        words = ("isolate", self.runs, "--slow", "p88")
        rows = json.loads(telltale(*words, "--json").stdout)["rows"]
        lines = telltale(*words, "--annotations").stdout.splitlines()
        self.assertEqual(len(lines), len(rows))
        command = re.compile(r"::(warning|notice) file=([^,:]+),line=(\d+),title=Predictor (\d+) of failure::(.*)")
        for line, row in zip(lines, rows):
            level, file, number, rank, text = command.fullmatch(line).groups()
            self.assertEqual((int(number), int(rank)), (row["line"], row["rank"]))
            self.assertEqual(file, "a%2Cb 50%25.c")
            self.assertTrue(text.startswith(row["predicate"].replace("%", "%25")), text)
            self.assertEqual(level, "notice" if row["true_in_failing"] + row["true_in_successful"] < 10 else "warning")
            self.assertTrue(text.endswith(" %25"))

    def test_a_combination_predicts_what_no_part_does(self):
        # Fails if both of two independent branches are taken.
        source = self.folder / "both.c"
        source.write_text(program_text("study/cases/both.c"))
        program = build(self.folder / "both", RELEASES[-1], "-O1", "-fsampler-scheme=branches", source)
        study = self.study("both")
        telltale("run", "-q", "--study", study, "--times", 120, "--label", 'test -n "$TELLTALE_STATUS" && test $((TELLTALE_RUN % 12)) != 0',
                 "--", program, "{}")
        document = json.loads(telltale("isolate", study, "--combine", 3, "--json").stdout)
        best = document["combinations"][0]
        self.assertEqual((best["operation"], best["true_in_failing"], best["true_in_successful"]), ("and", 10, 0))
        self.assertEqual({part["predicate"] for part in best["parts"]}, {"n % 3 == 0 is TRUE", "n % 4 == 0 is TRUE"})
        self.assertGreater(best["gain"], 0)
        shown = telltale("isolate", study, "--combine", 3).stdout
        self.assertRegex(shown, r"n % 3 == 0 is TRUE \(main, .*both.c:4\) and n % 4 == 0 is TRUE \(main, .*both.c:5\)")
        self.assertEqual(json.loads(telltale("isolate", study, "--json").stdout)["combinations"], [])

    def test_one_output_at_a_time(self):
        for other in ("--json", "--csv", "--sarif", "--dot", "--html"):
            self.assertEqual(telltale("isolate", self.runs, "--annotations", other).returncode, 2)


if __name__ == "__main__":
    unittest.main()
