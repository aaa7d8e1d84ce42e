"""`telltale paths --variables`: what a debugger printed, decoded."""
import itertools
import json
import re
import shutil
import unittest

from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run
from test_paths import TELLTALE, ids, paths, traced_frames

PROGRAMS = SOURCE_DIR / "tests/programs/csi"
WAYS = PROGRAMS / "crash_ways.c"


class DebuggerText(SamplerCase):
    def decode(self, text, *programs):
        file = self.path("variables.txt")
        file.write_text(text)
        done = run(TELLTALE, "paths", "--json", "--variables", file, *[word for program in programs for word in ("--program", program)])
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_published_examples(self):
        """The variables of CSI's manual, with its metadata, give the blocks of its manual. The values are facts of the format."""
        metadata = SOURCE_DIR / "tests/golden/csi/loop.pt"
        lines = {int(row.split("|")[0]): row.split("|")[1:] for row in metadata.read_text().splitlines() if re.match(r"\d+\|", row)}
        for names in (("__PT_pathArr", "__PT_arrIndex", "__PT_curPath"), ("__PT_counter_arr", "__PT_counter_idx", "__PT_current_path")):
            text = "#0  main () at loop.c:{}\n{} = {{{}}}\n{} = {}\n{} = {}\n"
            one = text.format(lines[9][0], names[0], "1, 3, 6, 3, 2, 4, 8, 9, 2, -1", names[1], 2, names[2], 4)
            (frame,) = traced_frames(self.decode(one, metadata))
            self.assertTrue(frame["complete_history"])
            self.assertEqual([ids(path) for path in frame["paths"]] + [ids(frame["partial"])], [[2, 4, 5, 8, 9], [4, 5, 7, 9], [4, 5, 8, 9]])
            two = text.format([line for line in lines[6] if line != "-1"][0], names[0], "4, 5, 4 <repeats 4 times>, 3, 4, 4, 4", names[1], 2, names[2], 0)
            (frame,) = traced_frames(self.decode(two, metadata))
            self.assertFalse(frame["complete_history"])
            shown = [ids(path) for path in frame["paths"][:frame["partial"]["completed"]]] + [ids(frame["partial"])]
            self.assertEqual(shown, 4 * [[4, 5, 8, 9]] + [[4, 5, 7, 9]] + 4 * [[4, 5, 8, 9]] + [[4, 6]])

    def crashed(self):
        program = build(self.path("ways"), RELEASES[-1], "--trace=pt.schema", "-O0", "-silent", "-pthread", WAYS)
        run(program, "fault", env={"TELLTALE_PATHS": str(self.path("core"))})
        return program, traced_frames(paths(self.path("core"), "--program", program))

    def check(self, text, program, expected):
        frames = traced_frames(self.decode(text, program))
        self.assertEqual([frame["function"] for frame in frames], [frame["function"] for frame in expected])
        for frame, wanted in zip(frames, expected):
            self.assertEqual([path["number"] for path in frame["paths"]], [path["number"] for path in wanted["paths"]])
            readings = [ids(reading) for reading in [frame["partial"], *frame["other_readings"]]]
            self.assertIn(ids(wanted["partial"]), readings)

    def test_gdb(self):
        program, expected = self.crashed()
        text = run("gdb", "-q", "-batch", "-nx", "-ex", "set print elements unlimited", "-ex", "thread apply all backtrace full", program, self.path("core")).stdout
        self.check(text, program, expected)

    def gdb(self, program, *commands):
        words = [word for command in ("set print elements unlimited", *commands) for word in ("-ex", command)]
        return run("gdb", "-q", "-batch", "-nx", *words, program, self.path("core")).stdout

    def test_commands_of_gdb(self):
        """Variables belong to the frame that gdb has selected, however the session shows the stack."""
        program, expected = self.crashed()
        numbers = range(len(expected))
        each = [command for number in numbers for command in (f"frame {number}", "info locals")]
        for commands in (["backtrace", *each], each, ["backtrace", *each, "backtrace"], ["set width 40", "backtrace full"],
                         ["set width 0", "backtrace full", "info locals"], ["set print frame-arguments none", "thread 1", *each],
                         ["info locals"] + [word for _ in numbers[1:] for word in ("up", "info locals")],
                         ["output/x 1", "set output-radix 16", "backtrace full"]):
            with self.subTest(commands=commands):
                shown = self.decode(self.gdb(program, *commands), program)
                self.assertEqual(len(shown["threads"]), 1)
                frames = traced_frames(shown)
                self.assertEqual([frame["function"] for frame in frames], [frame["function"] for frame in expected])
                for frame, wanted in zip(frames, expected):
                    self.assertEqual([path["number"] for path in frame["paths"]], [path["number"] for path in wanted["paths"]])

    def test_variables_of_the_selected_frame_alone(self):
        program, expected = self.crashed()
        for select, number in (([], 0), (["frame 1"], 1)):
            (frame,) = traced_frames(self.decode(self.gdb(program, *select, "backtrace", "info locals"), program))
            self.assertEqual(frame["function"], expected[number]["function"])
            self.assertEqual([path["number"] for path in frame["paths"]], [path["number"] for path in expected[number]["paths"]])

    def test_another_build(self):
        program, _ = self.crashed()
        text = self.gdb(program, "backtrace full")
        other = build(self.path("other"), RELEASES[-1], "--trace=pt.schema", "-path-array-size=16", "-O0", "-silent", "-pthread", WAYS)
        shown = self.decode(text, other)
        self.assertEqual(traced_frames(shown), [])
        self.assertIn("its ring has 10 numbers, and that of the program 16: it is another build", str(shown))

    def test_names_of_cxx(self):
        source = PROGRAMS / "debugger_names.cc"
        lldb = shutil.which("lldb-19") or shutil.which("lldb")
        for release in RELEASES:
            program = build(self.path("names"), release, "--trace=pt.schema", "-O0", "-g", "-silent", source, cxx=True)
            run(program, env={"TELLTALE_PATHS": str(self.path("core"))})
            expected = traced_frames(paths(self.path("core"), "--program", program))
            self.assertEqual(len([frame for frame in expected if frame["file"].endswith(source.name)]), 8)
            self.check(self.gdb(program, "backtrace full"), program, expected)
            if lldb is not None:
                steps = [word for number in range(14) for word in ("-o", f"frame select {number}", "-o", "frame variable")]
                self.check(run(lldb, "--no-lldbinit", "--batch", *steps, "-c", self.path("core"), program).stdout, program, expected)

    def test_copies_of_the_sampler(self):
        """Each call of the source has one frame, as from the core file; none is lost where a debugger cannot tell."""
        source = PROGRAMS / "cases/copies_on_the_stack.cc"
        for release, (level, is_exact) in itertools.product(RELEASES, (("-O0", True), ("-O1", False), ("-O2", False))):
            with self.subTest(release=release, level=level):
                program = build(self.path("copies"), release, "--trace=pt.schema", level, "-g", "-silent", "-fsampler-scheme=branches",
                                "-fsampler-adaptive", source, cxx=True)
                run(program, env={"TELLTALE_PATHS": str(self.path("core")), "SAMPLER_FILE": str(self.path("report")), "SAMPLER_SPARSITY": "1"})
                expected, found = ([(frame["function"], frame["line"]) for frame in threads["threads"][0]["frames"] if (frame["file"] or "").endswith(source.name)]
                                   for threads in (paths(self.path("core"), "--program", program),
                                                   self.decode(self.gdb(program, "backtrace full"), program)))
                self.assertGreater(len(expected), 12)
                if is_exact:
                    self.assertEqual(found, expected)
                rest = iter(found)
                self.assertEqual([frame for frame in expected if frame not in rest], [], found)

    def test_lldb(self):
        lldb = shutil.which("lldb-19") or shutil.which("lldb")
        if lldb is None:
            self.skipTest("LLDB is not installed")
        program, expected = self.crashed()
        steps = [word for number in range(len(expected)) for word in ("-o", f"frame select {number}", "-o", "frame variable")]
        text = run(lldb, "--no-lldbinit", "--batch", *steps, "-c", self.path("core"), program).stdout
        self.check(text, program, expected)

    def test_what_is_missing_is_told(self):
        program, _ = self.crashed()
        file = self.path("variables.txt")
        for text, told in (("#0  parse () at crash_ways.c:26\n__PT_pathArr = {1, 2...}\n__PT_arrIndex = 1\n__PT_curPath = 0\n", "set print elements unlimited"),
                           ("#0  parse () at crash_ways.c:26\n__PT_arrIndex = 1\n", "the variable __PT_pathArr is missing"),
                           ("nothing\n", "")):
            file.write_text(text)
            done = run(TELLTALE, "paths", "--variables", file, "--program", program)
            self.assertEqual(done.returncode, 0)
            self.assertIn(told, done.stdout)
        done = run(TELLTALE, "paths", "--variables", file)
        self.assertEqual((done.returncode, "needs --program" in done.stderr), (2, True))


if __name__ == "__main__":
    unittest.main()
