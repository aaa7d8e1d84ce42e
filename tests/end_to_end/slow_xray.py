"""A slow, plain XRay reader and writer, made from the format's description without any of telltale's code: the
reference for tests. Only valid files, and files whose extents end inside a record."""

import struct

ENTER, EXIT, TAIL_EXIT, ENTER_ARGS = range(4)
NEW_BUFFER, END_OF_BUFFER, NEW_CPU, TSC_WRAP, WALL, CUSTOM, ARGUMENT, EXTENTS, TYPED, PID = range(10)


class Thread:
    """Events of one thread: (time, action, id, arguments) for calls, (time, "custom" or "typed", type, payload) for
    events, (time, "cpu", number, []) and (time, "wrap", 0, []).

    own_times: custom events have a time of their own (versions 1 to 4), which does not affect other records: it is no
    later than that of the next record."""

    def __init__(self, own_times=False):
        self.pieces = []  # (time stamp of the first NewCPUId, events)
        self.own_times = own_times

    def events(self):
        pieces = sorted(self.pieces, key=lambda piece: piece[0])
        found = []
        for index, (_, events) in enumerate(pieces):
            limits = [start for start, _ in pieces[index + 1 : index + 2]]
            for at, event in enumerate(events):
                if self.own_times and event[1] == "custom":
                    after = [later[0] for later in events[at + 1 :] if later[1] != "custom"][:1]
                    event = (min([event[0], *after, *limits]), *event[1:])
                found.append(event)
        return found


class Trace:
    def __init__(self, data):
        self.threads = {}  # (pid, tid) -> Thread
        order = "<" if data[1] == 0 else ">"
        self.order = order
        self.version, self.type = struct.unpack_from(order + "HH", data)
        self.frequency, self.buffer_size = struct.unpack_from(order + "QQ", data, 8)
        self.data = data
        if self.type == 1:
            self._read_fdr()
        else:
            self._read_basic()

    def copied_buffers(self):
        """How many buffers repeat another one: clang's runtime sometimes writes one twice."""
        pieces = [repr(piece) for thread in self.threads.values() for piece in thread.pieces]
        return len(pieces) - len(set(pieces))

    def _field(self, code, at):
        return struct.unpack_from(self.order + code, self.data, at)[0]

    def _read_fdr(self):
        at = 32
        while at < len(self.data):
            if self.version == 1:
                end = self._read_buffer(at, len(self.data))
                at = max(end, at + self.buffer_size)
            else:
                size = self._field("Q", at + 1)
                self._read_buffer(at + 16, at + 16 + size)
                at += 16 + size

    def _read_buffer(self, at, end):
        tid = pid = now = start = None
        events = []
        little = self.order == "<"
        while at < end:
            first = self.data[at]
            if (first & 1 if little else first >> 7) == 0:
                if at + 8 > end:
                    break
                word, delta = struct.unpack_from(self.order + "II", self.data, at)
                action = word >> 1 & 7 if little else word >> 28 & 7
                function = word >> 4 if little else word & 0x0FFFFFFF
                now += delta
                events.append((now, action, function, []))
                at += 8
                continue
            kind = first >> 1 if little else first & 0x7F
            if at + 16 > end:
                break
            if kind == NEW_BUFFER:
                tid = self._field("i", at + 1)
            elif kind == PID:
                pid = self._field("i", at + 1)
            elif kind == NEW_CPU:
                now = self._field("Q", at + 3)
                start = now if start is None else start
                events.append((now, "cpu", self._field("H", at + 1), []))
            elif kind == TSC_WRAP:
                now = self._field("Q", at + 1)
                events.append((now, "wrap", 0, []))
            elif kind == ARGUMENT:
                events[-1][3].append(self._field("Q", at + 1))
            elif kind in (CUSTOM, TYPED):
                size = self._field("i", at + 1)
                if at + 16 + size > end:
                    break
                payload = self.data[at + 16 : at + 16 + size]
                if self.version >= 5:
                    now += self._field("i", at + 5)
                time = now if self.version >= 5 else self._field("Q", at + 5)
                event_type = self._field("H", at + 9) if kind == TYPED else 0
                events.append((time, "typed" if kind == TYPED else "custom", event_type, payload))
                at += size
            at += 16
            if kind == END_OF_BUFFER:
                break
        self.threads.setdefault((pid or 0, tid), Thread(self.version < 5)).pieces.append((start, events))
        return at

    def _read_basic(self):
        last = None
        for at in range(32, len(self.data) - 31, 32):
            if self._field("H", at) == 1:
                last[3].append(self._field("Q", at + 16))
                continue
            pid = self._field("I", at + 20) if self.version >= 3 else 0
            last = (self._field("Q", at + 8), self.data[at + 3], self._field("i", at + 4), [])
            self.threads.setdefault((pid, self._field("I", at + 16)), Thread()).pieces.append((0, [last]))


