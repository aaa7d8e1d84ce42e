"""Perfetto's own trace processor reads our Perfetto files; compared with slow_xray.py's reading of the original trace."""

import collections
import os
import random
import subprocess
import unittest

import perfetto_ui
import slow_xray
from xray_recorder import CLANGS, TELLTALE, Recording, build, telltale, work_dir

MAKE_TRACE = os.path.join(os.path.dirname(TELLTALE), "make_trace")

SLICES = """
  select s.id, s.name, s.category, s.ts, s.dur, s.depth, s.parent_id, t.tid, t.name as thread, p.pid
  from slice s join thread_track tt on s.track_id = tt.id join thread t using (utid) left join process p using (upid)
  order by s.id"""
ARGUMENTS = """
  select s.id, a.flat_key as key, coalesce(a.string_value, a.int_value) as value
  from slice s join args a using (arg_set_id)"""
TROUBLE = "select name, idx, value from stats where severity != 'info' and value != 0"
COUNT = "select (select count(*) from slice) as slices, (select count(*) from stats) as stats"


def to_ns(ticks, frequency):
    return (ticks * 2 * 10**9 + frequency) // (2 * frequency)


def expected_slices(trace):
    """The trace's contents: (tid, pid, name, category, ts, dur, depth, arguments) of each call and event. Depth is the
    number of calls around it."""
    frequency = trace.frequency or 10**9
    zero = min(start for thread in trace.threads.values() for start, _ in thread.pieces)
    slices = []
    for (pid, tid), thread in trace.threads.items():
        stack = []
        floor = last = 0
        begun = []

        def add(name, category, time, arguments):
            begun.append([tid, pid or 1, name, category, time, 0, len(stack), arguments])

        for event in thread.events():
            floor = max(floor, event[0])
            time = to_ns(floor - zero, frequency)
            action, function = event[1:3]
            if action == "wrap":  # changes the clock, but is not an event of the thread
                continue
            last = time
            if action == "cpu":
                continue
            if isinstance(action, str):
                name = f"{action} event" + (f" {function}" if function else "")
                said = event[3].decode(errors="replace")
                if 0 < len(event[3]) <= 100 and said.isprintable() and "\ufffd" not in said:  # a line of text
                    name = f"{name}: {said}" if function else said
                add(name, "telltale." + action, time, payload(event[3]))
            elif action in (slow_xray.ENTER, slow_xray.ENTER_ARGS):
                add(f"#{function}", None, time, {f"debug.arg{i}": value for i, value in enumerate(event[3])})
                stack.append((function, len(begun) - 1))
            elif all(frame[0] != function for frame in stack):
                add(f"exit without entry: #{function}", "telltale.orphan_exit", time, {})
            else:
                while True:
                    top, slot = stack.pop()
                    begun[slot][5] = time - begun[slot][4]
                    if top == function:
                        break
                    begun[slot][7]["debug.ended"] = "unwound"
        for _, slot in stack:
            begun[slot][5] = last - begun[slot][4]
            begun[slot][7]["debug.ended"] = "unfinished"
        slices += [tuple(one) for one in begun]
    return slices


def payload(data):
    return {"debug.payload_hex": data.hex()}


def text_as_hex(slices):
    """Payloads are text if they are printable; this test does not check which are."""
    for row in slices:
        if "debug.payload" in row[7]:
            row[7]["debug.payload_hex"] = row[7].pop("debug.payload").encode().hex()
    return slices


def signed(value):
    return value - 2**64 if value >= 2**63 else value


