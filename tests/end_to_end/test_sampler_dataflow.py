"""-fsampler-dataflow: the text of .debug_sampler_dataflow for a program in which every line is known, and for all
others its grammar and that all its names are declared."""
import re
import unittest

from sampler_programs import BINARY_DIR, PROGRAMS, RELEASES, SamplerCase, build, compile_with, run, section, site_tables

SOURCE = (PROGRAMS / "cases/dataflow.c").read_text()
GLOBALS = "&elsewhere|-hidden,3|&taken,0|+counter,0|+where,*"
TWICE = "-twice$calls,7||twice|n|||=twice$calls,*|<*||"
MAIN = "main|argc|argv||&x|y"
STATEMENTS = ("|x___0||=x,5|=@,1{one}|=counter,x|>y,*,counter{copy}|>.,y{right}|?>,argc,1|?!=,x,y|=y,*|=x,*|~|?==,y,0|~|=x___0,0"
              "|?<,x___0,argc|=y,*|=@,y|=x___0,*|?!=,argc,0|=where,*|!!|!y|~|<hidden|||")
EXPECTED = {
    "-fno-save-dataflow-fields":
        GLOBALS + "|" + TWICE + MAIN + STATEMENTS.format(one="|=*,4,*,x", copy="|~", right="|=*,*"),
    "-fsave-dataflow-fields":
        GLOBALS + "|+both.left|+both.right|" + TWICE + MAIN + "|one.left|one.right|two.left|two.right" +
        STATEMENTS.format(one="|=one.left,4,one.right,x", copy="|=two.left,one.left,two.right,one.right", right="|=two.right,*"),
}
NUMBER = re.compile(r"-?\d+")


def expanded(text):
    return text.replace(",", "\t").replace("|", "\n")


class Dataflow(SamplerCase):
    def text(self, release, *words, cxx=False):
        program = build(self.path("a.o"), release, "-w", "-c", "-fsampler-scheme=branches", "-fsampler-dataflow", *words, cxx=cxx)
        unit = {key[0] for key in site_tables(program)}
        head, signature, text = section(program, ".debug_sampler_dataflow").decode().split("\n", 2)
        self.assertEqual((head, {signature}), ("*\tdataflow\t0.2", unit))
        return text

    def test_every_line(self):
        source = self.path("a.c")
        source.write_text(SOURCE)
        for release in RELEASES:
            for fields, expected in EXPECTED.items():
                with self.subTest(release=release, fields=fields):
                    self.assertEqual(self.text(release, fields, source), expanded(expected))

    def test_extract_section_and_filters(self):
        source = self.path("a.c")
        source.write_text(SOURCE)
        program = build(self.path("p.o"), RELEASES[-1], "-c", "-w", "-fsampler-scheme=returns", "-fsampler-dataflow", "-frename-locals",
                        "-fexclude-function=twice", source)
        told = run(BINARY_DIR / "bin/telltale", "extract-section", "--require", ".debug_sampler_dataflow", program)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertEqual(told.stdout.encode(), section(program, ".debug_sampler_dataflow"))
        self.assertIn("\n=main$x\t5\n", told.stdout)
        self.assertNotIn("twice\n", told.stdout)
        plain = build(self.path("q.o"), RELEASES[-1], "-c", "-w", "-fsampler-scheme=returns", source)
        self.assertIsNone(section(plain, ".debug_sampler_dataflow"))
        # Removed with all debug information, like the other sections.
        run("strip", program, "-o", self.path("r.o"))
        self.assertIsNone(section(self.path("r.o"), ".debug_sampler_dataflow"))

    def check(self, text):
        lines = text.split("\n")
        first = lines.index("")
        known = set()
        for line in lines[:first]:
            name, _, value = line[1:].partition("\t")
            self.assertIn(line[0], "&-+")
            self.assertTrue(value in ("", "*") or NUMBER.fullmatch(value) or value in known, line)
            known.add(name)
        lines = lines[first + 1:]
        self.assertEqual(lines[-2:], ["", ""])
        count = 0
        at = 0
        while at < len(lines) - 2:
            blanks = [i for i in range(at, len(lines)) if not lines[i]][:3]
            names = lines[at + 1:blanks[0]] + lines[blanks[0] + 1:blanks[1]]
            local = known | {name.removeprefix("&") for name in names}
            for line in lines[blanks[1] + 1:blanks[2]]:
                self.assertIn(line[0], "~<=>!?")
                operands = line[1:].split("\t") if line[1:] else []
                free = {"=": range(0), ">": range(1), "?": range(1), "!": range(1), "<": range(0), "~": range(0)}[line[0]]
                self.assertTrue({"~": not operands, "<": len(operands) == 1, "=": operands and len(operands) % 2 == 0,
                                 ">": operands, "?": len(operands) == 3, "!": True}[line[0]], line)
                for i, operand in enumerate(operands):
                    if i in free and operand in ("!", ".", "<", ">", "<=", ">=", "==", "!="):
                        continue
                    self.assertTrue(operand in ("*", "@") or NUMBER.fullmatch(operand) or operand in local, (lines[at], line))
            count += 1
            at = blanks[2] + 1
        return count

    def test_all_programs(self):
        """Every operand's name was declared, in C and C++."""
        for release in RELEASES:
            total = 0
            for source in sorted(path for path in PROGRAMS.iterdir() if path.suffix in (".c", ".cc")):
                cxx = source.suffix == ".cc"
                words = (source, "-std=c++20") if cxx else (source,)
                plain = compile_with(release, "-w", "-c", "-fsyntax-only", *words, cxx=cxx)
                if plain.returncode != 0:
                    continue
                with self.subTest(release=release, source=source.name):
                    fields = "-fsave-dataflow-fields" if release == RELEASES[-1] else "-fno-save-dataflow-fields"
                    total += self.check(self.text(release, fields, *words, cxx=cxx))
            self.assertGreater(total, 90)


if __name__ == "__main__":
    unittest.main()
