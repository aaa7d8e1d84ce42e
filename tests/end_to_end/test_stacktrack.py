"""StackTrack: the specification's own example, streams of any platform through every verb, damage, and our recorder's
output. Streams are made byte by byte in stacktrack_streams.py."""

import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import stacktrack_streams as streams
import xray_recorder
from xray_recorder import SOURCE_DIR, TELLTALE

FOREIGN_XML = os.path.join(SOURCE_DIR, "tests", "golden", "stacktrack", "foreign.xml")

# The lines of the specification's example.
EXAMPLE = """\
<PROLOGUE flags="0x4000" pid="0x60c0" seq="0" _12345678="305419896" version="256" info_len="16" entry_size="24" payload_offset="8"/>
<PROCINFO flags="0x5000" pid="0x60c0" seq="0" pid="0x060c" writeCount="1"/>
<TIMETYPE flags="0x7000" pid="0x60c0" seq="0" tdiv="1.000000" timetype="0x0020"/>
<TIMEINFO flags="0x6000" pid="0x60c0" seq="0" start_hires="0.000000" start="1111756865"/>
<FLOC flags="0x1010" pid="0x60c0" seq="1" filenum="2" writeCount="0" properties="0"/>
<INFO flags="0x00ff" pid="0x060c" seq="1" text="..\\..\\..\\libs\\st"/>
<INFO flags="0x00ff" pid="0x060c" seq="1" text="acktrack\\src\\fil"/>
<INFO flags="0x02ff" pid="0x060c" seq="1" text="esink.cpp"/>
<SLOC flags="0x1030" pid="0x60c0" seq="1" scopeIndex="1" style="3" linenum="98" writeCount="0" filenum="2"/>
<INFO flags="0x00ff" pid="0x060c" seq="1" text="file_sink_impl::"/>
<INFO flags="0x02ff" pid="0x060c" seq="1" text="open"/>
<HIT flags="0x0000" pid="0x60c0" seq="1" when="0.000640" scopeIndex="1" tid="0x04c8"/>
<SLOC flags="0x1030" pid="0x60c0" seq="2" scopeIndex="2" style="6" linenum="99" writeCount="0" filenum="2"/>
<INFO flags="0x02ff" pid="0x060c" seq="2" text="name"/>
<HIT flags="0x1000" pid="0x60c0" seq="2" when="0.000685" scopeIndex="2" tid="0x04c8"/>
<INFO flags="0x02ff" pid="0x060c" seq="2" text="bar"/>
"""

# The specification's output of --show_format; parts that it replaces by "..." are omitted here too.
SHOWN_FORMAT = [
    '<RAW_FORMAT version="100" size="24" payload_size="16" payload_offset="8" magic="0x12345678" magic_raw="0x78563412">',
    '<TYPE uname="HIT" name="hit" typeindex="0" type="ev_hit" size="16" followedby="~" desc="ev_hit captures basic entry/exit/step data">',
    '<MEMBER name="when" type="hitime_t" size="8" offset="0" desc="when the hit occured"/>',
    '<MEMBER name="scopeIndex" type="scopex_t" size="2" offset="8" desc="where the hit occured"/>',
    '<MEMBER name="tid" type="st_tid_t" size="2" offset="10" desc="thread in which the hit occured"/>',
    '</TYPE>',
    '<TYPE uname="FLOC" name="fileloc" typeindex="1" type="ev_fileloc" size="6" followedby="filename" desc="File Location data">',
    '<MEMBER name="filenum" type="int16" size="2" offset="0" desc="file index"/>',
    '<MEMBER name="writeCount" type="wcount_t" size="2" offset="2" desc="write count"/>',
    '<MEMBER name="properties" type="int16" size="2" offset="4" desc="number of properties"/>',
    '</TYPE>',
]

MAIN, WORK = "main(int, char const* const*)", "work()"


def telltale(*words):
    return xray_recorder.telltale(*words, check=False)


def read(path, mode="rb"):
    with open(path, mode) as file:
        return file.read()


