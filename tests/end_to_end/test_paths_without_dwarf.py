"""telltale paths without debug information: the program's own section says where each frame keeps its record."""
import json
import os
import random
import unittest

from core_files import crash
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run, section

TELLTALE = os.environ["TELLTALE"]
PROGRAMS = SOURCE_DIR / "tests/programs/csi"
WALK = PROGRAMS / "recorded_walk.c"
OURS = ("--keep-section=.debug_PT", "--keep-section=.debug_telltale_paths", "--keep-section=.llvm_bb_addr_map")


def traced(core, *words):
    """(function, numbers of paths, ids of blocks up to the place, history is complete) of each traced frame."""
    done = run(TELLTALE, "paths", core, "--json", *words)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    (thread, *_) = json.loads(done.stdout)["threads"]
    return [(frame["function"], [path["number"] for path in frame["paths"]], [block["block"] for block in frame["partial"]["blocks"]],
             frame["complete_history"], frame["contradiction"], frame["other_readings"], frame["found_by"])
            for frame in thread["frames"] if frame["untraced"] is None]


class WithoutDwarf(SamplerCase):
    def walk(self, name, release, *words, source=WALK, schema=PROGRAMS / "recorded_walk.schema", **options):
        program = build(self.path(name), release, f"--trace={schema}", "-silent", *words, source, **options)
        self.assertEqual("-g0" in words, section(program, ".debug_info") is None)
        return program

    def without_dwarf(self, program, *words):
        bare = self.path("bare")
        run("strip", *words, *OURS, program, "-o", bare)
        self.assertIsNone(section(bare, ".debug_info"))
        self.assertIsNotNone(section(bare, ".debug_telltale_paths"))
        return bare

    def test_a_program_without_its_dwarf_gives_the_same_paths(self):
        """The same core file, read with the program and with what strip leaves of it."""
        draws = random.Random(8)
        for release in RELEASES:
            for words in (["-O0"], ["-O2"], ["-O2", "-fno-omit-frame-pointer"], ["-O1", "-path-array-size=3"]):
                program = self.walk("walk", release, *words)
                without_lines = self.without_dwarf(program, "-g")
                frames = 0
                for _ in range(12):
                    seed, records = draws.randrange(1 << 30), 1 + draws.randrange(600)
                    with self.subTest(release=release, words=words, seed=seed, records=records):
                        core = crash(self.path("core"), program, self.path("trace"), seed, records)
                        expected = traced(core)
                        self.assertEqual(traced(core, "--program", without_lines), expected)
                        self.assertEqual({each[-1] for each in expected}, {"position"})
                        frames += len(expected)
                self.assertGreater(frames, 30)

    def test_a_program_without_symbols(self):
        """Bounds of functions are in the unwind tables, names in the metadata."""
        for level in ("-O0", "-O2"):
            program = self.walk("walk", RELEASES[-1], level)
            bare = self.without_dwarf(program, "-s")
            self.assertIsNone(section(bare, ".symtab"))
            for seed in range(6):
                core = crash(self.path("core"), program, self.path("trace"), seed, 100 + 50 * seed)
                expected = traced(core)
                self.assertGreater(len(expected), 1)
                self.assertEqual(traced(core, "--program", bare), expected)

    def test_built_with_and_without_g(self):
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                with_dwarf = self.walk("with", release, level)
                without = self.walk("without", release, level, "-g0")
                for seed in range(8):
                    with self.subTest(release=release, level=level, seed=seed):
                        words = (self.path("trace"), seed, 40 + 70 * seed)
                        expected = traced(crash(self.path("core"), with_dwarf, *words))
                        self.assertGreater(len(expected), 0)
                        self.assertEqual(traced(crash(self.path("core"), without, *words)), expected)
                # Blocks have no lines then; the text shows the blocks.
                self.assertIn("completed path", run(TELLTALE, "paths", self.path("core")).stdout)

    def test_threads_exceptions_and_frames_with_their_own_alignment(self):
        for source, words in (("two_threads.cc", ["-pthread"]), ("aligned_frames.c", [])):
            for level in ("-O0", "-O2"):
                with self.subTest(source=source, level=level):
                    program = self.walk("other", RELEASES[-1], level, *words, source=PROGRAMS / source, schema="pt.schema",
                                        cxx=source.endswith(".cc"))
                    core = crash(self.path("core"), program)
                    expected = traced(core)
                    self.assertGreater(len(expected), 1)
                    self.assertEqual(traced(core, "--program", self.without_dwarf(program, "-g")), expected)


if __name__ == "__main__":
    unittest.main()
