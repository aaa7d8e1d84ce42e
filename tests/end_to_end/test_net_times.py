"""--net: times without the recorder's cost, given or measured by the recorder."""
import csv
import io
import json
import pathlib
import re
import tempfile
import unittest

import recorded_programs as programs
from recorded_programs import Recorded, telltale

HEAD = """---
header:
  version:         5
  type:            1
  constant-tsc:    true
  nonstop-tsc:     true
  cycle-frequency: 1000000000
records:
"""


def trace(events):
    """A file with calls by (function, kind, nanosecond), all in one thread."""
    rows = [f"  - {{ type: 0, func-id: {function}, function: '{function}', cpu: 0, thread: 7, process: 6, kind: function-{kind}, "
            f"tsc: {time}, data: '' }}\n" for function, kind, time in events]
    path = pathlib.Path(tempfile.mkdtemp(dir=programs.folder())) / "calls.yaml"
    path.write_text(HEAD + "".join(rows) + "...\n")
    return path


def loop(calls, inner_ns, between_ns):
    """Function 1 calls function 2 so many times."""
    time = 1000
    events = [(1, "enter", time)]
    for _ in range(calls):
        time += between_ns
        events.append((2, "enter", time))
        time += inner_ns
        events.append((2, "exit", time))
    events.append((1, "exit", time + between_ns))
    return events


def self_times(path, *options):
    rows = json.loads(telltale("top", path, "--json", *options).stdout)["rows"]
    return {row["id"]: row["self_ns"] for row in rows}


class GivenCosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = trace(loop(calls=100, inner_ns=50, between_ns=30))

    def test_the_formula(self):
        self.assertEqual(self_times(self.file), {1: 101 * 30, 2: 100 * 50})
        self.assertEqual(self_times(self.file, "--net=12ns+8ns"), {1: 101 * 30 - 12 - 100 * 8, 2: 100 * (50 - 12)})
        # Half inside, half outside.
        self.assertEqual(self_times(self.file, "--net=20"), self_times(self.file, "--net=10ns+10ns"))

    def test_never_below_zero_and_what_is_clipped_is_counted(self):
        done = telltale("top", trace(loop(calls=100, inner_ns=50, between_ns=60)), "--json", "--net=70ns+10ns")
        document = json.loads(done.stdout)
        self.assertEqual({row["id"]: row["self_ns"] for row in document["rows"]}, {1: 101 * 60 - 70 - 100 * 10, 2: 0})
        note, = [problem["message"] for problem in document["problems"] if problem["kind"] == "estimate"]
        # 101 calls cost 70 ns inside, 100 of them 10 ns outside in a call; 100 calls are 20 ns too short.
        self.assertIn(f"{(101 * 70 + 100 * 10) / 1000:g} us in all; 2 us of that could not be subtracted", note)
        self.assertIn("telltale: " + note, done.stderr)

    def test_numbers_of_calls_stay(self):
        rows = [json.loads(telltale("top", self.file, "--json", *net).stdout)["rows"] for net in ((), ("--net=20",))]
        counts = [{row["id"]: row["calls"] for row in each} for each in rows]
        self.assertEqual(counts[0], counts[1])

    def test_every_verb_agrees_and_says_that_it_estimates(self):
        folded = telltale("stacks", self.file, "--net=12+8")
        self.assertEqual(folded.stdout.splitlines(), [f"\\x231 {3030 - 812}", f"\\x231;\\x232 {3800}"])
        table = csv.DictReader(io.StringIO(telltale("stacks", self.file, "--csv", "--net=12+8").stdout))
        self.assertEqual(sum(int(row["self_ns"]) for row in table), 3030 - 812 + 3800)
        report = json.loads(telltale("report", self.file, "--json", "--net=12+8").stdout)
        self.assertEqual({row["self_ns"] for row in report["functions"]}, {3030 - 812, 3800})
        graph = json.loads(telltale("graph", self.file, "--json", "--net=12+8").stdout)
        self.assertEqual(graph["total_ns"], 3030 - 812 + 3800)
        histogram = json.loads(telltale("histogram", "#2", self.file, "--json", "--net=12+8").stdout)
        flame = json.loads(telltale("flame", self.file, "--net=12+8", "--json", "-o", "-").stdout)
        for document in (report, graph, histogram):
            self.assertEqual([problem["kind"] for problem in document["problems"]], ["estimate"])
        self.assertIn("times are estimates", json.dumps(flame))
        self.assertIn("times are estimates", folded.stderr)
        self.assertRegex(telltale("graph", self.file, "--net=12+8").stdout, r"estimated times \(a sparse clock, or --net\)")
        # Two recordings side by side.
        page = self.file.parent / "both.json"
        self.assertEqual(telltale("flame", self.file, self.file, "--net=12+8", "-o", page).returncode, 0)
        self.assertIn("times are estimates", page.read_text())

    def test_diff_and_its_gate(self):
        """Twice the calls that take no time of their own: with --net only the number of calls differs."""
        more = trace(loop(calls=200, inner_ns=12, between_ns=8))
        less = trace(loop(calls=100, inner_ns=12, between_ns=8))
        gate = ("--gate", "self=10%", "--gate-floor", "20ns")
        self.assertEqual(telltale("diff", less, more, *gate).returncode, 1)
        net = telltale("diff", less, more, "--net=12+8", *gate)
        self.assertEqual(net.returncode, 0, net.stderr)
        self.assertEqual(net.stderr.count("times are estimates"), 2)

    def test_the_number_of_workers_and_parts_changes_nothing(self):
        many = trace(loop(calls=40_000, inner_ns=3, between_ns=5))
        fdr = many.with_suffix(".xray")
        telltale("convert", many, "--to", "fdr5", "-o", fdr)
        answers = {telltale("top", path, "--csv", "--net=4ns+3ns", "--jobs", jobs).stdout for path in (many, fdr) for jobs in (1, 3)}
        self.assertEqual(len(answers), 1)

    def test_strict_is_no_complaint(self):
        self.assertEqual(telltale("top", self.file, "--net=20", "--strict").returncode, 0)

    def test_a_recording_without_threads(self):
        empty = programs.PROGRAMS.parent / "golden/mono/empty.mlpd"
        self.assertEqual(telltale("top", empty, "--net=20").stdout, telltale("top", empty).stdout)

    def test_what_cannot_be_asked(self):
        for options, words in ((["--net"], "the recording does not say what recording a call cost; give it, such as --net=20ns"),
                               (["--net=fast"], "--net needs the cost of a recorded call, such as 20ns or 9ns+11ns, but got fast"),
                               (["--net=20", "--time", "0..1us"], "--time selects by recorded times, which --net changes")):
            done = telltale("top", self.file, *options)
            self.assertEqual((done.returncode, done.stdout), (2, ""), options)
            self.assertIn(words, done.stderr)


