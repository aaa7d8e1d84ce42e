"""`telltale study fuzz`: folders of fuzzers as studies, with a corpus that libFuzzer makes during the test."""
import json
import shutil
import subprocess
import unittest

from program_text import program_text
from sampler_programs import RELEASES, build
from study_case import SCHEMES, StudyCase, table, telltale

# Two bugs with stacks of their own; most inputs are refused with status 1.
TARGET = program_text("study/cases/fuzz_target.c")


class StudyFuzzTest(StudyCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.source = cls.folder / "target.c"
        cls.source.write_text(TARGET)
        cls.target = build(cls.folder / "target", RELEASES[-1], "-g", "-O1", "-DSTANDALONE", *SCHEMES, cls.source)
        cls.corpus, cls.crashes = cls.folder / "corpus", cls.folder / "found"
        cls.corpus.mkdir()
        cls.crashes.mkdir()
        (cls.corpus / "seed").write_bytes(b"d/5+((1))")
        fuzzer = cls.folder / "fuzzer"
        subprocess.run([f"clang-{RELEASES[0]}", "-g", "-O1", "-fsanitize=fuzzer", cls.source, "-o", fuzzer], check=True)
        # A run of libFuzzer ends at its first crash; each begins with another seed.
        for seed in range(1, 9):
            subprocess.run([fuzzer, cls.corpus, f"-seed={seed}", "-runs=200000", "-max_len=64", f"-artifact_prefix={cls.crashes}/"],
                           cwd=cls.folder, capture_output=True, timeout=300)

    def fuzz(self, *words, status=0):
        done = telltale("study", "fuzz", *words)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def clusters(self, study):
        return json.loads(telltale("study", "info", study, "--json").stdout)["clusters"]

    def test_libfuzzers_corpus_and_crashes(self):
        self.assertTrue(list(self.crashes.glob("crash-*")), "libFuzzer found no bug")
        study = self.study("s")
        done = self.fuzz(self.corpus, "--inputs", self.crashes, "--mutations", 200, "--minimize", "--seed", 1, "-o", study, "--",
                         self.target, "@@")
        found = {one["ending"]: one for one in self.clusters(study)}
        self.assertEqual({ending: one["stack"] for ending, one in found.items()},
                         {"SIGSEGV": "store < LLVMFuzzerTestOneInput < main", "SIGFPE": "divide < LLVMFuzzerTestOneInput < main"})
        # Exit status 1 is no failure; the table names the cause of each.
        statuses = {row["status"]: row["label"] for row in table(study) if row["status"]}
        self.assertEqual(statuses, {"0": "passed", "1": "passed"})
        rows = {line.split()[2]: line for line in done.stdout.splitlines()[1:]}
        self.assertIn("nested", rows["SIGSEGV"])
        self.assertRegex(rows["SIGFPE"], r"\bby\b")
        # The smallest inputs, found by removing bytes, still end in the same cluster.
        smallest = {ending: (study / "minimized" / one["cluster"]).read_bytes() for ending, one in found.items()}
        self.assertEqual(smallest["SIGSEGV"], b"((((")
        self.assertEqual(smallest["SIGFPE"][:3], b"d/0")
        self.assertEqual(len(smallest["SIGFPE"]), 4)
        # Each run has its input.
        for row in table(study):
            path = study / "inputs" / row["run"]
            self.assertTrue(path.is_file())
            self.assertIn(str(path), row["command"])

    def test_a_program_with_path_tracing_alone(self):
        program = build(self.folder / "traced", RELEASES[-1], "-O1", "-DSTANDALONE", "--trace=pt.schema", "-silent", self.source)
        study = self.study("traced")
        done = self.fuzz(self.corpus, "--inputs", self.crashes, "--mutations", 60, "--minimize", "--seed", 1, "-o", study, "--", program, "@@")
        # Stacks are those of the core files, of minimized inputs, too.
        found = {one["ending"]: one for one in self.clusters(study)}
        self.assertEqual(found["SIGSEGV"]["stack"], "store < LLVMFuzzerTestOneInput < main")
        self.assertEqual((study / "minimized" / found["SIGSEGV"]["cluster"]).read_bytes(), b"((((")
        rows = table(study)
        failed = {row["run"] for row in rows if row["signal"]}
        self.assertGreater(len(failed), 10)
        self.assertLessEqual(failed, {path.stem for path in (study / "paths").iterdir()})
        # The table of clusters names a path or a line, and isolate ranks them.
        self.assertRegex(done.stdout, r"SIGSEGV .*\b(took path|followed path|ran line)\b")
        document = json.loads(telltale("isolate", "--json", study, "--cluster", found["SIGSEGV"]["cluster"],
                                        "--score", "balanced-accuracy", "--filter", "none").stdout)
        self.assertRegex(document["rows"][0]["predicate"], r"\b(took path|followed path|ran line)\b")
        self.assertEqual(telltale("check", study).returncode, 0)

    def test_mutations_with_one_seed_are_the_same(self):
        inputs = []
        for name in ("a", "b"):
            study = self.study(name)
            self.fuzz(self.crashes, "--mutations", 40, "--seed", 7, "-q", "-o", study, "--", self.target, "@@")
            inputs.append({path.name: path.read_bytes() for path in (study / "inputs").iterdir()})
        self.assertEqual(inputs[0], inputs[1])
        self.assertGreater(len(inputs[0]), 40)
        self.assertEqual(len(set(inputs[0].values())), len(inputs[0]), "no input is run twice")

    def test_mutations_do_not_depend_on_which_run_fails_first(self):
        # The first input fails last.
        source = self.folder / "slow_first.c"
        source.write_text(program_text("study/cases/slow_first.c"))
        program = build(self.folder / "slow_first", RELEASES[-1], *SCHEMES, source)
        inputs = self.folder / "ordered"
        inputs.mkdir()
        for word in "abcd":
            (inputs / word).write_text(word + "\n")
        made = []
        for jobs in (1, 2):
            study = self.study(str(jobs))
            self.fuzz(inputs, "--jobs", jobs, "--mutations", 40, "--seed", 1, "-q", "-o", study, "--", program, "@@")
            made.append({path.name: path.read_bytes() for path in (study / "inputs").iterdir()})
        self.assertEqual(*made)

    def afl(self, name, *instances):
        folder = self.study(name)
        for i, instance in enumerate(instances):
            base = folder / instance
            for kind in ("queue/.state", "crashes", "hangs"):
                (base / kind).mkdir(parents=True)
            (base / "queue/id:000000,orig:seed").write_bytes(b"seed %d" % i)
            (base / "queue/.state/skipped").write_bytes(b"((((")
            (base / "crashes/README.txt").write_bytes(b"(((( is in no run")
            (base / "crashes/id:000000,sig:08").write_bytes(b"d/0%d" % i)
            (base / "fuzzer_stats").write_bytes(b"((((((")
        return folder

    def test_afl_folders(self):
        for instances in (("",), ("main", "second")):
            folder = self.afl(f"out{len(instances)}", *instances)
            study = self.study(f"study{len(instances)}")
            self.fuzz(folder, "-o", study, "--", self.target, "@@")
            runs = table(study)
            self.assertEqual(sorted(row["label"] for row in runs), sorted(["failed", "passed"] * len(instances)))
            self.assertEqual({row["signal"] for row in runs}, {"", "SIGFPE"})

    def test_honggfuzz_files_and_standard_input(self):
        folder = self.study("workspace")
        folder.mkdir()
        (folder / "HONGGFUZZ.REPORT.TXT").write_bytes(b"((((")
        (folder / "SIGFPE.PC.5555.STACK.1.CODE.1.ADDR.5.INSTR.idiv.fuzz").write_bytes(b"d/0x")
        (folder / "0a1b.00000004.honggfuzz.cov").write_bytes(b"fine")
        (folder / "SIGSEGV.PC.1.STACK.2.CODE.1.ADDR.5.INSTR.mov.fuzz").write_bytes(b"no longer")
        study = self.study("s")
        done = self.fuzz(folder, "-o", study, "--", self.target)
        self.assertIn("1 of 2 inputs that the fuzzer kept as crashes or hangs did not fail", done.stderr)
        self.assertEqual(sorted(row["label"] for row in table(study)), ["failed", "passed", "passed"])
        self.assertTrue(all(" <" in row["command"] for row in table(study)))

    def test_repetitions_and_large_inputs_are_told(self):
        folder = self.study("corpus")
        folder.mkdir()
        (folder / "a").write_bytes(b"same")
        (folder / "b").write_bytes(b"same")
        (folder / "c").write_bytes(bytes((1 << 20) + 1))
        done = self.fuzz(folder, "-o", self.study("s"), "--", self.target, "@@")
        self.assertIn("3 inputs: 0 failed, 1 were repetitions, 1 of more than 1048576 bytes left out", done.stderr)
        self.assertIn("no input failed", done.stderr)

    def test_a_command_labels(self):
        folder = self.study("corpus")
        folder.mkdir()
        (folder / "a").write_bytes(b"odd")
        (folder / "b").write_bytes(b"even")
        study = self.study("s")
        self.fuzz(folder, "-o", study, "--label", 'test "$TELLTALE_STATUS" = 0', "--", self.target, "@@")
        self.assertEqual([(row["label"], row["rule"]) for row in table(study)], [("failed", "command"), ("passed", "command")])

    def test_the_study_is_beside_the_folder_by_default(self):
        folder = self.study("corpus")
        folder.mkdir()
        (folder / "a").write_bytes(b"fine")
        self.addCleanup(shutil.rmtree, f"{folder}.study")
        self.fuzz(f"{folder}/", "--", self.target, "@@")
        self.assertEqual(len(table(f"{folder}.study")), 1)

    def test_wrong_requests(self):
        empty = self.study("empty")
        empty.mkdir()
        for words, status, message in (((empty, "-o", self.study("a"), "--", self.target, "@@"), 2, "contains no input"),
                                       ((self.corpus, "-o", self.study("b")), 2, "needs a program"),
                                       ((self.study("nowhere"), "-o", self.study("c"), "--", self.target), 3, "cannot be read"),
                                       ((self.corpus, "-o", self.study("d"), "--", "/bin/true", "@@"), 3, "has no sites"),
                                       ((self.corpus, "-o", self.study("e"), "--", "./nothing"), 127, "cannot be run")):
            done = telltale("study", "fuzz", *words)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.returncode, status, done.stderr)


if __name__ == "__main__":
    unittest.main()
