"""Hand-made Mono recordings with events at known times: the contents of a window, and the times in reports."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import json_schemas
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


def recording(*buffers, pid=77):
    """Names written at START by thread 9, then each buffer by its own thread."""
    named = buffer(names({METHOD: "A:Run ()"}, {VTABLE: "Thing"}, ["Working Set", "Page Faults"]), START - 1000, 9)
    return file_header(pid=pid) + named + b"".join(buffer(events, START, thread) for thread, events in enumerate(buffers, 1))


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
        events = event(0x00, sleb(VTABLE), sleb(5), uleb(24)) + event(0x05, b"\1", sleb(5)) + shot([(5, VTABLE, 24)])
        paths = [self.write("first", recording(events)), self.write("second", recording(events, pid=78))]
        both = json.loads(run("report", *paths, "--json", "--verbose", "--reports=alloc,monitor,heapshot").stdout)
        alone = json.loads(run("report", paths[0], "--json", "--verbose", "--reports=alloc,monitor,heapshot").stdout)
        for name, table, key in (("alloc", "classes", "class"), ("monitor", "locks", "object"), ("heapshot", "classes", "class")):
            table = table if table in both[name] else next(k for k, v in both[name].items() if isinstance(v, list))
            self.assertEqual({row[key] for row in both[name][table]}, {row[key] for row in alone[name][table]}, name)
        tracked = json.loads(run("report", *paths, "--track=0x28", "--json").stdout)["objects"]
        self.assertEqual([row["address"] for row in tracked["events"] if row["event"] == "created"], ["0x28", "0x28"])

    def test_names_of_unknown_types_are_their_addresses_in_every_report_of_several_files(self):
        # Nobody names the type 0x3000. A shot's second half is larger, so the type grows.
        unnamed, lock = 0x3000, 0x28
        events = (event(0x00, sleb(unnamed), sleb(6), uleb(24)) + shot([(6, unnamed, 24)])
                  + shot([(6, unnamed, 24), (7, unnamed, 24)])
                  + event(0x05, b"\1", sleb(lock // 8)) + event(0x05, b"\2", sleb(lock // 8))
                  + event(0x00, sleb(VTABLE), sleb(5), uleb(24)))
        paths = [self.write(name, recording(events, pid=pid)) for name, pid in (("one", 77), ("another", 78))]
        for files in (paths[:1], paths):
            with self.subTest(files=len(files)):
                for measure in ("alloc-bytes", "live-bytes"):
                    lines = run("stacks", *files, "--measure", measure).stdout
                    self.assertEqual(set(re.findall("0x[0-9a-f]+", lines)), {"0x3000"}, measure)
                done = run("report", *files, "--json", "--reports=growth,retention")
                found = json.loads(done.stdout)
                self.assertIn("#0x3000", {row["type"] for row in found["growth"]["types"]})
                self.assertEqual({row["type"] for row in found["retention"]["types"]}, {"#0x3000"})
                tracked = json.loads(run("report", *files, "--track=0x30", "--json").stdout)["objects"]["events"]
                self.assertEqual({row["type"] for row in tracked if row["event"] == "created"}, {"#0x3000"})
                for format in ("chrome", "perfetto"):
                    out = self.folder / ("marks." + format)
                    self.assertEqual(run("convert", *files, "--to", format, "-o", out).returncode, 0)
                    self.assertEqual(set(re.findall(rb"0x[0-9a-f]*(?:28|3000)\b", out.read_bytes())) - {b"#0x3000"},
                                     {b"0x28"} if format == "chrome" else {b"0x28", b"0x3000"}, format)

    def test_roots_of_several_files_are_in_the_areas_of_their_own_program(self):
        # The same addresses mean other areas in the second file.
        def program(name, pid, owner, shot_after):
            area = event(0x46, sleb(0x5000), uleb(64), b"\x03", sleb(VTABLE + 16), text(""))
            rooted = (event(0x06, after=shot_after) + event(0x26, sleb(5), sleb(VTABLE), uleb(24), b"\0", uleb(0), after=0)
                      + event(0x36, uleb(1), sleb(0x5008), sleb(5), after=0) + event(0x16, after=1)
                      + event(0x00, sleb(VTABLE), sleb(5), uleb(24)))
            return self.write(name, file_header(pid=pid) + buffer(names({}, {VTABLE: "Thing", VTABLE + 16: owner}), START - 1000, 9)
                              + buffer(area + rooted, START, 1))

        files = [program("first_shot", 77, "Early", 1000), program("last_shot", 78, "Late", 2000)]
        for order in (files, files[::-1]):
            types = report(order[0], "retention", order[1])["types"]
            self.assertEqual({(row["pid"], row["chain"]) for row in types},
                             {(77, "[static fields of Early] > Thing"), (78, "[static fields of Late] > Thing")})
            self.assertEqual(sorted(run("stacks", *order, "--measure=live-bytes").stdout.splitlines()),
                             ["[static fields of Early];Thing 24", "[static fields of Late];Thing 24"])

    def test_processes_are_compared_with_themselves(self):
        # Each grows by a tenth of what the other has: together, every step would be up and down.
        def program(name, pid, start, objects):
            growing = b"".join(shot([(8 + k, VTABLE, 24) for k in range(count)]) for count in objects)
            value = event(0x37, uleb(1), uleb(1 << 8) + text("Working Set") + uleb(3) + uleb(0) + uleb(1 << 30) + uleb(1))
            value += event(0x47, uleb(1), uleb(3), sleb(objects[0]), uleb(0)) + event(0x47, uleb(1), uleb(3), sleb(5), uleb(0))
            return self.write(name, file_header(pid=pid) + buffer(names({}, {VTABLE: "Thing"}) + value, start, 9)
                              + buffer(growing, start, 1))

        small, large = program("small", 77, START, (10, 11, 12)), program("large", 78, START + 500, (100, 110, 120))
        for files in ((small,), (large,), (small, large), (large, small)):
            done = run("report", *files, "--reports=growth,counters,series", "--gate=growth=40", "--json", "--verbose")
            self.assertEqual(done.returncode, 1, files)
            found = json.loads(done.stdout)
            steps = {(row["steps_up"], row["steps_down"], row["bytes_change"]) for row in found["growth"]["types"]}
            self.assertLessEqual(steps, {(2, 0, 48), (2, 0, 480)})
            self.assertEqual(len(steps), len(files))
            self.assertEqual([row["bytes_change"] for row in found["growth"]["over_time"]].count(None), len(files))
            courses = {(row["first"], row["last"]) for row in found["series"]["counters"]}
            self.assertLessEqual(courses, {(10, 15), (100, 105)})
            self.assertEqual(len(courses), len(files))
            self.assertEqual(len({row.get("pid") for row in found["series"]["counters"]}), len(files))

    def test_processes_with_one_id_have_numbers(self):
        described = event(0x37, uleb(1), uleb(1 << 8) + text("Working Set") + uleb(3) + uleb(0) + uleb(1 << 30) + uleb(1))
        described += event(0x47, uleb(1), uleb(3), sleb(10), uleb(0))
        events = b"".join(shot([(8 + k, VTABLE, 24) for k in range(count)]) for count in (3, 4))

        def program(name, pid, start):
            return self.write(name, file_header(pid=pid) + buffer(names({}, {VTABLE: "Thing"}) + described, start, 9) + buffer(events, start, 1))

        # Equal files would count once.
        files = [program(name, pid, START + k) for k, (name, pid) in enumerate((("first", 77), ("second", 77), ("other", 78)))]
        wanted = "heapshot,growth,retention,counters,series,thread,timelines"
        tables = {}
        for count in (1, 2, 3):
            found = json.loads(run("report", *files[:count], "--reports=" + wanted, "--json", "--verbose").stdout)
            self.assertEqual(json_schemas.complaints(found["schema"]["name"], found), [])
            tables[count] = {(part, name): rows for part in wanted.split(",") for name, rows in found[part].items()
                             if isinstance(rows, list) and rows and "pid" in rows[0]}
        self.assertEqual({number for rows in tables[1].values() for row in rows for number in [row.get("process_number")]}, {None})
        self.assertGreater(len(tables[3]), 7, tables[3].keys())
        for table, rows in tables[3].items():
            self.assertEqual({(row["pid"], row["process_number"]) for row in rows}, {(77, 1), (77, 2), (78, None)}, table)
        for table, rows in tables[2].items():
            self.assertEqual({(row["pid"], row["process_number"]) for row in rows}, {(77, 1), (77, 2)}, table)
        self.assertFalse([row for row in report(files[0], "timelines", files[2])["threads"] if "process_number" in row])

    def test_rows_with_addresses_name_their_process(self):
        # The same addresses in two programs, as without address randomization: nothing but the process differs.
        events = event(0x00, sleb(VTABLE), sleb(8), uleb(24))
        events += event(0x05, b"\1", sleb(8)) + event(0x05, b"\2", sleb(8))
        events += b"".join(event(0x11, bytes([step]), b"\0") for step in (6, 7, 8, 9))
        events += shot([(8, VTABLE, 24), (9, VTABLE, 24)])

        def program(name, pid, start):
            return self.write(name, file_header(pid=pid) + buffer(names({}, {VTABLE: "Thing"}), start, 9) + buffer(events, start, 1))

        files = [program(name, pid, START + k) for k, (name, pid) in enumerate((("a", 77), ("b", 77), ("c", 78)))]
        wanted = {"alloc": ("types",), "monitor": ("locks",), "pauses": ("timeline",), "heapshot": ("classes",)}
        for count, processes in ((1, {(None, None)}), (2, {(77, 1), (77, 2)}), (3, {(77, 1), (77, 2), (78, None)})):
            done = run("report", *files[:count], "--reports=header," + ",".join(wanted), "--json")
            found = json.loads(done.stdout)
            self.assertEqual(json_schemas.complaints(found["schema"]["name"], found), [])
            for part, tables in wanted.items():
                for table in tables:
                    rows = found[part][table]
                    self.assertEqual({(row.get("pid"), row.get("process_number")) for row in rows}, processes, (part, table))
                    self.assertEqual(len(rows), count, (part, table))
            # The header is of the first file, and says so.
            self.assertEqual(found["header"].get("processes"), None if count == 1 else count)
            tracked = json.loads(run("report", *files[:count], "--track=0x40", "--json").stdout)
            self.assertEqual(json_schemas.complaints(tracked["schema"]["name"], tracked), [])
            self.assertEqual({(row.get("pid"), row.get("process_number")) for row in tracked["objects"]["events"]}, processes)

    def test_counters_have_the_time_that_they_were_taken_at(self):
        # The profiler takes a counter's value, describes the counter, then writes the value.
        described = event(0x37, uleb(1), uleb(1 << 8) + text("Working Set") + uleb(3) + uleb(0) + uleb(1 << 30) + uleb(1),
                          after=2_000_000)
        value = event(0x47, uleb(1), uleb(3), sleb(7), uleb(0), after=(1 << 64) - 15_000)
        path = self.write("taken_before", file_header() + buffer(described + value, START, 9))
        self.assertEqual(report(path, "counters", "--like-mprof", "--verbose")["counters"][0]["at_ns"], 1_985_000)
        if mono_programs.HAVE_MONO:
            theirs = mprof_report.report(path, "--reports=counters", "--verbose")["counters"]["by_time"]
            self.assertEqual(list(theirs), ["0:00:00:00.001"])

    def test_a_sample_of_unknown_type_is_not_one_of_cycles(self):
        def samples(kind):
            return event(0x07, bytes([kind]), sleb(1), uleb(1), sleb(0x77), uleb(0))

        for kind, name in ((0, "unknown"), (1, "cycles"), (2, "instructions retired"), (7, "unknown")):
            path = self.write("kind%d" % kind, file_header(13) + buffer(samples(kind), START, 1))
            self.assertEqual(report(path, "sample")["type"], name)
            if mono_programs.HAVE_MONO:
                self.assertEqual(mprof_report.report(path, "--reports=sample")["sample"]["type"], name)
        # Since version 14 nothing is recorded: mono samples with a timer.
        path = self.write("no_kind", recording(event(0x07, sleb(1), uleb(1), sleb(0x77), uleb(0))))
        self.assertEqual(report(path, "sample")["type"], "cycles")

    def test_a_symbol_names_the_4095_bytes_behind_it(self):
        for distance, named in ((0, True), (4095, True), (4096, False)):
            path = self.write("reach", recording(event(0x17, sleb(0x100000), uleb(16), text("symbol"))
                                                 + event(0x07, sleb(1), uleb(1), sleb(0x100000 + distance), uleb(0))))
            with self.subTest(distance=distance):
                self.assertEqual(report(path, "sample")["unresolved"], 0 if named else 1)
                self.assertEqual(run("stacks", path, "--measure", "samples").stdout.split(";")[-1],
                                 "symbol 1\n" if named else "[native code] 1\n")
                if mono_programs.HAVE_MONO:
                    self.assertEqual(mprof_report.report(path, "--reports=sample")["sample"]["unresolved"],
                                     0 if named else 1)

    def test_percentiles_of_waits_do_not_depend_on_their_order(self):
        def wait(length):
            return event(0x05, b"\1", sleb(5)) + event(0x05, b"\2", sleb(5), after=length)

        path = self.write("waits", recording(b"".join(map(wait, (900, 100, 500, 300, 700)))))
        found = report(path, "contention")
        for row in found["sites"] + found["stacks"]:
            self.assertEqual((row["waits"], row["median_ns"], row["max_ns"]), (5, 500, 900))
        self.assertEqual([found["p%d_blocked_ns" % p] for p in (50, 90, 99)], [500, 900, 900])

    def test_every_exception_is_in_a_timeline(self):
        path = self.write("throws", recording(at(0x04, (sleb(5),), (1000, 3000, 9000))))
        for format in ("perfetto", "chrome"):
            out = self.folder / ("throws." + format)
            self.assertEqual(run("convert", path, "--to", format, "-o", out).returncode, 0)
            self.assertEqual(out.read_bytes().count(b"exception"), 3, format)

    def test_measures_that_have_data_are_named(self):
        allocations = self.write("allocations", recording(event(0x00, sleb(VTABLE), sleb(5), uleb(24)) + event(0x04, sleb(5))))
        for verb in (["top"], ["stacks"], ["graph"], ["flame", "-o", self.folder / "x.html"],
                     ["convert", "--to", "folded", "-o", self.folder / "x.folded"]):
            done = run(*verb, allocations)
            # What would be written to a file is not written.
            self.assertEqual(done.returncode, 2 if "-o" in verb else 0)
            self.assertRegex(done.stderr, r"has no calls, so no data for the measure (time|self); use --measure "
                                          r"alloc-bytes, alloc-count, throws with stacks or flame\n", verb)
        for verb in ("slow", "histogram"):
            done = run(verb, "A:Run*", allocations)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"\Atelltale: the recording has no calls, so no data for the measure time; use --measure alloc-bytes")
        for files in ([allocations, allocations], [allocations, "--", allocations]):
            done = run("diff", *files)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count(f"telltale: {allocations}: the recording has no calls, so no data for the measure time; use"), 2)
        done = run("stacks", allocations, "--measure", "samples")
        self.assertIn("no data for the measure samples; use --measure alloc-bytes", done.stderr)
        method = Chain()
        calls = self.write("calls", recording(event(0x23, method(METHOD)) + event(0x13, method(METHOD))))
        done = run("stacks", calls, "--measure", "throws")
        self.assertIn("no data for the measure throws; it has calls\n", done.stderr)
        self.assertEqual(run("stacks", calls).stderr, "")
        self.assertFalse((self.folder / "x.html").exists() or (self.folder / "x.folded").exists())
        self.assertIn("0 of 1 functions match `nobody`", run("top", calls, "--function", "nobody").stderr)

    def test_reports_say_what_functions_and_threads_do_not_select(self):
        method = Chain()
        in_call = event(0x23, method(METHOD)) + event(0x00, sleb(VTABLE), sleb(5), uleb(24)) + event(0x04, sleb(5)) + event(0x13, method(METHOD))
        path = self.write("selected", recording(in_call))
        no_thread = "telltale: no thread is what --thread names; there are 77:9, 77:1\n"
        no_function = "telltale: 0 of 1 functions match `B:*`\n"
        whole = "telltale: --function and --depth select calls and frames of stacks; %s of the whole program\n"
        for words, said in ((["--function", "A:*"], ""), (["--thread", 1], ""), (["--depth", 1], ""),
                            (["--thread", 99], no_thread), (["--function", "B:*"], no_function)):
            reports = ["call,hotspots", "--verbose"]
            done = run("report", path, *words, "--reports", *reports)
            self.assertEqual((done.returncode, done.stderr.replace("77:1, 77:9", "77:9, 77:1")), (0, said), words)
        for words in (["--function", "A:*"], ["--depth", 1]):
            done = run("report", path, *words, "--reports", "alloc,call,exception")
            self.assertEqual(done.stderr, whole % "alloc and exception are")
            self.assertEqual(run("report", path, *words, "--reports", "monitor,call").stderr, whole % "monitor is")
            self.assertIn("alloc", run("report", path, *words).stderr)
        # Stacks of what is of the whole program are whole, also those that are made of calls.
        for name in ("alloc", "exception"):
            self.assertEqual(report(path, name, "--traces", "--function", "B:*"), report(path, name, "--traces"))
            self.assertEqual([row["stack"] for row in report(path, name, "--traces")["traces"]], ["A:Run ()"])
        objects = "telltale: --thread, --time, --function and --depth do not select objects: --track and --find read the whole recording\n"
        for words in (["--function", "B:*"], ["--depth", 1], ["--thread", 1], ["--time", "0..1"]):
            self.assertEqual(run("report", path, "--find", "S:24", *words).stderr, objects)
        self.assertEqual(run("report", path, "--find", "S:24").stderr, "")
        self.assertEqual([row["site"] for row in report(path, "hotspots")["sites"]], ["A:Run ()"])
        # The exception has a stack, of which the filter keeps nothing.
        self.assertEqual([row["site"] for row in report(path, "hotspots", "--function", "B:*")["sites"]], ["[no selected method]"])
        bare = self.write("bare", recording(event(0x04, sleb(5))))
        self.assertEqual([row["site"] for row in report(bare, "hotspots")["sites"]], ["[no stack]"])

    def test_figures_of_what_did_not_happen_are_0(self):
        path = self.write("nothing", recording(event(0x04, sleb(5))))
        self.assertEqual(report(path, "contention")["total_blocked_ns"], 0)
        self.assertEqual(report(path, "pauses")["total_pause_ns"], 0)

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
