"""telltale paths: what ran before a crash, compared with what the program recorded itself."""
import gzip
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import struct
import unittest

from core_files import crash
from json_schemas import validator
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run, section

TELLTALE = os.environ["TELLTALE"]
PROGRAMS = SOURCE_DIR / "tests/programs/csi"
WALK = PROGRAMS / "recorded_walk.c"
LINES = {number for number, line in enumerate(WALK.read_text().splitlines(), 1) if line.strip() == "LINE;"}


def paths(core, *words):
    done = run(TELLTALE, "paths", core, "--json", *words)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    document = json.loads(done.stdout)
    validator("paths").validate(document)
    return document


def traced_frames(document, thread=0):
    return [frame for frame in document["threads"][thread]["frames"] if frame["untraced"] is None]


def ids(reading):
    return [block["block"] for block in reading["blocks"]]


def lines_of(blocks):
    return [line for block in blocks for line in block["lines"]]


class Recorded:
    """What recorded_walk wrote: the lines of each activation, and which activations had not ended."""

    def __init__(self, file):
        data = pathlib.Path(file).read_bytes()
        self.lines = {}
        self.open = []
        for activation, line in struct.iter_unpack("<ii", data):
            if line == 0:
                self.open.remove(activation)
                continue
            if activation not in self.lines:
                self.lines[activation] = []
                self.open.append(activation)
            self.lines[activation].append(line)


