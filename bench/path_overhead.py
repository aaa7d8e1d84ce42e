#!/usr/bin/env python3
"""What path tracing and coverage cost: real programs from Debian's source packages with --trace, beside the same compiler
without it. Run time (user and system; the least of several runs, taken in turns), machine code, compile time, and the size of
the sections; what the programs print is compared first. CSI's authors report 0 to 5 % for tuned schemas, and Ball and Larus
31 % for numbering without ring on SPEC95.

    path_overhead_bench [PROGRAM ...]     PATH_BENCH_RUNS=N (default 7), PATH_BENCH_LEVEL=-O2, PATH_BENCH_SCHEMA=pt.schema,
                                          SAMPLER_BENCH_RELEASE=22"""
import hashlib
import math
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sampler_overhead as programs  # noqa: E402

RUNS = int(os.environ.get("PATH_BENCH_RUNS", "7"))
LEVEL = os.environ.get("PATH_BENCH_LEVEL", "-O2")
SCHEMA = os.environ.get("PATH_BENCH_SCHEMA", "pt.schema")
programs.KINDS = {"plain": LEVEL, "paths": f"{LEVEL} --trace={SCHEMA} -silent"}


def section_sizes(program):
    lines = subprocess.run(["size", "-A", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[0]: int(line.split()[1]) for line in lines if len(line.split()) == 3 and line.startswith(".")}


def measure(name, folder, files):
    built = {kind: programs.build(name, kind, folder, files) for kind in programs.KINDS}
    arguments = programs.PROGRAMS[name][4].format(**files)
    times = {kind: [] for kind in built}
    answers = set()
    for _ in range(RUNS):
        for kind, (program, _) in built.items():
            took, output = programs.processor_time(f"exec {program} {arguments}", folder, {})
            times[kind].append(took)
            answers.add(hashlib.sha256(output).hexdigest())
    if len(answers) != 1:
        sys.exit(f"{name}: prints something else with path tracing")
    sizes = {kind: section_sizes(program) for kind, (program, _) in built.items()}
    code = [sum(size for section, size in sizes[kind].items() if section.startswith(".text")) for kind in ("plain", "paths")]
    return (min(times["plain"]), min(times["paths"]) / min(times["plain"]), code[1] / code[0],
            built["paths"][1] / built["plain"][1], sizes["paths"].get(".debug_PT", 0), sizes["paths"][".debug_telltale_paths"])


def main():
    wanted = sys.argv[1:] or list(programs.PROGRAMS)
    print(f"clang {programs.RELEASE} {LEVEL}, {SCHEMA}; the least of {RUNS} runs each")
    print(f"{'program':<8} {'plain':>8} {'time':>8} {'code':>8} {'compile':>8} {'.debug_PT':>12} {'.debug_telltale_paths':>22}")
    ratios = []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        files = {}
        for key, content in (("text", programs.text()), ("script", programs.LUA), ("manifest", programs.manifest())):
            (folder / key).write_text(content)
            files[key] = str(folder / key)
        for name in wanted:
            plain, time, code, compile_time, text, records = measure(name, folder, files)
            ratios.append(time)
            print(f"{name:<8} {plain:>7.2f}s {time:>8.3f} {code:>8.2f} {compile_time:>8.2f} {text:>12,} {records:>22,}", flush=True)
    mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
    print(f"geometric mean {mean:.3f}, worst {max(ratios):.3f}")


if __name__ == "__main__":
    main()
