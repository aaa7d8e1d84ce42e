#!/usr/bin/env python3
"""Fails when a format in src/formats/ lacks one of the parts that make it whole (docs/design/architecture.md).

Usage: check_formats.py [SOURCE_DIR]
"""
import pathlib
import re
import sys


def has_files(folder):
    return folder.is_dir() and any(path.is_file() for path in folder.rglob("*"))


def is_read(folder):
    """A folder with only wire.h is a contract for writers of the format; it becomes a format with a reader."""
    return folder.is_dir() and any(path.name != "wire.h" for path in folder.iterdir())


def complaints(root):
    formats = sorted(path.name for path in (root / "src" / "formats").iterdir() if is_read(path))
    if not formats:
        yield "src/formats holds no format"
    listing = root / "src" / "import" / "formats.def"
    listed = set(re.findall(r"^FORMAT\((\w+)\)", listing.read_text() if listing.is_file() else "", re.MULTILINE))
    for name in formats:
        if not (root / "docs" / "formats" / f"{name}.md").is_file():
            yield f"format {name}: no page docs/formats/{name}.md"
        if not (root / "tests" / "golden" / name).is_dir() or not has_files(root / "tests" / "golden" / name):
            yield f"format {name}: no golden files in tests/golden/{name}/"
        if not list((root / "src" / "import" / name).glob("*.cc")):
            yield f"format {name}: no folder src/import/{name}/ that turns its records into events"
        if not (root / "src" / "formats" / name / "CMakeLists.txt").is_file():
            yield f"format {name}: no src/formats/{name}/CMakeLists.txt"
        if name not in listed:
            yield f"format {name}: no line FORMAT({name}) in src/import/formats.def"
        targets = sorted((root / "fuzz").glob(f"{name}_*fuzz.cc"))
        if not targets:
            yield f"format {name}: no fuzz target fuzz/{name}_*fuzz.cc"
    for target in sorted((root / "fuzz").glob("*_fuzz.cc")):
        corpus = root / "fuzz" / "corpus" / target.name.removesuffix("_fuzz.cc")
        if not has_files(corpus):
            yield f"fuzz target {target.name}: no inputs in {corpus.relative_to(root)}/"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = list(complaints(root))
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