class Paths(SamplerCase):
    def walk(self, release, *words):
        return build(self.path("walk"), release, "-g", f"--trace={PROGRAMS / 'recorded_walk.schema'}", "-silent",
                     *words, WALK)

    def fits(self, frame, recorded):
        """Whether the paths of a frame are what was recorded. The block that it was stopped in may have lines after that
        place."""
        for reading in [frame["partial"], *frame["other_readings"]]:
            told = [line for path in frame["paths"][:reading["completed"]] for line in lines_of(path["blocks"]) * path["times"]]
            told += lines_of(reading["blocks"][:-1])
            told = [line for line in told if line in LINES]
            last = [line for line in lines_of(reading["blocks"][-1:]) if line in LINES]
            for reached in range(len(last) + 1):
                whole = told + last[:reached]
                if frame["complete_history"]:
                    same = whole == recorded
                else:
                    same = len(whole) <= len(recorded) and whole == recorded[len(recorded) - len(whole):]
                if same:
                    return True
        return False

    def test_crashes_at_random_places_are_explained_as_recorded(self):
        draws = random.Random(5)
        for release in RELEASES:
            for level, size in (("-O0", 10), ("-O2", 4)):
                program = self.walk(release, level, f"-path-array-size={size}")
                # The optimiser may leave calls of different lines in one place, without a line.
                known = {int(line) for line in re.findall(r"\|(\d+)(?=[|\n])", section(program, ".debug_PT").decode())}
                by_lines = self.path("by_lines")
                run("objcopy", "--remove-section=.debug_telltale_paths", program, by_lines)
                frames = complete = unique = 0
                for _ in range(40):
                    seed, records = draws.randrange(1 << 30), 1 + draws.randrange(600)
                    with self.subTest(release=release, level=level, seed=seed, records=records):
                        core = crash(self.path("core"), program, self.path("trace"), seed, records)
                        recorded = Recorded(self.path("trace"))
                        traced = traced_frames(paths(core))
                        with_lines = traced_frames(paths(core, "--program", by_lines))
                        self.assertEqual(len(traced), len(recorded.open))
                        if level == "-O0":
                            self.assertEqual(len(with_lines), len(recorded.open))
                        for frame, candidates, activation in itertools.zip_longest(traced, with_lines[:len(traced)], reversed(recorded.open)):
                            self.assertIsNone(frame["contradiction"])
                            self.assertEqual((frame["found_by"], frame["other_readings"]), ("position", []))
                            ran = [line for line in recorded.lines[activation] if line in known]
                            self.assertTrue(self.fits(frame, ran), (frame, ran))
                            frames += 1
                            complete += frame["complete_history"]
                            if level == "-O2":
                                continue  # the published metadata alone do not suffice
                            # By the published metadata alone the true reading is one of several.
                            self.assertNotEqual(candidates["found_by"], "position")
                            self.assertTrue(self.fits(candidates, ran), (candidates, ran))
                            unique += not candidates["other_readings"]
                # Both kinds were there.
                self.assertGreater(frames, 100)
                self.assertGreater(complete, 20)
                self.assertLess(complete, frames)
                self.assertTrue(unique > frames // 2 or level == "-O2", unique)

    def test_each_line_is_in_a_path_or_in_a_list(self):
        """Also lines of branches that became code without a branch, and lines that ran before the oldest path that is known."""
        source = PROGRAMS / "cases/without_branches.c"
        text = source.read_text().splitlines()
        marked = {number: found[1] for number, line in enumerate(text, 1) if (found := re.search(r"/\* (ran|not) \*/$", line))}
        for release, level, size in itertools.product(RELEASES, ("-O0", "-O1", "-O2", "-O3"), (1, 20)):
            with self.subTest(release=release, level=level, size=size):
                program = build(self.path("program"), release, "-g", level, "--trace=pt.schema", "-silent", f"-path-array-size={size}", source)
                core = crash(self.path("core"), program)
                (frame,) = [frame for frame in paths(core)["threads"][0]["frames"] if frame["function"] == "sum"]
                answers = {row["line"]: row["ran"] for row in frame["lines_of_call"] if row["file"] == str(source)}
                shown = run(TELLTALE, "paths", core, "--function", "sum").stdout
                listed = {int(line): "yes" for line in re.findall(r"(?m)^ +(\d+)  ", shown)}
                for heading, ran in (("ran before", "yes"), ("did not run in this call", "no"), ("may have run before", "maybe")):
                    for line in re.findall(rf"(?m)^     {heading}: (.*)", shown):
                        for number in map(int, line.split(", ")):
                            self.assertNotIn(number, listed, shown)
                            listed[number] = ran
                self.assertEqual(run(TELLTALE, "paths", core, "--function", "sum", "--html", "-o", self.path("page")).returncode, 0)
                page = json.loads(self.path("page").read_text().split('<script id="data" type="application/json">')[1].split("</script>")[0])
                (steps,) = page["data"]["steps"]["frames"]
                in_page = {line: "yes" for _, _, line, *_ in steps["steps"]}
                in_page |= {line: ran for key, ran in (("ran", "yes"), ("not_run", "no"), ("maybe", "maybe")) for _, line in steps[key]}
                right = {"ran": ("yes", "maybe"), "not": ("no", "maybe")}
                for number, how in marked.items():
                    for said in (answers, listed, in_page):
                        self.assertIn(said.get(number), right[how], (number, shown))
                    # The text says "not yet, or in part" of lines after the place of the stop.
                    self.assertEqual(in_page[number], answers[number], (number, shown))
                    self.assertEqual(listed[number], answers[number], (number, shown))
                if level == "-O0" and size == 20:
                    self.assertEqual({number: answers[number] for number in marked}, {number: {"ran": "yes", "not": "no"}[how] for number, how in marked.items()})

    def test_a_function_that_was_inlined_names_the_one_around_it(self):
        source = PROGRAMS / "cases/inlined_on_the_stack.c"
        reason = "it was inlined before path tracing"
        for release, level in itertools.product(RELEASES, ("-O1", "-O2")):
            program = build(self.path("program"), release, "-g", level, "--trace=pt.schema", "-silent", source)
            for words, expected in (((), f"{reason}: its lines are in the paths of the function around it, with_branches"),
                                    (("x",), f"{reason}, and the function around it has no paths: of_one_block")):
                with self.subTest(release=release, level=level, words=words):
                    core = crash(self.path("core"), program, *words)
                    done = run(TELLTALE, "paths", core, "--function", "inner")
                    self.assertIn(f"     no paths: {expected}\n", done.stdout)
                    self.assertEqual(done.stderr, "telltale: no function that the options select tells what it ran; others on these stacks do\n")

    def test_other_verbs_say_in_one_sentence_what_a_core_file_is_for(self):
        core = crash(self.path("core"), self.walk(RELEASES[0], "-O0"), self.path("trace"), 1, 20)
        for verb, *words in (["top"], ["report"], ["stacks"], ["flame", "-o", self.path("out")], ["graph"], ["resolve"]):
            done = run(TELLTALE, verb, core, *words)
            self.assertEqual(done.returncode, 2, verb)
            self.assertRegex(done.stderr, r"^telltale: a core file has paths in stack frames, no .*paths, coverage, dump and check answer for it\n$")
        done = run(TELLTALE, "convert", core, "--to", "perfetto", "-o", self.path("out"))
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("a core file has paths in stack frames", done.stderr)
        self.assertIn("format           core", run(TELLTALE, "info", core).stdout)
        self.assertIn("valid ELF core file", run(TELLTALE, "check", core).stdout)
        self.assertIn("NT_PRSTATUS", run(TELLTALE, "dump", core).stdout)
        metadata = self.path("walk.pt")
        pathlib.Path(metadata).write_bytes(section(self.path("walk"), ".debug_PT"))
        self.assertIn("has static information, no paths in stack frames: ", run(TELLTALE, "paths", metadata).stderr)
        self.assertIn("valid CSI path metadata", run(TELLTALE, "check", metadata).stdout)

    def test_threads_exceptions_and_setjmp(self):
        source = PROGRAMS / "two_threads.cc"
        numbers = {line.strip(): number for number, line in enumerate(source.read_text().splitlines(), 1)}
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                with self.subTest(release=release, level=level):
                    program = build(self.path("threads"), release, "-g", level, "--trace=pt.schema", "-silent", "-pthread",
                                    source, cxx=True)
                    document = paths(crash(self.path("core"), program))
                    self.assertEqual(len(document["threads"]), 2)
                    crashed, other = ({frame["function"].split("(")[0]: frame for frame in traced_frames(document, thread)}
                                      for thread in (0, 1))
                    # The second call threw: its path has the handler, and the third turn has the crash.
                    careful = crashed["careful"]
                    self.assertTrue(careful["complete_history"])
                    self.assertEqual(careful["other_readings"], [])
                    ran = [line for path in careful["paths"] for line in lines_of(path["blocks"])]
                    ran += lines_of(careful["partial"]["blocks"])
                    self.assertIn(numbers["} catch (const std::out_of_range&) {"], ran)
                    self.assertIn(numbers["*const_cast<volatile int*>(values.data() - 0x100000000) = sum;"],
                                  lines_of(careful["partial"]["blocks"][-1:]))
                    self.assertIn("setjmp", crashed["jumps"]["unreliable"])
                    self.assertIsNone(careful["unreliable"])
                    waiter = other["waiter"]
                    self.assertTrue(waiter["complete_history"])
                    self.assertIn(numbers["wait_here();"], lines_of(waiter["partial"]["blocks"][-1:]))
                    blocks = [block for path in waiter["paths"] for block in path["blocks"] * path["times"]] + waiter["partial"]["blocks"]
                    self.assertEqual(sum(numbers["usleep(1);"] in block["lines"] for block in blocks), 2)
                    text = run(TELLTALE, "paths", self.path("core"), "--thread", document["threads"][1]["tid"], "--function",
                               "waiter*").stdout
                    self.assertEqual(text.count("<- here"), 1)
                    self.assertRegex(text, rf"\n +{numbers['wait_here();']} +wait_here\(\);    <- here\n")

    def test_the_command_for_gdb(self):
        program = self.walk(RELEASES[0], "-O0")
        done = run("gdb", "-nx", "-q", "-batch", "-ex", f"source {SOURCE_DIR / 'debuggers/gdb/telltale_paths.py'}",
                   "-ex", "telltale-paths", "-ex", "break irreducible", "-ex", "run",
                   "-ex", "telltale-paths --function irreducible", "--args", program, self.path("trace"), "4", "100000")
        self.assertIn("no program is running", done.stderr)
        self.assertRegex(done.stdout, r"\n#0 +irreducible at recorded_walk.c:\d+\n +no path was completed since")

    def test_the_command_for_lldb(self):
        lldb = shutil.which("lldb-19") or shutil.which("lldb")
        if lldb is None:
            self.skipTest("LLDB is not installed")
        program = self.walk(RELEASES[0], "-O0")
        words = [lldb, "--no-lldbinit", "--batch", "-o", f"command script import {SOURCE_DIR / 'debuggers/lldb/telltale_paths.py'}"]
        done = run(*words, "-o", "break set -n irreducible", "-o", "run", "-o", "telltale-paths --function irreducible", "--", program,
                   self.path("trace"), "4", "100000")
        self.assertRegex(done.stdout, r"\n#0 +irreducible at recorded_walk.c:\d+\n +no path was completed since", done.stderr)
        self.assertIn("no program is stopped", run(*words, "-o", "telltale-paths", program).stderr)

    def test_stripped_programs_and_separate_debug_files(self):
        program = self.walk(RELEASES[0], "-O2")
        expected_core = crash(self.path("expected"), program, self.path("trace"), 3, 200)
        expected = traced_frames(paths(expected_core))
        self.assertGreater(len(expected), 1)
        stripped, debug = self.path("stripped"), self.path("walk.debug")
        run("objcopy", "--only-keep-debug", program, debug)
        run("strip", "-g", program, "-o", stripped)
        core = crash(self.path("core"), stripped, self.path("trace"), 3, 200)

        def same(frames):
            keys = ("function", "line", "paths", "partial", "complete_history")
            self.assertEqual([[frame[key] for key in keys] for frame in frames],
                             [[frame[key] for key in keys] for frame in expected])
        without = paths(core)
        self.assertEqual(traced_frames(without), [])
        self.assertEqual({frame["untraced"] for frame in without["threads"][0]["frames"] if frame["function"] == "walk"},
                         {"it was built without path tracing, or stripped"})
        self.assertIn("of a stripped program, --program takes the separate debug file", run(TELLTALE, "paths", core).stderr)
        self.assertIn("or it was stripped", run(TELLTALE, "coverage", core).stderr)
        same(traced_frames(paths(core, "--program", stripped, "--program", debug)))
        with_debug = run(TELLTALE, "paths", core, "--program", debug)
        self.assertNotIn("stripped", with_debug.stderr)
        same(traced_frames(paths(core, "--program", debug)))
        # Beside the program, without a link to it; of another build it is not used.
        beside = self.path("stripped.debug")
        shutil.copy(debug, beside)
        same(traced_frames(paths(core)))
        run("objcopy", "--only-keep-debug", build(self.path("other"), RELEASES[0], "-g", "--trace=pt.schema", "-silent", "-O1", WALK), beside)
        self.assertEqual(traced_frames(paths(core)), [])
        beside.unlink()
        run("objcopy", f"--add-gnu-debuglink={debug}", stripped)
        same(traced_frames(paths(core)))
        # Debug information without metadata.
        plain = self.path("plain")
        run("objcopy", "--remove-section", ".debug_PT", program, plain)
        core = crash(self.path("core"), plain, self.path("trace"), 3, 200)
        self.assertEqual({frame["untraced"] for frame in paths(core)["threads"][0]["frames"] if frame["function"] == "walk"},
                         {"its path metadata are missing"})
        # And the metadata as a text, which suffices for the published numbers.
        program = self.walk(RELEASES[0], "-O0")
        expected = traced_frames(paths(crash(self.path("expected"), program, self.path("trace"), 3, 200)))
        run("objcopy", "--remove-section", ".debug_PT", program, plain)
        core = crash(self.path("core"), plain, self.path("trace"), 3, 200)
        metadata = self.path("walk.pt")
        pathlib.Path(metadata).write_bytes(section(program, ".debug_PT"))
        # The text has no positions: the expected path is one that fits the line.
        for frame, right in zip(traced_frames(paths(core, "--program", metadata)), expected, strict=True):
            self.assertEqual([path["number"] for path in frame["paths"]], [path["number"] for path in right["paths"]])
            self.assertEqual(frame["found_by"], "line")
            readings = [frame["partial"], *frame["other_readings"]]
            self.assertIn(ids(right["partial"]), [ids(reading) for reading in readings])
        # With lines of another source, it may have been stopped in any block.
        moved = re.sub(rb"\|(\d+)(?=[|\n])", lambda line: b"|%d" % (int(line[1]) + 1000), pathlib.Path(metadata).read_bytes())
        pathlib.Path(metadata).write_bytes(moved)
        for frame, right in zip(traced_frames(paths(core, "--program", metadata)), expected, strict=True):
            self.assertEqual([path["number"] for path in frame["paths"]], [path["number"] for path in right["paths"]])
            self.assertEqual(frame["found_by"], "all blocks")
            readings = [frame["partial"], *frame["other_readings"]]
            self.assertIn(ids(right["partial"]), [ids(reading) for reading in readings])
        # The text has a few of those that differ in their lines.
        text = run(TELLTALE, "paths", core, "--program", metadata).stdout
        counts = [int(count) for count in re.findall(r"     (\d+) readings are consistent", text)]
        self.assertGreater(max(counts), 4)
        self.assertIn(f"{max(counts)} readings are consistent with the point where it stopped; these are 4 of them, --json has all\n", text)
        self.assertEqual(text.count("   > then"), sum(min(count, 4) for count in counts) + len(expected) - len(counts))

    def test_a_program_that_is_not_the_core_files_is_refused(self):
        core = crash(self.path("core"), self.walk(RELEASES[0], "-O0"), self.path("trace"), 1, 20)
        done = run(TELLTALE, "paths", core, "--program", TELLTALE)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"is not a program of .*core: its build-id is [0-9a-f]+; the core file is of .*/walk "
                                      r"with build-id [0-9a-f]+\n$")

    def test_programs_that_a_core_file_without_build_ids_may_be_of(self):
        program = self.walk(RELEASES[0], "-O0")
        filter_file = pathlib.Path("/proc/self/coredump_filter")  # which children inherit
        before = filter_file.read_text()
        self.addCleanup(filter_file.write_text, "0x" + before)
        expected = traced_frames(paths(crash(self.path("whole"), program, self.path("trace"), 3, 200)))
        filter_file.write_text("0x1")  # no headers of mapped files, which have the build-ids
        core = crash(self.path("core"), program, self.path("trace"), 3, 200)

        def doubts(*words, verb="paths"):
            done = run(TELLTALE, verb, core, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return [line for line in done.stderr.splitlines() if " build-id at byte 0: the core file does not have that of " in line]

        def numbers(frames):
            return [(frame["function"], [path["number"] for path in frame["paths"]]) for frame in frames]
        self.assertEqual(numbers(traced_frames(paths(core))), numbers(expected))
        for verb in ("paths", "coverage"):
            self.assertRegex("\n".join(doubts(verb=verb)), r"that of \S+/walk: answers are right only if it is the file that ran")
        self.assertEqual(run(TELLTALE, "paths", core, "--strict").returncode, 4)
        # A separate debug file is that of the program that is used.
        debug = self.path("walk.debug")
        run("objcopy", "--only-keep-debug", program, debug)
        self.assertEqual(numbers(traced_frames(paths(core, "--program", debug))), numbers(expected))
        # Another build is there now.
        original = self.path("original")
        os.rename(program, original)
        self.walk(RELEASES[0], "-O2")
        core_time = os.stat(core).st_mtime
        os.utime(program, (core_time + 10, core_time + 10))
        self.assertEqual(traced_frames(paths(core)), [])
        self.assertRegex(run(TELLTALE, "paths", core).stderr, r"/walk is (newer than|another build than that of) the core file")
        self.assertEqual(numbers(traced_frames(paths(core, "--program", original))), numbers(expected))
        self.assertIn("original: answers are right only if", "\n".join(doubts("--program", original)))
        # Its name says that it is the program; nothing else does.
        self.assertRegex("\n".join(doubts("--program", program)), r"/walk \(which is newer than|/walk \(whose segments have other places")
        self.assertEqual(run(TELLTALE, "paths", core, "--program", TELLTALE).returncode, 3)
        # The same program, copied there again, has to be given.
        shutil.copy(original, program)
        os.utime(program, (core_time + 10, core_time + 10))
        self.assertEqual(traced_frames(paths(core)), [])
        self.assertIn("/walk is newer than the core file, which does not have its build-id", run(TELLTALE, "paths", core).stderr)
        self.assertEqual(numbers(traced_frames(paths(core, "--program", program))), numbers(expected))

    def test_compressed_and_cut_core_files(self):
        core = pathlib.Path(crash(self.path("core"), self.walk(RELEASES[0], "-O0"), self.path("trace"), 3, 200))
        whole = paths(core)
        packed = self.path("core.gz")
        pathlib.Path(packed).write_bytes(gzip.compress(core.read_bytes()))
        self.assertEqual(paths(packed), whole)
        data = core.read_bytes()
        cut = pathlib.Path(self.path("cut"))
        # The kernel writes headers, notes, and memory in the order of addresses: the stack is near the end.
        cut.write_bytes(data[:-100])
        document = paths(cut)
        self.assertEqual(document["threads"], whole["threads"])
        self.assertEqual([problem["kind"] for problem in document["problems"] if problem["record"] == "memory"], ["torn tail"])
        self.assertEqual(run(TELLTALE, "paths", cut, "--strict").returncode, 4)
        cut.write_bytes(data[:len(data) // 2])
        document = paths(cut)
        (thread,) = document["threads"]
        self.assertEqual(thread["frames"][0]["function"], "record")
        self.assertTrue(thread["cut"] or any("no memory" in frame["untraced"] for frame in thread["frames"]), thread)
        for size in [*range(0, 8192, 97), *range(8192, len(data), len(data) // 50)]:
            cut.write_bytes(data[:size])
            done = run(TELLTALE, "paths", cut, "--json")
            self.assertIn(done.returncode, (0, 3), done.stderr)
            self.assertTrue(done.returncode == 3 or json.loads(done.stdout)["problems"], size)
        cut.write_bytes(data[:600])
        done = run(TELLTALE, "paths", cut, "--program", TELLTALE)
        self.assertEqual(done.returncode, 3)
        self.assertIn("cut: the file is cut before, or inside, what names its programs", done.stderr)


if __name__ == "__main__":
    unittest.main()
