"""replay, slow, histogram, top, names, --program and --evented, and suggestions for misspelt words, on recordings of real programs."""
import collections
import json
import os
import re
import subprocess
import tempfile
import unittest

import recorded_programs
from program_text import program_text
from run_telltale import RECORDING, document, run

TEMPLATES = program_text("recorders/cases/templates.cc")


class ReplayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = {row["function"]: row for row in document("top", *RECORDING)["rows"]}
        cls.steps = document("replay", *RECORDING)["steps"]

    def test_the_steps_are_the_calls_of_top(self):
        calls, sums = collections.Counter(), collections.Counter()
        for step in self.steps:
            if step["kind"] == "leave":
                calls[step["function"]] += 1
                sums[step["function"]] += step["duration_ns"]
        self.assertEqual(calls, {name: row["calls"] for name, row in self.top.items()})
        for name, row in self.top.items():
            self.assertAlmostEqual(sums[name], row["sum_ns"], delta=row["calls"])
        self.assertEqual(sum(step["kind"] == "event" for step in self.steps), 2)

    def test_calls_nest_and_have_the_numbers_in_which_they_began(self):
        stacks, begun = collections.defaultdict(list), collections.Counter()
        for step in self.steps:
            stack = stacks[step["tid"]]
            if step["kind"] == "enter":
                begun[step["tid"]] += 1
                self.assertEqual((step["call"], step["depth"]), (begun[step["tid"]], len(stack)))
                stack.append(step)
            elif step["kind"] == "leave":
                entered = stack.pop()
                self.assertEqual((step["call"], step["function"], step["depth"]),
                                 (entered["call"], entered["function"], len(stack)))
                # Each is rounded to nanoseconds.
                self.assertAlmostEqual(step["time_ns"] - entered["time_ns"], step["duration_ns"], delta=1)
        self.assertEqual([stack for stack in stacks.values() if stack], [])

    def test_one_call(self):
        whole = [step for step in self.steps if step["tid"] == 9480]
        begin = next(i for i, step in enumerate(whole) if step["kind"] == "enter" and step["depth"] == 1)
        number = whole[begin]["call"]
        end = next(i for i in range(begin, len(whole)) if whole[i]["kind"] == "leave" and whole[i]["call"] == number)
        expected = [{**step, "depth": step["depth"] - 1} for step in whole[begin:end + 1]]
        self.assertEqual(document("replay", *RECORDING, "--thread", "9480", "--call", number)["steps"], expected)
        self.assertIn("2 threads are selected", run("replay", *RECORDING, "--call", "3", status=2).stderr)

    def test_merged_threads_are_in_order_of_time(self):
        merged = document("replay", *RECORDING, "--merge")["steps"]
        times = [step["time_ns"] for step in merged]
        self.assertEqual(times, sorted(times))
        key = lambda step: json.dumps(step)
        self.assertEqual(sorted(merged, key=key), sorted(self.steps, key=key))

    def test_windows(self):
        span = max(step["time_ns"] for step in self.steps)
        last = document("replay", *RECORDING, "--last", "20us")["steps"]
        self.assertEqual([step for step in last if step["kind"] != "already_open"],
                         [step for step in self.steps if step["time_ns"] >= span - 20_000])
        self.assertEqual(document("replay", *RECORDING, "--time", "-20us..")["steps"], last)
        at = self.steps[40]["time_ns"]
        around = document("replay", *RECORDING, "--around", f"{at}ns", "--margin", "500ns")["steps"]
        shown = [step for step in around if step["kind"] != "already_open"]
        self.assertEqual(shown, [step for step in self.steps if abs(step["time_ns"] - at) <= 500])
        self.assertIn(self.steps[40], shown)
        self.assertTrue(any(step["kind"] == "already_open" for step in around))

    def test_an_empty_recording_is_not_blamed_on_the_options(self):
        with tempfile.TemporaryDirectory() as folder:
            empty = f"{folder}/empty.yaml"
            with open(RECORDING[0]) as whole, open(empty, "w") as file:
                file.write(whole.read().partition("records:")[0] + "records: []\n")
            self.assertEqual(run("replay", empty).stderr, "telltale: nothing happened in the recording\n")
            for words in (["--time", "0..1"], ["--call", 1], ["--last", "1ms"], ["--depth", 1]):
                self.assertEqual(run("replay", empty, *words).stderr, "telltale: nothing happened in what the options select\n", words)

    def test_long_text_is_limited_and_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(RECORDING[0]) as file:
                text = file.read()
            # 700 more calls, after the last of the thread.
            last = next(line for line in reversed(text.splitlines()) if "kind: function-exit" in line)
            time = int(re.search(r"tsc: (\d+)", last)[1])
            calls = [re.sub(r"tsc: \d+", f"tsc: {time + 1000 * (i + 1)}", last.replace("function-exit", kind))
                     for i, kind in enumerate(("function-enter", "function-exit") * 700)]
            with open(f"{folder}/long.yaml", "w") as file:
                file.write(text.replace(last + "\n", "\n".join([last, *calls]) + "\n"))
            long = (f"{folder}/long.yaml", *RECORDING[1:])
            total = len(document("replay", *long)["steps"])
            self.assertGreater(total, 1400)
            done = run("replay", *long)
            self.assertIn(f"telltale: only the first 1000 of {total} steps; -n 0 shows all", done.stderr)
            self.assertEqual(len(run("replay", *long, "--csv").stdout.splitlines()), total + 1)
            last = run("replay", *long, "--last", "100s", "-n", "10")
            self.assertIn(f"only the last 10 of {total} steps", last.stderr)
            steps = [line for line in last.stdout.splitlines() if line.endswith((";", "{"))]
            every = run("replay", *long, "-n", "0")
            self.assertNotIn("only", every.stderr)
            self.assertEqual([line for line in every.stdout.splitlines() if line.endswith(";")][-5:], steps[-5:])

    def test_text_has_a_line_for_each_call_and_names_what_is_open(self):
        text = run("replay", *RECORDING).stdout
        leaves, begun, ended = (len(re.findall(end, text, re.M)) for end in (r";(  \(.*\))?$", r" \{$", r"  \} |^.{28}\} "))
        self.assertEqual(leaves + begun, sum(step["kind"] == "enter" for step in self.steps))
        with tempfile.TemporaryDirectory() as folder:
            run("convert", RECORDING[0], "--to", "fdr5", "-o", f"{folder}/whole.xray")
            with open(f"{folder}/whole.xray", "rb") as whole, open(f"{folder}/torn.xray", "wb") as torn:
                torn.write(whole.read()[:1000])
            told = document("replay", f"{folder}/torn.xray", *RECORDING[1:])
            self.assertTrue(told["open_at_end"])
            text = run("replay", f"{folder}/torn.xray", *RECORDING[1:]).stdout
            self.assertIn("Open at the end of the recording\nthread 9476:", text)


