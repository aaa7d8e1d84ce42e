"""`telltale isolate`, on a program of 500 lines with two bugs."""
import collections
import csv
import io
import json
import math
import re
import shutil
import subprocess
import unittest

import sarif_schema
from program_text import program_text
from sampler_programs import RELEASES, SOURCE_DIR, build
from study_case import PROGRAMS, SCHEMES, StudyCase, table, telltale

STOCK = SOURCE_DIR / "examples/stock/stock.c"
MERGE_LINE = next(str(number) for number, line in enumerate(STOCK.read_text().splitlines(), 1) if "used = used + 1;" in line)


class IsolateTest(StudyCase):
    """One of the bugs corrupts memory and often does no harm."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stock = build(cls.folder / "stock", RELEASES[-1], "-g", "-O1", "-frelative-paths", *SCHEMES, "stock.c", cwd=STOCK.parent)
        cls.studies = {}
        for sparsity, times in ((1, 500), (100, 2000)):
            study = cls.folder / f"stock-{sparsity}"
            done = telltale("run", "-q", "--study", study, "--times", times, "--jobs", 2, "--sparsity", sparsity, "--seed", 1,
                            "--", cls.stock, "{}")
            assert done.returncode == 0, done.stderr
            cls.studies[sparsity] = study

    def isolate(self, *words):
        done = telltale("isolate", *words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @staticmethod
    def predicates(row):
        return {(other["function"], other["predicate"]) for other in (row, *row["same"])}

    def test_both_causes_are_first_and_second(self):
        reserved = {("audit", "free_quantity < 0"), ("report_values", "shelf == (const char *)0")}
        overrun = {("audit", "room_left < 0"), ("merge_tags", "used > room")}
        for sparsity, study in self.studies.items():
            with self.subTest(sparsity=sparsity):
                first, second = self.isolate(study)["rows"][:2]
                self.assertTrue(self.predicates(first) & reserved, first)
                self.assertTrue(self.predicates(second) & overrun, second)
                self.assertGreater(second["true_in_successful"], 0, "the overrun does not always crash")

    def test_the_figures_follow_from_the_counts(self):
        document = self.isolate(self.studies[1], "--all", "--filter", "none")
        failing, successful = document["runs"]["failing"], document["runs"]["successful"]
        self.assertEqual(failing + successful, 500)
        self.assertEqual(len(document["rows"]), document["predicates"])
        for row in document["rows"]:
            f, s, fo, so = (row[key] for key in ("true_in_failing", "true_in_successful", "observed_in_failing", "observed_in_successful"))
            self.assertLessEqual(f, fo)
            self.assertLessEqual(s, so)
            failure = f / (f + s) if f + s else 0
            context = fo / (fo + so) if fo + so else 0
            increase = failure - context if f + s else 0
            recall = 1 if f == failing == 1 else math.log(f) / math.log(failing) if f > 1 else 0
            importance = 2 / (1 / increase + 1 / recall) if increase > 0 and recall > 0 else 0
            for key, value in (("failure", failure), ("context", context), ("increase", increase), ("importance", importance),
                               ("ochiai", f / math.sqrt(failing * (f + s)) if f + s else 0), ("op2", f - s / (successful + 1))):
                self.assertAlmostEqual(row[key], value, places=9, msg=(key, row))
            self.assertLessEqual(row["increase_low"], row["increase_high"])

    def test_counts_agree_with_the_reports(self):
        """Counted once more from the reports, without telltale's code."""
        study = self.studies[1]
        (sites_file,) = (study / "sites").iterdir()
        sites, place = {}, None
        for line in sites_file.read_text().splitlines():
            if line.startswith("<sites"):
                place = tuple(line.split('"')[1::2])
                sites[place] = []
            elif not line.startswith("</"):
                sites[place].append(line.split("\t"))
        (key, number), = [(key, number) for key, rows in sites.items() for number, row in enumerate(rows)
                          if key[1] == "scalar-pairs" and row[2] == "merge_tags" and row[4] == "used" and row[7] == "room" and row[1] == MERGE_LINE]
        counts = {"failed": [0, 0], "passed": [0, 0]}
        for run in table(study):
            section = None
            for line in (study / f"reports/{run['run']}.report").read_text().splitlines():
                if line.startswith("<samples"):
                    section, row = tuple(line.split('"')[1::2]), 0
                elif line.startswith("<"):
                    section = None
                elif section is not None:
                    if section == key and row == number:
                        values = [int(value) for value in line.split("\t")]
                        counts[run["label"]][0] += values[2] > 0
                        counts[run["label"]][1] += any(values)
                    row += 1
        rows = [row for row in self.isolate(study, "--all", "--filter", "none")["rows"]
                if row["predicate"] == "used > room" and row["line"] == int(MERGE_LINE)]
        self.assertEqual(len(rows), 1)
        self.assertEqual([rows[0][f"true_in_{label}"] for label in ("failing", "successful")], [counts["failed"][0], counts["passed"][0]])
        self.assertEqual([rows[0][f"observed_in_{label}"] for label in ("failing", "successful")], [counts["failed"][1], counts["passed"][1]])
        self.assertGreater(counts["failed"][0], 10)

    def test_the_number_of_threads_does_not_matter(self):
        one, two, eight = (telltale("isolate", self.studies[100], "--json", "--affinity", 3, "--jobs", jobs).stdout for jobs in (1, 2, 8))
        self.assertEqual(one, two)
        self.assertEqual(one, eight)

    def test_other_inputs_give_the_same_answer(self):
        study = self.studies[1]
        wanted = self.isolate(study)
        wanted["clusters"] = []  # only a study knows how runs ended
        runs = table(study)
        report = lambda run: study / f"reports/{run['run']}.report"
        lines = "".join(f"{run['label']}\t{report(run)}\n" for run in runs)
        done = telltale("isolate", "-", "--program", self.stock, "--json", stdin=None, input=lines)
        self.assertEqual(json.loads(done.stdout), wanted)
        folder = self.study("folders")
        for run in runs:
            (folder / run["label"]).mkdir(parents=True, exist_ok=True)
            shutil.copy(report(run), folder / run["label"])
        listed = self.isolate("--failed", folder / "failed", "--passed", folder / "passed", "--program", self.stock)
        self.assertEqual(listed, wanted)
        # A link that leads nowhere is a run without a report.
        (folder / "passed" / "zz").symlink_to("gone")
        done = telltale("isolate", "--failed", folder / "failed", "--passed", folder / "passed", "--program", self.stock, "--strict")
        self.assertEqual(done.returncode, 4)
        self.assertIn(f"{folder / 'passed' / 'zz'}: Report at byte 0: cannot open", done.stderr)

    def test_the_table_and_csv(self):
        study = self.studies[1]
        document = self.isolate(study)
        text = telltale("isolate", study).stdout.splitlines()
        self.assertEqual(text[0], f"{document['runs']['failing']} runs failed, {document['runs']['successful']} passed")
        self.assertEqual(text[2].split()[:2], ["RANK", "IMPORTANCE"])
        self.assertIn(document["rows"][0]["predicate"], text[3])
        rows = list(csv.DictReader(io.StringIO(telltale("isolate", study, "--csv").stdout)))
        self.assertEqual([row["predicate"] for row in rows], [row["predicate"] for row in document["rows"]])
        self.assertEqual(float(rows[0]["importance"]), document["rows"][0]["importance"])

    def test_sarif(self):
        study = self.studies[1]
        done = telltale("isolate", study, "--sarif")
        log = json.loads(done.stdout)
        self.assertEqual(log["version"], "2.1.0")
        for more in ((), ("--all", "--filter", "none"), ("--score", "ochiai", "--limit", 1)):
            self.assertEqual(sarif_schema.complaints(json.loads(telltale("isolate", study, "--sarif", *more).stdout)), [])
        for spoil in (lambda run: run["results"][0].pop("message"), lambda run: run["results"][0].update(rank="high"), lambda run: run.pop("tool")):
            spoiled = json.loads(done.stdout)
            spoil(spoiled["runs"][0])
            self.assertEqual(len(sarif_schema.complaints(spoiled)), 1)
        (run,) = log["runs"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        rows = self.isolate(study)["rows"]
        self.assertEqual(len(run["results"]), len(rows))
        for result, row in zip(run["results"], rows):
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
            self.assertEqual(result["ruleId"], "failure-predictor/" + row["scheme"])
            self.assertAlmostEqual(result["rank"], 100 * row["importance"])
            self.assertIn((result["kind"], result["level"]), (("fail", "warning"), ("review", "none")))
            (location,) = result["locations"]
            self.assertEqual(location["physicalLocation"], {"artifactLocation": {"uri": "stock.c"}, "region": {"startLine": row["line"]}})
            self.assertEqual(location["logicalLocations"], [{"name": row["function"], "kind": "function"}])
            self.assertEqual(len(result.get("relatedLocations", [])), len(row["same"]))
            self.assertIn(row["predicate"], result["message"]["text"])

    def test_sarif_escapes_names_of_files(self):
        source = self.folder / "AZ az09-._~ %25.c"
        source.write_text(program_text("study/cases/odd_arguments.c"))
        program = build(self.folder / "odd", RELEASES[-1], "-frelative-paths", *SCHEMES, source.name, cwd=self.folder)
        study = self.study("odd")
        done = telltale("run", "-q", "--study", study, "--times", 20, "--", program, "{}")
        self.assertEqual(done.returncode, 0, done.stderr)
        (run,) = json.loads(telltale("isolate", study, "--sarif").stdout)["runs"]
        places = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
        self.assertEqual(places, {"AZ%20az09-._~%20%2525.c"})

    def test_the_page(self):
        study = self.studies[1]
        page = self.folder / "page.html"

        def payload(*words):
            done = telltale("isolate", study, "--html", "-o", page, *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            text = page.read_text().split('<script id="data" type="application/json">')[1].split("</script>")[0]
            return json.loads(text)["data"]["predictors"]

        rows = self.isolate(study, "--affinity", 5)["rows"]
        data = payload("--source", STOCK.parent)
        labels = {row["run"]: row["label"] for row in table(study)}
        self.assertEqual(data["runs"], {"failed": sum(label == "failed" for label in labels.values()), "passed": sum(label == "passed" for label in labels.values())})
        for row, wanted in zip(data["rows"], rows, strict=True):
            self.assertEqual((row["predicate"], row["importance"], row["low"], len(row["same"]), len(row["affinity"])),
                             (wanted["predicate"], wanted["importance"], wanted["increase_low"], len(wanted["same"]), len(wanted["affinity"])))
            self.assertEqual(len(row["failed_runs"]), wanted["true_in_failing"])
            self.assertEqual({labels[str(run)] for run in row["failed_runs"]}, {"failed"})
            reports = [(page.parent / path).resolve() for path in row["reports"]]
            self.assertEqual(reports, [(study / f"reports/{run}.report").resolve() for run in row["failed_runs"]])
        (source,) = data["sources"]
        self.assertEqual((source["file"], "\n".join(source["lines"]) + "\n"), ("stock.c", STOCK.read_text()))
        # Its lines with sites: those of the site information.
        (table_of_sites,) = (study / "sites").glob("*.sites")
        lines = collections.Counter(int(row.split("\t")[1]) for row in table_of_sites.read_text().splitlines() if row.startswith("stock.c\t"))
        self.assertEqual({line["line"]: line["sites"] for line in source["sites"]}, lines)
        by_line = {line["line"]: line for line in source["sites"]}
        for row in rows:
            best = by_line[row["line"]]
            self.assertGreaterEqual(best["importance"], row["importance"])
            if best["predicate"] == row["predicate"]:
                self.assertEqual((best["failed"], best["passed"]), (row["true_in_failing"], row["true_in_successful"]))
        # Source is read below that folder only.
        self.assertEqual(payload()["sources"], [])
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "stock.c").symlink_to(STOCK)
        self.assertEqual(payload("--source", elsewhere)["sources"], [])

    def test_a_graph_of_affinity(self):
        text = telltale("isolate", self.studies[1], "--dot", "--affinity", 3).stdout
        self.assertEqual(text.count(" -> "), sum(len(row["affinity"]) for row in self.isolate(self.studies[1], "--affinity", 3)["rows"]))
        self.assertEqual(text.count("style=bold"), len(self.isolate(self.studies[1])["rows"]))
        if shutil.which("dot"):
            self.assertEqual(subprocess.run(["dot", "-Tsvg", "-o", "/dev/null"], input=text, text=True).returncode, 0)

    def test_a_gate_on_the_predictors_of_another_build(self):
        """Before, only one bug; its lines are others. Both builds in one study."""
        source = self.folder / "before/stock.c"
        source.parent.mkdir()
        text = STOCK.read_text()
        mended = "\n\n" + text.replace("if (from->tag_count > room) {", "if (into->tag_count + from->tag_count > room) {").replace(
            "grow_tags(into, from->tag_count);", "grow_tags(into, into->tag_count + from->tag_count);")
        self.assertNotEqual(len(mended), len(text) + 2)
        source.write_text(mended)
        before = build(self.folder / "before/stock", RELEASES[-1], "-g", "-O1", "-frelative-paths", *SCHEMES, "stock.c", cwd=source.parent)
        after = build(self.folder / "before/after", RELEASES[-1], "-g", "-O1", "-frelative-paths", *SCHEMES, "stock.c", cwd=STOCK.parent)
        study = self.study("both")
        for program in (before, after):
            done = telltale("run", "-q", "--study", study, "--times", 500, "--jobs", 2, "--", program, "{}")
            self.assertEqual(done.returncode, 0, done.stderr)
        builds = {row["command"].split()[0]: row["build"] for row in table(study)}
        old, new = builds[str(before)], builds[str(after)]
        self.assertEqual(len(self.isolate(study, "--build", old)["rows"]), 1)
        done = telltale("isolate", study, "--gate", old[:12])
        self.assertEqual(done.returncode, 1, done.stderr)
        moved, new_one = sorted(done.stderr.splitlines())
        self.assertRegex(new_one, r"gate: new predictor: .*(room_left < 0 in audit|used > room in merge_tags)")
        line, before_at = re.fullmatch(r"telltale: gate: known predictor moved: .* \(stock\.c:(\d+)\), before at line (\d+)", moved).groups()
        self.assertEqual(int(before_at), int(line) + 2, "the older build has two empty lines in front")
        done = telltale("isolate", study, "--build", old, "--gate", self.studies[1])
        self.assertEqual(done.returncode, 0, done.stderr)
        (line,) = done.stderr.splitlines()
        self.assertIn("known predictor moved", line)
        done = telltale("isolate", study, "--build", new, "--gate", self.studies[1])
        self.assertEqual((done.returncode, done.stderr), (0, ""), "no line moved")
        # A comparison with no runs would find nothing new.
        for words in (("--gate", "no-such-build"), ("--build", "no-such-build"), ("--build", old, "--gate", old[:12])):
            with self.subTest(words):
                done = telltale("isolate", study, *words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"the builds are {', '.join(sorted((old, new)))}", done.stderr)
        self.assertIn("--application is for stores", telltale("isolate", study, "--application", "stock").stderr)

    def test_timestamps_order_equal_scores(self):
        """The consequence comes first in the source, and later in time."""
        found = {}
        for flag in ("-ftimestamp-first", "-fno-timestamp-first"):
            program = build(self.folder / "timed", RELEASES[-1], "-O1", flag, "-fsampler-scheme=branches", PROGRAMS / "timed.c")
            study = self.study(flag)
            done = telltale("run", "-q", "--study", study, "--times", 30, "--", program, "{}")
            self.assertEqual(done.returncode, 0, done.stderr)
            (row,) = self.isolate(study)["rows"]
            self.assertEqual(len(row["same"]), 1)
            found[flag] = row["function"]
        self.assertEqual(found, {"-ftimestamp-first": "cause", "-fno-timestamp-first": "consequence"})

    def test_other_orders_and_ways_of_discarding(self):
        for score in ("lower-bound", "increase", "failure", "failing-runs", "ochiai", "tarantula", "dstar", "op2"):
            document = self.isolate(self.studies[1], "--score", score)
            self.assertEqual(document["score"], score)
            self.assertTrue(document["rows"])
        for discard in ("all-runs", "failing-runs", "relabel"):
            first, second = self.isolate(self.studies[1], "--discard", discard)["rows"][:2]
            self.assertIn("shelf == (const char *)0", first["predicate"])
            self.assertTrue({("audit", "room_left < 0"), ("merge_tags", "used > room")} & self.predicates(second))

    def test_reports_of_another_program_are_left_out(self):
        study = self.study("mixed")
        shutil.copytree(self.studies[1], study)
        other = self.study("other")
        self.record(other, "--times", 2)
        shutil.copy(other / "reports/1.report", study / "reports/1.report")
        (study / "reports/2.report").write_text("")
        (study / "reports/3.report").unlink()
        done = telltale("isolate", study, "--json")
        document = json.loads(done.stdout)
        self.assertEqual((document["runs"]["unresolved"], document["runs"]["without_report"]), (1, 2))
        self.assertEqual(document["runs"]["failing"] + document["runs"]["successful"], 497)
        self.assertIn("no given program has the sites", done.stderr)
        self.assertEqual(telltale("isolate", study, "--strict").returncode, 4)

    def test_nothing_to_explain(self):
        for mode, remark in (("output", "no run failed"), ):
            study = self.study(mode)
            self.record(study, "--times", 3, mode=mode)
            done = telltale("isolate", study)
            self.assertEqual(done.returncode, 0)
            self.assertIn(remark, done.stderr)
        study = self.study("all")
        done = telltale("run", "-q", "--study", study, "--times", 3, "--", self.failing, "status", 1)
        self.assertIn("every run failed", telltale("isolate", study).stderr)

    def test_bad_command_lines(self):
        for words in ([], [self.folder], ["--failed", self.folder / "no-such-report", "--program", self.stock],
                      ["--failed", self.studies[1] / "reports/1.report"], [PROGRAMS / "failing.c"]):
            done = telltale("isolate", *words)
            self.assertIn(done.returncode, (2, 3), words)
            self.assertTrue(done.stderr.startswith("telltale: "), done.stderr)

if __name__ == "__main__":
    unittest.main()