def profile(trace):
    """id -> dict of calls, sum, total, self, min, max, median, p90, p99 (ticks), unwound, unfinished, orphan_exits."""
    rows = {}

    def row(function):
        return rows.setdefault(
            function,
            {"durations": [], "total": 0, "self": 0, "unwound": 0, "unfinished": 0, "orphan_exits": 0},
        )

    for thread in trace.threads.values():
        stack = []  # [id, entered, time in callees]
        floor = now = 0
        for event in thread.events():
            time, action, function = event[:3]
            floor = time = max(time, floor)
            if action == "wrap":  # changes the clock, but is not an event of the thread
                continue
            now = time
            if isinstance(action, str):
                continue
            if action in (ENTER, ENTER_ARGS):
                stack.append([function, time, 0])
                continue
            if all(frame[0] != function for frame in stack):
                row(function)["orphan_exits"] += 1
                continue
            while True:
                top, entered, callees = stack.pop()
                closed = row(top)
                closed["durations"].append(time - entered)
                closed["self"] += time - entered - callees
                if all(frame[0] != top for frame in stack):
                    closed["total"] += time - entered
                if stack:
                    stack[-1][2] += time - entered
                if top == function:
                    break
                closed["unwound"] += 1
        # Calls that are open at the end count up to the thread's last event, only in total and self.
        while stack:
            function, entered, callees = stack.pop()
            row(function)["unfinished"] += 1
            row(function)["self"] += now - entered - callees
            if all(frame[0] != function for frame in stack):
                row(function)["total"] += now - entered
            if stack:
                stack[-1][2] += now - entered
    for values in rows.values():
        ordered = sorted(values.pop("durations"))
        values["calls"] = len(ordered)
        values["sum"] = sum(ordered)
        for key, fraction in (("median", 0.5), ("p90", 0.9), ("p99", 0.99)):
            values[key] = ordered[min(len(ordered) - 1, int(len(ordered) * fraction))] if ordered else 0
        values["min"] = ordered[0] if ordered else 0
        values["max"] = ordered[-1] if ordered else 0
    return rows


class Writer:
    """Builds FDR files. Every method appends one record to the open buffer."""

    def __init__(self, version, order="<", frequency=10**9, buffer_size=4096, unused=0xAA):
        self.version, self.order, self.buffer_size = version, order, buffer_size
        self.unused = bytes([unused])
        self.little = order == "<"
        bits = bytes([3 if self.little else 0xC0]) + self.unused * 3
        self.header = (
            struct.pack(order + "HH", version, 1) + bits + struct.pack(order + "QQ", frequency, buffer_size) + bytes(8)
        )
        self.buffers = []

    def buffer(self, tid, pid, cpu, tsc, wall=(1, 2)):
        self.buffers.append(b"")
        self.metadata(NEW_BUFFER, "i", tid)
        self.metadata(WALL, "qi", *wall)
        if self.version >= 3:
            self.metadata(PID, "i", pid)
        self.cpu(cpu, tsc)

    def raw(self, data):
        self.buffers[-1] += data

    def metadata(self, kind, code, *values):
        first = kind << 1 | 1 if self.little else 0x80 | kind
        body = struct.pack(self.order + code, *values)
        self.raw(bytes([first]) + body + self.unused * (15 - len(body)))

    def cpu(self, cpu, tsc):
        self.metadata(NEW_CPU, "HQ", cpu, tsc)

    def function(self, action, function, delta):
        word = function << 4 | action << 1 if self.little else action << 28 | function
        self.raw(struct.pack(self.order + "II", word, delta))

    def custom(self, payload, tsc, delta, cpu=0):
        if self.version >= 5:
            self.metadata(CUSTOM, "ii", len(payload), delta)
        elif self.version == 4:
            self.metadata(CUSTOM, "iQH", len(payload), tsc, cpu)
        else:
            self.metadata(CUSTOM, "iQ", len(payload), tsc)
        self.raw(payload)

    def typed(self, event_type, payload, delta):
        self.metadata(TYPED, "iiH", len(payload), delta, event_type)
        self.raw(payload)

    def bytes(self, buffer_order=None):
        out = [self.header]
        for index in buffer_order or range(len(self.buffers)):
            body = self.buffers[index]
            if self.version == 1:
                end = bytes([3 if self.little else 0x81]) + self.unused * 15
                out.append((body + end).ljust(self.buffer_size, b"\xff"))
            else:
                out.append(bytes([15 if self.little else 0x87]) + struct.pack(self.order + "Q", len(body)))
                out.append(self.unused * 7 + body)
        return b"".join(out)


