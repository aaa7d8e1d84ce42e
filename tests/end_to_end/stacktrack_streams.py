"""StackTrack streams made byte by byte with struct, independent of the C++ code: input for the tests of the reader."""

import struct

HIT, FLOC, FPROPERTY, SLOC, PROLOGUE, PROCINFO, TIMEINFO, TIMETYPE, STREAM, LOST, INFO = (*range(10), 0xFF)
HAS_INFO, INFO_END, EXIT, HELD_TIME, CHUNK = 0x100, 0x200, 0x400, 0x800, 0x1000
FUNCTION, BLOCK, STEP, VALUE = 3, 4, 5, 6
MAGIC = 0x12345678


class Platform:
    """A platform's encoding: struct formats of the header and of each payload, without byte order."""

    def __init__(self, order="<", *, size=24, at=8, header="HHI", payloads=None, info=16, version=0x100, time="Q"):
        self.order, self.size, self.at, self.header, self.info, self.version = order, size, at, header, info, version
        t = time
        self.payloads = payloads or {
            HIT: t + "HH", FLOC: "HHH", FPROPERTY: "HHH", SLOC: "HHHHH", PROLOGUE: "IIBBB", PROCINFO: "HH",
            TIMEINFO: t + "I", TIMETYPE: t + "H"}

    def record(self, flags, pid, sequence, payload=b""):
        head = struct.pack(self.order + self.header, flags, pid, sequence)
        return (head.ljust(self.at, b"\0") + payload).ljust(self.size, b"\0")

    def pack(self, kind, pid, sequence, *values, bits=0):
        return self.record(kind | bits, pid, sequence, struct.pack(self.order + self.payloads[kind], *values))

    def texts(self, pid, sequence, text):
        """The INFO records of a text, one string each."""
        raw = text if isinstance(text, bytes) else text.encode()
        pieces = [raw[i:i + self.info] for i in range(0, len(raw), self.info)] or [b""]
        return [self.record(INFO | (INFO_END if i + 1 == len(pieces) else 0), pid, sequence, piece)
                for i, piece in enumerate(pieces)]

    def told(self, kind, pid, sequence, *values, text, bits=0):
        return b"".join([self.pack(kind, pid, sequence, *values, bits=bits | HAS_INFO),
                         *self.texts(pid, sequence, text)])

    def prologue(self, pid, **change):
        fields = {"magic": MAGIC, "version": self.version, "info": self.info, "size": self.size, "at": self.at, **change}
        return self.pack(PROLOGUE, pid, 0, *fields.values())


CLASSIC = Platform()
CLASSIC_BIG = Platform(">")
# 4-byte ids, an 8-byte ctime, other offsets, longer texts; its RAW_FORMAT is tests/golden/stacktrack/foreign.xml.
FOREIGN = Platform(">", size=40, at=12, header="H2xII", info=20, version=0x101, payloads={
    HIT: "QII", FLOC: "III", FPROPERTY: "III", SLOC: "IHHIH", PROLOGUE: "IIBBB", PROCINFO: "II",
    TIMEINFO: "Qq", TIMETYPE: "QH"})


def specification_example():
    """The stream of the specification's expand_events example."""
    p, pid, tid, frequency, start = CLASSIC, 0x060C, 0x04C8, 1_000_000, 5_000_000_000
    return b"".join([
        p.prologue(pid),
        p.pack(PROCINFO, pid, 0, pid, 1),
        p.pack(TIMETYPE, pid, 0, frequency, 0x20),
        p.pack(TIMEINFO, pid, 0, start, 1111756865),
        p.told(FLOC, pid, 1, 2, 0, 0, text="..\\..\\..\\libs\\stacktrack\\src\\filesink.cpp"),
        p.told(SLOC, pid, 1, 1, FUNCTION, 98, 0, 2, text="file_sink_impl::open"),
        p.pack(HIT, pid, 1, start + 640, 1, tid),
        p.told(SLOC, pid, 2, 2, VALUE, 99, 0, 2, text="name"),
        p.told(HIT, pid, 2, start + 685, 2, tid, text="bar"),
    ])


def small_run(platform=CLASSIC, *, pid=7, exits_marked=True, frequency=1_000_000):
    """Two threads: main() with a block, a step and a variable; a worker that calls work() twice. In order of capture,
    with a variable's text interleaved with other records."""
    p = platform
    exit_bit = EXIT if exits_marked else 0
    out, sequence = [], 0

    def new():
        nonlocal sequence
        sequence += 1
        return sequence

    def out_of(entry):
        return new() if exits_marked else entry

    out += [p.prologue(pid), p.pack(PROCINFO, pid, 0, pid, 1), p.pack(TIMETYPE, pid, 0, frequency, 1),
            p.pack(TIMEINFO, pid, 0, 1000, 1700000000)]
    main = new()
    out += [p.told(FLOC, pid, main, 1, 0, 1, text="src/main.cpp"),
            p.told(FPROPERTY, pid, main, 1, 0, 0, text="module=demo"),
            p.told(SLOC, pid, main, 1, FUNCTION, 10, 0, 1, text="main(int, char const* const*)"),
            p.pack(HIT, pid, main, 2000, 1, 100)]
    block = new()
    out += [p.told(SLOC, pid, block, 2, BLOCK, 12, 0, 1, text="setup"), p.pack(HIT, pid, block, 3000, 2, 100)]
    work = new()
    out += [p.told(SLOC, pid, work, 3, FUNCTION, 40, 0, 1, text="work()"), p.pack(HIT, pid, work, 3500, 3, 101)]
    value = new()
    out += [p.told(SLOC, pid, value, 4, VALUE, 13, 0, 1, text="name"),
            p.pack(HIT, pid, value, 3600, 4, 100, bits=HAS_INFO)]
    pieces = p.texts(pid, value, "a value of more than sixteen bytes")
    out += [pieces[0], p.pack(HIT, pid, out_of(work), 3700, 3, 101, bits=exit_bit), *pieces[1:]]
    step = new()
    out += [p.told(SLOC, pid, step, 5, STEP, 14, 0, 1, text="halfway"), p.pack(HIT, pid, step, 4000, 5, 100)]
    out += [p.pack(HIT, pid, out_of(block), 5000, 2, 100, bits=exit_bit)]
    work = new()
    out += [p.pack(HIT, pid, work, 5500, 3, 101), p.pack(HIT, pid, out_of(work), 5900, 3, 101, bits=exit_bit)]
    out += [p.pack(HIT, pid, out_of(main), 7000, 1, 100, bits=exit_bit)]
    return b"".join(out)
