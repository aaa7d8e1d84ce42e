"""Traces recorded during the test by clang's own runtime, read by telltale: compared with the recorded program's own
counts, with llvm-xray where it is correct, and with the slow reader of slow_xray.py."""

import csv
import io
import json
import os
import shutil
import subprocess
import unittest

import slow_xray
from xray_recorder import CLANGS, Recording, build, private_frequency_command, telltale, top, work_dir

FDR = "func_duration_threshold_us=0 buffer_size=65536 buffer_max=64"
BASIC = "func_duration_threshold_us=0"


def llvm_account(recording, version):
    """id -> row of llvm-xray's account of the whole trace. On traces with several threads or many buffers it is only
    correct if it gets the records in order of time: `convert -f raw` sorts them, but writes the FDR header before a
    basic log of version 3."""
    tool = "llvm-xray-" + version
    raw = os.path.join(work_dir(), "oracle.raw")
    subprocess.run([tool, "convert", "-f", "raw", recording.path, "-o", raw], check=True, timeout=60)
    with open(raw, "r+b") as file:
        file.write(b"\x03\x00\x00\x00")
    done = subprocess.run(
        [tool, "account", raw, "-m", recording.program, "-k", "-d", "-f", "csv"],
        check=True, capture_output=True, text=True, timeout=60,
    )
    return {int(row["funcid"]): row for row in csv.DictReader(io.StringIO(done.stdout))}


