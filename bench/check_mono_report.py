#!/usr/bin/env python3
"""Compares telltale's report of a Mono recording with mprof-report's: every figure of every section.

check_mono_report.py TELLTALE RECORDING [OPTION...]      options of both, such as --traces

With --like-mprof all figures must be equal. In the corrected report, figures that mprof-report computes correctly must
be equal, and the report must be the same with 1, 2 and 8 threads. The corrected report differs in methods that are open
at the end, and keeps the innermost frames of a stack instead of the outermost. Prints the differences and exits with 1
if there are any.
"""

import json
import os
import subprocess
import sys

if len(sys.argv) < 3:
    sys.exit(__doc__)
TELLTALE, RECORDING, *OPTIONS = sys.argv[1:]
os.environ["TELLTALE"] = TELLTALE
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/end_to_end"))

import mprof_report  # noqa: E402
import test_mono_reports  # noqa: E402


def telltale(*options):
    return subprocess.run(
        [TELLTALE, "report", RECORDING, "--json", *OPTIONS, *options], check=True, capture_output=True
    ).stdout


def open_methods():
    top = subprocess.run([TELLTALE, "top", "--json", RECORDING], check=True, capture_output=True).stdout
    return {row["function"] for row in json.loads(top)["rows"] if row["unfinished"]}


def main():
    compare = test_mono_reports.Reports("test_header")  # for its comparisons; none of its tests runs
    theirs = mprof_report.report(RECORDING, *OPTIONS)
    same = json.loads(telltale("--like-mprof"))
    one = telltale("--jobs=1")
    right = json.loads(one)
    checks = {
        "jit": compare.check_jit,
        "gc": compare.check_gc,
        "sample": compare.check_sample,
        "alloc": compare.check_alloc,
        "call": compare.check_call,
        "metadata": compare.check_metadata,
        "exception": compare.check_exception,
        "monitor": compare.check_monitor,
        "threads, domains and contexts": compare.check_ids,
        "heapshot": compare.check_heapshot,
        "counters": lambda ours, theirs: theirs.get("counters", {}).get("last") and compare.check_counters(ours, theirs),
    }
    wrong = []

    def check(what, comparison, *arguments):
        try:
            comparison(*arguments)
        except (AssertionError, KeyError) as difference:
            wrong.append("%s: %r" % (what, difference))

    for name, comparison in checks.items():
        check(name + " with --like-mprof", comparison, same, theirs)

    def corrected():
        compare.assertEqual(right["exception"]["throws"], theirs.get("exception", {}).get("throws", 0))
        for name in ("monitor", "threads, domains and contexts"):
            checks[name](right, theirs)
        if "alloc" in theirs:
            compare.assertEqual((right["alloc"]["bytes"], right["alloc"]["objects"]), theirs["alloc"]["total"])
        if "sample" in theirs:
            compare.assertEqual(right["sample"]["managed"], theirs["sample"]["managed"])
        if "call" in theirs:
            compare.assertEqual(right["call"]["calls"], theirs["call"]["total"])
            own = {(row["self_ns"] // 1000000, row["calls"], row["method"]) for row in right["call"]["methods"]}
            rows = {(*row.numbers[1:], row.name) for row in theirs["call"]["rows"] if row.numbers[1]}
            compare.assertEqual({row for row in rows - own if row[-1] not in open_methods()}, set())
        shots = [(shot["bytes"], shot["objects"]) for shot in right.get("heapshot", {}).get("shots", [])]
        compare.assertEqual(shots, [(shot.size, shot.objects) for shot in theirs.get("heapshot", [])])

    check("the corrected report", corrected)
    for jobs in ("--jobs=2", "--jobs=8"):
        if telltale(jobs) != one:
            wrong.append("the report differs with " + jobs)
    for difference in wrong:
        print("wrong: %.2000s" % difference, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
