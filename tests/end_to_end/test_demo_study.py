"""The study of `./dev demo`: both bugs of examples/sheet rank first and second, observed completely and at 1/100."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from sampler_programs import BINARY_DIR, RELEASES, SOURCE_DIR
from study_case import telltale

# Places that tell a cause: a formula has a name that was removed; cells were pasted beyond the last column.
REMOVED = {("explain_node", "name == (struct name *)0"), ("area_argument", "name == (struct name *)0"),
           ("explain_node", "find_name == 0"), ("area_argument", "find_name == 0")}
BEYOND = {("is_inside", "column < MAX_COLUMNS is FALSE"), ("copy_cell", "is_inside(row, column) is FALSE"),
          ("last_column", "right > edge"), ("last_column", "right > edge is TRUE")}


@unittest.skipUnless(BINARY_DIR == SOURCE_DIR / "build/release", "the script runs the release build's programs")
class DemoStudyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        environment = dict(os.environ, TELLTALE_CLANG_RELEASE=RELEASES[-1])
        cls.done = subprocess.run([SOURCE_DIR / "examples/sheet/study.sh", cls.folder], capture_output=True, text=True, env=environment)

    def causes(self, study):
        done = telltale("isolate", self.folder / study, "--json")
        document = json.loads(done.stdout)
        self.assertEqual(document["runs"]["failing"] + document["runs"]["successful"], 2000)
        found = []
        for row in document["rows"][:2]:
            predicates = {(other["function"], other["predicate"]) for other in (row, *row["same"])}
            found.append("removed" if predicates & REMOVED else "beyond" if predicates & BEYOND else row)
        return found, document

    def test_it_succeeds(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)

    def test_the_program_has_2000_lines(self):
        lines = sum(len(path.read_text().splitlines()) for path in (SOURCE_DIR / "examples/sheet").glob("*.[ch]"))
        self.assertGreaterEqual(lines, 2000)

    def test_both_causes_are_first_and_second(self):
        for study in ("complete", "sampled"):
            with self.subTest(study=study):
                found, document = self.causes(study)
                self.assertEqual(sorted(map(str, found)), ["beyond", "removed"])

    def test_the_corruption_does_not_always_crash(self):
        _, document = self.causes("complete")
        corruption = next(row for row in document["rows"] if (row["function"], row["predicate"]) in BEYOND)
        self.assertGreater(corruption["true_in_successful"], 20)

    def test_stacks_group_the_crashes(self):
        _, document = self.causes("complete")
        innermost = {cluster["stack"].split(" < ")[0] for cluster in document["clusters"]}
        self.assertTrue({"area_rows", "format_number"} <= innermost, document["clusters"])

    def test_the_page_has_predictors_and_source(self):
        text = (self.folder / "study.html").read_text()
        data = json.loads(text.split('<script id="data" type="application/json">')[1].split("</script>")[0])["data"]
        self.assertEqual(len(data["predictors"]["rows"]), 2)
        self.assertTrue(any(source["file"].endswith("show.c") for source in data["predictors"]["sources"]))

    def test_a_script_gives_the_same_answer_twice(self):
        script = "A1 = 2\nB1 = =A1*3\ncopy A1:B1 C1\nname both A1:B1\nC2 = =SUM(both)\nshow A1:D2\ncsv A1:D2\n"
        runs = [subprocess.run([self.folder / "sheet"], input=script, capture_output=True, text=True) for _ in range(2)]
        self.assertEqual(runs[0].stdout, runs[1].stdout)
        self.assertEqual(runs[0].stdout.splitlines()[-2:], ["2,6,2,6", ",,8,"])


if __name__ == "__main__":
    unittest.main()
