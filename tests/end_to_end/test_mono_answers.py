"""Answers about Mono recordings beyond mprof-report: compared with mprof-report's own totals where they exist, and
every export read by an independent consumer."""
import collections
import csv
import io
import json
import os
import pathlib
import random as random_module
import re
import shutil
import subprocess
import tempfile
import unittest

import mono_programs
import mprof_report
import perfetto_ui
from export_tools import install_node_modules

TELLTALE = os.environ["TELLTALE"]
SOURCE_DIR = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"])
PPROF = "/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof"
TROUBLE = "select name, idx, value from stats where severity != 'info' and value != 0"


def telltale(*arguments, status=0):
    done = subprocess.run([TELLTALE, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stdout


def run(*arguments):
    return subprocess.run([TELLTALE, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def section(path, name, *options):
    return json.loads(telltale("report", path, "--reports=" + name, "--json", *options))[name]


def folded(path, measure, *options):
    """Stack -> number."""
    rows = collections.Counter()  # several methods may have the same name
    for line in telltale("stacks", path, "--measure", measure, *options).splitlines():
        stack, number = line.rsplit(" ", 1)
        rows[tuple(stack.split(";"))] += int(number)
    return rows


def by_leaf(rows):
    sums = collections.Counter()
    for stack, number in rows.items():
        sums[stack[-1]] += number
    return sums


@unittest.skipUnless(mono_programs.HAVE_MONO, "no mono")
class MonoAnswers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.paths = mono_programs.recordings("everything", "calls", "samples", "heap")
        cls.reports = {name: mprof_report.report(path, "--verbose") for name, path in cls.paths.items()}
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def convert(self, name, to, *options):
        out = self.folder / f"{name}.{to}"
        telltale("convert", self.paths[name], "--to", to, "-o", out, *options)
        return out

    def running_shots(self, name):
        """mprof-report's heap shots, without the one that mono takes when the program has ended."""
        return self.reports[name]["heapshot"][:-1]

    def test_allocations_by_stack_add_up_to_what_mprof_report_counts(self):
        for name in ("everything", "calls", "heap"):
            path, (nbytes, count) = self.paths[name], self.reports[name]["alloc"]["total"]
            bytes_by_type = by_leaf(folded(path, "alloc-bytes"))
            count_by_type = by_leaf(folded(path, "alloc-count"))
            self.assertEqual(sum(bytes_by_type.values()), nbytes, name)
            self.assertEqual(sum(count_by_type.values()), count, name)
            # Types that mprof-report could name from their first allocation on have correct figures there.
            rows = {row.name: row.numbers for row in self.reports[name]["alloc"]["rows"]}
            self.assertEqual((bytes_by_type["Leak"], count_by_type["Leak"]), rows["Leak"][:2] if name != "calls" else (0, 0))

    def test_stacks_come_from_backtraces_or_from_the_calls(self):
        for name, of in (("everything", "Leak"), ("calls", "Handled")):
            stacks = [stack for stack in folded(self.paths[name], "alloc-bytes") if stack[-1] == of]
            self.assertTrue(stacks, name)
            caller = {"Leak": "Heap:Grow (int,int)", "Handled": "Handles:Run ()"}[of]
            self.assertTrue(all(caller in stack for stack in stacks), stacks)
            self.assertTrue(any("Everything:Main (string[])" in stack for stack in stacks), stacks)

    def test_exceptions_waits_and_samples_add_up(self):
        for name in ("everything", "calls"):
            report = self.reports[name]
            path = self.paths[name]
            self.assertEqual(sum(folded(path, "throws").values()), report["exception"]["throws"])
            contention = section(path, "contention")
            self.assertEqual(contention["waits"], report["monitor"]["contentions"])
            self.assertEqual(sum(row["waits"] for row in contention["sites"]), contention["waits"])
            blocked = sum(folded(path, "blocked").values())
            self.assertEqual(blocked, contention["total_blocked_ns"])
            # mprof-report prints seconds with few digits.
            self.assertAlmostEqual(blocked / 1e9, sum(lock.total for lock in report["monitor"]["locks"]), delta=0.01)
            self.assertEqual({row["site"] for row in contention["sites"]} & {"Monitors:Wait (object)", "Monitors:Try (object)"},
                             {"Monitors:Wait (object)", "Monitors:Try (object)"})
            hot = section(path, "hotspots")
            self.assertEqual(hot["throws"], report["exception"]["throws"])
            sites = {row["site"]: row["throws"] for row in hot["sites"]}
            self.assertEqual(sites["Calls:Throwing (int)"], 5)
        self.assertIn("InvalidOperationException", str(section(self.paths["everything"], "hotspots")["sites"]))
        samples = self.reports["samples"]["sample"]
        stacks = folded(self.paths["samples"], "samples")
        self.assertEqual(sum(stacks.values()), samples["managed"] + samples["unmanaged"])
        self.assertTrue(any("Busy:Inner (int)" in stack for stack in stacks))

    def test_a_heap_that_grows_is_found(self):
        path = self.paths["heap"]
        shots = self.running_shots("heap")
        growth = section(path, "growth")
        self.assertEqual([(row["bytes"], row["objects"]) for row in growth["over_time"]],
                         [(shot.size, shot.objects) for shot in shots])
        types = {row["type"]: row for row in growth["types"]}
        self.assertEqual(types["Leak"]["steady"], 1)
        # mprof-report's rows, class by class, for first and last shot.
        for which, shot in (("first", shots[0]), ("last", shots[-1])):
            theirs = {row.name: row.numbers for row in shot.rows}
            for name in ("Leak", "Node", "Handled"):
                wanted = theirs.get(name, (0, 0))
                self.assertEqual((types[name][which + "_bytes"], types[name][which + "_objects"]), tuple(wanted[:2]))
        self.assertIn("Gone", types)
        series = [row for row in growth["series"] if row["type"] == "Leak"]
        self.assertEqual(len(series), len(shots))
        telltale("report", path, "--reports=growth", "--gate", "growth=1000000000")
        done = subprocess.run([TELLTALE, "report", path, "--reports=growth", "--gate", "growth=1000"], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"gate: Leak grew from \d+ to \d+ bytes")
        telltale("report", path, "--gate", "growth", status=2)

    def releasing(self):
        """A recording of a program whose leak is freed at its end: path, offsets of its shots' begins and ends."""
        path = self.folder / "releasing.mlpd"
        if not path.exists():
            mono_programs.record(path, "nodefaults,heapshot", "releasing", [])
        shots = [int(at) for at in re.findall(r"(?m)^ *(\d+) HeapShot ", telltale("dump", path))]
        self.assertEqual(len(shots) % 2, 0)
        return path, shots

    def test_the_shot_at_the_exit_hides_no_growth(self):
        path, shots = self.releasing()
        last = len(shots) // 2 - 1
        growth = section(path, "growth")
        self.assertEqual([row["shot"] for row in growth["over_time"]], list(range(last)))
        self.assertEqual([(row["shot"], row["why"]) for row in growth["left_out"]], [(last, "at exit")])
        types = {row["type"]: row for row in growth["types"]}
        self.assertEqual((types["Session"]["steady"], types["Session"]["last_objects"]), (1, 10000))
        gated = run("report", path, "--reports=growth", "--gate", "growth=1000")
        self.assertEqual(gated.returncode, 1)
        self.assertIn("gate: Session grew", gated.stderr)
        # The same shots and the same last one everywhere.
        heapshot = section(path, "heapshot")
        self.assertEqual([(row["shot"], row["bytes"]) for row in heapshot["shots"]][:-1],
                         [(row["shot"], row["bytes"]) for row in growth["over_time"]])
        retention = section(path, "retention")
        self.assertEqual((retention["shot"], retention["left_out"]), (last - 1, "%d at exit" % last))
        self.assertEqual(sum(folded(path, "live-bytes").values()), growth["over_time"][-1]["bytes"])
        # A window with only the shot at exit shows that one.
        window = "--time=%dns.." % growth["left_out"][0]["at_ns"]
        self.assertEqual(section(path, "retention", window)["shot"], last)

    def test_a_heap_shot_without_an_end_is_named_and_left_out(self):
        path, shots = self.releasing()
        begin, end = shots[6], shots[7]  # of the fourth
        buffers = [int(at) for at in re.findall(r"(?m)^ *(\d+) Buffer ", telltale("dump", path))]
        cut = self.folder / "killed.mlpd"
        # Between two buffers, as in the recording of a killed program.
        cut.write_bytes(path.read_bytes()[: next(at for at in buffers if begin < at < end)])
        done = run("report", cut, "--reports=heapshot,growth,retention", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"heap shot 3, at [\d.]+ \w+, is ignored: its end is missing from the recording")
        told = json.loads(done.stdout)
        self.assertEqual([row["shot"] for row in told["heapshot"]["shots"]], [0, 1, 2])
        self.assertEqual({row["shot"] for row in told["heapshot"]["classes"]}, {0, 1, 2})
        self.assertEqual([row["shot"] for row in told["heapshot"]["unfinished"]], [3])
        self.assertEqual([row["shot"] for row in told["growth"]["over_time"]], [0, 1, 2])
        self.assertEqual([(row["shot"], row["why"]) for row in told["growth"]["left_out"]], [(3, "unfinished")])
        self.assertGreater(told["growth"]["steady"], 0)
        self.assertEqual((told["retention"]["shot"], told["retention"]["left_out"]), (2, "3 unfinished"))
        self.assertEqual(run("report", cut, "--reports=growth", "--gate", "growth=1000").returncode, 1)
        live = run("stacks", cut, "--measure", "live-bytes")
        self.assertIn("heap shot 3", live.stderr)
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in live.stdout.splitlines()),
                         told["heapshot"]["shots"][2]["bytes"])
        # mprof-report treats the part as a whole shot, and so does --like-mprof.
        theirs = mprof_report.report(cut, "--reports=heapshot")["heapshot"]
        ours = section(cut, "heapshot", "--like-mprof")["shots"]
        self.assertEqual([(row["bytes"], row["objects"]) for row in ours], [(shot.size, shot.objects) for shot in theirs])
        self.assertEqual(len(ours), 4)

    def test_a_gate_without_heap_shots_is_an_error(self):
        path, shots = self.releasing()
        cut = self.folder / "early.mlpd"
        cut.write_bytes(path.read_bytes()[: (shots[2] + shots[3]) // 2])
        for file, has in ((self.paths["samples"], "0 of the running program"),
                          (cut, "1 of the running program, 1 unfinished")):
            done = run("report", file, "--reports=growth", "--gate", "growth=1000")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--gate growth needs at least two heap shots of a process; the recording has " + has, done.stderr)
        done = run("report", path, "--reports=growth", "--gate", "growth=1000", "--time=..1ns")
        self.assertEqual(done.returncode, 2)
        self.assertIn("this window of the recording has 0", done.stderr)

    def test_a_gate_holds_at_its_limit_and_whatever_else_is_wrong(self):
        path, shots = self.releasing()
        types = section(path, "growth")["types"]
        most = max(row["bytes_change"] for row in types if row["steady"])
        self.assertEqual(run("report", path, "--reports=growth", "--gate", f"growth={most}").returncode, 0)
        self.assertEqual(run("report", path, "--reports=growth", "--gate", f"growth={most - 1}").returncode, 1)
        damaged = self.folder / "damaged_late.mlpd"
        data = path.read_bytes()
        damaged.write_bytes(data[: shots[-2]] + b"stray bytes" * 3)
        gate = ("report", damaged, "--reports=growth", "--strict", "--gate")
        self.assertEqual(run(*gate, f"growth={most}").returncode, 4)
        self.assertEqual(run(*gate, f"growth={most - 1}").returncode, 1)  # a finding is not hidden by damage

    def test_retention_says_who_holds_the_leak(self):
        path = self.paths["heap"]
        last = self.running_shots("heap")[-1]
        retention = section(path, "retention")
        self.assertEqual(retention["objects"], last.objects)
        self.assertEqual(sum(row["bytes"] for row in retention["types"]), last.size)
        limited = section(path, "retention", "--rows=2")
        self.assertEqual(limited["types"], retention["types"][:2])
        leak = next(row for row in retention["types"] if row["type"] == "Leak")
        self.assertRegex(leak["chain"], r"^\[.*\] > .*System\.Collections\.Generic\.List<Leak> > Leak\[\] > Leak$")
        live = folded(path, "live-bytes")
        self.assertEqual(sum(live.values()), last.size)
        self.assertEqual(by_leaf(live)["Leak"], leak["bytes"])
        self.assertEqual(sum(folded(path, "live-count").values()), last.objects)

    def test_pauses_hold_the_collections(self):
        for name in ("everything", "heap"):
            pauses = section(self.paths[name], "pauses")
            rows = pauses["timeline"]
            collections_ = sum(row[0] for row in self.reports[name]["gc"]["generations"].values())
            self.assertEqual(sum(row["collections"] for row in rows), collections_)
            ends = 0
            for row in rows:
                self.assertGreaterEqual(row["at_ns"], ends)  # one at a time
                ends = row["at_ns"] + (row["pause_ns"] or 0)
                if row["stopped_ns"] is not None and row["to_restart_ns"] is not None:
                    self.assertEqual(row["to_stop_ns"] + row["stopped_ns"] + row["to_restart_ns"], row["pause_ns"])
            kept = sorted(row["pause_ns"] for row in rows if not row["shutdown"])
            self.assertEqual(pauses["pauses"], len(kept))
            self.assertEqual(pauses["max_pause_ns"], kept[-1])
            self.assertEqual(pauses["p50_pause_ns"], kept[(len(kept) - 1) // 2])
            self.assertLess(pauses["max_pause_ns"], 500_000_000)
            # Mono 6.8 stops the world for a second when it ends, which is not a pause of the program.
            self.assertEqual([row["shutdown"] for row in rows], [0] * (len(rows) - 1) + [1])

    @unittest.skipUnless(os.path.exists("/usr/lib/mono/4.5/mcs.exe"), "no compiler to record")
    def test_check_accepts_a_large_program_with_its_methods(self):
        # Enough methods that the profiler's writer thread falls behind.
        source = SOURCE_DIR / "tests" / "programs" / "mono" / "everything.cs"
        for options in ("jit", "sample=100"):
            path = self.folder / "compiler.mlpd"
            mono_programs.record(path, options, "/usr/lib/mono/4.5/mcs.exe", ["-out:" + str(self.folder / "made.exe"), source])
            self.assertIn("valid Mono log-profiler recording", telltale("check", path))

    def test_threads_and_counters_over_time(self):
        threads = section(self.paths["everything"], "timelines")["threads"]
        self.assertTrue(any("Holder" in row["name"] for row in threads))  # the system reuses ids
        self.assertEqual(sum(row["allocated_bytes"] for row in threads), self.reports["everything"]["alloc"]["total"][0])
        for row in threads:
            if row["started_ns"] is not None and row["ended_ns"] is not None:
                self.assertLessEqual(row["started_ns"], row["ended_ns"])
        series = section(self.paths["everything"], "series")
        ours = {row["name"]: row["last"] for row in series["counters"]}
        self.assertGreater(ours["Methods JITted using mono JIT"], 0)
        by_name = collections.Counter(row["name"] for row in series["values"])
        for row in series["counters"]:
            self.assertEqual(by_name[row["name"]] >= row["values"], True)

    def test_every_table_is_csv_too(self):
        path = self.paths["everything"]
        for name in ("pauses.timeline", "growth.types", "growth.series", "retention", "contention.sites", "hotspots.stacks",
                     "timelines", "series.values"):
            report, _, table = name.partition(".")
            rows = list(csv.DictReader(io.StringIO(telltale("report", path, "--reports=" + name, "--csv"), newline="")))
            tables = section(path, report)
            wanted = tables[table] if table else next(v for v in tables.values() if isinstance(v, list))
            self.assertEqual(len(rows), len(wanted), name)
            if rows:
                self.assertEqual(list(rows[0]), list(wanted[0]), name)

    def test_answers_do_not_depend_on_workers(self):
        for name in ("calls", "heap"):
            for measure in ("alloc-bytes", "throws", "blocked", "live-bytes"):
                one = telltale("stacks", self.paths[name], "--measure", measure, "--json", "-j1")
                self.assertEqual(telltale("stacks", self.paths[name], "--measure", measure, "--json", "-j8"), one)
            reports = "--reports=pauses,growth,retention,contention,hotspots,timelines,series"
            self.assertEqual(telltale("report", self.paths[name], reports, "--json", "-j1"),
                             telltale("report", self.paths[name], reports, "--json", "-j8"))

    def test_measures_of_what_a_recording_has_not(self):
        orders = SOURCE_DIR / "examples" / "orders" / "orders.yaml"
        done = subprocess.run([TELLTALE, "stacks", orders, "--measure", "alloc-bytes"], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("has no data for the measure alloc-bytes", done.stderr)
        telltale("convert", orders, "--to", "perfetto", "-o", self.folder / "x", "--measure", "throws", status=2)

    def test_damaged_recordings_are_answered_as_far_as_they_go(self):
        whole = pathlib.Path(self.paths["heap"]).read_bytes()
        random = random_module.Random(4)
        damaged = self.folder / "damaged.mlpd"
        out = self.folder / "damaged.pftrace"
        reports = "--reports=pauses,growth,retention,contention,hotspots,timelines,series"
        for round_ in range(12):
            data = bytearray(whole[:random.randrange(2000, len(whole))] if round_ % 2 else whole)
            for _ in range(round_ * 20):
                data[random.randrange(200, len(data))] = random.randrange(256)
            damaged.write_bytes(data)
            json.loads(telltale("report", damaged, reports, "--json"))
            telltale("convert", damaged, "-o", out)
            telltale("stacks", damaged, "--measure", "live-bytes")

    # --- Exports, each by its consumer

    @unittest.skipUnless(os.path.exists(PPROF), "no pprof")
    def test_pprof_reads_allocations_and_what_lives(self):
        raw = subprocess.run([PPROF, "-raw", self.convert("heap", "pprof", "--measure", "alloc-bytes")],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(raw.returncode, 0, raw.stderr)
        self.assertRegex(raw.stdout, r"alloc_objects/count alloc_space/bytes\S* inuse_objects/count inuse_space/bytes")
        sums = [0, 0, 0, 0]
        for values in re.findall(r"^\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+): [\d ]+$", raw.stdout, re.M):
            sums = [a + int(b) for a, b in zip(sums, values)]
        nbytes, count = self.reports["heap"]["alloc"]["total"]
        last = self.running_shots("heap")[-1]
        self.assertEqual(sums, [count, nbytes, last.objects, last.size])
        top = subprocess.run([PPROF, "-top", "-sample_index=inuse_space", "-unit=B", self.folder / "heap.pprof"],
                             capture_output=True, text=True, timeout=60).stdout
        self.assertRegex(top, r"\d+B .* Leak")

    @unittest.skipUnless(shutil.which("npm"), "no npm")
    def test_speedscope_accepts_bytes(self):
        path = self.convert("heap", "speedscope", "--measure", "alloc-bytes")
        scope = json.loads(path.read_text())
        self.assertEqual({profile["unit"] for profile in scope["profiles"]}, {"bytes"})
        self.assertEqual(sum(sum(profile["weights"]) for profile in scope["profiles"]), self.reports["heap"]["alloc"]["total"][0])
        subprocess.run(["node", SOURCE_DIR / "tests" / "node" / "check_speedscope.js", install_node_modules(), path],
                       check=True, capture_output=True, timeout=60)

    def test_callgrind_and_dot_by_measure(self):
        total = self.reports["heap"]["alloc"]["total"][0]
        if shutil.which("callgrind_annotate"):
            done = subprocess.run(["callgrind_annotate", "--threshold=100", self.convert("heap", "callgrind", "--measure", "alloc-bytes")],
                                  capture_output=True, text=True, timeout=60)
            self.assertRegex(done.stdout, f"{total:,} .*PROGRAM TOTALS")
        if shutil.which("dot"):
            done = subprocess.run(["dot", "-Tjson", self.convert("calls", "dot", "--measure", "throws")], capture_output=True, timeout=60)
            graph = json.loads(done.stdout)
            self.assertEqual(sum(int(node["self_count"]) for node in graph["objects"]), self.reports["calls"]["exception"]["throws"])

    def test_flame_graphs_say_their_unit(self):
        out = self.folder / "flame.json"
        telltale("flame", self.paths["heap"], "--measure", "alloc-bytes", "-o", out, "--min-percent", "0")
        page = json.loads(out.read_text())
        self.assertEqual(page["units"], {"counted": "alloc_objects", "measured": "alloc_space", "suffix": "bytes"})
        self.assertEqual(page["trees"][0]["total_bytes"][0], self.reports["heap"]["alloc"]["total"][0])
        svg = self.folder / "flame.svg"
        telltale("flame", self.paths["heap"], "--measure", "live-bytes", "-o", svg)
        self.assertIn("Leak", svg.read_text())
        self.assertRegex(svg.read_text(), r"inuse_objects, total [\d.]+ [KM]iB")

    def test_perfetto_shows_calls_pauses_waits_counters_and_the_heap(self):
        everything = str(self.convert("everything", "perfetto"))
        slices, instants, counters, heap, types, roots, threads, trouble = perfetto_ui.query(
            everything,
            "select t.name as track, s.ts, s.dur, s.name, s.depth from slice s join track t on s.track_id = t.id"
            " where t.name in ('GC pauses', 'Waiting for locks') order by s.ts",
            "select name, count(*) as n from slice where category = 'telltale.runtime' group by name",
            "select t.name, count(*) as n, max(c.value) as most from counter c join counter_track t on c.track_id = t.id group by t.name",
            "select count(*) as objects, sum(self_size) as bytes, sum(reachable) as reachable from heap_graph_object",
            "select c.name, count(*) as n, sum(o.self_size) as bytes from heap_graph_object o join heap_graph_class c"
            " on o.type_id = c.id group by c.name",
            "select count(*) as n from heap_graph_object where root_type is not null",
            "select name from thread where name is not null", TROUBLE)
        self.assertEqual(trouble, [])
        processes, of_heap = perfetto_ui.query(
            everything, "select upid from process where pid != 0",
            "select distinct upid from heap_graph_object union select upid from process_counter_track")
        self.assertEqual(len(processes), 1)
        self.assertEqual(of_heap, processes)
        rows = section(self.paths["everything"], "pauses")["timeline"]
        pauses = [row for row in slices if row["track"] == "GC pauses" and row["depth"] == 0]
        self.assertEqual([(row["ts"], row["dur"]) for row in pauses],
                         [(row["at_ns"], row["pause_ns"]) for row in rows if row["pause_ns"] is not None])
        self.assertIn("world stopped", {row["name"] for row in slices})
        waits = [row["dur"] for row in slices if row["track"] == "Waiting for locks"]
        contention = section(self.paths["everything"], "contention")
        self.assertEqual(sum(waits), contention["total_blocked_ns"])
        self.assertEqual(instants, [{"name": "exception", "n": self.reports["everything"]["exception"]["throws"]}])
        named = {row["name"]: row for row in counters}
        last = self.running_shots("everything")[-1]
        self.assertEqual(named["Live bytes"]["n"], len(self.reports["everything"]["heapshot"]))
        self.assertGreater(named["Heap size"]["most"], 0)
        self.assertTrue(any(name.endswith("/Methods JITted using mono JIT") for name in named), list(named)[:5])
        self.assertEqual((heap[0]["objects"], heap[0]["bytes"]), (last.objects, last.size))
        self.assertGreater(heap[0]["reachable"], 0)
        theirs = {row.name: row.numbers for row in last.rows}
        ours = {row["name"]: (row["bytes"], row["n"]) for row in types}
        self.assertEqual(ours["Leak"], tuple(theirs["Leak"][:2]))
        self.assertGreater(roots[0]["n"], 0)
        self.assertLess({"Main", "Finalizer"}, {row["name"] for row in threads})

    def test_chrome_events_are_what_perfetto_shows_too(self):
        path = self.convert("everything", "chrome")
        events = json.loads(path.read_text())["traceEvents"]
        counts = collections.Counter(event["ph"] for event in events)
        self.assertEqual(counts["b"], counts["e"])
        self.assertEqual(sum(event["name"] == "exception" for event in events), self.reports["everything"]["exception"]["throws"])
        live = [event["args"]["value"] for event in events if event["ph"] == "C" and event["name"] == "Live bytes"]
        self.assertEqual(live, [shot.size for shot in self.reports["everything"]["heapshot"]])
        slices, trouble = perfetto_ui.query(str(path), "select count(*) as n from slice where name = 'wait'", TROUBLE)
        self.assertEqual(trouble, [])
        self.assertEqual(slices[0]["n"], section(self.paths["everything"], "contention")["waits"])

    def test_chrome_has_the_threads_of_perfetto(self):
        """Mono's thread ids on Linux have more than 32 bits."""
        calls = ("select t.name as thread, s.name, s.depth, count(*) as n from slice s join thread_track tt"
                 " on s.track_id = tt.id join thread t using (utid)"
                 " where coalesce(s.category, '') not like 'telltale.%' and s.name != 'wait' group by 1, 2, 3 order by 1, 2, 3")
        chrome, trouble = perfetto_ui.query(str(self.convert("calls", "chrome")), calls, TROUBLE)
        self.assertEqual(trouble, [])
        (perfetto,) = perfetto_ui.query(str(self.convert("calls", "perfetto")), calls)
        self.assertGreater(len({row["thread"] for row in chrome}), 1)
        self.assertEqual(chrome, perfetto)


if __name__ == "__main__":
    unittest.main()
