#!/usr/bin/env python3
"""Puts small faults into the code, one at a time, and says which of them no test notices.

  ./dev mutate [PATH...] [--count N] [--seed S] [--jobs J] [--seconds S]
  ./dev mutate --report            what all runs so far found
  ./dev mutate --survivors [PATH]  try those again that survived, with the tests of now
  ./dev mutate --judge KEY REASON  say of a survivor that it changes nothing that can be observed

universalmutator (PyPI) makes the mutants of a line; the lines are a random sample of the folders below PATH (default:
src, runtime, instrument and web), as many of each folder. The seed and the sources decide which. Work goes on in copies
of the source tree (build/mutate/tree-N). A mutant whose object files are those of the original is equivalent; one that
does not compile does not count, and neither does one that only changes the text of a string. The related tests
(mutation/related_tests.py) run until the first one fails. Each result is appended to build/mutate/results.jsonl, so that
an interrupted run continues where it was.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import queue
import signal
import sys
import threading
import time

from mutation.mutants import ROOT, Mutant, Sample, find_moved, install_mutator
from mutation.related_tests import Tests
from mutation.source_tree import Tree

WORK = ROOT / "build" / "mutate"
RESULTS = WORK / "results.jsonl"
# A line that more objects than this are made from is left out: compiling them takes longer than all tests.
MOST_OBJECTS = 12


def try_mutant(mutant, tree, tests):
    """(outcome, what decided it)."""
    path = tree.source / mutant.path
    original = path.read_text()
    lines = original.splitlines(keepends=True)
    if lines[mutant.line - 1] != mutant.old:
        return "gone", ""
    objects = tree.objects.get(mutant.path, [])
    if not objects:
        return "unbuilt", ""
    if len(objects) > MOST_OBJECTS:
        return "costly", "%d objects" % len(objects)
    tree.ninja(*objects)
    before = tree.hashes(objects)
    lines[mutant.line - 1] = mutant.new
    with_mutant = "".join(lines)
    try:
        path.write_text(with_mutant)
        if tree.ninja(*objects)[0] != 0:
            return "uncompilable", ""
        if mutant.folder == "web" and tests.run("web:types", tree, 300)[0] != 0:
            return "uncompilable", "its types are wrong"
        if tree.hashes(objects) == before:
            return "equivalent", "the same object files"
        for test in tests.related(mutant.path):
            built, output = tree.ninja(*tests.targets(test))
            if built != 0:
                return "uncompilable", output[-300:]
            begin = time.monotonic()
            status, output = tests.run(test, tree, tests.seconds(test))
            if status == 0:
                if test not in tests.known:
                    tests.keep(test, time.monotonic() - begin)
                continue
            if test not in tests.known:  # does it fail because of the mutant?
                path.write_text(original)
                tree.ninja(*tests.targets(test))
                tests.measure(test, tree)
                path.write_text(with_mutant)
            if tests.known[test] is not None:
                return "killed", test + (", which took too long" if status == -1 else "")
        return "survived", ""
    finally:
        path.write_text(original)


def read_results():
    """The last result of each mutant, by its key."""
    results = {}
    if RESULTS.is_file():
        for line in RESULTS.read_text().splitlines():
            entry = json.loads(line)
            results[entry["key"]] = entry
    return results


def append(entry):
    with open(RESULTS, "a") as file:
        file.write(json.dumps(entry) + "\n")


def report(results):
    counts = collections.defaultdict(collections.Counter)
    for entry in results.values():
        parts = entry["folder"].split("/")
        counts["/".join(parts[:2]) if parts[0] == "src" else parts[0]][entry["outcome"]] += 1
    print("%-16s %8s %8s %8s %12s" % ("FOLDER", "MUTANTS", "KILLED", "SHARE", "EQUIVALENT"))
    total = collections.Counter()
    for folder, count in sorted(counts.items()):
        total.update(count)
        print_row(folder, count)
    print_row("all", total)
    survivors = [entry for entry in results.values() if entry["outcome"] == "survived"]
    if survivors:
        print("\nNo test noticed:")
    for entry in sorted(survivors, key=lambda entry: (entry["path"], entry["line"])):
        print("  %s  %s" % (entry["key"], Mutant.of_entry(entry).shown()))


def print_row(name, count):
    tried = count["killed"] + count["survived"]
    share = "%.0f %%" % (100 * count["killed"] / tried) if tried else "-"
    print("%-16s %8d %8d %8s %12d" % (name, tried, count["killed"], share, count["equivalent"]))


def work_through(mutants, wanted, tests, trees, seconds):
    """Tries mutants until `wanted` of them counted, or the time is over."""
    free = queue.Queue()
    for tree in trees:
        free.put(tree)
    deadline = time.monotonic() + seconds if seconds else None
    counted = 0
    lock = threading.Lock()

    def one(mutant):
        nonlocal counted
        tree = free.get()
        try:
            begin = time.monotonic()
            outcome, by = try_mutant(mutant, tree, tests)
            took = time.monotonic() - begin
        finally:
            free.put(tree)
        with lock:
            counted += outcome in ("killed", "survived")
            append({"key": mutant.key, "folder": mutant.folder, "path": mutant.path, "line": mutant.line, "old": mutant.old,
                    "new": mutant.new, "rule": mutant.rule, "outcome": outcome, "by": by, "seconds": round(took, 1)})
            place = mutant.shown() if outcome == "survived" else "%s:%d" % (mutant.path, mutant.line)
            print("%-12s %5.1f s  %s %s" % (outcome, took, place, by), flush=True)

    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        running = set()
        for mutant in mutants:
            while len(running) >= len(trees):
                done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for each in done:
                    each.result()
            if counted + len(running) >= wanted or (deadline and time.monotonic() > deadline):
                break
            running.add(pool.submit(one, mutant))
        for each in running:
            each.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=["src", "runtime", "instrument", "web"], metavar="PATH")
    parser.add_argument("--count", type=int, default=200, help="mutants to try now that count (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2), help="mutants at the same time")
    parser.add_argument("--tree", type=int, default=1, metavar="N",
                        help="number of the first tree; a second run beside the first needs its own")
    parser.add_argument("--seconds", type=int, default=0, help="begin no mutant after this time")
    parser.add_argument("--report", action="store_true", help="print what is known")
    parser.add_argument("--survivors", action="store_true", help="try again what survived")
    parser.add_argument("--judge", nargs=2, metavar=("KEY", "REASON"), help="a survivor that changes nothing")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended; the mutant at hand is tried to its end"))
    results = read_results()
    if options.judge:
        key, reason = options.judge
        if key not in results:
            parser.error("no mutant has the key " + key)
        append(dict(results[key], outcome="equivalent", by="judged: " + reason))
        return
    if options.report:
        report(results)
        return
    install_mutator(WORK / "python")
    if options.survivors:
        survived = [Mutant.of_entry(entry) for entry in results.values() if entry["outcome"] == "survived"]
        mutants = [mutant for mutant in map(find_moved, survived) if mutant and mutant.path.startswith(tuple(options.paths))]
        folders = {mutant.folder for mutant in mutants}
    else:
        sample = Sample(options.paths, options.seed)
        folders = set(sample.lines)
        mutants = (mutant for mutant in sample if mutant.key not in results)
    cores = max(1, (os.cpu_count() or 1) // options.jobs)
    trees = [Tree(WORK / ("tree-%d" % number), cores) for number in range(options.tree, options.tree + options.jobs)]
    for tree in trees:
        tree.configure()
    tests = Tests(WORK / "baseline.json")
    for tree in trees:  # before a test runs: some need what others name as their targets
        needed = sorted({target for test in tests.of_folders(folders) for target in tests.targets(test)})
        status, output = tree.ninja(*needed, seconds=7200)
        if status != 0:
            sys.exit("the sources do not build:\n" + output[-3000:])
        tree.find_objects()
    tests.check(sorted(folders), trees[0])
    work_through(mutants, options.count, tests, trees, options.seconds)
    report(read_results())


if __name__ == "__main__":
    main()
