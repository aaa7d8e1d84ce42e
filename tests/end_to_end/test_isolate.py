"""`telltale run --study`, `telltale study` and `telltale isolate`, on programs with known bugs."""
import csv
import io
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from sampler_programs import RELEASES, SOURCE_DIR, build

TELLTALE = os.environ["TELLTALE"]
STOCK = SOURCE_DIR / "examples/stock/stock.c"
SCHEMES = ("-fsampler-scheme=branches", "-fsampler-scheme=returns", "-fsampler-scheme=scalar-pairs")

# Fails by a signal, a status, its output or its time, as its argument says.
FAILING = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int odd(int n) { return n % 2; }
int main(int argc, char **argv) {
  int n = argc > 2 ? atoi(argv[2]) : 0;
  char word[16] = "";
  if (strcmp(argv[1], "input") == 0 && scanf("%15s", word) == 1) { puts(word); return 0; }
  if (strcmp(argv[1], "environment") == 0) {
    printf("%s %s\n", getenv("TELLTALE_RUN"), getenv("SAMPLER_FILE") ? "has SAMPLER_FILE" : "");
    return 0;
  }
  if (!odd(n)) { puts("even"); return 0; }
  if (strcmp(argv[1], "signal") == 0) abort();
  if (strcmp(argv[1], "status") == 0) return 3;
  if (strcmp(argv[1], "time") == 0) { puts("waits"); fflush(stdout); pause(); }
  puts("odd");
  return 0;
}
"""


def telltale(*words, **options):
    options = {"stdin": subprocess.DEVNULL, "timeout": 300, **options}
    return subprocess.run([TELLTALE, *map(str, words)], capture_output=True, text=True, **options)


def table(study):
    """The rows of runs.tsv, read without telltale's code."""
    with open(pathlib.Path(study) / "runs.tsv", newline="") as file:
        head = file.readline()
        assert head == "# telltale study 1\n", head
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


