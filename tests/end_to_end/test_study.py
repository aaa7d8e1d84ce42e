"""`telltale run --study` and `telltale study`, on a program that fails as it is told."""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from sampler_programs import RELEASES, SOURCE_DIR, build
from study_case import PROGRAMS, SCHEMES, TELLTALE, StudyCase, table, telltale


class RunStudyTest(StudyCase):
    def test_outcomes_are_kept(self):
        for mode, rule, status, name in (("status", "status", "3", ""), ("signal", "signal", "", "SIGABRT")):
            study = self.study(mode)
            done = self.record(study, "--times", 4, "--seed", 7, "--sparsity", 3, "--release", "1.4 beta", mode=mode)
            self.assertEqual(done.stdout, "even\neven\n")
            self.assertIn("4 runs: 2 failed, 2 passed", done.stderr)
            rows = table(study)
            self.assertEqual([row["run"] for row in rows], ["1", "2", "3", "4"])
            self.assertEqual([row["label"] for row in rows], ["failed", "passed"] * 2)
            self.assertEqual((rows[0]["rule"], rows[0]["status"], rows[0]["signal"]), (rule, status, name))
            self.assertEqual((rows[1]["rule"], rows[1]["status"], rows[1]["signal"]), ("status", "0", ""))
            self.assertEqual([row["seed"] for row in rows], ["7", "8", "9", "10"])
            self.assertEqual({(row["sparsity"], row["version"]) for row in rows}, {("3", "1.4 beta")})
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
            self.assertIn("no meaning with them", done.stderr)
            self.assertFalse(self.study("r").exists())
        done = telltale("run", "--study", self.study("a"), "--", "/bin/true")
        self.assertEqual(done.returncode, 3)
        self.assertIn("has no sites", done.stderr)
        done = telltale("run", "--study", self.study("b"), "--", "no-such-program")
        self.assertIn("no-such-program", done.stderr)
        done = telltale("run", "--study", self.study("b"), "--", "/etc/passwd")
        self.assertIn("/etc/passwd: cannot be run: Permission denied", done.stderr)
        done = telltale("run", "--study", "--", self.failing)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--study needs a folder, but got --", done.stderr)
        self.assertFalse(self.study("--").exists())
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

    def test_a_library_and_the_program_that_loads_it(self):
        cases, library = PROGRAMS / "cases", self.folder / "libchecked.so"
        build(library, RELEASES[-1], "-g", "-O0", "-shared", "-fPIC", *SCHEMES, cases / "library.c")
        program = build(self.folder / "uses_library", RELEASES[-1], "-g", "-O0", *SCHEMES, cases / "uses_library.c", library, f"-Wl,-rpath,{self.folder}",
                        "-Wl,--build-id")
        notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
        for name, named in (("one", [library]), ("both", [library, program])):
            with self.subTest(name):
                study = self.study(name)
                done = telltale("run", "-q", "--study", study, "--times", 6, *(word for file in named for word in ("--program", file)), "--", program, "{}")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(table(study)[0]["build"], re.search(r"Build ID: (\w+)", notes)[1])
                done = telltale("isolate", study, "--all", "--filter", "none", "--json")
                self.assertNotIn("no given program", done.stderr)
                document = json.loads(done.stdout)
                self.assertTrue({"checked", "use"} <= {each["function"] for row in document["rows"] for each in (row, *row["same"])})
                self.assertEqual([one["stack"] for one in document["clusters"]], ["checked < use < main"])
                self.assertIsNone(document["builds"], "the library is no other build")
        # The same statements at other places, in both files.
        changed = self.folder / "changed"
        changed.mkdir()
        for name in ("library.c", "uses_library.c"):
            (changed / name).write_text("\n" + (cases / name).read_text())
        flags = ("-g", "-O0", "-frelative-paths", *SCHEMES)
        study = self.study("builds")
        counted = []
        for sources in (cases, changed):
            build(library, RELEASES[-1], *flags, "-shared", "-fPIC", "library.c", cwd=sources)
            build(program, RELEASES[-1], *flags, "uses_library.c", library, f"-Wl,-rpath,{self.folder}", "-Wl,--build-id", cwd=sources)
            done = telltale("run", "-q", "--study", study, "--times", 6, "--program", library, "--", program, "{}")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = telltale("isolate", study, "--all", "--filter", "none", "--json")
            counted.append(json.loads(done.stdout)["builds"])
        self.assertEqual(len(list((study / "sites").glob("*.libchecked.so.sites"))), 2)
        self.assertIsNone(counted[0])
        self.assertEqual((counted[1]["builds"], counted[1]["sites_unmatched"]), (2, 0))
        self.assertEqual(counted[1]["sites_moved"], counted[1]["sites_matched"])

    def test_programs_that_a_script_starts_one_after_the_other_share_a_report(self):
        study = self.study("s")
        script = f"cd /; {self.failing} status 1; {self.failing} status 2; {self.failing} output 4"
        for jobs in (1, 2):
            done = telltale("run", "--study", study.name, "--times", 2, "--jobs", jobs, "--program", self.failing, "--", "sh", "-c", script,
                            cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        expected = ""
        for words in (("status", "1"), ("status", "2"), ("output", "4")):
            alone = self.folder / "alone.report"
            subprocess.run([self.failing, *words], env={"SAMPLER_FILE": str(alone), "SAMPLER_SPARSITY": "1"}, capture_output=True)
            expected += alone.read_text()
        self.assertEqual(len(table(study)), 4)
        for run in range(1, 5):
            self.assertEqual((study / f"reports/{run}.report").read_text(), expected)

    def test_a_program_that_is_built_again_meanwhile(self):
        program, other = self.folder / "built-again", self.folder / "built-again-new"
        build(program, RELEASES[-1], "-g", "-O0", *SCHEMES, PROGRAMS / "failing.c")
        build(other, RELEASES[-1], "-g", "-O1", *SCHEMES, PROGRAMS / "failing.c")
        study = self.study("study")
        label = f"[ $TELLTALE_RUN != 3 ] || mv {other} {program}; [ -n \"$TELLTALE_STATUS\" ]"
        done = telltale("run", "-q", "--study", study, "--times", 6, "--label", label, "--", program, "signal", "{}")
        self.assertEqual(done.returncode, 0)
        builds = [row["build"] for row in table(study)]
        self.assertEqual(builds, [builds[0]] * 3 + [builds[-1]] * 3)
        self.assertNotEqual(builds[-1], builds[0])
        self.assertEqual(done.stderr, f"telltale: {program} changed: as of run 4, runs are of build {builds[-1]}\n")
        self.assertEqual({path.stem for path in (study / "sites").iterdir()}, set(builds))
        answer = telltale("isolate", study, "--json")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertEqual(json.loads(answer.stdout)["runs"]["failing"], 3)
        # The program of run 3 was gone when its stack was to be read.
        with open(study / "stacks.tsv") as file:
            stacks = [line.split("\t") for line in file.read().splitlines()[2:]]
        self.assertEqual({row[0] for row in stacks}, {"1", "5"})

    def test_they_are_sampled_at_different_places(self):
        program = build(self.folder / "often", RELEASES[-1], "-fsampler-scheme=branches", "-O1", SOURCE_DIR / "tests/programs/sampler/often.c")
        reports = []
        for _ in range(2):
            report = self.folder / "shared.report"
            environment = {"SAMPLER_FILE": str(report), "SAMPLER_APPEND": "1", "SAMPLER_SPARSITY": "50", "SAMPLER_SEED": "7"}
            for _ in range(3):
                subprocess.run([program], env=environment, check=True, timeout=60)
            reports.append(report.read_text())
            report.unlink()
        self.assertEqual(reports[0], reports[1])
        subprocess.run([program], env={**environment, "SAMPLER_APPEND": ""}, check=True, timeout=60)
        alone = report.read_text()
        # The first is sampled as without the others.
        self.assertTrue(reports[0].startswith(alone))
        shown = [part.split("</report>")[0] for part in reports[0].split("<report")[1:]]
        self.assertEqual(len(set(shown)), 3, reports[0])

    def test_those_that_run_at_the_same_time_are_sampled_at_different_places(self):
        program = build(self.folder / "waits", RELEASES[-1], "-fsampler-scheme=branches", "-O1", SOURCE_DIR / "tests/programs/sampler/often_after_input.c")
        reports = []
        for _ in range(2):
            report = self.folder / "together.report"
            environment = {"SAMPLER_FILE": str(report), "SAMPLER_APPEND": "1", "SAMPLER_SPARSITY": "50", "SAMPLER_SEED": "7"}
            running = []
            for _ in range(8):
                running.append(subprocess.Popen([program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
                self.assertEqual(running[-1].stdout.read(1), b"s")  # it has started, and has its seed
            for process in running:
                process.communicate(b"x", timeout=60)
                self.assertEqual(process.returncode, 0)
            parts = [part.split("</report>")[0] for part in report.read_text().split("<report")[1:]]
            self.assertEqual((len(parts), len(set(parts))), (8, 8))
            reports.append(parts)
            report.unlink()
        self.assertEqual(reports[0], reports[1])

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

    def test_a_study_whose_output_nobody_reads_stops(self):
        """As with "| head -2": SIGPIPE ends programs that never fail."""
        for words in ((), ("--jobs", 2), ("--label", "exit $TELLTALE_STATUS")):
            study = self.study("s")
            process = subprocess.Popen([TELLTALE, "run", "--study", study, "--times", "1000000", *map(str, words), "--", self.failing, "output", "0"],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual([process.stdout.readline(), process.stdout.readline()], ["even\n", "even\n"])
            process.stdout.close()
            _, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 141)
            self.assertIn("stopped before all 1000000 runs were done, because nobody reads standard output any more", said)
            labels = collections.Counter((row["label"], row["rule"] == "pipe") for row in table(study))
            self.assertGreaterEqual(labels.pop(("passed", False)), 2)
            self.assertLessEqual(labels.pop(("skipped", True), 0), 1)
            self.assertEqual(labels, {})
            shutil.rmtree(study)

    def test_one_run_whose_output_nobody_reads_is_skipped(self):
        study = self.study("s")
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = subprocess.run([TELLTALE, "run", "--study", study, "--", self.failing, "output", "0"], stdin=subprocess.DEVNULL, stdout=write_end,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        os.close(write_end)
        self.assertEqual(done.returncode, -signal.SIGPIPE)
        self.assertEqual([(row["label"], row["rule"], row["signal"]) for row in table(study)], [("skipped", "pipe", "SIGPIPE")])


class StudyVerbTest(StudyCase):
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

    def check(self, study, *words):
        done = telltale("check", study, "--json", *words)
        row, = json.loads(done.stdout)["rows"]
        self.assertEqual(row["valid"], done.returncode == 0)
        return row, [(pathlib.Path(problem["file"]).name, problem["kind"]) for problem in json.loads(done.stdout)["problems"]]

    def test_check_reads_every_file(self):
        study = self.study("s")
        self.record(study, "--times", 6, "--sparsity", 1, mode="signal")
        row, problems = self.check(study)
        self.assertEqual((row["file"], row["format"], row["valid"], row["damaged_places"], problems), (str(study), "study", True, 0, []))
        self.assertEqual(telltale("check", study).stdout, f"{study}: valid study of 6 runs, {row['records']} records\n")
        (study / "reports/17.report").write_bytes((study / "reports/1.report").read_bytes())
        (study / "reports/2.report").write_bytes(b"")  # killed
        row, problems = self.check(study)
        self.assertEqual((row["valid"], problems), (True, [("17.report", "oddity")]))
        sites, = (study / "sites").iterdir()
        whole = {path: path.read_bytes() for path in (study / "reports/1.report", study / "reports/3.report", study / "runs.tsv", study / "stacks.tsv", sites)
                 if path.exists()}
        for path, content in whole.items():
            for damaged in (content[:-9], content.replace(b"\t", b"?"), b"another kind of file\n" + content):
                path.write_bytes(damaged)
                done = telltale("check", study)
                self.assertNotEqual(done.returncode, 0, (path, damaged[:40]))
                self.assertIn(path.name, done.stdout + done.stderr)
            path.write_bytes(content)
        self.assertEqual(self.check(study)[0]["valid"], True)
        done = telltale("check", study, self.folder / "missing")
        self.assertEqual(done.returncode, 3)
        self.assertIn("valid study", done.stdout)  # what was read before is not lost
        self.assertIn("is a study", telltale("info", study).stderr)
        self.assertIn("is a study", telltale("check", study, "--time", "0-1").stderr)

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

if __name__ == "__main__":
    unittest.main()
