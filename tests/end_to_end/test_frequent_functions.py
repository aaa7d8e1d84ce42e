"""`run --auto` drops functions that are called often and last shortly, and the recording says so."""
import itertools
import json
import shutil
import unittest

from program_text import program_text
import recorded_programs as programs
from recorded_programs import Recorded, info, telltale

PROGRAM = program_text("recorders/cases/frequent.cc")
# Small buffers, and limits that the brief functions exceed on a busy machine, too.
DROPPING = ("--set", "auto=1000/10us", "--set", "buffer=4K")
WORKS = "works(int, bool, void*)"
BRIEF = {"tiny(int)", "down(int)", "again(int)"}
ROUNDS = 400
# Under signals, whose handlers call the brief functions, too: on the thread's stack, below and above it.
WAYS = ((), ("signals",), ("signals", "stacks"))
# gcc may call the exit hook when the function's frame is gone, by a jump.
VARIANTS = {"gcc -O1": ("g++", *programs.CALL_FLAGS, "-finstrument-functions-exclude-file-list=/c++/,/usr/"),
            "gcc -O2": ("g++", "-O2", *programs.CALL_FLAGS, "-finstrument-functions-exclude-file-list=/c++/,/usr/")}
if programs.CLANG:
    VARIANTS["clang"] = (programs.CLANG, *programs.XRAY_FLAGS)


def calls_of(file):
    return json.loads(telltale("convert", file, "--to", "json", "-o", "-").stdout)


def dropped_in(file):
    """The functions' names, from `info`."""
    words = info(file)["properties"].get("dropped", "")
    return {name for name in BRIEF | {WORKS, "round_of(int)", "throws(int)", "handled(int)"} if name.split("(")[0] + "(" in words}


