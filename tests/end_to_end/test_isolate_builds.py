"""`telltale isolate` on runs of several builds: sites that only moved are one. What the runs hold is known (made_study.py)."""
import collections
import json
import pathlib
import shutil
import tempfile
import unittest

from collect_server import Server
from made_study import BUILDS, COUNTERS, Build, HeaderBuild, Run, make_header_study, make_study
from study_case import telltale
from test_collect_store import send_study

RELATIONS, COMPLEMENTS = ("<", "==", ">"), (">=", "!=", "<=")
COUNTS = ("true_in_failing", "true_in_successful", "observed_in_failing", "observed_in_successful")


def predicates(scheme, function, text):
    """Of a site: (what it says, whether a row of counters makes it true)."""
    if scheme == "function-entries":
        return [(f"{function} entered", lambda row: row[0] != 0)]
    if scheme == "coverage":
        return [(f"{text} executed", lambda row: row[0] != 0)]
    if scheme == "branches":
        return [(f"{text} is {word}", lambda row, i=i: row[i] != 0) for i, word in enumerate(("FALSE", "TRUE"))]
    other = "0" if scheme == "returns" else "limit"
    found = []
    for i in range(3):
        found.append((f"{text} {RELATIONS[i]} {other}", lambda row, i=i: row[i] != 0))
        found.append((f"{text} {COMPLEMENTS[i]} {other}", lambda row, i=i: any(count for j, count in enumerate(row) if j != i)))
    return found


def expected_counts(builds, runs):
    """(line in the newest build, other lines, scheme, function, predicate): the four counts. Computed from what was made."""
    places = collections.defaultdict(dict)  # of the same code: its row in each build
    for build in builds:
        for scheme, sites in build.sites.items():
            total, seen = collections.Counter(site[1:] for site in sites), collections.Counter()
            for row, site in enumerate(sites):
                statement = site[1:]
                places[scheme, statement, total[statement], seen[statement]][build.name] = row
                seen[statement] += 1
    expected = {}
    for (scheme, (function, text), _, _), rows in places.items():
        if scheme == "bounds":
            continue
        lines = [build.sites[scheme][rows[build.name]][0] for build in builds if build.name in rows]
        for words, is_true in predicates(scheme, function, text):
            counts = dict.fromkeys(COUNTS, 0)
            for run in runs:
                if run.build.name not in rows:
                    continue
                row = run.counts[scheme][rows[run.build.name]]
                ending = "failing" if run.failed else "successful"
                counts[f"true_in_{ending}"] += is_true(row)
                counts[f"observed_in_{ending}"] += len(row) == 1 or any(row)
            if counts["true_in_failing"] + counts["true_in_successful"]:
                expected[lines[0], tuple(lines[1:]), scheme, function, words] = counts
    return expected


class BuildsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-builds-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.builds = [Build("new"), Build("old")]
        cls.both = cls.folder / "both"
        cls.runs = make_study(cls.both, cls.builds, 120, COUNTERS)

    def store(self, name, study, builds):
        store = self.folder / name
        with Server(store) as server:
            send_study(server, study)
            for build in builds:
                status = server.request("PUT", f"/v1/sites/{build.build}", build.table().encode(), {"Telltale-Application": "stock"})[0]
                self.assertEqual(status, 201)
        self.assertEqual(telltale("store", "fold", store).returncode, 0)
        return store

    def isolate(self, *words):
        done = telltale("isolate", *words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_counts_are_summed_over_builds(self):
        document = self.isolate(self.both, "--all", "--filter", "none")
        found = {(row["line"], tuple(row["other_lines"]), row["scheme"], row["function"], row["predicate"]): {key: row[key] for key in COUNTS}
                 for row in document["rows"]}
        expected = expected_counts(self.builds, self.runs)
        self.assertEqual(found, expected)
        self.assertEqual({scheme for _, others, scheme, _, _ in expected if others}, set(COUNTERS))

    def test_what_was_matched_is_counted(self):
        # Of 3 functions with 6 statements: a renamed function has no counterpart; of "kept" in load there are two in one build, one in the other.
        lists = len(COUNTERS) - 1
        self.assertEqual(self.isolate(self.both)["builds"],
                         {"builds": 2, "sites_matched": 10 * lists + 2, "sites_moved": 10 * lists + 2,
                          "sites_unmatched": 12 * lists + 2 + 4 * lists, "sites_ambiguous": 3 * lists})
        text = telltale("isolate", self.both).stdout
        self.assertIn(f"\n2 builds: {10 * lists + 2} sites in several, {10 * lists + 2} of them on other lines; {16 * lists + 2} in one only, "
                      f"{3 * lists} because builds state them a different number of times\n", text)

    def test_the_place_is_that_in_the_newest_build(self):
        row = self.isolate(self.both)["rows"][0]
        self.assertEqual((row["function"], row["predicate"]), ("save", "size is TRUE"))
        self.assertEqual(row["other_lines"], [row["line"] + 2])
        self.assertIn(f"main.c:{row['line']} (before: {row['line'] + 2})", telltale("isolate", self.both).stdout)
        # Alone, a build has no other lines.
        for build in self.builds:
            document = self.isolate(self.both, "--build", build.build)
            self.assertIsNone(document["builds"])
            self.assertEqual(document["rows"][0]["other_lines"], [])
            self.assertEqual(document["rows"][0]["line"], row["line"] + (2 if build.name == "old" else 0))

    def test_a_header_is_matched_by_the_file_that_includes_it(self):
        """Two files include it in the older build, three in the newer one."""
        study = self.folder / "header"
        make_header_study(study, [HeaderBuild("new"), HeaderBuild("old")], 90)
        document = self.isolate(study)
        self.assertEqual(document["builds"], {"builds": 2, "sites_matched": 4, "sites_moved": 2, "sites_unmatched": 2, "sites_ambiguous": 0})
        row = document["rows"][0]
        self.assertEqual((row["file"], row["line"], row["other_lines"], row["predicate"]), ("util.h", 5, [7], "full is TRUE"))
        self.assertEqual([row[key] for key in COUNTS], [30, 0, 30, 60])

    def test_a_gate_knows_a_predictor_by_its_place_and_kind(self):
        """Other runs give another number, which is no new predictor."""
        old, new = self.folder / "gate-old", self.folder / "gate-new"
        make_study(old, [Build("old")], 40, {"bounds"})
        make_study(new, [Build("new")], 120, {"bounds"})
        before, after = (self.isolate(study, "--build", BUILDS[name])["rows"][0] for study, name in ((old, "old"), (new, "new")))
        for row in (before, after):
            self.assertRegex(row["predicate"], r"^size was once > \d+$")
        self.assertNotEqual(before["predicate"], after["predicate"])
        done = telltale("isolate", new, "--gate", old, "--limit", 1)
        found = done.stderr.splitlines()
        self.assertEqual((done.returncode, "new predictor" in done.stderr), (0, False), done.stderr)
        self.assertIn(f"telltale: gate: known predictor has another number: {after['predicate']} in save (main.c:{after['line']}), "
                      f"before: {before['predicate']}", found)
        self.assertIn(f"telltale: gate: known predictor moved: {after['predicate']} in save (main.c:{after['line']}), before at line {before['line']}", found)
        # The code review's fingerprint is the same, too.
        fingerprints = [json.loads(telltale("isolate", study, "--sarif", "--limit", 1).stdout)["runs"][0]["results"][0]["partialFingerprints"]
                        for study in (old, new)]
        self.assertEqual(fingerprints[0], fingerprints[1])
        # A predictor at another place is new.
        done = telltale("isolate", self.both, "--gate", old)
        self.assertEqual(done.returncode, 1)
        self.assertIn("gate: new predictor: ", done.stderr)

    def test_a_gate_needs_evidence_of_all_failures(self):
        """Runs that fail without a report, and builds of which every run fails, are not better than known failures."""
        before, after = self.folder / "known-before", self.folder / "known-after"
        make_study(before, [Build("new")], 40)
        gate = ("isolate", after, "--gate", before)

        def change(label):
            """A study like `before`; label(run's label): "failed", "passed", or "lost" for one that failed without a report."""
            shutil.rmtree(after, ignore_errors=True)
            shutil.copytree(before, after)
            head, names, *rows = (after / "runs.tsv").read_text().splitlines()
            rows = [row.split("\t") for row in rows]
            for row in rows:
                row[1] = label(row[1])
                if row[1] == "lost":
                    row[1] = "failed"
                    (after / f"reports/{row[0]}.report").write_bytes(b"")
            (after / "runs.tsv").write_text("\n".join([head, names, *("\t".join(row) for row in rows)]) + "\n")
            return sum(row[1] == "failed" for row in rows)

        failed = change(lambda label: label)
        self.assertEqual(telltale(*gate).returncode, 0)
        change(lambda label: "lost" if label == "failed" else label)
        done = telltale(*gate)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"telltale: {failed} failed runs left no report of these programs, so no predicate explains them\n", done.stderr)
        self.assertIn("telltale: gate: not passed: not all failed runs can be compared\n", done.stderr)
        self.assertNotIn("no run failed", done.stderr)
        self.assertEqual(done.stdout.splitlines()[0], f"0 runs failed, {40 - failed} passed, {failed} without a report; {failed} of these failed")
        self.assertIn(f"telltale: {failed - 5} more; `telltale isolate --json` lists them\n", done.stderr)
        document = self.isolate(after)
        self.assertEqual((document["runs"]["failing_left_out"], len(document["problems"])), (failed, failed))
        change(lambda label: "failed")
        done = telltale(*gate)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("every run failed", done.stderr)
        change(lambda label: label if label == "failed" else "lost")
        done = telltale(*gate)
        self.assertEqual(done.returncode, 1, done.stderr)
        change(lambda label: "passed")
        done = telltale(*gate)
        self.assertEqual((done.returncode, done.stderr), (0, "telltale: no run failed, so there is nothing to explain\n"))

    def test_one_answer_for_any_order_and_source(self):
        halves = []
        for half in (0, 1):
            halves.append(self.folder / f"half-{half}")
            shutil.copytree(self.both, halves[-1])
            lines = (self.both / "runs.tsv").read_text().splitlines(keepends=True)
            (halves[-1] / "runs.tsv").write_text("".join(line for number, line in enumerate(lines) if number < 2 or number // 40 % 2 == half))
        store = self.store("store", self.both, self.builds)
        for words in ((), ("--all", "--filter", "none", "--affinity", 2)):
            expected = self.isolate(self.both, *words)
            for inputs in (halves, halves[::-1], [store]):
                for jobs in (1, 3):
                    found = self.isolate(*inputs, "--jobs", jobs, *words)
                    for key in ("builds", "runs", "predicates", "predicates_true", "candidates", "unexplained", "rows"):
                        self.assertEqual(found[key], expected[key], (inputs, jobs, key))

    def test_values_of_runs_in_a_store(self):
        """Bounds: numbers that are found in the values of all builds."""
        builds = [Build("new"), Build("old")]
        runs = make_study(self.folder / "values", builds, 90)
        store = self.store("value-store", self.folder / "values", builds)
        expected = self.isolate(self.folder / "values", "--all", "--filter", "none")
        rows = [row for row in expected["rows"] if row["scheme"] == "bounds" and row["function"] == "save" and row["predicate"].startswith("size was once > ")]
        self.assertEqual(len(rows), 1)
        (row,) = rows
        largest = max(run.counts["bounds"][Run.row(run.build, "bounds", ("save", "size"))][1] for run in runs if not run.failed)
        self.assertEqual(row["predicate"], f"size was once > {largest}")
        failed = sum(run.failed for run in runs)
        self.assertEqual([row[key] for key in COUNTS], [failed, 0, failed, len(runs) - failed])
        self.assertEqual(row["other_lines"], [row["line"] + 2])
        for jobs in (1, 3):
            found = self.isolate(store, "--all", "--filter", "none", "--jobs", jobs)
            for key in ("builds", "runs", "predicates", "predicates_true", "candidates", "unexplained", "rows"):
                self.assertEqual(found[key], expected[key], key)
        # Runs that have nothing but values.
        shutil.rmtree(self.folder / "values")
        make_study(self.folder / "values", builds, 40, {"bounds"})
        store = self.store("only-values", self.folder / "values", builds)
        expected, found = self.isolate(self.folder / "values"), self.isolate(store)
        self.assertEqual(expected["runs"]["unresolved"], 0)
        self.assertEqual((found["runs"], found["rows"]), (expected["runs"], expected["rows"]))
        self.assertTrue(found["rows"])

    def test_programs_of_one_name_are_builds(self):
        """Of reports without a study. The first program counts as the newest."""
        words = ["--all", "--filter", "none"]
        for name in ("failed", "passed"):
            (self.folder / name).mkdir()
            for number, run in enumerate(self.runs, 1):
                if run.failed == (name == "failed"):
                    (self.folder / name / str(number)).symlink_to(self.both / f"reports/{number}.report")
            words += [f"--{name}", self.folder / name]
        for folder, name, build in (("a", "made", "new"), ("b", "made", "old"), ("b", "library", "old")):
            (self.folder / folder).mkdir(exist_ok=True)
            (self.folder / folder / name).symlink_to(self.both / f"sites/{BUILDS[build]}.sites")
        expected = self.isolate(self.both, "--all", "--filter", "none")
        found = self.isolate(*words, "--program", self.folder / "a/made", "--program", self.folder / "b/made")
        self.assertEqual((found["builds"], found["rows"]), (expected["builds"], expected["rows"]))
        turned = self.isolate(*words, "--program", self.folder / "b/made", "--program", self.folder / "a/made")
        self.assertEqual({(row["line"], *row["other_lines"]) for row in turned["rows"]}, {(*row["other_lines"][::-1], row["line"]) for row in expected["rows"]})
        self.assertIsNone(self.isolate(*words, "--program", self.folder / "a/made", "--program", self.folder / "b/library")["builds"])


if __name__ == "__main__":
    unittest.main()
