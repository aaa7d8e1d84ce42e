"""diff of several runs on each side, its gate, and bench, which records them."""
import json
import os
import tempfile
import unittest

import recorded_programs
from json_schemas import validator
from run_telltale import document, run


class SeveralRunsTest(unittest.TestCase):
    def record(self, folder, name, orders, *options):
        program = recorded_programs.build("g++", *recorded_programs.CALL_FLAGS)
        path = f"{folder}/{name}.xray"
        run("run", "--quiet", "-o", path, *options, "--", program, orders)
        return path

    def test_counts_are_exact_and_times_have_an_interval(self):
        with tempfile.TemporaryDirectory() as folder:
            few = [self.record(folder, f"few{i}", 20) for i in range(3)]
            many = [self.record(folder, f"many{i}", 200) for i in range(3)]
            rows = {row["function"]: row for row in document("diff", *few, "--", *many)["functions"]}
            price = rows["shop::price(int)"]
            self.assertEqual([price[f"calls_{side}{end}"] for side in ("before", "after") for end in ("_min", "", "_max")],
                             [40] * 3 + [400] * 3)
            selfs = sorted(next(row["self_ns"] for row in document("top", path)["rows"] if row["function"] == "shop::price(int)")
                           for path in few)
            self.assertEqual([price["self_ns_before_min"], price["self_ns_before"], price["self_ns_before_max"]], selfs)
            self.assertLess(price["self_ratio_low"], price["self_ratio"])
            self.assertLess(price["self_ratio"], price["self_ratio_high"])
            gate = run("diff", *few, "--gate", "calls=10%", "--", *many, status=1)
            self.assertIn("gate: calls of shop::price(int): 40 before, 400 after", gate.stderr)
            run("diff", *few, "--", *few, "--gate", "calls=0%,self=0%,total=0%")
            run("diff", few[0], many[0], "--gate", "calls=1%", status=1)
            self.assertIn("recordings on both sides of --", run("diff", few[0], "--", status=2).stderr)
            self.assertIn("diff A1 A2 -- B1 B2", run("diff", *few, status=2).stderr)
            text = run("diff", *few, "--", *many).stdout
            for words in ("and 2 more: median ", "\nchange of the geometric mean ", "95 % INTERVAL"):
                self.assertIn(words, text)

    def test_the_floor_of_the_gate_has_a_unit(self):
        with tempfile.TemporaryDirectory() as folder:
            few, many = (self.record(folder, name, n) for name, n in (("few", 5), ("many", 500)))
            run("diff", few, many, "--gate", "total=0%", status=1)
            run("diff", few, many, "--gate", "total=0%", "--gate-floor", "1000s")
            for floor in ("fast", "10"):
                self.assertIn("--gate-floor needs a duration", run("diff", few, many, "--gate", "total=0%", "--gate-floor", floor, status=2).stderr)

    def test_bench_keeps_recordings_but_replaces_none(self):
        program = recorded_programs.build("g++", *recorded_programs.CALL_FLAGS)
        with tempfile.TemporaryDirectory() as folder:
            words = ("bench", "--runs", 1, "--keep", folder, program, 5, "--", program, 5)
            run(*words)
            self.assertEqual(run(*words, status=2).stderr, f"telltale: {folder}/a1 exists; a recording never overwrites a file\n")

    def test_bench_compares_all_processes_of_a_run(self):
        program = recorded_programs.build("g++", *recorded_programs.CALL_FLAGS)
        once, twice = ("sh", "-c", f"{program} 5; true"), ("sh", "-c", f"{program} 5; {program} 5; true")
        with tempfile.TemporaryDirectory() as folder:
            worse = run("bench", "--runs", 2, "--keep", folder, "--strict", "--gate", "calls=0%", *once, "--", *twice, status=1)
            self.assertIn("gate: calls of shop::price(int): 10 before, 20 after, at least +100.0 %", worse.stderr)
            self.assertEqual([len([name for name in os.listdir(f"{folder}/{run_of}") if name.endswith(".xray")])
                              for run_of in ("a1", "a2", "b1", "b2")], [1, 1, 2, 2])
        same = run("bench", "--runs", 1, "--gate", "calls=0%", *twice, "--", *twice)
        self.assertIn("verdict: not worse", same.stderr)

    def test_a_gate_judges_every_run(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = self.record(folder, "whole", 20)
            torn = f"{folder}/torn.xray"
            with open(whole, "rb") as file, open(torn, "wb") as cut:
                cut.write(file.read(100))
            for before, after, what in (((whole, whole), (whole, torn), f"{torn} of B has"),
                                        ((torn, whole), (whole, whole), f"{torn} of A has"),
                                        ((whole, torn), (torn, torn), f"{torn} of A and B have")):
                done = run("diff", *before, "--", *after, "--gate", "calls=0%", status=2)
                self.assertIn(f"telltale: --gate has nothing to compare: {what} no calls\n", done.stderr)
                self.assertNotIn("gate passed", done.stderr)
                self.assertIn(f"{torn}: the recording has no calls, so no data for the measure time\n", done.stderr)
            self.assertIn("gate passed: ", run("diff", whole, whole, "--", whole, whole, "--gate", "calls=0%").stderr)

    def test_a_gate_says_what_the_recordings_do_not_have(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = self.record(folder, "whole", 2000)
            small = self.record(folder, "small", 2000, "--size", "192K")
            shallow = self.record(folder, "shallow", 2000, "--depth", "2")
            gate = ("--gate", "calls=0%")
            passed = "telltale: gate passed on what was recorded: none of "
            for sides, part in (((whole, small), "B"), ((whole, whole, "--", small, whole), "1 of 2 runs of B")):
                done = run("diff", *sides, *gate)
                self.assertIn(f"gate: events are missing from {part}: ", done.stderr)
                self.assertIn(passed, done.stderr)
                run("diff", *sides, *gate, "--strict", status=4)
            for sides in ((whole, shallow), (whole, whole, "--", shallow, shallow)):
                done = run("diff", *sides, *gate)
                self.assertRegex(done.stderr, r"gate: the recorder's filters left out \d+ events of B and none of A: ")
                self.assertIn(passed, done.stderr)
            for sides in ((whole, whole), (shallow, shallow)):
                done = run("diff", *sides, *gate)
                self.assertRegex(done.stderr, r"\Atelltale: gate passed: none of .*\n\Z")

    def test_bench_records_in_turns_and_judges(self):
        program = recorded_programs.build("g++", *recorded_programs.CALL_FLAGS)
        with tempfile.TemporaryDirectory() as folder:
            worse = run("bench", "--runs", "2", "--keep", folder, "--gate", "calls=0%", program, "5", "--", program, "50", status=1)
            self.assertIn("verdict: worse", worse.stderr)
            self.assertEqual(sorted(os.listdir(folder)), ["a1", "a2", "b1", "b2"])
            self.assertEqual(document("diff", f"{folder}/a1", f"{folder}/a2", "--", f"{folder}/b1", f"{folder}/b2")["runs_after"], 2)
        same = run("bench", "--runs", "2", "--gate", "calls=0%", program, "5", "--", program, "5")
        self.assertIn("verdict: not worse", same.stderr)
        judged = run("bench", "--json", "--runs", "1", program, "5", "--", program, "5").stdout
        validator("diff-runs").validate(json.loads(judged))
        self.assertIn("exited with 7", run("bench", "--runs", "1", program, "5", "--", program, "5", "seven", status=2).stderr)
        self.assertIn("two commands", run("bench", program, status=2).stderr)


if __name__ == "__main__":
    unittest.main()
