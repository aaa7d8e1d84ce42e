"""Rows D3 (memory), D4 (time), D7 (the same answer by every route) and D8 (depth) of the reliability goals, for
StackTrack recordings. TELLTALE_LONG=1: more streams, deeper calls."""
import collections
import gzip
import json
import os
import random
import shutil
import struct
import tempfile
import unittest

import reliability
import stacktrack_streams as streams
from stacktrack_streams import BLOCK, CLASSIC, EXIT, FUNCTION, HIT, SLOC, STEP, VALUE
from xray_recorder import SOURCE_DIR, telltale

LONG = bool(os.environ.get("TELLTALE_LONG"))
EXTREMES = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
GHZ = 10**9


def opening(platform, pid, scopes):
    """The records before the HITs: `scopes` functions, named f1, f2, ..."""
    return [platform.prologue(pid), platform.pack(streams.PROCINFO, pid, 0, pid, 1),
            platform.pack(streams.TIMETYPE, pid, 0, GHZ, 1), platform.pack(streams.TIMEINFO, pid, 0, 0, 1700000000),
            *(platform.told(SLOC, pid, 1, 1 + i, FUNCTION, 1 + i, 0, 0, text=f"f{1 + i}") for i in range(scopes))]


def random_stream(rng, platform):
    """(bytes, calls by function): threads with calls, steps and variables, in order of capture."""
    pid, scopes = 77, rng.randrange(2, 12)
    out = opening(platform, pid, scopes)
    out += [platform.told(SLOC, pid, 1, 100, STEP, 9, 0, 0, text="step"), platform.told(SLOC, pid, 1, 101, VALUE, 9, 0, 0, text="value"),
            platform.told(SLOC, pid, 1, 102, BLOCK, 9, 0, 0, text="block")]
    stacks, calls = collections.defaultdict(list), collections.defaultdict(lambda: [0, 0])
    now, sequence = 1000, 1
    threads = rng.randrange(1, 5)

    def leave(tid):
        scope, begun = stacks[tid].pop()
        name = "block" if scope == 102 else f"f{scope}"
        calls[name][0] += 1
        calls[name][1] += now - begun
        out.append(platform.pack(HIT, pid, sequence, now, scope, tid, bits=EXIT))

    for _ in range(rng.randrange(20, 400)):
        tid = 10 + rng.randrange(threads)
        now += rng.randrange(1, 50)
        sequence += 1
        what = rng.random()
        if what < 0.1:
            out.append(platform.pack(HIT, pid, sequence, now, 100, tid))
        elif what < 0.2:
            out.append(platform.told(HIT, pid, sequence, now, 101, tid, text="x" * rng.randrange(1, 60)))
        elif stacks[tid] and (what < 0.55 or len(stacks[tid]) > 30):
            leave(tid)
        else:
            scope = 102 if what > 0.9 else 1 + rng.randrange(scopes)
            stacks[tid].append((scope, now))
            out.append(platform.pack(HIT, pid, sequence, now, scope, tid))
    for tid in list(stacks):
        while stacks[tid]:
            now += 3
            sequence += 1
            leave(tid)
    return b"".join(out), {name: tuple(counts) for name, counts in calls.items()}


