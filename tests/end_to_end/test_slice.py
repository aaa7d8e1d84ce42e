"""telltale paths --slice: what a crash depends on, of real programs."""
import itertools
import json
import random
import re
import shutil
import subprocess
import time
import unittest

from json_schemas import complaints
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run, section
from study_case import telltale

PROGRAMS = SOURCE_DIR / "tests/programs/csi"
LLDB = shutil.which("lldb-19") or shutil.which("lldb")
SOURCE = PROGRAMS / "slice.c"


def marked(mark, source=SOURCE):
    return {number for number, line in enumerate(source.read_text().splitlines(), 1) if f"/* {mark}" in line and number > 2}


def instructions(program):
    """The code of all sections, without addresses of data that moves with the debug sections."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], check=True, capture_output=True, text=True).stdout
    return text.split("\n", 3)[3]


class Slice(SamplerCase):
    def crashed(self, release, *words, source=SOURCE, arguments=(), name="slice"):
        program = build(self.path(name), release, "--trace=pt.schema", "-silent", *words, source, cxx=source.suffix == ".cc")
        run(program, *arguments, env={"TELLTALE_PATHS": str(self.path("core"))})
        return program

    def sliced(self, program, *words, said=""):
        done = telltale("paths", self.path("core"), "--program", program, "--slice", "--json", *words)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, f"^{said}$")
        document = json.loads(done.stdout)
        self.assertEqual(complaints("paths", document), [])
        return document["threads"][0]["slice"]

    def lines(self, piece):
        return {each["line"] for each in piece["lines"] if each["file"].endswith("slice.c")}

    def test_has_what_the_crash_depends_on_and_nothing_that_is_unrelated(self):
        for release in RELEASES:
            for level in ("-O0", "-O1", "-O2"):
                with self.subTest(release=release, level=level):
                    piece = self.sliced(self.crashed(release, level))
                    lines = self.lines(piece)
                    needed = marked("in the slice") | (marked("at -O0") if level == "-O0" else set())
                    self.assertEqual(needed - lines, set())
                    self.assertEqual(lines & marked("unrelated"), set())
                    self.assertEqual(lines & marked("did not run"), set())
                    if level == "-O0":
                        self.assertEqual(lines & marked("overwritten"), set())
                    self.assertLess(piece["blocks"], piece["static_blocks"])
                    self.assertIsNone(piece["missing"])

    def test_code_of_the_sampler_is_no_part_of_it(self):
        schemes = (["-fsampler-scheme=branches,returns,scalar-pairs", "-fsampler-adaptive"],
                   ["-fsampler-scheme=branches,returns,scalar-pairs,function-entries,bounds,float-kinds", "-fsampler-adaptive", "-pthread"],
                   ["-fsampler-scheme=branches,scalar-pairs,bounds", "-fno-sample"])
        environment = {"TELLTALE_PATHS": str(self.path("core")), "SAMPLER_FILE": str(self.path("report")), "SAMPLER_SPARSITY": "10"}
        for release, level, words in itertools.product(RELEASES, ("-O0", "-O2"), schemes):
            with self.subTest(release=release, level=level, words=words):
                program = build(self.path("slice"), release, "--trace=pt.schema", "-silent", level, *words, SOURCE)
                run(program, env=environment)
                piece = self.sliced(program)
                self.assertLessEqual(marked("in the slice") | (marked("at -O0") if level == "-O0" else set()), self.lines(piece))
                for mark in ("unrelated", "did not run"):
                    self.assertEqual(self.lines(piece) & marked(mark), set())
                if level == "-O0":  # otherwise a copy of main calls another one, and leaves no frame
                    self.assertEqual([each for each in piece["lines"] if each["function"] == "main" and each["frame"] is None], [])
                names = {reason["name"] or "" for each in piece["lines"] for reason in each["reasons"]}
                self.assertEqual({name for name in names if "telltale" in name}, set())

    def test_lines_have_their_place_and_reasons(self):
        piece = self.sliced(self.crashed(RELEASES[-1], "-O0"))
        (stop,) = marked("in the slice: it stops here")
        first = piece["lines"][0]
        self.assertEqual((first["frame"], first["function"], first["line"], first["distance"]), (0, "sum", stop, 0))
        self.assertEqual(first["reasons"], [{"why": "stopped", "name": None, "function": None, "line": None}])
        self.assertEqual([each["distance"] for each in piece["lines"]], sorted(each["distance"] for each in piece["lines"]))
        by_text = {SOURCE.read_text().splitlines()[each["line"] - 1].split("/*")[0].strip(): each for each in piece["lines"]}
        self.assertEqual(by_text["if (at->key < limit)"]["reasons"], [{"why": "decides", "name": None, "function": None, "line": stop}])
        passed = {(each["why"], each["name"]) for each in by_text["int result = sum(list, bound);"]["reasons"]}
        self.assertLessEqual({("calls", "sum"), ("passes", "list"), ("passes", "limit")}, passed)
        self.assertEqual(by_text["return 2 * number;"]["frame"], None)
        self.assertEqual({each["why"] for each in by_text["return 2 * number;"]["reasons"]}, {"returns"})
        self.assertIn(("defines", "bound"), {(each["why"], each["name"]) for each in by_text["bound = to;"]["reasons"]} |
                      {("defines", each["name"]) for each in by_text["bound = to;"]["reasons"] if each["why"] == "may define"})

    def test_text(self):
        program = self.crashed(RELEASES[-1], "-O0")
        done = telltale("paths", self.path("core"), "--program", program, "--slice")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (stop,) = marked("in the slice: it stops here")
        self.assertRegex(done.stdout, rf"(?m)^#0 +sum at slice.c:{stop}  +total \+= \*at->value;.*\n +it stopped here$")
        self.assertRegex(done.stdout, rf"(?m)^- +make at slice.c:\d+ .*\n +may define memory, used at line {stop} of sum")
        self.assertRegex(done.stdout, r"(?m)^\d+ lines in \d+ blocks; with what did not run, \d+ lines in \d+ blocks$")
        count = int(re.search(r"(?m)^(\d+) lines in", done.stdout)[1])
        few = telltale("paths", self.path("core"), "--program", program, "--slice", "--rows", "2")
        self.assertEqual((few.returncode, few.stderr), (0, ""))
        self.assertEqual(few.stdout.splitlines(), [*done.stdout.splitlines()[:7], f"... {count - 2} lines more; --rows 0 shows all",
                                                   *done.stdout.splitlines()[3 + 2 * count:]])

    def test_programs_without_data_flow(self):
        program = self.crashed(RELEASES[-1], "-O0", "-fno-trace-data")
        piece = self.sliced(program)
        self.assertEqual(piece["lines"], [])
        self.assertRegex(piece["missing"], "does not say what its code reads and writes")
        # Everything else still works.
        done = telltale("paths", self.path("core"), "--program", program)
        self.assertIn("it stops here", done.stdout)
        done = telltale("paths", self.path("core"), "--program", program, "--slice")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, "no slice: the program does not say")

    def test_the_code_is_the_same_without_data_flow(self):
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                for source in (SOURCE, PROGRAMS / "crash_ways.c"):
                    with self.subTest(release=release, level=level, source=source.name):
                        words = ("--trace=pt.schema", "-silent", level, "-pthread")
                        with_data = build(self.path("with"), release, *words, source)
                        without = build(self.path("without"), release, *words, "-fno-trace-data", source)
                        self.assertEqual(instructions(with_data), instructions(without))

    def test_a_call_that_aborts(self):
        source = PROGRAMS / "slice_abort.c"
        for release in RELEASES:
            piece = self.sliced(self.crashed(release, "-O0", source=source))
            self.assertEqual({each["line"] for each in piece["lines"]}, marked("in the slice", source))

    def test_exceptions_and_references(self):
        source = PROGRAMS / "slice_throw.cc"
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                with self.subTest(release=release, level=level):
                    piece = self.sliced(self.crashed(release, level, "-std=c++17", source=source, name="throws"))
                    self.assertLessEqual(marked("in the slice", source), {each["line"] for each in piece["lines"]})

    def test_after_longjmp(self):
        source = PROGRAMS / "slice_longjmp.c"
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                with self.subTest(release=release, level=level):
                    lines = {each["line"] for each in self.sliced(self.crashed(release, level, source=source, name="jumps"))["lines"]}
                    self.assertLessEqual(marked("in the slice", source), lines)
                    self.assertEqual(lines & marked("unrelated", source), set())

    @unittest.skipUnless(shutil.which("ld.lld-19"), "needs lld")
    def test_after_link_time_optimisation(self):
        for level in ("-O0", "-O2"):
            for flags in ("-flto", "-flto=thin"):
                with self.subTest(level=level, flags=flags):
                    program = self.crashed("19", level, flags, f"--ld-path={shutil.which('ld.lld-19')}")
                    lines = self.lines(self.sliced(program))
                    self.assertLessEqual(marked("in the slice"), lines)
                    self.assertEqual(lines & marked("unrelated"), set())

    def test_a_separate_debug_file(self):
        program = self.crashed(RELEASES[-1], "-O2")
        whole = self.sliced(program)
        debug = self.path("slice.debug")
        run("objcopy", "--only-keep-debug", program, debug)
        run("objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", program, self.path("stripped"))
        self.path("stripped").replace(program)
        self.assertEqual(self.sliced(program), whole)
        debug.rename(self.path("other.debug"))
        self.assertEqual(self.sliced(self.path("other.debug")), whole)
        self.assertEqual(self.sliced(program, said="telltale: no function on these stacks has paths: .*debug file\n")["lines"], [])

    @unittest.skipUnless(LLDB, "LLDB, which writes minidumps, is not installed")
    def test_minidumps(self):
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                with self.subTest(release=release, level=level):
                    program = self.crashed(release, level)
                    core = self.sliced(program)
                    self.path("core").unlink()
                    run(LLDB, "--no-lldbinit", "-b", "-o", "run", "-k",
                        f"process save-core --plugin-name=minidump --style=stack {self.path('core')}", program)
                    self.assertEqual(self.path("core").read_bytes()[:4], b"MDMP")
                    self.assertEqual(self.sliced(program), core)

    def with_section(self, program, content):
        section = self.path("section")
        section.write_bytes(content)
        other = self.path("other")
        subprocess.run(["objcopy", "--update-section", f".debug_telltale_paths={section}", program, other], check=True)
        return other

    def test_damaged_records_are_reported_and_the_rest_is_read(self):
        program = self.crashed(RELEASES[-1], "-O0")
        whole = section(program, ".debug_telltale_paths")
        data = [(begin, end) for begin, end, kind in records(whole) if kind == 9]
        self.assertGreater(len(data), 4)
        damaged = {
            "cut": whole[:data[2][0] + 9],
            "zeros": changed(whole, data[1], lambda old: old[:1] + bytes(len(old) - 1)),
            "ones": changed(whole, data[1], lambda old: old[:1] + b"\xff" * (len(old) - 1)),
            "later version": changed(whole, data[1], lambda old: b"\x7f" + old[1:]),
            "unknown key": changed(whole, data[1], lambda old: old, key=b"12345678"),
            "huge count": changed(whole, data[0], lambda old: old[:2] + b"\xff\xff\xff\xff\x0f" + old[7:]),
        }
        for name, content in damaged.items():
            with self.subTest(name):
                done = telltale("paths", self.path("core"), "--program", self.with_section(program, content), "--slice", "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                document = json.loads(done.stdout)
                is_silent = name in ("later version", "unknown key")
                self.assertEqual(document["problems"] == [], is_silent, document["problems"])
                self.assertIn("slice", document["threads"][0])

    def test_d11_names_of_variables_are_harmless(self):
        program = self.crashed(RELEASES[-1], "-O0")
        whole = section(program, ".debug_telltale_paths")
        hostile = b"\x1b]0;\x07"
        self.assertEqual(len(hostile), len("limit"))
        renamed = whole.replace(b"limit\0", hostile + b"\0")
        self.assertNotEqual(renamed, whole)
        other = self.with_section(program, renamed)
        for words in ((), ("--html",)):
            done = telltale("paths", self.path("core"), "--program", other, "--slice", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotRegex(done.stdout, "[\x00-\x08\x0b-\x1f\x7f]")
        piece = self.sliced(other)
        self.assertIn(hostile.decode(), {reason["name"] for each in piece["lines"] for reason in each["reasons"]})

    def test_d14_blind_damage_of_data_flow(self):
        program = self.crashed(RELEASES[-1], "-O2")
        whole = section(program, ".debug_telltale_paths")
        places = [place for begin, end, kind in records(whole) if kind == 9 for place in range(begin + 13, end)]
        chance = random.Random(18)
        for round_ in range(120):
            content = bytearray(whole)
            for place in chance.sample(places, 1 + round_ % 5):
                content[place] = chance.choice([0, 0x7F, 0x80, 0xFF, content[place] ^ 1 << chance.randrange(8)])
            done = telltale("paths", self.path("core"), "--program", self.with_section(program, bytes(content)), "--slice", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            piece = json.loads(done.stdout)["threads"][0]["slice"]
            self.assertEqual(piece["lines"] == [], piece["missing"] is not None)

    def test_a_running_process(self):
        source = PROGRAMS / "slice_wait.c"
        program = build(self.path("waits"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O0", source)
        (waits,) = marked("in the slice: it waits here", source)
        with subprocess.Popen([program], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            # It may not have come so far yet.
            for _ in range(200):
                done = telltale("paths", "--pid", process.pid, "--slice", "--json")
                lines = json.loads(done.stdout)["threads"][0]["slice"]["lines"] if done.returncode == 0 else []
                if lines and lines[0]["line"] == waits:
                    break
                time.sleep(0.05)
            process.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({each["line"] for each in lines}, marked("in the slice", source))


def records(content):
    begin = 0
    while begin < len(content):
        end = begin + 4 + int.from_bytes(content[begin:begin + 4], "little")
        yield begin, end, content[begin + 4]
        begin = end


def changed(content, place, change, key=None):
    begin, end = place
    return content[:begin + 5] + (key or content[begin + 5:begin + 13]) + change(content[begin + 13:end]) + content[end:]
