"""The hostile trace of row W8 (docs/design/page-kit.md): ten million events, a million names, one of them of 1 MiB, calls a million deep."""
import array
import random
import struct
import sys

NAMES = 1_000_000
EVENTS = 10_000_000
LONGEST = 1 << 20
ENTER, EXIT = 0, 1


def names(count=NAMES):
    """Distinct names, many of them hostile; the first is of 1 MiB and never ends a template."""
    draw = random.Random(8)
    pieces = ("<script>", "std::vector<int>", "operator()", "a::", "(int, char const*)", "&amp;", "{lambda#1}", "_Z", "x")
    return ["f<" * (LONGEST // 2), *(f"{draw.choice(pieces)}{draw.choice(pieces)}{i}" for i in range(1, count))]


def write_names(path, count=NAMES):
    """llvm-xray's instrumentation map; ids count from 1."""
    with open(path, "w", encoding="utf-8") as out:
        out.write("---\n")
        for i, name in enumerate(names(count), 1):
            out.write(f"- {{ id: {i}, address: {i * 16}, function: {i * 16}, kind: function-enter, always-instrument: true, "
                      f"function-name: '{name}', version: 2 }}\n")
        out.write("...\n")


def write_trace(path, events=EVENTS, count=NAMES, seed=9):
    """An FDR log of one thread: a call in a call, `count` deep; then calls of all functions in an order that repeats no path."""
    records = array.array("I")
    for i in range(1, count + 1):
        records.extend((i << 4 | ENTER << 1, 1))
    for i in range(count, 0, -1):
        records.extend((i << 4 | EXIT << 1, 1))
    draw = random.Random(seed)
    while len(records) // 2 < events:
        # Three calls, nested: ids are random, so that nearly each triple is a path of its own.
        inner = [draw.randrange(1, count + 1) for _ in range(3)]
        for i in inner:
            records.extend((i << 4 | ENTER << 1, 10))
        for i in reversed(inner):
            records.extend((i << 4 | EXIT << 1, 10))
    if sys.byteorder == "big":
        records.byteswap()
    body = records.tobytes()
    head = b"\x01" + struct.pack("<i11x", 77) + b"\x09" + struct.pack("<qi3x", 1, 0) + b"\x13" + struct.pack("<i11x", 5)
    head += b"\x05" + struct.pack("<HQ5x", 0, 1000)
    with open(path, "wb") as out:
        out.write(struct.pack("<HHIQQ8x", 5, 1, 3, 1_000_000_000, 65536) + b"\x0f" + struct.pack("<Q7x", len(head) + len(body)))
        out.write(head)
        out.write(body)