class PerfettoTest(unittest.TestCase):
    maxDiff = 4000

    def convert(self, path, *options):
        out = os.path.join(work_dir(), "out.pftrace")
        if os.path.exists(out):
            os.remove(out)
        telltale("convert", path, "-o", out, *options)
        return out

    def convert_bytes(self, data, *options):
        path = os.path.join(work_dir(), "in.fdr")
        with open(path, "wb") as file:
            file.write(data)
        return self.convert(path, *options)

    def read(self, perfetto):
        """The trace processor's slices, in expected_slices()' form, without import errors."""
        slices, arguments, trouble, (count,) = perfetto_ui.query(perfetto, SLICES, ARGUMENTS, TROUBLE, COUNT)
        self.assertEqual(trouble, [])
        self.assertGreater(count["stats"], 100)
        self.assertEqual(count["slices"], len(slices), "slices beside the threads")
        of_slice = collections.defaultdict(dict)
        for row in arguments:
            of_slice[row["id"]][row["key"]] = row["value"]
        instants = {row["id"] for row in slices if row["category"]}
        parents = {row["id"]: row["parent_id"] for row in slices}

        def depth(row):
            """Only for calls: an instant is a slice without duration, and can contain another of the same nanosecond."""
            calls, at = 0, row["parent_id"]
            while at is not None:
                calls += at not in instants
                at = parents[at]
            return calls

        return [
            (row["tid"], row["pid"], row["name"], row["category"], row["ts"], row["dur"], depth(row),
             of_slice[row["id"]])
            for row in slices
        ]

    def compare(self, read, expected):
        expected = [row[:7] + ({k: v if isinstance(v, str) else signed(v) for k, v in row[7].items()},)
                    for row in expected]
        self.assertEqual(sorted(read, key=repr), sorted(expected, key=repr))

    def test_calls_of_two_threads(self):
        """Written out by hand: recursion, calls over two buffers, unwound and unfinished ones, a tail call."""
        writer = slow_xray.Writer(5)
        writer.buffer(7, 42, 0, 1_000_000)
        writer.function(0, 1, 0)
        for action, function in [(0, 2), (0, 2), (1, 2), (1, 2), (0, 3), (0, 4)]:
            writer.function(action, function, 5 if function > 2 else 10)
        writer.buffer(8, 42, 1, 1_000_001)
        for action, function, delta in [(0, 5, 0), (2, 5, 3), (3, 6, 1)]:
            writer.function(action, function, delta)
        writer.metadata(slow_xray.ARGUMENT, "Q", 99)
        writer.custom(b"hello <b>", 0, 2)
        writer.typed(6, b"\x00\xff", 2)
        writer.function(1, 6, 3)
        writer.function(0, 7, 1)
        writer.function(1, 9, 4)
        writer.buffer(7, 42, 0, 1_001_000)
        for action, function, delta in [(1, 1, 0), (0, 8, 10), (1, 8, 10)]:
            writer.function(action, function, delta)
        expected = [
            (7, 42, "#1", None, 0, 1000, 0, {}),
            (7, 42, "#2", None, 10, 30, 1, {}),
            (7, 42, "#2", None, 20, 10, 2, {}),
            (7, 42, "#3", None, 45, 955, 1, {"debug.ended": "unwound"}),
            (7, 42, "#4", None, 50, 950, 2, {"debug.ended": "unwound"}),
            (7, 42, "#8", None, 1010, 10, 0, {}),
            (8, 42, "#5", None, 1, 3, 0, {}),
            (8, 42, "#6", None, 5, 7, 0, {"debug.arg0": 99}),
            (8, 42, "hello <b>", "telltale.custom", 7, 0, 1, {"debug.payload": "hello <b>"}),
            (8, 42, "typed event 6", "telltale.typed", 9, 0, 1, {"debug.payload_hex": "00ff"}),
            (8, 42, "#7", None, 13, 4, 0, {"debug.ended": "unfinished"}),
            (8, 42, "exit without entry: #9", "telltale.orphan_exit", 17, 0, 1, {}),
        ]
        for options in ([], ["--compress"]):
            with self.subTest(options=options):
                self.compare(self.read(self.convert_bytes(writer.bytes(), *options)), expected)

    def test_random_traces(self):
        """Every version, up to four threads in two processes, buffers out of order, events, arguments, long gaps."""
        for version in range(1, 6):
            with self.subTest(version=version):
                data = slow_xray.random_fdr(random.Random(version), version)
                perfetto = self.convert_bytes(data, *["--compress"] * (version % 2))
                self.compare(text_as_hex(self.read(perfetto)), expected_slices(slow_xray.Trace(data)))

    def test_several_units_of_one_thread(self):
        """A trace that is converted in several units: names are defined once, the clock advances across units."""
        path = os.path.join(work_dir(), "large.fdr")
        subprocess.run([MAKE_TRACE, path, "1150000"], check=True, timeout=60)
        with open(path, "rb") as file:
            data = file.read()
        self.assertGreater(len(data), 8 << 20)
        digests = {}
        for row in expected_slices(slow_xray.Trace(data)):
            _, _, name, _, time, duration, depth, _ = row
            digest = digests.setdefault((name, depth), [0, 0, 0, 0])
            digest[0] += 1
            digest[1] += time
            digest[2] += duration
            digest[3] += time * duration % 1_000_003
        query = """select name, depth, count(*) as n, sum(ts) as ts, sum(dur) as dur, sum(ts * dur % 1000003) as digest
                   from slice group by name, depth"""
        for options in ([], ["--compress", "--jobs", "3"]):
            with self.subTest(options=options):
                rows, trouble = perfetto_ui.query(self.convert(path, *options), query, TROUBLE)
                self.assertEqual(trouble, [])
                read = {(row["name"], row["depth"]): [row["n"], row["ts"], row["dur"], row["digest"]] for row in rows}
                self.assertEqual(read, digests)

    def test_names_and_sources_of_a_recorded_program(self):
        self.assertTrue(CLANGS, "clang 19 or 22 is needed")
        recording = Recording(build("events", CLANGS[-1]), "xray-fdr",
                              "func_duration_threshold_us=0 buffer_size=65536 buffer_max=64", 20)
        perfetto = self.convert(recording.path, "--program", recording.program)
        slices, arguments, trouble = perfetto_ui.query(perfetto, SLICES, ARGUMENTS, TROUBLE)
        self.assertEqual(trouble, [])
        of_slice = collections.defaultdict(dict)
        for row in arguments:
            of_slice[row["id"]][row["key"]] = row["value"]
        calls = [row for row in slices if not row["category"]]
        counted = collections.Counter(row["name"].split("(")[0] for row in calls)
        self.assertEqual(counted, {name: sum(both) for name, both in recording.calls().items()})
        for row in calls:
            self.assertRegex(row["name"], r"^(all_of_it|leaves_custom|takes_argument)\(.*\)$")
            self.assertRegex(of_slice[row["id"]]["source.file_name"], r"tests/programs/xray/events\.cc$")
            self.assertGreater(of_slice[row["id"]]["source.line_number"], 0)
        values = [of_slice[row["id"]]["debug.arg0"] for row in calls if row["name"].startswith("takes_argument")]
        self.assertEqual(values, [signed(value) for value in recording.said["arguments"]])
        texts = [of_slice[row["id"]].get("debug.payload_hex") for row in slices if row["name"] == "custom event"]
        self.assertEqual(texts, recording.said["custom"])

    def test_the_trouble_table_is_real(self):
        """A file whose packets use a clock that no snapshot has."""
        writer = slow_xray.Writer(5)
        writer.buffer(7, 42, 0, 1_000_000)
        writer.function(0, 1, 0)
        writer.function(1, 1, 10)
        perfetto = self.convert_bytes(writer.bytes())
        with open(perfetto, "rb") as file:
            data = file.read()
        clock = bytes([0xD0, 0x03, 64])  # TracePacketDefaults.timestamp_clock_id
        self.assertEqual(data.count(clock), 1)
        with open(perfetto, "wb") as file:
            file.write(data.replace(clock, bytes([0xD0, 0x03, 65])))
        (trouble,) = perfetto_ui.query(perfetto, TROUBLE)
        self.assertIn("clock_sync_failure", [row["name"] for row in trouble])


if __name__ == "__main__":
    unittest.main()
