"""What must hold on any input, however damaged or hostile. Tests are named after the rows of the project's
reliability goals: D3 memory, D4 time, D5 prefixes, D7 the same answer by every road, D8 depth, D9 decompression bombs,
D10 and D11 names, D13 determinism, D14 blind mutation. (D1, D2, D6 and D12 are held by fuzz targets, unit tests and
the sanitizer builds.)"""

import csv
import gzip
import io
import json
import os
import re
import random
import resource
import shutil
import struct
import subprocess
import tempfile
import unittest

import slow_xray
from slow_xray import CUSTOM, ENTER, EXIT, NEW_BUFFER, TYPED
from xray_recorder import CLANGS, SOURCE_DIR, TELLTALE, telltale, without_address_randomisation

MIB = 1 << 20
BIN = os.path.dirname(TELLTALE)
STATUSES = {0, 1, 2, 3, 4}
CONTROL = set(range(32)) - {10} | {127}


def export_formats():
    """Names that `convert --to` takes."""
    text = telltale("convert", "--help").stdout.decode()
    names = re.findall(r"(?m)^  ([a-z0-9-]+) ", text[text.index("Formats:") :])
    # The recordings here are XRay's: other systems' formats are none for them.
    return [name for name in names if not name.startswith(("mono", "stacktrack", "sampler", "lcov"))]


def verbs():
    text = telltale("--help").stdout.decode()
    return re.findall(r"(?m)^  ([a-z]+) ", text[text.index("Verbs:") : text.index("Options:")])


def reading_commands(folder):
    """Every way to read a recording that this telltale has; "@" stands for the file. Output is a file in folder."""
    have = verbs()
    commands = [["info", "@"], ["info", "--json", "@"], ["top", "@"], ["top", "--json", "--exact", "@"],
                ["top", "--by-thread", "--csv", "@"]]
    output = os.path.join(folder, "out")
    for verb in ("dump", "check", "stacks", "graph", "report"):
        if verb in have:
            commands.append([verb, "@"])
    if "flame" in have:
        commands += [["flame", "-o", output + ".html", "@"], ["flame", "-o", output + ".svg", "@"]]
    if "dump" in have:
        commands += [["dump", "--json", "@"], ["dump", "--depth", "1", "@"], ["check", "--time", "1us..1s", "@"],
                     ["info", "--function", "*", "--depth", "2", "@"], ["flame", "--json", "-o", output, "@"]]
    if "diff" in have:
        commands.append(["diff", "@", "@"])
    if "convert" in have:
        commands += [["convert", "--to", name, "-o", output, "@"] for name in export_formats()]
    return commands


