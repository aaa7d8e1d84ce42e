#!/usr/bin/env python3
"""What path tracing and coverage cost: real programs from Debian's source packages with --trace, beside the same compiler
without it. For path tracing alone (PT), and with coverage of calls at level 2 (PT+CC): run time (user and system; the least
of several runs, taken in turns), machine code, compile time, and the size of the sections; what the programs print is compared
first. "compile -g" compares --trace -g with clang -g. CSI's authors report 0 to 5 % for tuned schemas, and Ball
and Larus 31 % for numbering without ring on SPEC95. lz4, mawk and tinyxml2 were added after the code was tuned.

    path_overhead_bench [PROGRAM ...]     PATH_BENCH_RUNS=N (default 7), PATH_BENCH_LEVEL=-O2, SAMPLER_BENCH_RELEASE=22,
                                          PATH_BENCH_CALLGRIND=1: instructions that callgrind counted instead of time, one run"""
import hashlib
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("TELLTALE_BINARY_DIR", str(pathlib.Path(__file__).absolute().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sampler_overhead as programs  # noqa: E402

RUNS = int(os.environ.get("PATH_BENCH_RUNS", "7"))
LEVEL = os.environ.get("PATH_BENCH_LEVEL", "-O2")
CALLGRIND = os.environ.get("PATH_BENCH_CALLGRIND") == "1"
SOURCE_DIR = pathlib.Path(__file__).resolve().parent.parent
TRACE = {"paths": "--trace=pt.schema -silent", "both": "--trace=cc_pt.schema -csi-opt=2 -silent"}
programs.KINDS = {"plain": LEVEL, **{kind: f"{LEVEL} {words}" for kind, words in TRACE.items()},
                  "debug": f"{LEVEL} -g", "paths-debug": f"{LEVEL} -g {TRACE['paths']}"}
COMPILED_ONLY = ("debug", "paths-debug")
BUDGETS = {"PT": "at most 1.03, worst 1.10", "PT+CC": "at most 1.05", "compile": "at most 1.30"}
PUBLISHED = {"PT": "Ball and Larus, SPEC95: 1.31", "PT+CC": "CSI, tuned schemas: 1.00 to 1.05"}

AWK = """
{ count[$2]++; split($3, part, "/"); total[part[1]] += $(NF - 1); if ($0 ~ /failed after [0-9]*7 ms/) bad++ }
END { n = 0; for (name in count) n += count[name] * length(name); print n, bad, total["open"], total["retry"] }
"""
# As in sampler_overhead.py.
programs.PROGRAMS.update({
    "lz4": ("lz4", "true", "make -s -C programs CC={cc} CFLAGS='{flags}' HAVE_THREAD=0 lz4", "programs/lz4", "-9 -c {text}"),
    "mawk": ("mawk", "CC={plain} ./configure -q && make -s CC={plain} CFLAGS=-w && rm -f *.o mawk",
             "make -s CC={cc} CFLAGS='{flags}'", "mawk", "-f {awk} {text}"),
    "tinyxml2": ("tinyxml2", "true", "{cxx} {flags} -I. tinyxml2.cpp {reprint} -o reprint", "reprint", "{xml}"),
})


def xml():
    return "<log>" + "".join(f'<entry id="{i * 7919 % 100003}" level="{i % 5}"><text>message &lt;{i}&gt; of &amp; part</text>'
                             f'<at file="f{i % 97}.c" line="{i % 1000}"/></entry>\n' for i in range(12_000)) + "</log>"


def section_sizes(program):
    lines = subprocess.run(["size", "-A", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[0]: int(line.split()[1]) for line in lines if len(line.split()) == 3 and line.startswith(".")}


def instructions(command, folder):
    """Those of the program itself; valgrind cannot read debug information of newer compilers."""
    program, arguments = command.split(" ", 1)
    subprocess.run(["strip", "-g", program, "-o", f"{program}.stripped"], check=True)
    done = subprocess.run(["bash", "-c", f"valgrind --tool=callgrind --callgrind-out-file=/dev/null {program}.stripped {arguments}"],
                          cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr.decode(errors="replace"))[1]) / 1e6, done.stdout


def costs(name, built, folder, arguments):
    """The least cost of each kind."""
    found = {kind: [] for kind in built if kind not in COMPILED_ONLY}
    answers = set()
    for _ in range(1 if CALLGRIND else RUNS):
        for kind in found:
            program = built[kind][0] if CALLGRIND else programs.fresh_copy(built[kind][0])
            command = f"{program} {arguments}"
            cost, output = instructions(command, folder) if CALLGRIND else programs.processor_time(f"exec {command}", folder, {})
            found[kind].append(cost)
            answers.add(hashlib.sha256(output).hexdigest())
            if not output:
                sys.exit(f"{name}: prints nothing")
    if len(answers) != 1:
        sys.exit(f"{name}: prints something else with path tracing")
    return {kind: min(each) for kind, each in found.items()}


def measure(name, folder, files):
    built = {kind: programs.build(name, kind, folder, files) for kind in programs.KINDS}
    cost = costs(name, built, folder, programs.PROGRAMS[name][4].format(**files))
    sizes = {kind: section_sizes(program) for kind, (program, _) in built.items()}
    code = {kind: sum(size for section, size in each.items() if section.startswith(".text")) for kind, each in sizes.items()}
    return {"plain": cost["plain"], "PT": cost["paths"] / cost["plain"], "PT+CC": cost["both"] / cost["plain"],
            "code": code["paths"] / code["plain"], "code+CC": code["both"] / code["plain"],
            "compile": built["paths"][1] / built["plain"][1], "compile -g": built["paths-debug"][1] / built["debug"][1],
            ".debug_PT": sizes["paths"].get(".debug_PT", 0), "records": sizes["paths"][".debug_telltale_paths"]}


def inputs(folder):
    contents = {"text": programs.text(), "script": programs.LUA, "manifest": programs.manifest(), "awk": AWK, "xml": xml()}
    if CALLGRIND:
        contents["text"] = contents["text"][:600_000]
        for long, short in (("300000", "15000"), ("60000", "3000"), ("2000000", "100000"), ("fib(30)", "fib(23)")):
            contents["script"] = contents["script"].replace(long, short)
    for key, content in contents.items():
        (folder / key).write_text(content)
    return {**{key: str(folder / key) for key in contents}, "reprint": str(SOURCE_DIR / "bench/programs/reprint.cc")}


def main():
    wanted = sys.argv[1:] or list(programs.PROGRAMS)
    unit = "M" if CALLGRIND else "s"
    print(f"clang {programs.RELEASE} {LEVEL}; " + ("instructions" if CALLGRIND else f"the least of {RUNS} runs each"))
    ratios = ("PT", "PT+CC", "code", "code+CC", "compile", "compile -g")
    print(f"{'program':<9} {'plain':>9}" + "".join(f"{name:>11}" for name in ratios) + f"{'.debug_PT':>12}{'records':>12}")
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        files = inputs(folder)
        for name in wanted:
            row = measure(name, folder, files)
            rows.append(row)
            print(f"{name:<9} {row['plain']:>8.2f}{unit}" + "".join(f"{row[ratio]:>11.3f}" for ratio in ratios) +
                  f"{row['.debug_PT']:>12,}{row['records']:>12,}", flush=True)
    for ratio in ratios:
        mean = math.exp(sum(math.log(row[ratio]) for row in rows) / len(rows))
        notes = [f"{kind}: {figures[ratio]}" for kind, figures in (("budget", BUDGETS), ("published", PUBLISHED)) if ratio in figures]
        print("; ".join([f"{ratio}: geometric mean {mean:.3f}, worst {max(row[ratio] for row in rows):.3f}", *notes]))


if __name__ == "__main__":
    main()
