#!/usr/bin/env python3
"""What telltale-cc costs: real programs from Debian's source packages, with branches, returns and scalar-pairs together,
beside the same compiler without it. Run time (user and system) when everything is counted and when one region in 100,
1,000 or 10,000 is observed, machine code, and compile time; what the programs print is compared first. What is observed,
and costs, is drawn: times are means over several seeds, for each the least of as many runs, spread over all the time.

    sampler_overhead_bench [PROGRAM ...]     SAMPLER_BENCH_SEEDS=N (default 8), SAMPLER_BENCH_RUNS=N (with each, default 5),
                                             SAMPLER_BENCH_RELEASE=22"""
import hashlib
import math
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

BINARY_DIR = pathlib.Path(os.environ.get("TELLTALE_BINARY_DIR", pathlib.Path(__file__).absolute().parent.parent))
SOURCE_DIR = pathlib.Path(__file__).resolve().parent.parent
os.environ["TELLTALE_BINARY_DIR"] = str(BINARY_DIR)
os.environ["TELLTALE_SOURCE_DIR"] = str(SOURCE_DIR)
sys.path.insert(0, str(SOURCE_DIR / "tests" / "end_to_end"))
import debian_sources  # noqa: E402

SEEDS = range(1, int(os.environ.get("SAMPLER_BENCH_SEEDS", "8")) + 1)
RUNS = int(os.environ.get("SAMPLER_BENCH_RUNS", "5"))
RELEASE = os.environ.get("SAMPLER_BENCH_RELEASE", "22" if shutil.which("clang-22") else "19")
SCHEMES = " ".join(f"-fsampler-scheme={name}" for name in ("branches", "returns", "scalar-pairs"))
SPARSITIES = (100, 1000, 10000)
KINDS = {"plain": "", "always": SCHEMES + " -fno-sample", "sampled": SCHEMES}
NO_AUTOTOOLS = "ACLOCAL=: AUTOCONF=: AUTOMAKE=: AUTOHEADER=: MAKEINFO=: HELP2MAN=:"

LUA = """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local list, words, hits, sum = {}, {}, 0, 0
for i = 1, 300000 do list[i] = (i * 7919) % 100003 end
table.sort(list)
for i = 1, 60000 do words[#words + 1] = string.format("%d-%s", i, ("x"):rep(i % 7)) end
for word in table.concat(words, " "):gmatch("%S+") do if word:find("3%-x+$") then hits = hits + 1 end end
local double = setmetatable({}, {__index = function(_, key) return key * 2 end})
for i = 1, 2000000 do sum = sum + double[i] % 3 end
print(fib(30), list[1], list[#list], hits, sum)
"""

# Packages; how to configure; how to build, which is what is timed; the program; what to run. {text} is a text of 12 MB.
PROGRAMS = {
    "bzip2": ("bzip2", "true", "for s in blocksort bzip2 bzlib compress crctable decompress huffman randtable; do "
              "{cc} {flags} -D_FILE_OFFSET_BITS=64 -c $s.c || exit 1; done; {cc} *.o -o bzip2", "bzip2", "-k -c {text}"),
    "gzip": ("gzip", "CC={plain} ./configure -q && make -s CC={plain} CFLAGS=-w " + NO_AUTOTOOLS + " && rm -f *.o gzip",
             "make -s CC={cc} CFLAGS='{flags}' " + NO_AUTOTOOLS + " gzip", "gzip", "-c {text}"),
    "lua": ("lua5.4", "sed -i '/deb-multiarch.h/d' src/luaconf.h",
            "cd src && for s in $(ls l*.c | grep -v luac.c); do {cc} {flags} -std=gnu99 -DLUA_COMPAT_5_3 -DLUA_USE_POSIX "
            "-DDEB_HOST_MULTIARCH='\"\"' -c $s || exit 1; done; {cc} l*.o -Wl,-E -lm -o lua", "src/lua", "{script}"),
    "zstd": ("libzstd", "true", "make -s -C programs CC={cc} CFLAGS='{flags}' ZSTD_NO_ASM=1 HAVE_ZLIB=0 HAVE_LZMA=0 "
             "HAVE_LZ4=0 HAVE_THREAD=0 zstd", "programs/zstd", "-9 -c {text}"),
    "ninja": ("ninja-build", "true", "cd src && "
              "for s in $(ls *.cc | grep -v -e test -e win32 -e browse -e minidump -e perf -e bench -e '\\.in\\.'); "
              "do {cxx} {flags} -std=c++14 -c $s || exit 1; done; {cxx} *.o -o ninja", "src/ninja",
              "-n -f {manifest} all"),
}


def text():
    """Twelve million bytes that look like a log of a program: repeated words, numbers that differ."""
    state, lines, size = 1, [], 0
    names = ["open", "close", "read", "write", "connect", "accept", "retry", "timeout", "cache", "buffer"]
    while size < 12_000_000:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        lines.append(f"{state % 10**9:09d} {names[state >> 40 & 7]} {names[state >> 20 & 7]}/{state >> 50}: "
                     f"{'ok' if state >> 60 else 'failed'} after {state >> 33 & 1023} ms\n")
        size += len(lines[-1])
    return "".join(lines)


def manifest(libraries=200):
    """Simulates a build of libraries of 200 files each."""
    lines = ["rule cc", "  command = cc -c $in -o $out", "rule ar", "  command = ar crs $out $in"]
    for library in range(libraries):
        parts = [f"lib{library}/part{i}.o" for i in range(200)]
        lines += [f"build {part}: cc /dev/null" for part in parts]
        lines.append(f"build lib{library}.a: ar {' '.join(parts)}")
    lines.append("build all: phony " + " ".join(f"lib{i}.a" for i in range(libraries)))
    return "\n".join(lines) + "\n"