@unittest.skipUnless(shutil.which("g++"), "needs g++")
class FrequentFunctions(unittest.TestCase):
    def record(self, variant, *arguments, options=DROPPING):
        run = Recorded(programs.build(*VARIANTS[variant], source=PROGRAM), ROUNDS, *arguments, options=options)
        self.assertEqual(run.done.returncode, 0, run.done.stderr)
        return run

    def check_calls(self, file):
        """What is recorded are whole calls: the outermost ones of again(), too, of which others were dropped meanwhile."""
        rows = calls_of(file)
        self.assertEqual({row["kind"] for row in rows}, {"call"}, "an exit without an entry")
        # throws() leaves by an exception in every second call; sleds do not see that.
        self.assertEqual({row["ended"] for row in rows if row["function"] != "throws(int)"} - {"tail"}, {"normal"})
        self.assertEqual(sum(row["function"] == "round_of(int)" for row in rows), 2 * ROUNDS)
        depths = {row["tid"]: row["depth"] for row in rows if row["function"] == WORKS}
        self.assertEqual(len(depths), 2)
        outermost = [row for row in rows if row["function"] == "again(int)" and row["depth"] == depths[row["tid"]] + 1]
        # None in a thread that begins when the function has been dropped.
        self.assertIn(len(outermost), (1, 2))
        for row in outermost:
            inside = [other for other in rows if other["tid"] == row["tid"] and other["depth"] > row["depth"] and other["function"] != "(waiting)"]
            self.assertEqual(sum(other["function"] == "round_of(int)" for other in inside), ROUNDS)
            self.assertLessEqual(max(other["start_ns"] + other["duration_ns"] for other in inside),
                                 row["start_ns"] + row["duration_ns"])
        return rows

    def test_brief_functions_are_dropped_and_others_kept(self):
        for variant in VARIANTS:
            for arguments in WAYS:
                with self.subTest(variant=variant, arguments=arguments):
                    run = self.record(variant, *arguments)
                    rows = self.check_calls(run.file)
                    self.assertEqual(BRIEF, dropped_in(run.file) & BRIEF)
                    self.assertFalse(dropped_in(run.file) & {WORKS, "round_of(int)"})
                    tiny = sum(row["function"] == "tiny(int)" for row in rows)
                    self.assertGreater(tiny, 0)
                    self.assertLess(tiny, 2 * ROUNDS * 1000)

    def test_recorded_and_left_out_are_all_events(self):
        """Of gcc's hooks, which dropped functions still call."""
        for variant, arguments in itertools.product(("gcc -O1", "gcc -O2"), WAYS):
            with self.subTest(variant=variant, arguments=arguments):
                run = self.record(variant, *arguments)
                found = info(run.file)
                counts = found["records_by_kind"]
                left_out = int(found["properties"]["left out"].split()[0])
                self.assertGreater(left_out, 1_000_000)
                self.assertEqual(counts["FunctionEnter"] + counts["FunctionExit"] + left_out, 2 * int(run.done.stdout))

    def test_every_answer_says_so(self):
        run = self.record("gcc -O1")
        for verb in ("top", "stacks", "replay"):
            done = telltale(verb, run.file)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("--auto dropped ", done.stderr)
            self.assertIn("tiny(int) from ", done.stderr)
        self.assertEqual(telltale("check", "--strict", run.file).returncode, 0, "that is by design")
        self.assertRegex(info(run.file)["properties"]["dropped"], r"^\d functions by --auto: .*tiny\(int\) from [\d.]+ ms on \(\d+ calls a second of [\d.]+ [nu]s each\)")

    def test_nothing_is_dropped_without_reason(self):
        for options in ((), ("--set", "auto=off"), ("--set", "auto=1000000000/1s"), ("--set", "auto=1/1ns")):
            with self.subTest(options=options):
                run = self.record("gcc -O1", options=options)
                self.assertNotIn("dropped", info(run.file)["properties"])
                # A million rows: json.loads() would take ten times as long as all the rest.
                text = telltale("convert", run.file, "--to", "json", "-o", "-").stdout
                self.assertEqual(text.count('"function":"tiny(int)"'), 2 * ROUNDS * 1000)

    def test_stacks_of_one_thread(self):
        """User-level threads: a call of one returns while calls of another one, which began later, are open."""
        source = program_text("recorders/cases/user_threads.cc")
        for variant in VARIANTS:
            program = programs.build(*VARIANTS[variant], source=source)
            events = {}
            for options in ((), ("--auto",), ("--set", "auto=1000000000/1s")):
                run = Recorded(program, options=options)
                self.assertEqual(run.done.returncode, 0, run.done.stderr)
                found = info(run.file)
                events[options] = {kind: count for kind, count in found["records_by_kind"].items() if kind.startswith("Function")}
                self.assertEqual(found["properties"]["left out"], "0 events by filters", (variant, options))
            with self.subTest(variant=variant):
                self.assertGreater(sum(events[()].values()), 700)
                self.assertEqual(list(events.values()), [events[()]] * 3)

    def test_with_other_options(self):
        for options in (("--mode", "ring", "--size", "1M"), ("--min", "1us"), ("--depth", "4"), ("--sparse", "16"),
                        ("--set", "clock=monotonic"), ("--set", "version=1"), ("--mode", "snapshot", "--set", "signal=USR1")):
            with self.subTest(options=options):
                run = self.record("gcc -O1", options=(*DROPPING, *options))
                if "snapshot" in options:
                    continue  # nobody asked for one
                self.assertEqual(telltale("check", "--strict", run.file).returncode, 0)
                if "--min" not in options:  # which leaves the brief calls out before they are counted
                    self.assertIn("tiny(int)", dropped_in(run.file))

    def test_forked_children(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                run = self.record(variant, "fork")
                self.assertEqual(len(run.files), 2)
                child = next(file for file in run.files if info(file)["properties"].get("forked by"))
                self.assertIn("tiny(int)", dropped_in(child))
                self.assertEqual({row["function"] for row in calls_of(child)} - {"(waiting)"}, {"child_works()"})

    def test_option(self):
        run = self.record("gcc -O1", options=("--auto",))
        self.assertIn("auto=on", telltale("run", "--auto", "--", "sh", "-c", "echo $TELLTALE_XRAY").stdout)
        self.assertEqual(run.done.returncode, 0)
        for value in ("0/1us", "10", "10/", "10/0", "x/1us", "10/1"):
            with self.subTest(value=value):
                done = telltale("run", "--set", f"auto={value}", "--", "true")
                self.assertEqual(done.returncode, 2)
                self.assertIn("this must be on, off, or calls a second", done.stderr)


if __name__ == "__main__":
    unittest.main()