class MeasuredCosts(unittest.TestCase):
    """What the recorder measures differs between machines and runs; here only that it is there, and that it is used."""

    def recorded(self, *options, compiler="g++", flags=programs.CALL_FLAGS):
        return Recorded(programs.build(compiler, *flags), 500, options=options).file

    def cost(self, path):
        """The cost inside and outside of a call, in nanoseconds."""
        properties = json.loads(telltale("info", path, "--json").stdout)["properties"]
        words = properties.get("recorder's cost", "")
        found = re.fullmatch(r"([\d.]+) ns inside and ([\d.]+) ns outside of each call, measured at the start", words)
        return found and (float(found[1]), float(found[2]))

    def test_a_recording_contains_it(self):
        builds = [("g++", programs.CALL_FLAGS)] + ([(programs.CLANG, programs.XRAY_FLAGS)] if programs.CLANG else [])
        for compiler, flags in builds:
            for options in ((), ("--sparse", "16"), ("--sparse", "255"), ("--mode", "ring"), ("--fdr-version", "1"),
                            ("--set", "clock=monotonic"), ("--auto",)):
                with self.subTest(compiler=compiler, options=options):
                    path = self.recorded(*options, compiler=compiler, flags=flags)
                    inside, outside = self.cost(path)
                    self.assertGreater(inside + outside, 0)
                    done = telltale("top", path, "--net", "--json")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    net = json.loads(done.stdout)
                    gross = json.loads(telltale("top", path, "--json").stdout)
                    self.assertIn(f"{inside:.1f} ns inside and {outside:.1f} ns outside", net["problems"][0]["message"])
                    self.assertLess(sum(row["self_ns"] for row in net["rows"]), sum(row["self_ns"] for row in gross["rows"]))
                    self.assertEqual({row["function"]: row["calls"] for row in net["rows"] if row["function"] != "(waiting)"},
                                     {row["function"]: row["calls"] for row in gross["rows"] if row["function"] != "(waiting)"})

    def test_measuring_leaves_no_trace(self):
        path = self.recorded()
        calls = {row["function"]: row["calls"] for row in json.loads(telltale("top", path, "--json").stdout)["rows"]}
        calls.pop("(waiting)", None)
        for function, expected in programs.expected_calls(500).items():
            self.assertEqual(calls[function], expected, function)
        self.assertEqual(json.loads(telltale("info", path, "--json").stdout)["properties"]["lost"], "0 events")

    def test_with_filters_nothing_is_measured(self):
        for options in (("--min", "1ns"), ("--depth", "3")):
            path = self.recorded(*options)
            self.assertIsNone(self.cost(path))
            done = telltale("top", path, "--net")
            self.assertEqual(done.returncode, 2)
            self.assertIn("the recording does not say what recording a call cost", done.stderr)
            self.assertEqual(telltale("top", path, "--net=20ns").returncode, 0)

    def test_several_processes_have_their_own(self):
        with_cost, without = self.recorded(), self.recorded("--depth", "5")
        done = telltale("top", with_cost, without, "--net")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"the recording of process \d+ \(program\) does not say what recording a call cost")
        both = telltale("top", with_cost, self.recorded(), "--net")
        self.assertEqual(both.returncode, 0, both.stderr)


if __name__ == "__main__":
    unittest.main()
