"""Recordings that are still being written: --follow, and heap shots requested through the command port of Mono's
profiler."""
import json
import mmap
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import json_schemas
import mono_programs
import recorder_programs

TELLTALE = os.environ["TELLTALE"]
GOLDEN = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"], "tests/golden/xray")


def telltale(*words):
    return subprocess.run([TELLTALE, *map(str, words)], capture_output=True, text=True, timeout=60)


def start(*words):
    return subprocess.Popen([TELLTALE, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def documents(text):
    """Consecutive JSON values."""
    decoder = json.JSONDecoder()
    found = []
    text = text.strip()
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].strip()
    return found


@unittest.skipUnless(mono_programs.HAVE_MONO, "needs mono")
class LiveMonoTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = os.path.join(self.folder.name, "live.mlpd")
        self.program = subprocess.Popen(
            ["mono", f"--profile=log:nodefaults,calls,heapshot=ondemand,output={self.file}",
             mono_programs.compile_program("growing")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_program)
        self.assertEqual(self.program.stdout.readline(), "ready\n")
        deadline = time.monotonic() + 30
        while not (os.path.exists(self.file) and os.path.getsize(self.file) > 4096):  # flushed once a second
            self.assertLess(time.monotonic(), deadline, "nothing is written")
            time.sleep(0.1)

    def end_program(self):
        if self.program.poll() is None:
            self.program.kill()
        self.program.wait()
        self.program.stdin.close()
        self.program.stdout.close()

    def keep(self, count):
        self.program.stdin.write(f"{count}\n")
        self.program.stdin.flush()
        return int(self.program.stdout.readline())

    def test_follow_and_heap_shots(self):
        following = [start("info", "--follow", "--json", self.file), start("dump", "--follow", self.file)]
        self.assertEqual(self.keep(1000), 1000)
        first = telltale("heapshot", "--json", self.file)
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        told = json.loads(first.stdout)
        self.assertEqual(json_schemas.complaints("heapshot", told), [])
        self.assertEqual(told["heap_shots"], 1)
        self.assertEqual(self.keep(500), 1500)
        second = telltale("heapshot", self.file)
        self.assertEqual((second.returncode, second.stderr), (0, ""))
        self.assertIn("heap shot 1 ", second.stdout)  # reports number them from 0

        self.program.stdin.close()
        self.assertEqual(self.program.wait(timeout=60), 0)
        (infos, complaints), (dump, dump_complaints) = [each.communicate(timeout=60) for each in following]
        self.assertEqual(([each.returncode for each in following], complaints, dump_complaints), ([0, 0], "", ""))
        infos = documents(infos)
        self.assertGreater(len(infos), 2)
        sizes = [info["bytes"] for info in infos]
        self.assertEqual(sizes, sorted(sizes))
        self.assertEqual(infos[-1], json.loads(telltale("info", "--json", self.file).stdout))
        self.assertEqual(infos[-1]["records_by_kind"]["HeapShot"], 4)
        self.assertEqual(dump, telltale("dump", self.file).stdout)

    def test_a_port_that_does_not_answer_is_said(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound, but not listening
            done = telltale("heapshot", self.file, "--port", taken.getsockname()[1])
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("command port", done.stderr)


class FollowTest(unittest.TestCase):
    def trace_of_this_process(self):
        """A small trace that names this process as its writer."""
        trace = bytearray((GOLDEN / "calls.fdr").read_bytes())
        for line in telltale("dump", "--json", GOLDEN / "calls.fdr").stdout.splitlines():
            record = json.loads(line)
            if record["record"] == "Pid":
                trace[record["offset"] + 1:record["offset"] + 5] = os.getpid().to_bytes(4, "little")
        return bytes(trace)

    def test_what_grows_is_followed_while_its_writer_holds_it(self):
        trace = self.trace_of_this_process()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "growing.fdr")
            with open(path, "wb", buffering=0) as file:
                file.write(trace[:-20])
                following = start("dump", "--follow", path)
                first = following.stdout.readline()
                file.write(trace[-20:])
                lines = [first]
                whole = telltale("dump", path).stdout
                while len(lines) < whole.count("\n"):
                    lines.append(following.stdout.readline())
                self.assertIsNone(following.poll())
            rest, complaints = following.communicate(timeout=60)
            self.assertEqual((following.returncode, complaints), (0, ""))
            self.assertEqual("".join(lines) + rest, whole)

    def test_what_is_written_into_existing_space_is_followed(self):
        """As by a recorder that maps its file: the size does not change."""
        trace = self.trace_of_this_process()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "mapped.fdr")
            expected = []
            for contents in (trace, trace[:-20] + bytes(20)):
                path.write_bytes(contents)
                expected.append(json.loads(telltale("top", "--json", path).stdout)["rows"])
            self.assertNotEqual(expected[0], expected[1])
            with open(path, "r+b", buffering=0) as file, mmap.mmap(file.fileno(), 0) as mapped:
                following = start("top", "--json", "--follow", path)
                time.sleep(1.5)
                mapped[:] = trace
                time.sleep(2.5)
                self.assertIsNone(following.poll())
                # What is written last is in the last answer.
                mapped[:] = trace[:-20] + bytes(20)
            answers, complaints = following.communicate(timeout=60)
            self.assertEqual(following.returncode, 0, complaints)
            self.assertEqual([document["rows"] for document in documents(answers)], [expected[1], expected[0], expected[1]])

    def test_each_record_of_each_thread_is_printed_once(self):
        """Threads write into cells of their own, so that records are added in the middle of the file."""
        for kind in recorder_programs.KINDS:
            with self.subTest(kind=kind), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "turns.tlg" if kind == "stacktrack" else "turns.xray")
                record, for_each = ("HIT", 1) if kind == "stacktrack" else ("Function", 2)
                options = "" if kind == "stacktrack" else "buffer=4K"
                with subprocess.Popen([recorder_programs.build("takes_turns", kind)], stdin=subprocess.PIPE, bufsize=0,
                                      env={**os.environ, **recorder_programs.settings(kind, path, options)}) as program:
                    program.stdin.write(b"mt")
                    while telltale("info", path).returncode != 0:  # until it has a header
                        time.sleep(0.01)
                    following, lines = start("dump", "--follow", "--json", path), []
                    deadline = threading.Timer(60, following.kill)  # ends the waiting for lines that do not come
                    deadline.start()
                    self.addCleanup(deadline.cancel)
                    for done, turns in ((2, b"mmm"), (5, b"ttm"), (8, b"")):
                        while sum(f'"record":"{record}"' in line for line in lines) < done * for_each:
                            lines.append(following.stdout.readline())
                            self.assertNotEqual(lines[-1], "")
                        program.stdin.write(turns)
                    program.stdin.close()
                rest, complaints = following.communicate(timeout=60)
                deadline.cancel()
                self.assertEqual((following.returncode, complaints), (0, ""))
                lines = [json.loads(line) for line in lines + rest.splitlines()]
                whole = [json.loads(line) for line in telltale("dump", "--json", path).stdout.splitlines()]
                # What the recorder changes later is printed again at the end.
                changed = ("FileHeader", "BufferExtents", "LOST", "TIMETYPE")
                places = lambda records: sorted((each["offset"], each["record"]) for each in records)
                self.assertEqual(places(each for each in lines if each["record"] not in changed),
                                 places(each for each in whole if each["record"] not in changed))
                for each in whole:
                    self.assertEqual(lines.count(each), 1, each)
                    last = [line for line in lines if (line["offset"], line["record"]) == (each["offset"], each["record"])][-1]
                    self.assertEqual(last, each)

    def test_a_folder_is_followed_like_its_files(self):
        trace = self.trace_of_this_process()
        with tempfile.TemporaryDirectory() as folder:
            with open(pathlib.Path(folder, "growing.fdr"), "wb", buffering=0) as file:
                file.write(trace[:-20])
                following = start("info", "--json", "--follow", folder)
                time.sleep(1.5)  # longer than a quiet recording whose writers have ended is waited for
                self.assertIsNone(following.poll())
                pathlib.Path(folder, "another.fdr").write_bytes(trace)
                time.sleep(1.5)
                self.assertIsNone(following.poll())
                file.write(trace[-20:])
            answers, complaints = following.communicate(timeout=60)
            self.assertEqual((following.returncode, complaints), (0, ""))
            self.assertGreater(len(documents(answers)), 1)
            self.assertEqual(documents(answers)[-1]["records"], json.loads(telltale("info", "--json", folder).stdout)["records"])

    def test_filters_that_select_nothing_are_said(self):
        """As without --follow, and not again with each answer."""
        calls, events = GOLDEN / "calls.fdr", GOLDEN.parent / "mono/v17.mlpd"
        for words in (["top", "--function", "#*", "--function", "nothing", calls], ["top", "--thread", "1", "--thread", "99", calls],
                      ["dump", "--thread", "1", "--thread", "99", calls], ["report", "--track", "0x1000", "--function", "nothing", events],
                      ["report", "--find", "S:8", "--thread", "9", events], ["report", "--function", "nothing", events],
                      ["stacks", "--thread", "1", "--thread", "99", calls]):
            with self.subTest(words=words):
                once, followed = telltale(*words), telltale(*words, "--follow")
                self.assertEqual((followed.returncode, followed.stdout, followed.stderr), (0, once.stdout, once.stderr))
                self.assertRegex(followed.stderr, "match `nothing`|no thread is|do not select objects")
        with tempfile.TemporaryDirectory() as folder:
            trace = self.trace_of_this_process()
            path = pathlib.Path(folder, "growing.fdr")
            with open(path, "wb", buffering=0) as file:
                file.write(trace[:-20])
                following = start("top", "--json", "--follow", "--thread", "1", "--thread", "99", path)
                time.sleep(1.5)
                file.write(trace[-20:])
            answers, complaints = following.communicate(timeout=60)
            self.assertGreater(len(documents(answers)), 1)
            self.assertEqual(complaints.count("no thread is 99"), 1, complaints)

    def test_what_ends_torn_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            torn = pathlib.Path(folder, "torn.fdr")
            torn.write_bytes(self.trace_of_this_process()[:-20])  # no process has it open
            done = telltale("dump", "--follow", "--strict", torn)
            self.assertEqual(done.returncode, 4)
            self.assertIn("20 bytes lost", done.stderr)
            # Everything is printed, the torn end last.
            self.assertEqual(sorted(done.stdout.splitlines()), sorted(telltale("dump", torn).stdout.splitlines()))

    def test_damage_of_what_is_still_written_is_explained(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "growing.fdr")
            verbs = {"check": 1, "top": 0, "info": 0, "dump": 0}
            with open(path, "wb", buffering=0) as file:
                file.write(self.trace_of_this_process()[:-20])
                for verb, status in verbs.items():
                    done = telltale(verb, path)
                    self.assertEqual(done.returncode, status)
                    self.assertIn(f"growing.fdr is still being written by process {os.getpid()}", done.stderr, verb)
            for verb in verbs:
                self.assertNotIn("still being written", telltale(verb, path).stderr, verb)

    def test_standard_input_cannot_be_followed(self):
        done = subprocess.run([TELLTALE, "top", "--follow", "-"], input=b"", capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 2)

    def test_a_wrong_command_line_ends_following_at_once(self):
        """Though the recording is still being written."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "trace.fdr")
            with open(path, "wb") as file:
                file.write(self.trace_of_this_process())
                file.flush()
                done = telltale("report", "--follow", "--reports", "heap", path)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr.count("telltale: "), 1, done.stderr)

    def test_heap_shots_need_runtime_events(self):
        done = telltale("heapshot", GOLDEN / "calls.fdr")
        self.assertEqual(done.returncode, 2)
        self.assertIn("an XRay trace has timed calls, no runtime events", done.stderr)


if __name__ == "__main__":
    unittest.main()
