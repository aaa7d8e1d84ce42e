"""Shared by tests of sampled counts: the counters of many runs with fixed seeds, compared with those of a run that counts everything."""
import math
import statistics

from sampler_programs import RELEASES, SamplerCase, build, samples

NEWEST = RELEASES[-1] if RELEASES else None
SEEDS = range(1, 41)


class SampledCountsCase(SamplerCase):
    def counters(self):
        """In the order of schemes and sites of the report. An assignment that yielded was sampled; one that did not was
        not."""
        found = []
        for (_, scheme), rows in sorted(samples(self.report), key=lambda section: section[0][1]):
            found += [int(n) for row in rows for n in (row[1:] if scheme == "yields" else row)]
        return found

    def counts_of(self, program, sparsity):
        """The counters of 40 runs."""
        found = []
        for seed in SEEDS:
            done = self.run_reported(program, SAMPLER_SPARSITY=str(sparsity), SAMPLER_SEED=str(seed))
            self.assertEqual(done.returncode, 0)
            found.append(self.counters())
        return found

    def truth_of(self, *flags):
        exact = build(self.path("exact"), NEWEST, "-fno-sample", *flags)
        self.run_reported(exact)
        return self.counters()

    def assert_binomial(self, program, truth, sparsity, units=None):
        """If each site is observed independently, a counter's observations follow a binomial distribution: the sum of
        the squared deviations is chi-square distributed. A site of weight `units` is due once in so many units."""
        squares = 0.0
        degrees = 0
        chances = [1 - (1 - 1 / sparsity) ** (units[i] if units else 1) for i in range(len(truth))]
        for counts in self.counts_of(program, sparsity):
            for count, true, chance in zip(counts, truth, chances, strict=True):
                if true * chance < 20:
                    self.assertLessEqual(count, true if chance else 0)
                    continue
                if chance == 1:
                    self.assertEqual(count, true)
                    continue
                squares += (count - true * chance) ** 2 / (true * chance * (1 - chance))
                degrees += 1
        self.assertGreater(degrees, 200)
        # Within four standard deviations of a chi-square distribution's mean.
        self.assertLess(abs(squares - degrees), 4 * math.sqrt(2 * degrees), sparsity)

    def assert_unbiased(self, truth, runs, sparsity, most=0.05):
        squares = []
        for true, counts in zip(truth, zip(*runs, strict=True), strict=True):
            if true / sparsity < 40:
                self.assertTrue(all(count <= true for count in counts))
                continue
            error = statistics.stdev(counts) / math.sqrt(len(counts))
            squares.append(((statistics.mean(counts) - true / sparsity) / error) ** 2)
            # A bias of some per cent would show.
            self.assertLess(error * sparsity / true, most)
        self.assertGreater(len(squares), 4)
        self.assertLess(max(squares), 4 ** 2, sparsity)
        self.assertLess(sum(squares) / len(squares), 3, sparsity)
