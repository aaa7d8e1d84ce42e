"""Sums of sampled counters over many runs. The seeds are fixed, so each test always passes or always fails."""
import math
import statistics
import subprocess
import unittest

from program_text import program_text
from sampled_counts_case import SampledCountsCase
from sampler_programs import PROGRAMS, RELEASES, SamplerCase, build, compile_with, resolved, run, samples, site_tables

NEWEST = RELEASES[-1] if RELEASES else None
SOME = ("-O2", "-fsampler-scheme=branches", "-fsampler-scheme=returns", PROGRAMS / "rates.c")
# atoms and similar schemes count while a window is open, which is not a fixed share of executions.
MORE = ("-O2", *(f"-fsampler-scheme={name}" for name in ("scalar-pairs", "coverage", "data", "yields", "function-entries",
                                                         "float-kinds", "fun-reentries")), PROGRAMS / "often.c")


class Statistics(SampledCountsCase):
    def test_counts_are_binomial(self):
        for flags in (SOME, MORE):
            truth = self.truth_of(*flags)
            for release in RELEASES:
                sampled = build(self.path("sampled"), release, "-fno-sample-regions", *flags)
                for sparsity in (10, 100):
                    with self.subTest(release=release, sparsity=sparsity, program=flags[-1].name):
                        self.assert_binomial(sampled, truth, sparsity)

    def test_threads_that_do_the_same_draw_by_themselves(self):
        """A countdown shared by all threads would scatter eight times as widely."""
        flags = ("-O1", "-pthread", "-fthreads", "-fsampler-scheme=branches", PROGRAMS / "alike.c")
        truth = self.truth_of(*flags)
        for release in RELEASES:
            sampled = build(self.path("sampled"), release, "-fno-sample-regions", *flags)
            for sparsity in (10, 100):
                with self.subTest(release=release, sparsity=sparsity):
                    self.assert_binomial(sampled, truth, sparsity)

    def test_balanced_and_scaled_counts_are_binomial(self):
        scales = self.path("scales")
        for flags in (SOME, MORE):
            truth = self.truth_of(*flags)
            scales.write_text("*\t*\t3\nhelper\t*\t1\n")
            for words in ((), (f"-fsampler-scales={scales}",)):
                for balance in ("-fbalance-paths", "-fno-balance-paths")[:len(words) + 1]:
                    sampled = build(self.path("sampled"), NEWEST, balance, *words, *flags)
                    units = [3 if words and site[2] != "helper" else 1 for (_, scheme), rows in
                             sorted(site_tables(sampled).items(), key=lambda table: table[0][1])
                             for site in rows for _ in range(WIDTH[scheme])]
                    with self.subTest(program=flags[-1].name, words=words, balance=balance):
                        self.assert_binomial(sampled, truth, 40, units)

    def test_counts_are_unbiased(self):
        """If whole regions are observed, possibly several iterations of a loop together, the counts scatter more,
        around the same mean: the squares of Student's t of all counters (the distance of the runs' mean from the true
        value, in units of its estimated error) are about 1."""
        for flags in (SOME, MORE):
            truth = self.truth_of(*flags)
            for release in RELEASES:
                sampled = build(self.path("sampled"), release, *flags)
                for sparsity in (10, 100):
                    with self.subTest(release=release, sparsity=sparsity, program=flags[-1].name):
                        self.assert_unbiased(truth, self.counts_of(sampled, sparsity), sparsity)

    def test_counts_in_large_functions_are_unbiased(self):
        flags = ("-O2", "-fsampler-scheme=branches", PROGRAMS / "crowded.c")
        truth = self.truth_of(*flags)
        plain = build(self.path("plain"), NEWEST, "-O2", PROGRAMS / "crowded.c")
        for release in RELEASES:
            done = compile_with(release, *flags, "-fshow-stats", "-o", self.path("sampled"))
            self.assertEqual(done.returncode, 0, done.stderr)
            regions = int(done.stderr.split("regions ")[1].split(",")[0])
            self.assertLess(regions, 24, "it asks in all loops")
            self.assertEqual(run(self.path("sampled")).stdout, run(plain).stdout)
            self.assert_unbiased(truth, self.counts_of(self.path("sampled"), 10), 10)

    def test_counts_in_functions_that_take_turns_are_unbiased(self):
        """Most calls of functions with loops are not asked; in the others more is observed."""
        flags = ("-O2", "-fsampler-scheme=branches", "-fsampler-scheme=scalar-pairs", PROGRAMS / "often_called.c")
        truth = self.truth_of(*flags)
        expected = run(build(self.path("plain"), NEWEST, "-O2", "-w", PROGRAMS / "often_called.c")).stdout
        for release in RELEASES:
            for words in ((), ("-fno-sample-turns",), ("-fthreads",), ("-fthreads", "-fPIC")):
                sampled = build(self.path("sampled"), release, *words, *flags)
                self.assertEqual(run(sampled).stdout, expected)
                symbols = subprocess.run(["nm", sampled], capture_output=True, text=True, check=True).stdout
                self.assertEqual(".asking" in symbols, words in ((), ("-fthreads",)))
                # With one asked call in sparsity / 8: 1, 3.75 and 12.5.
                for sparsity in (8, 30, 100):
                    with self.subTest(release=release, sparsity=sparsity, words=words):
                        self.assertEqual(self.run_reported(sampled, SAMPLER_SPARSITY=str(sparsity)).stdout, expected)
                        self.assert_unbiased(truth, self.counts_of(sampled, sparsity), sparsity, most=0.15)

    def test_the_first_calls_are_unbiased(self):
        """The more often a function has been called, the fewer calls are asked, and the more is observed in each."""
        program = build(self.path("program"), NEWEST, "-O2", "-fsampler-scheme=branches", PROGRAMS / "seldom_called.c")
        for sparsity in (30, 100, 1000):
            counts = {}
            for seed in range(1, 201):
                self.run_reported(program, SAMPLER_SPARSITY=str(sparsity), SAMPLER_SEED=str(seed))
                for line in resolved(self.report, program):
                    columns = line.split("\t")
                    if columns[4].startswith("call == "):
                        counts.setdefault(columns[4], []).append(int(columns[6]))
            self.assertEqual(len(counts), 8)
            for site, found in counts.items():
                self.assertEqual(len(found), 32 * 200)
                with self.subTest(sparsity=sparsity, site=site):
                    expected = 3000 / sparsity
                    error = statistics.stdev(found) / math.sqrt(len(found))
                    self.assertLess(error / expected, 0.2)
                    self.assertLess(abs(statistics.mean(found) - expected), 4 * error)

    def test_children_of_one_parent_take_different_turns(self):
        program = build(self.path("program"), NEWEST, "-O2", "-fsampler-scheme=branches", "-fexclude-function=main",
                        PROGRAMS / "children.c")
        for seed in (None, 1, 2):
            with self.subTest(seed=seed):
                for report in self.folder.glob("of.*"):
                    report.unlink()
                settings = {"SAMPLER_FILE": str(self.path("of.%p")), "SAMPLER_SPARSITY": "100"}
                self.assertEqual(run(program, env=settings if seed is None else settings | {"SAMPLER_SEED": str(seed)}).returncode, 0)
                counted = [sum(int(n) for _, rows in samples(report) for row in rows for n in row)
                           for report in self.folder.glob("of.*")]
                self.assertEqual(len(counted), 61)
                # The probability that a child has an asked call is 1 - (1 - 8 / 100) ** 3, which is 0.22. Less than 1 and more than 40 of 60
                # children with one have a probability of one in a million.
                seen = sum(count > 0 for count in counted) - 1
                self.assertTrue(1 <= seen <= 40, seen)
                self.assertGreater(len(set(counted)), 2)


