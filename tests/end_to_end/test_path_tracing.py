"""telltale-cc --trace: the sections of programs that it builds (docs/formats/csi.md), and the programs' own behaviour."""
import platform
import re
import unittest

from ir_checks import IrCase
from path_sections import Records
from path_steps import build_stepper, check_every_instruction
from sampler_programs import BINARY_DIR, RELEASES, SOURCE_DIR, SamplerCase, compile_with, other_warnings, run, section

PROGRAMS = SOURCE_DIR / "tests/programs/csi"
# The published metadata of the manual's example.
PUBLISHED = """#
rand
1|EXIT
0|ENTRY|5|5|5|5|5|5|5|5|-1|5
$
0->1|0$0
#
main
3|EXIT
2|ENTRY|9|9|9|9|9|9|9
4|10|10|10
5|11|11|12|12|12|12|13|13|13
6|-1|20|20|21|21
7|14
8|17
9|18|18|18|-1
$
2->4|0$0
4->5|0$0
4->6|2$2
5->7|0$0
5->8|1$1
6->3|0$0
7->9|0$0
8->9|0$0
9~>4|3$3
"""


class TraceCase(SamplerCase):
    def trace(self, release, *words, output="program", cxx=False):
        # clang aborts if the instrumented code is invalid.
        done = compile_with(release, "--trace=pt.schema", "-fverify-intermediate-code", *words, "-o", self.path(output), cxx=cxx)
        self.assertEqual((done.returncode, other_warnings(done)), (0, ""))
        return self.path(output)

    def records(self, program):
        return Records(section(program, ".debug_telltale_paths"))


