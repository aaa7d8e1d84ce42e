"""Old data versions: every report of the golden files, which telltale's own writer made, compared with mprof-report's.

Current mono writes only version 17, but its mprof-report reads all versions."""
import json
import os
import struct
import subprocess
import tempfile
import unittest

import mono_programs
import mprof_report
import test_mono_reports
from mono_programs import report_document

GOLDEN = os.path.join(mono_programs.SOURCE_DIR, "tests/golden/mono")
ALL = [f"v{version}" for version in range(1, 18)] + ["v1_32", "v12_32", "v17_32", "v15_counters_only"]

# mprof-report misreads these, and with them the rest of the buffer, and gives up: a module id after the name of an image
# that is unloaded; a section's name before performance counters' before version 7.
UNREADABLE = {
    "Metadata": lambda r, version: version >= 16 and r["mtype"] == 2 and r["action"] == "end_unload",
    "CounterDescriptions": lambda r, version: version < 7,
}


def without_unreadable(path, to):
    """Copies a recording without the events that mprof-report cannot read; returns their number."""
    lines = subprocess.run([mono_programs.TELLTALE, "dump", "--json", path], capture_output=True, check=True, timeout=60)
    records = [json.loads(line) for line in lines.stdout.splitlines()]
    version = records[0]["version"]
    with open(path, "rb") as file:
        data = file.read()
    ends = [record["offset"] for record in records[1:]] + [len(data)]
    out, dropped, header = bytearray(), 0, None
    for record, end in zip(records, ends):
        if record["record"] == "Buffer":
            header = len(out)
        unreadable = UNREADABLE.get(record["record"])
        if unreadable and unreadable(record, version):
            length = struct.unpack_from("<I", out, header + 4)[0]
            struct.pack_into("<I", out, header + 4, length - (end - record["offset"]))
            dropped += 1
        else:
            out += data[record["offset"]:end]
    with open(to, "wb") as file:
        file.write(out)
    return dropped


class OldVersions(unittest.TestCase):
    maxDiff = 3000

    @classmethod
    def setUpClass(cls):
        if not mono_programs.HAVE_MONO:
            raise unittest.SkipTest("mono, mcs and mprof-report are not installed")
        cls.folder = tempfile.TemporaryDirectory(prefix="telltale-mono-")
        cls.paths, cls.dropped = {}, {}
        for name in ALL:
            cls.paths[name] = os.path.join(cls.folder.name, name + ".mlpd")
            cls.dropped[name] = without_unreadable(os.path.join(GOLDEN, name + ".mlpd"), cls.paths[name])
        cls.checks = test_mono_reports.Reports("test_jit")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def compare(self, check, *options, without=()):
        for name in ALL:
            if name in without:
                continue
            with self.subTest(version=name, options=options):
                theirs = mprof_report.report(self.paths[name], *options)
                check(report_document(self.paths[name], *options, "--like-mprof"), theirs)

    def test_only_what_it_cannot_read_is_left_out(self):
        for name, dropped in self.dropped.items():
            self.assertEqual(dropped, 1 if name in ("v5", "v6", "v16", "v17", "v17_32") else 0, name)

    def test_header(self):
        def check(ours, theirs):
            ours, theirs = ours["header"], theirs["header"]
            self.assertEqual(ours["profiler_version"], theirs["Profiler version"])
            self.assertEqual(str(ours["data_version"]), theirs["Data version"])
            self.assertEqual("%d nanoseconds" % ours["timer_overhead_ns"], theirs["Mean timer overhead"])
            self.assertEqual(ours.get("architecture"), theirs.get("Architecture"))
            self.assertEqual(str(ours.get("pid")), theirs.get("Program ID"))

        self.compare(check)

    def test_reports(self):
        # Reports of data that a version does not have are not printed.
        def ids(ours, theirs):
            theirs["thread"] = [(id, name) for id, name in theirs["thread"] if name != '""']
            self.checks.check_ids({"domain": {"domains": []}, "context": {"contexts": []}, **ours},
                                  {"domain": [], "context": [], **theirs})

        def counters(ours, theirs):
            self.checks.check_counters({"counters": {"counters": []}, **ours}, {"counters": {"last": {}}, **theirs})

        # It reads version 15 with the events of 14 as 15, and no lock actions in version 13.
        wrong = {"alloc": ["v15_counters_only"], "heapshot": ["v15_counters_only"], "monitor": ["v13"]}
        for report in ("jit", "gc", "sample", "alloc", "call", "metadata", "exception", "monitor", "heapshot"):
            with self.subTest(report=report):
                check = getattr(self.checks, "check_" + report)
                self.compare(check, "--verbose", without=wrong.get(report, []))
        self.compare(ids)
        self.compare(counters)

    def test_every_report_has_figures(self):
        found = report_document(self.paths["v14"], "--verbose")
        self.assertGreater(min(found["jit"]["helpers"], found["gc"]["moved_objects"], found["sample"]["samples"],
                               found["alloc"]["objects"], found["call"]["calls"], found["exception"]["throws"],
                               found["monitor"]["contentions"], len(found["heapshot"]["classes"])), 0)


