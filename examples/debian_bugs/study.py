#!/usr/bin/env python3
"""Three programs of Debian, each with a bug that it once had, and two folders of a fuzzer: are the causes found?

bc       more_arrays() cleared as many new elements as there are variables (bc 1.06): memory is corrupted, sometimes a crash.
ed       a regular expression that does not compile was freed, though nobody had allocated it (ed 1.14, CVE-2017-5357).
libexif  a tag of a Canon camera whose data lies past the end was kept without data (libexif 0.6.9): a crash when it is shown.
libexif-fuzz  the same bug of libexif, with the inputs that libFuzzer finds in two minutes.
sheet         the spreadsheet of examples/sheet, likewise.

Fetches the sources with apt-get, puts the bug back, builds with telltale-cc, runs 3,000 random inputs completely observed and
as many sampled at 1/100, and prints the rank of the first predictor in the function that has the bug. Exits with 1 if it is
not among the first three when everything is observed, or in a fuzzer's crashes not among the first 50.

Usage: study.py [--runs N] [--fuzz-seconds S] [--out DIR] [NAME...]
"""
import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
BINARY = SOURCE / "build/release"
os.environ.setdefault("TELLTALE_SOURCE_DIR", str(SOURCE))
os.environ.setdefault("TELLTALE_BINARY_DIR", str(BINARY))
sys.path.insert(0, str(SOURCE / "tests/end_to_end"))
import debian_sources  # noqa: E402

TELLTALE = BINARY / "bin/telltale"
CC = BINARY / "bin/telltale-cc"
FLAGS = ["-g", "-O1", "-w", "-frelative-paths", "-fsampler-scheme=branches", "-fsampler-scheme=returns", "-fsampler-scheme=scalar-pairs"]
# Exit status 1 is no failure here: ed has it after every mistake in a script.
BY_SIGNAL = 'test -z "$TELLTALE_SIGNAL"'


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def sources(package, out, *edits):
    """Debian's sources in a folder of `out`, where each (file, text now, text then) puts a bug back."""
    folder = out / package
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(debian_sources.unpacked(package), folder, symlinks=True)
    for file, now, then in edits:
        path = folder / file
        text = path.read_text(errors="surrogateescape")
        if text.count(now) != 1:
            sys.exit(f"{package}: {file} has {text.count(now)} places that read {now!r}; this script knows one")
        path.write_text(text.replace(now, then), errors="surrogateescape")
    return folder


def build_bc(out):
    folder = sources("bc", out, ("bc/storage.c", "for (; indx < a_count; indx++)", "for (; indx < v_count; indx++)"))
    run("./configure", f"CC={CC}", f"CFLAGS={' '.join(FLAGS)}", cwd=folder)
    for part in ("lib", "bc"):
        run("make", "-C", part, *(f"{tool}=:" for tool in ("ACLOCAL", "AUTOCONF", "AUTOMAKE", "AUTOHEADER", "MAKEINFO")), cwd=folder)
    return [folder / "bc/bc", "-q", "{input}"]


def bc_program(rng):
    lines = []
    for kind, most in (("v", rng.choice((10, 70, 120, 300))), ("a", rng.choice((5, 20, 40, 80, 120)))):
        for number in range(rng.randint(1, most)):
            place = f"{kind}{number}[{rng.randint(0, 40)}]" if kind == "a" else f"{kind}{number}"
            lines.append(f"{place} = {rng.randint(1, 999)} {rng.choice('+-*/')} {rng.randint(1, 99)}")
    rng.shuffle(lines)
    for number in range(rng.randint(0, 8)):
        lines.append(f"define f{number}(x) {{ auto y[]; y[0] = x; if (x > 1) return (f{number}(x - 1) + y[0]); return (1); }}")
        lines.append(f"f{number}({rng.randint(1, 30)})")
    return "\n".join([*lines, "scale = 30", "2^9999 / 7", "a0[1] + v0", "quit", ""]).encode()


def build_ed(out):
    folder = sources("ed", out, ("regex.c", "regerror( n, last_regexp, buf, sizeof buf );",
                                 "regerror( n, last_regexp, buf, sizeof buf ); free( exp );"))
    run("./configure", f"CC={CC}", f"CFLAGS={' '.join(FLAGS)}", cwd=folder)
    run("make", "ed", cwd=folder)
    return ["sh", "-c", 'exec "$1" -s < "$2"', "sh", folder / "ed", "{input}"]


