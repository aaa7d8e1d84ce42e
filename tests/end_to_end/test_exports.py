"""An independent consumer reads every export, and its contents match the recording."""
import collections
import csv
import gzip
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from export_tools import compiler, fdr, install_node_modules, restore

TELLTALE = os.environ["TELLTALE"]
SOURCE_DIR = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"])

# Names that try to break out of every target's quoting.
HOSTILE = [
    "</script><script>alert(1)</script>", "]]>", "a\"b'c", "tab\there", "line\nend", "\x1b[31mred", "\x1b]0;title\x07",
    "\u202egnp.exe", "=1+1", "+2", "-3", "@sum", "a;b;c 5", "#comment", "back\\slash\\n", "&lt;&amp;", "../../etc/passwd",
    "/abs/name", "(1) name", "fn=other", "%s%n", "{\"x\":1}", "\u2028", "trailing ", "caf\u00e9 \U0001f600",
    "operator<<(std::ostream&, x)",
]


def named_program(folder):
    """A program whose instrumented functions have the hostile names, with ids from 1."""
    lines = []  # generated: a function for each name
    for i, name in enumerate(HOSTILE):
        label = "".join(c if 0x20 <= ord(c) < 0x7F and c not in '"\\?' else "".join("\\%03o" % b for b in c.encode())
                        for c in name)
        lines.append(f'__attribute__((xray_always_instrument)) void f{i}(void) __asm__("{label}");\n'
                     f"__attribute__((xray_always_instrument)) void f{i}(void) {{ __asm__ volatile(\"\"); }}\n")
    source = folder / "named.c"
    source.write_text("".join(lines) + "int main(void) { return 0; }\n")
    program = folder / "named"
    subprocess.run([compiler(), "-g", "-fxray-instrument", "-o", program, source], check=True, timeout=120,
                   capture_output=True)
    return program


def proto_number(data, at):
    """A varint, and the position after it."""
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return number, at


def proto_numbers(data):
    numbers, at = [], 0
    while at < len(data):
        number, at = proto_number(data, at)
        numbers.append(number)
    return numbers


