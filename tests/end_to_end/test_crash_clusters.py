"""Stacks of failed runs in a study, and crash clusters in `study info`, `isolate` and its page."""
import csv
import json
import pathlib
import shutil
import unittest

from program_text import program_text
from sampler_programs import RELEASES, build
from study_case import PROGRAMS, SCHEMES, StudyCase, table, telltale

# Fails by one of two stacks, by a recursion of varying depth, by a status or by its time.
PROGRAM = program_text("study/cases/crashing.c")


def stacks(study):
    """Run -> function names, read without telltale's code."""
    with open(pathlib.Path(study) / "stacks.tsv", newline="") as file:
        assert file.readline() == "# telltale stacks 1\n"
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = {}
    for row in rows:
        found.setdefault(int(row["run"]), []).append(row)
        assert int(row["frame"]) == len(found[int(row["run"])]) - 1
    return found


class CrashClusterTest(StudyCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.folder / "crashing.c"
        source.write_text(PROGRAM)
        cls.crashing = build(cls.folder / "crashing", RELEASES[-1], "-g", "-O1", *SCHEMES, source)
        cls.crashes = cls.folder / "crashes"
        done = telltale("run", "-q", "--study", cls.crashes, "--times", 36, "--timeout", "2s", "--", cls.crashing, "{}")
        assert done.returncode == 0, done.stderr

    def info(self, study):
        done = telltale("study", "info", study, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["clusters"]

    def test_stacks_of_failed_runs_are_kept(self):
        found = stacks(self.crashes)
        signalled = {int(row["run"]) for row in table(self.crashes) if row["signal"]}
        self.assertEqual(set(found) - {4}, signalled - {4}, "4 is ended by SIGTERM for taking too long")
        names = [frame["function"] for frame in found[6]]
        self.assertEqual(names[:4], ["use", "inlined", "left", "main"])
        lines = PROGRAM.splitlines()
        for frame in found[6][:4]:
            self.assertTrue(frame["file"].endswith("crashing.c"), frame)
            self.assertIn({"use": "volatile", "inlined": "use(text)", "left": "inlined(text)", "main": "left((const"}[frame["function"]],
                          lines[int(frame["line"]) - 1])

    def test_runs_with_one_stack_are_a_cluster(self):
        clusters = {(one["ending"], one["stack"]): one["runs"] for one in self.info(self.crashes)}
        self.assertEqual(clusters, {
            ("SIGSEGV", "use < inlined < left"): 6,
            ("SIGSEGV", "use < right < main"): 6,
            ("SIGABRT", "deep < main"): 6,  # whatever the depth
            ("status 3", ""): 6,
            ("timeout", "main"): 1,
        })

    def test_hangs_are_told_apart_by_their_stacks(self):
        """Wherever the signal interrupts them: in the program's code, or in what observes it."""
        hanging = build(self.folder / "hanging", RELEASES[-1], "-g", "-O1", "-pthread", *SCHEMES, PROGRAMS / "cases/hanging.c")
        study = self.study("hangs")
        done = telltale("run", "-q", "--study", study, "--times", 8, "--jobs", 2, "--timeout", "500ms", "--", hanging, "{}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({(one["ending"], one["stack"]): one["runs"] for one in self.info(study)},
                         {("timeout", "wait_first < main"): 2, ("timeout", "wait_second < main"): 2})
        document = json.loads(telltale("isolate", study, "--json").stdout)
        self.assertEqual({one["stack"] for one in document["clusters"]}, {"wait_first < main", "wait_second < main"})
        study = self.study("alarms")
        done = telltale("run", "-q", "--study", study, "--times", 40, "--jobs", 2, "--sparsity", 10, "--", hanging, "{}", "alarm")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({(one["ending"], one["stack"]): one["runs"] for one in self.info(study)},
                         {("SIGABRT", "on_alarm < wait_first < main"): 10, ("SIGABRT", "on_alarm < wait_second < main"): 10})

    def test_the_table_of_info_has_the_clusters(self):
        done = telltale("study", "info", self.crashes)
        self.assertRegex(done.stdout, r"(?m)^CLUSTER +RUNS +ENDING +STACK +FIRST RUN$")
        self.assertRegex(done.stdout, r"(?m)^[0-9a-f]{8} +6 +SIGABRT +deep < main +2$")

    def test_clusters_are_the_same_after_a_merge_and_in_another_study(self):
        both = self.study("both")
        self.assertIn("is given twice", telltale("study", "merge", self.crashes, self.crashes, "-o", both).stderr)
        copy = shutil.copytree(self.crashes, self.folder / "copy")
        self.assertEqual(telltale("study", "merge", self.crashes, copy, "-o", both).returncode, 0)
        once = {one["cluster"]: one["runs"] for one in self.info(self.crashes)}
        self.assertEqual({one["cluster"]: one["runs"] for one in self.info(both)}, {key: 2 * runs for key, runs in once.items()})

    def test_isolate_shows_which_predictors_were_true_in_a_cluster(self):
        done = telltale("isolate", self.crashes, "--json", "--min-runs", 3)
        document = json.loads(done.stdout)
        rows = {row["rank"]: row for row in document["rows"]}
        aborted = next(one for one in document["clusters"] if one["ending"] == "SIGABRT")
        self.assertTrue(aborted["predictors"])
        best = rows[aborted["predictors"][0]["rank"]]
        self.assertIn("kind == 2 is TRUE", {best["predicate"], *(same["predicate"] for same in best["same"])})
        self.assertEqual(aborted["predictors"][0]["runs"], 6)
        self.assertEqual(sum(one["runs"] for one in document["clusters"]), document["runs"]["failing"])

    def test_one_cluster_can_be_isolated(self):
        clusters = self.info(self.crashes)
        one = next(cluster for cluster in clusters if cluster["ending"] == "SIGABRT")
        document = json.loads(telltale("isolate", self.crashes, "--cluster", one["cluster"][:6], "--json").stdout)
        self.assertEqual(document["runs"]["failing"], 6)
        self.assertEqual(document["runs"]["other_clusters"], 19)
        self.assertEqual([cluster["cluster"] for cluster in document["clusters"]], [one["cluster"]])
        self.assertEqual(document["unexplained"], 0)
        wrong = telltale("isolate", self.crashes, "--cluster", "zz")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn(one["cluster"], wrong.stderr)
        shown = telltale("isolate", self.crashes, "--cluster", one["cluster"]).stdout
        self.assertIn("19 of other crash clusters", shown.splitlines()[0])

    def test_a_study_without_stacks_has_clusters_by_ending(self):
        older = self.study("older")
        shutil.copytree(self.crashes, older)
        (older / "stacks.tsv").unlink()
        self.assertEqual({(one["ending"], one["stack"]): one["runs"] for one in self.info(older)},
                         {("SIGSEGV", ""): 12, ("SIGABRT", ""): 6, ("status 3", ""): 6, ("timeout", ""): 1})

    def test_damaged_stacks_are_told(self):
        damaged = self.study("damaged")
        shutil.copytree(self.crashes, damaged)
        path = damaged / "stacks.tsv"
        path.write_text(path.read_text() + "7\tx\n12\t0\tto")
        done = telltale("study", "info", damaged)
        self.assertIn("does not describe the next frame", done.stderr)
        self.assertIn("ends inside this row", done.stderr)
        path.write_text("nothing\n")
        self.assertEqual(telltale("isolate", damaged).returncode, 3)

    def test_the_page_has_the_clusters(self):
        page = self.study("page.html")
        self.assertEqual(telltale("isolate", self.crashes, "--html", "-o", page).returncode, 0)
        text = page.read_text()
        page.unlink()
        data = json.loads(text.split('<script id="data" type="application/json">')[1].split("</script>")[0])["data"]
        keys = [column["key"] for column in data["clusters"]["columns"]]
        found = {row[keys.index("ending")]: row[keys.index("stack")] for row in data["clusters"]["rows"]}
        self.assertEqual(found["SIGABRT"], "deep < main")


if __name__ == "__main__":
    unittest.main()
