"""Time that a thread waits is a call of its own, in every answer."""
import csv
import io
import json
import shutil
import subprocess
import unittest

import perfetto_ui
from program_text import program_text
import recorded_programs as programs
from recorded_programs import Recorded, calls, info, telltale, top

# Each of these lasts at least 20 ms: on no processor, or on one. What else happens to the program is the machine's choice.
PROGRAM = program_text("recorders/cases/waiting.cc")
CRASHES = program_text("recorders/cases/rests_and_crashes.cc")
WAITING = "(waiting)"
MOST = 20_000_000
ENOUGH = 19_000_000  # the two clocks differ a little


@unittest.skipUnless(shutil.which("g++"), "needs g++")
class Waiting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The clock's name is not a call of the program.
        cls.program = programs.build("g++", *programs.CALL_FLAGS, source=PROGRAM)

    def check_split(self, rows, threads=2):
        self.assertGreaterEqual(rows[WAITING]["total_ns"], threads * ENOUGH)
        self.assertGreaterEqual(rows["works()"]["self_ns"], threads * ENOUGH)
        rests = rows["rests()"]
        self.assertGreaterEqual(rests["total_ns"], threads * MOST)
        self.assertLess(rests["self_ns"], rests["total_ns"] - threads * ENOUGH, "its callee is the wait")

    def test_a_wait_is_a_callee_of_what_waits(self):
        for options in ((), ("--set", "clock=monotonic"), ("--set", "version=1"), ("--set", "buffer=4K"),
                        ("--mode", "ring"), ("--min", "1us")):
            with self.subTest(options=options):
                run = Recorded(self.program, 10_000, options=options)
                self.check_split(top(run.file))
                self.assertIn("gaps of 0.1 ms", info(run.file)["properties"]["waiting"])
                self.assertEqual(telltale("check", "--strict", run.file).returncode, 0)

    def test_clangs_sleds_too(self):
        if not programs.CLANG:
            self.skipTest("needs clang")
        run = Recorded(programs.build(programs.CLANG, *programs.XRAY_FLAGS, source=PROGRAM), 10)
        self.check_split(top(run.file))

    def test_every_answer_splits(self):
        run = Recorded(self.program)
        folded = dict(line.rsplit(" ", 1) for line in telltale("stacks", run.file).stdout.splitlines())
        self.assertGreaterEqual(int(folded["main;both();rests();(waiting)"]), ENOUGH)
        graph = json.loads(telltale("graph", "--json", run.file).stdout)
        self.assertIn(("rests()", WAITING), {(edge["caller"], edge["callee"]) for edge in graph["edges"]})
        rows = list(csv.DictReader(io.StringIO(telltale("convert", run.file, "--to", "csv", "-o", "-").stdout)))
        self.assertGreaterEqual(sum(int(row["duration_ns"]) for row in rows if row["function"] == WAITING), 2 * ENOUGH)
        slow = json.loads(telltale("slow", "rests", "--json", run.file).stdout)
        callees = {row["callee"]: row["total_ns"] for row in slow["callees"] if row["rank"] == 1}
        self.assertGreaterEqual(callees[WAITING], ENOUGH)
        self.assertIn("(waiting);", telltale("replay", run.file).stdout)
        report = telltale("report", run.file).stdout
        self.assertIn("rests() > (waiting)", report)

    def test_perfetto_shows_states(self):
        """Its trace processor has the waits as the states of the threads: sleeping, and running around it."""
        run = Recorded(self.program, 20)
        rows = list(csv.DictReader(io.StringIO(telltale("convert", run.file, "--to", "csv", "-o", "-").stdout)))
        waits = sorted((int(row["tid"]), int(row["start_ns"]), int(row["duration_ns"])) for row in rows if row["function"] == WAITING)
        ends = {tid: max(int(row["start_ns"]) + int(row["duration_ns"]) for row in rows if int(row["tid"]) == tid) for tid, _, _ in waits}
        for options in ((), ("--compress",)):
            with self.subTest(options=options):
                out = run.place / f"out{len(options)}.pftrace"
                self.assertEqual(telltale("convert", run.file, "--to", "perfetto", "-o", out, *options).returncode, 0)
                states, trouble, (slices,), switches = perfetto_ui.query(
                    str(out), "select tid, ts, dur, state from thread_state join thread using (utid) order by tid, ts",
                    "select name from stats where severity != 'info' and value != 0",
                    f"select count(*) as waits from slice where name = '{WAITING}'",
                    "select distinct ucpu, tid from sched join thread using (utid) where tid != 0")
                self.assertEqual((trouble, slices["waits"]), ([], 0))
                self.assertEqual(sorted((row["tid"], row["ts"], row["dur"]) for row in states if row["state"] == "S"), waits)
                for tid, end in ends.items():
                    of_thread = [row for row in states if row["tid"] == tid]
                    self.assertEqual([row["state"] for row in of_thread], ["Running", "S"] * (len(of_thread) // 2 - 1) + ["Running", "X"])
                    self.assertEqual(of_thread[-1]["ts"], end)
                self.assertEqual(len(switches), len(ends), "a processor for each thread")

    def test_waits_are_no_calls_that_are_compared(self):
        a, b = Recorded(self.program, 5), Recorded(self.program, 5)
        done = telltale("diff", a.file, b.file, "--gate", "calls=0%", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(calls(a.file, prefix=""), calls(b.file, prefix=""))
        self.assertNotIn(WAITING, telltale("stacks", "--measure", "calls", a.file).stdout)
        flame = json.loads(telltale("flame", a.file, "--json", "-o", "-").stdout)
        facts = {row["name"]: row["value"] for row in flame["facts"]}
        self.assertEqual(sum(tree["inside"][0] for tree in flame["trees"][:1]), int(facts["calls"]))
        compared = json.loads(done.stdout)
        rows = {row["function"]: row for row in compared["functions"]}
        self.assertEqual((rows[WAITING]["calls_before"], rows[WAITING]["calls_after"]), (0, 0))
        self.assertGreater(rows[WAITING]["total_ns_before"], 0)

    def test_running_leaves_waits_out(self):
        run = Recorded(self.program, 500)
        recorded = top(run.file)
        said = telltale("top", run.file, "--running", "--json")
        document = json.loads(said.stdout)
        running = {row["function"]: row for row in document["rows"]}
        self.assertEqual(set(running), set(recorded) - {WAITING})
        for name, row in running.items():
            self.assertEqual(row["calls"], recorded[name]["calls"], name)
            self.assertAlmostEqual(row["self_ns"], recorded[name]["self_ns"], delta=1, msg=name)
        self.assertAlmostEqual(sum(row["self_share"] for row in running.values()), 1, places=6)
        for name in ("both()", "rests()"):
            self.assertLessEqual(running[name]["total_ns"], recorded[name]["total_ns"] - 2 * ENOUGH, name)
        self.assertAlmostEqual(running["both()"]["total_ns"], sum(running[name]["self_ns"] for name in ("both()", "rests()", "works()")), delta=3)
        (note,) = document["problems"]
        self.assertEqual(note["kind"], "estimate")
        self.assertRegex(note["message"], r"^times are those on a processor: less [\d.]+ m?s in which threads waited$")
        self.assertIn(note["message"], said.stderr)
        for words in (["report"], ["stacks"], ["graph"], ["histogram", "*"], ["diff", run.file], ["flame", "--json", "-o", "-"]):
            done = telltale(*words, run.file, "--running")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("(waiting)", done.stdout, words)
        self.assertEqual(telltale("top", run.file, "--running", "--strict", "--jobs", 1).stdout, telltale("top", run.file, "--running", "--jobs", 4).stdout)
        both = telltale("top", run.file, "--running", "--net", "--json")
        self.assertEqual(len(json.loads(both.stdout)["problems"]), 2, both.stderr)
        refused = telltale("top", run.file, "--running", "--time", "0..1s")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--time selects by recorded times, which --running changes", refused.stderr)
        none = telltale("top", Recorded(self.program, options=("--set", "waits=off")).file, "--running")
        self.assertEqual(none.returncode, 0)
        self.assertIn("--running leaves nothing out: there are no waits", none.stderr)

    def test_without(self):
        for options, said in ((("--set", "waits=off"), "not recorded"), (("--sparse", "16"), "not recorded")):
            with self.subTest(options=options):
                run = Recorded(self.program, options=options)
                rows = top(run.file)
                self.assertNotIn(WAITING, rows)
                self.assertGreaterEqual(rows["rests()"]["total_ns"], 2 * MOST)
                self.assertIn(said, info(run.file)["properties"]["waiting"])

    def test_forked_children(self):
        run = Recorded(self.program, 5, "fork")
        self.assertEqual(len(run.files), 2)
        for file in run.files:
            self.assertGreaterEqual(top(file)[WAITING]["total_ns"], ENOUGH)
        self.check_split(top(*run.files), 3 - 1)

    def test_other_readers(self):
        """What llvm-xray makes of a recording does not change."""
        reader = shutil.which("llvm-xray-19") or shutil.which("llvm-xray")
        if not (programs.CLANG and reader):
            self.skipTest("needs clang and llvm-xray")
        program = programs.build(programs.CLANG, *programs.XRAY_FLAGS, source=CRASHES)
        run = Recorded(program, options=("--mode", "snapshot"))
        counts = info(run.file)["records_by_kind"]
        self.assertGreaterEqual(counts["TSCWrap"], 3, "each wait has one")
        done = subprocess.run([reader, "convert", "-f", "yaml", run.file], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("kind: function-enter"), counts["FunctionEnter"])
        self.assertEqual(done.stdout.count("kind: function-exit"), counts["FunctionExit"])


if __name__ == "__main__":
    unittest.main()