def random_fdr(rng, version=None, calls=400):
    """A valid FDR trace of some threads: nested calls, tail calls, unwound frames, exits without entries, events,
    arguments, CPU changes, clock wraps; buffers in any order. rng: random.Random."""
    version = version or rng.randint(1, 5)
    writer = Writer(version, rng.choice("<>"), rng.choice([0, 10**9, 2_100_000_000]), 8192, rng.randrange(256))
    for thread in range(rng.randint(1, 4)):
        tid, pid = 10 + thread, 100 + thread % 2
        now = rng.randrange(2**40)
        stack = []
        left = 0
        for _ in range(rng.randint(1, calls)):
            now_step = rng.choice([0, 1, rng.randrange(1000), rng.randrange(2**31)])
            if left <= 0:
                now += rng.randint(-300 if now > 300 and rng.random() < 0.2 else 1, 10**6)
                writer.buffer(tid, pid, rng.randrange(65536), now)
                left = rng.randint(1, 120)
            left -= 1
            dice = rng.random()
            if dice < 0.40:
                function = rng.choice([1, 2, 3, 5000, 0x0FFFFFFF, rng.randint(1, 300)])
                stack.append(function)
                now += now_step
                if rng.random() < 0.2:
                    writer.function(ENTER_ARGS, function, now_step)
                    for _ in range(rng.randint(1, 2)):
                        writer.metadata(ARGUMENT, "Q", rng.randrange(2**64))
                else:
                    writer.function(ENTER, function, now_step)
            elif dice < 0.80 and stack:
                for _ in range(rng.randint(1, 3) if rng.random() < 0.1 else 1):
                    function = stack.pop() if stack else 7
                now += now_step
                writer.function(rng.choice([EXIT, EXIT, TAIL_EXIT]), function, now_step)
            elif dice < 0.83:
                now += now_step
                writer.function(EXIT, rng.randint(1, 300), now_step)
                # The model of the stack need not know what it unwound: later exits may become orphans.
            elif dice < 0.90:
                payload = rng.randbytes(rng.randrange(40))
                if version >= 5:
                    now += now_step
                writer.custom(payload, now + (0 if version >= 5 else now_step), now_step)
            elif dice < 0.94 and version >= 5:
                now += now_step
                writer.typed(rng.randrange(65536), rng.randbytes(rng.randrange(40)), now_step)
            elif dice < 0.97:
                now += -min(now, 50) if rng.random() < 0.2 else now_step  # clocks that differ between CPUs
                writer.cpu(rng.randrange(65536), now)
            else:
                now += now_step
                writer.metadata(TSC_WRAP, "Q", now)
    order = list(range(len(writer.buffers)))
    rng.shuffle(order)
    return writer.bytes(order)


def random_basic(rng, calls=400):
    version, order = rng.randint(1, 3), rng.choice("<>")
    out = [struct.pack(order + "HHIQ", version, 0, 0xAAAAAAAB, 10**9) + b"\xaa" * 16]
    now = rng.randrange(2**50)
    stacks = {}
    for _ in range(calls):
        tid, pid = rng.randint(1, 4), 100
        stack = stacks.setdefault(tid, [])
        now += rng.randrange(1000)
        arguments = False
        if rng.random() < 0.5 or not stack:
            function = rng.choice([1, 2, 3, rng.randint(1, 2**31 - 1)])
            stack.append(function)
            arguments = version >= 2 and rng.random() < 0.3
            kind = ENTER_ARGS if arguments else ENTER
        else:
            function = stack.pop()
            if stack and rng.random() < 0.1:
                function = stack.pop()
            kind = TAIL_EXIT if version >= 2 and rng.random() < 0.2 else EXIT
        record = struct.pack(order + "HBBiQI", 0, tid, kind, function, now, tid)
        out.append((record + (struct.pack(order + "I", pid) if version >= 3 else b"")).ljust(32, b"\xaa"))
        if arguments:
            process = struct.pack(order + "I", pid) if version >= 3 else b"\xaa" * 4
            record = struct.pack(order + "HHiI", 1, 0xAAAA, function, tid) + process
            out.append((record + struct.pack(order + "Q", rng.randrange(2**64))).ljust(32, b"\xaa"))
    return b"".join(out)
