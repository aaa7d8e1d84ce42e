"""Writes Mono recordings, byte by byte, with Python alone: events that current mono does not write, or not in such
numbers.

The bytes are those of docs/formats/mono.md, "Grammar".
"""
import struct

START = 1_000_000_000  # ns


def uleb(value):
    out = bytearray()
    while True:
        out.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if value == 0:
            return bytes(out)


def sleb(value):
    out = bytearray()
    while True:
        byte, value = value & 0x7F, value >> 7
        done = value == (-1 if byte & 0x40 else 0)
        out.append(byte if done else byte | 0x80)
        if done:
            return bytes(out)


def text(words):
    return words.encode() + b"\0"


def file_header(version=17, pid=77):
    """Of data version 13 or later."""
    strings = b"".join(struct.pack("<I", len(text(s))) + text(s) for s in ("log", "x86-64", "linux"))
    major = 3 if version >= 16 else 2
    startup = struct.pack("<QQ" if major >= 3 else "<Q", *([0, START] if major >= 3 else [0]))
    return struct.pack("<IBBBB", 0x4D505A01, major, 0, version, 8) + startup + struct.pack("<IIIH", 20, 0, pid, 0) + strings


def buffer(events, time, thread=1):
    """Events whose pointers, objects (in units of 8 bytes) and methods are relative to 0."""
    return struct.pack("<IIQQQQQ", 0x4D504C01, len(events), time, 0, 0, thread, 0) + events


def event(first_byte, *fields, after=1000):
    """An event, `after` ns after the previous one."""
    return bytes([first_byte]) + uleb(after) + b"".join(fields)


class Chain:
    """Methods of a buffer: each is encoded as the difference from the previous one."""

    def __init__(self):
        self.last = 0

    def __call__(self, method):
        step, self.last = method - self.last, method
        return sleb(step)


def names(methods, types, counters=()):
    """The names in a recording: a buffer's events."""
    method = Chain()
    out = [event(0x22, b"\2", sleb(0x900), text("all.dll"), text(""))]
    for address, name in methods.items():
        out.append(event(0x43, method(address), sleb(0x10000 + address), uleb(100), text(name)))
    for vtable, name in types.items():
        out.append(event(0x22, b"\1", sleb(vtable + 1), sleb(0x900), text(name)))
        out.append(event(0x22, b"\7", sleb(vtable), sleb(0), sleb(vtable + 1)))
    if counters:
        rows = (uleb(1 << 8) + text(name) + uleb(3) + uleb(0) + uleb(1 << 30) + uleb(index)
                for index, name in enumerate(counters, 1))
        out.append(event(0x37, uleb(len(counters)), *rows))
    return b"".join(out)