class SlowTest(unittest.TestCase):
    def test_the_longest_calls_first_beside_the_median(self):
        steps = document("replay", *RECORDING)["steps"]
        durations = sorted((step["duration_ns"] for step in steps
                            if step["kind"] == "leave" and step["function"].startswith("validate")), reverse=True)
        slow = document("slow", "validate", *RECORDING, "--limit", "3")
        self.assertEqual([call["duration_ns"] for call in slow["calls"]], durations[:3])
        self.assertEqual({call["typical_ns"] for call in slow["calls"]}, {sorted(durations)[len(durations) // 2]})
        (functions,) = slow["functions"]
        (top,) = [row for row in document("top", *RECORDING, "--exact")["rows"] if row["function"] == functions["function"]]
        for key in ("calls", "min_ns", "median_ns", "p90_ns", "p99_ns", "max_ns"):
            self.assertEqual(functions[key], top[key], key)
        for call in slow["calls"]:
            parts = [row["total_ns"] for row in slow["callees"] if row["rank"] == call["rank"]]
            self.assertAlmostEqual(sum(parts), call["duration_ns"], delta=len(parts))
            replayed = document("replay", *RECORDING, "--thread", call["tid"], "--call", call["call"])["steps"]
            self.assertEqual(replayed[-1]["duration_ns"], call["duration_ns"])
            self.assertEqual([step["event"] for step in replayed if step["kind"] == "event"],
                             [row["event"] for row in slow["events"] if row["rank"] == call["rank"]])
        meanwhile = sum(row["self_ns"] for row in slow["meanwhile"] if row["rank"] == 1)
        self.assertLessEqual(meanwhile, slow["calls"][0]["duration_ns"] + 10)

    def test_percentiles_are_those_of_top(self):
        """`serve` has two calls: the second is the median."""
        (function,) = document("histogram", "serve", *RECORDING)["functions"]
        (top,) = [row for row in document("top", *RECORDING)["rows"] if row["function"] == function["function"]]
        self.assertEqual(function["calls"], 2)
        self.assertLess(function["min_ns"], function["median_ns"])
        self.assertEqual(function["median_ns"], top["median_ns"])

    def test_functions_and_depth_select_what_is_seen_inside(self):
        slowest = lambda *words: document("slow", "validate", *RECORDING, "--limit", "1", *words)
        every = slowest()
        for words, callees in ((["--function", "audit*"], {None, "audit(Order const&)"}), (["--function", "serve*"], {None}), (["--depth", "2"], {None})):
            told = slowest(*words)
            self.assertEqual(told["calls"][0]["call"], every["calls"][0]["call"], words)
            self.assertEqual(told["functions"], every["functions"], words)
            self.assertEqual({row["callee"] for row in told["callees"]}, callees, words)
            self.assertAlmostEqual(sum(row["total_ns"] for row in told["callees"]), told["calls"][0]["duration_ns"], delta=2)

    def test_histogram_counts_every_call(self):
        told = document("histogram", "*", *RECORDING)
        top = document("top", *RECORDING)["rows"]
        self.assertEqual(sum(row["calls"] for row in told["buckets"]), sum(row["calls"] for row in top))
        self.assertEqual({row["function"]: row["calls"] for row in told["functions"]},
                         {row["function"]: row["calls"] for row in top})
        for before, after in zip(told["buckets"], told["buckets"][1:]):
            self.assertEqual(before["to_ns"], after["from_ns"])

    def test_what_matches_nothing_gets_a_suggestion(self):
        self.assertIn("0 of 7 functions match `valid`; try `'valid*'`", run("slow", "valid", *RECORDING, status=2).stderr)
        for verb in ("slow", "histogram"):
            said = run(verb, RECORDING[0], "validate", status=3).stderr
            self.assertIn(f"\ntelltale: {RECORDING[0]} is a file: FUNCTION comes before the files\n", said)
        self.assertIn("0 of 7 functions match `vaildate`; try `'validate*'`",
                      run("histogram", "vaildate", *RECORDING, status=2).stderr)
        for words, why in ((["--thread", "99"], "no thread is what --thread names; there are 9476:9480, 9476:9481"),
                           (["--time", "1s.."], "the window of --time begins after the last call of the recording has begun"),
                           (["--time", "21us..21100ns"], "no call that the options select ended within the recording")):
            for verb in ("slow", "histogram"):
                self.assertEqual(run(verb, "validate", *RECORDING, *words).stderr, f"telltale: {why}\n", words)
        said = run("slow", "validate", *RECORDING, "--function", "nobody").stderr  # only what is seen inside
        self.assertEqual(said, "telltale: 0 of 7 functions match `nobody`\n")
        self.assertIn("0 of 7 functions match `save`; try `'*save*'`", run("top", "--function", "save", *RECORDING).stderr)
        for words in (["top"], ["stacks"], ["report"]):
            self.assertIn("the window of --time begins after the last call of the recording has begun\n",
                          run(*words, *RECORDING, "--time", "99s..").stderr)
        self.assertIn("--time: the window ends before it begins: 5..2\n", run("top", *RECORDING, "--time", "5..2", status=2).stderr)

    def test_what_matches_nothing_beside_what_matches_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for words in (["top"], ["report"], ["stacks"], ["graph"], ["replay"], ["dump"], ["info"], ["flame", "-o", f"{folder}/page.html"],
                          ["convert", "-o", f"{folder}/a.csv"], ["histogram", "serve"]):
                said = run(*words, *RECORDING, "--function", "serve*", "--function", "save", "--thread", 9480, "--thread", 9999, "--thread", "1:9480").stderr
                self.assertEqual(said, "telltale: no thread is 9999 or 1:9480\ntelltale: 0 of 7 functions match `save`; try `'*save*'`\n", words)
                self.assertEqual(run(*words, *RECORDING, "--function", "serve*", "--function", "*save*", "--thread", 9480, "--thread", 9481).stderr, "", words)
        # If nothing matches, one message says so.
        said = run("top", *RECORDING, "--function", "save", "--function", "store").stderr
        self.assertEqual(said.count("telltale:"), 1)
        self.assertIn("0 of 7 functions match `save`, `store`; try", said)

    def test_names_of_functions_are_numbers_without_a_program(self):
        path = RECORDING[0]
        with tempfile.TemporaryDirectory() as folder:
            for words in (["top", "--sort", "id"], ["report"], ["stacks"], ["replay"], ["diff", path], ["diff", path, "--", path], ["diff", "--order", path],
                          ["flame", "-o", f"{folder}/page.html"], ["graph"], ["convert", "-o", f"{folder}/a.csv"], ["convert", "-o", f"{folder}/a.pftrace"],
                          ["convert", "-o", f"{folder}/a.speedscope.json", "--evented"]):
                said = run(*words, path).stderr
                self.assertRegex(said, r"telltale: #\d is a function's number: --program BIN", words)
                self.assertEqual(said.count("function's number"), 1, words)
                self.assertNotIn("function's number", run(*words, path, *RECORDING[1:]).stderr, words)


class ThreadTest(unittest.TestCase):
    def test_a_thread_that_is_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            for words in (["top"], ["graph"], ["stacks"], ["replay"], ["info"], ["dump"], ["check"], ["flame", "-o", os.path.join(folder, "flame.html")],
                          ["convert", "--to", "folded", "-o", os.path.join(folder, "folded")]):
                done = run(*words, *RECORDING, "--thread", "99")
                self.assertIn("telltale: no thread is what --thread names; there are 9476:9480, 9476:9481\n", done.stderr)

    def test_what_is_no_file_and_what_recorded_nothing(self):
        self.assertIn("the name of a file is empty", run("top", "", status=2).stderr)
        self.assertIn("nothing was recorded of true; `telltale run -- true` says why", run("bench", "true", "--", "true", status=2).stderr)


class NamesTest(unittest.TestCase):
    def test_the_three_styles_of_a_real_program(self):
        if recorded_programs.CLANG is None:
            self.skipTest("no clang")
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/t.cc", "w") as source:
                source.write(TEMPLATES)
            subprocess.run([recorded_programs.CLANG, "-std=c++20", "-g", *recorded_programs.XRAY_FLAGS, f"{folder}/t.cc",
                            "-o", f"{folder}/t"], check=True, timeout=120)
            run("run", "--quiet", "-o", f"{folder}/t.xray", "--", f"{folder}/t")
            recording = f"{folder}/t.xray"
            names = {style: {row["id"]: row["function"] for row in document("top", recording, "--names", style)["rows"]}
                     for style in ("short", "full", "mangled")}
            self.assertEqual(document("top", recording)["rows"][0]["function"],
                             document("top", recording, "--names", "full")["rows"][0]["function"])
            load = next(id for id, name in names["mangled"].items() if name.startswith("_Z4load"))
            twice = next(id for id, name in names["mangled"].items() if name.startswith("_Z5twice"))
            self.assertIn("Tk", names["mangled"][twice])
            self.assertEqual((names["full"][twice], names["short"][twice]), ("int twice<int>(int)", "twice<int>(int)"))
            self.assertEqual(names["short"][load], "load(std::string const&, std::map<…>&)")
            self.assertIn("std::allocator", names["full"][load])
            text = run("top", recording).stdout
            self.assertIn("load(std::string const&, std::map<…>&)", text)
            for pattern in ("load(std::string const&, *", "load(std::__cxx11::basic_string*", "_Z4load*"):
                (row,) = document("top", recording, "--function", pattern)["rows"]
                self.assertEqual(row["id"], load)


class TopTest(unittest.TestCase):
    def test_columns_and_orders(self):
        rows = document("top", *RECORDING)["rows"]
        self.assertAlmostEqual(sum(row["self_share"] for row in rows), 1)
        chosen = run("top", *RECORDING, "--fields", "function,calls,self", "--csv", "-n", "2").stdout.splitlines()
        self.assertEqual((chosen[0], len(chosen)), ("function,calls,self_ns", 3))
        names = [row["function"] for row in document("top", *RECORDING, "--sort", "name")["rows"]]
        self.assertEqual(names, sorted(names))
        self.assertIn("--fields has no column bogus", run("top", *RECORDING, "--fields", "bogus", status=2).stderr)
        self.assertEqual(run("top", *RECORDING, "--rows", "2").stdout, run("top", *RECORDING, "--limit", "2").stdout)

    def test_calls_still_open(self):
        with tempfile.TemporaryDirectory() as folder:
            run("convert", RECORDING[0], "--to", "fdr5", "-o", f"{folder}/whole.xray")
            with open(f"{folder}/whole.xray", "rb") as whole, open(f"{folder}/torn.xray", "wb") as torn:
                torn.write(whole.read()[:150])
            text = run("top", f"{folder}/torn.xray", *RECORDING[1:]).stdout
            self.assertIn("OPEN", text.splitlines()[0])
            self.assertRegex(text, r" 0 +1 .* - +- .*handle_order")
            self.assertNotIn("OPEN", run("top", *RECORDING).stdout)

    def test_kinds_of_records_that_only_info_has(self):
        with tempfile.TemporaryDirectory() as folder:
            run("convert", RECORDING[0], "--to", "fdr5", "-o", f"{folder}/orders.xray")
            self.assertIn("FunctionExit", document("info", f"{folder}/orders.xray")["records_by_kind"])
            said = run("dump", f"{folder}/orders.xray", "--record", "FunctionExit", status=2).stderr
            self.assertIn("--record: FunctionExit is one of the records of the kind Function; the kinds of records of an XRay trace are ", said)
            self.assertIn("--record: there is no Exit; ", run("dump", f"{folder}/orders.xray", "--record", "Exit", status=2).stderr)


class ProgramTest(unittest.TestCase):
    def test_a_program_that_does_not_apply(self):
        """dump shows no names, but a wrong command line is as wrong there."""
        golden = os.path.join(os.environ["TELLTALE_SOURCE_DIR"], "tests/golden")
        for recording, status in (("mono/v15.mlpd", 2), ("stacktrack/classic.tlg", 2), ("xray/calls.fdr", 3), ("sampler/worked_example.report", 3)):
            said = {verb: run(verb, os.path.join(golden, recording), "--program", __file__, status=status).stderr for verb in ("info", "dump")}
            self.assertEqual(said["dump"].splitlines()[-1].rpartition(": ")[2], said["info"].splitlines()[-1].rpartition(": ")[2], recording)
        self.assertEqual(run("dump", *RECORDING).stdout, run("dump", RECORDING[0]).stdout)


class SuggestionTest(unittest.TestCase):
    def test_words_that_were_meant(self):
        for words, meant in ((["tpo"], "top"), (["flmae"], "flame"), (["top", "--limti", "3", "x"], "--limit"),
                             (["top", "--fuction=x", "x"], "--function")):
            self.assertIn(f"did you mean {meant}?", run(*words, status=2).stderr)

    def test_tools_of_the_sampler_are_a_verb(self):
        self.assertNotIn("resolveSamples", run("help").stdout)
        self.assertIn("resolveSamples", run("help", "sampler").stdout)
        self.assertEqual(run("sampler", "resolveSamples", "--help").stdout, run("resolveSamples", "--help").stdout)


class SpeedscopeTest(unittest.TestCase):
    def test_evented_profiles_have_every_call_in_order(self):
        with tempfile.TemporaryDirectory() as folder:
            run("convert", *RECORDING, "--evented", "-o", f"{folder}/x.speedscope.json")
            with open(f"{folder}/x.speedscope.json") as file:
                told = json.load(file)
        frames = [frame["name"] for frame in told["shared"]["frames"]]
        steps = document("replay", *RECORDING, "--names", "short")["steps"]
        for profile, tid in zip(told["profiles"], (9480, 9481), strict=True):
            self.assertEqual((profile["type"], profile["name"]), ("evented", f"thread {tid}"))
            self.assertEqual([(event["type"], frames[event["frame"]], event["at"]) for event in profile["events"]],
                             [("O" if step["kind"] == "enter" else "C", step["function"], step["time_ns"]) for step in steps
                              if step["tid"] == tid and step["kind"] in ("enter", "leave")])
            self.assertGreaterEqual(profile["endValue"], profile["events"][-1]["at"])
        for option, message in (("--evented", "--evented is for speedscope"), ("--compress", "--compress is for perfetto")):
            self.assertIn(message, run("convert", *RECORDING, option, "--to", "csv", "-o", "-", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
