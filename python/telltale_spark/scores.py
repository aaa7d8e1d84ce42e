"""The figures of docs/analysis/isolation.md, of one predicate's counts."""
import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Counts:
    """Runs in which the predicate was true, and that observed its site."""
    true_failing: int = 0
    true_successful: int = 0
    observed_failing: int = 0
    observed_successful: int = 0

    @property
    def true(self):
        return self.true_failing + self.true_successful

    @property
    def observed(self):
        return self.observed_failing + self.observed_successful


def fraction(part, whole):
    return part / whole if whole else 0.0


def failure(c):
    return fraction(c.true_failing, c.true)


def context(c):
    return fraction(c.observed_failing, c.observed)


def increase(c):
    return failure(c) - context(c) if c.true else 0.0


def importance(c, failing):
    gain = increase(c)
    if gain <= 0 or c.true_failing == 0:
        return 0.0
    recall = math.log(c.true_failing) / math.log(failing) if failing > 1 else 1.0
    return 2 / (1 / gain + 1 / recall) if recall > 0 else 0.0


def standard_deviations(confidence):
    low, high = 0.0, 40.0
    for _ in range(100):
        middle = (low + high) / 2
        if math.erf(middle / math.sqrt(2.0)) < confidence:
            low = middle
        else:
            high = middle
    return low


def wilson(k, n, z):
    if n == 0:
        return 0.0, 1.0
    p = k / n
    centre = p + z * z / (2 * n)
    margin = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - margin) / scale), min(1.0, (centre + margin) / scale)


def increase_interval(c, z):
    """The interval `score`."""
    if c.true == 0 or (c.true_failing == c.observed_failing and c.true_successful == c.observed_successful):
        return -1.0, 1.0
    others, failing_others = c.observed - c.true, c.observed_failing - c.true_failing
    f, g, share = failure(c), fraction(failing_others, others), fraction(others, c.observed)
    f_low, f_high = wilson(c.true_failing, c.true, z)
    g_low, g_high = wilson(failing_others, others, z)
    s_low, s_high = wilson(others, c.observed, z)
    difference = f - g
    less = share - s_low if difference >= 0 else s_high - share
    more = s_high - share if difference >= 0 else share - s_low
    below = share * share * ((f - f_low) ** 2 + (g_high - g) ** 2)
    above = share * share * ((f_high - f) ** 2 + (g - g_low) ** 2)
    return share * difference - math.sqrt(below + (difference * less) ** 2), share * difference + math.sqrt(above + (difference * more) ** 2)


def others(c, failing, successful):
    """Ochiai, Tarantula, D* (none: infinite) and Op2."""
    f, s = fraction(c.true_failing, failing), fraction(c.true_successful, successful)
    apart = c.true_successful + failing - c.true_failing
    return {"ochiai": c.true_failing / math.sqrt(failing * c.true) if failing * c.true else 0.0,
            "tarantula": f / (f + s) if f + s else 0.0,
            "dstar": 0.0 if c.true_failing == 0 else c.true_failing * c.true_failing / apart if apart else None,
            "op2": c.true_failing - c.true_successful / (successful + 1.0)}
