#!/usr/bin/env python3
"""What observations cost and what they show: real programs from Debian's source packages and this repository, with
branches, returns and scalar-pairs together, for each way of sampling and each rate.

cost       user and system time of a long run divided by the plain build's, the least of several interleaved runs; `plain
           again` is a second series of the plain build, so it shows the noise. On a loaded machine only instructions,
           counted by valgrind in a short run, mean something.
evidence   the share of (run, reached site) pairs that a run's report shows: reached are the sites that the build that
           counts everything reports for the same input.
cause      the number of runs after which the known cause of a failure ranks first in `telltale isolate`: median and
           quartiles over 20 orders of the same runs.

    sampler_evidence_bench [--part cost|evidence|cause]... [--program NAME]... [--rate N]... [--plot FILE.svg] [--json FILE]"""
import argparse
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

# Read when sampler_overhead is imported, which this link's folder does not say.
os.environ.setdefault("TELLTALE_BINARY_DIR", str(pathlib.Path(__file__).absolute().parent.parent))
import sampler_overhead  # noqa: E402
from sampler_overhead import BINARY_DIR, LUA, NO_AUTOTOOLS, RELEASE, SCHEMES, SOURCE_DIR, debian_sources  # noqa: E402
from evidence_plot import plot  # noqa: E402
import known_causes  # noqa: E402

SPARSITIES = (100, 1000)
# How programs are built, and the rates that each build runs at; None: no rate is set.
KINDS = {"plain": "", "always": SCHEMES + " -fno-sample", "sampled": SCHEMES,
         "without-turns": SCHEMES + " -fno-sample-turns", "by-sites": SCHEMES + " -fno-sample-regions",
         "adaptive": SCHEMES + " -fsampler-adaptive", "adaptive-blocks": SCHEMES + " -fsampler-adaptive -fsampler-adaptive-blocks",
         # A peer, for counts of branches alone: clang's sampled instrumentation, one execution in 1,009, and ours.
         "clang-sampled": "-fprofile-generate -mllvm -sampled-instrumentation -mllvm -sampled-instr-period=1009 "
                          "-mllvm -sampled-instr-burst-duration=1",
         "branches": "-fsampler-scheme=branches", "branches-adaptive": "-fsampler-scheme=branches -fsampler-adaptive"}
CLANGS = ("plain", "clang-sampled")  # built without telltale-cc

AWK = r"""
{ kind[$2]++; split($3, part, "/"); sum[part[1]] += part[2]; if ($0 ~ /failed after [0-9]*7 ms/) odd++ }
$NF == "ms" && length($1) > 5 { gsub(/[0-9]+/, "#"); shape[$0]++ }
END { for (k in kind) total += kind[k]; for (s in sum) all += sum[s]; n = 0; for (s in shape) n++; print total, all, odd, n }
"""

PYTHON = """
import json, re
class Node:
    def __init__(self, value): self.value, self.less, self.more = value, None, None
def insert(node, value):
    while True:
        name = "less" if value < node.value else "more"
        following = getattr(node, name)
        if following is None: return setattr(node, name, Node(value))
        node = following
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
root, x = Node(1 << 30), 12345
for i in range(60000):
    x = (x * 1103515245 + 12345) & 0x7fffffff
    insert(root, x)
words = sorted(map(str, range(120000)), key=lambda word: word[::-1])
found = re.findall(r"(\\d+)5\\b", " ".join(words))
data = json.loads(json.dumps({word: [i] * 3 for i, word in enumerate(words)}))
print(fib(24), len(found), len(data), sum(map(len, data.values())))
"""