class Interop(unittest.TestCase):
    maxDiff = None

    def records(self, name, mode="xray-fdr", options=FDR, arguments=(), flags=()):
        """Recordings of one program with every clang, with the emulated clock and a real one."""
        self.assertTrue(CLANGS, "clang 19 or 22 is needed")
        for clang in CLANGS:
            program = build(name, clang, *flags)
            for real_clock in (False, True):
                if real_clock and private_frequency_command() is None:
                    print("skipped: time stamp counter (a mount namespace is not permitted here)")
                    continue
                recording = self.whole_recording(program, mode, options, *arguments, real_clock=real_clock)
                frequency = json.loads(telltale("info", "--json", recording.path).stdout)["clock_hz"]
                self.assertEqual(frequency, 2_100_000_000 if real_clock else 1_000_000_000)
                yield clang, recording

    def whole_recording(self, *arguments, **more):
        """A recording of which clang's runtime lost nothing. It may write one buffer twice and lose another
        (docs/formats/xray.md, "What the reader tolerates"); telltale must report that."""
        for _ in range(5):
            recording = Recording(*arguments, **more)
            copies = slow_xray.Trace(recording.bytes).copied_buffers() if "xray-fdr" in arguments else 0
            told = json.loads(telltale("info", "--json", recording.path).stdout)["problems"]
            self.assertEqual(sum("the same bytes as the buffer" in problem["message"] for problem in told), copies)
            if copies == 0:
                return recording
            print("recorded again: the runtime wrote a buffer twice")
        self.fail("the runtime wrote a buffer twice in five recordings")

    def check_counts(self, recording, rows):
        """Calls as the program counted them; no other functions in the table."""
        ids = recording.said["ids"]
        told = {
            function: (rows[id]["calls"] - rows[id]["unwound"], rows[id]["unwound"])
            for function, id in ids.items()
            if id in rows and rows[id]["calls"]
        }
        self.assertEqual(told, recording.calls())

    def check_slow_reader(self, recording, rows):
        trace = slow_xray.Trace(recording.bytes)
        expected = slow_xray.profile(trace)
        self.assertEqual(rows.keys(), expected.keys())
        for id, want in expected.items():
            for key in ("calls", "unwound", "unfinished", "orphan_exits"):
                self.assertEqual(rows[id][key], want[key], (id, key))
            for key in ("sum", "total", "self", "min", "median", "p90", "p99", "max"):
                want_ns = (want[key] * 10**9 * 2 + trace.frequency) // (2 * trace.frequency)
                self.assertEqual(rows[id][key + "_ns"], want_ns, (id, key))

    def check_llvm(self, recording, rows, clang):
        if not shutil.which("llvm-xray-" + clang):
            self.fail("llvm-xray-%s is needed" % clang)
        account = llvm_account(recording, clang)
        self.assertEqual({id for id, row in rows.items() if row["calls"]}, set(account))
        for id, theirs in account.items():
            self.assertEqual(rows[id]["calls"], int(theirs["count"]))
            for ours, name in (("min", "min"), ("median", "median"), ("p90", "90%ile"), ("p99", "99%ile"),
                               ("max", "max"), ("sum", "sum")):
                seconds = float(theirs[name])
                # They print seven digits; we print whole nanoseconds.
                self.assertAlmostEqual(rows[id][ours + "_ns"] / 1e9, seconds, delta=0.6e-6 * seconds + 0.6e-9,
                                       msg=(id, name))

    def check_llvm_yaml(self, recording, clang):
        """llvm-xray's YAML of the trace, read by us, gives the same table; so does our YAML."""
        theirs = os.path.join(work_dir(), "theirs.yaml")
        subprocess.run(["llvm-xray-" + clang, "convert", "-f", "yaml", recording.path, "-o", theirs],
                       check=True, timeout=60)
        ours = os.path.join(work_dir(), "ours.yaml")
        telltale("convert", "--to", "llvm-xray-yaml", "-o", ours, recording.path)
        keys = ("calls", "unwound", "unfinished", "orphan_exits", "sum_ns", "total_ns", "self_ns", "min_ns", "max_ns")
        def table(path):
            return {id: [row[key] for key in keys] for id, row in top(path, "--exact").items()}
        self.assertEqual(table(theirs), table(recording.path))
        self.assertEqual(table(ours), table(recording.path))

    def check_clean(self, recording):
        info = json.loads(telltale("info", "--json", "--strict", recording.path).stdout)
        self.assertEqual(info["problems"], [])
        return info

    def test_calls_fdr(self):
        for clang, recording in self.records("calls"):
            self.check_clean(recording)
            rows = top(recording.path, "--exact")
            self.check_counts(recording, rows)
            self.check_slow_reader(recording, rows)
            self.check_llvm(recording, rows, clang)
            self.check_llvm_yaml(recording, clang)
            open_id = recording.said["ids"]["stays_open"]
            self.assertEqual((rows[open_id]["calls"], rows[open_id]["unfinished"]), (0, 1))

    def test_calls_basic(self):
        for clang, recording in self.records("calls", "xray-basic", BASIC):
            self.check_clean(recording)
            rows = top(recording.path, "--exact")
            self.check_counts(recording, rows)
            self.check_slow_reader(recording, rows)
            self.check_llvm(recording, rows, clang)
            self.check_llvm_yaml(recording, clang)

    def test_threads_apart(self):
        for _, recording in self.records("calls"):
            names = {id: function for function, id in recording.said["ids"].items()}
            told = {}
            for row in json.loads(telltale("top", "--json", "--by-thread", recording.path).stdout)["rows"]:
                self.assertEqual(row["pid"], recording.said["pid"])
                if row["calls"]:
                    told[row["tid"], names[row["id"]]] = (row["calls"] - row["unwound"], row["unwound"])
            self.assertEqual(told, recording.calls(by_thread=True))

    def test_names_come_from_the_program(self):
        for _, recording in self.records("calls"):
            for id, row in top(recording.path, "--program", recording.program).items():
                short = row["function"].split("(")[0]
                self.assertEqual(recording.said["ids"][short], id)
                self.assertTrue(row["file"].endswith("calls.cc"), row)
                self.assertGreater(row["line"], 0)

    def check_events(self, recording, typed):
        """Arguments and payloads, in order, from the dump and from the slow reader."""
        told = {"arguments": [], "custom": [], "typed": []}
        for line in telltale("dump", "--json", recording.path).stdout.splitlines():
            record = json.loads(line)
            kind = record.get("record")
            if kind == "CallArgument":
                told["arguments"].append(record["value"])
            elif kind == "CustomEventMarker":
                told["custom"].append(record["data_hex"])
            elif kind == "TypedEventMarker":
                told["typed"].append([record["event_type"], record["data_hex"]])
        said = {key: recording.said[key] for key in told}
        slow = {"arguments": [], "custom": [], "typed": []}
        for thread in slow_xray.Trace(recording.bytes).threads.values():
            for event in thread.events():
                if event[1] == "custom":
                    slow["custom"].append(event[3].hex())
                elif event[1] == "typed":
                    slow["typed"].append([event[2], event[3].hex()])
                else:
                    slow["arguments"].extend(event[3])
        self.assertEqual(told, slow)
        for key, values in said.items():
            # Typed events cost the end of the buffer: the records in the file must be correct, in order.
            self.assertEqual(told[key], values[: len(told[key])] if typed else values)
            self.assertTrue(not values or told[key])

    def test_arguments_and_custom_events(self):
        for clang, recording in self.records("events", arguments=[40]):
            self.check_clean(recording)
            rows = top(recording.path, "--exact")
            self.check_counts(recording, rows)
            self.check_slow_reader(recording, rows)
            self.check_llvm(recording, rows, clang)
            self.check_llvm_yaml(recording, clang)
            self.check_events(recording, typed=False)

    def test_arguments_basic(self):
        for clang, recording in self.records("events", "xray-basic", BASIC, [40]):
            self.check_clean(recording)
            rows = top(recording.path, "--exact")
            self.check_counts(recording, rows)
            self.check_slow_reader(recording, rows)
            self.check_llvm(recording, rows, clang)

    def test_typed_events(self):
        """Each typed event costs its buffer the last 16 bytes; everything else is read (llvm-xray reads none of it)."""
        for rounds in (1, 2, 3, 60):
            for _, recording in self.records("events", arguments=[rounds], flags=["-DTYPED"]):
                rows = top(recording.path, "--exact")
                self.check_slow_reader(recording, rows)
                self.check_events(recording, typed=True)
                info = json.loads(telltale("info", "--json", recording.path).stdout)
                # Of the 16 bytes an event, the file contains at most part of one record.
                self.assertLess(info["lost_bytes"], 16 + 64)
                for problem in info["problems"]:
                    self.assertEqual(problem["kind"], "loss")
                typed = info["records_by_kind"].get("TypedEventMarker", 0)
                calls = sum(count for kind, count in info["records_by_kind"].items() if kind.startswith("Function"))
                written = 2 + 6 * rounds
                self.assertGreaterEqual(calls + typed, written + rounds - 2 * rounds - 3)

    def test_typed_events_in_small_buffers(self):
        """The damage stays in its buffer: the next one is found."""
        options = "func_duration_threshold_us=0 buffer_size=1024 buffer_max=100"
        for _, recording in self.records("events", options=options, arguments=[60], flags=["-DTYPED"]):
            rows = top(recording.path, "--exact")
            self.check_slow_reader(recording, rows)
            slow = slow_xray.Trace(recording.bytes)
            self.assertGreater(sum(len(thread.pieces) for thread in slow.threads.values()), 5)

    def test_many_buffers_of_a_thread(self):
        """More than 16 buffers a thread, which llvm-xray sorts incorrectly."""
        options = "func_duration_threshold_us=0 buffer_size=1024 buffer_max=1000"
        for clang, recording in self.records("ring", options=options, arguments=[500, 3]):
            info = self.check_clean(recording)
            self.assertGreater(info["records_by_kind"]["NewBuffer"], 3 * 16)
            rows = top(recording.path, "--exact")
            self.check_counts(recording, rows)
            self.assertEqual(sum(row["unwound"] + row["orphan_exits"] + row["unfinished"] for row in rows.values()), 0)
            self.check_slow_reader(recording, rows)
            self.check_llvm(recording, rows, clang)

    def test_ring_that_wrapped(self):
        """The newest part remains, in order of time: inner's argument increases without a gap."""
        options = "func_duration_threshold_us=0 buffer_size=1024 buffer_max=20"
        for clang, recording in self.records("ring", options=options, arguments=[2000, 1]):
            info = self.check_clean(recording)
            self.assertEqual(info["records_by_kind"]["NewBuffer"], 20)
            rows = top(recording.path, "--exact")
            self.check_slow_reader(recording, rows)
            self.check_llvm(recording, rows, clang)
            # Two calls may be open when the remaining part begins; nothing else lacks an end or a beginning.
            self.assertEqual(sum(row["unwound"] + row["unfinished"] for row in rows.values()), 0)
            self.assertLessEqual(sum(row["orphan_exits"] for row in rows.values()), 3)
            inner = rows[recording.said["ids"]["inner"]]
            (thread,) = slow_xray.Trace(recording.bytes).threads.values()
            arguments = [argument for event in thread.events() for argument in event[3]]
            self.assertEqual(arguments, list(range(4000 - len(arguments), 4000)))
            self.assertIn(len(arguments) - inner["calls"], (0, 1))

    def test_several_files_are_one_recording(self):
        for clang in CLANGS:
            one = Recording(build("calls", clang), "xray-fdr", FDR)
            two = Recording(build("calls", clang), "xray-basic", BASIC)
            both = json.loads(telltale("top", "--json", one.path, two.path).stdout)["rows"]
            calls = {row["id"]: row["calls"] for row in both}
            for id in calls:
                parts = sum(top(each.path).get(id, {"calls": 0})["calls"] for each in (one, two))
                self.assertEqual(calls[id], parts)


if __name__ == "__main__":
    unittest.main()