class StackTrack(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.keeper = tempfile.TemporaryDirectory(prefix="telltale-stacktrack-")
        cls.folder = cls.keeper.name
        cls.example = cls.write("bar_20050325_082105_060C_1.tlg", streams.specification_example())
        cls.small = cls.write("small.tlg", streams.small_run())

    @classmethod
    def tearDownClass(cls):
        cls.keeper.cleanup()

    @classmethod
    def write(cls, name, data):
        path = os.path.join(cls.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def run_telltale(self, *words, status=0):
        done = telltale(*words)
        self.assertEqual(done.returncode, status, (words, done.stderr.decode()))
        return done.stdout.decode()

    def rows(self, *words):
        document = json.loads(self.run_telltale(*words, "--json"))
        return document.get("rows", document)

    # --- the specification

    def test_example_comes_out_again(self):
        self.assertEqual(self.run_telltale("expand_events", "--as-printed", self.example), EXAMPLE)

    def test_values_are_right_by_default(self):
        text = self.run_telltale("expand_events", self.example)
        for wrong, right in (("0x4000", "0x0004"), ("0x5000", "0x0005"), ("0x7000", "0x0007"), ("0x6000", "0x0006"),
                             ("0x1010", "0x0101"), ("0x1030", "0x0103"), ("0x1000", "0x0100"), ("0x60c0", "0x060c"),
                             ('seq="0" pid=', 'seq="0" payload_pid=')):
            self.assertIn(wrong, EXAMPLE)
            self.assertNotIn(wrong, text)
            self.assertIn(right, text)
        document = ElementTree.fromstring(self.run_telltale("expand_events", "--document", self.example))
        self.assertEqual(len(document), 16)
        self.assertEqual(document[1].get("payload_pid"), "0x060c")

    def test_shown_format(self):
        for words in (("--show_format",), ("--show_format", self.example)):
            lines = self.run_telltale("expand_events", *words).splitlines()
            self.assertEqual(lines[:len(SHOWN_FORMAT)], SHOWN_FORMAT)
            self.assertIn('<FLAG name="IS_HIT" value="0x0000"/>', lines)
            self.assertEqual(lines[lines.index('<FLAG name="IS_HIT" value="0x0000"/>') + 1],
                             '<FLAG name="IS_FLOC" value="0x0001"/>')
            self.assertEqual(lines[-1], "</RAW_FORMAT>")
            ElementTree.fromstring("\n".join(lines))

    def test_tool_under_its_own_name(self):
        tool = os.path.join(self.folder, "expand_events")
        os.symlink(TELLTALE, tool)
        done = subprocess.run([tool, "--as-printed", self.example], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, EXAMPLE), done.stderr)
        self.assertTrue(subprocess.run([tool, "--show_format"], capture_output=True, text=True).stdout
                        .startswith(SHOWN_FORMAT[0]))

    def test_recorded_example(self):
        """The recording in the hexadecimal example of docs/formats/stacktrack.md."""
        path = os.path.join(SOURCE_DIR, "tests", "golden", "stacktrack", "recorded.tlg")
        self.run_telltale("check", path)
        self.assertEqual([(row["function"], row["calls"], row["file"], row["line"]) for row in self.rows("top", path)],
                         [("price", 1, "price.cc", 3)])
        self.assertEqual([row["payload"] for row in self.calls(path) if row["kind"] == "variable"], ["n=5"])
        self.assertIn(f'start_hires="{0:.6f}" start="{0x6b01cb06}"', self.run_telltale("expand_events", path))

    # --- every verb

    def check_small(self, *words):
        """The answers about streams.small_run(), on any platform."""
        info = self.rows("info", *words)
        self.assertEqual(info["format"], "stacktrack")
        self.assertEqual(info["threads"], [{"pid": 7, "tid": 100}, {"pid": 7, "tid": 101}])
        self.assertEqual(info["problems"], [])
        self.assertEqual(info["span_ns"], 5_000_000)  # from the first event, 1 ms after the sink was opened
        top = {row["function"]: row for row in self.rows("top", *words)}
        self.assertEqual({name: (row["calls"], row["total_ns"], row["self_ns"], row["line"]) for name, row in top.items()},
                         {MAIN: (1, 5_000_000, 3_000_000, 10), "setup": (1, 2_000_000, 2_000_000, 12),
                          WORK: (2, 600_000, 600_000, 40)})
        self.assertEqual({row["file"] for row in top.values()}, {"src/main.cpp"})
        self.assertEqual({(row["unfinished"], row["orphan_exits"], row["unwound"]) for row in top.values()}, {(0, 0, 0)})

    def calls(self, *words):
        out = os.path.join(self.folder, "calls.json")
        self.run_telltale("convert", "--to", "json", "-o", out, *words)
        with open(out) as file:
            return json.load(file)

    def test_verbs(self):
        self.check_small(self.small)
        self.assertIn("valid StackTrack version 0x100 (classic layout)", self.run_telltale("check", self.small))
        self.assertIn(f"{MAIN};setup 2000000", self.run_telltale("stacks", self.small))
        for verb in ("report", "graph", "dump"):
            self.assertIn("setup", self.run_telltale(verb, self.small))
        page = os.path.join(self.folder, "flame.html")
        self.run_telltale("flame", "-o", page, self.small)
        self.assertIn("setup", read(page, "r"))
        events = [row for row in self.calls(self.small) if row.get("kind") in ("step", "variable")]
        self.assertEqual([(row["kind"], row["data"] if "data" in row else row["payload"]) for row in events],
                         [("variable", "name=a value of more than sixteen bytes"), ("step", "halfway")])
        faster = self.write("faster.tlg", streams.small_run(frequency=2_000_000))
        self.assertIn("-50.0 %", self.run_telltale("diff", self.small, faster))
        self.run_telltale("diff", "--gate", "calls=0%", self.small, faster)

    def test_filters(self):
        rows = {row["function"] for row in self.rows("top", self.small, "--thread", "101")}
        self.assertEqual(rows, {WORK})
        info = self.rows("info", self.small, "--thread", "7:101")
        self.assertEqual(info["records_by_kind"], {"HIT": 4})
        dump = self.run_telltale("dump", "--json", self.small, "--function", "setup")
        kinds = [json.loads(line) for line in dump.splitlines()]
        self.assertEqual([row["when"] for row in kinds if row["record"] == "HIT"], [3000, 3600, 4000, 5000])
        self.assertEqual(len(self.run_telltale("dump", self.small, "--time", "3ms..").splitlines()), 5)

    def test_platforms(self):
        for name, platform, words in (("classic_be", streams.CLASSIC_BIG, []),
                                      ("foreign", streams.FOREIGN, ["--format-description", FOREIGN_XML])):
            for marked in (True, False):
                path = self.write(name + ".tlg", streams.small_run(platform, exits_marked=marked))
                self.check_small(path, *words)
                self.run_telltale("check", path, *words)
                text = self.run_telltale("expand_events", path, *words)
                self.assertIn('text="src/main.cpp"', text)
        # Without its description a foreign stream is recognised as such.
        done = telltale("info", path)
        self.assertEqual(done.returncode, 3)
        self.assertIn("--format-description", done.stderr.decode())
        # Byte order comes from PROLOGUE, not from the description.
        turned = streams.Platform("<", size=40, at=12, header="H2xII", info=20, version=0x101,
                                  payloads=streams.FOREIGN.payloads)
        self.check_small(self.write("turned.tlg", streams.small_run(turned)), "--format-description", FOREIGN_XML)

    def test_times_of_other_forms(self):
        with open(FOREIGN_XML) as file:
            text = file.read()
        description = os.path.join(self.folder, "real.xml")
        with open(description, "w") as file:
            file.write(text.replace("<RAW_FORMAT ", '<RAW_FORMAT time_form="real" '))
        payloads = {**streams.FOREIGN.payloads, streams.HIT: "dII", streams.TIMEINFO: "dq", streams.TIMETYPE: "dH"}
        platform = streams.Platform(">", size=40, at=12, header="H2xII", info=20, version=0x101, payloads=payloads)
        self.check_small(self.write("real.tlg", streams.small_run(platform)), "--format-description", description)

    def test_conversions(self):
        foreign = ["--format-description", FOREIGN_XML]
        want = self.calls(self.small)
        for source, words in ((self.small, []), (self.write("f.tlg", streams.small_run(streams.FOREIGN)), foreign),
                              (self.write("u.tlg", streams.small_run(exits_marked=False)), [])):
            for target in ("stacktrack-classic", "stacktrack-wide"):
                out = os.path.join(self.folder, "out.tlg")
                done = telltale("convert", "--to", target, "-o", out, source, *words)
                self.assertEqual((done.returncode, done.stderr), (0, b""), (source, target))
                self.assertIn(target[11:], self.run_telltale("check", out))
                self.check_small(out)
                self.assertEqual(self.calls(out), want, (source, target))
                again = os.path.join(self.folder, "again.tlg")
                self.run_telltale("convert", "--to", "stacktrack", "--output-description", FOREIGN_XML, "-o", again, out)
                self.check_small(again, *foreign)
                self.run_telltale("check", again, *foreign)
                self.assertEqual(self.calls(again, *foreign), want, (source, target))
        same = os.path.join(self.folder, "same.tlg")
        self.run_telltale("convert", "-o", same, self.small)
        self.assertEqual(read(same), read(self.small))
        done = telltale("convert", "--to", "fdr5", "-o", same, self.small)
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_conversions_that_lose_records_say_so(self):
        golden = os.path.join(SOURCE_DIR, "tests/golden/stacktrack")
        out = os.path.join(self.folder, "lossy.tlg")
        # Process and thread ids of more than 16 bits.
        done = telltale("convert", "--to", "stacktrack-classic", "-o", out, os.path.join(golden, "wide.tlg"))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"none of the 20 records fits the layout of the target", done.stderr)
        self.assertFalse(os.path.exists(out))
        recorded = os.path.join(golden, "recorded.tlg")
        for words, status in (([], 0), (["--strict"], 4)):
            done = telltale("convert", "--to", "stacktrack-classic", "-o", out, recorded, *words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(b"the number is dropped", done.stderr)
            self.assertEqual(self.calls(out), self.calls(recorded))
        done = telltale("convert", "--to", "stacktrack-wide", "-o", out, self.small, "--strict")
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_every_call_of_the_recorder_s_layout_is_in_one_without_marks(self):
        golden = os.path.join(SOURCE_DIR, "tests/golden/stacktrack")
        described = os.path.join(self.folder, "unmarked.xml")
        with open(FOREIGN_XML) as file:
            words = file.read()
        unmarked = re.sub(r"\s*<[^<>]*IS_EXIT[^<>]*/>", "", words)
        with open(described, "w") as file:
            file.write(unmarked)
        self.assertNotIn("IS_EXIT", unmarked)
        recorded = os.path.join(golden, "recorded.tlg")
        out = os.path.join(self.folder, "without_marks.tlg")
        done = telltale("convert", "--to", "stacktrack", "--output-description", described, "-o", out, recorded)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls(out, "--format-description", described), self.calls(recorded))

    def test_exports(self):
        for target in ("perfetto", "chrome", "csv", "speedscope", "pprof", "folded", "callgrind", "dot"):
            out = os.path.join(self.folder, "export." + target)
            self.run_telltale("convert", "--to", target, "-o", out, self.small)
            with open(out, "rb") as file:
                data = file.read()
            if target != "pprof":
                self.assertIn(b"setup", data, target)
        out = os.path.join(self.folder, "export.chrome")
        self.run_telltale("convert", "--to", "chrome", "-o", out, self.small)
        with open(out) as file:
            self.assertIn("name=a value of more than sixteen bytes", file.read())

    # --- damage

    def test_cut_anywhere(self):
        data = streams.small_run()
        for size in range(0, len(data), 17):
            path = self.write("cut.tlg", data[:size])
            torn = size % 24 != 0
            done = telltale("info", "--json", path)
            if size < 24:
                self.assertEqual(done.returncode, 3, size)
                continue
            info = json.loads(done.stdout)
            self.assertEqual(info["records"], size // 24)
            self.assertEqual(bool([p for p in info["problems"] if p["kind"] == "torn tail" and p["lost_bytes"]]), torn, size)
            if torn:
                self.assertEqual(telltale("info", "--strict", path).returncode, 4)
                self.assertEqual(telltale("check", path).returncode, 1)

    def test_middle_of_a_stream(self):
        data = streams.small_run()
        begin = data.index(b"setup") - 8 - 24
        rows = {row["function"]: row for row in self.rows("top", self.write("middle.tlg", data[begin:]))}
        self.assertEqual((rows["setup"]["calls"], rows["setup"]["file"]), (1, None))
        self.assertEqual(rows["#1"]["orphan_exits"], 1)  # main() was entered before
        # Also if it begins inside a record, as long as a PROLOGUE follows.
        rows = self.rows("top", self.write("middle2.tlg", data[begin + 5:] + data))
        self.assertEqual({row["function"] for row in rows}, {MAIN, "setup", WORK})

    def test_names_are_escaped(self):
        evil = "</script>\x1b[31m\"&<![CDATA[ ]]>\u202e\n=1+1"
        p = streams.CLASSIC
        data = b"".join([p.prologue(7), p.told(streams.SLOC, 7, 1, 1, streams.FUNCTION, 1, 0, 0, text=evil),
                         p.pack(streams.HIT, 7, 1, 10, 1, 1), p.pack(streams.HIT, 7, 2, 20, 1, 1, bits=streams.EXIT)])
        path = self.write("evil.tlg", data)
        self.assertEqual(self.rows("top", path)[0]["function"], evil)
        for verb in ("dump", "info", "top", "report", "stacks", "expand_events"):
            text = self.run_telltale(verb, path)
            self.assertFalse(re.search(r"[\x00-\x09\x0b-\x1f]", text), verb)
        document = ElementTree.fromstring(self.run_telltale("expand_events", "--document", path))
        told = "".join(element.get("text") for element in document if element.tag == "INFO")
        self.assertEqual(told.replace("\u202e", ""), evil.replace("\x1b", "\ufffd").replace("\u202e", ""))

    def test_descriptions_are_not_trusted(self):
        for text in ("", "<x", "<!DOCTYPE r [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><RAW_FORMAT version='&a;'/>",
                     read(FOREIGN_XML, "r").replace('size="40"', 'size="4294967295"'),
                     read(FOREIGN_XML, "r").replace('offset="12"', 'offset="4294967295"')):
            path = self.write("bad.xml", text.encode())
            done = telltale("info", "--format-description", path, self.small)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"bad.xml", done.stderr)

    def test_d3_d14_mutations(self):
        """Every verb ends with one of its own statuses, whatever the bytes are."""
        random_source = random.Random(5)
        good = [streams.small_run(), streams.small_run(streams.CLASSIC_BIG, exits_marked=False)]
        golden = os.path.join(SOURCE_DIR, "tests", "golden", "stacktrack")
        good += [read(os.path.join(golden, name)) for name in ("wide.tlg", "ring_being_cleared.tlg")]
        files = [self.write("good%d.tlg" % i, data) for i, data in enumerate(good)]
        driver = os.path.join(os.path.dirname(TELLTALE), "mutation_driver")
        scratch, counts = os.path.join(self.folder, "scratch"), os.path.join(self.folder, "counts")
        out = os.path.join(self.folder, "mutated")
        for words in (["info", "--json", "@"], ["top", "@"], ["dump", "@"], ["check", "@"], ["expand_events", "@"],
                      ["convert", "--to", "stacktrack-wide", "-o", out, "@"],
                      ["convert", "--to", "stacktrack-classic", "-o", out, "@"],
                      ["convert", "--to", "perfetto", "-o", out, "@"],
                      ["info", "--format-description", FOREIGN_XML, "@"]):
            done = subprocess.run([driver, "--count", os.environ.get("TELLTALE_MUTATIONS", "150"), "--seed",
                                   str(random_source.randrange(1 << 30)), "--scratch", scratch, "--counts", counts,
                                   "--", *words, "--", *files], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, (words, done.stderr[-2000:]))


