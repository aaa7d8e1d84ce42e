"""Several processes of a recording may have one id: in containers, or programs that a process executes."""
import collections
import csv
import io
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

import json_schemas
import recorded_programs as programs
from recorded_programs import TELLTALE, telltale

SOURCE = (programs.PROGRAMS / "recorders/cases/executes.cc").read_text()
SPACE = ["unshare", "-pf", "--mount-proc"]


def build(name, *flags):
    return programs.build("g++", *programs.CALL_FLAGS, *flags, source=SOURCE, name=name)


def rows(*words):
    done = telltale(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["rows"]


@unittest.skipIf(subprocess.run([*SPACE, "true"], capture_output=True).returncode != 0, "needs process id namespaces")
class Containers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        cls.files = [cls.place / "a.xray", cls.place / "b.xray"]
        for file, program in zip(cls.files, (build("pa"), build("pb", "-DB"))):
            subprocess.run([*SPACE, TELLTALE, "run", "-o", file, "--", program], check=True, capture_output=True, timeout=60)
        threads = [json.loads(telltale("info", "--json", file).stdout)["threads"][0] for file in cls.files]
        cls.pid, cls.tid = threads[0]["pid"], threads[0]["tid"]
        assert (threads[1]["pid"], threads[1]["tid"]) == (cls.pid, cls.tid)

    def test_info_counts_both(self):
        info = telltale("info", *self.files).stdout
        self.assertRegex(info, rf"(?m)^processes +2 \({self.pid}\.1 pa, {self.pid}\.2 pb\)$")
        self.assertRegex(info, rf"(?m)^threads +2 \({self.pid}\.1:{self.tid} \S+, {self.pid}\.2:{self.tid} \S+\)$")
        threads = json.loads(telltale("info", "--json", *self.files).stdout)["threads"]
        self.assertEqual([(row["pid"], row["process_number"], row["process_name"]) for row in threads],
                         [(self.pid, 1, "pa"), (self.pid, 2, "pb")])
        (alone,) = json.loads(telltale("info", "--json", self.files[0]).stdout)["threads"]
        self.assertNotIn("process_number", alone)

    def test_a_thread_is_selected_by_the_number_of_its_process(self):
        for number, name in ((1, "only_a"), (2, "only_b")):
            selected = ("--thread", f"{self.pid}.{number}:{self.tid}")
            names = {row["function"].split("(")[0] for row in rows("top", *self.files, *selected)}
            self.assertEqual(names - {"", "main"}, {name})
            info = json.loads(telltale("info", "--json", *self.files, *selected).stdout)
            alone = json.loads(telltale("info", "--json", self.files[number - 1], "--thread", self.tid).stdout)
            self.assertEqual((len(info["threads"]), info["records"]), (1, alone["records"]))
        both = {row["function"].split("(")[0] for row in rows("top", *self.files, "--thread", f"{self.pid}:{self.tid}")}
        self.assertLessEqual({"only_a", "only_b"}, both)
        for wrong in (f"{self.pid}.0:{self.tid}", f"{self.pid}.x:{self.tid}"):
            self.assertEqual(telltale("top", *self.files, "--thread", wrong).returncode, 2)
        nobody = telltale("top", *self.files, "--thread", f"{self.pid}.3:{self.tid}").stderr
        self.assertIn(f"there are {self.pid}.1:{self.tid}", nobody)

    def test_tables_have_the_number(self):
        both = {(self.pid, 1), (self.pid, 2)}
        for words in (("top", "--by-process"), ("top", "--by-thread"), ("stacks", "--by-thread")):
            self.assertEqual({(row["pid"], row["process_number"]) for row in rows(*words, *self.files)}, both)
            table = csv.DictReader(io.StringIO(telltale(*words, "--csv", *self.files).stdout))
            self.assertEqual({(int(row["pid"]), int(row["process_number"])) for row in table}, both)
            self.assertNotIn("process_number", rows(*words, self.files[0])[0])
        for words, table in ((("report",), "threads"), (("replay",), "steps"), (("slow", "only_*"), "calls")):
            document = json.loads(telltale(*words, "--json", *self.files).stdout)
            self.assertEqual({(row["pid"], row["process_number"]) for row in document[table]}, both, words)
            self.assertEqual(json_schemas.complaints(document["schema"]["name"], document), [])
        merged = telltale("replay", "--merge", *self.files).stdout
        for number in (1, 2):
            self.assertRegex(merged, rf"(?m) {self.pid}\.{number}:{self.tid} +main")

    def test_records_of_a_process_are_selected_by_its_number(self):
        whole = [telltale("dump", "--json", file, "--thread", self.tid).stdout for file in self.files]
        for number in (1, 2):
            thread = ("--thread", f"{self.pid}.{number}:{self.tid}")
            chosen = [json.loads(line) for line in telltale("dump", "--json", *self.files, *thread).stdout.splitlines()]
            alone = [json.loads(line) for line in whole[number - 1].splitlines()]
            functions = [[row["offset"] for row in one if row.get("record") == "Function"] for one in (chosen, alone)]
            self.assertGreater(len(functions[1]), 10)
            self.assertEqual(*functions)
            checked = rows("check", *self.files, *thread)
            self.assertEqual([row["records"] != 0 for row in checked], [number == 1, number == 2], checked)

    def test_commands_of_slow_replay_the_call(self):
        shown = telltale("slow", "only_*", *self.files, "-n", "12").stdout
        commands = re.findall(r"telltale (replay .*)", shown)
        self.assertEqual(len(commands), 12, shown)
        self.assertEqual(len(set(commands)), 12, shown)
        replayed = collections.Counter()
        for command in commands:
            done = telltale(*shlex.split(command))
            self.assertEqual(done.returncode, 0, (command, done.stderr))
            replayed[re.search(r"only_[ab]", done.stdout)[0]] += 1
        self.assertEqual(replayed, {"only_a": 5, "only_b": 7})

    def test_exports_keep_them_apart(self):
        other = self.pid + 10_000_000
        events = json.loads(telltale("convert", *self.files, "--to", "chrome", "-o", "-").stdout)
        events = events["traceEvents"] if isinstance(events, dict) else events
        names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        self.assertEqual(names, {self.pid: f"pa ({self.pid}.1)", other: f"pb ({self.pid}.2)"})
        open_calls = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "B":
                open_calls[event["pid"], event["tid"]].append(event["name"])
                self.assertNotIn("only_" + ("b" if event["pid"] == self.pid else "a"), event["name"])
            elif event["ph"] == "E":
                self.assertEqual(open_calls[event["pid"], event["tid"]].pop(), event["name"])
        self.assertEqual(set(open_calls), {(self.pid, self.tid), (other, self.tid)})
        table = csv.DictReader(io.StringIO(telltale("convert", *self.files, "--to", "csv", "-o", "-").stdout))
        self.assertEqual({(row["pid"], row["process"]) for row in table}, {(str(self.pid), "pa"), (str(other), "pb")})


class Executed(unittest.TestCase):
    """A process that executes another program: its functions are that program's."""

    def test_functions_are_of_their_program(self):
        second = build("pb", "-DB")
        run = programs.Recorded(build("pa"), second)
        self.assertEqual(len(run.files), 2, run.done.stderr)
        for group in ("--by-process", "--by-thread"):
            found = {(row["process_name"], row["function"].split("(")[0]): (row["pid"], row["calls"])
                     for row in rows("top", group, *run.files)}
            pids = {pid for pid, _ in found.values()}
            self.assertEqual(len(pids), 1)
            self.assertEqual(found["pa", "only_a"], (*pids, 5))
            self.assertEqual(found["pb", "only_b"], (*pids, 7))
            self.assertFalse({("pa", "only_b"), ("pb", "only_a")} & set(found), found)


class Sinks(unittest.TestCase):
    """Several StackTrack sinks of one process that are open at the same time."""

    def test_are_of_one_process_and_their_events_count_once(self):
        library = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"], "runtime/stacktrack/libtelltale_stacktrack.a")
        include = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"], "include")
        source = (programs.PROGRAMS / "recorders/cases/sinks_at_once.cc").read_text()
        program = programs.build("g++", f"-I{include}", source=source, after=(library,))
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder, name) for name in ("whole.tlg", "first.tlg", "second.tlg")]
            subprocess.run([program, *files], check=True, timeout=60)
            for order in itertools.permutations(files):
                info = json.loads(telltale("info", "--json", *order).stdout)
                self.assertFalse([row for row in info["threads"] if "process_number" in row])
                found = {row["function"].split("(")[0].split("::")[-1]: row["calls"] for row in rows("top", *order)}
                self.assertEqual((found["step"], found["steps"]), (2 * (100 + 20 + 3), 6))


if __name__ == "__main__":
    unittest.main()
