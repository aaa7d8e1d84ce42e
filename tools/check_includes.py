#!/usr/bin/env python3
"""Fails when a file includes what its folder may not (docs/design/architecture.md, "Who may include whom").

Usage: check_includes.py [SOURCE_DIR]
"""
import pathlib
import re
import sys

# Folder -> folders of src/ that it may include besides itself. Formats include neither the model nor one another.
ALLOWED = {
    "base": [],
    "bytes": ["base"],
    "formats": ["base", "bytes"],
    "program": ["base", "bytes"],
    "model": ["base"],
    "analysis": ["base", "model"],
    "output": ["base", "bytes", "model", "analysis", "formats"],
    "import": ["base", "bytes", "formats", "program", "model", "analysis", "output"],
    "report": ["base", "bytes", "formats", "program", "model", "import", "analysis", "output"],
    "api": ["base", "bytes", "formats", "program", "model", "import", "analysis", "output"],
    "collect": ["base", "bytes", "formats", "model", "analysis", "import", "output", "program"],
    "cli": ["base", "bytes", "formats", "program", "model", "import", "analysis", "output", "report", "api",
            "collect"],
}
# Folders of instrument/ likewise. All may include the files at its top.
INSTRUMENT_ALLOWED = {
    "frontend": ["analysis"],
    "analysis": [],
    "codegen": ["analysis"],
    "transform": ["analysis", "codegen"],
    "path_tracing": ["codegen"],
    "driver": [],
}
# Folders of runtime/ that all others may include.
SHARED_BY_RUNTIMES = ("descriptors", "signals")
# Headers outside instrument/ that it may include.
INSTRUMENT_EXTERNAL = re.compile(r"formats/(sampler|csi)/wire\.h|model/(ball_larus|late_variables|probe_placement)\.h|runtime/sampler/abi\.(h|inc)")
# Only these may read an input's bytes with the C library.
RAW_INPUT = re.compile(r"<(fstream|sys/mman\.h|zlib\.h|zstd\.h|lzma\.h|lz4frame\.h|libelf\.h|gelf\.h|elfutils/.*)>")
RAW_INPUT_ALLOWED = {"bytes", "program", "output"}
# Maps memory, not a file.
ANONYMOUS_MEMORY = "src/base/zeroed_array.h"
# CLI11's headers cost six seconds of compiling: they stay out of headers and of the verbs.
COMMAND_LINE_LIBRARY = re.compile(r"<CLI/.*>")
COMMAND_LINE_LIBRARY_ALLOWED = {"src/cli/command_line.cc", "src/cli/options/command.cc", "src/cli/help/command_words.cc",
                                "src/cli/network/network_command_line.cc"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|(<[^>]+>))')


def runtime_complaints(source_dir):
    """Runtimes that are linked into other programs: their own files, the public headers, wire layouts and libc."""
    runtime = source_dir / "runtime"
    for path in sorted(runtime.rglob("*.h")) + sorted(runtime.rglob("*.cc")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            target = match.group(1) if match else None
            if target is None or path.name.endswith("_test.cc"):
                continue
            beside = (path.parent / target).resolve()
            if beside.is_file() and beside.parent in (path.parent.resolve(), *(runtime.resolve() / name for name in SHARED_BY_RUNTIMES)):
                continue
            if not re.fullmatch(r"formats/\w+/wire\.h|formats/sampler/sampling_wish\.h|formats/xray/recorder_limits\.h", target):
                yield (f"{path.relative_to(source_dir)}:{number}: runtime/ may include its own folder, runtime/descriptors, runtime/signals, "
                       "formats/*/wire.h, formats/sampler/sampling_wish.h and formats/xray/recorder_limits.h")


def instrument_complaints(source_dir):
    root = source_dir / "instrument"
    for path in sorted(root.rglob("*.h")) + sorted(root.rglob("*.cc")):
        parts = path.relative_to(root).parts
        folder = parts[0] if len(parts) > 1 else ""
        if folder and folder not in INSTRUMENT_ALLOWED:
            yield f"{path.relative_to(source_dir)}: folder instrument/{folder} has no row in tools/check_includes.py"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            target = match.group(1) if match else None
            if target is None or path.name.endswith("_test.cc") or INSTRUMENT_EXTERNAL.fullmatch(target):
                continue
            included = target.split("/")[0] if "/" in target else ""
            where = f"{path.relative_to(source_dir)}:{number}"
            if not (root / target).is_file() and not (path.parent / target).is_file():
                yield f"{where}: instrument/ may include itself, wire.h of sampler and csi, model/ball_larus.h, model/late_variables.h, model/probe_placement.h and runtime/sampler/abi.h"
            elif folder and included and included not in [folder, *INSTRUMENT_ALLOWED[folder]]:
                yield f"{where}: instrument/{folder} may not include instrument/{included}"


def complaints(source_dir):
    yield from runtime_complaints(source_dir)
    yield from instrument_complaints(source_dir)
    src = source_dir / "src"
    for path in sorted(src.rglob("*.h")) + sorted(src.rglob("*.cc")):
        parts = path.relative_to(src).parts
        folder = parts[0]
        is_test = path.name.endswith("_test.cc")
        if folder not in ALLOWED:
            yield f"{path.relative_to(source_dir)}: folder src/{folder} has no row in tools/check_includes.py"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            where = f"{path.relative_to(source_dir)}:{number}"
            if match.group(2):
                if RAW_INPUT.match(match.group(2)) and folder not in RAW_INPUT_ALLOWED and not is_test and \
                        str(path.relative_to(source_dir)) != ANONYMOUS_MEMORY:
                    yield f"{where}: {match.group(2)}: only src/bytes and src/program read raw input"
                if COMMAND_LINE_LIBRARY.match(match.group(2)) and not is_test and \
                        str(path.relative_to(source_dir)) not in COMMAND_LINE_LIBRARY_ALLOWED:
                    yield f"{where}: {match.group(2)}: include cli/options/command.h instead"
                continue
            target = match.group(1).split("/")
            if target[0] not in ALLOWED or target[0] == folder:
                if folder == "formats" and target[0] == "formats" and target[1] != parts[1]:
                    yield f"{where}: a format may not include another format"
                elif path.name in ("wire.h", "sampling_wish.h", "recorder_limits.h"):
                    yield f"{where}: {path.name} is freestanding"
                continue
            if is_test and target[0] in ("base", "bytes"):
                continue
            if target[0] not in ALLOWED[folder]:
                yield f"{where}: src/{folder} may not include src/{target[0]}"


def main():
    source_dir = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = list(complaints(source_dir))
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