def processor_time(command, folder, environment):
    """Times the command with its children; returns its output, too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["bash", "-c", command], cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1800)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.returncode}\n{done.stderr.decode(errors='replace')[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def fresh_copy(program):
    """A copy for the next run, in the same folder. The same code can take 10 % more or less time, depending on the memory that its
    file is cached in; without copies, that would be a property of the build for as long as the file stays there."""
    copy = program.with_name("fresh-" + program.name)
    copy.unlink(missing_ok=True)
    return shutil.copy2(program, copy)


def code_size(program):
    sections = subprocess.run(["size", "-A", program], capture_output=True, text=True, check=True).stdout
    return sum(int(line.split()[1]) for line in sections.splitlines() if line.startswith(".text"))


def build(name, kind, folder, files, programs=None, kinds=None, clangs=("plain",)):
    """The program and how long its compilation took. `clangs` are the kinds that clang builds, not telltale-cc."""
    programs, kinds = programs or PROGRAMS, kinds or KINDS
    package, configure, make, program, _ = programs[name]
    place = folder / f"{name}-{kind}"
    shutil.copytree(debian_sources.unpacked(package), place, symlinks=True)
    plain = {"cc": f"clang-{RELEASE}", "cxx": f"clang++-{RELEASE}"}
    ours = {"cc": BINARY_DIR / "bin/telltale-cc", "cxx": BINARY_DIR / "bin/telltale-c++"}
    words = {**(plain if kind in clangs else ours), "plain": plain["cc"], "flags": f"-O2 -w {kinds[kind]}", **files}
    environment = {"TELLTALE_CLANG_RELEASE": RELEASE}
    processor_time(configure.format(**words), place, environment)
    if "-fprofile-generate" in kinds[kind]:
        environment["CCC_OVERRIDE_OPTIONS"] = "# +-fprofile-generate"  # to link clang's runtime: links are not given the flags
    took, _ = processor_time(make.format(**words), place, environment)
    return place / program, took


def measure(name, folder, files):
    built = {kind: build(name, kind, folder, files) for kind in KINDS}
    arguments = PROGRAMS[name][4].format(**files)
    report = {"SAMPLER_FILE": str(folder / "report")}
    runs = {"plain": (built["plain"][0], {}), "always": (built["always"][0], report), "none": (built["sampled"][0], {})}
    for sparsity in SPARSITIES:
        runs[sparsity] = (built["sampled"][0], {**report, "SAMPLER_SPARSITY": str(sparsity)})
    times = {run: {seed: [] for seed in SEEDS} for run in runs}
    answer = None
    for number in range(RUNS):
        for seed in SEEDS:
            for run, (program, environment) in runs.items():
                if run == "always" and number > 0:
                    continue  # slow, and no budget applies
                (folder / "report").unlink(missing_ok=True)
                took, output = processor_time(f"exec {fresh_copy(program)} {arguments}", folder,
                                              {**environment, "SAMPLER_SEED": str(seed)})
                digest = hashlib.sha256(output).hexdigest()
                answer = answer or digest
                if digest != answer or not output:
                    sys.exit(f"{name}: {run} prints something else than plain")
                times[run][seed].append(took)
    mean = {run: sum(min(found) for found in times[run].values()) / len(SEEDS) for run in runs}
    ratios = {run: mean[run] / mean["plain"] for run in runs if run != "plain"}
    for kind in ("always", "sampled"):
        ratios[f"code {kind}"] = code_size(built[kind][0]) / code_size(built["plain"][0])
        ratios[f"compile {kind}"] = built[kind][1] / built["plain"][1]
    return mean["plain"], ratios


def main():
    wanted = sys.argv[1:] or list(PROGRAMS)
    columns = ["always", "none", *SPARSITIES, "code always", "code sampled", "compile always", "compile sampled"]
    print(f"clang {RELEASE} -O2; times the plain build's; means over {len(SEEDS)} seeds of the least of {RUNS} runs each; "
          "none: built to sample, not asked to")
    print(f"{'program':<8} {'plain':>8}" + "".join(f"{f'1/{c}' if isinstance(c, int) else c:>16}" for c in columns))
    every = []
    with tempfile.TemporaryDirectory(dir=BINARY_DIR) as name:
        folder = pathlib.Path(name)
        files = {"text": folder / "text", "script": folder / "script.lua", "manifest": folder / "build.ninja"}
        files["text"].write_text(text())
        files["script"].write_text(LUA)
        files["manifest"].write_text(manifest())
        for program in wanted:
            try:
                seconds, ratios = measure(program, folder, files)
            except debian_sources.NotThere as why:
                print(f"{program:<8} not measured: {why}")
                continue
            every.append(ratios)
            print(f"{program:<8} {seconds:>6.2f} s" + "".join(f"{ratios[c]:>16.3f}" for c in columns), flush=True)
    if every:
        means = [math.exp(sum(math.log(ratios[c]) for ratios in every) / len(every)) for c in columns]
        print(f"{'geometric mean':<17}" + "".join(f"{mean:>16.3f}" for mean in means))
        print(f"budget: 1/1000 at most 1.05: {'kept' if means[columns.index(1000)] <= 1.05 else 'missed'}")


if __name__ == "__main__":
    main()