class Reliability(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.keeper = tempfile.TemporaryDirectory(prefix="telltale-reliability-")
        cls.folder = cls.keeper.name
        cls.samples = os.path.join(cls.folder, "samples")
        os.mkdir(cls.samples)
        subprocess.run([os.path.join(BIN, "write_samples"), cls.samples], check=True)
        cls.sample_files = [os.path.join(cls.samples, name) for name in sorted(os.listdir(cls.samples))]

    @classmethod
    def tearDownClass(cls):
        cls.keeper.cleanup()

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def run_limited(self, words, path, address_space=None, private_memory=None, stack=None):
        """(exit status, standard error). private_memory limits heap and thread stacks, not mapped files."""

        def limit():
            for what, value in ((resource.RLIMIT_AS, address_space), (resource.RLIMIT_DATA, private_memory),
                                (resource.RLIMIT_STACK, stack)):
                if value:
                    resource.setrlimit(what, (value, value))

        done = subprocess.run([TELLTALE, *(path if word == "@" else word for word in words)], preexec_fn=limit,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300)
        return done.returncode, done.stderr.decode(errors="replace")

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

    def instructions(self, words, path):
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", TELLTALE,
             *(path if word == "@" else word for word in words)],
            capture_output=True, text=True, timeout=300)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return int(done.stderr.split("Collected :")[1].split()[0])

    @staticmethod
    def worst_shapes(n):
        """(name, file of about n bytes): what would cost most with a careless reader."""
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
        # Buffers hidden in payloads, each of which says that it ends where the file does.
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
                # What is printed is sorted: n log n; a little more than 4.
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
        rows = {row["id"]: row for row in json.loads(telltale("top", "--json", "--exact", path).stdout)}
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
                one = telltale("top", "--json", "-j", "1", path).stdout
                for jobs in ("2", "8"):
                    self.assertEqual(telltale("top", "--json", "-j", jobs, path).stdout, one)
                self.assertEqual(telltale("top", "--json", "-", input=data).stdout, one)
                if seed % 5 == 0:
                    packed = self.write("packed", gzip.compress(data))
                    self.assertEqual(telltale("top", "--json", packed).stdout, one)
                    zstd = subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout
                    packed = self.write("packed", zstd)
                    self.assertEqual(telltale("top", "--json", packed).stdout, one)
                    self.assertEqual(telltale("top", "--json", "-", input=zstd).stdout, one)

    def test_d7_large_traces_cut_into_units(self):
        """Large enough that a thread's records are worked on in several pieces."""
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
        row = json.loads(telltale("top", "--json", path).stdout)[0]
        self.assertEqual((row["calls"], row["unfinished"]), (deep, 0))
        # In sum of all levels: 1 + 3 + 5 ... ticks.
        self.assertEqual((row["total_ns"], row["sum_ns"]), (2 * deep - 1, deep * deep))
        os.remove(path)
        # What writes a line a call does it for fewer calls.
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
        # A compressed stream inside another is not opened.
        path = self.write("nested", gzip.compress(gzip.compress(head)))
        self.assertEqual(self.run_limited(["info", "@"], path)[0], 3)
        # Several members are one file; what follows them is reported.
        data = slow_xray.random_fdr(random.Random(1), 5)
        half = len(data) // 2
        path = self.write("members", gzip.compress(data[:half]) + gzip.compress(data[half:]))
        plain = self.write("plain", data)
        self.assertEqual(telltale("top", "--json", path).stdout, telltale("top", "--json", plain).stdout)
        path = self.write("junk", gzip.compress(data) + b"junk")
        self.assertEqual(telltale("top", "--strict", path, check=False).returncode, 4)
        self.assertEqual(telltale("top", "--json", path).stdout, telltale("top", "--json", plain).stdout)

    # --- D10, D11

    NAMES = [
        "../../../../../../tmp/telltale-evil", "/tmp/telltale-evil", "</script><script>alert(1)</script>", "]]>",
        "=1+1", "+1", "@SUM(A1)", "-2", 'a"b,c', "it's; {rank=same}", "\x1b]0;owned\x07\x1b[31m", "line\nbreak",
        "tab\there", "\u202ertl", "%s%n%p", "&amp;<b>", "..", "CON", "x" * 5000, "fn=(1) a\ncalls=9", "a;b 3",
    ]

    def hostile_program(self):
        """A program whose functions have these names, and a trace that calls each once."""
        self.assertTrue(CLANGS, "clang is needed")
        source = []
        for index, name in enumerate(self.NAMES):
            escaped = "".join("\\%03o" % byte for byte in name.encode())
            source.append('extern "C" [[clang::xray_always_instrument, gnu::used]] void f%d() __asm__("%s");\n'
                          'void f%d() {}\n' % (index, escaped, index))
        path = self.write("names.cc", ("".join(source) + "int main() {}\n").encode())
        program = os.path.join(self.folder, "names")
        subprocess.run(["clang++-" + CLANGS[0], "-O1", "-fxray-instrument", "-fxray-instruction-threshold=100000",
                        path, "-o", program], check=True, timeout=60)
        writer = slow_xray.Writer(5)
        writer.buffer(1, 1, 0, 1)
        for index in range(len(self.NAMES)):
            writer.function(ENTER, index + 1, 1)
            writer.custom("\x1b]0;owned\x07</script>=1".encode() + b"\xff", 0, 1)
            writer.function(EXIT, index + 1, index + 1)
        return program, self.write("names.fdr", writer.bytes())

    def test_d11_names_arrive_unchanged_and_harmless(self):
        program, trace = self.hostile_program()
        rows = json.loads(telltale("top", "--json", "--sort", "id", "--program", program, trace).stdout)
        self.assertEqual([row["function"] for row in rows], self.NAMES)
        text = telltale("top", "--csv", "--sort", "id", "--program", program, trace).stdout.decode()
        cells = [row["function"] for row in csv.DictReader(io.StringIO(text, newline=""))]
        for cell, name in zip(cells, self.NAMES, strict=True):
            self.assertIn(cell, (name, "'" + name))
            self.assertNotIn(cell[0], "=+-@\t\r", name)
        for words in (["top"], ["info"], ["dump"], ["check"], ["sites"], ["stacks"]):
            if words[0] not in verbs():
                continue
            files = [program] if words == ["sites"] else ["--program", program, trace]
            done = telltale(*words, *files, check=False)
            self.assertIn(done.returncode, (0, 1), (words, done.stderr))
            for output in (done.stdout, done.stderr):
                self.assertFalse(CONTROL & set(output), words)
                self.assertNotIn("\u202e", output.decode(), words)
        for line in telltale("dump", "--json", trace).stdout.splitlines():
            json.loads(line)

    def test_d11_any_payload_survives_yaml(self):
        """Control bytes beside spaces once stood in the YAML as they are, and nobody could read it."""
        for payload in (b" \0\nx\x1b ", b"' ", b" \xff", b"\n", "\u202e\u2028".encode(), b"- { a: b }", b"\r\n "):
            writer = slow_xray.Writer(5)
            writer.buffer(1, 1, 0, 5)
            writer.function(ENTER, 1, 1)
            writer.custom(payload, 0, 1)
            writer.function(EXIT, 1, 1)
            text = os.path.join(self.folder, "payload.yaml")
            again = os.path.join(self.folder, "payload.fdr")
            telltale("convert", "--to", "llvm-xray-yaml", "-o", text, self.write("payload", writer.bytes()))
            telltale("convert", "--to", "fdr5", "-o", again, text)
            with open(again, "rb") as file:
                (thread,) = slow_xray.Trace(file.read()).threads.values()
            self.assertEqual([event[3] for event in thread.events() if event[1] == "custom"], [payload])

    def test_d11_file_names_on_the_command_line(self):
        data = slow_xray.random_fdr(random.Random(3), 5)
        for name in (b"\x1b]0;owned\x07.fdr", b"new\nline", b"\xff\xfe", "\u202e".encode()):
            path = os.path.join(self.folder.encode(), name)
            with open(path, "wb") as file:
                file.write(data[:-3])
            for words in (["info"], ["top"], ["dump"], ["info", "--json"]):
                done = subprocess.run([TELLTALE.encode(), *(word.encode() for word in words), path], capture_output=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                for output in (done.stdout, done.stderr):
                    self.assertFalse(CONTROL & set(output), (name, words))
                    output.decode()  # valid UTF-8
            missing = subprocess.run([TELLTALE.encode(), b"top", path + b".missing"], capture_output=True)
            self.assertEqual(missing.returncode, 3)
            self.assertFalse(CONTROL & set(missing.stderr), name)

    def test_d10_names_open_no_file(self):
        if not shutil.which("strace"):
            self.fail("strace is needed")
        program, trace = self.hostile_program()
        inside = os.path.join(self.folder, "outputs")
        os.makedirs(inside, exist_ok=True)
        for words in reading_commands(inside) + [["sites", program]]:
            log = os.path.join(self.folder, "strace")
            command = [TELLTALE, *(trace if word == "@" else word for word in words)]
            if "@" in words:
                command[2:2] = ["--program", program]
            done = subprocess.run(["strace", "-f", "-qq", "-e", "trace=file", "-e", "signal=none", "-o", log, *command],
                                  capture_output=True, timeout=120)
            self.assertIn(done.returncode, (0, 1), (words, done.stderr))
            with open(log, errors="replace") as lines:
                for line in lines:
                    self.assertNotIn("telltale-evil", line, words)
                    writes = any(flag in line for flag in ("O_WRONLY", "O_RDWR", "O_CREAT")) or any(
                        call in line for call in (" creat(", "rename", "unlink", "link(", "mkdir", "mknod", "chmod"))
                    if writes and "readlink" not in line:
                        allowed = inside in line or "O_TMPFILE" in line or "/dev/null" in line
                        self.assertTrue(allowed, (words, line))
            self.assertFalse(os.path.exists("/tmp/telltale-evil"))

    # --- D13

    def test_d13_the_same_bytes_whatever_the_surroundings(self):
        data = slow_xray.random_fdr(random.Random(13), 5, calls=3000)
        path = self.write("same", data)
        surroundings = [
            {"jobs": "1"}, {"jobs": "2"}, {"jobs": "2"},
            {"jobs": "2", "env": dict(os.environ, TZ="Asia/Tokyo", LC_ALL="C")},
            {"jobs": "1", "env": dict(os.environ, TZ="America/New_York", LC_ALL="de_DE.UTF-8")},
            {"jobs": "2", "preexec_fn": without_address_randomisation},
        ]
        for words in reading_commands(self.folder):
            seen = set()
            for how in surroundings:
                how = dict(how)
                arguments = [path if word == "@" else word for word in words]
                done = telltale(*arguments, "-j", how.pop("jobs"), check=False, **how)
                self.assertIn(done.returncode, (0, 1), (words, done.stderr))
                output = done.stdout
                if "-o" in words:
                    with open(words[words.index("-o") + 1], "rb") as file:
                        output += file.read()
                seen.add(output)
            self.assertEqual(len(seen), 1, words)

    # --- D14

    def mutate(self, words, good, count, seed=14):
        scratch = os.path.join(self.folder, "mutant")
        counts = os.path.join(self.folder, "counts")
        with tempfile.TemporaryFile() as errors:
            done = subprocess.run(
                [os.path.join(BIN, "mutation_driver"), "--count", str(count), "--seed", str(seed), "--scratch", scratch,
                 "--counts", counts, "--", *words, "--", *good],
                stdout=subprocess.DEVNULL, stderr=errors, timeout=600)
            if done.returncode != 0:
                errors.seek(0)
                kept = os.path.join(tempfile.gettempdir(), "telltale-mutant")
                shutil.copy(scratch, kept)
                self.fail("%s: status %d; the input is %s; %s"
                          % (words, done.returncode, kept, errors.read()[-2000:].decode(errors="replace")))
            with open(counts) as file:
                return [int(number) for number in file.read().split()]

    def test_d14_blind_mutation_of_recordings(self):
        commands = reading_commands(self.folder)
        for index, words in enumerate(commands):
            with self.subTest(words=words):
                count = -(-1500 // sum(other[0] == words[0] for other in commands))
                good = self.sample_files
                if words[0] == "convert":  # a family's own formats are written from its recordings only
                    stacktrack = words[2].startswith("stacktrack")
                    good = [path for path in good if path.endswith(".tlg") == stacktrack]
                statuses = self.mutate(words, good, count, seed=1400 + index)
                self.assertEqual(sum(statuses), count)
                self.assertGreater(statuses[0] + statuses[1], count // 5)  # many mutants are still read

    def test_d14_blind_mutation_of_compressed_recordings(self):
        good = [self.write("good.gz", gzip.compress(slow_xray.random_fdr(random.Random(2), 5))),
                self.write("good.zst", subprocess.run(
                    ["zstd", "-q", "-c"], input=slow_xray.random_fdr(random.Random(3), 4), capture_output=True,
                    check=True).stdout)]
        self.assertEqual(sum(self.mutate(["info", "@"], good, 1500)), 1500)

    def test_d14_blind_mutation_of_programs(self):
        program, trace = self.hostile_program()
        debug = os.path.join(self.folder, "debug")
        subprocess.run(["clang++-" + CLANGS[0], "-O1", "-g", "-fxray-instrument", "-fxray-instruction-threshold=1", "-c",
                        os.path.join(self.folder, "names.cc"), "-o", debug], check=True, timeout=60)
        for words in (["sites", "@"], ["sites", "--json", "@"], ["top", "--json", "--program", "@", trace]):
            with self.subTest(words=words):
                self.assertEqual(sum(self.mutate(words, [program, debug], 1500)), 1500)

    def test_d14_through_processes(self):
        """A few as processes of their own: the signal that ends one would show."""
        rng = random.Random(99)
        for index in range(60):
            with open(rng.choice(self.sample_files), "rb") as file:
                data = bytearray(file.read())
            for _ in range(rng.randint(1, 20)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path = self.write("process", bytes(data))
            for words in (["info", "@"], ["top", "@"], ["dump", "@"], ["check", "@"]):
                status, errors = self.run_limited(words, path, address_space=4 << 30)
                self.assertIn(status, STATUSES, (index, words, errors))


if __name__ == "__main__":
    unittest.main()
