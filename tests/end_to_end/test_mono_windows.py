"""Hand-made Mono recordings with events at known times: the contents of a window, and the times in reports."""
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import mono_programs
import mprof_report
from mono_file import START, Chain, buffer, event, file_header, names, sleb, text, uleb

TELLTALE = os.environ["TELLTALE"]
METHOD, VTABLE, SECOND = 0x1000, 0x2000, 1_000_000_000


def run(*arguments):
    return subprocess.run([TELLTALE, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def report(path, name, *options):
    done = run("report", path, "--reports=" + name, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)[name]


def at(kind, fields, times):
    """An event at each of the times, in ns after START."""
    out, last = [], 0
    for time in times:
        out.append(event(kind, *fields, after=time - last))
        last = time
    return b"".join(out)


def recording(*buffers):
    """Names written at START by thread 9, then each buffer by its own thread."""
    named = buffer(names({METHOD: "A:Run ()"}, {VTABLE: "Thing"}, ["Working Set", "Page Faults"]), START - 1000, 9)
    return file_header() + named + b"".join(buffer(events, START, thread) for thread, events in enumerate(buffers, 1))


def shot(objects, after=1000):
    """A heap shot with (address / 8, vtable, bytes)."""
    out = event(0x06, after=after)
    for address, vtable, size in objects:
        out += event(0x26, sleb(address), sleb(vtable), uleb(size), b"\0", uleb(0), after=0)
    return out + event(0x16, after=1)


class Windows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keeper = tempfile.TemporaryDirectory(prefix="telltale-mono-windows-")
        cls.folder = pathlib.Path(cls.keeper.name)

    @classmethod
    def tearDownClass(cls):
        cls.keeper.cleanup()

    def write(self, name, data):
        path = self.folder / (name + ".mlpd")
        path.write_bytes(data)
        return path

    def test_from_is_inside_a_window_and_to_is_not(self):
        times = [1000 * k for k in range(1, 11)]
        method = Chain()
        calls = b"".join(event(0x23, method(METHOD), after=1000 if k == 0 else 500) + event(0x13, method(METHOD), after=500)
                         for k in range(10))
        locks = b"".join(event(0x05, b"\1", sleb(5), after=1000 if k == 0 else 600) + event(0x05, b"\2", sleb(5), after=400)
                         for k in range(10))
        path = self.write("each", recording(
            at(0x00, (sleb(VTABLE), sleb(5), uleb(24)), times), at(0x04, (sleb(5),), times), calls, locks,
            at(0x51, (b"\2", uleb(1)), times), at(0x07, (sleb(1), uleb(1), sleb(0x77), uleb(0)), times)))
        # The recording begins with the names, 1000 ns before START.
        for first, last in ((3, 7), (1, 10), (5, 5), (5, 6)):
            window = "--time=%dns..%dns" % (first * 1000 + 1000, last * 1000 + 1000)
            wanted = last - first
            with self.subTest(window=window):
                self.assertEqual(report(path, "alloc", window)["objects"], wanted)
                self.assertEqual(report(path, "exception", window)["throws"], wanted)
                self.assertEqual(report(path, "call", window, "--verbose")["calls"], wanted)
                self.assertEqual(report(path, "monitor", window)["contentions"], wanted)
                self.assertEqual(report(path, "contention", window)["waits"], wanted)
                self.assertEqual(report(path, "hotspots", window)["throws"], wanted)
                handles = report(path, "gc", window)["handles"]
                self.assertEqual(sum(row["destroyed"] for row in handles), wanted)
                self.assertEqual(report(path, "sample", window).get("samples", 0), wanted)
                for measure, each in (("calls", 1), ("alloc-count", 1), ("alloc-bytes", 24), ("throws", 1), ("samples", 1),
                                      ("blocked", 400)):
                    done = run("stacks", path, "--measure", measure, window)
                    self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()), wanted * each,
                                     measure)
                    self.assertEqual(wanted == 0, "nothing that the filters select" in done.stderr, done.stderr)
                rows = json.loads(run("top", path, window, "--json").stdout)["rows"]
                self.assertEqual(sum(row["calls"] for row in rows), wanted)
                out = self.folder / "out.csv"
                self.assertEqual(run("convert", path, "--to", "csv", "-o", out, window).returncode, 0)
                self.assertEqual(len(out.read_text().splitlines()) - 1, wanted)
                info = json.loads(run("info", path, window, "--json").stdout)
                self.assertEqual(info["records_by_kind"].get("Alloc", 0), wanted)

    def test_heap_shots_have_one_number_and_one_time(self):
        # The first buffer of the file is not the first in time.
        events = b"".join(shot([(1, VTABLE, 8 * k)]) for k in range(1, 4))
        named = names({METHOD: "A:Run ()"}, {VTABLE: "Thing"})
        path = self.write("shots", file_header() + buffer(named, START, 9) + buffer(events, START - 10_000, 1))
        seen = {}
        for name, table in (("heapshot", "shots"), ("growth", "over_time")):
            seen[name] = [(row["shot"], row["at_ns"], row["bytes"]) for row in report(path, name)[table]]
        self.assertEqual(seen["heapshot"], [(0, 1000, 8), (1, 2001, 16), (2, 3002, 24)])
        self.assertEqual(seen["growth"], seen["heapshot"])
        retention = report(path, "retention")
        self.assertEqual((retention["shot"], retention["at_ns"]), (2, 3002))
        # Times in reports can be used with --time, everywhere.
        window = "--time=2001ns..3002ns"
        self.assertEqual([row["shot"] for row in report(path, "growth", window)["over_time"]], [1])
        self.assertEqual(report(path, "retention", window)["shot"], 1)
        live = run("stacks", path, "--measure", "live-bytes", window).stdout
        self.assertEqual(live.split()[-1], "16")

    def test_rows_limit_types_that_vanished(self):
        types = {VTABLE + 16 * k: "Type%d" % k for k in range(8)}
        objects = [(10 + k, vtable, 8) for k, vtable in enumerate(types)]
        path = self.write("vanished", file_header() + buffer(names({}, types), START, 9)
                          + buffer(shot(objects) + shot(objects[:2]), START, 1))
        rows = report(path, "heapshot")["classes"]
        self.assertEqual([sum(row["shot"] == k for row in rows) for k in (0, 1)], [8, 8])
        rows = report(path, "heapshot", "--rows=3")["classes"]
        self.assertEqual([sum(row["shot"] == k for row in rows) for k in (0, 1)], [3, 3])
        self.assertEqual([row["objects"] for row in rows], [1, 1, 1, 1, 1, 0])

    def test_addresses_of_several_files_are_those_of_their_processes(self):
        one = recording(event(0x00, sleb(VTABLE), sleb(5), uleb(24)) + event(0x05, b"\1", sleb(5)) + shot([(5, VTABLE, 24)]))
        paths = [self.write("first", one), self.write("second", one)]
        both = json.loads(run("report", *paths, "--json", "--verbose", "--reports=alloc,monitor,heapshot").stdout)
        alone = json.loads(run("report", paths[0], "--json", "--verbose", "--reports=alloc,monitor,heapshot").stdout)
        for name, table, key in (("alloc", "classes", "class"), ("monitor", "locks", "object"), ("heapshot", "classes", "class")):
            table = table if table in both[name] else next(k for k, v in both[name].items() if isinstance(v, list))
            self.assertEqual({row[key] for row in both[name][table]}, {row[key] for row in alone[name][table]}, name)
        tracked = json.loads(run("report", *paths, "--track=0x28", "--json").stdout)["objects"]
        self.assertEqual([row["address"] for row in tracked["events"] if row["event"] == "created"], ["0x28", "0x28"])

    def test_measures_that_have_data_are_named(self):
        allocations = self.write("allocations", recording(event(0x00, sleb(VTABLE), sleb(5), uleb(24)) + event(0x04, sleb(5))))
        for verb in (["top"], ["stacks"], ["graph"], ["flame", "-o", self.folder / "x.html"],
                     ["convert", "--to", "folded", "-o", self.folder / "x.folded"]):
            done = run(*verb, allocations)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r"has no data for the measure (time|self); use --measure "
                                          r"alloc-bytes, alloc-count, throws with stacks or flame\n", verb)
        done = run("stacks", allocations, "--measure", "samples")
        self.assertIn("no data for the measure samples; use --measure alloc-bytes", done.stderr)
        method = Chain()
        calls = self.write("calls", recording(event(0x23, method(METHOD)) + event(0x13, method(METHOD))))
        done = run("stacks", calls, "--measure", "throws")
        self.assertIn("no data for the measure throws; it has calls\n", done.stderr)
        self.assertEqual(run("stacks", calls).stderr, "")
        self.assertIn("nothing that the filters select", run("top", calls, "--function", "nobody").stderr)

    @unittest.skipUnless(mono_programs.HAVE_MONO, "mprof-report is not installed")
    def test_like_mprof_has_its_windows_of_counters_and_locks(self):
        values = at(0x47, (uleb(1), uleb(3), sleb(1), uleb(0)), [300_000_000 * k for k in range(1, 13)])
        locks = (event(0x05, b"\2", sleb(0x10), after=250_000_000) + event(0x05, b"\1", sleb(0x20), after=450_000_000)
                 + event(0x05, b"\2", sleb(0x20), after=200_000_000) + event(0x05, b"\3", sleb(0x30), after=600_000_000))
        named = names({METHOD: "A:Run ()"}, {VTABLE: "Thing"}, ["Working Set", "Page Faults"])
        path = self.write("like_mprof", file_header() + buffer(named, START, 9) + buffer(values, START, 9)
                          + buffer(locks, START, 1))
        for window in ("0-0.5", "0.2-0.8", "0-1", "0.5-1.5", "1-2", "1.1-1.9", "1.9-3.4", "2-2", "0.3-0.7", None):
            options = ["--time=" + window] if window else []
            with self.subTest(window=window):
                theirs = mprof_report.report(path, "--reports=counters,monitor", "--verbose", *options)
                counters = report(path, "counters", "--like-mprof", "--verbose", *options)["counters"]
                stamps = {"0:00:00:%06.3f" % (row["at_ns"] / 1e9): row["shown"] for row in counters}
                wanted = {stamp: rows[0][2] for stamp, rows in theirs.get("counters", {"by_time": {}})["by_time"].items()}
                self.assertEqual(stamps, wanted)
                monitor = report(path, "monitor", "--like-mprof", *options)
                ours = {(int(row["object"], 16), row["contentions"], "%.6f" % (row["wait_ns"] / 1e9))
                        for row in monitor["locks"]}
                self.assertEqual(ours, {(lock.object, lock.contentions, "%.6f" % lock.total)
                                        for lock in theirs["monitor"]["locks"]})


if __name__ == "__main__":
    unittest.main()
