"""A second reader of StackTrack files, based only on docs/formats/stacktrack.md: the reference for tests."""
import collections
import struct

HIT, FLOC, FPROPERTY, SLOC, PROLOGUE, PROCINFO, TIMEINFO, TIMETYPE, STREAM, LOST = range(10)
INFO = 0xFF
HAS_INFO, INFO_END, EXIT, HELD_TIME, CHUNK = 0x100, 0x200, 0x400, 0x800, 0x1000
PAGE = 4096

Record = collections.namedtuple("Record", "offset flags stream pid sequence payload")


def wide_records(data):
    """Every committed record; in a ring only those that belong to the preceding STREAM."""
    at, end = 0, len(data)
    ring = 0
    while at + 32 <= end:
        flags, _, _, _ = struct.unpack_from("<HHIQ", data, at)
        tid, size, thread = struct.unpack_from("<III", data, at + 16)
        if flags != STREAM | CHUNK or size == 0 or size % PAGE or at + size > end:
            at += PAGE
            continue
        mine = None
        for slot in range(at, at + size, 32):
            if struct.unpack_from("<Q", data, slot)[0] == 0:
                continue
            record = Record(slot, *struct.unpack_from("<HHIQ", data, slot), data[slot + 16:slot + 32])
            kind = record.flags & 0xFF
            if kind == PROLOGUE:
                ring = struct.unpack_from("<I", record.payload, 12)[0]
            if kind == STREAM:
                mine = None if struct.unpack_from("<I", record.payload)[0] == 0 else record.stream
            elif ring and mine is not None and record.stream != mine:
                continue
            yield record
        at += size


def classic_records(data):
    for at in range(0, len(data) - 23, 24):
        flags, pid, sequence = struct.unpack_from("<HHI", data, at)
        if flags or pid or sequence:
            yield Record(at, flags, 0, pid, sequence, data[at + 8:at + 24])


class File:
    """hits: (sequence, tid, name, exit, value, when, held) in order of sequence."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.wide = struct.unpack_from("<H", data)[0] == STREAM | CHUNK
        self.records = list((wide_records if self.wide else classic_records)(data))
        self.counts = collections.Counter(record.flags & 0xFF for record in self.records)
        texts = collections.defaultdict(list)
        self.torn = 0
        self._collect(texts)
        self.names, self.files, self.properties = {}, {}, collections.defaultdict(dict)
        self.lost, self.processes, self.hits = collections.Counter(), [], []
        self.threads = {}  # names by tid
        self.unnamed = 0
        for record in self.records:
            self._context(record)
        for record in self.records:
            if record.flags & 0xFF == HIT:
                self._hit(record)
        self.hits.sort(key=lambda hit: (hit[0], hit[1]))

    def _collect(self, texts):
        """Joins INFO to its record, even if they are interleaved."""
        open_texts, self.texts = {}, {}
        for record in self.records:
            key = (record.pid, record.stream, record.sequence)
            if record.flags & 0xFF == INFO:
                if key not in open_texts:
                    self.torn += 1
                    continue
                offset, text = open_texts[key]
                text += record.payload
                open_texts[key] = (offset, text)
                if record.flags & INFO_END:
                    self.texts[offset] = text.rstrip(b"\0").decode("utf-8", "replace")
                    del open_texts[key]
            elif record.flags & HAS_INFO:
                if key in open_texts:
                    self.torn += 1
                open_texts[key] = (record.offset, b"")
        self.torn += len(open_texts)

    def _context(self, record):
        kind, payload = record.flags & 0xFF, record.payload
        text = self.texts.get(record.offset, "")
        if kind == SLOC:
            if self.wide:
                index, line, cycle, style, file = struct.unpack("<IIIHH", payload)
            else:
                index, style, line, cycle, file = struct.unpack_from("<HHHHH", payload)
            self.names[index] = (text, style, line, file, cycle)
        elif kind == FLOC:
            if text != "telltale.threads":
                self.files[struct.unpack_from("<I" if self.wide else "<H", payload)[0]] = text
        elif kind == FPROPERTY:
            number, _, index = struct.unpack_from("<III" if self.wide else "<HHH", payload)
            if text.startswith("telltale.thread."):
                tid, _, name = text.removeprefix("telltale.thread.").partition("=")
                self.threads[int(tid)] = name
                return
            self.properties[number][index] = text
        elif kind == LOST:
            count, reason = struct.unpack_from("<QI", payload)
            self.lost[reason] += count
        elif kind == PROCINFO:
            self.processes.append(struct.unpack("<IIII", payload) if self.wide else struct.unpack_from("<HH", payload))

    def _hit(self, record):
        when, index, tid = struct.unpack_from("<QII" if self.wide else "<QHH", record.payload)
        if index not in self.names:
            self.unnamed += 1
        name = self.names.get(index, (f"#{index}",))[0]
        self.hits.append((record.sequence, tid, name, bool(record.flags & EXIT), self.texts.get(record.offset), when,
                          bool(record.flags & HELD_TIME)))

    def by_thread(self):
        threads = collections.defaultdict(list)
        for hit in self.hits:
            threads[hit[1]].append(hit)
        return threads