class Sections(TraceCase):
    def test_the_published_example_has_the_published_text(self):
        for release in RELEASES:
            with self.subTest(release=release):
                program = self.trace(release, "-no-filter", "-fno-builtin", PROGRAMS / "manual.c")
                self.assertEqual(section(program, ".debug_PT").decode(), PUBLISHED)

    def test_both_sections_stay_out_of_memory_and_strip_removes_them(self):
        for release in RELEASES:
            program = self.trace(release, "-fno-builtin", "-Wl,--gc-sections", "-ffunction-sections", PROGRAMS / "manual.c")
            flags = run("readelf", "-SW", program).stdout
            for name in (".debug_PT", ".debug_telltale_paths"):
                line = next(line for line in flags.splitlines() if f" {name} " in line)
                self.assertRegex(line, r"PROGBITS +0+ \w+ \w+ 00 +0 +0 +1$")
            run("strip", program)
            self.assertIsNone(section(program, ".debug_PT"))
            self.assertIsNone(section(program, ".debug_telltale_paths"))

    @unittest.skipUnless(platform.machine() == "x86_64", "looks at instructions of x86-64")
    def test_calls_before_a_shared_return_become_jumps(self):
        for release in RELEASES:
            with self.subTest(release=release):
                program = self.trace(release, "-O2", PROGRAMS / "control_flow.c")
                code = run("objdump", "-d", "--no-show-raw-insn", "--disassemble=either", program).stdout
                self.assertEqual(set(re.findall(r"jmp +\w+ <(\w+)>", code)), {"cases", "irreducible"})
                self.assertNotIn("call", code)

    def test_csi_cc_is_the_same_program(self):
        done = run(BINARY_DIR / "libexec/telltale/csi-cc", "--trace", "pt.schema", "-fno-builtin", PROGRAMS / "manual.c", "-o",
                   self.path("program"))
        self.assertEqual((done.returncode, other_warnings(done)), (0, ""))
        self.assertIn(b"\nmain\n", section(self.path("program"), ".debug_PT"))

    def test_a_schema_on_standard_input(self):
        """Of all sources of the command; csi-cc reads one if it is given none."""
        csi_cc = BINARY_DIR / "libexec/telltale/csi-cc"
        sources = [PROGRAMS / "manual.c", PROGRAMS / "control_flow.c"]
        for command in ((csi_cc,), (csi_cc, "--trace=-"), (csi_cc, "--trace", "-"), (BINARY_DIR / "bin/telltale-cc", "-trace=-")):
            with self.subTest(command=command[1:]):
                done = run(*command, "-c", *sources, input="*;{PT}\n", cwd=self.folder)
                self.assertEqual((done.returncode, other_warnings(done)), (0, ""))
                for source in sources:
                    self.assertNotEqual(section(self.path(source.stem + ".o"), ".debug_PT"), b"")
        done = run(csi_cc, "-c", sources[0], input="main;{PT}\n*;PT\n", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: standard input:2: a variant must have the form", done.stderr)
        # Without code, nothing is read.
        self.assertIn("main", run(csi_cc, "-E", sources[0], input="").stdout)


class Ir(IrCase):
    def test_a_loop_with_a_conditional_back_edge(self):
        self.check_ir(PROGRAMS / "ir/loop.c")

    def test_the_index_is_set_before_the_first_loop(self):
        self.check_ir(PROGRAMS / "ir/index_before_loop.c")

    def test_the_index_is_set_before_the_first_cut(self):
        self.check_ir(PROGRAMS / "ir/index_before_cut.c")

    def test_calls_share_no_landing_pad(self):
        self.check_ir(PROGRAMS / "ir/landing_pads.cc")


@unittest.skipUnless(platform.machine() == "x86_64", "positions are exact on x86-64")
class EveryInstruction(TraceCase):
    """Runs programs one instruction at a time. Before each, the variables say exactly what ran."""

    def check(self, source, functions, levels, *words, wraps=True, repeats=False):
        stepper = build_stepper(self.path("stepper"))
        cxx = source.suffix == ".cc"
        for release in RELEASES:
            for level in levels:
                with self.subTest(release=release, level=level):
                    plain = self.path("plain")
                    self.assertEqual(compile_with(release, level, *words, source, "-o", plain, cxx=cxx).returncode, 0)
                    program = self.trace(release, level, "-no-pie", *words, source, cxx=cxx)
                    expected = run(plain)
                    checker, status = check_every_instruction(stepper, program, self.path("steps"))
                    self.assertEqual(status >> 8, expected.returncode)
                    self.assertLessEqual(functions, set(checker.steps))
                    self.assertGreater(checker.complete[True], 400)
                    if wraps:
                        # Of longer runs only the end is known.
                        self.assertGreater(checker.complete[False], 200)
                    repeated = sum(function.repeated for function in checker.entries.values())
                    if repeats and level != "-O0":
                        self.assertGreater(repeated, 100)
                    self.assertLess(checker.steps["shared code"], sum(checker.complete.values()) / 20)

    def test_every_kind_of_control_flow(self):
        self.check(PROGRAMS / "control_flow.c",
                   {"loops", "cases", "irreducible", "recursive", "variable_array", "self_loop", "jumping", "computed",
                    "variadic", "tail_a", "tail_b", "either", "scans", "leave"}, ("-O0", "-O1", "-O2"), repeats=True)

    def test_a_scheduler_after_register_allocation(self):
        # It moves instructions before a position; the next machine block then begins where the position is.
        self.check(PROGRAMS / "control_flow.c", {"computed"}, ("-O2",), "-mtune=btver2", wraps=False)
        self.check(PROGRAMS / "exceptions.cc", {"_Z7catchesi"}, ("-O2",), "-mtune=btver2", wraps=False)

    def test_exceptions(self):
        self.check(PROGRAMS / "exceptions.cc", {"_Z7catchesi", "_Z6throwsi"}, ("-O0", "-O2"), wraps=False)

    def test_a_ring_of_one_path(self):
        self.check(PROGRAMS / "control_flow.c", {"loops"}, ("-O0", "-O2"), "-path-array-size=1")


if __name__ == "__main__":
    unittest.main()