def ed_script(rng):
    words = "alpha beta gamma delta epsilon zeta eta theta".split()
    lines = ["a", *(" ".join(rng.choices(words, k=rng.randint(1, 6))) for _ in range(rng.randint(1, 30))), "."]
    for _ in range(rng.randint(3, 25)):
        pattern = rng.choice(words)[:rng.randint(1, 4)] + rng.choice(("", ".", "*", "[a-z]", "\\{1,2\\}", "$"))
        if rng.random() < 0.02:
            pattern += rng.choice(("\\(", "[a", "\\{2", "\\)"))
        lines.append(rng.choice((f"/{pattern}/p", f"?{pattern}?n", f"s/{pattern}/X/", f"g/{pattern}/s//<&>/g", f"v/{pattern}/d", "1,$p",
                                 "1t$", "1m$", "u", "$d", "1,2j", "=", f"1,$s/{pattern}/&&/g", "//p")))
    return "\n".join([*lines, "Q", ""]).encode()


def build_libexif(out):
    place = "(unsigned)(dataofs + s), buf_size);"
    folder = sources("libexif", out, ("libexif/canon/exif-mnote-data-canon.c", place, place + " ++tcount;"))
    (folder / "config.h").write_text("")  # nothing that configure would find is needed
    (folder / "libexif/_stdint.h").write_text("#include <stdint.h>\n")
    files = sorted(folder.glob("libexif/**/*.c"))
    run(CC, *FLAGS, "-I.", '-DGETTEXT_PACKAGE="libexif"', '-DLOCALEDIR="."', *[path.relative_to(folder) for path in files],
        HERE / "show_tags.c", "-o", "show_tags", "-lm", cwd=folder)
    return [folder / "show_tags", "{input}"]


def exif_data(rng):
    """A camera's header: a main directory, one of the exposure with a maker's note, and often one of the place."""
    def rational():
        return struct.pack("<II", rng.randint(0, 5000), 0 if rng.random() < 0.1 else rng.choice((1, 10, 100, 1000)))

    def text():
        return bytes(rng.choices(b"ABCDEFG 0123456789", k=rng.randint(1, 30))) + b"\0"

    def canon_note(at):
        """A directory whose data follows; a few tags point past the end of the file."""
        tags = [tag for tag in ((6, 2), (7, 2), (8, 4), (9, 2), (0xC, 4), (0x10, 4), (0x95, 2)) if rng.random() < 0.8]
        rows, data = [], b""
        for tag, kind in tags:
            value = text().ljust(32, b"\0")[:32] if kind == 2 else struct.pack("<I", rng.randint(0, 1 << 30))
            if kind == 4:
                rows.append(struct.pack("<HHI", tag, kind, 1) + value)
                continue
            where = at + 2 + 12 * len(tags) + len(data) + (rng.randint(5000, 9000) if rng.random() < 0.08 else 0)
            rows.append(struct.pack("<HHII", tag, kind, len(value), where))
            data += value
        return struct.pack("<H", len(rows)) + b"".join(rows) + data

    kinds = {2: text, 3: lambda: struct.pack("<H", rng.randint(0, 9)), 4: lambda: struct.pack("<I", rng.randint(0, 99)), 5: rational}
    exposure = [(0x829A, 5, 1), (0x829D, 5, 1), (0x8822, 3, 1), (0x8827, 3, 1), (0x9003, 2, 1), (0x9202, 5, 1), (0x9207, 3, 1),
                (0x9209, 3, 1), (0x920A, 5, 1), (0xA402, 3, 1), (0xA403, 3, 1), (0xA405, 3, 1), (0x927C, 7, 1)]
    place = [(1, 2, 1), (2, 5, 3), (3, 2, 1), (4, 5, 3), (6, 5, 1), (7, 5, 3), (0x12, 2, 1), (0x1D, 2, 1)]
    main = [(0x010F, 2, 1), (0x0110, 2, 1), (0x0112, 3, 1), (0x011A, 5, 1), (0x011B, 5, 1), (0x0128, 3, 1)]

    def directory(tags, pointers, at):
        chosen = [tag for tag in tags if rng.random() < 0.7]
        rows, data = [], b""
        data_at = at + 2 + 12 * (len(chosen) + len(pointers)) + 4
        for tag, kind, count in chosen:
            if tag == 0x927C:
                value = canon_note(data_at + len(data))
            elif tag == 0x010F and rng.random() < 0.7:
                value = b"Canon\0"
            else:
                value = b"".join(kinds[kind]() for _ in range(count))
            count = len(value) if kind in (2, 7) else count
            if len(value) > 4:
                rows.append(struct.pack("<HHII", tag, kind, count, data_at + len(data)))
                data += value
            else:
                rows.append(struct.pack("<HHI", tag, kind, count) + value.ljust(4, b"\0"))
        rows += [struct.pack("<HHII", tag, 4, 1, where) for tag, where in pointers]
        return struct.pack("<H", len(rows)) + b"".join(rows) + bytes(4) + data

    parts, pointers, at = b"", [], 8
    for tag, tags, chance in ((0x8769, exposure, 0.9), (0x8825, place, 0.6)):
        if rng.random() < chance:
            pointers.append((tag, at))
            parts += directory(tags, [], at)
            at = 8 + len(parts)
    return b"Exif\0\0" + struct.pack("<2sHI", b"II", 42, at) + parts + directory(main, pointers, at)


