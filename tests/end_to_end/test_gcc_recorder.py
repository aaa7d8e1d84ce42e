"""Programs built with -finstrument-functions: the same recorder, files and verbs as for XRay."""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import recorded_programs as programs
from recorded_programs import PROGRAMS, Recorded, calls, expected_calls, info, telltale, top

ODD = (PROGRAMS / "recorders/odd_calls.cc").read_text()
PLUGIN = (PROGRAMS / "recorders/cases/plugin.cc").read_text()
INLINED = (PROGRAMS / "recorders/inlined.cc").read_text()
LANDINGS = (PROGRAMS / "recorders/landings.cc").read_text()
LOADS = (PROGRAMS / "recorders/loads_plugins.cc").read_text()


@unittest.skipUnless(shutil.which("g++"), "needs g++")
class GccRecorderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = programs.build("g++", *programs.CALL_FLAGS)

    def test_calls_of_two_threads_are_counted_and_named(self):
        for flags in (("-O0",), ("-O2",), ("-O2", "-fno-pie", "-no-pie")):
            with self.subTest(flags=flags):
                run = Recorded(programs.build("g++", *programs.CALL_FLAGS, *flags), 20)
                self.assertEqual(run.done.returncode, 0)
                self.assertIn(f"telltale: recorded {run.file.name} (", run.done.stderr)
                self.assertEqual(calls(run.file), expected_calls(20))
        rows = top(run.file)
        self.assertEqual(pathlib.Path(rows["shop::price(int)"]["file"]).name, "source.cc")
        self.assertGreater(rows["shop::price(int)"]["line"], 0)
        self.assertEqual(rows["shop::refuse(int)"]["unwound"], 0, "the compiler calls the exit hook for exceptions too")

    def test_text_has_the_places_that_are_asked_for(self):
        run = Recorded(self.program, 5)
        for options in (["--fields", "calls,function,file,line"], ["--all-columns"]):
            row = next(line for line in telltale("top", *options, run.file).stdout.splitlines() if "shop::price(int)" in line)
            self.assertRegex(row, r"source\.cc +\d+")

    def test_every_verb_reads_it(self):
        run = Recorded(self.program, 5)
        self.assertEqual(telltale("check", run.file).returncode, 0)
        for verb in (["info"], ["top"], ["report"], ["stacks"], ["graph"], ["dump"], ["flame", "-o", "-"],
                     ["convert", "--to", "chrome", "-o", "-"], ["diff", run.file]):
            with self.subTest(verb=verb):
                done = telltale(verb[0], run.file, *verb[1:])
                self.assertEqual(done.returncode, 0, done.stderr)
                if verb[0] not in ("info", "dump", "diff"):
                    self.assertIn("shop::order(int)", done.stdout)
        self.assertIn("functions called", info(run.file)["properties"]["object 0"])

    def test_the_side_record_of_another_process_is_not_used(self):
        one, other = Recorded(self.program, 5), Recorded(self.program, 6)
        with tempfile.TemporaryDirectory() as folder:
            mixed = pathlib.Path(folder, "mixed.xray")
            shutil.copy(one.file, mixed)
            shutil.copy(f"{other.file}.side", f"{mixed}.side")
            done = telltale("top", mixed)
            self.assertRegex(done.stderr, r"mixed\.xray\.side: SideRecord at byte 24: it is of process \d+, but \S+ is of process \d+; functions have no names")
            self.assertNotIn("shop::", done.stdout)
            self.assertEqual(telltale("check", mixed).returncode, 1)
            shutil.copy(f"{one.file}.side", f"{mixed}.side")
            named = telltale("top", mixed).stdout
            self.assertIn("shop::order(int)", named)
            for ending, pack in ((".xz", "xz"), (".lz4", "lz4"), (".zst", "zstd")):
                with open(f"{mixed}{ending}", "wb") as packed:
                    subprocess.run([pack, "-c", "-q", str(mixed)], check=True, stdout=packed)
            for ending in (".xz", ".lz4", ".zst"):
                self.assertEqual(telltale("top", f"{mixed}{ending}").stdout, named, ending)

    def test_pipes_are_read_once(self):
        run = Recorded(self.program, 5)
        with tempfile.TemporaryDirectory() as folder:
            pipe = pathlib.Path(folder, "pipe")
            os.mkfifo(pipe)
            with subprocess.Popen(["cp", str(run.file), str(pipe)]) as writer:
                done = telltale("top", pipe)  # names are missing, which a message says
                self.assertEqual(writer.wait(timeout=60), 0)
            self.assertEqual(done.returncode, 0)
            self.assertIn("is a function's number", done.stderr)

    def test_histogram_counts_the_calls_that_options_select(self):
        run = Recorded(self.program, 5)
        def count(*words):
            done = telltale("histogram", "shop::fib", run.file, "--table", "functions", "--csv", *words)
            return [int(row["calls"]) for row in csv.DictReader(io.StringIO(done.stdout))]
        (all_calls,) = count()
        some = 0
        for depth in range(1, 12):
            rows = top(run.file, "--depth", depth)
            expected = [rows["shop::fib(int)"]["calls"]] if "shop::fib(int)" in rows else []
            self.assertEqual(count("--depth", depth), expected)
            some += expected != [] and expected[0] < all_calls
        self.assertGreater(some, 0)
        self.assertEqual(count("--function", "nothing*"), [])

    def test_clang_and_c_programs_too(self):
        if programs.CLANG:
            run = Recorded(programs.build(programs.CLANG, *programs.CALL_FLAGS), 7)
            self.assertEqual(calls(run.file), expected_calls(7))

    def test_sparse_clock_filters_and_ring(self):
        sparse = Recorded(self.program, 100, options=["--sparse", 16])
        self.assertEqual(calls(sparse.file), expected_calls(100))
        self.assertIn("estimated", info(sparse.file)["properties"]["sparse clock"])
        only = Recorded(self.program, 10, options=["--function", "shop::fib*", "--function", "shop::price*"])
        self.assertEqual(calls(only.file, prefix=""), {"shop::price(int)": 20, "shop::fib(int)": 300})
        without = Recorded(self.program, 10, options=["--without", "shop::fib*"])
        self.assertEqual({name for name in expected_calls(10) if name not in calls(without.file)}, {"shop::fib(int)"})
        ring = Recorded(self.program, 3000, options=["--mode", "ring", "--size", "256K", "--set", "buffer=4K"])
        self.assertRegex(str(info(ring.file)["problems"]), r"\d+ events lost: overwritten")

    def test_depth_and_duration(self):
        program = programs.build("g++", *programs.CALL_FLAGS, "-O2")
        shallow = Recorded(program, 10, options=["--function", "shop::*", "--depth", 2])
        self.assertEqual(calls(shallow.file), {"shop::work(int)": 2, "shop::order(int)": 20})
        long = Recorded(program, 10, options=["--min", "1ns"])
        # A processor's clock may not advance during the shortest calls.
        found, every = calls(long.file), expected_calls(10)
        self.assertEqual({name: every[name] - found[name] for name in ("shop::work(int)", "shop::order(int)")},
                         {"shop::work(int)": 0, "shop::order(int)": 0})
        self.assertTrue(all(every[name] * 0.9 <= found[name] <= every[name] for name in every), found)
        none = Recorded(program, 10, options=["--function", "shop::*", "--min", "100s"])
        self.assertEqual([calls(file) for file in none.files], [{}] * len(none.files), "nothing is as long as that")

    def test_filters_of_inlined_and_left_functions(self):
        functions = ["main", "round_of(int)", "outer(int)", "inner(int)", "innermost(int)"]
        for compiler in filter(None, ("g++", programs.CLANG)):
            program = programs.build(compiler, *programs.CALL_FLAGS, "-O2", source=INLINED)
            for depth in range(1, 6):
                with self.subTest(compiler=compiler, depth=depth):
                    run = Recorded(program, options=["--depth", depth])
                    expected = {name: 1 if name == "main" else 10 for name in functions[:depth]}
                    if depth > 2:
                        expected["leaps(int)"] = 10
                    self.assertEqual(calls(run.file, prefix=""), expected)
            none = Recorded(program, options=["--min", "100s"])
            self.assertEqual([info(file)["records_by_kind"].get("FunctionExit", 0) for file in none.files], [0] * len(none.files))
            with self.subTest(compiler=compiler, options="auto"):
                run = Recorded(program, options=["--auto"])
                self.assertEqual(calls(run.file, prefix=""), {"leaps(int)": 10, "main": 1, **{name: 10 for name in functions[1:]}})

    def test_depth_is_right_after_longjmp(self):
        depths = {"main": 1, "lands(int)": 2, "wide(int)": 3, "passes(int)": 3, "below(int)": 4, "leaps(int)": 4}
        for compiler in filter(None, ("g++", programs.CLANG)):
            for flags in (("-O0", *programs.CALL_FLAGS), ("-O2", *programs.CALL_FLAGS), ("-O2", *programs.XRAY_FLAGS)):
                if flags[1:] == programs.XRAY_FLAGS and compiler == "g++":
                    continue
                program = programs.build(compiler, *flags, source=LANDINGS)
                for depth in range(1, 6):
                    with self.subTest(compiler=compiler, flags=flags, depth=depth):
                        run = Recorded(program, options=["--depth", depth])
                        self.assertEqual(calls(run.file, prefix=""),
                                         {name: 1 if at < 3 else 10 for name, at in depths.items() if at <= depth})

    def test_what_was_recorded_survives_any_death(self):
        for end in ("kill", "term", "abort"):
            with self.subTest(end=end):
                run = Recorded(self.program, 30, end)
                self.assertEqual(calls(run.file), expected_calls(30))

    def test_longjmp_constructors_recursion_and_handlers(self):
        for flags in (("-O0",), ("-O2", "-fno-optimize-sibling-calls")):
            with self.subTest(flags=flags):
                run = Recorded(programs.build("g++", *programs.CALL_FLAGS, *flags, source=ODD))
                self.assertEqual(run.done.returncode, 0, run.done.stderr)
                rows = top(run.file)
                self.assertEqual(rows["shop::outer()"]["calls"], 3)
                self.assertEqual(rows["shop::inner()"]["unwound"], 3)
                self.assertEqual(rows["shop::deep(int)"]["calls"], 10001)
                self.assertEqual(rows["shop::early()"]["calls"], 1)
                self.assertEqual(rows["shop::handled()"]["calls"], 4)

    def test_other_code_at_the_same_address_has_its_own_name(self):
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        for name in ("alpha", "beta"):
            (place / f"{name}.cc").write_text(PLUGIN.replace("NAME", name))
            subprocess.run(["g++", "-O1", "-g", *programs.CALL_FLAGS, "-fPIC", "-shared", f"{name}.cc", "-o",
                            f"{name}.so"], cwd=place, check=True, timeout=60)
        loads = programs.build("g++", *programs.CALL_FLAGS, source=LOADS)
        run = Recorded(loads, 200, place / "alpha.so", place / "beta.so")
        self.assertEqual(run.done.returncode, 0, run.done.stderr)
        self.assertEqual(calls(run.file, prefix="shop::"), {"shop::alpha(int)": 100, "shop::beta(int)": 100})

    def test_without_the_side_record_no_program_has_the_names(self):
        run = Recorded(self.program, 10)
        side = run.file.with_name(run.file.name + ".side")
        side.unlink()
        for verb in ("top", "replay", "report"):
            self.assertRegex(telltale(verb, run.file).stderr,
                             rf"^telltale: #\d+ is a function's number: only {side}, the recorder's own list of names, gives it a name, and that file is missing\n$")

    def test_what_cannot_have_names_does_not_ask_for_a_program(self):
        run = Recorded(self.program, 10)
        converted = run.file.with_name("converted.fdr")
        self.assertEqual(telltale("convert", run.file, "--to", "fdr1", "-o", converted).returncode, 0)
        with run.file.open("rb") as recording:
            for done in (telltale("top", "-", stdin=recording), telltale("top", converted)):
                self.assertEqual(done.returncode, 0)
                self.assertIn("only RECORDING.side, the recorder's own list of names, gives it a name", done.stderr)
                self.assertNotIn("--program", done.stderr)

    def test_conversions_keep_or_count_the_names(self):
        run = Recorded(self.program, 10)
        named = {row["function"] for row in json.loads(telltale("top", "--json", run.file).stdout)["rows"]}
        text = run.file.with_name("converted.yaml")
        self.assertEqual(telltale("convert", run.file, "--to", "llvm-xray-yaml", "-o", text).returncode, 0)
        self.assertLess(len(named - {row["function"] for row in json.loads(telltale("top", "--json", text).stdout)["rows"]}), 2, named)
        for target in ("fdr5", "basic3"):
            done = telltale("convert", run.file, "--to", target, "-o", run.file.with_name("converted." + target), "--json")
            losses = {row["what"].split(" cannot")[0]: row["count"] for row in json.loads(done.stdout)["losses"]}
            self.assertGreaterEqual(losses["function names"], len(named) - 1)  # waits are no function

    def test_a_forked_childs_ids_are_its_own(self):
        run = Recorded(self.program, 10, "fork")
        self.assertEqual(len(run.files), 2, run.done.stderr)
        self.assertEqual(sorted(calls(file)["shop::order(int)"] for file in run.files), [3, 20])
        self.assertEqual(calls(*run.files)["shop::order(int)"], 23)


if __name__ == "__main__":
    unittest.main()