class StackTrackReliability(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keeper = tempfile.TemporaryDirectory(prefix="telltale-stacktrack-")
        cls.folder = cls.keeper.name

    @classmethod
    def tearDownClass(cls):
        cls.keeper.cleanup()

    write = reliability.Case.write
    run_limited = reliability.Case.run_limited
    instructions = reliability.Case.instructions

    def test_d3_hostile_fields_cost_no_memory(self):
        with open(os.path.join(SOURCE_DIR, "tests/golden/stacktrack/wide.tlg"), "rb") as file:
            wide = file.read()
        # Every 4 bytes of the first records of either layout, and of the first HIT: all sizes, counts, numbers and times are there.
        classic = streams.small_run()
        for name, data, end in (("wide", wide, 32 * 8), ("classic", classic, 24 * 12)):
            for offset in range(0, end, 4):
                for value in EXTREMES if LONG else (0, 2**31, 2**32 - 1, 2**64 - 1):
                    damaged = bytearray(data)
                    struct.pack_into("<Q", damaged, offset, value) if value > 2**32 else struct.pack_into("<I", damaged, offset, value)
                    path = self.write("hostile", bytes(damaged))
                    words = ["top", "-j", "2", "@"] if offset // 4 % 2 else ["info", "@"]
                    status, errors = self.run_limited(words, path, address_space=512 << 20, private_memory=32 << 20)
                    self.assertIn(status, (0, 3), (name, offset, value, words, errors))

    @staticmethod
    def worst_shapes(n):
        """(name, stream of about n bytes): the most expensive inputs for a careless reader."""
        pid = 7
        hits = n // 24
        def stream(scopes, records):
            return b"".join(opening(CLASSIC, pid, scopes) + records)
        yield "exits of nothing above a deep stack", stream(9, [
            CLASSIC.pack(HIT, pid, 2 + i, 1000 + i, 1 if i < hits // 2 else 9, 5, bits=0 if i < hits // 2 else EXIT) for i in range(hits)])
        yield "a thread each record", stream(3, [
            CLASSIC.pack(HIT, pid, 2 + i, 1000 + i, 1 + i % 3, i % 65535) for i in range(hits)])
        yield "sequence numbers backwards", stream(3, [
            CLASSIC.pack(HIT, pid, 2 + hits - i, 10**6 - i, 1 + i % 3, 5, bits=EXIT if i % 2 else 0) for i in range(hits)])
        yield "texts without an end", stream(1, [
            CLASSIC.pack(HIT, pid, 2 + i, 1000 + i, 1, 5, bits=streams.HAS_INFO) for i in range(hits)])
        yield "zeros", stream(1, [bytes(24)] * hits)
        yield "a scope each record", stream(1, [
            CLASSIC.told(SLOC, pid, 2 + i, 2 + i % 60000, FUNCTION, 1, 0, 0, text=f"g{i}") for i in range(hits // 2)])

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_d4_time_grows_with_the_input_and_no_faster(self):
        small, large = dict(self.worst_shapes(24 << 10)), dict(self.worst_shapes(96 << 10))
        words = ["top", "-j", "1", "@"]
        base = self.instructions(words, self.write("empty", b"".join(opening(CLASSIC, 7, 1))))
        for name in small:
            few = self.instructions(words, self.write("small", small[name])) - base
            many = self.instructions(words, self.write("large", large[name])) - base
            # Sorting is n log n; slightly more than 4.
            self.assertLess(many, 4.6 * max(few, base // 10), (name, few, many))

    def test_d7_by_every_road(self):
        for seed in range(200 if LONG else 40):
            rng = random.Random(seed)
            platform = (CLASSIC, streams.CLASSIC_BIG)[seed % 2]
            data, expected = random_stream(rng, platform)
            path = self.write("seed", data)
            with self.subTest(seed=seed):
                one = telltale("top", "--json", "--exact", "-j", "1", path).stdout
                rows = {row["function"]: (row["calls"], row["sum_ns"]) for row in json.loads(one)["rows"]}
                self.assertEqual(rows, expected)
                self.assertEqual(telltale("top", "--json", "--exact", "-j", "8", path).stdout, one)
                self.assertEqual(telltale("top", "--json", "--exact", "-", input=data).stdout, one)
                if seed % 4 == 0:
                    self.assertEqual(telltale("top", "--json", "--exact", self.write("packed", gzip.compress(data))).stdout, one)
                    wide = os.path.join(self.folder, "wide")
                    telltale("convert", "--to", "stacktrack-wide", "-o", wide, path)
                    rows = {row["function"]: (row["calls"], row["sum_ns"]) for row in json.loads(telltale("top", "--json", wide).stdout)["rows"]}
                    self.assertEqual(rows, expected)

    def test_d8_nested_calls_on_a_small_stack(self):
        deep = 10_000_000 if LONG else 300_000
        pid = 7
        head = b"".join(opening(CLASSIC, pid, 1))
        enter = struct.Struct("<HHIQHHI")
        calls = b"".join(enter.pack(HIT, pid, 2 + i, 1000 + i, 1, 5, 0) for i in range(deep))
        calls += b"".join(enter.pack(HIT | EXIT, pid, 2 + deep + i, 1000 + deep + i, 1, 5, 0) for i in range(deep))
        path = self.write("deep", head + calls)
        for words in (["info", "@"], ["check", "@"], ["top", "@"], ["report", "@"], ["dump", "@"],
                      ["convert", "--to", "perfetto", "-o", os.path.join(self.folder, "out"), "@"]):
            status, errors = self.run_limited(words, path, stack=256 << 10)
            self.assertEqual(status, 0, (words, errors))
        (row,) = json.loads(telltale("top", "--json", path).stdout)["rows"]
        self.assertEqual((row["calls"], row["unfinished"], row["total_ns"], row["sum_ns"]), (deep, 0, 2 * deep - 1, deep * deep))


if __name__ == "__main__":
    unittest.main()
