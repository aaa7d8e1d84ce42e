"""--thread, --time, --function and --depth of the verbs about records: info, dump and check. The expected selection is
computed here from the unfiltered dump."""
import fnmatch
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

from export_tools import fdr

TELLTALE = os.environ["TELLTALE"]
GOLDEN = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"], "tests/golden/xray")
TRACES = sorted(path for path in GOLDEN.iterdir() if path.suffix in (".fdr", ".basic", ".yaml"))


def telltale(*words):
    return subprocess.run([TELLTALE, *map(str, words)], capture_output=True, text=True, timeout=60)


def side_record(pid, addresses):
    """Ids from 2^27 for the functions at these link-time addresses of a program that is not there."""
    name = b"/gone/program"
    records = b""
    for kind, body in ((1, struct.pack("<IIQQQIIQQQHHI", 0, 1, 0, 0, 1 << 47, 0, 0, 0, 0, 0, 0, len(name), 0) + name),
                       (3, struct.pack(f"<II{len(addresses)}Q", 1 << 27, len(addresses), *addresses))):
        body = body.ljust((len(body) + 7) // 8 * 8, b"\0")
        records += struct.pack("<II", kind, 8 + len(body)) + body
    return (b"TTXRSIDE" + struct.pack("<HHIQII", 1, 256, 0, 256 + len(records), pid, 0)).ljust(256, b"\0") + records


def records_of(path, *options):
    """The lines of a dump, as objects, without the file's header; None if it cannot be read."""
    done = telltale("dump", "--json", path, *options)
    if done.returncode != 0:
        return None
    return [json.loads(line) for line in done.stdout.splitlines()][1:]


class Reference:
    """The records of a whole dump that a filter selects: a second implementation."""

    def __init__(self, records, hertz):
        self.records = records
        self.hertz = hertz or 10**9
        self.starts = []  # index of each buffer's first record, and its first time stamp
        self.first_time = self.find_starts()

    def find_starts(self):
        times = []
        previous = None
        for index, record in enumerate(self.records):
            kind = record["record"]
            if kind == "BufferExtents" or (kind == "NewBuffer" and self.records[index - 1]["record"] != "BufferExtents"):
                self.starts.append((index, 0))
            elif kind == "NewCPUId" and self.starts[-1][1] == 0:
                self.starts[-1] = (self.starts[-1][0], record["tsc"])
                times.append(record["tsc"])
            elif kind == "YamlRecord":
                times.append(record["tsc"])
            elif kind == "BasicCall" and (record.get("pid"), record["tid"]) != previous:
                times.append(record["tsc"])
            previous = (record.get("pid"), record["tid"]) if kind.startswith("Basic") else None
        return min(times)

    def threads(self):
        """For each record its thread: in FDR files that of its buffer, whose NewBuffer and Pid records may come later."""
        keys = []
        for index, record in enumerate(self.records):
            if record["record"] in ("YamlRecord", "BasicCall", "BasicArgument"):
                keys.append((record.get("pid", 0), record["tid"]))
                continue
            begin = max(start for start, _ in self.starts if start <= index)
            end = min([start for start, _ in self.starts if start > index], default=len(self.records))
            buffer = self.records[begin:end]
            pid = next((r["pid"] for r in buffer if r["record"] == "Pid"), 0)
            keys.append((pid, next(r["tid"] for r in buffer if r["record"] == "NewBuffer")))
        return keys

    def choose(self, thread=None, time=None, function=None, depth=None):
        chosen = []
        stacks = {}
        now = 0
        last_call = False
        begins = dict(self.starts)
        for index, (record, key) in enumerate(zip(self.records, self.threads())):
            now = begins.get(index, now)
            if record["record"] in ("BasicArgument", "CallArgument"):
                if last_call:
                    chosen.append(record)
                continue
            now = record.get("tsc", now)
            keep = thread is None or thread in (key[1], key)
            if time is not None:
                since = max(0, now - self.first_time)  # a buffer without a time counts as at the start
                keep = keep and time[0] <= since * 10**9 / self.hertz < time[1]
            action = record.get("action", "")
            if action in ("enter", "enter_args", "exit", "tail_exit"):
                name = f"#{record['function_id']}"
                keep = keep and (function is None or fnmatch.fnmatchcase(name, function))
                stack = stacks.setdefault(key, [])
                if action.startswith("enter"):
                    stack.append(name)
                    at = len(stack)
                else:
                    at = len(stack) - stack[::-1].index(name) if name in stack else len(stack) + 1
                    del stack[at - 1:]
                keep = keep and (depth is None or at <= depth)
                last_call = keep
            if keep:
                chosen.append(record)
        return chosen


class RecordFilterTest(unittest.TestCase):
    def check_filter(self, path, reference, wanted, options):
        """Returns the number of selected records."""
        with self.subTest(trace=path.name, options=options):
            expected = reference.choose(**wanted)
            self.assertEqual(records_of(path, *options), expected)
            info = json.loads(telltale("info", "--json", path, *options).stdout)
            self.assertEqual(info["records"], len(expected))
            self.assertEqual(sum(info["records_by_kind"].values()), len(expected))
            verdict = json.loads(telltale("check", "--json", path, *options).stdout)["rows"]
            self.assertEqual(verdict[0]["records"], len(expected))
            return len(expected)
        return 0

    def test_records_are_those_that_the_filter_describes(self):
        tried = 0
        narrowed = {"thread": 0, "time": 0, "function": 0, "depth": 0, "all": 0}
        for path in TRACES:
            records = records_of(path)
            if not records or any(r["record"] in ("Problem", "Skipped") for r in records):
                continue
            tried += 1
            info = json.loads(telltale("info", "--json", path).stdout)
            reference = Reference(records, info["clock_hz"])
            thread = info["threads"][-1]
            span = info["span_ns"] or 1
            window = (span // 4, span // 2 + 1)
            function = next((f"#{r['function_id']}" for r in records if "function_id" in r), "#1")
            of_thread = f"{thread['pid']}:{thread['tid']}"
            of_time = f"{window[0]}..{window[1]}ns"
            for name, wanted, options in (
                    ("thread", {"thread": (thread["pid"], thread["tid"])}, ("--thread", of_thread)),
                    ("time", {"time": window}, ("--time", of_time)),
                    ("function", {"function": function}, ("--function", function)),
                    ("depth", {"depth": 1}, ("--depth", "1")),
                    ("all", {"thread": thread["tid"], "function": "#*", "depth": 2},
                     ("--thread", thread["tid"], "--function", "#*", "--depth", "2"))):
                kept = self.check_filter(path, reference, wanted, options)
                narrowed[name] += 0 < kept < len(records)
        self.assertGreater(tried, 20)
        for name, times in narrowed.items():
            self.assertGreater(times, 2, f"--{name} left nothing out, or nothing in")

    def test_info_is_of_what_is_chosen(self):
        path = GOLDEN / "every_record_v5.fdr"
        whole = json.loads(telltale("info", "--json", path).stdout)
        thread = whole["threads"][0]
        part = json.loads(telltale("info", "--json", path, "--thread", thread["tid"]).stdout)
        self.assertEqual(part["threads"], [thread])
        self.assertLess(part["records"], whole["records"])
        self.assertEqual(part["bytes"], whole["bytes"])
        self.assertLess(part["span_ns"], whole["span_ns"])
        self.assertEqual(telltale("info", path, "--time", "nonsense").returncode, 2)

    def test_check_finds_only_what_is_chosen(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder, "bad.fdr")
            trace = bytearray((GOLDEN / "every_record_v5.fdr").read_bytes())
            first = records_of(GOLDEN / "every_record_v5.fdr")
            at = next(r["offset"] for r in first if r["record"] == "CallArgument")
            # The first argument becomes a wall-time marker, which is only allowed at a buffer's beginning.
            trace[at] = 4 << 1 | 1
            bad.write_bytes(trace)
            whole = json.loads(telltale("check", "--json", bad).stdout)["rows"][0]
            self.assertEqual((whole["valid"], whole["first"]["offset"]), (False, at))
            for thread, valid in ((16909060, False), (2, True)):
                done = telltale("check", "--json", bad, "--thread", thread)
                self.assertEqual(json.loads(done.stdout)["rows"][0]["valid"], valid)
                self.assertEqual(done.returncode, 0 if valid else 1)

    def test_functions_with_several_ids(self):
        """Side records of two processes. The first numbered a function twice, as two threads that call it first at the same time do; the other
        process numbered the functions in another order."""
        first, other = (1 << 27), ("@0x100", "@0x200")
        calls = lambda *counts: [(kind, first + number, 5) for number, count in enumerate(counts) for _ in range(count) for kind in ("enter", "exit")]
        with tempfile.TemporaryDirectory() as folder:
            one, two = pathlib.Path(folder, "one.xray"), pathlib.Path(folder, "two.xray")
            for path, pid, trace, addresses in ((one, 5, calls(1, 2, 4), (0x100, 0x100, 0x200)), (two, 6, calls(8, 16), (0x200, 0x100))):
                path.write_bytes(fdr(trace, pid=pid))
                pathlib.Path(f"{path}.side").write_bytes(side_record(pid, addresses))
            rows = lambda *paths: {row["function"]: (row["id"], row["calls"]) for row in json.loads(telltale("top", "--json", *paths).stdout)["rows"]}
            self.assertEqual(rows(one), {"@0x100": (first, 3), "@0x200": (first + 2, 4)})
            self.assertEqual({name: calls for name, (_, calls) in rows(one, two).items()}, {"@0x100": 19, "@0x200": 12})
            for name, ids, counts in ((other[0], {first, first + 1}, (3, 16)), (other[1], {first + 2}, (4, 8))):
                for words in (["dump", "--json", "--record", "Function"], ["check", "--json"], ["info", "--json"]):
                    done = telltale(*words, one, "--function", name)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    if words[0] == "dump":
                        chosen = [json.loads(line)["function_id"] for line in done.stdout.splitlines() if '"Function"' in line]
                        self.assertEqual((set(chosen), len(chosen)), (ids, 2 * counts[0]), name)
                    both = telltale(*words, one, two, "--function", name).stdout
                    if words[0] == "dump":
                        self.assertEqual(both.count('"Function"'), 2 * sum(counts), name)
                    elif words[0] == "check":
                        # Each file has 5 other records.
                        self.assertEqual([row["records"] for row in json.loads(both)["rows"]], [5 + 2 * count for count in counts], name)
                    else:
                        self.assertEqual(json.loads(both)["records"], 10 + 2 * sum(counts), name)

    def test_standard_input_can_be_filtered(self):
        path = GOLDEN / "every_record_v5.fdr"
        for verb in ("dump", "check", "info"):
            done = subprocess.run([TELLTALE, verb, "-", "--thread", "2"], input=path.read_bytes(), capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout)


class JsonEverywhereTest(unittest.TestCase):
    def test_flame_data_is_the_pages_data(self):
        path = GOLDEN / "calls.fdr"
        data = json.loads(telltale("flame", path, "--json", "-o", "-").stdout)
        self.assertEqual(set(data), {"telltale", "schema", "recording", "title", "units", "facts", "trees", "functions", "problems"})
        graph = json.loads(telltale("graph", "--json", path).stdout)["functions"]
        tree = data["trees"][0]
        calls = {}
        for function, count in zip(tree["function"], tree["calls"]):
            if function >= 0:
                name = data["functions"][function]["function"]
                calls[name] = calls.get(name, 0) + count
        self.assertEqual(calls, {row["function"]: row["calls"] for row in graph})
        with tempfile.TemporaryDirectory() as folder:
            named = pathlib.Path(folder, "flame.json")
            self.assertEqual(telltale("flame", path, "-o", named).returncode, 0)
            self.assertEqual(json.loads(named.read_text()), data)

    def test_convert_says_what_was_lost(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "old.fdr")
            done = telltale("convert", GOLDEN / "every_record_v5.fdr", "--to", "fdr1", "--json", "-o", out)
            said = json.loads(done.stdout)
            self.assertEqual((done.returncode, done.stderr, said["output"], said["format"]), (0, "", str(out), "fdr1"))
            self.assertIn(2, [loss["count"] for loss in said["losses"] if "typed" in loss["what"]])
            chrome = pathlib.Path(folder, "calls.json")
            whole = json.loads(telltale("convert", GOLDEN / "calls.fdr", "--to", "chrome", "--json", "-o", chrome).stdout)
            self.assertEqual((whole["losses"], whole["lost_bytes"]), ([], 0))
        self.assertEqual(telltale("convert", GOLDEN / "calls.fdr", "--to", "fdr1", "--json", "-o", "-").returncode, 2)


if __name__ == "__main__":
    unittest.main()
