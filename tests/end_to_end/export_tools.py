"""Shared by the tests of exports and views: small traces, decoding of escaped names, tools from npm."""
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import struct
import subprocess

SOURCE_DIR = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"])


def fdr(events, tid=77, pid=5, frequency=1_000_000_000):
    """An FDR version 5 trace of one buffer; events are ('enter'|'exit', id, delta) or ('custom', bytes, delta)."""
    body = bytearray(b"\x01" + struct.pack("<i11x", tid))  # each += would copy bytes as a whole
    body += b"\x09" + struct.pack("<qi3x", 1, 0)
    body += b"\x13" + struct.pack("<i11x", pid)
    body += b"\x05" + struct.pack("<HQ5x", 0, 1000)
    actions = {"enter": 0, "exit": 1, "tail": 2, "enter_args": 3}
    for kind, what, delta in events:
        if kind == "custom":
            body += b"\x0b" + struct.pack("<ii7x", len(what), delta) + what
        elif kind == "argument":
            body += b"\x0d" + struct.pack("<Q7x", what)
        else:
            body += struct.pack("<II", what << 4 | actions[kind] << 1, delta)
    header = struct.pack("<HHIQQ8x", 5, 1, 3, frequency, 65536)
    return header + b"\x0f" + struct.pack("<Q7x", len(body)) + body


def restore(text):
    """Undoes append_visible (src/output/escape.h)."""
    def one(match):
        code = match.group(1)
        simple = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}
        return simple[code] if code in simple else chr(int(code[1:], 16))
    return re.sub(r"\\(n|r|t|\\|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})", one, text)


def compiler():
    return next((c for c in ("clang-22", "clang-19", "clang") if shutil.which(c)), None)


@contextlib.contextmanager
def alone(lock):
    """Holds the file `lock`: of several tests that need the same download, one fetches it."""
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def install_node_modules(wanted_by="tests/node"):
    """The packages of a folder's package-lock.json, installed beside the build; again only when what is wanted has changed."""
    source = SOURCE_DIR / wanted_by
    folder = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"]) / "node" / wanted_by.replace("/", "_")
    folder.mkdir(parents=True, exist_ok=True)
    wanted = (source / "package-lock.json").read_bytes()
    installed = folder / "installed.json"
    with alone(folder / "lock"):
        if not installed.exists() or installed.read_bytes() != wanted:
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copyfile(source / name, folder / name)
            subprocess.run(["npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"], cwd=folder, check=True,
                           timeout=300, capture_output=True)
            installed.write_bytes(wanted)
    return folder / "node_modules"


def yaml_string(text):
    """Any text as a double-quoted YAML scalar."""
    return '"' + "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\U{ord(c):08X}" for c in text) + '"'


def yaml_map(names):
    """llvm-xray's instrumentation map with these functions, ids from 1."""
    return "---\n" + "".join(
        f"- {{ id: {i}, address: {i * 16}, function: {i * 16}, kind: function-enter, always-instrument: true, "
        f"function-name: {yaml_string(name)}, version: 2 }}\n" for i, name in enumerate(names, 1)) + "...\n"


def yaml_trace(events):
    """llvm-xray's YAML of a trace with a clock of 1 GHz; events are (thread, 'enter'|'exit', id, tsc)."""
    return ("---\nheader:\n  version: 5\n  type: 1\n  constant-tsc: true\n  nonstop-tsc: true\n"
            "  cycle-frequency: 1000000000\nrecords:\n" + "".join(
                f"  - {{ type: 0, func-id: {number}, function: '{number}', cpu: 0, thread: {thread}, process: 9, "
                f"kind: function-{kind}, tsc: {tsc}, data: '' }}\n" for thread, kind, number, tsc in events) + "...\n")
