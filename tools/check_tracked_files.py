#!/usr/bin/env python3
"""Fails when the repository has files that do not belong there: what a benchmark downloaded, a build made, or a tool left behind.

Usage: check_tracked_files.py [SOURCE_DIR]
"""
import pathlib
import subprocess
import sys

TOP = {".ci", ".clang-format", ".clang-tidy", ".gitignore", "CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "LICENSE",
       "README.md", "bench", "cmake", "debian", "debuggers", "dev", "docs", "examples", "fuzz", "include", "instrument", "packages", "python",
       "runtime", "src", "tests", "tools", "web"}
LARGEST = 64 * 1024  # bytes; a script can make larger ones


def complaints(root, names):
    unknown = {}
    for name in names:
        top = name.split("/")[0]
        if top not in TOP:
            unknown.setdefault(top, []).append(name)
            continue
        path = root / name
        if path.is_file() and path.stat().st_size > LARGEST:
            yield f"{name}: {path.stat().st_size} bytes: a file of the repository has at most {LARGEST}"
    for top, files in unknown.items():
        yield f"{top}: not a part of the project ({len(files)} tracked): remove it, or add it to tools/check_tracked_files.py"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True)
    if listed.returncode != 0:
        print("not a git checkout: nothing to check")
        return
    found = list(complaints(root, [name for name in listed.stdout.decode().split("\0") if name]))
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
