#!/usr/bin/env python3
"""Puts small faults into the code, one at a time, and says which of them no test notices.

  ./dev mutate [PATH...] [--count N] [--seed S] [--jobs J] [--seconds S]
  ./dev mutate --report            what all runs so far found
  ./dev mutate --survivors         try those again that survived, with the tests of now
  ./dev mutate --judge KEY REASON  say of a survivor that it changes nothing that can be observed

universalmutator (PyPI) makes the mutants of a line; the lines are a random sample of the folders below PATH (default:
src, runtime, instrument and web), as many of each folder. The seed and the sources decide which. Work goes on in copies
of the source tree (build/mutate/tree-N). A mutant whose object files are those of the original is equivalent; one that
does not compile does not count, and neither does one that only changes the text of a string. The related tests (RELATED
below) run until the first one fails. Each result is appended to build/mutate/results.jsonl, so that an interrupted run
goes on where it was.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import hashlib
import io
import json
import os
import pathlib
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutate"
RESULTS = WORK / "results.jsonl"
TOOL = "universalmutator==1.14.1"
RULES = {".cc": ["universal", "c_like", "cpp"], ".h": ["universal", "c_like", "cpp"],
         ".js": ["universal", "c_like", "javascript"]}
MEMORY = 6 << 30  # a mutant may allocate without end
# Headers that more objects than this include are left out: compiling them takes longer than all tests.
MOST_OBJECTS = 16

# The tests of a folder, in the order in which they run: cheap ones and those that look closest come first. `unit:X` is
# the test binary telltale_X_test, `replay:X` the fuzz target over its corpus, `script:X` a file of tests/end_to_end,
# `tour` the output that README.md shows.
VIEWS = ["tour", "script:test_mono_files", "script:test_views", "script:test_report", "script:test_diff"]
RELATED = {
    "src/base": ["unit:base", "unit:bytes", "unit:import", "unit:analysis", "script:test_help", *VIEWS],
    "src/bytes": ["unit:bytes", "replay:input_file", "unit:formats_xray", "unit:formats_mono", "unit:formats_sampler",
                  "unit:program", "unit:import", "script:test_reliability", "script:test_exports"],
    "src/formats/xray": ["unit:formats_xray", "replay:xray_fdr", "replay:xray_basic", "replay:xray_yaml", "unit:import",
                         "unit:api", "script:test_record_filters", "script:test_views"],
    "src/formats/mono": ["unit:formats_mono", "replay:mono_recording", "unit:import", "script:test_mono_files",
                         "script:test_mono_records"],
    "src/formats/sampler": ["unit:formats_sampler", "replay:sampler_text", "replay:static_sections", "unit:import",
                            "unit:api", "script:test_sampler_tools", "script:test_sampler_answers"],
    "src/formats/stacktrack": ["unit:formats_stacktrack", "replay:stacktrack", "unit:import", "unit:api",
                               "script:test_stacktrack"],
    "src/program": ["unit:program", "replay:instrumentation_map", "unit:import", "tour", "script:test_sites",
                    "script:test_reliability_names", "script:test_sampler_tools"],
    "src/model": ["unit:model", "unit:import", "unit:analysis", "unit:output", "unit:api", "script:test_record_filters",
                  *VIEWS],
    "src/import": ["unit:import", "unit:analysis", "unit:api", "script:test_record_filters", *VIEWS,
                   "script:test_stacktrack", "script:test_sampler_answers", "script:test_sampler_tools"],
    "src/analysis": ["unit:analysis", "unit:import", "unit:api", *VIEWS, "script:test_mono_answers",
                     "script:test_mono_reports"],
    "src/output": ["unit:output", "unit:api", *VIEWS, "script:test_record_filters", "script:test_exports", "script:test_stacktrack",
                   "script:test_sampler_answers"],
    "src/api": ["unit:api", *VIEWS, "script:test_exports", "script:test_install"],
    "src/cli": ["tour", "script:test_help", "script:test_report", "script:test_diff", "script:test_record_filters",
                "script:test_mono_files", "script:test_views", "script:test_stacktrack", "script:test_sampler_tools",
                "script:test_sampler_answers", "script:test_live", "script:test_mono_answers",
                "script:test_mono_reports", "script:test_run", "script:test_sites", "unit:cli"],
    "web": ["unit:output", "script:test_flame_page"],
    "runtime/xray": ["script:test_xray_recorder", "script:test_gcc_recorder", "script:test_recorder_children",
                     "script:test_xray_recorder_rows"],
    "runtime/stacktrack": ["unit:stacktrack", "script:test_stacktrack_runtime", "script:test_stacktrack_values",
                           "script:test_recorder_children"],
    "runtime/sampler": ["unit:sampler_runtime", "script:test_sampler_compiler", "script:test_sampler_flags",
                        "script:test_sampler_endings", "script:test_sampler_trace", "script:test_sampler_rows"],
    "instrument": ["unit:driver", "script:test_sampler_flags", "script:test_sampler_examples",
                   "script:test_sampler_compiler", "script:test_sampler_accesses", "script:test_sampler_places",
                   "script:test_sampler_dataflow", "script:test_sampler_regions"],
}
RECORDERS = ["stacktrack", "stacktrack_shared", "xray_recorder", "xray_recorder_shared"]
# What scripts run besides the program itself.
SCRIPT_TARGETS = {"test_reliability": ["write_samples", "mutation_driver"], "test_reliability_names": ["write_samples"],
                  "test_views": ["make_trace"], "test_stacktrack": RECORDERS, "test_live": RECORDERS,
                  "test_run": RECORDERS, "test_install": ["all"]}


def folder_of(path):
    """The row of RELATED for a source file."""
    parts = pathlib.PurePath(path).parts
    for length in (3, 2, 1):
        if "/".join(parts[:length]) in RELATED:
            return "/".join(parts[:length])
    return None


class Mutant:
    def __init__(self, path, line, old, new, rule):
        self.path, self.line, self.old, self.new, self.rule = path, line, old, new, rule
        self.folder = folder_of(path)
        self.key = hashlib.sha256(repr((path, old, new)).encode()).hexdigest()[:10]

    def shown(self):
        return "%s:%d\n      - %s\n      + %s" % (self.path, self.line, self.old.strip(), self.new.strip())


def install_mutator():
    """Lets universalmutator be imported: from a folder of its own below build/mutate."""
    place = WORK / "python"
    if not (place / "universalmutator").is_dir():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--root-user-action=ignore", "--no-deps",
                        "--target", place, TOOL], check=True)
    sys.path.insert(0, str(place))


def is_code(line):
    text = line.strip()
    return bool(re.search(r"\w", text)) and not re.match(r"(//|/\*|\*|#|namespace\b|using\b|static_assert|template\b)", text)


def may_compile(old, new):
    """False for what cannot compile, seen without a compiler, which would cost seconds. clang-format puts blanks around
    operators that take two operands, and none around what the rules take for them in types and templates."""
    if new.count("\n") != 1:
        return False  # break or continue behind a line: mostly outside of loops
    if new.strip().startswith("/*"):  # a statement that is left out
        text = old.strip()
        return text.endswith(";") and not re.match(r"[\])}]", text) and all(
            text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
    at = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), len(new) - 1)
    operators = r"[-+*/%<>=!&|]"
    kind = r"\w" if re.match(r"\w", old[at]) and not re.match(operators, new[at]) else operators
    begin = end = at  # of the word or operator that is another one now
    while begin > 0 and re.match(kind, old[begin - 1]):
        begin -= 1
    while end < len(old) and re.match(kind, old[end]):
        end += 1
    word = old[begin:end]
    if re.match(r"[A-Za-z_]", word):  # not in uint64_t or append
        return word in ("if", "else", "while") or re.search(r"(^|_)(begin|end|min|max)(_|$)", word) is not None
    if re.match(r"[-+*/%<>=&|]", word) and word not in ("++", "--"):
        return old[begin - 1 : begin] == " " and old[end : end + 1] in (" ", "\n")
    return True


class Sample:
    """Mutants in a random order that the seed decides, one a line, the folders in turn."""

    def __init__(self, paths, seed):
        self.seed = seed
        self.mutants_of_file = {}
        self.lines = collections.defaultdict(list)  # folder -> (path, line number)
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "--", *paths],
                                capture_output=True, text=True, check=True).stdout.split()
        for path in sorted(set(listed)):
            if pathlib.Path(path).suffix not in RULES or path.endswith("_test.cc") or not folder_of(path):
                continue
            for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
                if is_code(line):
                    self.lines[folder_of(path)].append((path, number))
        for folder, lines in self.lines.items():
            random.Random("%s %s" % (seed, folder)).shuffle(lines)

    def of_line(self, path, number):
        if path not in self.mutants_of_file:
            from universalmutator import mutator
            source = (ROOT / path).read_text().splitlines(keepends=True)
            with contextlib.redirect_stdout(io.StringIO()):
                found = mutator.mutants_regexp(source, ruleFiles=RULES[pathlib.Path(path).suffix], ignorePatterns=[],
                                               ignoreStringOnly=True)
            by_line = collections.defaultdict(list)
            for line, new, rule, *_ in found:
                if may_compile(source[line - 1], new):
                    by_line[line].append(Mutant(path, line, source[line - 1], new, rule[0]))
            self.mutants_of_file[path] = by_line
        return self.mutants_of_file[path][number]

    def __iter__(self):
        waiting = {folder: iter(lines) for folder, lines in sorted(self.lines.items())}
        while waiting:
            for folder in list(waiting):
                for path, number in waiting[folder]:
                    mutants = self.of_line(path, number)
                    if mutants:
                        yield random.Random("%s %s %d" % (self.seed, path, number)).choice(mutants)
                        break
                else:
                    del waiting[folder]


class Tree:
    """A copy of the sources with a build of its own."""

    def __init__(self, number, cores):
        self.source = WORK / ("tree-%d" % number)
        self.build = self.source / "build" / "release"
        self.cores = cores
        self.objects = {}
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(self.source), CCACHE_NOHASHDIR="1",
                                TELLTALE=str(self.build / "bin" / "telltale"), TELLTALE_SOURCE_DIR=str(self.source),
                                TELLTALE_BINARY_DIR=str(self.build))

    def synchronise(self):
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
                                check=True).stdout.splitlines()
        wanted = {name for name in listed if (ROOT / name).is_file()}
        for name in wanted:
            source, copy = ROOT / name, self.source / name
            if not copy.is_file() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
                shutil.copymode(source, copy)
        for folder, folders, names in os.walk(self.source):
            if folder == str(self.source) and "build" in folders:
                folders.remove("build")
            for name in names:
                path = pathlib.Path(folder) / name
                if str(path.relative_to(self.source)) not in wanted and "node_modules" not in path.parts:
                    path.unlink()

    def configure(self):
        self.synchronise()
        subprocess.run(["cmake", "--preset", "release", "--log-level=WARNING", "-DTELLTALE_BENCH=ON",
                        "-DTELLTALE_CLANG_RELEASES=19"], cwd=self.source, env=self.environment, check=True,
                       stdout=subprocess.DEVNULL)

    def ninja(self, *words, seconds=1800):
        return self.run(["ninja", "-C", str(self.build), "-j", str(self.cores), *words], seconds)

    def run(self, words, seconds, cwd=None, limited=False):
        """(exit status, output); status -1 after that many seconds."""

        def limit():
            if limited:
                resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

        process = subprocess.Popen(words, cwd=cwd or self.source, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limit)
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output.decode(errors="replace")
        except subprocess.TimeoutExpired:
            return -1, "more than %d s" % seconds
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def find_objects(self):
        """Source file -> objects that are made from it."""
        objects = collections.defaultdict(set)
        owner = ""
        for line in self.ninja("-t", "deps")[1].splitlines():
            if line and not line.startswith(" "):
                owner = line.split(":")[0]
            elif line.strip() and not owner.startswith("fuzz/"):  # of the fuzz targets' own objects none decides anything
                path = pathlib.Path(os.path.normpath(self.build / line.strip()))
                if path.is_relative_to(self.source):
                    objects[str(path.relative_to(self.source))].add(owner)
        self.objects = {path: sorted(names) for path, names in objects.items()}

    def hashes(self, objects):
        return [hashlib.sha256((self.build / name).read_bytes()).digest() for name in objects]


class Tests:
    """The related tests, with how long each takes and whether it passes on the code as it is."""

    def __init__(self):
        self.path = WORK / "baseline.json"
        self.known = json.loads(self.path.read_text()) if self.path.is_file() else {}

    @staticmethod
    def targets(test):
        kind, _, name = test.partition(":")
        if kind == "unit":
            return [name + "_test" if name in ("stacktrack", "sampler_runtime") else "telltale_%s_test" % name]
        if kind == "replay":
            return [name + "_fuzz"]
        if kind == "tour":
            return ["telltale", *RECORDERS]
        if re.search(r"recorder|runtime|stacktrack_values|sampler_(?!tools|answers)|gcc", name):
            return ["all"]
        return ["telltale", *SCRIPT_TARGETS.get(name, [])]

    def run(self, test, tree, seconds):
        kind, _, name = test.partition(":")
        binary = str(tree.build / "bin" / self.targets(test)[0])
        if kind == "unit":
            return tree.run([binary, "--gtest_fail_fast", "--gtest_brief=1"], seconds, limited=True)
        if kind == "replay":
            return tree.run([binary, "fuzz/corpus/" + name], seconds, limited=True)
        if kind == "tour":
            return tree.run([sys.executable, "tools/check_tour.py", tree.environment["TELLTALE"]], seconds, limited=True)
        return tree.run([sys.executable, "-B", "-m", "unittest", "-f", name], seconds,
                        cwd=tree.source / "tests" / "end_to_end", limited=name != "test_flame_page")

    def exists(self, test, tree):
        kind, _, name = test.partition(":")
        if kind == "script":
            return (tree.source / "tests" / "end_to_end" / (name + ".py")).is_file()
        return kind == "tour" or tree.ninja("-t", "query", self.targets(test)[0])[0] == 0

    def prepare(self, folders, tree):
        """Measures what is not known yet; a test that fails without any mutant is not used."""
        needed = []
        for folder in folders:
            needed += [test for test in RELATED[folder] if test not in needed]
        for test in needed:
            if test in self.known:
                continue
            if not self.exists(test, tree):
                sys.exit("tools/mutate.py: RELATED names %s, which is not there" % test)
            built, output = tree.ninja(*self.targets(test), seconds=7200)
            if built != 0:
                sys.exit("the sources do not build:\n" + output[-3000:])
            begin = time.monotonic()
            status, output = self.run(test, tree, 900)
            self.known[test] = time.monotonic() - begin if status == 0 else None
            print("%s: %s" % (test, "%.1f s" % self.known[test] if status == 0 else "FAILS without a mutant; not used"),
                  flush=True)
            self.path.write_text(json.dumps(self.known, indent=1))

    def related(self, folder):
        return [test for test in RELATED[folder] if self.known.get(test) is not None]

    def seconds(self, test):
        return 30 + 6 * self.known[test]


def try_mutant(mutant, tree, tests):
    """(outcome, what decided it)."""
    path = tree.source / mutant.path
    original = path.read_text()
    lines = original.splitlines(keepends=True)
    if lines[mutant.line - 1] != mutant.old:
        return "gone", ""
    objects = tree.objects.get(mutant.path, [])
    is_page = mutant.path.endswith(".js")
    if not is_page and not objects:
        return "unbuilt", ""
    if len(objects) > MOST_OBJECTS:
        return "costly", "%d objects" % len(objects)
    if objects:
        tree.ninja(*objects)
    before = tree.hashes(objects)
    lines[mutant.line - 1] = mutant.new
    try:
        path.write_text("".join(lines))
        if is_page and tree.run(["node", "--check", str(path)], 30)[0] != 0:
            return "uncompilable", ""
        if objects and tree.ninja(*objects)[0] != 0:
            return "uncompilable", ""
        if objects and tree.hashes(objects) == before:
            return "equivalent", "the same object files"
        for test in tests.related(mutant.folder):
            built, output = tree.ninja(*tests.targets(test))
            if built != 0:
                return "uncompilable", output[-300:]
            status, output = tests.run(test, tree, tests.seconds(test))
            if status != 0:
                return "killed", test
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
        print("  %s  %s" % (entry["key"], mutant_of(entry).shown()))


def print_row(name, count):
    tried = count["killed"] + count["survived"]
    share = "%.0f %%" % (100 * count["killed"] / tried) if tried else "-"
    print("%-16s %8d %8d %8s %12d" % (name, tried, count["killed"], share, count["equivalent"]))


def mutant_of(entry):
    return Mutant(entry["path"], entry["line"], entry["old"], entry["new"], entry["rule"])


def moved(mutant):
    """The mutant where its line is now."""
    lines = (ROOT / mutant.path).read_text().splitlines(keepends=True) if (ROOT / mutant.path).is_file() else []
    places = [number for number, line in enumerate(lines, 1) if line == mutant.old]
    if places:
        mutant.line = min(places, key=lambda number: abs(number - mutant.line))
    return mutant


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
    parser.add_argument("--seconds", type=int, default=0, help="begin no mutant after this time")
    parser.add_argument("--report", action="store_true", help="print what is known")
    parser.add_argument("--survivors", action="store_true", help="try again what survived")
    parser.add_argument("--judge", nargs=2, metavar=("KEY", "REASON"), help="a survivor that changes nothing")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
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
    install_mutator()
    if options.survivors:
        mutants = [moved(mutant_of(entry)) for entry in results.values() if entry["outcome"] == "survived"]
        folders = {mutant.folder for mutant in mutants}
    else:
        sample = Sample(options.paths, options.seed)
        folders = set(sample.lines)
        mutants = (mutant for mutant in sample if mutant.key not in results)
    cores = max(1, (os.cpu_count() or 1) // options.jobs)
    trees = [Tree(number, cores) for number in range(1, options.jobs + 1)]
    for tree in trees:
        tree.configure()
    tests = Tests()
    tests.prepare(sorted(folders), trees[0])
    for tree in trees:
        needed = sorted({target for folder in folders for test in tests.related(folder) for target in tests.targets(test)})
        status, output = tree.ninja(*needed, seconds=7200)
        if status != 0:
            sys.exit("the sources do not build:\n" + output[-3000:])
        tree.find_objects()
    work_through(mutants, options.count, tests, trees, options.seconds)
    report(read_results())


if __name__ == "__main__":
    main()