class Studies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-isolate-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        source = cls.folder / "failing.c"
        source.write_text(FAILING)
        cls.failing = build(cls.folder / "failing", RELEASES[-1], "-O1", *SCHEMES, source)

    def study(self, name):
        path = self.folder / f"{self.id().split('.')[-1]}-{name}"
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return path

    def record(self, study, *words, mode="status", **options):
        done = telltale("run", "--study", study, *words, "--", self.failing, mode, "{}", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done


class RunStudyTest(Studies):
    def test_outcomes_are_kept(self):
        for mode, rule, status, name in (("status", "status", "3", ""), ("signal", "signal", "", "SIGABRT")):
            study = self.study(mode)
            done = self.record(study, "--times", 4, "--seed", 7, "--sparsity", 3, mode=mode)
            self.assertEqual(done.stdout, "even\neven\n")
            self.assertIn("4 runs: 2 failed, 2 passed", done.stderr)
            rows = table(study)
            self.assertEqual([row["run"] for row in rows], ["1", "2", "3", "4"])
            self.assertEqual([row["label"] for row in rows], ["failed", "passed"] * 2)
            self.assertEqual((rows[0]["rule"], rows[0]["status"], rows[0]["signal"]), (rule, status, name))
            self.assertEqual((rows[1]["rule"], rows[1]["status"], rows[1]["signal"]), ("status", "0", ""))
            self.assertEqual([row["seed"] for row in rows], ["7", "8", "9", "10"])
            self.assertEqual({row["sparsity"] for row in rows}, {"3"})
            self.assertEqual(rows[2]["command"], f"{self.failing} {mode} 3")
            (sites,) = (study / "sites").iterdir()
            self.assertEqual(sites.stem, rows[0]["build"])
            reports = sorted(path.name for path in (study / "reports").iterdir())
            self.assertEqual(reports, ["1.report", "2.report", "3.report", "4.report"])
            for path in (study / "reports").iterdir():
                self.assertIn("</report>", path.read_text())

    def test_runs_are_added_under_new_numbers(self):
        study = self.study("s")
        self.record(study, "--times", 2)
        self.record(study, "--times", 3, "--jobs", 2)
        rows = table(study)
        self.assertEqual(sorted(int(row["run"]) for row in rows), [1, 2, 3, 4, 5])
        self.assertEqual({row["command"].split()[-1] for row in rows}, set("12345"))

    def test_one_run_passes_output_input_and_status_through(self):
        study = self.study("s")
        done = telltale("run", "--study", study, "--", self.failing, "status", 1, stdin=None, input="x")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        done = telltale("run", "--study", study, "--", self.failing, "signal", 1)
        self.assertEqual(done.returncode, -signal.SIGABRT)
        done = telltale("run", "-q", "--study", study, "--", self.failing, "input", stdin=None, input="word")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "word\n", ""))

    def test_runs_side_by_side_read_the_same_input(self):
        study = self.study("s")
        done = telltale("run", "--study", study, "--times", 6, "--jobs", 3, "--", self.failing, "input", stdin=None, input="word")
        self.assertEqual(done.stdout, "word\n" * 6)

    def test_the_environment_has_the_number_and_not_the_reports_name(self):
        done = self.record(self.study("s"), "--times", 2, mode="environment")
        self.assertEqual(done.stdout.split("\n"), ["1 ", "2 ", ""])

    def test_timeouts_fail(self):
        study = self.study("s")
        begin = time.monotonic()
        self.record(study, "--times", 2, "--timeout", "300ms", mode="time")
        self.assertLess(time.monotonic() - begin, 100)
        rows = table(study)
        self.assertEqual([(row["label"], row["rule"]) for row in rows], [("failed", "timeout"), ("passed", "status")])
        # SIGTERM let the runtime write the report.
        self.assertIn("</report>", (study / "reports/1.report").read_text())

    def test_a_command_labels(self):
        study = self.study("s")
        self.record(study, "--times", 4, "--label",
                    'test "$TELLTALE_RUN" = 2 && exit 125; grep -q even "$TELLTALE_OUTPUT" && exit 1; test "$TELLTALE_STATUS" = 3')
        self.assertEqual([(row["label"], row["rule"]) for row in table(study)],
                         [("passed", "command"), ("skipped", "command"), ("passed", "command"), ("failed", "command")])
        done = telltale("run", "--study", self.study("t"), "--times", 2, "--label", "no-such-command-at-all", "--", self.failing, "status", 0)
        self.assertEqual(done.returncode, 3)
        self.assertIn("labels runs could not be run", done.stderr)

    def test_a_reference_labels(self):
        program = self.folder / "reference.sh"
        program.write_text('#!/bin/sh\n[ "$2" = 4 ] && kill -9 $$\n[ "$2" = 3 ] && exit 3\necho even\n')
        program.chmod(0o755)
        study = self.study("program")
        self.record(study, "--times", 5, "--jobs", 2, "--reference", program)
        rows = {row["run"]: (row["label"], row["rule"]) for row in table(study)}
        self.assertEqual(rows, {"1": ("failed", "output"), "2": ("passed", "output"), "3": ("passed", "output"),
                                "4": ("skipped", "reference"), "5": ("failed", "output")})
        for number, text in ((1, "even\n"), (2, "even\n"), (3, "")):
            (self.folder / f"expected.{number}").write_text(text)
        study = self.study("file")
        self.record(study, "--times", 3, "--reference", self.folder / "expected.{}", mode="output")
        self.assertEqual([row["label"] for row in table(study)], ["failed", "passed", "failed"])

    def test_what_cannot_be_is_refused(self):
        done = telltale("run", "--times", 3, "--", self.failing)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--study", done.stderr)
        for words in (["--xray"], ["--overhead", 2], ["-o", "x.xray"], ["--function", "f"]):
            done = telltale("run", "--study", self.study("r"), *words, "--", self.failing, "status", 0)
            self.assertEqual(done.returncode, 2)
            self.assertIn("no meaning with it", done.stderr)
            self.assertFalse(self.study("r").exists())
        done = telltale("run", "--study", self.study("a"), "--", "/bin/true")
        self.assertEqual(done.returncode, 3)
        self.assertIn("has no sites", done.stderr)
        done = telltale("run", "--study", self.study("b"), "--", "no-such-program")
        self.assertIn("no-such-program", done.stderr)
        done = telltale("run", "--study", self.folder, "--", self.failing)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is not a study", done.stderr)
        done = telltale("run", "--study", self.study("c"), "--timeout", "soon", "--", self.failing)
        self.assertEqual(done.returncode, 2)

    def test_a_script_starts_the_program(self):
        study = self.study("s")
        done = telltale("run", "--study", study, "--times", 2, "--program", self.failing, "--", "sh", "-c", f"{self.failing} status $TELLTALE_RUN; exit $?")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([row["label"] for row in table(study)], ["failed", "passed"])
        self.assertEqual(json.loads(telltale("isolate", study, "--json").stdout)["runs"]["failing"], 1)

    def test_a_report_of_an_interrupted_run_is_not_taken_for_a_later_one(self):
        study = self.study("s")
        self.record(study, "--times", 2)
        shutil.copy(study / "reports/1.report", study / "reports/3.report")
        done = telltale("run", "--study", study, "--program", self.failing, "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(telltale("isolate", study, "--json").stdout)["runs"]["without_report"], 1)

    def test_an_interrupt_ends_the_runs_and_keeps_those_that_are_done(self):
        study = self.study("s")
        process = subprocess.Popen([TELLTALE, "run", "--study", study, "--times", "1000000", "--", self.failing, "output", "0"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            if (study / "reports/20.report").exists():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)
        rows = table(study)
        self.assertGreaterEqual(len(rows), 19)
        self.assertEqual({row["label"] for row in rows}, {"passed"})


class StudyVerbTest(Studies):
    def test_info_counts(self):
        study = self.study("s")
        self.record(study, "--times", 3)
        (study / "reports/2.report").write_text("")
        (row,) = json.loads(telltale("study", "info", study, "--json").stdout)["rows"]
        self.assertEqual({key: row[key] for key in row if key != "build"},
                         {"runs": 3, "failed": 2, "passed": 1, "skipped": 0, "without_report": 1})
        self.assertIn(row["build"], telltale("study", "info", study).stdout)

    def test_merged_studies_answer_like_one(self):
        one, two, all_runs, merged = (self.study(name) for name in ("one", "two", "all", "merged"))
        self.record(one, "--times", 6)
        self.record(two, "--times", 5)
        done = telltale("study", "merge", one, two, "-o", merged)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([row["run"] for row in table(merged)], [str(number) for number in range(1, 12)])
        answers = [telltale("isolate", *studies, "--json").stdout for studies in ([merged], [one, two])]
        self.assertEqual(json.loads(answers[0])["rows"], json.loads(answers[1])["rows"])
        self.assertEqual(json.loads(answers[0])["runs"]["failing"], 6)
        self.assertEqual(telltale("study", "merge", one, "-o", one).returncode, 2)
        self.assertEqual(telltale("study", "merge", one).returncode, 2)

    def test_runs_are_labelled_anew(self):
        study = self.study("s")
        self.record(study, "--times", 4)
        done = telltale("study", "relabel", study, "--label", 'test "$TELLTALE_STATUS" = 0 && grep -q "<report" "$TELLTALE_REPORT" && exit 1; exit 0')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 of 4", done.stderr)
        self.assertEqual([(row["label"], row["rule"]) for row in table(study)], [("passed", "command"), ("failed", "command")] * 2)
        telltale("study", "relabel", study)
        self.assertEqual([(row["label"], row["rule"]) for row in table(study)], [("failed", "status"), ("passed", "status")] * 2)

    def test_a_torn_list_of_runs(self):
        study = self.study("s")
        self.record(study, "--times", 3)
        runs = study / "runs.tsv"
        runs.write_bytes(runs.read_bytes()[:-10])
        done = telltale("study", "info", study, "--json")
        document = json.loads(done.stdout)
        self.assertEqual(document["rows"][0]["runs"], 2)
        self.assertEqual(document["problems"][0]["kind"], "torn tail")
        self.assertEqual(telltale("isolate", study, "--strict").returncode, 4)
        # Later runs do not suffer from it.
        self.assertIn("removed the torn last row", self.record(study, "--times", 2).stderr)
        self.assertEqual([row["run"] for row in table(study)], ["1", "2", "3", "4"])
        self.assertEqual(telltale("isolate", study, "--strict").returncode, 0)


class IsolateTest(Studies):
    """On a program of 500 lines with two bugs; one corrupts memory and often does no harm."""

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
            self.assertTrue(pathlib.Path(row["report"]).is_file())
        (source,) = data["sources"]
        self.assertEqual((source["file"], "\n".join(source["lines"]) + "\n"), ("stock.c", STOCK.read_text()))
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
        (line,) = done.stderr.splitlines()
        self.assertRegex(line, r"gate: new predictor: .*(room_left < 0 in audit|used > room in merge_tags)")
        done = telltale("isolate", study, "--build", old, "--gate", self.studies[1])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(telltale("isolate", study, "--gate", "no-such-build").returncode, 2)

    def test_timestamps_order_equal_scores(self):
        """The consequence comes first in the source, and later in time."""
        source = self.folder / "timed.c"
        source.write_text("""\
#include <stdlib.h>
static int consequence(int n) { if (n > 5) abort(); return n; }
static int cause(int n) { if (n % 3 == 0) return 9; return 1; }
int main(int argc, char **argv) { return consequence(cause(atoi(argv[argc - 1]))) - 1; }
""")
        found = {}
        for flag in ("-ftimestamp-first", "-fno-timestamp-first"):
            program = build(self.folder / "timed", RELEASES[-1], "-O1", flag, "-fsampler-scheme=branches", source)
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
                      ["--failed", self.studies[1] / "reports/1.report"], [self.folder / "failing.c"]):
            done = telltale("isolate", *words)
            self.assertIn(done.returncode, (2, 3), words)
            self.assertTrue(done.stderr.startswith("telltale: "), done.stderr)


class IsolateCallsTest(unittest.TestCase):
    """Runs that left recordings of calls: the same engine."""
    NAMES = ["main", "work", "rare", "slow", "always"]

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-isolate-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.map = cls.folder / "map.yaml"
        cls.map.write_text("---\n" + "".join(
            f"- {{ id: {number}, address: {number * 4096:#x}, function: {number * 4096:#x}, kind: function-enter, always-instrument: true, "
            f'function-name: "{name}", version: 2 }}\n' for number, name in enumerate(cls.NAMES, 1)) + "...\n")

    def write(self, path, calls):
        """A trace of main that makes these calls, (name, duration in ticks of 1 ns); a crash leaves main open."""
        events, now = [(1, "enter", 1000)], 2000
        for name, duration in calls:
            number = self.NAMES.index(name) + 1
            events += [(number, "enter", now), (number, "exit", now + duration)]
            now += duration + 10
        path.parent.mkdir(exist_ok=True)
        path.write_text("---\nheader:\n  version: 5\n  type: 1\n  constant-tsc: true\n  nonstop-tsc: true\n  cycle-frequency: 1000000000\n"
                        "records:\n" + "".join(f"  - {{ type: 0, func-id: {number}, function: '{number}', cpu: 0, thread: 1, process: 1, "
                                               f"kind: function-{kind}, tsc: {time}, data: '' }}\n" for number, kind, time in events) + "...\n")

    def isolate(self, name, runs, *words):
        """Rows and runs of an answer about (failed, calls) of each run."""
        for number, (failed, calls) in enumerate(runs):
            self.write(self.folder / f"{name}-{'failed' if failed else 'passed'}" / f"{number}.yaml", calls)
        done = telltale("isolate", "--failed", self.folder / f"{name}-failed", "--passed", self.folder / f"{name}-passed", "--program", self.map,
                        "--json", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_a_function_that_failing_runs_call(self):
        document = self.isolate("rare", [(i % 4 == 0, [("always", 5), ("work", 5)] + [("rare", 5)] * (i % 4 == 0)) for i in range(40)])
        self.assertEqual(document["runs"]["failing"], 10)
        (row,) = document["rows"]
        self.assertEqual((row["predicate"], row["scheme"], row["function"]), ("rare called", "calls", "rare"))
        self.assertEqual([row[key] for key in ("true_in_failing", "true_in_successful", "observed_in_failing", "observed_in_successful")], [10, 0, 10, 30])
        self.assertEqual(row["same"], [])

    def test_a_number_of_calls_that_separates(self):
        document = self.isolate("often", [(i % 5 == 0, [("always", 5)] + [("work", 5)] * (20 + i if i % 5 == 0 else i % 19)) for i in range(50)])
        (row,) = document["rows"]
        self.assertEqual((row["predicate"], row["scheme"]), ("work called more than 18 times", "call-counts"))
        self.assertEqual((row["true_in_failing"], row["observed_in_successful"]), (10, 40))

    def test_a_duration_that_separates(self):
        document = self.isolate("slow", [(i % 5 == 0, [("always", 5), ("slow", 900 + i if i % 5 == 0 else 100 + i)]) for i in range(50)])
        (row,) = document["rows"]
        self.assertEqual((row["predicate"], row["scheme"]), ("a call of slow took longer than 149 ns", "call-times"))

    def test_recordings_that_cannot_be_read_are_counted(self):
        runs = [(i % 2 == 0, [("rare", 5)] * (i % 2 == 0)) for i in range(20)]
        wanted = self.isolate("torn", runs)
        (self.folder / "torn-failed/99.yaml").write_text("nothing known")
        done = telltale("isolate", "--failed", self.folder / "torn-failed", "--passed", self.folder / "torn-passed", "--program", self.map, "--json")
        document = json.loads(done.stdout)
        self.assertEqual(document["runs"]["without_report"], 1)
        self.assertEqual(document["rows"], wanted["rows"])
        self.assertIn("99.yaml", done.stderr)

    def test_the_number_of_threads_does_not_matter(self):
        runs = [(i % 7 == 0, [("work", i)] * (i % 5) + [("rare", 3)] * (i % 7 == 0)) for i in range(1, 60)]
        self.assertEqual(self.isolate("jobs", runs, "--jobs", 1, "--all"), self.isolate("jobs", runs, "--jobs", 5, "--all"))


MERGE_LINE = next(str(number) for number, line in enumerate(STOCK.read_text().splitlines(), 1) if "used = used + 1;" in line)

if __name__ == "__main__":
    unittest.main()
