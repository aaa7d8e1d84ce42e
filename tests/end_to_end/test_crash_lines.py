"""The lines of frames in what a traced program writes when it crashes."""
import itertools
import re
import signal
import unittest

from crash_case import CrashCase, line
from program_text import program_text
from sampler_programs import RELEASES, SOURCE_DIR, build, run
from test_paths import TELLTALE, lines_of, paths, traced_frames

IN_COPY = SOURCE_DIR / "tests/programs/csi/cases/crash_in_copy.c"
MERGED_CALLS = SOURCE_DIR / "tests/programs/csi/cases/merged_calls.c"
WITHOUT_LINE = SOURCE_DIR / "tests/programs/csi/cases/call_without_line.c"


class CrashLines(CrashCase):
    def test_a_crash_in_a_copy_that_the_sampler_makes_has_its_line(self):
        """Whether the copy counts, or the choice of a copy led to it."""
        for release, level, rate in itertools.product(RELEASES, ("-O0", "-O1", "-O2"), ("", "1", "2", "1000")):
            with self.subTest(release=release, level=level, rate=rate):
                program = build(self.path("copied"), release, "--trace=pt.schema", "-silent", "-fsampler-scheme=branches", "-g", level,
                                IN_COPY)
                self.crash("", program, **({"SAMPLER_SPARSITY": rate} if rate else {}))
                frames = traced_frames(paths(self.file, "--program", program))
                self.assertEqual((frames[0]["function"], frames[0]["line"]), ("element", line("/* crashes */", IN_COPY)))
                self.assertIn(line("/* crashes */", IN_COPY), lines_of(frames[0]["partial"]["blocks"]))

    def find_in_merged_calls(self, program):
        self.crash("x", program)
        frames = {frame["function"]: frame for frame in traced_frames(paths(self.file, "--program", program))}
        text = run(TELLTALE, "paths", self.file, "--program", program, "--function", "find").stdout
        return frames["find"]["file"], frames["find"]["line"], re.findall(r"(?m)^ +(\d+) .* <- here$", text)

    def test_calls_that_the_optimiser_would_merge_keep_their_lines(self):
        for release in RELEASES:
            for level in ("-O1", "-O2", "-Os"):
                with self.subTest(release=release, level=level):
                    program = build(self.path("merged"), release, "--trace=pt.schema", "-silent", level, "-g", MERGED_CALLS)
                    place = line("die(list);  // sum", MERGED_CALLS)
                    self.assertEqual(self.find_in_merged_calls(program), (str(MERGED_CALLS), place, [str(place)]))

    def test_a_call_without_a_line(self):
        """A call that optimisers merged has neither line nor file: the frame has the line of the block before."""
        for release in RELEASES:
            with self.subTest(release=release):
                assembly = self.path("merged.s")
                flags = ("--trace=pt.schema", "-silent", "-O1")
                build(assembly, release, *flags, "-g", "-S", MERGED_CALLS)
                text, changed = re.subn(rf"\.loc\t(\d+) {line('die(list);  // sum', MERGED_CALLS)} ", r".loc\t\1 0 ", assembly.read_text())
                self.assertGreater(changed, 0)
                assembly.write_text(text)
                program = build(self.path("merged"), release, *flags, assembly)
                place = line("if (sum > 5)", MERGED_CALLS)
                self.assertEqual(self.find_in_merged_calls(program), (str(MERGED_CALLS), place, [str(place)]))

    def test_a_call_without_a_line_in_the_first_block(self):
        """The frame has the last line that is known to have run, and what follows it did not run yet."""
        before, after, call, later, turn = (line(text, WITHOUT_LINE) for text in (
            "// before the calls", "// after the calls", "// call", "// after the call;", "// before the next turn"))
        for release in RELEASES:
            with self.subTest(release=release):
                assembly, program = self.path("without.s"), self.path("without")
                flags = ("--trace=pt.schema", "-no-filter", "-silent", "-O2")
                build(assembly, release, *flags, "-g", "-S", WITHOUT_LINE)
                text, changed = re.subn(rf"\.loc\t(\d+) {call} ", r".loc\t\1 0 ", assembly.read_text())
                self.assertGreater(changed, 0)
                assembly.write_text(text)
                build(program, release, *flags, assembly)
                for name, place, not_yet in (("merged", before, (after,)), ("turn", turn, (later,))):
                    self.crash(name, program)
                    (frame,) = (each for each in traced_frames(paths(self.file, "--program", program)) if each["function"] == name)
                    self.assertEqual((frame["file"], frame["line"]), (str(WITHOUT_LINE), place))
                    text = run(TELLTALE, "paths", self.file, "--program", program, "--function", name).stdout
                    current = text[text.index("> then"):]
                    self.assertEqual(re.findall(r"(?m)^ +(\d+) .* <- here$", current), [str(place)], text)
                    for number in not_yet:
                        self.assertEqual(re.findall(rf"(?m)^ +{number} .*$", current)[-1].count("(not yet, or in part)"), 1, text)
                answers = {each["line"]: each["ran"] for each in frame["lines_of_call"]}
                self.assertEqual(answers[later], "yes")  # in other turns

    def test_where_an_inlined_function_stopped(self):
        source = self.path("inlined.c")
        source.write_text(program_text("csi/cases/inlined.c"))
        for level in ("-O1", "-O2"):
            program = build(self.path("inlined"), RELEASES[-1], "--trace=pt.schema", "-silent", level, "-fno-unroll-loops", source)
            self.crash("x", program)
            shown = run(TELLTALE, "paths", self.file, "--program", program, "--function", "sum").stdout
            (here,) = [each for each in shown.splitlines() if "<- here" in each]
            self.assertRegex(here, r"^ +3 +return \*list; +\(last, inlined from inlined.c\) +<- here$")

    def test_lines_of_the_standard_library(self):
        """Those that were inlined are left out, unless they are asked for."""
        source = self.path("containers.cc")
        source.write_text(program_text("csi/cases/containers.cc"))
        program = build(self.path("containers"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O2", "-fno-unroll-loops", source, cxx=True)
        self.assertEqual(self.crash("x", program).returncode, -signal.SIGSEGV)

        def shown(*words):
            return run(TELLTALE, "paths", self.file, "--program", program, "--function", "*total*", *words).stdout

        note = "lines of system headers are left out; --system-headers shows them"
        text = shown()
        self.assertIn(note, text)
        self.assertNotIn("stl_vector.h", text)
        self.assertRegex(text, r"(?m)^#0 +\(anonymous namespace\)::total\(.*\) at containers.cc:16$")
        self.assertRegex(text, r"(?m)^ +9  .*is_large\(\) const.* \(\(anonymous namespace\)::Item::is_large, inlined from containers.cc\)$")
        self.assertRegex(text, r"(?m)^ +16 +if \(sum > 3\) sum -= \*limit; +<- here$")
        lines = re.findall(r"(?m)^ +(\d+)  ", text.partition("path 2")[0].partition("path 1")[2])
        self.assertNotIn(("15", "15"), list(zip(lines, lines[1:])))  # what stood between them is left out
        everything = shown("--system-headers")
        self.assertNotIn(note, everything)
        self.assertRegex(everything, r"\(std::vector<.*>::operator\[\], inlined from stl_vector.h\)")
        self.assertRegex(shown("--names", "full"), r"total\(std::vector<\(anonymous namespace\)::Item, std::allocator<")
        self.assertRegex(shown("--names", "mangled"), r"(?m)^#0 +_ZN")

        page = self.path("page.html")
        for words, left_out in (((), True), (("--system-headers",), False)):
            run(TELLTALE, "paths", self.file, "--program", program, "--html", "--force", "-o", page, *words)
            self.assertEqual("lines of system headers are left out" in page.read_text(), left_out)
            self.assertEqual("::operator[]" in page.read_text(), not left_out)


if __name__ == "__main__":
    unittest.main()
