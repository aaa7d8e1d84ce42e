"""The summary agrees with the tables."""
import csv
import json
import os
import subprocess
import tempfile
import unittest

import mono_file
from export_tools import fdr

TELLTALE = os.environ["TELLTALE"]
ORDERS = os.path.join(os.environ["TELLTALE_SOURCE_DIR"], "examples", "orders")


def telltale(*arguments):
    done = subprocess.run([TELLTALE, *arguments], cwd=ORDERS, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


class ReportTest(unittest.TestCase):
    def test_json_agrees_with_top_and_info(self):
        recording = ["orders.yaml", "--program", "orders-map.yaml"]
        report = json.loads(telltale("report", "--json", *recording))
        top = {row["function"]: row for row in json.loads(telltale("top", "--json", *recording))["rows"]}
        info = json.loads(telltale("info", "--json", *recording))
        self.assertEqual(report["records"], info["records"])
        self.assertEqual(report["span_ns"], info["span_ns"])
        self.assertEqual(report["calls"], sum(row["calls"] for row in top.values()))
        self.assertEqual(report["unwound"], sum(row["unwound"] for row in top.values()))
        self.assertEqual(report["events"], 2)
        self.assertEqual([row["function"] for row in report["functions"]],
                         sorted(top, key=lambda name: -top[name]["self_ns"]))
        for row in report["functions"]:
            for key in ("self_ns", "total_ns", "calls", "median_ns", "max_ns"):
                self.assertEqual(row[key], top[row["function"]][key], (row["function"], key))
        self.assertAlmostEqual(sum(row["self_share"] for row in report["functions"]), 1, places=6)
        self.assertEqual(sum(row["calls"] for row in report["threads"]), report["calls"])
        self.assertTrue(report["stacks"][0]["stack"].endswith("handle_order(Order const*, Store*) > validate(Order const&)"))

    def test_csv_is_one_of_the_tables(self):
        report = json.loads(telltale("report", "--json", "orders.yaml"))
        for name, words in (("functions", []), ("functions", ["--reports", "functions"]), ("stacks", ["--reports", "stacks"]),
                            ("threads", ["--reports", "threads"])):
            rows = list(csv.DictReader(telltale("report", "--csv", *words, "orders.yaml").splitlines()))
            self.assertEqual([row["self_ns" if name != "threads" else "busy_ns"] for row in rows],
                             [str(row["self_ns" if name != "threads" else "busy_ns"]) for row in report[name]])
        wrong = subprocess.run([TELLTALE, "report", "--csv", "--reports", "heap", "orders.yaml"], cwd=ORDERS,
                               capture_output=True, text=True, timeout=60)
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))

    def test_0_rows_are_all(self):
        recording = ["orders.yaml", "--program", "orders-map.yaml"]
        self.assertEqual(telltale("report", "--rows", "0", *recording), telltale("report", "--rows", "100", *recording))
        with tempfile.TemporaryDirectory() as folder:
            throws = os.path.join(folder, "throws.mlpd")
            methods = {0x100 * i: f"Many:M{i} ()" for i in range(1, 50)}
            method = mono_file.Chain()
            with open(throws, "wb") as file:
                file.write(mono_file.file_header() + mono_file.buffer(mono_file.names(methods, {}), 0) + mono_file.buffer(b"".join(
                    mono_file.event(0x84, mono_file.sleb(0x100), mono_file.uleb(1), method(0x100 * i)) for i in range(1, 50)), 0))
            report = lambda *words: json.loads(telltale("report", throws, "--reports", "hotspots", "--json", *words))["hotspots"]
            self.assertEqual(report("--rows", "0"), report())
            self.assertEqual(len(report("--rows", "0")["sites"]), 49)
            counts = os.path.join(os.environ["TELLTALE_SOURCE_DIR"], "tests/golden/sampler/all_schemes.report")
            self.assertEqual(telltale("report", counts, "--rows", "0"), telltale("report", counts, "--rows", "100000"))
            self.assertNotEqual(telltale("report", counts, "--rows", "0"), telltale("report", counts, "--rows", "1"))

    def test_a_pause_without_a_collection_has_no_generation(self):
        """The world also stops without a collection, for example to unload a domain."""
        def stop(*collected):
            kinds = [(6, 0), (7, 0), *((kind, generation) for generation in collected for kind in (0, 5)), (8, 0), (9, 0)]
            return b"".join(mono_file.event(0x11, bytes(pair)) for pair in kinds)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pauses.mlpd")
            with open(path, "wb") as file:
                file.write(mono_file.file_header() + mono_file.buffer(stop(0) + stop() + stop(0, 1) + mono_file.event(0x23, b"\0"), 0))
            pauses = json.loads(telltale("report", path, "--reports", "pauses", "--json"))["pauses"]
            self.assertEqual([(row["generation"], row["collections"]) for row in pauses["timeline"]], [(0, 1), (None, 0), (1, 2)])
            self.assertEqual({row["generation"]: row["pauses"] for row in pauses["by_generation"]}, {None: 1, 0: 1, 1: 1})
            cut = telltale("report", path, "--reports", "pauses", "--rows", "2")
            self.assertIn("  2 of 3 rows; --rows 0 shows all\n", cut)

    def test_deep_stacks_are_whole_for_programs(self):
        """Text shows the innermost frames; JSON and CSV have the frames of `stacks`."""
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "deep.fdr")
            with open(trace, "wb") as file:
                file.write(fdr([("enter", i, 10) for i in range(1, 31)] + [("exit", i, 10) for i in range(30, 0, -1)]))
            deepest = telltale("stacks", trace).splitlines()[-1].rpartition(" ")[0].split(";")
            self.assertEqual(len(deepest), 30)
            stacks = [row["stack"].split(" > ") for row in json.loads(telltale("report", "--json", "--rows", "30", trace))["stacks"]]
            self.assertIn([name.replace(r'\x23', '#') for name in deepest], stacks)
            rows = csv.DictReader(telltale("report", "--csv", "--reports", "stacks", "--rows", "30", trace).splitlines())
            self.assertEqual([row["stack"].split(" > ") for row in rows], stacks)
            self.assertIn("... 18 more > ", telltale("report", "--rows", "30", trace))

    def test_deep_stacks_of_events_are_whole_for_programs(self):
        method = mono_file.Chain()
        methods = {0x100 * i: f"Deep:M{i} ()" for i in range(1, 31)}
        throws = [mono_file.event(0x84, mono_file.sleb(0x100), mono_file.uleb(depth), *(method(0x100 * i) for i in range(1, depth + 1)))
                  for depth in (30, 29)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "deep.mlpd")
            with open(path, "wb") as file:
                file.write(mono_file.file_header() + mono_file.buffer(mono_file.names(methods, {}), 0) +
                           mono_file.buffer(b"".join(throws), 1000))
            rows = json.loads(telltale("report", "--json", "--reports", "hotspots", path))["hotspots"]["stacks"]
            whole = sorted(line.rpartition(" ")[0].split(";") for line in telltale("stacks", path, "--measure", "throws").splitlines())
            self.assertEqual(sorted(row["stack"].split(" > ") for row in rows), whole)
            self.assertEqual(sorted(len(stack) for stack in whole), [29, 30])
            table = list(csv.DictReader(telltale("report", "--csv", "--reports", "hotspots.stacks", path).splitlines()))
            self.assertEqual([row["stack"] for row in table], [row["stack"] for row in rows])
            self.assertIn("... 18 more > ", telltale("report", "--reports", "hotspots", path))

    def test_filters_apply_to_every_table(self):
        report = json.loads(telltale("report", "--json", "--thread", "9480", "--depth", "2", "orders.yaml"))
        self.assertEqual([row["tid"] for row in report["threads"]], [9480])
        self.assertEqual(len(report["functions"]), 2)
        # The first line is about the selection, with the span of the recording.
        info = json.loads(telltale("info", "--json", "--thread", "9480", "orders.yaml"))
        self.assertEqual(len(info["threads"]), 1)
        calls = json.loads(telltale("report", "--json", "--thread", "9480", "orders.yaml"))
        self.assertEqual((calls["records"], calls["span_ns"]), (info["records"], json.loads(telltale("info", "--json", "orders.yaml"))["span_ns"]))
        self.assertIn(f"{info['records']} records, {calls['calls']} calls in 1 thread, ", telltale("report", "--thread", "9480", "orders.yaml"))
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "flame.json")
            telltale("flame", "--thread", "9480", "orders.yaml", "-o", page)
            with open(page) as file:
                facts = {fact["name"]: fact["value"] for fact in json.load(file)["facts"]}
            self.assertEqual((facts["threads"], facts["calls"]), ("1", str(calls["calls"])))

    def test_a_function_whose_calls_are_all_open_has_no_durations(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "open.fdr")
            with open(trace, "wb") as file:
                file.write(fdr([("enter", 1, 10), ("enter", 2, 10), ("exit", 2, 10), ("enter", 3, 10)]))
            text = telltale("report", trace)
            self.assertRegex(text, r"CALLS +OPEN +MEDIAN +MAX +FUNCTION\n")
            for row in ("0 +1 +- +- +#1", "1 +0 +10 ns +10 ns +#2", "0 +1 +- +- +#3"):
                self.assertRegex(text, f"(?m) {row}$")
            rows = json.loads(telltale("report", "--json", trace))["functions"]
            top = json.loads(telltale("top", "--json", trace))["rows"]
            keys = ("calls", "unfinished", "median_ns", "max_ns")
            self.assertEqual({row["function"]: [row[key] for key in keys] for row in rows}, {row["function"]: [row[key] for key in keys] for row in top})
            self.assertNotIn("OPEN", telltale("report", "orders.yaml"))


if __name__ == "__main__":
    unittest.main()
