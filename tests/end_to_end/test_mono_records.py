"""Mono recordings record by record, compared with mprof-report's reports=stats and --debug."""

import csv
import io
import json
import os
import re
import subprocess
import unittest

import mono_programs
import mprof_report

TELLTALE = mono_programs.TELLTALE


def run(*words):
    done = subprocess.run([TELLTALE, *words], capture_output=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError("%s: %d: %s" % (words, done.returncode, done.stderr.decode()))
    return done.stdout.decode("utf-8", "surrogateescape")


# mprof-report's names of version 17's events; it does not count all kinds.
FIRST_BYTES = {
    "TYPE_ALLOC_NO_BT": 0x00, "TYPE_ALLOC_BT": 0x10,
    "TYPE_GC_EVENT": 0x11, "TYPE_GC_RESIZE": 0x21, "TYPE_GC_MOVE": 0x31, "TYPE_GC_HANDLE_CREATED": 0x41,
    "TYPE_GC_HANDLE_DESTROYED": 0x51, "TYPE_GC_HANDLE_CREATED_BT": 0x61, "TYPE_GC_HANDLE_DESTROYED_BT": 0x71,
    "TYPE_GC_FINALIZE_START": 0x81, "TYPE_GC_FINALIZE_END": 0x91, "TYPE_GC_FINALIZE_OBJECT_START": 0xA1,
    "TYPE_GC_FINALIZE_OBJECT_END": 0xB1,
    "TYPE_END_LOAD": 0x22, "TYPE_END_UNLOAD": 0x42,
    "TYPE_LEAVE": 0x13, "TYPE_ENTER": 0x23, "TYPE_EXC_LEAVE": 0x33, "TYPE_JIT": 0x43,
    "TYPE_THROW_NO_BT": 0x04, "TYPE_THROW_BT": 0x84, "TYPE_CLAUSE": 0x14,
    "TYPE_MONITOR_NO_BT": 0x05, "TYPE_MONITOR_BT": 0x85,
    "TYPE_HEAP_START": 0x06, "TYPE_HEAP_END": 0x16, "TYPE_HEAP_OBJECT": 0x26, "TYPE_HEAP_ROOT": 0x36,
    "TYPE_SAMPLE_HIT": 0x07, "TYPE_SAMPLE_USYM": 0x17, "TYPE_SAMPLE_COUNTERS_DESC": 0x37,
    "TYPE_SAMPLE_COUNTERS": 0x47,
    "TYPE_JITHELPER": 0x18, "TYPE_SYNC_POINT": 0x0A, "TYPE_AOT_ID": 0x1A,
}
NOT_COUNTED = {0x02, 0x46, 0x56}  # names, root areas

KINDS = ("class", "image", "assembly", "domain", "thread", "context", "vtable")  # mtype 1 to 7
GC_EVENTS = {"start": 0, "end": 5, "pre stop": 6, "post stop": 7, "pre start": 8, "post start": 9,
             "pre stop lock": 10, "post start unlock": 11}
HANDLES = ("weak", "weaktrack", "normal", "pinned")
MONITOR = {"contended": 1, "acquired": 2, "not taken": 3}
CLAUSES = ("catch", "filter", "finally", "", "fault")
CALLS = {"enter": "enter", "leave": "leave", "exleave": "exception_leave"}

POINTER = r"(\(nil\)|0x[0-9a-f]+)"
# A line of mprof-report --debug: (kind of record, pattern, figures).
LINES = [
    ("Buffer", r"buf: thread:([0-9a-f]+), len: (\d+), time: (\d+), file offset: (\d+)$",
     lambda m: (int(m[1], 16), int(m[2]), int(m[3]), int(m[4]))),
    ("Alloc", r"alloced object %s, size (\d+) \(.*\) at (\d+)$" % POINTER, lambda m: (m[1], int(m[2]), int(m[3]))),
    ("GcMove", r"moved obj %s to %s$" % (POINTER, POINTER), lambda m: (m[1], m[2])),
    ("GcResize", r"gc heap resized to (\d+)$", lambda m: (int(m[1]),)),
    ("GcEvent", r"gc event for gen(\d): (.*) at (\d+) ", lambda m: (int(m[1]), GC_EVENTS.get(m[2], m[2]), int(m[3]))),
    ("GcHandle", r"handle \((.*)\) (\d+) created for object %s$" % POINTER,
     lambda m: ("created", HANDLES.index(m[1]), int(m[2]), m[3])),
    ("GcHandle", r"handle \((.*)\) (\d+) destroyed$", lambda m: ("destroyed", HANDLES.index(m[1]), int(m[2]))),
    ("GcFinalize", r"gc finalizing object %s at (\d+)$" % POINTER, lambda m: ("object_start", m[1], int(m[2]))),
    ("GcFinalize", r"gc finalized object %s at (\d+)$" % POINTER, lambda m: ("object_end", m[1], int(m[2]))),
    ("GcFinalize", r"gc finalizer queue being processed at (\d+)$", lambda m: ("start", int(m[1]))),
    ("GcFinalize", r"gc finalizer queue finished processing at (\d+)$", lambda m: ("end", int(m[1]))),
    ("vtable", r"vtable %s for class %s in domain %s at (\d+)$" % (POINTER, POINTER, POINTER),
     lambda m: (m[1], m[2], m[3], int(m[4]))),
    ("class", r"(loaded|unloaded) class %s \((.*) in %s\) at (\d+)$" % (POINTER, POINTER),
     lambda m: (m[1], m[2], m[4], int(m[5]), m[3])),
    ("image", r"(loaded|unloaded) image %s \((.*)\) at (\d+)$" % POINTER, lambda m: (m[1], m[2], int(m[4]), m[3])),
    ("assembly", r"(loaded|unloaded) assembly %s \((.*)\) at (\d+)$" % POINTER,
     lambda m: (m[1], m[2], int(m[4]), m[3])),
    ("context", r"(loaded|unloaded) context %s \(%s\) at (\d+)$" % (POINTER, POINTER),
     lambda m: (m[1], m[2], m[3], int(m[4]))),
    # Its "thread" may be a domain.
    ("thread", r"(loaded|unloaded) thread %s at (\d+)$" % POINTER, lambda m: (m[1], m[2], int(m[3]))),
    ("name", r"(thread|domain) %s named at (\d+): (.*)$" % POINTER, lambda m: (m[1], m[2], int(m[3]), m[4])),
    ("Call", r"(enter|leave|exleave) method (.*)$", lambda m: (CALLS[m[1]], m[2])),
    ("Jit", r"jitted method %s \((.*)\), size: (-?\d+), code: %s$" % (POINTER, POINTER),
     lambda m: (m[1], int(m[3]) % 2**32, m[4], m[2])),
    ("Throw", r"throw %s$" % POINTER, lambda m: (m[1],)),
    ("Clause", r"clause (\w+) \((\d+)\) in method (.*)$", lambda m: (CLAUSES.index(m[1]), int(m[2]), m[3])),
    ("Monitor", r"monitor (.*) for object %s$" % POINTER, lambda m: (MONITOR[m[1]], m[2])),
    ("HeapShot", r"heap shot (start|end)$", lambda m: (m[1],)),
    ("HeapObject", r"traced object %s, size (\d+) \(.*\), refs: (\d+)$" % POINTER,
     lambda m: (m[1], int(m[2]), int(m[3]))),
    ("HeapRoots", r"root object %s at address %s$" % (POINTER, POINTER), lambda m: (m[1], m[2])),
    ("HeapRootArea", r"root register address %s size (\d+) type (\d+) key %s name (.*)$" % (POINTER, POINTER),
     lambda m: (m[1], int(m[2]), int(m[3]), m[4], m[5])),
    ("HeapRootArea", r"root unregister address %s$" % POINTER, lambda m: (m[1],)),
    ("SampleHit", r"sample hit, type: \d+ at %s for thread %s$" % (POINTER, POINTER), lambda m: (m[1], m[2])),
    ("frame", r"sample hit bt (\d+): (.*)$", lambda m: (int(m[1]), m[2])),
    ("NativeSymbol", r"unmanaged symbol (.*) at %s$" % POINTER, lambda m: (m[2], m[1])),
    ("JitHelper", r"jit helper (.*), size: (\d+), code: %s$" % POINTER, lambda m: (int(m[2]), m[3])),
    ("AotId", r"aot id (.*)$", lambda m: (m[1],)),
    ("SyncPoint", r"sync point (\d) \(.*\)$", lambda m: (int(m[1]),)),
]
LINES = [(kind, re.compile(pattern), figures) for kind, pattern, figures in LINES]


def theirs(path):
    """mprof-report --debug as {kind: [figures]}, in the order of the file; addresses are numbers."""
    found = {}
    for line in mprof_report.run(path, "--debug").split("\n"):
        if line == "Mono log profiler data":
            break
        if line.startswith("unmatched leave"):
            continue
        for kind, pattern, figures in LINES:
            if match := pattern.match(line):
                found.setdefault(kind, []).append(figures(Numbers(match)))
                break
        else:
            if line:
                raise AssertionError("mprof-report says %r" % line)
    return found


class Numbers:
    """A match whose addresses are numbers."""

    def __init__(self, match):
        self.match = match

    def __getitem__(self, group):
        text = self.match[group]
        if text == "(nil)":
            return 0
        return int(text, 16) if re.fullmatch("0x[0-9a-f]+", text) else text


def metadata(r):
    action = {"end_load": "loaded", "end_unload": "unloaded"}.get(r["action"])
    kind = KINDS[r["mtype"] - 1]
    if r["action"] == "name":
        return "name", (kind, r["pointer"], r["time"], r["name"])
    if kind == "vtable":
        return kind, (r["pointer"], r["type"], r["domain"], r["time"])
    if kind == "class":
        return kind, (action, r["pointer"], r["image"], r["time"], r["name"])
    if kind in ("image", "assembly"):
        return kind, (action, r["pointer"], r["time"], r["name"])
    if kind == "context":
        return kind, (action, r["pointer"], r["domain"], r["time"])
    return "thread", (action, r["pointer"], r["time"])


def handle(r):
    return ("created", r["type"], r["handle"], r["object"]) if r["created"] else ("destroyed", r["type"], r["handle"])


def root_area(r):
    return (r["start"], r["size"], r["source"], r["key"], r["name"]) if r["registered"] else (r["start"],)


# A record of telltale dump --json as figures in LINES' form.
FIGURES = {
    "Buffer": lambda r: (r["thread"], r["length"], r["time_base"], r["offset"]),
    "Alloc": lambda r: (r["object"], r["size"], r["time"]),
    "GcResize": lambda r: (r["heap_size"],),
    "GcEvent": lambda r: (r["generation"], r["event"], r["time"]),
    "GcHandle": handle,
    "GcFinalize": lambda r: (r["phase"], *((r["object"],) if "object" in r["phase"] else ()), r["time"]),
    "Call": lambda r: (r["action"], r["method"]),
    "Jit": lambda r: (r["method"], r["code_size"], r["code"], r["name"]),
    "Throw": lambda r: (r["object"],),
    "Clause": lambda r: (r["type"], r["index"], r["method"]),
    "Monitor": lambda r: (r["action"], r["object"]),
    "HeapShot": lambda r: ({"begin": "start"}.get(r["phase"], r["phase"]),),
    "HeapObject": lambda r: (r["object"], r["size"], len(r["reference_object"]) if r["references"] else 0),
    "HeapRootArea": root_area,
    "NativeSymbol": lambda r: (r["address"], r["name"]),
    "JitHelper": lambda r: (r["size"], r["code"]),
    "AotId": lambda r: (r["id"],),
    "SyncPoint": lambda r: (r["kind"],),
}


def ours(path):
    """telltale dump as theirs()."""
    found = {}

    def add(kind, *figures):
        found.setdefault(kind, []).extend(figures)

    for line in run("dump", "--json", path).splitlines():
        r = json.loads(line)
        if r["record"] == "Metadata":
            kind, figures = metadata(r)
            add(kind, figures)
        elif r["record"] == "GcMove":
            add("GcMove", *zip(r["object"][::2], r["object"][1::2]))
        elif r["record"] == "HeapRoots":
            add("HeapRoots", *zip(r["root_object"], r["root_slot"]))
        elif r["record"] == "SampleHit":
            add("SampleHit", *((address, r["thread"]) for address in r["address"]))
            add("frame", *enumerate(r.get("frame_method", [])))
        elif r["record"] == "HeapObject" and r["size"] == 0:
            pass  # further references of the previous object: mprof-report prints nothing
        elif r["record"] in FIGURES:
            add(r["record"], FIGURES[r["record"]](r))
    return found


class Records(unittest.TestCase):
    maxDiff = 3000

    @classmethod
    def setUpClass(cls):
        if not mono_programs.HAVE_MONO:
            raise unittest.SkipTest("mono, mcs and mprof-report are not installed")
        cls.paths = dict(mono_programs.recordings("everything", "calls", "samples", "zipped"))
        cls.paths["ahead"] = os.path.join(mono_programs.work_dir(), "ahead.mlpd")
        mono_programs.record(cls.paths["ahead"], "nodefaults", mono_programs.compile_ahead("everything"), ["threads"])

    def test_stats(self):
        """Count, least, most and all bytes of each kind of event."""
        pattern = re.compile(r"\t *TYPE_\w+\t *(TYPE_\w+)\tcount +(\d+)\tmin +(\d+)\tmax +(\d+)\tbytes (\d+)$", re.M)
        seen = set()
        for name, path in self.paths.items():
            with self.subTest(recording=name):
                text = mprof_report.run(path, "--reports=stats")
                found = json.loads(run("report", "--reports=stats", "--json", path))["stats"]
                buffers = re.search(r"Buffer count (\d+)\toverhead (\d+)", text)
                self.assertEqual((found["buffers"], found["header_bytes"]), (int(buffers[1]), int(buffers[2])))
                rows = {int(row["first_byte"], 16): (row["count"], row["least"], row["most"], row["bytes"])
                        for row in found["events"]}
                counted = {FIRST_BYTES[m[1]]: tuple(map(int, m.groups()[1:])) for m in pattern.finditer(text)}
                self.assertEqual({byte: row for byte, row in rows.items() if byte not in NOT_COUNTED}, counted)
                for jobs in ("1", "8"):
                    again = run("report", "--reports=stats", "--json", "--jobs", jobs, path)
                    self.assertEqual(json.loads(again)["stats"], found)
                seen |= set(rows)
        # Every kind of event that version 17 writes is in one of the recordings (a sample in native code is a matter of luck).
        self.assertLessEqual(set(FIRST_BYTES.values()) | NOT_COUNTED, seen | {0x17})

    def test_debug(self):
        """Every record, in the order of the file."""
        for name, path in self.paths.items():
            with self.subTest(recording=name):
                found, expected = ours(path), theirs(path)
                names = {}  # a method's memory may be reused by another one
                for figures in found["Jit"]:
                    names.setdefault(figures[0], set()).add(figures[3])
                for kind, place in (("Call", 1), ("Clause", 2), ("frame", 1)):
                    for row, theirs_of_row in enumerate(expected.get(kind, [])[: len(found.get(kind, []))]):
                        figures = list(found[kind][row])
                        # It does not use names that come later in the file.
                        name, unknown = theirs_of_row[place], "unknown method 0x%x" % figures[place]
                        if name == unknown or name in names.get(figures[place], ()):
                            figures[place] = name
                        found[kind][row] = tuple(figures)
                self.assertEqual(set(found), set(expected))
                for kind, figures in expected.items():
                    self.assertEqual(len(found[kind]), len(figures), kind)
                    wrong = [pair for pair in zip(found[kind], figures) if pair[0] != pair[1]]
                    self.assertEqual(wrong[:3], [], kind)

    def test_debug_of_a_report(self):
        path = self.paths["samples"]
        text = run("report", "--debug", path)
        self.assertEqual(text, run("dump", path) + "\n" + run("report", path))
        refused = subprocess.run([TELLTALE, "report", "--debug", "--json", path], capture_output=True)
        self.assertEqual((refused.returncode, refused.stdout), (2, b""))
        self.assertIn(b"dump --json", refused.stderr)

    def test_csv_of_each_table(self):
        """Every table that JSON has is a CSV table, with the same rows."""
        reports = ("--reports=header,jit,gc,sample,alloc,call,metadata,exception,monitor,thread,domain,context,heapshot,"
                   "counters,stats,pauses,growth,retention,contention,hotspots,timelines,series")
        tables = set()
        for name in ("everything", "calls", "samples"):
            found = json.loads(run("report", "--json", reports, "--verbose", "--traces", self.paths[name]))
            sections = {key: value for key, value in found.items() if isinstance(value, dict) and key != "recording"}
            for report, section in sections.items():
                for key, rows in section.items():
                    if not isinstance(rows, list) or (report, key) in tables or not rows:
                        continue
                    tables.add((report, key))
                    text = run("report", "--csv", "--reports=%s.%s" % (report, key), "--verbose", "--traces",
                               self.paths[name])
                    lines = list(csv.reader(io.StringIO(text)))
                    self.assertEqual(lines[0], list(rows[0]), (report, key))
                    self.assertEqual(len(lines) - 1, len(rows), (report, key))
        self.assertGreater(len(tables), 25, sorted(tables))


if __name__ == "__main__":
    unittest.main()
