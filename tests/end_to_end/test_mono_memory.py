"""Reports of Mono recordings need memory for distinct items (methods, types, the objects of a heap shot), not for the
length of the recording: reports of a long recording run under a limit of private memory, and match those of a short
one."""
import json
import os
import resource
import subprocess
import tempfile
import unittest

from mono_file import START, Chain, buffer, event, file_header, names, sleb, uleb

TELLTALE = os.environ["TELLTALE"]
MIB = 1 << 20
METHODS = {0x1000 + 16 * i: "Program:Method%d ()" % i for i in range(40)}
TYPES = {0x8000 + 32 * i: "Type%d" % i for i in range(60)}
COUNTERS = ["Methods JITted using mono JIT", "Working Set", "Private Bytes", "Page Faults"]
ROUND_NS = 100_000_000
OBJECTS = 800  # of a heap shot


def events_of_a_round():
    """Some events of every kind, the same in each round, including a heap shot."""
    method = Chain()
    addresses, types = list(METHODS), list(TYPES)
    out = []
    for i in range(1500):  # calls, five deep
        frames = [addresses[(i * 7 + depth) % len(addresses)] for depth in range(5)]
        out += [event(0x23, method(frame)) for frame in frames]
        out += [event(0x13, method(frame)) for frame in reversed(frames)]
    for i in range(500):  # allocations, with backtraces
        stack = [method(addresses[i % 40]), method(addresses[i % 7])]
        out.append(event(0x10, sleb(types[i % 60]), sleb(0x100 + 2 * i), uleb(16 + i % 5 * 8), uleb(2), *stack))
    for i in range(50):
        out.append(event(0x41, uleb(2), uleb(i), sleb(0x100 + 2 * i)))  # handles
        out.append(event(0x51, uleb(2), uleb(i)))
        out.append(event(0x84, sleb(0x100), uleb(1), method(addresses[i % 9])))  # exceptions
        out.append(event(0x14, b"\0", uleb(0), method(addresses[i % 9]), sleb(0x100)))
        out.append(event(0x85, b"\1", sleb(0x100 + 2 * (i % 10)), uleb(0)))  # waits for locks
        out.append(event(0x85, b"\2", sleb(0x100 + 2 * (i % 10)), uleb(0)))
        out.append(event(0x07, sleb(1), uleb(1), sleb(0x10000 + addresses[i % 40] + 1), uleb(1), method(addresses[i % 40])))
    out += [event(0x11, bytes([step]), b"\1") for step in (6, 10, 7)]
    out += [event(0x06), event(0x11, b"\0\1")]
    out.append(event(0x36, uleb(20), *(sleb(0x700) + sleb(0x1000 + 2 * i) for i in range(20))))
    out.append(event(0x31, uleb(2), sleb(0x100), sleb(0x102)))
    out.append(event(0x11, b"\5\1"))
    out.append(event(0x21, uleb(1 << 20)))
    for i in range(OBJECTS):
        references = (uleb(8) + sleb(0x1000 + 2 * ((i * j) % OBJECTS)) for j in (3, 5, 11))
        out.append(event(0x26, sleb(0x1000 + 2 * i), sleb(types[i % 60]), uleb(32), b"\1", uleb(3), *references))
    out.append(event(0x16))
    out += [event(0x11, bytes([step]), b"\1") for step in (8, 9, 11)]
    return b"".join(out)


def counters_of_a_round():
    values = (uleb(index) + uleb(3) + sleb(index * 1000 + step) for step in (1, -1) for index in range(1, 4))
    return b"".join(event(0x47, *values, uleb(0)) for _ in range(2))


def write_recording(path, rounds):
    with open(path, "wb") as file:
        file.write(file_header())
        file.write(buffer(names(METHODS, TYPES, COUNTERS), START))
        events, counters = events_of_a_round(), counters_of_a_round()
        for i in range(rounds):
            time = START + (i + 1) * ROUND_NS
            file.write(buffer(events, time, thread=1 + i % 3))
            file.write(buffer(counters, time, thread=9))


