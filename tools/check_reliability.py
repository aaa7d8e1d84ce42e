#!/usr/bin/env python3
"""Fails when docs/design/reliability.md names a test that does not exist, or when a row has none.

Usage: check_reliability.py [SOURCE_DIR]
"""
import pathlib
import re
import sys

PAGE = pathlib.Path("docs/design/reliability.md")
ROWS = [f"{group}{number}" for group, last in (("D", 14), ("C", 15), ("W", 8)) for number in range(1, last + 1)]


def is_defined(name, path, text):
    """Whether the file defines a test of this name: a Python method, a gtest, a test of node. Other files need to contain the words."""
    if path.suffix == ".py" and name.startswith("test_"):
        return re.search(rf"^\s+def {re.escape(name)}\(", text, re.MULTILINE) is not None
    if path.name.endswith("_test.cc"):
        return re.search(rf"^TEST(_F|_P)?\(\w+,\s*{re.escape(name)}\)", text, re.MULTILINE) is not None
    if path.name.endswith(".test.mjs"):
        return re.search(rf"\btest\([`'][^`']*{re.escape(name)}[`']", text) is not None
    return name in text


def complaints(root):
    seen = {}
    for number, line in enumerate((root / PAGE).read_text(encoding="utf-8").splitlines(), 1):
        match = re.match(r"\| ([DCW]\d+) \| [^|]+ \| (.+) \|$", line)
        if not match:
            continue
        row, tests = match.groups()
        at = f"{PAGE}:{number}: {row}"
        if row in seen:
            yield f"{at}: is already on line {seen[row]}"
        seen[row] = number
        path, text = None, ""
        named = 0
        for entry in re.findall(r"`([^`]+)`", tests):
            file, colon, name = entry.rpartition(": ")
            if colon:
                path, named = root / file, named + 1
                if not path.is_file():
                    yield f"{at}: there is no file {file}"
                    continue
                text = path.read_text(encoding="utf-8")
            elif "/" in entry and entry.endswith("/"):
                continue  # a folder
            elif path is None:
                yield f"{at}: {entry} is in no file"
                continue
            if path.is_file() and not is_defined(name, path, text):
                yield f"{at}: {path.relative_to(root)} has no test {name}"
        if named == 0:
            yield f"{at}: names no test"
    for row in ROWS:
        if row not in seen:
            yield f"{PAGE}: no row {row}"
    # A test that is named after a row of the server or of pages is in the table.
    page = (root / PAGE).read_text(encoding="utf-8")
    for script in sorted((root / "tests" / "end_to_end").glob("test_*.py")):
        for name in re.findall(r"^\s+def (test_[CW]\d+_\w+)\(", script.read_text(encoding="utf-8"), re.MULTILINE):
            if f"`{name}`" not in page and f": {name}`" not in page:
                yield f"{PAGE}: {name} of {script.name} is not there"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1])
    found = list(complaints(root))
    for complaint in found:
        print(complaint)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
