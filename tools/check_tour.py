#!/usr/bin/env python3
"""Runs the commands in README.md and docs/ and compares their output with the text.

Blocks that open with ```console are checked: a line that begins with "$ " is a command, and the lines up to the next
command are its exact output (standard output and error together). The commands of one file run in order, by bash, in
one folder with copies of the examples, with telltale in the PATH and its headers and libraries in the compilers' search
paths, as if it were installed. Output is not normalised: recordings are fixed, or the commands print only fixed parts
of new ones. If a signal ends a command, the signal's name is added, as in a terminal.

Usage: check_tour.py [--update] TELLTALE [FILE.md ...]
"""
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

SOURCE_DIR = pathlib.Path(__file__).resolve().parent.parent


def commands(lines):
    """Yields (index of the command's line, command, index after its output)."""
    inside = False
    start = None
    for index, line in enumerate(lines):
        ends = inside and line.strip() == "```"
        if inside and (ends or line.startswith("$ ")) and start is not None:
            yield start, lines[start][2:], index
            start = None
        if ends:
            inside = False
        elif inside and line.startswith("$ "):
            start = index
        elif line.strip() == "```console":
            inside = True


def check(path, telltale, update):
    lines = path.read_text().split("\n")
    build = pathlib.Path(telltale).parent.parent
    environment = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", PATH=f"{build / 'bin'}:{os.environ['PATH']}",
                       CPATH=str(SOURCE_DIR / "include"), LIBRARY_PATH=str(build / "runtime/stacktrack"))
    shown = list(commands(lines))
    ninja = build / "build.ninja"
    if ninja.exists() and "fsanitize" in ninja.read_text():
        # Sanitized libraries do not link into plain programs.
        shown = list(itertools.takewhile(lambda one: not one[1].startswith(("g++ ", "telltale-c")), shown))
    wrong = 0
    replaced = []
    with tempfile.TemporaryDirectory() as folder:
        for example in ("orders", "request_server", "sessions", "buggy", "stock", "settings"):
            for name in os.listdir(SOURCE_DIR / "examples" / example):
                shutil.copy(SOURCE_DIR / "examples" / example / name, folder)
        for start, command, end in shown:
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=60)
            if done.returncode < 0:  # the message of an interactive shell
                done.stdout += signal.strsignal(-done.returncode) + "\n"
            printed = done.stdout.rstrip("\n").split("\n") if done.stdout.strip() else []
            if printed != lines[start + 1:end]:
                wrong += 1
                replaced.append((start + 1, end, printed))
                if not update:
                    print(f"{path.name}:{start + 1}: $ {command}\n  shown:")
                    print("\n".join("    " + line for line in lines[start + 1:end]))
                    print("  printed:")
                    print("\n".join("    " + line for line in printed))
    if update:
        for start, end, printed in reversed(replaced):
            lines[start:end] = printed
        path.write_text("\n".join(lines))
        print(f"{path.name}: {len(shown)} commands, {len(replaced)} updated")
    else:
        print(f"{path.name}: {len(shown)} commands, {wrong} print something else")
    return wrong if not update else 0


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    arguments = [a for a in arguments if a != "--update"]
    if not arguments:
        sys.exit(__doc__)
    telltale, *names = arguments
    paths = [pathlib.Path(n) for n in names] or [SOURCE_DIR / "README.md"] + sorted((SOURCE_DIR / "docs").rglob("*.md"))
    wrong = sum(check(path, os.path.abspath(telltale), update) for path in paths)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