def run(arguments, data_limit):
    """Runs telltale with a limit on its private memory (heap, stacks; mapped files do not count)."""

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (data_limit, data_limit))

    return subprocess.run([TELLTALE, *arguments], preexec_fn=limit, capture_output=True, timeout=300)


class MonoMemory(unittest.TestCase):
    ROUNDS = 1200

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.long = os.path.join(cls.folder.name, "long.mlpd")
        cls.short = os.path.join(cls.folder.name, "short.mlpd")
        write_recording(cls.long, cls.ROUNDS)
        write_recording(cls.short, 3)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_report(self, path, *options, limit):
        done = run(["report", "--json", "--jobs=2", path, *options], limit)
        self.assertEqual(done.returncode, 0, done.stderr.decode()[-500:])
        return json.loads(done.stdout)

    def compare(self, *options, limit):
        """The long recording's figures are the short one's, times the ratio of rounds."""
        long = self.run_report(self.long, *options, limit=limit)
        short = self.run_report(self.short, *options, limit=limit)
        self.assertEqual(set(long), set(short))
        times = self.ROUNDS // 3
        for report, key in (("alloc", "bytes"), ("alloc", "objects"), ("call", "calls"), ("exception", "throws"),
                            ("exception", "catch"), ("monitor", "contentions"), ("sample", "samples")):
            if report in short:
                self.assertGreater(short[report][key], 0)
                self.assertEqual(long[report][key], times * short[report][key], (report, key))
        return long, short

    def test_the_recording_is_large(self):
        self.assertGreater(os.path.getsize(self.long), 96 * MIB)
        checked = run(["check", self.short], 48 * MIB)
        self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_default_reports(self):
        long, short = self.compare(limit=48 * MIB)
        self.assertEqual(len(long["heapshot"]["shots"]), self.ROUNDS)
        self.assertEqual({shot["objects"] for shot in long["heapshot"]["shots"]}, {OBJECTS})
        self.assertEqual(long["call"]["methods"][0]["calls"], short["call"]["methods"][0]["calls"] * self.ROUNDS // 3)

    def test_verbose_reports(self):
        self.compare("--verbose", limit=48 * MIB)

    def test_traces(self):
        for options in ([], ["--like-mprof"]):
            long, short = self.compare("--traces", *options, limit=64 * MIB)
            last, third = (
                [(row["type"], row["from"], row["references"]) for row in found["heapshot"]["references"]
                 if row["shot"] == shot]
                for found, shot in ((long, self.ROUNDS - 1), (short, 2)))
            self.assertGreater(len(third), 100)
            self.assertEqual(last, third)
            self.assertEqual(len(long["alloc"]["traces"]), len(short["alloc"]["traces"]))

    def test_reports_on_request(self):
        self.compare("--reports=stats,growth,retention,pauses,contention,hotspots,series", "--rows=20", limit=64 * MIB)

    def test_every_value_of_counters(self):
        """Half a million values, in some tens of bytes each."""
        path = os.path.join(self.folder.name, "counters.mlpd")
        rows, rounds = 2500, 50
        with open(path, "wb") as file:
            file.write(file_header() + buffer(names({}, {}, COUNTERS), START))
            events = b"".join(
                event(0x47, *(uleb(index) + uleb(3) + sleb((i * index) % 9 - 3) for index in range(1, 5)), uleb(0))
                for i in range(rows))
            for i in range(rounds):
                file.write(buffer(events, START + (i + 1) * ROUND_NS, thread=9))
        done = run(["report", "--verbose", "--csv", "--reports=counters", path], 48 * MIB)
        self.assertEqual(done.returncode, 0, done.stderr.decode()[-500:])
        lines = done.stdout.decode().splitlines()
        self.assertEqual(len(lines) - 1, 4 * rows * rounds)
        for index, name in enumerate(COUNTERS, 1):
            last = [line for line in lines[-20:] if ",%s," % name in line][-1]
            self.assertEqual(int(last.split(",")[3]), rounds * sum((i * index) % 9 - 3 for i in range(rows)), name)

    def test_the_limit_is_real(self):
        """An exact profile keeps every duration."""
        self.assertNotEqual(run(["top", "--exact", "--jobs=2", self.long], 48 * MIB).returncode, 0)


if __name__ == "__main__":
    unittest.main()