# As in sampler_overhead.
PROGRAMS = {
    **sampler_overhead.PROGRAMS,
    "zstd-threads": ("libzstd", "true", "make -s -C programs CC={cc} CFLAGS='{flags} -pthread' ZSTD_NO_ASM=1 HAVE_ZLIB=0 HAVE_LZMA=0 "
                     "HAVE_LZ4=0 HAVE_THREAD=1 zstd", "programs/zstd", "-T2 -3 -c {texts}"),
    "pbzip2": ("pbzip2", "cp -r {bzip2} bzip2", "for s in blocksort bzlib compress crctable decompress huffman randtable; do "
               "{cc} {flags} -pthread -c bzip2/$s.c || exit 1; done; for s in pbzip2 BZ2StreamScanner ErrorContext; do "
               "{cxx} {flags} -std=gnu++98 -pthread -Ibzip2 -D_FILE_OFFSET_BITS=64 -DPBZIP_NO_LOADAVG -c $s.cpp || exit 1; done; "
               "{cxx} -pthread *.o -o pbzip2", "pbzip2", "-q -p2 -b4 -k -c {text}"),
    "tinyxml2": ("tinyxml2", "cp {xml_reader} reader.cpp", "for s in reader tinyxml2; do {cxx} {flags} -c $s.cpp || exit 1; done; "
                 "{cxx} *.o -o reader", "reader", "{xml}"),
    "cjson": ("cjson", "cp {json_reader} reader.c", "for s in reader cJSON; do {cc} {flags} -c $s.c || exit 1; done; "
              "{cc} reader.o cJSON.o -lm -o reader", "reader", "{json}"),
    "expat": ("expat", "printf '' >expat/lib/expat_config.h", "cd expat && for s in lib/xmlparse lib/xmlrole lib/xmltok xmlwf/xmlwf "
              "xmlwf/xmlfile xmlwf/codepage xmlwf/unixfilemap; do {cc} {flags} -Ilib -DXML_NS=1 -DXML_DTD=1 -DXML_GE=1 "
              "-DXML_CONTEXT_BYTES=1024 -DXML_POOR_ENTROPY=1 -DHAVE_UNISTD_H -DBYTEORDER=1234 -c $s.c || exit 1; done; "
              "{cc} *.o -lm -o reader", "expat/reader", "-n -d {out} {xml} && cat {out}/{xml_name}"),
    "bc": ("bc", "./configure -q CC={plain} CFLAGS=-w", "make -s -C lib CC={cc} CFLAGS='{flags}' " + NO_AUTOTOOLS + " && make -s -C bc CC={cc} "
           "CFLAGS='{flags}' " + NO_AUTOTOOLS, "bc/bc", "-q {bc}"),
    # Nobody tuned for these two. They take minutes to build.
    # Python's build runs a first interpreter, which is a plain one here.
    "python": ("python3.11", "./configure -q CC={plain} && make -s python && find . -name '*.o' -delete",
               "make -s -o _bootstrap_python -o Programs/_freeze_module -o Python/deepfreeze/deepfreeze.c CC='{cc} {flags}' "
               "OPT='-DNDEBUG -fwrapv' python", "python", "-S {py}"),
    "cppcheck": ("cppcheck", "true", "make -s CXX={cxx} CXXFLAGS='{flags} -std=c++11 -DNDEBUG' cppcheck", "cppcheck", "-q --language=c++ {cpp}"),
    "mawk": ("mawk", "./configure -q CC={plain} CFLAGS=-w", "make -s CC={cc} CFLAGS='{flags}' mawk", "mawk", "-f {awk} {text} {text}"),
}


def xml(size, times):
    rng, lines, used = random.Random(1), [], 0
    while used < size:
        kind = rng.choice(("book", "map", "disc"))
        line = f"<{kind} id='{rng.randrange(10**6)}' shelf=\"{rng.randrange(99)}\">" + "".join(
            f"<{part}>{rng.choice(('Tom &amp; Co', 'a &lt; b', 'plain text', '&#228;rger'))} {rng.randrange(999)}</{part}>"
            for part in rng.sample(("title", "author", "note", "year"), 3)) + f"</{kind}>"
        lines.append(line if rng.random() > 0.01 else line + "<!-- a remark --><![CDATA[ <raw> ]]>")
        used += len(line)
    return "\n".join(["<?xml version='1.0'?>", "<!-- a catalogue --><all>", *lines * times, "</all>", ""])


def json_text(size, times):
    rng = random.Random(1)

    def value(depth):
        kind = rng.random()
        if depth > 40 or kind < 0.55:
            return rng.choice((1, -2.5, 1e30, True, False, None, "text", "a \"quoted\" \u00e4 \n", rng.randrange(10**9)))
        if kind < 0.78:
            return [value(depth + 1) for _ in range(rng.randrange(1, 4))]
        return {f"key{rng.randrange(99)}": value(depth + 1) for _ in range(rng.randrange(1, 4))}

    parts, used = ["[" * 500 + "{}" + "]" * 500], 0
    while used < size:
        parts.append(json.dumps(value(0)))
        used += len(parts[-1])
    return "[" + ",".join(parts * times) + "]"


