"""Random C programs, from csmith: whatever they are built with, they print the same, count the same, and get the same answers.
TELLTALE_SEEDS="FIRST COUNT" chooses others."""
import itertools
import os
import platform
import random
import re
import shutil
import subprocess
import unittest

from certain_lines import EXACT, LEVELS, SCHEMES, builds, ending_and_lines, printed_and_lines, wrong_lines
from path_crash_points import crash_and_compare
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, resolved, run, section

FIRST, COUNT = map(int, os.environ.get("TELLTALE_SEEDS", "1 6").split())
SECONDS = 10  # some random programs never end
# Programs of which coverage once said "no" of lines that ran: (seed, whether each block begins with a call, options, release).
ONCE_WRONG = ((9049, False, ("--trace=cc.schema", "-O3", SCHEMES), "19"),
              (379, True, ("--trace=bb.schema", "-O3", "-fsampler-scheme=returns"), "22"))


class RandomPrograms(SamplerCase):
    def programs(self):
        """(source, what chooses its builds), of programs that end."""
        for seed in range(FIRST, FIRST + COUNT):
            source = self.program(seed)
            try:
                subprocess.run([self.build(source, "-O0")], timeout=SECONDS, stdout=subprocess.DEVNULL, check=True)
            except subprocess.TimeoutExpired:
                continue
            yield source, random.Random(seed)

    def program(self, seed):
        source = self.path(f"random{seed}.c")
        done = run("csmith", "--seed", seed, "--max-funcs", 6, "--max-block-depth", 4, "--no-argc", "-o", source, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return source

    def stopper(self):
        """An object file with tick()."""
        stopper = self.path("stopper.o")
        self.assertEqual(run("cc", "-c", SOURCE_DIR / "tests/programs/csi/stop_at_call.c", "-o", stopper).returncode, 0)
        return stopper

    def insert_calls(self, source, calls):
        """Calls of tick() where blocks begin; `calls()`: "tick();", or nothing, for each block."""
        source.write_text("void tick(void);\n" + re.sub(r"\{ /\* block id: \d+ \*/\n", lambda block: block[0] + calls(), source.read_text()))

    def build(self, source, *words, release=RELEASES[-1]):
        return build(self.path("program"), release, "-silent", "-g", "-w", "-I/usr/include/csmith", *words, source)

    def lines(self, source, *words, **options):
        return printed_and_lines(self.build(source, *words, **options), self.folder, SAMPLER_SPARSITY="10")

    def test_certain_lines_are_those_of_unoptimised_code(self):
        for source, choice in self.programs():
            printed, exact = self.lines(source, *EXACT)
            for words, release in choice.sample(list(builds(RELEASES)), 3):
                with self.subTest(source=source.name, words=words, release=release):
                    again, lines = self.lines(source, *words, release=release)
                    self.assertEqual(again, printed)
                    self.assertEqual(wrong_lines(lines, exact), {})

    def test_certain_lines_are_right_where_a_program_stops(self):
        stopper = self.stopper()
        for source, choice in itertools.islice(self.programs(), max(COUNT // 2, 1)):
            self.insert_calls(source, lambda: choice.choice(("", "tick();\n")))
            stops = sorted(choice.randint(1, most) for most in (3, 10, 30, 300))
            self.build(source, *EXACT, stopper).rename(self.path("exact"))
            exact = {stop: self.ending(self.path("exact"), stop) for stop in stops}
            for words, release in choice.sample(list(builds(RELEASES)), 2):
                program = self.build(source, *words, stopper, release=release)
                for stop in stops:
                    with self.subTest(source=source.name, words=words, release=release, stop=stop):
                        *ending, lines = self.ending(program, stop)
                        self.assertEqual(ending, exact[stop][:-1])
                        self.assertEqual(wrong_lines(lines, exact[stop][-1]), {})

    def test_lines_that_were_once_wrong(self):
        for seed, has_calls, words, release in ONCE_WRONG:
            source = self.program(seed)
            objects = [self.stopper()] if has_calls else []
            if has_calls:
                self.insert_calls(source, lambda: "tick();\n")
            with self.subTest(seed=seed):
                printed, exact = self.lines(source, *EXACT, *objects)
                again, lines = self.lines(source, *words, *objects, release=release)
                self.assertEqual(again, printed)
                self.assertEqual(wrong_lines(lines, exact), {})

    def ending(self, program, stop):
        return list(ending_and_lines(program, self.folder, SAMPLER_SPARSITY="10", STOP_AT=str(stop)))

    def counts(self, source, *words, **options):
        # Without a value, a variable has another one in each build.
        program = self.build(source, SCHEMES, "-ftrivial-auto-var-init=zero", *words, **options)
        done = self.run_reported(program, SAMPLER_SPARSITY="1")
        self.assertEqual(done.returncode, 0)
        return done.stdout, resolved(self.report, program)

    def test_counts_are_those_of_unoptimised_code(self):
        for source, choice in self.programs():
            printed, exact = self.counts(source, "-O0", "-fno-sample")
            pointers = set(re.findall(r"\*\s*(?:(?:const|volatile)\s+)*(\w+)", source.read_text()))
            self.assertGreater(len(exact), 0)
            for level, words, release in choice.sample(list(itertools.product(LEVELS, ((), ("-fno-sample",)), RELEASES)), 2):
                with self.subTest(source=source.name, level=level, words=words, release=release):
                    again, counts = self.counts(source, level, *words, release=release)
                    self.assertEqual((again, len(counts)), (printed, len(exact)))
                    # Where variables are in memory, and so the order of pointers, is another matter.
                    different = [pair for pair in zip(exact, counts) if pair[0] != pair[1] and
                                 not ("scalar-pairs" in pair[0] and pointers & set(re.findall(r"\w+", pair[0])))]
                    self.assertEqual(different, [])

    @unittest.skipUnless(platform.machine() == "x86_64", "positions are exact on x86-64")
    def test_paths_at_random_points_are_those_of_a_full_trace(self):
        for source, choice in itertools.islice(self.programs(), max(COUNT // 2, 1)):
            schema, level = choice.choice(("pt.schema", "cc_pt.schema", "all.schema")), choice.choice(("-O0", *LEVELS))
            release = choice.choice(RELEASES)
            with self.subTest(source=source.name, schema=schema, level=level, release=release):
                program = self.build(source, f"--trace={schema}", level, release=release)
                if section(program, ".debug_PT") is None:  # it has nothing but straight lines
                    continue
                scratch = self.path("scratch")
                shutil.rmtree(scratch, ignore_errors=True)
                scratch.mkdir()
                found = crash_and_compare(program, [], self.folder, scratch, 30, COUNT, 300_000)
                self.assertEqual(found.wrong[:5], [])
                self.assertEqual(found.counts["points"], 30)


if __name__ == "__main__":
    unittest.main()