WIDTH = {"scalar-pairs": 3, "coverage": 1, "data": 1, "yields": 1, "function-entries": 1, "float-kinds": 9, "fun-reentries": 2,
         "branches": 2, "returns": 3}


class Countdown(SamplerCase):
    def test_all_ways_are_as_heavy(self):
        """Eleven shapes of functions. Every path through a call takes the weight of the heaviest one from the
        countdown: with every n-th unit observed, the first site of each is observed as often as arithmetic predicts."""
        flags = ("-fsampler-scheme=returns", "-fexclude-function=main", "-fno-specialize-singleton-regions", "-w")
        work = build(self.path("work.o"), NEWEST, "-c", PROGRAMS / "balance_work.c")
        plain = build(self.path("plain"), NEWEST, "-w", PROGRAMS / "balance.c", PROGRAMS / "balance_work.c")
        expected = run(plain).stdout
        heaviest = [int(line.split()[1]) for line in expected.splitlines()]
        self.assertEqual(len(heaviest), 11)
        self.assertGreaterEqual(min(heaviest), 2)
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                program = build(self.path("p"), release, level, "-fbalance-paths", "-fsampler-random=fixed", *flags,
                                PROGRAMS / "balance.c", work)
                for sparsity in (1, 2, 3, 5, 7, 30):
                    self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY=str(sparsity)).stdout, expected)
                    first = {}
                    ((_, rows),) = samples(self.report)
                    ((_, sites),) = site_tables(program).items()
                    for site, row in zip(sites, rows, strict=True):
                        first.setdefault(site[2], [int(n) for n in row])
                    passed = 0
                    wanted = []
                    for weight in heaviest:
                        wanted.append(sum((passed + i * weight + 1) % sparsity == 0 for i in range(80)))
                        passed += 80 * weight
                    with self.subTest(release=release, level=level, sparsity=sparsity):
                        self.assertEqual([sum(row) for row in first.values()], wanted)
                online = build(self.path("q"), release, level, "-fbalance-paths", *flags, PROGRAMS / "balance.c", work)
                for seed in range(5):
                    self.assertEqual(self.run_reported(online, SAMPLER_SPARSITY="3", SAMPLER_SEED=str(seed)).stdout, expected)

    def test_scales(self):
        """By function and by node, the most specific line first; 0 is never observed. Every third unit, of sites with
        weights 0, 1, 2, 3 and 4: after an observation the countdown starts anew."""
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/scales.c"))
        scales = self.path("scales")

        def observed(text, *words):
            scales.write_text(text)
            program = build(self.path("p"), NEWEST, "-O1", "-fsampler-random=fixed", f"-fsampler-scales={scales}",
                            "-fsampler-scheme=function-entries", *words, source)
            self.run_reported(program, SAMPLER_SPARSITY="3")
            ((_, rows),) = samples(self.report)
            return [int(row[0]) for row in rows]

        self.assertEqual(observed(""), [20, 0])
        self.assertEqual(observed("*\t*\t0\n"), [0, 0])
        self.assertEqual(observed("two\t*\t0\n"), [0, 0])
        self.assertEqual(observed("two\t0\t3\nmain\t0\t0\n\n"), [60, 0])
        self.assertEqual(observed("*\t*\t4\n"), [60, 1])
        # Takes 2 of 3 if the countdown is new, and the remaining 1 the next time.
        self.assertEqual(observed("*\t*\t4\ntwo\t*\t2\ntwo\t9\t7\n"), [30, 1])
        self.assertEqual(observed("two\t*\t9\ntwo\t0\t2\ntwo\t0\t1\nmain\t*\t0\n"), [20, 0])
        for line in ("two\t1", "two 1 1", "\t1\t1", "*\t1\t1", "two\tx\t1", "two\t1\t-1", "two\t1\t1x", "two\t1\t1000001"):
            scales.write_text("two\t1\t1\n" + line + "\n")
            done = compile_with(NEWEST, f"-fsampler-scales={scales}", "-fsampler-scheme=returns", "-c", source, "-o", self.path("o"))
            self.assertEqual(done.returncode, 1)
            self.assertIn("scales:2: a line must have", done.stderr)
        done = compile_with(NEWEST, "-fsampler-scales=/nowhere", "-fsampler-scheme=returns", "-c", source, "-o", self.path("o"))
        self.assertIn("cannot read /nowhere", done.stderr)


if __name__ == "__main__":
    unittest.main()
