"""Mono recordings through the verbs that need no Mono: info, dump, check, top, stacks, diff, convert; of every data
version, compressed, piped, torn and several at a time. The files are tests/golden/mono."""
import glob
import gzip
import json
import os
import subprocess
import tempfile
import unittest

TELLTALE = os.environ["TELLTALE"]
GOLDEN = os.path.join(os.environ["TELLTALE_SOURCE_DIR"], "tests", "golden", "mono")
V17 = os.path.join(GOLDEN, "v17.mlpd")


def run(*words, stdin=None, status=0):
    done = subprocess.run([TELLTALE, *words], input=stdin, capture_output=True, timeout=60)
    if done.returncode != status:
        raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


def top(*words, **more):
    return [(row["function"], row["calls"], row["unfinished"]) for row in json.loads(run("top", "--json", *words, **more))["rows"]]


class MonoFiles(unittest.TestCase):
    def setUp(self):
        keeper = tempfile.TemporaryDirectory(prefix="telltale-mono-")
        self.addCleanup(keeper.cleanup)
        self.folder = keeper.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def test_every_version_says_the_same_of_its_calls(self):
        expected = [("Program:Work ()", 2, 0), ("Program:Main (string[])", 1, 1)]
        for version in range(1, 18):
            path = os.path.join(GOLDEN, f"v{version}.mlpd")
            self.assertEqual(sorted(top(path)), sorted(expected), path)
            info = json.loads(run("info", "--json", path))
            self.assertEqual((info["format"], info["version"]), ("mono", str(version)))
            self.assertEqual(info["problem_count"], 0)
            self.assertIn(b"valid Mono log-profiler recording", run("check", path))

    def test_one_answer_for_any_number_of_workers(self):
        for words in (["top", "--json"], ["stacks"], ["info", "--json"], ["graph"]):
            answers = {run(*words, "--jobs", jobs, V17) for jobs in ("1", "2", "8")}
            self.assertEqual(len(answers), 1, words)

    def test_standard_input_and_gzip(self):
        data = self.read(V17)
        zipped = self.write("zipped.mlpd", gzip.compress(data))
        self.assertEqual(top("-", stdin=data), top(V17))
        self.assertEqual(top(zipped), top(V17))
        self.assertEqual(top("-", stdin=gzip.compress(data)), top(V17))
        self.assertEqual(json.loads(run("info", "--json", zipped))["properties"]["compression"], "gzip")

    def test_several_files_are_one_recording(self):
        rows = top(V17, os.path.join(GOLDEN, "v1_32.mlpd"))
        self.assertIn(("Program:Work ()", 4, 0), rows)

    def test_a_file_that_is_given_twice_is_refused(self):
        one = self.write("one.mlpd", self.read(V17))
        link = self.path("link.mlpd")
        os.symlink(one, link)
        for words, message in (([one, one], f"{one} is given twice"), ([one, link], f"{one} and {link} are the same file"),
                               ([one, self.folder], f"{one} is given twice")):
            for verb in ("top", "info", "report", "stacks"):
                done = subprocess.run([TELLTALE, verb, *words], capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (2, ""), (verb, words))
                self.assertIn(message, done.stderr)
        self.assertEqual(top(self.folder), top(one))  # a folder may have a link to its latest recording

    def test_copies_count_once(self):
        one = self.write("one.mlpd", self.read(V17))
        copies = [self.write("copy.mlpd", self.read(V17)), self.write("copy.mlpd.gz", gzip.compress(self.read(V17))),
                  self.write("cut.mlpd", self.read(V17)[:-20])]
        for copy in copies:
            for files in ([one, copy], [copy, one]):
                self.assertEqual(top(*files), top(one), files)
                problems = json.loads(run("info", "--json", *files))["problems"]
                self.assertRegex(problems[0]["message"], "^a copy of .*, not counted again$")
                self.assertEqual(problems[0]["kind"], "copies")

    def test_a_function_that_is_on_no_stack_of_a_measure_is_named(self):
        file = self.write("one.mlpd", self.read(V17))
        for words in (("stacks",), ("stacks", "--json"), ("flame", "-o", "-"), ("convert", "--to", "folded", "-o", "-")):
            for patterns, told in ((("XX",), "0 of 2 functions match `XX`"), (("XX", "YY"), "0 of 2 functions match `XX`, `YY`"), (("*Main*",), None)):
                done = subprocess.run([TELLTALE, *words, file, "--measure", "throws", *(word for one in patterns for word in ("--function", one))],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr.count("functions match"), 0 if told is None else 1, (words, patterns, done.stderr))
                self.assertIn(f"telltale: on the stacks of throws, {told}" if told else "", done.stderr)

    def test_torn_and_damaged_files_lose_no_more_than_a_buffer(self):
        data = self.read(V17)
        torn = self.write("torn.mlpd", data[:-1])
        info = json.loads(run("info", "--json", torn))
        self.assertEqual([problem["kind"] for problem in info["problems"]], ["torn tail", "torn tail"])
        run("info", "--strict", torn, status=4)
        run("check", torn, status=1)
        # The second buffer's first event is damaged: the third buffer is still read.
        text = run("dump", V17).decode().splitlines()
        buffers = [int(line.split()[0]) for line in text if line.split()[1] == "Buffer"]
        broken = bytearray(data)
        broken[buffers[1] + 48] = 0xFF
        damaged = self.write("damaged.mlpd", bytes(broken))
        lines = run("dump", damaged).decode().splitlines()
        self.assertTrue(any("no event begins with 0xff" in line for line in lines))
        self.assertEqual(lines[-1].split()[1:4], text[-1].split()[1:4])
        info = json.loads(run("info", "--json", damaged))
        self.assertEqual(info["problem_count"], 1)
        self.assertEqual(info["lost_bytes"], buffers[2] - buffers[1] - 48)

    def test_dump_tells_each_event_and_takes_filters(self):
        objects = [json.loads(line) for line in run("dump", "--json", V17).splitlines()]
        records = json.loads(run("info", "--json", V17))["records"]
        self.assertEqual(sum(one["record"] not in ("FileHeader", "Buffer") for one in objects), records)
        calls = [json.loads(line) for line in run("dump", "--json", "--function", "Program:Main*", V17).splitlines()]
        methods = {one["method"] for one in calls if one["record"] == "Call"}
        self.assertEqual(len(methods), 1)
        thread = json.loads(run("info", "--json", "--thread", str(0x50000002), V17))
        self.assertEqual(thread["records_by_kind"]["Enter"], 3)
        self.assertNotIn("Alloc", thread["records_by_kind"])

    def test_conversion_says_what_is_lost_and_keeps_calls(self):
        self.assertEqual(self.read(self.converted(V17, "mono17")), self.read(V17))
        done = json.loads(run("convert", "--json", V17, "--to", "mono1", "-o", self.path("one.mlpd")))
        self.assertGreater(len(done["losses"]), 5)
        self.assertEqual(top(self.path("one.mlpd")), top(V17))
        self.assertIn(b"data version 1,", run("check", self.path("one.mlpd")))
        up = self.converted(os.path.join(GOLDEN, "v1.mlpd"), "mono17")
        self.assertIn(b"data version 17,", run("check", up))
        run("convert", V17, "--to", "fdr5", "-o", self.path("no"), status=2)

    def converted(self, path, to):
        out = self.path(f"{os.path.basename(path)}.{to}")
        run("convert", path, "--to", to, "-o", out)
        return out

    def test_exports_of_calls(self):
        folded = self.path("x.folded")
        run("convert", V17, "-o", folded)
        self.assertIn(b"Program:Main (string[]);Program:Work ()", self.read(folded))
        for name in ("x.pftrace", "x.json", "x.pb.gz", "x.speedscope.json", "x.csv", "x.html"):
            run(*(["flame"] if name.endswith("html") else ["convert"]), V17, "-o", self.path(name))
        self.assertIn(b"Program:Work", run("diff", V17, os.path.join(GOLDEN, "v13.mlpd")))

    def test_golden_files_are_all_checked(self):
        names = sorted(os.path.basename(path) for path in glob.glob(os.path.join(GOLDEN, "*.mlpd")))
        self.assertEqual(len(names), 23)
        for name in names:
            run("check", os.path.join(GOLDEN, name))


if __name__ == "__main__":
    unittest.main()
