#!/usr/bin/env python3
"""How much larger the stack frames of functions that telltale-cc instruments are: the programs of sampler_overhead_bench,
with branches, returns and scalar-pairs together at -O2. clang's -fstack-usage says how large each frame is; 8 bytes of
return address are added. Each clone's frame is divided by that of the plain build's function of the same name; functions
that only one of the two builds has (inlined, cloned by clang) are left out and counted.

    sampler_stack_bench [PROGRAM ...]        SAMPLER_BENCH_RELEASE=22"""
import collections
import math
import os
import pathlib
import statistics
import sys
import tempfile

# Read when sampler_overhead is imported, which this link's folder does not say.
os.environ.setdefault("TELLTALE_BINARY_DIR", str(pathlib.Path(__file__).absolute().parent.parent))
import sampler_overhead  # noqa: E402
from sampler_overhead import BINARY_DIR, PROGRAMS, SCHEMES, debian_sources

RETURN_ADDRESS = 8
GOAL = 1.5
CLONES = (".fast", ".slow", ".asking")
KINDS = {"plain": "", "-fno-sample": SCHEMES + " -fno-sample", "sampled": SCHEMES, "-fthreads": SCHEMES + " -fthreads",
         "-fno-sample-regions": SCHEMES + " -fno-sample-regions"}


def frames(place):
    """Bytes of each function's frame by (object's name, function); zstd names its folders after the flags."""
    found = {}
    for usage in sorted(place.rglob("*.su")):
        for line in usage.read_text().splitlines():
            where, size, kind = line.split("\t")
            if "dynamic" not in kind:
                found[usage.stem, where.rsplit(":", 1)[1]] = int(size) + RETURN_ADDRESS
    return found


def ratios(plain, instrumented):
    """By clone: pairs of frames (instrumented, plain); how many functions of the instrumented build have no plain frame."""
    pairs, alone = collections.defaultdict(list), 0
    for (unit, function), size in instrumented.items():
        clone = next((clone for clone in CLONES if function.endswith(clone)), "")
        before = plain.get((unit, function.removesuffix(clone)))
        if before is None:
            alone += 1
        else:
            pairs[clone].append((size, before))
    return pairs, alone


def measure(name, folder, files, sums):
    plain = None
    for kind in KINDS:
        program, _ = sampler_overhead.build(name, kind, folder, files)
        found = frames(folder / f"{name}-{kind}")
        if not found:
            sys.exit(f"{name}, {kind}: no frame sizes beside {program}")
        if plain is None:
            plain = found
            continue
        pairs, alone = ratios(plain, found)
        for clone, sizes in sorted(pairs.items()):
            each = sorted(size / before for size, before in sizes)
            total = [sum(column) for column in zip(*sizes)]
            sums[kind, clone].append(total)
            over = sum(ratio > GOAL for ratio in each)
            print(f"{name:<8} {kind:<20} {clone or 'the only copy':<14} {len(each):>6} {total[0] / total[1]:>7.2f} "
                  f"{math.exp(statistics.mean(map(math.log, each))):>7.2f} {statistics.median(each):>7.2f} {each[-1]:>8.1f} {over:>8}",
                  flush=True)
        print(f"{name:<8} {kind:<20} {alone} frames have no plain counterpart", flush=True)


def main():
    sampler_overhead.KINDS = {kind: f"{flags} -fstack-usage" for kind, flags in KINDS.items()}
    print(f"clang {sampler_overhead.RELEASE} -O2; frames relative to the plain build's; goal: at most {GOAL}")
    print(f"{'program':<8} {'built':<20} {'clone':<14} {'frames':>6} {'sum':>7} {'mean':>7} {'median':>7} {'largest':>8} {'> goal':>8}")
    sums = collections.defaultdict(list)
    with tempfile.TemporaryDirectory(dir=BINARY_DIR) as name:
        folder = pathlib.Path(name)
        files = {"text": folder / "text", "script": folder / "script.lua", "manifest": folder / "build.ninja"}
        for program in sys.argv[1:] or list(PROGRAMS):
            try:
                measure(program, folder, files, sums)
            except debian_sources.NotThere as why:
                print(f"{program:<8} not measured: {why}")
    for (kind, clone), totals in sums.items():
        instrumented, plain = (sum(column) for column in zip(*totals))
        verdict = "kept" if instrumented <= GOAL * plain else "missed"
        print(f"{'all':<8} {kind:<20} {clone or 'the only copy':<14} {'':>6} {instrumented / plain:>7.2f}   {verdict}")


if __name__ == "__main__":
    main()
