"""`telltale isolate`, on runs that left recordings of calls."""
import json
import pathlib
import shutil
import tempfile
import unittest

import mono_programs
import sarif_schema
from study_case import telltale

LOAD = "_Z4loadRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"


class IsolateCallsTest(unittest.TestCase):
    NAMES = ["main", "work", "rare", "slow", "always", LOAD]

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-isolate-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.map = cls.folder / "map.yaml"
        cls.map.write_text("---\n" + "".join(
            f"- {{ id: {number}, address: {number * 4096:#x}, function: {number * 4096:#x}, kind: function-enter, always-instrument: true, "
            f'function-name: "{name}", version: 2 }}\n' for number, name in enumerate(cls.NAMES, 1)) + "...\n")

    def write(self, path, calls):
        """A trace of main that makes these calls, (name, duration in ticks of 1 ns[, callees]); a crash leaves main open. A call
        without a duration is left by an exception that main catches."""
        events, now = [(1, "enter", 1000)], 2000
        for name, duration, *callees in calls:
            number = self.NAMES.index(name) + 1
            events.append((number, "enter", now))
            for callee in callees:
                events += [(self.NAMES.index(callee) + 1, kind, now + 1) for kind in ("enter", "exit")]
            if duration is None:
                events.append((1, "exit", now + 5))
                break
            events.append((number, "exit", now + duration))
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

    def test_exports_name_no_file_where_none_is_known(self):
        for i in range(40):
            self.write(self.folder / f"fileless-{'passed' if i % 4 else 'failed'}" / f"{i}.yaml", [("always", 5)] + [("rare", 5)] * (i % 4 == 0))
        words = ["isolate", "--failed", self.folder / "fileless-failed", "--passed", self.folder / "fileless-passed", "--program", self.map]
        log = json.loads(telltale(*words, "--sarif").stdout)
        self.assertEqual(sarif_schema.complaints(log), [])
        (result,) = log["runs"][0]["results"]
        self.assertEqual(result["locations"], [{"logicalLocations": [{"name": "rare", "kind": "function"}]}])
        self.assertTrue(telltale(*words, "--annotations").stdout.startswith("::warning title=Predictor 1 of failure::rare called in rare: true in 10 "))
        self.assertIn('[label="rare called (rare)", style=bold]', telltale(*words, "--dot").stdout)

    def test_a_number_of_calls_that_separates(self):
        document = self.isolate("often", [(i % 5 == 0, [("always", 5)] + [("work", 5)] * (20 + i if i % 5 == 0 else i % 19)) for i in range(50)])
        (row,) = document["rows"]
        self.assertEqual((row["predicate"], row["scheme"]), ("work called more than 18 times", "call-counts"))
        self.assertEqual((row["true_in_failing"], row["observed_in_successful"]), (10, 40))

    def test_numbers_that_separate_nothing_have_no_predicates(self):
        document = self.isolate("equal", [(i % 4 == 0, [("always", 5)] * 2 + [("rare", 5)] * (i % 4 == 0)) for i in range(40)], "--all", "--filter", "none")
        rows = {row["predicate"]: row["scheme"] for row in document["rows"]}
        self.assertEqual(rows["always called"], "calls")
        self.assertEqual([text for text, scheme in rows.items() if scheme == "call-counts"], [])
        self.assertEqual([text for text, scheme in rows.items() if scheme == "call-times" and " of main took " not in text], [])

    def test_a_duration_that_separates(self):
        document = self.isolate("slow", [(i % 5 == 0, [("always", 5), ("slow", 900 + i if i % 5 == 0 else 100 + i)]) for i in range(50)])
        (row,) = document["rows"]
        self.assertEqual((row["predicate"], row["scheme"]), ("a call of slow took longer than 149 ns", "call-times"))

    def test_text_has_short_names_and_json_full_ones(self):
        runs = [(i % 4 == 0, [("always", 9, *["rare"] * (i % 4 != 0)), (LOAD, 9, *["rare"] * (i % 4 == 0))]) for i in range(40)]
        (row,) = self.isolate("names", runs)["rows"]
        full = "load(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)"
        self.assertIn((f"{full} called rare", full), [(each["predicate"], each["function"]) for each in [row, *row["same"]]])
        text = telltale("isolate", "--failed", self.folder / "names-failed", "--passed", self.folder / "names-passed", "--program", self.map, "--same").stdout
        self.assertIn("load(std::string const&) called rare  ", text)
        self.assertNotIn("basic_string", text)
        text = telltale("isolate", "--failed", self.folder / "names-failed", "--passed", self.folder / "names-passed", "--program", self.map, "--same",
                        "--names", "full").stdout
        self.assertIn(f"{full} called rare  ", text)

    def test_a_caller_that_separates(self):
        document = self.isolate("edge", [(i % 4 == 0, [("always", 9, *["rare"] * (i % 4 != 0)), ("work", 9, *["rare"] * (i % 4 == 0))]) for i in range(40)])
        (row,) = document["rows"]
        self.assertEqual((row["predicate"], row["scheme"], row["function"]), ("always did not call rare", "call-edges", "always"))
        self.assertEqual([same["predicate"] for same in row["same"]], ["work called rare"])
        self.assertEqual([row[key] for key in ("true_in_failing", "true_in_successful", "observed_in_failing", "observed_in_successful")], [10, 0, 10, 30])

    def test_a_call_that_an_exception_left(self):
        document = self.isolate("left", [(i % 4 == 0, [("always", 9), ("work", None if i % 4 == 0 else 9)]) for i in range(40)])
        self.assertIn("a call of work was left by an exception or longjmp", [row["predicate"] for row in document["rows"] + document["rows"][0]["same"]])

    @unittest.skipUnless(mono_programs.HAVE_MONO, "mono, mcs and mprof-report are not installed")
    def test_an_exception_that_only_failing_runs_throw(self):
        for number in range(8):
            folder = self.folder / ("thrown-failed" if number < 4 else "thrown-passed")
            folder.mkdir(exist_ok=True)
            mono_programs.record(folder / f"{number}.mlpd", "nodefaults,exception,gcalloc", "throwing", ["1"] if number < 4 else [])
        done = telltale("isolate", "--failed", self.folder / "thrown-failed", "--passed", self.folder / "thrown-passed", "--all", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = {row["predicate"]: (row["scheme"], row["true_in_failing"], row["true_in_successful"]) for row in json.loads(done.stdout)["rows"]}
        self.assertEqual(found["Torn was thrown"], ("exceptions", 4, 0))
        self.assertEqual(found["System.ArgumentException was not thrown"], ("exceptions", 4, 0))

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

if __name__ == "__main__":
    unittest.main()
