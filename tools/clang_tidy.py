#!/usr/bin/env python3
"""Runs clang-tidy (.clang-tidy) on the sources of the fuzz build, which clang compiles, and on the compiler's plugin, which is in no
build with sanitizers, as the release build compiles it for the LLVM that clang-tidy is of.

A source that passed is not looked at again until something in its preprocessed text or in the rules changes.

Usage: clang_tidy.py [--jobs N] [--changed [LIMIT]] [--seconds S]
  --changed  only sources that are not committed, and those that differ from main or, when main is checked out, were
             changed by commits of its last day; LIMIT (12) at most, the latest first
  --seconds  begin no source after S seconds; the last line says how many were left
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "fuzz"
PASSED = ROOT / "build" / "lint" / "passed"
PLUGIN = ROOT / "build" / "release"
TOOL = "clang-tidy-19"
DAY = 24 * 60 * 60


def git(*words):
    result = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    return result.stdout.split() if result.returncode == 0 else []


def changed_files():
    """Paths that may not have been checked, the latest changes first."""
    names = git("ls-files", "--others", "--exclude-standard") + git("diff", "--name-only", "HEAD")
    head, main = git("rev-parse", "HEAD"), git("rev-parse", "main")
    base = git("merge-base", "HEAD", "main") if head != main else []
    if base:
        names += git("log", "--name-only", "--format=", f"{base[0]}..HEAD")
    else:
        last = git("show", "--no-patch", "--format=%ct", "HEAD")
        names += git("log", "--name-only", "--format=", f"--since={int(last[0]) - DAY}") if last else []
    return [ROOT / name for name in dict.fromkeys(names)]


def sources_of(file):
    """The sources of a unit (cmake/TelltaleUnity.cmake); a file that is no unit is its own source."""
    if "units" not in file.parts:
        return [file]
    names = re.findall(r'^#include "(.*)"$', file.read_text(), re.MULTILINE)
    return [next(folder / name for folder in (ROOT / "src", ROOT) if (folder / name).exists()) for name in names]


def compile_commands():
    for folder in (BUILD, PLUGIN):
        database = folder / "compile_commands.json"
        if folder == PLUGIN and not database.exists():
            continue
        for entry in json.loads(database.read_text()):
            if folder == BUILD or f"telltale_sampler_plugin_{TOOL.rsplit('-')[-1]}.dir" in entry["command"]:
                command = shlex.split(entry["command"])
                for source in sources_of(pathlib.Path(entry["file"])):
                    yield source, [str(source) if word == entry["file"] else word for word in command], entry["directory"]


def question(source, command):
    """The command line for one source, which is looked at alone even if it is compiled with others."""
    words = [TOOL, "--quiet"]
    start = next(i for i, word in enumerate(command) if word.startswith("-"))
    output = command.index("-o")
    flags = [word for i, word in enumerate(command) if i >= start and i not in (output, output + 1) and word not in ("-c", str(source))]
    if "telltale_sampler_plugin" in " ".join(command):
        # LLVM's integers own memory only if they are wide, and blocks belong to their function: the analyzer misses both.
        words.append("--checks=-clang-analyzer-cplusplus.NewDelete,-clang-analyzer-cplusplus.NewDeleteLeaks")
        # The build may use another compiler, whose warning options clang does not know.
        flags = [flag for flag in flags if not flag.startswith("-W")]
    return [*words, str(source), "--", *flags]


def fingerprint(command, directory):
    """A hash of all inputs of clang-tidy for a source; None if the source does not compile."""
    words = [w for w in command if w != "ccache"]
    words[words.index("-o") + 1] = "-"
    words[words.index("-c")] = "-E"
    text = subprocess.run(words, cwd=directory, capture_output=True)
    if text.returncode != 0:
        return None
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    digest.update(TOOL.encode())
    digest.update(text.stdout)
    return digest.hexdigest()


def check(source, command, directory):
    """The complaints about one source, empty if there are none."""
    mark = fingerprint(command, directory)
    if mark and (PASSED / mark).exists():
        return source, ""
    result = subprocess.run(question(source, command), cwd=directory, capture_output=True, text=True)
    if result.returncode != 0:
        return source, result.stdout + result.stderr
    if mark:
        (PASSED / mark).touch()
    return source, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--changed", type=int, nargs="?", const=12)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    PASSED.mkdir(parents=True, exist_ok=True)
    work = list(compile_commands())
    if options.changed is not None:
        order = {path: place for place, path in enumerate(changed_files())}
        work = sorted((entry for entry in work if entry[0] in order), key=lambda entry: order[entry[0]])
        if len(work) > options.changed:
            print(f"{len(work)} sources changed; checking {options.changed} of them: ./dev lint checks all")
            work = work[: options.changed]
    failed = left = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda entry: check(*entry) if time.monotonic() < end else None, work)
        for number, result in enumerate(results, 1):
            if result is None:
                left += 1
                continue
            source, complaints = result
            print(f"[{number}/{len(work)}] {source.relative_to(ROOT)}{': FAILED' if complaints else ''}", flush=True)
            if complaints:
                failed += 1
                print(complaints, flush=True)
    print(f"{len(work) - left} sources checked, {failed} with complaints" + (f"; no time for {left} more" if left else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