def figures(found, without=()):
    """The parts of an mprof-report report that must be equal for both versions of a recording."""
    empty = {"rows": [], "total": 0}
    monitor = found.get("monitor", {"locks": [], "contentions": 0, "acquired": 0, "failures": 0})
    exception = found.get("exception", {"throws": 0, "clauses": {}, "traces": []})
    gc = found.get("gc", {"generations": {}})
    every = {
        "monitor": (monitor["contentions"], monitor["acquired"], monitor["failures"],
                    sorted((lock.object, lock.contentions, lock.total, lock.max, lock.traces) for lock in monitor["locks"])),
        "exception": (exception["throws"], exception["clauses"], exception["traces"]),
        "call": (found.get("call", empty)["total"], sorted((row.name, row.numbers) for row in found.get("call", empty)["rows"])),
        # Not by type: mprof-report cannot resolve the types of vtables that are used early.
        "alloc": found.get("alloc", {"total": (0, 0)})["total"],
        "gc": (gc.get("GC resizes"), gc.get("Max heap size"), gc.get("Object moves"), gc["generations"]),
        "heapshot": [(shot.seconds, shot.size, shot.objects) for shot in found.get("heapshot", [])],
        "thread": sorted((id, name) for id, name in found.get("thread", []) if name != '""'),
    }
    return {name: value for name, value in every.items() if name not in without}


class Conversions(unittest.TestCase):
    """The output of `convert`, read by mprof-report."""
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        if not mono_programs.HAVE_MONO:
            raise unittest.SkipTest("mono, mcs and mprof-report are not installed")
        cls.keeper = tempfile.TemporaryDirectory(prefix="telltale-mono-")
        cls.folder = cls.keeper.name

    @classmethod
    def tearDownClass(cls):
        cls.keeper.cleanup()

    def read(self, path, *options):
        """According to mprof-report, as far as it can read."""
        readable = os.path.join(self.folder, "readable.mlpd")
        without_unreadable(path, readable)
        return mprof_report.report(readable, "--verbose", *options)

    def convert(self, path, target):
        out = os.path.join(self.folder, "as%d.mlpd" % target)
        done = subprocess.run([mono_programs.TELLTALE, "convert", path, "--to", "mono%d" % target, "-o", out],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        checked = subprocess.run([mono_programs.TELLTALE, "check", out], capture_output=True, text=True, timeout=60)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        return out

    def test_mprof_report_reads_the_same_figures_of_every_version(self):
        wrong = {"v15_counters_only": ("alloc", "heapshot"), "v13": ("monitor",)}  # of the original: see OldVersions
        for name in ALL:
            path = os.path.join(GOLDEN, name + ".mlpd")
            without = wrong.get(name, ())
            before = figures(self.read(path), without)
            for target in (1, 17):
                with self.subTest(version=name, target=target):
                    self.assertEqual(figures(self.read(self.convert(path, target)), without), before)

    def test_mprof_report_reads_the_same_figures_of_real_recordings(self):
        traces = ("--traces", "--maxframes=100")  # the golden files' objects have no references: it crashes on that
        for name, path in mono_programs.recordings("everything", "heap", "plain").items():
            before = figures(self.read(path, *traces))
            self.assertNotEqual(before["monitor" if name == "everything" else "heapshot"], ([], 0))
            with self.subTest(recording=name):
                published = self.convert(path, 1)
                self.assertEqual(figures(self.read(published, *traces)), before)
                # Version 1's data survives version 17, byte for byte.
                with open(published, "rb") as file:
                    first = file.read()
                with open(self.convert(self.convert(published, 17), 1), "rb") as file:
                    self.assertEqual(file.read(), first)


if __name__ == "__main__":
    unittest.main()