# name: how to build it, an input, and where the bug is
PROGRAMS = {
    "bc": (build_bc, bc_program, "more_arrays"),
    "ed": (build_ed, ed_script, "compile_regex"),
    "libexif": (build_libexif, exif_data, "exif_mnote_data_canon_load"),
}


def rank(study, function):
    """The rank of the first predictor in `function`, its line and predicate, and how many runs failed."""
    answer = json.loads(run(TELLTALE, "isolate", study, "--json"))
    runs = answer["runs"]
    for number, row in enumerate(answer["rows"], 1):
        if row["function"] == function:
            return number, f"{row['file']}:{row['line']} {row['predicate']}", runs
    return None, "not found", runs


def show(name, sampling, found, text, runs):
    print(f"{name:<8} {sampling:<9} {runs['failing']:>5} of {runs['failing'] + runs['successful']} runs failed   rank {found or '-':<3} {text}",
          flush=True)


def study(name, runs, out):
    build, make_input, function = PROGRAMS[name]
    command = build(out)
    inputs = out / f"{name}-inputs"
    inputs.mkdir(exist_ok=True)
    for number in range(1, runs + 1):
        (inputs / str(number)).write_bytes(make_input(random.Random(number)))
    command = [inputs / "{}" if word == "{input}" else word for word in command]
    ranks = []
    for sampling, words in (("complete", ()), ("1/100", ("--sparsity", 100))):
        folder = out / f"{name}-{'complete' if not words else 'sampled'}"
        shutil.rmtree(folder, ignore_errors=True)
        run(TELLTALE, "run", "-q", "--study", folder, "--times", runs, "--jobs", os.cpu_count(), "--seed", 1, "--label", BY_SIGNAL,
            "--program", command[4] if command[0] == "sh" else command[0], *words, "--", *command)
        found, text, counted = rank(folder, function)
        show(name, sampling, found, text, counted)
        ranks.append(found)
    return ranks[0] is not None and ranks[0] <= 3


def build_fuzzer(files, out, cwd, *words):
    clang = next((tool for release in ("22", "19") if (tool := shutil.which(f"clang-{release}"))), None)
    if clang is None:
        sys.exit("needs clang")
    run(clang, "-g", "-O1", "-w", "-fsanitize=fuzzer,address", *words, *files, "-o", out, "-lm", cwd=cwd)


def fuzz_libexif(out):
    """The fuzzer, the program, what the fuzzer starts from, words that inputs have, and where the bug is."""
    program = build_libexif(out)[0]
    build_fuzzer([path.relative_to(program.parent) for path in sorted(program.parent.glob("libexif/**/*.c"))] + [HERE / "show_tags.c"], out / "exif-fuzzer",
                 program.parent, "-I.", '-DGETTEXT_PACKAGE="libexif"', '-DLOCALEDIR="."', "-DEXIF_FUZZ")
    # Files of the camera in which all data are where the tags say.
    seeds = [data for number in range(1, 400) if b"Canon" in (data := exif_data(random.Random(number)))
             and subprocess.run([program, "/dev/stdin"], input=data, capture_output=True).returncode == 0][:20]
    return out / "exif-fuzzer", program, seeds, ["Exif\\x00\\x00", "Canon\\x00"], "exif_mnote_data_canon_load"