def bc_text(rounds):
    return (f"scale = 30\ndefine f(n) {{ if (n < 2) return (n); return (f(n - 1) + f(n - 2)); }}\n"
            f"define p(n) {{ auto i, a; a = 0; for (i = 1; i <= n; i++) {{ if (i % 3 == 0 && i % 5 != 0) a += 1 / i; x[i] = a * i; }}\n"
            f" return (a); }}\nf({10 if rounds < 1000 else 19})\np({rounds})\n2^{rounds} / 3^{rounds // 2}\nsqrt(2)\nx[7]\nquit\n")


def write_inputs(folder, long):
    """Inputs for a run of one to three seconds, or of some ten milliseconds."""
    folder.mkdir()
    text = sampler_overhead.text()
    numbers, depth = (lambda count: count * 5, 33) if long else (lambda count: count // 50, 16)
    lua = re.sub(r"300000|60000|2000000", lambda m: str(numbers(int(m[0]))), LUA.replace("fib(30)", f"fib({depth})"))
    manifest = sampler_overhead.manifest(1000) if long else "\n".join(
        ["rule cc", "  command = cc -c $in -o $out", *(f"build part{i}.o: cc /dev/null" for i in range(500)),
         "build all: phony " + " ".join(f"part{i}.o" for i in range(500)), ""])
    python = re.sub(r"60000|120000", lambda m: str(int(m[0]) // (1 if long else 500)), PYTHON.replace("fib(24)", f"fib({26 if long else 12})"))
    names = {"text": text if long else text[:400_000], "script": lua, "manifest": manifest, "awk": AWK, "py": python,
             "cpp": (SOURCE_DIR / "bench/programs/checked.cc").read_text() * (250 if long else 1),
             "xml": xml(12_000_000, 9) if long else xml(300_000, 1), "json": json_text(6_000_000, 5) if long else json_text(200_000, 1),
             "bc": bc_text(150_000 if long else 600)}
    files = {}
    for name, content in names.items():
        files[name] = folder / name
        files[name].write_text(content)
    (folder / "out").mkdir()
    files["text"], files["texts"] = (" ".join([str(files["text"])] * (times if long else 1)) for times in (4, 24))
    programs = SOURCE_DIR / "bench/programs"
    return {**files, "out": folder / "out", "xml_name": "xml", "xml_reader": programs / "xml_reader.cc", "json_reader": programs / "json_reader.c"}


class Bench:
    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.files = {True: write_inputs(folder / "long", True), False: write_inputs(folder / "short", False)}
        self.kinds = {kind: flags for kind, flags in KINDS.items() if not options.kind or kind in (*options.kind, "plain", "always")}

    def modes(self):
        """(name, kind, environment) of everything that is compared with plain."""
        for kind in self.kinds:
            if kind in ("plain", "always"):
                continue
            yield f"{kind}, not asked", kind, {}
            if kind in CLANGS:
                continue
            for sparsity in self.options.sparsity or SPARSITIES:
                yield f"{kind}, 1/{sparsity}", kind, {"SAMPLER_SPARSITY": str(sparsity)}

    def build(self, name):
        files = {**self.files[True], "bzip2": "" if name != "pbzip2" else debian_sources.unpacked("bzip2")}
        return {kind: sampler_overhead.build(name, kind, self.folder, files, PROGRAMS, self.kinds, CLANGS) for kind in self.kinds}

    def run(self, name, program, environment, long):
        report = self.folder / "report"
        report.unlink(missing_ok=True)
        command = f"{program} {PROGRAMS[name][4].format(**self.files[long])}"
        took, output = sampler_overhead.processor_time(command, self.folder, {"SAMPLER_FILE": str(report), **environment})
        return took, output, report

    def cost(self, name, built):
        """The ratios to plain by mode, and the noise."""
        series = {"plain": (built["plain"][0], {}), "plain again": (built["plain"][0], {}), "always": (built["always"][0], {})}
        series |= {mode: (built[kind][0], environment) for mode, kind, environment in self.modes()}
        times = {mode: [] for mode in series}
        expected = None
        for number in range(self.options.rounds):
            for mode, (program, environment) in series.items():
                took, output, _ = self.run(name, sampler_overhead.fresh_copy(program), {**environment, "SAMPLER_SEED": str(number + 1)}, True)
                expected = expected or output
                if output != expected:
                    sys.exit(f"{name}: {mode} prints something else than plain")
                times[mode].append(took)
        best = {mode: min(found) for mode, found in times.items()}
        sizes = {kind: sampler_overhead.code_size(built[kind][0]) for kind in self.kinds}
        return {"seconds": best["plain"], "time": {mode: found / best["plain"] for mode, found in best.items() if mode != "plain"},
                "text": {kind: size / sizes["plain"] for kind, size in sizes.items() if kind != "plain"},
                "compile": {kind: built[kind][1] / built["plain"][1] for kind in self.kinds if kind != "plain"}}

    def instructions(self, name, program, environment):
        """Of a short run and its children, as valgrind counts them."""
        out = self.folder / "cachegrind.out"
        command = (f"valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file={out} {program} "
                   f"{PROGRAMS[name][4].format(**self.files[False])}")
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, capture_output=True, text=True, errors="replace",
                              env={**os.environ, "SAMPLER_FILE": str(self.folder / "report"), **environment})
        found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
        if found is None:
            sys.exit(f"{name}: {done.stderr[-1000:]}")
        return int(found[1].replace(",", ""))

    def instruction_ratios(self, name, built):
        if shutil.which("valgrind") is None:
            return {}
        plain = self.instructions(name, built["plain"][0], {})
        return {mode: statistics.mean(self.instructions(name, built[kind][0], {**environment, "SAMPLER_SEED": str(seed)})
                                      for seed in (range(1, 4) if environment else (1,))) / plain
                for mode, kind, environment in (*self.modes(), ("always", "always", {}))}

    def evidence(self, name, built):
        """By mode: the share of (run, reached site) pairs that are seen, of all sites and of those that are reached less than
        ten times; and of the counters that are not 0."""
        _, _, report = self.run(name, built["always"][0], {}, False)
        counts = counters(report)
        reached = {site for site, _ in counts}
        totals = {}
        for (site, _), count in counts.items():
            totals[site] = totals.get(site, 0) + count
        rare = {site for site, total in totals.items() if total < 10}
        shares = {}
        for mode, kind, environment in self.modes():
            if not environment or SCHEMES not in KINDS[kind]:
                continue
            sites, seldom, outcomes = 0, 0, 0
            for seed in range(1, self.options.seeds + 1):
                _, _, report = self.run(name, built[kind][0], {**environment, "SAMPLER_SEED": str(seed)}, False)
                seen = counters(report)
                shown = {site for site, _ in seen}
                sites += len(shown & reached)
                seldom += len(shown & rare)
                outcomes += len(seen.keys() & counts.keys())
            runs = self.options.seeds
            shares[mode] = {"sites": sites / len(reached) / runs, "rare": seldom / max(1, len(rare)) / runs,
                            "outcomes": outcomes / len(counts) / runs}
        return {"reached": len(reached), "rare": len(rare), "outcomes": len(counts), "share": shares}


def counters(report):
    """{((unit, scheme, row), counter): its count}, of all counters that are not 0. A unit is its place in the report, which
    is the same in all builds; its signature depends on the options."""
    found, units, section, row = {}, {}, None, 0
    for line in report.read_text(errors="replace").splitlines():
        if line.startswith("<"):
            tag = re.match(r'<samples unit="([0-9a-f]+)" scheme="([a-z-]+)"', line)
            section, row = (units.setdefault(tag[1], len(units)), tag[2]) if tag else None, 0
            continue
        if section is None:
            continue
        if line.strip("0\t"):
            for index, text in enumerate(line.split("\t")):
                if text != "0":
                    key = (*section, row), index
                    found[key] = found.get(key, 0) + int(text)
        row += 1
    return found


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def print_table(title, rows, mean, form):
    """`rows`: {program: {mode: number}}."""
    columns = list(dict.fromkeys(mode for row in rows.values() for mode in row))
    print(f"\n{title}\n{'program':<14}" + "".join(f"{column:>22}" for column in columns))
    for name, row in rows.items():
        print(f"{name:<14}" + "".join(f"{form.format(row[c]) if c in row else '':>22}" for c in columns))
    print(f"{'mean':<14}" + "".join(f"{form.format(mean([row[c] for row in rows.values() if c in row])):>22}" for c in columns), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=("cost", "instructions", "evidence", "cause"), help="default: all")
    parser.add_argument("--program", action="append", choices=(*PROGRAMS, *known_causes.CAUSES), help="default: all")
    parser.add_argument("--kind", action="append", choices=[kind for kind in KINDS if kind not in ("plain", "always")], help="default: all")
    parser.add_argument("--sparsity", "--rate", action="append", type=int, help=f"one in how many is sampled; default: {SPARSITIES}")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved runs for times")
    parser.add_argument("--seeds", type=int, default=20, help="runs for evidence")
    parser.add_argument("--runs", type=int, default=2000, help="runs for causes")
    parser.add_argument("--repetitions", type=int, default=20, help="orders of these runs")
    parser.add_argument("--plot", type=pathlib.Path, help="cost against evidence")
    parser.add_argument("--json", type=pathlib.Path, help="all figures; figures of other programs that it has are kept")
    options = parser.parse_args()
    parts = options.part or ["cost", "instructions", "evidence", "cause"]
    found = {part: {} for part in ("cost", "instructions", "evidence", "cause")}
    if options.json and options.json.exists():
        found |= json.loads(options.json.read_text())
    with tempfile.TemporaryDirectory(dir=BINARY_DIR) as name:
        bench = Bench(pathlib.Path(name), options)
        for program in [one for one in options.program or PROGRAMS if one in PROGRAMS]:
            if parts == ["cause"]:
                break
            try:
                built = bench.build(program)
            except debian_sources.NotThere as why:
                print(f"{program:<14} not measured: {why}")
                continue
            measures = {"cost": bench.cost, "instructions": bench.instruction_ratios, "evidence": bench.evidence}
            for part in (part for part in measures if part in parts):
                found[part][program] = measures[part](program, built)
            print(f"{program}: built and measured", flush=True)
            for kind in bench.kinds:
                shutil.rmtree(bench.folder / f"{program}-{kind}", ignore_errors=True)
            if options.json:
                options.json.write_text(json.dumps(found, indent=1))
        if "cause" in parts:
            modes = [("always", KINDS["always"], None)]
            modes += [(f"{kind}, 1/{sparsity}", flags, sparsity) for kind, flags in bench.kinds.items() if kind != "always" and SCHEMES in flags
                      for sparsity in options.sparsity or SPARSITIES]
            for program in [one for one in options.program or known_causes.CAUSES if one in known_causes.CAUSES]:
                found["cause"][program] = known_causes.measure(program, modes, bench.folder, options)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    print(f"\nclang {RELEASE} -O2, branches, returns, scalar-pairs; load of the machine now {os.getloadavg()[1]:.1f}")
    if found["cost"]:
        print_table("time of a long run, the plain build's is 1", {name: one["time"] for name, one in found["cost"].items()}, geometric_mean, "{:.3f}")
        print_table("text", {name: one["text"] for name, one in found["cost"].items()}, geometric_mean, "{:.2f}")
        print_table("compile time", {name: one["compile"] for name, one in found["cost"].items()}, geometric_mean, "{:.2f}")
    if found["instructions"]:
        print_table("instructions of a short run, the plain build's are 1", found["instructions"], geometric_mean, "{:.3f}")
    for key, title in (("sites", "share of (run, reached site) pairs seen"), ("rare", "the same, of sites reached less than ten times"),
                       ("outcomes", "share of (run, counter that is not 0) pairs seen")):
        if found["evidence"]:
            print_table(title, {name: {mode: share[key] for mode, share in one["share"].items()} for name, one in found["evidence"].items()},
                        statistics.mean, "{:.1%}")
    if options.plot:
        plot(found, options.plot)


if __name__ == "__main__":
    main()
