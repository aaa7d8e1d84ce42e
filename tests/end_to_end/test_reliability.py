"""Properties that hold on any input, however damaged or hostile. Tests are named after the rows of the project's
reliability goals: D3 memory, D4 time, D5 prefixes, D7 the same answer by every route, D8 depth, D9 decompression bombs;
D10, D11 and D13 are in test_reliability_names.py, D14 in test_reliability_mutations.py. (Fuzz targets, unit tests and
the sanitizer builds hold D1, D2, D6 and D12.)"""
import gzip
import json
import os
import random
import shutil
import struct
import subprocess
import unittest

import slow_xray
from reliability import MIB, Case, reading_commands
from slow_xray import CUSTOM, ENTER, EXIT, NEW_BUFFER, TYPED
from xray_recorder import telltale


def top(*arguments, **how):
    """What `top --json` prints, without the names of the files, which are not the same for the same bytes."""
    document = json.loads(telltale("top", "--json", *arguments, **how).stdout)
    for problem in document["problems"]:
        del problem["file"]
    return document


class Reliability(Case):
    # --- D3

    def hostile_files(self):
        extremes = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]
        for version in range(1, 6):
            for value in extremes:
                def small():
                    writer = slow_xray.Writer(version, buffer_size=512)
                    for tid in (1, 2):
                        writer.buffer(tid, 9, 0, 1000)
                        writer.function(ENTER, 1, 5)
                        writer.custom(b"payload", 1010, 5)
                        writer.function(EXIT, 1, 5)
                    return writer
                for offset in (8, 16):  # cycle frequency, buffer size
                    data = bytearray(small().bytes())
                    struct.pack_into("<Q", data, offset, value)
                    yield "header+%d" % offset, version, value, bytes(data)
                if version >= 2:
                    data = bytearray(small().bytes())
                    struct.pack_into("<Q", data, 33, value)
                    yield "extents", version, value, bytes(data)
                for kind in (CUSTOM, TYPED):
                    writer = small()
                    writer.metadata(kind, "IIH", value & 0xFFFFFFFF, 1, 1)
                    writer.buffer(3, 9, 0, 1000)
                    yield "event size", version, value, writer.bytes()
                writer = small()
                writer.function(ENTER, min(value, 0x0FFFFFFF), value & 0xFFFFFFFF)
                writer.cpu(0, value)
                writer.metadata(NEW_BUFFER, "I", value & 0xFFFFFFFF)
                yield "id, time, thread", version, value, writer.bytes()

    def test_d3_hostile_lengths_cost_no_memory(self):
        for field, version, value, data in self.hostile_files():
            path = self.write("hostile", data)
            for words in (["info", "@"], ["top", "-j", "2", "@"]):
                status, errors = self.run_limited(words, path, address_space=512 * MIB, private_memory=32 * MIB)
                self.assertEqual(status, 0, (field, version, value, words, errors))

    # --- D4

    @staticmethod
    def worst_shapes(n):
        """(name, file of about n bytes): the most expensive inputs for a careless reader."""
        def deep(exits):
            writer = slow_xray.Writer(5)
            writer.buffer(1, 1, 0, 1)
            for i in range(n // 16):
                writer.function(ENTER, i % 5000 + 1, 1)
            for i in range(n // 16):
                writer.function(EXIT, exits(i), 1)
            return writer.bytes()
        yield "orphans below a deep stack", deep(lambda i: 100_000)
        yield "each exit unwinds", deep(lambda i: 1 + (i * 7919) % 5000)
        writer = slow_xray.Writer(5)
        for i in range(n // 88):
            writer.buffer(i, 1, 0, 1000 - i % 1000)
            writer.function(ENTER, i % (1 << 28), 1)
        yield "a thread and a function each buffer", writer.bytes()
        # Buffers hidden in payloads, each of which claims to end where the file does.
        writer = slow_xray.Writer(5)
        inside = b"".join([bytes([3]) + bytes(15), bytes([9]) + bytes(15), bytes([19]) + bytes(15), bytes([5]) + bytes(15)])
        writer.buffer(1, 1, 0, 1)
        for i in range(n // 192):
            writer.custom(bytes([15]) + struct.pack("<Q", n - i * 96 - 200) + bytes(7) + inside, 0, 0)
        for i in range(n // 16):
            writer.function(ENTER, 1, 1)
        writer.raw(b"\x7f" * 16)
        yield "hidden buffers", writer.bytes()
        head = slow_xray.Writer(5).bytes()
        yield "openings that are none", head + bytes([15] + [0] * 15 + [3] + [0] * 15) * (n // 32)
        yield "zeros", head + bytes(n)
        one = slow_xray.Writer(1, buffer_size=1 << 40)
        for i in range(n // 80):
            one.buffers.append(bytes([3]) + bytes(15) + bytes([9]) + bytes(15) + bytes([5]) + bytes(15) + b"\x7f" * 16)
        yield "version 1, wrong buffer size", one.header + b"".join(one.buffers)
        basic = struct.pack("<HHIQ", 3, 0, 3, 10**9) + bytes(16)
        yield "basic, a thread each record", basic + b"".join(
            struct.pack("<HBBiQIIQ", 0, 0, i & 1, 1, 10**6 - i, i // 2, 1, 0) for i in range(n // 32))
        yield "basic, broken records", basic + b"\xff" * n

    def test_d4_time_grows_with_the_input_and_no_faster(self):
        if not shutil.which("valgrind"):
            self.fail("valgrind is needed")
        small = dict(self.worst_shapes(48 << 10))
        large = dict(self.worst_shapes(192 << 10))
        start = {}
        empty = self.write("empty", slow_xray.Writer(5).bytes())
        for name in small:
            for words in (["top", "-j", "1", "@"],) + ((["info", "-j", "1", "@"],) if "basic" in name else ()):
                base = start.setdefault(words[0], self.instructions(words, empty))
                few = self.instructions(words, self.write("small", small[name])) - base
                many = self.instructions(words, self.write("large", large[name])) - base
                # Output is sorted: n log n; slightly more than 4.
                self.assertLess(many, 4.6 * max(few, base // 10), (name, words, few, many))

    # --- D5

    def test_d5_every_prefix_gives_what_was_whole(self):
        """Sampled here through the program; every prefix of every sample is a unit test."""
        for version in range(1, 6):
            rng = random.Random(version)
            data = slow_xray.random_fdr(rng, version, calls=30)
            last = -1
            for cut in sorted(rng.sample(range(32, len(data)), min(60, len(data) - 32))):
                path = self.write("cut", data[:cut])
                info = json.loads(telltale("info", "--json", path).stdout)
                self.assertGreaterEqual(info["records"], last, (version, cut))
                last = info["records"]
                for problem in info["problems"]:
                    if problem["kind"] in ("torn tail", "corruption"):
                        self.assertLessEqual(problem["offset"], cut)
                strict = telltale("info", "--strict", path, check=False).returncode
                self.assertIn(strict, (0, 4))
            for cut in range(32):
                path = self.write("cut", data[:cut])
                self.assertEqual(telltale("top", path, check=False).returncode, 3, cut)

    # --- D7

    def check_profile(self, data, path):
        trace = slow_xray.Trace(data)
        expected = slow_xray.profile(trace)
        rows = {row["id"]: row for row in json.loads(telltale("top", "--json", "--exact", path).stdout)["rows"]}
        self.assertEqual(rows.keys(), {id & 0xFFFFFFFF for id in expected})
        hz = trace.frequency or 10**9
        for id, want in expected.items():
            row = rows[id & 0xFFFFFFFF]
            for key in ("calls", "unwound", "unfinished", "orphan_exits"):
                self.assertEqual(row[key], want[key], (id, key))
            for key in ("sum", "total", "self", "min", "median", "p90", "p99", "max"):
                self.assertEqual(row[key + "_ns"], (want[key] * 10**9 * 2 + hz) // (2 * hz), (id, key))

    def test_d7_a_hundred_traces_as_the_slow_reader_reads_them(self):
        for seed in range(100):
            rng = random.Random(seed)
            data = slow_xray.random_basic(rng) if seed % 4 == 0 else slow_xray.random_fdr(rng)
            path = self.write("seed%d" % seed, data)
            with self.subTest(seed=seed):
                self.assertEqual(telltale("check", path, check=False).returncode, 0)
                self.check_profile(data, path)
                one = top("-j", "1", path)
                for jobs in ("2", "8"):
                    self.assertEqual(top("-j", jobs, path), one)
                self.assertEqual(top("-", input=data), one)
                if seed % 5 == 0:
                    packed = self.write("packed", gzip.compress(data))
                    self.assertEqual(top(packed), one)
                    zstd = subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout
                    packed = self.write("packed", zstd)
                    self.assertEqual(top(packed), one)
                    self.assertEqual(top("-", input=zstd), one)

    def test_d7_large_traces_cut_into_units(self):
        """Large enough that a thread's records are processed in several units."""
        rng = random.Random(7)
        writer = slow_xray.Writer(5)
        stack, blob = [], bytearray()
        writer.buffer(1, 1, 0, 10**6)
        for i in range(900_000):
            if not stack or (len(stack) < 300 and rng.random() < 0.5):
                stack.append(rng.randrange(1, 40))
                blob += struct.pack("<II", stack[-1] << 4, 3)
            elif rng.random() < 0.001:
                blob += struct.pack("<II", rng.randrange(1, 60) << 4 | EXIT << 1, 5)
                stack = stack[: len(stack) // 2]
            else:
                blob += struct.pack("<II", stack.pop() << 4 | EXIT << 1, 2)
        writer.raw(bytes(blob))
        for i in range(3000):
            writer.buffer(2, 1, 0, 10**6 + 10**4 * i)
            for j in range(150):
                writer.function(ENTER if (i + j) % 7 < 4 else EXIT, (i * j) % 11 + 1, 10)
        order = list(range(3001))
        rng.shuffle(order)
        data = writer.bytes(order)
        path = self.write("units", data)
        self.check_profile(data, path)
        for words in (["top", "--json"], ["top", "--json", "--exact"], ["info", "--json"],
                      ["top", "--json", "--depth", "3"], ["top", "--json", "--by-thread"]):
            one = telltale(*words, "-j", "1", path).stdout
            for jobs in ("2", "3", "8"):
                self.assertEqual(telltale(*words, "-j", jobs, path).stdout, one, (words, jobs))

    # --- D8

    def test_d8_ten_million_nested_calls_on_a_stack_of_256_kib(self):
        deep = 10_000_000
        writer = slow_xray.Writer(5)
        writer.buffer(1, 1, 0, 1)
        writer.raw(struct.pack("<II", 1 << 4, 1) * deep + struct.pack("<II", 1 << 4 | 2, 1) * deep)
        path = self.write("deep", writer.bytes())
        del writer
        for words in (["info", "@"], ["check", "@"], ["top", "@"]):
            status, errors = self.run_limited(words, path, stack=256 << 10)
            self.assertEqual(status, 0, (words, errors))
        row = json.loads(telltale("top", "--json", path).stdout)["rows"][0]
        self.assertEqual((row["calls"], row["unfinished"]), (deep, 0))
        # Sum over all levels: 1 + 3 + 5 ... ticks.
        self.assertEqual((row["total_ns"], row["sum_ns"]), (2 * deep - 1, deep * deep))
        os.remove(path)
        # Verbs that write a line per call get fewer calls.
        deep = 300_000
        writer = slow_xray.Writer(5)
        writer.buffer(1, 1, 0, 1)
        writer.raw(struct.pack("<II", 1 << 4, 1) * deep + struct.pack("<II", 1 << 4 | 2, 1) * deep)
        path = self.write("deep", writer.bytes())
        for words in reading_commands(self.folder):
            status, errors = self.run_limited(words, path, stack=256 << 10)
            self.assertEqual(status, 0, (words, errors))

    # --- D9

    def test_d9_decompression_bombs(self):
        head = slow_xray.Writer(5).bytes()
        zeros = bytes(300 * MIB)
        zstd = ["zstd", "-q", "-c"]
        bombs = {
            "gzip": gzip.compress(head + zeros, 9),
            "zstd": subprocess.run(zstd, input=head + zeros, capture_output=True, check=True).stdout,
            "zstd, long window": subprocess.run([*zstd, "--ultra", "-20", "--long=31"], input=head + zeros[: 64 * MIB],
                                                capture_output=True, check=True).stdout,
        }
        del zeros
        for name, data in bombs.items():
            path = self.write("bomb", data)
            for words in (["info", "@"], ["top", "@"]):
                status, errors = self.run_limited(words, path, address_space=512 * MIB, private_memory=48 * MIB)
                self.assertEqual(status, 3, (name, words, errors))
                self.assertNotIn("alloc", errors, name)
        # A nested compressed stream is not decompressed.
        path = self.write("nested", gzip.compress(gzip.compress(head)))
        self.assertEqual(self.run_limited(["info", "@"], path)[0], 3)
        # Several members are one file; bytes after them are reported.
        data = slow_xray.random_fdr(random.Random(1), 5)
        half = len(data) // 2
        path = self.write("members", gzip.compress(data[:half]) + gzip.compress(data[half:]))
        plain = self.write("plain", data)
        self.assertEqual(top(path), top(plain))
        path = self.write("junk", gzip.compress(data) + b"junk")
        self.assertEqual(telltale("top", "--strict", path, check=False).returncode, 4)
        self.assertEqual(top(path)["rows"], top(plain)["rows"])


if __name__ == "__main__":
    unittest.main()
