"""Flags that extend a unit's information or behaviour (reset points, implications), other targets, clang's warnings."""
import re
import unittest

from program_text import program_text
from sampler_programs import PROGRAMS, RELEASES, SamplerCase, build, compile_with, resolved, run, samples, section, site_tables


class Flags(SamplerCase):
    def test_reset_at_points(self):
        """The first time the statement runs, all counters of all units are reset; later times have no effect."""
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/calls_step.c"))
        other = self.path("b.c")
        other.write_text(program_text("sampler/cases/step.c"))
        points = self.path("points")
        points.write_text(f"{source} 700\n\n  \n{other} 5\n")
        for release in RELEASES:
            for words in (("-fno-sample", "-O0"), ("-O2",)):
                with self.subTest(release=release, words=words):
                    program = build(self.path("p"), release, *words, f"-fsampler-reset-at-points={points}",
                                    "-fsampler-scheme=branches", source, other)
                    self.run_reported(program, SAMPLER_SPARSITY="1")
                    rows = {line.split("\t")[4]: line.split("\t")[5:] for line in resolved(self.report, program)}
                    # n is 1 at that time, after both conditions were evaluated.
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

    def test_loops_that_are_not_transformed_as_asked_give_no_warnings(self):
        for release in RELEASES:
            for flags in (("-fno-sample", "-fsampler-scheme=branches"), ("--trace=pt.schema", "-silent")):
                with self.subTest(release=release, flags=flags):
                    words = (*flags, "-Werror", "-O2", "-fopenmp-simd", "-c", PROGRAMS / "asked_of_loops.c", "-o", self.path("object"))
                    done = compile_with(release, *words)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertIn("-Wpass-failed", compile_with(release, *words, "-Wpass-failed").stderr)

    def test_other_targets(self):
        """Programs for other machines are compiled, too; their assemblers differ."""
        source = self.path("step.c")
        source.write_text(program_text("sampler/cases/step.c"))
        for release in RELEASES:
            for target in ("-m32", "--target=aarch64-linux-gnu", "--target=armv7-linux-gnueabihf", "--target=riscv64-linux-gnu"):
                for words in (("-fno-sample",), ("-O2",)):
                    with self.subTest(release=release, target=target, words=words):
                        done = compile_with(release, target, *words, "-ffreestanding", "-fsampler-scheme=branches,scalar-pairs", "-c", source,
                                            "-o", self.path("step.o"))
                        self.assertEqual((done.returncode, done.stderr), (0, ""))
                        self.assertIn(b"<sites unit=", self.path("step.o").read_bytes())

    def test_programs_for_other_targets_have_no_runtime(self):
        source = self.path("step.c")
        source.write_text(program_text("sampler/cases/step.c"))
        for release in RELEASES:
            for target in ("-m32", "--target=aarch64-linux-gnu"):
                with self.subTest(release=release, target=target):
                    done = compile_with(release, target, "-fsampler-scheme=branches", source, "-o", self.path("step"))
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertRegex(done.stderr, r"\A[^\n]*there is no runtime of -fsampler-scheme for [^\n]*\n\Z")

    def test_implications_of_many_constants_are_those_of_neighbours(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/many_constants.c"))
        flags = ("-c", "-fcompare-constants", "-fsampler-implications", "-fsampler-scheme=scalar-pairs")
        for release in RELEASES:
            program = build(self.path("a.o"), release, *flags, source)
            rows = [line.split("\t") for line in section(program, ".debug_sampler_implications").decode().splitlines()[1:-1]]
            greater = {(int(row[2]), int(row[6])) for row in rows if row[3] == row[7] == "2"}
            chain = dict(greater)  # each constant is followed by the next smaller one
            self.assertEqual(len(chain), len(greater))
            self.assertEqual(len(rows), 4 * len(chain))
            first = (set(chain) - set(chain.values())).pop()
            length = 0
            while first in chain:
                first = chain[first]
                length += 1
            self.assertEqual(length, len(chain))
            self.assertGreaterEqual(length, 100)

    def test_implications(self):
        """Each is checked against all values near the constants."""
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/implications.c"))
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

    def test_normal_form(self):
        """What the columns of each scheme print, as docs/formats/sampler.md describes the original."""
        source = self.path("a.c")
        source.write_text(NORMAL)
        for release in RELEASES:
            for sampling in ("-fno-sample", "-fsample"):
                program = build(self.path("p"), release, "-w", sampling, "-fsampler-normal-form", "-fassign-across-pointer",
                                "-fassign-into-index", "-fsampler-scheme=branches", "-fsampler-scheme=returns",
                                "-fsampler-scheme=coverage", "-fsampler-scheme=bounds", source)
                self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").returncode, 0)
                found = {}
                for line in resolved(self.report, program):
                    scheme, _, line, _, text, *_ = line.split("\t")
                    found.setdefault((scheme, int(line)), set()).add(text)
                self.assertEqual({key: texts for key, texts in found.items() if key in NORMAL_TEXTS}, NORMAL_TEXTS)

    def test_compare_uninitialized(self):
        """Comparisons with locals that have no assignment yet."""
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/no_assignment_yet.c"))

        def operands(*words):
            program = build(self.path("a.o"), RELEASES[-1], "-c", "-fsampler-scheme=scalar-pairs", *words, source)
            (rows,) = site_tables(program).values()
            return {(row[4], row[7], row[8]) for row in rows}

        plain = {("x", "0LL", "const"), ("later", "0LL", "const"), ("later", "x", "local-init")}
        self.assertEqual(operands(), plain)
        self.assertEqual(operands("-fcompare-uninitialized"),
                         plain | {(left, right, "local-uninit") for left in ("x", "later") for right in ("x", "never", "later")
                                  if (left, right) != ("later", "x")})


    def test_points_to(self):
        """Calls through pointers whose callees this unit determines: named in the graph, and not the end of a region if
        they pass no site. Others stay unknown."""
        source = self.path("a.c")
        source.write_text(POINTERS)
        known = {"by_table": {"quiet", "calm"}, "by_local": {"calm", "quiet"}, "by_variable": {"loud", "quiet"},
                 "by_member": {"quiet"}, "applied": {"calm"}, "by_extern": {"???"}, "by_escape": {"???"}, "by_copy": {"quiet", "calm"}}
        plain = run(build(self.path("plain"), RELEASES[-1], "-w", source)).stdout
        for release in RELEASES:
            for words in (("-fsampler-scheme=branches",), ("-fsampler-scheme=branches", "-fsampler-scheme=scalar-pairs")):
                told = []
                for switch in ("-fno-use-points-to", "-fuse-points-to"):
                    done = compile_with(release, "-w", "-fno-sample-regions", "-fshow-stats", switch, *words, source, "-o",
                                        self.path("p"))
                    self.assertEqual(done.returncode, 0, done.stderr)
                    told.append(int(re.search(r"regions (\d+)", done.stderr)[1]))
                    found = {name: callees for name, callees in graphs(section(self.path("p"), ".debug_sampler_cfg")).items()}
                    wanted = {name: callees if switch == "-fuse-points-to" else {"???"} for name, callees in known.items()}
                    self.assertEqual({name: found[name] for name in known}, wanted)
                    for sparsity in ("1", "2"):
                        done = self.run_reported(self.path("p"), SAMPLER_SPARSITY=sparsity, SAMPLER_SEED="1")
                        self.assertEqual((done.returncode, done.stdout), (0, plain))
                # One region less after each call that is now known to pass no site.
                self.assertEqual(told[0] - told[1], sum(not callees & {"loud", "???"} for callees in known.values()))

    def test_annotated_sites(self):
        """Sites store the counter's number plus their row, and count nothing."""
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/annotated.c"))
        for release in RELEASES:
            for words in (("-fno-sample",), ("-fsample",)):
                flags = ("-O2", *words, "-fannotate-sites", "-fsampler-scheme=branches", "-fsampler-scheme=scalar-pairs", source)
                text = build(self.path("a.ll"), release, "-S", "-emit-llvm", "-fno-discard-value-names", *flags).read_text()
                for name in ("branches", "scalar-pairs"):
                    self.assertIn(f'cbi_{name}_main_dummy', text)
                program = build(self.path("p"), release, *flags)
                self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").returncode, 0)
                self.assertEqual({n for _, rows in samples(self.report) for row in rows for n in row}, {"0"})

    def test_blast_markers(self):
        """A program's own markers get each branch with its row and outcome, and the ends of main."""
        source = self.path("a.c")
        source.write_text(MARKED)
        own = self.path("own.c")
        own.write_text(program_text("sampler/cases/own_markers.c"))
        for release in RELEASES:
            for words in (("-O0", "-fno-sample"), ("-O2",)):
                program = build(self.path("p"), release, *words, "-fadd-blast-markers", "-fsampler-scheme=branches", source, "-x", "c",
                                own)
                # argv[0], its first letter, the loop twice and its exit, and the end.
                self.assertEqual(run(program).stdout.split("\n"), ["end", "end", "0 1", "1 1", "1 1", "1 0", "end", ""])
                alone = build(self.path("q"), release, *words, "-fadd-blast-markers", "-fsampler-scheme=branches", source)
                self.assertEqual(run(alone).returncode, 0)


def graphs(text):
    """Names of functions -> all callees of a pointer's call in them, that is, of the last call."""
    lines = text.replace(b"\0", b"").decode().split("\n")
    found = {}
    at = 3
    while lines[at]:
        name = lines[at].split("\t")[1]
        at += 1
        while lines[at]:
            callees = lines[at + 2].rstrip("\t").split("\t")
            if callees != [""]:
                found[name] = set(callees)
            at += 3
        at += 1
    return found


POINTERS = (PROGRAMS / "cases/pointers.c").read_text()
MARKED = program_text("sampler/cases/marked.c")
NORMAL = (PROGRAMS / "cases/gobject_checks.c").read_text()
NORMAL_TEXTS = {
    ("branches", 10): {"*(*(argv + 0) + 0)"},
    ("branches", 11): {"(first->next)->languages[x]"},
    ("branches", 12): {"tmp"},
    ("branches", 13): {"tmp___0 > 4", "tmp___1 == 6"},
    ("branches", 14): {"(int )first->name == 'a'"},
    ("branches", 15): {"(unsigned long )first->next != (unsigned long )((void *)0)"},
    ("branches", 18): {"y | argc << 2 + y", "x < 0"},
    ("returns", 13): {"five", "*function"},
    ("bounds", 14): {"cmd___0"},
    ("bounds", 16): {"head.languages[y & 3]"},
    ("bounds", 17): {"*(first->languages + 1)", "y"},
    ("coverage", 10): {"*(*(argv + 0) + 0)", "y ++;"},
    ("coverage", 13): {"tmp___0 > 4 && ! (tmp___1 == 6)", "y = five(3);"},
    ("coverage", 11): {"(first->next)->languages[x]", "y --;"},
    ("coverage", 19): {"return (0);"},
}


if __name__ == "__main__":
    unittest.main()
