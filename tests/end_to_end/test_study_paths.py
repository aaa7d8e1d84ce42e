"""`telltale run --study` of programs with path tracing: their files are collected and isolated without further steps."""
import json
import pathlib
import shutil
import unittest

from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run
from study_case import table, telltale

SOURCE = SOURCE_DIR / "tests/programs/csi/graded.c"
CRASHING = SOURCE_DIR / "tests/programs/csi/crash_ways.c"
TEXT = SOURCE.read_text().splitlines()


def line(text):
    (number,) = [number for number, each in enumerate(TEXT, 1) if text in each]
    return number


class StudyPaths(SamplerCase):
    def setUp(self):
        super().setUp()
        # Both outcomes have grade() on the stack; runs of mode 7 fail, on a path that others do not take.
        self.wrong = f"{line('if (i % 3 == 0)')} {line('mode == 7')} {line('total -= 100')}"

    def program(self, name, *words, source=SOURCE):
        return build(self.path(name), RELEASES[-1], "-silent", "-O0", "-pthread", *words, source)

    def record(self, study, program, *words):
        """Runs of modes 7 and 11, each with 5 to 8 turns; status 3 of mode 11 passes."""
        script = f'{program} $((5 + $TELLTALE_RUN / 2 % 4)) $((7 + 4 * ($TELLTALE_RUN % 2)))'
        done = telltale("run", "-q", "--study", study, "--times", 8, "--label", 'test "$TELLTALE_STATUS" = 3', *words,
                        "--program", program, "--", "sh", "-c", script)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([row["label"] for row in table(study)], ["passed", "failed"] * 4)

    def isolate(self, *words, complaint=r"\Z"):
        done = telltale("isolate", "--json", *words)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\A" + complaint)
        return json.loads(done.stdout)

    def predicates(self, document):
        return {each["predicate"]: row for row in document["rows"] for each in [row, *row["same"]]}

    def check_wrong_path(self, document):
        self.assertEqual((document["runs"]["failing"], document["runs"]["successful"]), (4, 4))
        found = self.predicates(document)
        (row,) = {id(row): row for text, row in found.items() if text.startswith("grade took path") and self.wrong in text}.values()
        counts = [row[key] for key in ("true_in_failing", "true_in_successful", "observed_in_failing", "observed_in_successful")]
        self.assertEqual(counts, [4, 0, 4, 4])
        return found

    def test_a_program_with_path_tracing_alone(self):
        program = self.program("graded", "--trace=pt.schema")
        study = self.path("study")
        self.record(study, program)
        self.assertEqual(sorted(path.name for path in (study / "paths").iterdir()), [f"{run}.core" for run in range(1, 9)])
        self.assertEqual(list((study / "sites").iterdir()), [])
        self.assertRegex(table(study)[0]["build"], r"^[0-9a-f]{16,}$")
        document = self.isolate(study)
        self.check_wrong_path(document)
        self.assertEqual(document["runs"]["without_report"], 0)
        # The stacks are those of the core files.
        (cluster,) = document["clusters"]
        self.assertEqual((cluster["runs"], cluster["stack"]), (4, "fail < grade < main"))
        self.assertIn("0\n", telltale("study", "info", study).stdout)
        # A merged study has the files, too.
        merged = self.path("merged")
        self.assertEqual(telltale("study", "merge", study, "-o", merged).returncode, 0)
        self.assertEqual(self.isolate(merged)["rows"], document["rows"])

    def test_libraries_of_the_system_have_no_lines(self):
        # Also where their debug information is installed; decompressing it takes longer than all the rest.
        study = self.path("study")
        telltale("run", "-q", "--study", study, "--", self.program("crash", "--trace=pt.schema", source=CRASHING), "abort")
        head, *rows = [line.split("\t") for line in (study / "stacks.tsv").read_text().splitlines()[1:]]
        frames = [dict(zip(head, row)) for row in rows]
        of_system = [frame for frame in frames if "libc.so" in frame["module"]]
        self.assertIn("abort", {frame["function"].removeprefix("__GI_") for frame in of_system})
        self.assertEqual({(frame["file"], frame["line"]) for frame in of_system}, {("", "0")})
        self.assertIn(("main", "crash_ways.c"), {(frame["function"], pathlib.Path(frame["file"]).name) for frame in frames})

    def test_a_script_that_starts_several_programs(self):
        """What is kept shows how the run ended: a crash if it failed, whichever program crashed, and a call of exit() if not."""
        crash = self.program("crash", "--trace=pt.schema", source=CRASHING)
        passes = self.program("graded", "--trace=pt.schema")
        for status, function in ((1, "abort"), (0, "exit")):
            for programs in ((f"{crash} abort", f"{passes} 5 11"), (f"{passes} 5 11", f"{crash} abort")):
                study = self.path("study")
                done = telltale("run", "-q", "--study", study, "--program", crash, "--program", passes, "--", "sh", "-c",
                                f"{'; '.join(programs)}; exit {status}")
                self.assertEqual(done.returncode, status)
                (core,) = (study / "paths").iterdir()
                self.assertEqual(core.name, "1.core")
                shown = json.loads(telltale("paths", core, "--json").stdout)
                functions = {frame["function"].removeprefix("__GI_") for frame in shown["threads"][0]["frames"]}
                self.assertIn(function, functions)
                shutil.rmtree(study)

    def test_sites_and_paths_are_ranked_together(self):
        program = self.program("graded", "--trace=pt.schema", "-fsampler-scheme=branches")
        study = self.path("study")
        self.record(study, program)
        wrong = f"grade ran line {line('total -= 100')} in a call on the stack"
        document = self.isolate(study)
        self.assertEqual((document["runs"]["failing"], document["runs"]["successful"]), (4, 4))
        (row,) = document["rows"]
        self.assertLessEqual({"mode == 7 is TRUE", wrong}, {each["predicate"] for each in [row, *row["same"]]})
        # A run of which one kind is missing still counts by the other.
        (study / "paths/2.core").unlink()
        (study / "reports/4.report").unlink()
        document = self.isolate(study, complaint=r"telltale: .*4\.report: .*\n\Z")
        self.assertEqual((document["runs"]["failing"], document["runs"]["without_report"]), (4, 0))
        # Without the files of paths, what the reports say is left; without both, nothing.
        for path in (study / "paths").iterdir():
            path.unlink()
        document = self.isolate(study, complaint=r"telltale: 1 failed run left no report .*\ntelltale: .*4\.report: .*\n\Z")
        self.assertEqual((document["runs"]["failing"], document["runs"]["without_report"]), (3, 1))
        self.assertNotIn(wrong, self.predicates(document))
        self.assertIn("mode == 7 is TRUE", self.predicates(document))

    def test_checkouts_have_the_same_names_of_files(self):
        studies = []
        for name in ("one", "two"):
            folder = self.path(name)
            folder.mkdir()
            shutil.copy(SOURCE, folder)
            program = build(folder / "graded", RELEASES[-1], "-silent", "-O0", "-pthread", "--trace=all.schema", "-fsampler-scheme=branches",
                            "-frelative-paths", SOURCE.name, cwd=folder)
            studies.append(folder / "study")
            self.record(studies[-1], program)
        one, two = (self.isolate(study, "--filter", "none", "--all")["rows"] for study in studies)
        self.assertEqual(two, one)
        self.assertLessEqual({"branches", "paths", "last-path", "lines", "lines-of-call"}, {row["scheme"] for row in one})
        self.assertEqual({row["file"] for row in one if row["line"] != 0}, {SOURCE.name})
        done = telltale("isolate", studies[1], "--gate", studies[0])
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_crash_and_builds_of_which_one_is_gone(self):
        study = self.path("study")
        program = self.program("ways", "--trace=all.schema", source=CRASHING)
        kept = self.path("kept")
        kept.write_bytes(program.read_bytes())
        for mode in ("fault", "none", "abort"):
            telltale("run", "-q", "--study", study, "--", program, mode)
        self.assertEqual([row["label"] for row in table(study)], ["failed", "passed", "failed"])
        self.assertEqual({path.name for path in (study / "paths").iterdir()}, {"1.core", "2.core", "3.core"})
        first = self.isolate(study)
        self.assertEqual({cluster["ending"] for cluster in first["clusters"]}, {"SIGSEGV", "SIGABRT"})
        # Another build takes the program's place.
        self.program("ways", "--trace=all.schema", "-DANOTHER=1", "-fno-omit-frame-pointer", "-O1", source=CRASHING)
        telltale("run", "-q", "--study", study, "--", program, "fault")
        again = self.isolate(study, "--program", kept, "--program", program, "--build", table(study)[0]["build"])
        self.assertEqual(again["rows"], first["rows"])
        self.assertEqual(self.isolate(study, "--program", kept)["runs"]["failing"], 3)

    def test_a_stripped_program_is_traced_by_its_debug_file(self):
        program = self.program("graded", "--trace=pt.schema")
        debug = self.path("graded.debug")
        run("objcopy", "--only-keep-debug", program, debug)
        run("strip", "-g", program)
        done = telltale("run", "--study", self.path("study"), "--", program, 5, 7)
        self.assertEqual(done.returncode, 3)
        self.assertIn("has no sites", done.stderr)
        for words in (["--", program, 5, 7], ["--label", "exit 0", "--", program, 5, 11]):
            telltale("run", "-q", "--study", self.path("study"), "--times", 4, "--program", debug, *words)
        document = self.isolate(self.path("study"), "--program", debug)
        self.assertTrue(any(self.wrong in text for text in self.predicates(document)), document)


if __name__ == "__main__":
    unittest.main()
