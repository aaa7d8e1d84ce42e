"""Flags that add to what a unit says or does: reset points, implications."""
import unittest

from sampler_programs import RELEASES, SamplerCase, build, compile_with, resolved, section, site_tables


class Flags(SamplerCase):
    def test_reset_at_points(self):
        """The first time the statement runs, all counters of all units begin again; the later times nothing happens."""
        source = self.path("a.c")
        source.write_text("void step(int);\nint main(void) {\n  int i;\n  for (i = 0; i < 5; i++) {\n    step(i);\n  }\n"
                          "  return 0;\n}\n")
        other = self.path("b.c")
        other.write_text("int count;\nvoid step(int n) {\n  if (n < 3) count++;\n  if (n >= 1)\n    count--;\n}\n")
        points = self.path("points")
        points.write_text(f"{source} 700\n\n  \n{other} 5\n")
        for release in RELEASES:
            for words in (("-fno-sample", "-O0"), ("-O2",)):
                with self.subTest(release=release, words=words):
                    program = build(self.path("p"), release, *words, f"-fsampler-reset-at-points={points}",
                                    "-fsampler-scheme=branches", source, other)
                    self.run_reported(program, SAMPLER_SPARSITY="1")
                    rows = {line.split("\t")[4]: line.split("\t")[5:] for line in resolved(self.report, program)}
                    # n is 1 when it happens, after both conditions were looked at.
                    self.assertEqual(rows, {"i < 5": ["1", "3"], "n < 3": ["2", "1"], "n >= 1": ["0", "3"]})
        for text, named in (("nothing", "points:1"), (f"{source} 3\n{source} x", "points:2")):
            points.write_text(text)
            done = compile_with(RELEASES[-1], f"-fsampler-reset-at-points={points}", "-fsampler-scheme=branches", "-c", source,
                                "-o", self.path("a.o"))
            self.assertEqual(done.returncode, 1)
            self.assertIn(named, done.stderr)
        done = compile_with(RELEASES[-1], "-fsampler-reset-at-points=/nowhere", "-fsampler-scheme=branches", "-c", source, "-o",
                            self.path("a.o"))
        self.assertIn("/nowhere", done.stderr)

    def test_implications(self):
        """Each is checked against all values near the constants."""
        source = self.path("a.c")
        source.write_text("int main(void) { int x = 7; unsigned y = 3; x = -5; return x + 5 + (int)y - 3; }\n")
        for release in RELEASES:
            program = build(self.path("a.o"), release, "-c", "-fcompare-constants", "-fsampler-implications",
                            "-fsampler-scheme=scalar-pairs", source)
            ((key, sites),) = site_tables(program).items()
            text = section(program, ".debug_sampler_implications").decode().splitlines()
            self.assertEqual((text[0], text[-1]), ("<implications>", "</implications>"))
            rows = [line.split("\t") for line in text[1:-1]]
            self.assertEqual({tuple(row[i:i + 2]) for row in rows for i in (0, 4)}, {key})
            wide = range(-10, 10)
            for row in rows:
                (left, then), (one, other) = ((sites[int(row[i])] for i in (2, 6)), (int(row[i]) for i in (3, 7)))
                self.assertEqual(left[:3] + left[4:7], then[:3] + then[4:7])
                is_signed = left[7].endswith("0LL") or not left[7].endswith("ULL")
                values = wide if is_signed else [n % 2**64 for n in wide]
                constants = [int(site[7].rstrip("UL")) for site in (left, then)]
                slots = [[(v > c) + (v >= c) for v in values] for c in constants]
                for first, second in zip(*slots):
                    self.assertTrue(first != one or second == other, row)
            # x = 7, y = 3, x = -5 against -5, 0, 3, 5, 7 each (3 and 5 are `- 3` and `+ 5`): four for each pair.
            constants = len({site[7] for site in sites if site[4] == "x" and site[8] == "const"})
            self.assertEqual(len(rows), 3 * 4 * constants * (constants - 1) // 2)
            plain = build(self.path("b.o"), release, "-c", "-fsampler-scheme=scalar-pairs", source)
            self.assertIsNone(section(plain, ".debug_sampler_implications"))


if __name__ == "__main__":
    unittest.main()