PROGRAM = pathlib.Path(SOURCE_DIR, "tests/programs/recorders/rounds.cc").read_text()


class OwnRecorder(unittest.TestCase):
    """Recordings of <telltale/stacktrack.hpp>, read by the verbs."""

    @classmethod
    def setUpClass(cls):
        cls.keeper = tempfile.TemporaryDirectory(prefix="telltale-stacktrack-own-")
        cls.folder = cls.keeper.name
        source = os.path.join(cls.folder, "demo.cc")
        with open(source, "w") as file:
            file.write(PROGRAM)
        cls.program = os.path.join(cls.folder, "demo")
        library = os.path.join(os.environ["TELLTALE_BINARY_DIR"], "runtime", "stacktrack", "libtelltale_stacktrack.a")
        subprocess.run(["g++", "-std=c++17", "-O1", "-I", os.path.join(SOURCE_DIR, "include"), source, library, "-pthread",
                        "-o", cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.keeper.cleanup()

    def record(self, how):
        path = os.path.join(self.folder, how + ".tlg")
        status = subprocess.run([self.program, path, how]).returncode
        self.assertEqual(status, -9 if how == "killed" else 0)
        return path

    def rows(self, *words):
        done = telltale(*words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        return document.get("rows", document)

    def test_everything_is_there(self):
        for how in ("wide", "classic", "sparse", "killed"):
            with self.subTest(how=how):
                path = self.record(how)
                done = telltale("check", path)
                self.assertEqual(done.returncode, 0, done.stdout)
                info = self.rows("info", path)
                self.assertEqual((len(info["threads"]), info["problems"]), (4, []))
                self.assertEqual(info["properties"]["layout"].split(",")[0], "classic" if how == "classic" else "wide")
                top = {row["function"].split("(")[0]: row for row in self.rows("top", path)}
                self.assertEqual({name: row["calls"] for name, row in top.items()},
                                 {"main": 1, "work": 3, "round": 300, "leaf": 900})
                for row in top.values():
                    self.assertEqual((row["unwound"], row["unfinished"], row["orphan_exits"]), (0, 0, 0))
                    self.assertTrue(row["file"].endswith("demo.cc") and row["line"] > 0)
                out = os.path.join(self.folder, "calls.json")
                telltale("convert", "--to", "json", "-o", out, path)
                with open(out) as file:
                    calls = json.load(file)
                values = sorted(row["data"] if "data" in row else row["payload"]
                                for row in calls if row["kind"] == "variable")
                self.assertEqual(values, sorted("round number=this is round %d" % i for i in range(0, 100, 10) for _ in "abc"))
                self.assertEqual(sum(row["kind"] == "step" for row in calls), 3)

    def test_layouts_turn_into_one_another(self):
        for how, target in (("wide", "classic"), ("classic", "wide")):
            path, out = self.record(how), os.path.join(self.folder, "turned.tlg")
            done = telltale("convert", "--to", "stacktrack-" + target, "-o", out, path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(telltale("check", out).returncode, 0)
            if b"does not fit" in done.stderr:
                continue  # a process or thread number of more than 16 bits: counted
            for verb in ("top", "stacks"):
                mine, other = telltale(verb, path), telltale(verb, out)
                self.assertEqual(mine.stdout, other.stdout, (how, verb))

    def test_ring_keeps_the_newest(self):
        path = self.record("ring")
        info = self.rows("info", path)
        # The ring overwrote events, as it was asked to: the recording is sound.
        (checked,) = json.loads(telltale("check", "--json", path).stdout)["rows"]
        self.assertEqual((checked["violations"], checked["valid"]), (0, True))
        self.assertEqual({problem["kind"] for problem in info["problems"]}, {"by design"})
        self.assertTrue(all("lost" in problem["message"] for problem in info["problems"]))


if __name__ == "__main__":
    unittest.main()
