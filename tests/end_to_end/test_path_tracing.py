"""telltale-cc --trace: the sections of programs that it builds (docs/formats/csi.md), and the programs' own behaviour."""
import pathlib
import re
import unittest

from sampler_programs import BINARY_DIR, RELEASES, SOURCE_DIR, SamplerCase, compile_with, run, section

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


class Sections(SamplerCase):
    def trace(self, release, *words, output="program", cxx=False):
        done = compile_with(release, "--trace=pt.schema", *words, "-o", self.path(output), cxx=cxx)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.path(output)

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

    def test_csi_cc_is_the_same_program(self):
        done = run(BINARY_DIR / "libexec/telltale/csi-cc", "--trace", "pt.schema", "-fno-builtin", PROGRAMS / "manual.c", "-o",
                   self.path("program"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(b"\nmain\n", section(self.path("program"), ".debug_PT"))


if __name__ == "__main__":
    unittest.main()