def fuzz_sheet(out):
    files = sorted((HERE.parent / "sheet").glob("*.c"))
    build_fuzzer(files, out / "sheet-fuzzer", out, "-DSHEET_FUZZ")
    run(CC, *FLAGS, *files, "-o", out / "sheet", "-lm")
    seeds = ("A1 = 1\nB2 = =SUM(A1:A9)*2\nshow\n", "name v A1:A9\nB1 = =SUM(v)\nexplain B1\n", "name v B1\nunname v\nnames\n",
             "A1 = 5\ncopy A1:A2 Y3\nundo\nfill A1:C3\nsort A1:B9 A down\n")
    words = "copy fill sort format name clear csv explain undo names unname replace show SUM( IF( A1 Z9 A1:A9".split()
    return out / "sheet-fuzzer", out / "sheet", [seed.encode() for seed in seeds], words, "explain_node"


FUZZED = {"libexif-fuzz": fuzz_libexif, "sheet": fuzz_sheet}


def rank_in_cluster(study, cluster, function):
    """The first predicate in `function` when a cluster's predicates are ranked as AURORA ranks, and how many there are."""
    rows = json.loads(run(TELLTALE, "isolate", study, "--cluster", cluster, "--score", "balanced-accuracy", "--filter", "none", "--all", "--json"))["rows"]
    for row in rows:
        if row["function"] == function:
            return row["rank"], f"{row['file']}:{row['line']} {row['predicate']}", len(rows)
    return None, "not found", len(rows)


def study_fuzz(name, seconds, out):
    """A folder of libFuzzer: a run for each input and for changed copies of those that crash."""
    fuzzer, program, seeds, words, function = FUZZED[name](out)
    corpus, crashes, folder = (out / f"{name}-{part}" for part in ("corpus", "crashes", "study"))
    for path in (corpus, crashes, folder):
        shutil.rmtree(path, ignore_errors=True)
    corpus.mkdir()
    crashes.mkdir()
    for number, seed in enumerate(seeds):
        (corpus / f"seed{number}").write_bytes(seed)
    (out / "words").write_text("".join(f'"{word}"\n' for word in words))
    subprocess.run([fuzzer, corpus, f"-artifact_prefix={crashes}/", f"-fork={os.cpu_count()}", "-ignore_crashes=1", f"-dict={out / 'words'}",
                    f"-max_len={max(200, *map(len, seeds))}", f"-max_total_time={seconds}"], capture_output=True)
    if not any(crashes.iterdir()):
        print(f"{name:<12} libFuzzer found no crash in {seconds} s")
        return False
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(run(TELLTALE, "study", "fuzz", corpus, "--inputs", crashes, "-o", folder, "--mutations", 500, "--minimize", "--limit", 3, "--seed", 1, "-q",
              "--", program, "@@"), end="")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = json.loads(run(TELLTALE, "isolate", folder, "--json"))
    runs = answer["runs"]["failing"] + answer["runs"]["successful"]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found, text, predicates = rank_in_cluster(folder, answer["clusters"][0]["cluster"], function)
    print(f"{name:<12} {answer['runs']['failing']} of {runs} runs failed   rank {found or '-'} of {predicates} predicates   {text}\n"
          f"{'':<12} {cpu * 1000 / runs:.1f} s of processor time for 1,000 inputs, --minimize included", flush=True)
    return found is not None and found <= 50  # AURORA's paper reads the first 50


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join([*PROGRAMS, *FUZZED])}; default: all")
    parser.add_argument("--runs", type=int, default=3000)
    parser.add_argument("--fuzz-seconds", type=int, default=120)
    parser.add_argument("--out", type=pathlib.Path, default=BINARY / "debian_bugs")
    options = parser.parse_args()
    for name in options.names:
        if name not in (*PROGRAMS, *FUZZED):
            parser.error(f"there is no {name}")
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if not CC.exists():
        sys.exit("needs telltale-cc: ./dev setup tests && ./dev build")
    found = True
    for name in options.names or [*PROGRAMS, *FUZZED]:
        try:
            good = study_fuzz(name, options.fuzz_seconds, out) if name in FUZZED else study(name, options.runs, out)
            found = found and good
        except debian_sources.NotThere as why:
            print(f"{name:<8} not studied: {why}")
    sys.exit(0 if found else 1)


if __name__ == "__main__":
    main()
