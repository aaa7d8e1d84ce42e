"""Ranks predicates by the counts of counts.py, as `telltale isolate` does with its default options, or with --all."""
import math

from . import scores
from .counts import SCALE
from .scores import Counts


class Isolation:
    def __init__(self, store_counts, groups, matches, confidence=0.95):
        self.counts, self.groups, self.matches, self.z = store_counts, groups, matches, scores.standard_deviations(confidence)
        self.initial = store_counts.tally()
        self.first = self.first_true()

    def predicates_of(self, tally):
        """Each predicate that was true in a run: (its number, its counts)."""
        for (group_number, site), patterns in sorted(tally.patterns.items()):
            group = self.groups[group_number]
            seen = tally.reported.get(self.matches.sections_of((group_number, site)), [0, 0]) if group.observed_by_report else \
                [sum(runs[failed] for runs in patterns.values()) for failed in (0, 1)]
            for index in range(group.predicates):
                true = [sum(runs[failed] for counted, runs in patterns.items() if group.is_true(index, counted)) for failed in (0, 1)]
                if true != [0, 0]:
                    yield (group_number, site, index), Counts(true[1], true[0], seen[1], seen[0])

    def first_true(self):
        sums = {}
        for (group_number, site, counted), (total, runs) in self.counts.first_times().items():
            group = self.groups[group_number]
            for index in range(group.predicates):
                if group.is_always_true(index, counted):
                    before = sums.get((group_number, site, index), (0, 0))
                    sums[group_number, site, index] = (before[0] + total, before[1] + runs)
        return {predicate: total / runs / SCALE for predicate, (total, runs) in sums.items()}

    def order(self, predicate, counts, score):
        """The smallest one comes first."""
        group_number, site, index = predicate
        number = self.groups[group_number].first_predicate + site * self.groups[group_number].predicates + index
        return -score, self.first.get(predicate, math.inf), -counts.true_failing, number

    def candidates(self, tally):
        return [(predicate, counts) for predicate, counts in self.predicates_of(tally) if scores.increase_interval(counts, self.z)[0] > 0]

    def rank_all(self):
        """As with --all: one ranking."""
        found = [(self.order(p, c, scores.importance(c, self.initial.failing)), p, c) for p, c in self.candidates(self.initial)]
        return [self.row(rank, predicate, counts, scores.importance(counts, self.initial.failing)) for rank, (_, predicate, counts) in enumerate(sorted(found), 1)]

    def eliminate(self):
        """Chooses the best predicate, discards all runs in which it was true, and begins anew."""
        whole = dict(self.candidates(self.initial))
        tally, rows, discarded, left = self.initial, [], [], self.initial.failing
        while left:
            ranked = [(self.order(p, c, scores.importance(c, tally.failing)), p, c) for p, c in self.candidates(tally)
                      if p in whole and c.true_failing and scores.importance(c, tally.failing) > 0]
            if not ranked:
                break
            _, predicate, counts = min(ranked)
            rows.append(self.row(len(rows) + 1, predicate, whole[predicate], scores.importance(counts, tally.failing), counts.true_failing))
            left -= counts.true_failing
            group = self.groups[predicate[0]]
            discarded.append((predicate[0], predicate[1], [pattern for pattern in range(1, 1 << group.counters) if group.is_true(predicate[2], pattern)]))
            tally = self.counts.tally(discarded)
        return rows

    def row(self, rank, predicate, counts, effective, explained=None):
        group_number, site, index = predicate
        group = self.groups[group_number]
        file, line, function = group.rows[site][:3]
        low, high = scores.increase_interval(counts, self.z)
        row = {"rank": rank, "file": file, "line": int(line), "other_lines": self.matches.other_lines((group_number, site)), "function": function, "scheme": group.scheme, "predicate": group.words(site, index),
               "importance": scores.importance(counts, self.initial.failing), "failure": scores.failure(counts), "context": scores.context(counts),
               "increase": scores.increase(counts), "increase_low": low, "increase_high": high,
               "true_in_failing": counts.true_failing, "true_in_successful": counts.true_successful,
               "observed_in_failing": counts.observed_failing, "observed_in_successful": counts.observed_successful,
               **scores.others(counts, self.initial.failing, self.initial.successful), "effective_score": effective}
        if explained is not None:
            row["explained"] = explained
        return row