def proto_fields(data):
    """(number, value) of each field of a message of numbers and nested messages."""
    fields, at = [], 0
    while at < len(data):
        key, at = proto_number(data, at)
        value, at = proto_number(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        fields.append((key >> 3, value))
    return fields


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.trace = cls.folder / "t.fdr"
        # main(1) calls f(2) three times, once with an argument; an event, a tail exit, an unfinished call.
        cls.trace.write_bytes(fdr([
            ("enter", 1, 0), ("enter", 2, 1000), ("exit", 2, 500), ("enter_args", 2, 1500), ("argument", 42, 0),
            ("custom", b"hello <&>", 100), ("tail", 2, 900), ("enter", 2, 1000), ("exit", 2, 3000), ("exit", 1, 2000),
            ("custom", b"\xff\x00", 5), ("enter", 3, 95), ("custom", b"end", 400)]))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def convert(self, to, *extra, trace=None, env=None):
        out = self.folder / f"out.{to}"
        done = subprocess.run([TELLTALE, "convert", trace or self.trace, "--to", to, "-o", out, *extra], timeout=120,
                              capture_output=True, text=True, env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def run_tool(self, *command, **options):
        done = subprocess.run(command, capture_output=True, timeout=120, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def decode_perfetto(self, path):
        schemas = SOURCE_DIR / "tests" / "schemas"
        return self.run_tool("protoc", "--decode=telltale.perfetto.Trace", f"-I{schemas}",
                             schemas / "perfetto_subset.proto", input=path.read_bytes()).decode()

    # The timeline according to an independent reading of protoc's text: (begin, end, name) and instants.
    def slices(self, text):
        names, now, opened, slices, instants = {}, 0, [], [], []
        for iid, name in re.findall(r'event_names \{\s*iid: (\d+)\s*name: "((?:[^"\\]|\\.)*)"', text):
            names[iid] = name
        for packet in re.split(r"^packet \{$", text, flags=re.M):
            stepping = re.search(r"^  timestamp: (\d+)$", packet, re.M)
            if stepping:
                now += int(stepping.group(1))
            if "SLICE_BEGIN" in packet:
                opened.append((now, names[re.search(r"name_iid: (\d+)", packet).group(1)]))
            elif "SLICE_END" in packet:
                begin, name = opened.pop()
                slices.append((begin, now, name))
            elif "type: INSTANT" in packet:
                instants.append((now, re.search(r'categories: "(.*)"', packet).group(1)))
        self.assertEqual(opened, [])
        self.assertNotRegex(text, r"(?m)^\s*\d+:")  # no field outside our schema
        return slices, instants

    def test_perfetto_decodes_with_the_schema_subset(self):
        text = self.decode_perfetto(self.convert("perfetto"))
        slices, instants = self.slices(text)
        self.assertEqual(slices, [(1000, 1500, "#2"), (3000, 4000, "#2"), (5000, 8000, "#2"), (0, 10000, "#1"),
                                  (10100, 10500, "#3")])
        self.assertEqual(instants, [(3100, "telltale.custom"), (10005, "telltale.custom"), (10500, "telltale.custom")])
        for expected in ('string_value: "hello <&>"', 'name: "payload_hex"', 'string_value: "ff00"', "uint_value: 42",
                         'string_value: "unfinished"', "tid: 77", "pid: 5"):
            self.assertIn(expected, text)

    def test_compressed_packets_hold_the_same_packets(self):
        import zlib
        plain = self.decode_perfetto(self.convert("perfetto"))
        raw = self.convert("perfetto", "--compress").read_bytes()
        # Replaces each compressed packet by its contents: field 1 of the trace, containing only field 50.
        out, at = b"", 0
        def varint(at):
            value = shift = 0
            while True:
                byte = raw[at]
                value |= (byte & 0x7F) << shift
                at, shift = at + 1, shift + 7
                if byte < 0x80:
                    return value, at
        compressed = 0
        while at < len(raw):
            self.assertEqual(raw[at], 0x0A)
            length, body = varint(at + 1)
            if raw[body:body + 2] == b"\x92\x03":
                size, data = varint(body + 2)
                out += zlib.decompress(raw[data:data + size])
                compressed += 1
            else:
                out += raw[at:body + length]
            at = body + length
        self.assertGreater(compressed, 0)
        unpacked = self.folder / "unpacked"
        unpacked.write_bytes(out)
        self.assertEqual(self.decode_perfetto(unpacked), plain)

    def test_chrome_events_nest_and_have_names(self):
        events = json.loads(self.convert("chrome").read_text())["traceEvents"]
        opened, spans = [], []
        for event in events:
            self.assertIsInstance(event["name"], str)
            if event["ph"] == "B":
                opened.append(event)
            elif event["ph"] == "E":
                begin = opened.pop()
                self.assertEqual(begin["name"], event["name"])
                spans.append((event["name"], round(begin["ts"] * 1000), round(event["ts"] * 1000)))
        self.assertEqual(opened, [])
        self.assertEqual(spans[:2], [("#2", 1000, 1500), ("#2", 3000, 4000)])
        self.assertEqual([e["args"] for e in events if e["ph"] == "B" and "args" in e], [{"arg0": 42}])
        self.assertEqual([e["args"].get("payload", e["args"].get("payload_hex")) for e in events if e["ph"] == "i"],
                         ["hello <&>", "ff00", "end"])

    def test_rows(self):
        rows = json.loads(self.convert("json").read_text())
        calls = [r for r in rows if r["kind"] == "call"]
        self.assertEqual([(r["function"], r["start_ns"], r["duration_ns"], r["depth"], r["ended"], r["arguments"])
                          for r in calls],
                         [("#2", 1000, 500, 2, "normal", []), ("#2", 3000, 1000, 2, "tail", [42]),
                          ("#2", 5000, 3000, 2, "normal", []), ("#1", 0, 10000, 1, "normal", []),
                          ("#3", 10100, 400, 1, "unfinished", [])])
        table = list(csv.DictReader(io.StringIO(self.convert("csv").read_text(), newline="")))
        self.assertEqual([(r["function"], int(r["start_ns"]), int(r["duration_ns"]), int(r["depth"]), r["ended"])
                          for r in table],
                         [(r["function"], r["start_ns"], r["duration_ns"], r["depth"], r["ended"]) for r in calls])
        self.assertEqual(table[1]["arguments"], "42")

    def test_pprof_reads_calls_and_time(self):
        tool = next((t for t in ["/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof"] if os.path.exists(t)), None)
        command = [tool] if tool else ["go", "tool", "pprof"] if shutil.which("go") else None
        if command is None:
            self.skipTest("no pprof")
        path = self.convert("pprof")
        raw = self.run_tool(*command, "-raw", path).decode()
        self.assertRegex(raw, r"calls/count wall/nanoseconds")
        samples = re.findall(r"^\s+(\d+)\s+(\d+): ([\d ]+)$", raw, re.M)
        self.assertEqual(sorted((int(a), int(b), len(c.split())) for a, b, c in samples),
                         [(1, 400, 1), (1, 5500, 1), (3, 4500, 2)])
        top = self.run_tool(*command, "-top", "-unit=ns", path).decode()
        self.assertRegex(top, r"5500ns .* 10000ns .*#1")
        self.assertIn(b"77", self.run_tool(*command, "-tags", path))
        with gzip.open(path) as file:  # a single, complete member
            self.assertTrue(file.read())

    def test_pprof_has_calls_that_take_no_time(self):
        """A call whose time is entirely its callee's is a sample, too: it was called."""
        trace = self.folder / "instant.fdr"
        trace.write_bytes(fdr([("enter", 1, 10), ("enter", 2, 0), ("enter", 3, 0), ("exit", 3, 0), ("exit", 2, 0), ("exit", 1, 50)]))
        out = self.folder / "instant.pprof"
        subprocess.run([TELLTALE, "convert", trace, "-o", out], check=True, timeout=60)
        with gzip.open(out) as file:
            samples = [proto_fields(body) for number, body in proto_fields(file.read()) if number == 2]
        # Locations, innermost first; calls, time.
        told = sorted((proto_numbers(dict(one)[1]), proto_numbers(dict(one)[2])) for one in samples)
        self.assertEqual(told, [([1], [1, 50]), ([2, 1], [1, 0]), ([3, 2, 1], [1, 0])])

    def test_callgrind_annotate_reads_self_time(self):
        if not shutil.which("callgrind_annotate"):
            self.skipTest("no callgrind_annotate")
        text = self.run_tool("callgrind_annotate", "--threshold=100", self.convert("callgrind")).decode()
        self.assertRegex(text, r"10,400 .*PROGRAM TOTALS")
        self.assertRegex(text, r"5,500 .*#1")
        self.assertRegex(text, r"4,500 .*#2")
        inclusive = self.run_tool("callgrind_annotate", "--inclusive=yes", self.convert("callgrind")).decode()
        self.assertRegex(inclusive, r"10,000 .*#1")

    def test_folded_and_speedscope_add_up(self):
        stacks = dict(line.rsplit(" ", 1) for line in self.convert("folded").read_text().splitlines())
        self.assertEqual({restore(k): int(v) for k, v in stacks.items()}, {"#1": 5500, "#1;#2": 4500, "#3": 400})
        scope = json.loads(self.convert("speedscope").read_text())
        frames = [f["name"] for f in scope["shared"]["frames"]]
        profile = scope["profiles"][0]
        self.assertEqual({";".join(frames[i] for i in s): w for s, w in zip(profile["samples"], profile["weights"])},
                         {"#1": 5500, "#1;#2": 4500, "#3": 400})
        self.assertEqual(profile["endValue"] - profile["startValue"], sum(profile["weights"]))

    def test_speedscope_shows_the_widest_callee_first(self):
        trace = self.folder / "widths.fdr"
        trace.write_bytes(fdr([("enter", 1, 0), ("enter", 2, 10), ("exit", 2, 10), ("enter", 3, 10), ("exit", 3, 500), ("enter", 4, 10),
                               ("exit", 4, 90), ("exit", 1, 10)]))
        scope = json.loads(self.convert("speedscope", trace=trace).read_text())
        frames = [frame["name"] for frame in scope["shared"]["frames"]]
        samples = [";".join(frames[i] for i in sample) for sample in scope["profiles"][0]["samples"]]
        self.assertEqual(samples, ["#1", "#1;#3", "#1;#4", "#1;#2"])

    @unittest.skipUnless(shutil.which("npm"), "no npm")
    def test_speedscope_accepts_its_schema(self):
        modules = install_node_modules()
        check = SOURCE_DIR / "tests" / "node" / "check_speedscope.js"
        good = self.convert("speedscope")
        self.run_tool("node", check, modules, good)
        bad = self.folder / "bad.speedscope.json"
        bad.write_text(good.read_text().replace('"sampled"', '"simple"'))
        self.assertNotEqual(subprocess.run(["node", check, modules, bad], capture_output=True, timeout=60).returncode, 0)

    def test_dot_is_laid_out_by_graphviz(self):
        graph = json.loads(self.run_tool("dot", "-Tjson", self.convert("dot")))
        self.assertEqual({o["label"]: int(o["self_ns"]) for o in graph["objects"]}, {"#1": 5500, "#2": 4500, "#3": 400})
        self.assertEqual([(e["label"], int(e["total_ns"])) for e in graph["edges"]], [("3", 4500)])

    def test_the_same_version_is_the_same_bytes(self):
        self.assertEqual(self.convert("fdr5").read_bytes(), self.trace.read_bytes())

    def test_output_does_not_depend_on_workers_locale_or_time_zone(self):
        for to in ("perfetto", "chrome", "json", "csv", "speedscope", "pprof", "folded", "callgrind", "dot"):
            one = self.convert(to, "-j1").read_bytes()
            self.assertEqual(self.convert(to, "-j2").read_bytes(), one, to)
            self.assertEqual(self.convert(to, "-j8", env={"LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo"}).read_bytes(), one, to)

    def test_a_failed_export_leaves_what_was_there(self):
        out = self.folder / "keep.json"
        out.write_text("precious")
        done = subprocess.run([TELLTALE, "convert", "/dev/null", "-o", out], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(out.read_text(), "precious")
        done = subprocess.run([TELLTALE, "convert", self.trace, "-o", "/dev/full", "--to", "json"], capture_output=True,
                              timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertFalse([p for p in self.folder.iterdir() if ".telltale-" in p.name])

    def test_an_export_without_calls_is_said_to_be_that(self):
        """Of a recording without calls: here only the header of one."""
        header = self.folder / "header.xray"
        header.write_bytes(pathlib.Path(self.trace).read_bytes()[:32])
        for to in ("json", "csv"):
            done = subprocess.run([TELLTALE, "convert", header, "--to", to, "-o", "-"], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual((done.returncode, done.stderr),
                             (0, f"telltale: the {to} export has no calls, because what is converted has none\n"))

    def test_formats_follow_the_output_name(self):
        for name, begins in (("a.pftrace", b"\x0a"), ("a.json", b'{"displayTimeUnit"'), ("a.speedscope.json", b'{"$schema"'),
                             ("a.pb.gz", b"\x1f\x8b"), ("a.folded", b"\\x23"), ("callgrind.out.5", b"# callgrind"),
                             ("a.dot", b"digraph"), ("a.csv", b"pid,tid"), ("a.yaml", b"---"), ("a.fdr", b"\x05\x00")):
            out = self.folder / name
            self.run_tool(TELLTALE, "convert", self.trace, "-o", out)
            self.assertTrue(out.read_bytes().startswith(begins), name)
        done = subprocess.run([TELLTALE, "convert", self.trace, "-o", self.folder / "a.xyz"], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 2)

    @unittest.skipUnless(compiler(), "no clang")
    def test_hostile_names_survive_every_export(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            program = named_program(folder)
            events = []
            for number in range(1, len(HOSTILE) + 1):
                events += [("enter", number, 10), ("exit", number, 10)]
            trace = folder / "hostile.fdr"
            trace.write_bytes(fdr(events))
            wanted = collections.Counter(HOSTILE)
            before = set(folder.iterdir())

            def output(to):
                return self.convert(to, "--program", program, trace=trace)

            chrome = json.loads(output("chrome").read_text())["traceEvents"]
            self.assertEqual(collections.Counter(e["name"] for e in chrome if e["ph"] == "B"), wanted)
            self.assertEqual(collections.Counter(r["function"] for r in json.loads(output("json").read_text())), wanted)
            with open(output("csv"), newline="") as file:
                cells = [row["function"] for row in csv.DictReader(file)]
            for cell in cells:
                self.assertNotIn(cell[:1], ["=", "+", "-", "@", "\t", "\r"])
            self.assertEqual(collections.Counter(c[1:] if c.startswith("'") else c for c in cells), wanted)
            scope = json.loads(output("speedscope").read_text())
            self.assertEqual(collections.Counter(f["name"] for f in scope["shared"]["frames"]), wanted)
            folded = output("folded").read_text().splitlines()
            self.assertEqual(collections.Counter(restore(line.rsplit(" ", 1)[0]) for line in folded), wanted)
            self.assertFalse([line for line in folded if line.startswith("#") or ";" in line])
            graph = json.loads(self.run_tool("dot", "-Tjson", output("dot")))
            labels = [o["label"].replace("\\\\", "\\").replace("&amp;", "&") for o in graph["objects"]]
            self.assertEqual(collections.Counter(restore(label) for label in labels), wanted)
            callgrind = re.findall(r"^fn=\(\d+\) (.*)$", output("callgrind").read_text(), re.M)
            self.assertEqual(collections.Counter(restore(name) for name in callgrind), wanted)
            perfetto = re.findall(r'event_names \{\s*iid: \d+\s*name: "((?:[^"\\]|\\.)*)"', self.decode_perfetto(output("perfetto")))
            decoded = [n.encode("latin-1").decode("unicode_escape").encode("latin-1").decode() for n in perfetto]
            self.assertEqual(collections.Counter(decoded), wanted)
            self.assertEqual(set(folder.iterdir()), before)


if __name__ == "__main__":
    unittest.main()
