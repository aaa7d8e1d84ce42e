"""`telltale control` changes the recording of a running program, through a socket that only its owner can use."""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

import json_schemas
from recorder_programs import TELLTALE, XRAY, build, check, new_folder, recordings, settings

KINDS = ("functions", "xray") if shutil.which("clang++-22") or shutil.which("clang++-19") else ("functions",)
NOBODY = 65534


def ask(pid, *words, status=0, **more):
    done = subprocess.run([TELLTALE, "control", str(pid), *words], capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout if status == 0 else done.stderr


def told(pid, *words):
    """The document of a request; it follows its schema."""
    document = json.loads(ask(pid, *words, "--json"))
    assert json_schemas.complaints("control", document) == [], document
    assert document["pid"] == pid
    return document


def counts(*paths):
    """Function -> (calls that returned, calls open at the end)."""
    done = subprocess.run([TELLTALE, "top", "--json", *paths], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    return {re.sub(r"\(.*", "", row["function"]): (row["calls"], row["unfinished"]) for row in rows if row["function"] != "(waiting)"}


def events(path):
    return counts(path).get("event", (0, 0))[0]


def chosen_functions(path):
    done = subprocess.run([TELLTALE, "info", "--json", path], capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout)["properties"].get("chosen functions")


def raw_request(pid, request, user=None):
    """What the socket of a process answers, perhaps to another user: this process in a child that has become that user."""
    ask(pid, "status")  # waits until the process listens
    sockets = pathlib.Path("/proc/net/unix").read_text().splitlines()
    name = next(line.split()[-1] for line in sockets if f"@telltale-control-{pid}-" in line)
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
                client.settimeout(60)
                client.connect("\0" + name[1:])
                client.send(request.encode())
                os.write(into, client.recv(8192))
        finally:
            os._exit(0)
    os.close(into)
    with open(out) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text


class Program:
    """tests/programs/recorders/obeys.cc, recorded."""

    def __init__(self, kind, options="control=on", name="trace.xray", before=(), place=None, program=None):
        self.place = place or new_folder()
        self.path = self.place / name
        environment = {**os.environ, **settings("xray", self.path, options)}
        self.process = subprocess.Popen([*before, program or build("obeys", kind)], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.answer("ready")

    def answer(self, expected):
        line = self.process.stdout.readline().split()
        assert line and line[0] == expected, (expected, line)
        return int(line[1]) if len(line) > 1 else None

    def tell(self, line, expected="done"):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer(expected)

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(timeout=60)
        self.process.stdout.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass


class ControlTest(unittest.TestCase):
    def test_what_is_recorded_and_what_is_not_are_all_calls(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Program(kind) as program:
                program.tell("threads 3")
                first = told(program.pid, "stop")
                self.assertEqual((first["state"], first["file"], first["part"]), ("stopped", str(program.path), 1))
                program.tell("threads 3")
                program.tell("calls 500")
                self.assertEqual(told(program.pid, "status")["state"], "stopped")
                second = told(program.pid, "start")
                self.assertEqual((second["state"], second["part"]), ("recording", 2))
                self.assertNotEqual(second["file"], first["file"])
                program.tell("threads 2")
                program.tell("calls 7")
                self.assertEqual(program.end(), 0)
                self.assertEqual(events(first["file"]), 3000)
                self.assertEqual(events(second["file"]), 2007)
                for path in recordings(program.place):
                    check(path)
                    subprocess.run([TELLTALE, "check", "--strict", path], check=True, capture_output=True, timeout=60)
                # A folder means all recordings in it.
                self.assertEqual(events(program.place), 5007)

    def test_a_call_does_not_last_through_the_time_in_which_nothing_is_recorded(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Program(kind) as program:
                program.tell("enter", "inside")
                program.tell("calls 10")
                first = told(program.pid, "stop")["file"]
                program.tell("leave")
                program.tell("calls 1000")
                second = told(program.pid, "start")["file"]
                program.tell("calls 20")
                program.tell("enter", "inside")
                program.tell("leave")
                self.assertEqual(program.end(), 0)
                self.assertEqual(counts(first), {"event": (10, 0), "outer": (0, 1)})
                self.assertEqual(counts(second), {"event": (20, 0), "outer": (1, 0)})
                # Together: outer was open at the stop, and is not the caller of what came after it.
                self.assertEqual(counts(first, second), {"event": (30, 0), "outer": (1, 1)})
                done = subprocess.run([TELLTALE, "top", "--by-thread", "--json", first, second], capture_output=True, text=True,
                                      check=True, timeout=60).stdout
                rows = [row for row in json.loads(done)["rows"] if row["function"].startswith(("event", "outer"))]
                self.assertEqual(sorted(row["calls"] for row in rows), [1, 30])
                lines = subprocess.run([TELLTALE, "info", first], capture_output=True, text=True, timeout=60).stdout
                self.assertRegex(lines, r"recorder +telltale, continuous; stopped while the process ran on")
                self.assertRegex(lines, r"\nstopped +after ")
                lines = subprocess.run([TELLTALE, "info", second], capture_output=True, text=True, timeout=60).stdout
                self.assertRegex(lines, r"\npart +recording 2 of the process")

    def test_threads_that_never_pause(self):
        """Stops, starts and filters while threads make calls: every file is valid, and no call is in two of them."""
        for kind in KINDS:
            with self.subTest(kind=kind), Program(kind, "control=on,size=1G") as program:
                program.tell("spin 4")
                for round_ in range(6):
                    told(program.pid, "stop")
                    told(program.pid, "start")
                    told(program.pid, "filter", *(["--function", "event*"] if round_ % 2 else []))
                told(program.pid, "stop")
                made = program.tell("unspin", "spun")
                program.tell("calls 50")
                last = told(program.pid, "start")["file"]
                program.tell("calls 9")
                self.assertEqual(program.end(), 0)
                recorded = 0
                files = recordings(program.place)
                self.assertEqual(len(files), 14)
                for path in files:
                    info = check(path)
                    self.assertEqual(info["problems"], [], path)
                    entered = info["records_by_kind"].get("FunctionEnter", 0)
                    left = info["records_by_kind"].get("FunctionExit", 0)
                    # At most the call that each of the four threads is in differs, at either end.
                    self.assertLessEqual(abs(entered - left), 4, path)
                    recorded += entered
                self.assertLessEqual(recorded, made + 9)
                self.assertGreater(recorded, 0)
                self.assertEqual(events(last), 9)

    def test_filters(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Program(kind) as program:
                program.tell("calls 5")
                without = told(program.pid, "filter", "--without", "event*")
                self.assertEqual((without["functions"], without["min_ns"], without["depth"]), ("!event*", 0, 0))
                program.tell("calls 5")
                program.tell("enter", "inside")
                program.tell("leave")
                shallow = told(program.pid, "filter", "--depth", "1")
                self.assertEqual((shallow["functions"], shallow["depth"]), ("", 1))
                program.tell("calls 3")
                program.tell("enter", "inside")
                program.tell("calls 4")
                program.tell("leave")
                long = told(program.pid, "filter", "--min", "3600s")
                self.assertEqual((long["min_ns"], long["depth"]), (3600 * 10**9, 0))
                program.tell("calls 6")
                only = told(program.pid, "filter", "--function", "outer*")
                program.tell("calls 6")
                program.tell("enter", "inside")
                program.tell("leave")
                all_ = told(program.pid, "filter")
                self.assertEqual((all_["functions"], all_["min_ns"], all_["depth"]), ("", 0, 0))
                program.tell("calls 8")
                self.assertEqual(program.end(), 0)
                self.assertEqual(counts(program.path), {"event": (5, 0)})
                self.assertEqual(counts(without["file"]), {"outer": (1, 0)})
                self.assertEqual(counts(shallow["file"]), {"event": (3, 0), "outer": (1, 0)})
                self.assertEqual(counts(long["file"]), {})
                self.assertEqual(counts(only["file"]), {"outer": (1, 0)})
                self.assertEqual(counts(all_["file"]), {"event": (8, 0)})
                chosen = [chosen_functions(path) for path in (program.path, without["file"], shallow["file"], only["file"], all_["file"])]
                self.assertEqual(chosen, [None, "--without 'event*'", None, "--function 'outer*'", None])

    def test_filters_that_change_while_nothing_is_recorded(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Program(kind) as program:
                program.tell("calls 5")
                told(program.pid, "stop")
                self.assertEqual(told(program.pid, "filter", "--without", "event*")["state"], "stopped")
                program.tell("calls 5")
                path = told(program.pid, "start")["file"]
                program.tell("calls 5")
                program.tell("enter", "inside")
                program.tell("leave")
                self.assertEqual(program.end(), 0)
                self.assertEqual(counts(path), {"outer": (1, 0)})

    def test_snapshots(self):
        for kind in KINDS:
            for mode in ("continuous", "ring", "snapshot"):
                with self.subTest(kind=kind, mode=mode), Program(kind, f"control=on,mode={mode}") as program:
                    program.tell("calls 100")
                    first = told(program.pid, "snapshot")
                    self.assertEqual(first["mode"], mode)
                    self.assertEqual(first["file"], None if mode == "snapshot" else str(program.path))
                    program.tell("calls 11")
                    second = ask(program.pid, "snapshot").strip()
                    self.assertEqual((events(first["snapshot"]), events(second)), (100, 111))
                    stopped = told(program.pid, "stop")
                    # What is in memory would be lost at the next start.
                    self.assertEqual(stopped["snapshot"] is not None, mode == "snapshot")
                    kept = stopped["snapshot"] or program.path
                    self.assertEqual(events(kept), 111)
                    program.tell("calls 1000")
                    told(program.pid, "start")
                    program.tell("calls 13")
                    self.assertEqual(events(told(program.pid, "snapshot")["snapshot"]), 13)
                    self.assertEqual(program.end(), 0)
                    for path in recordings(program.place):
                        check(path)

    def test_bytes_and_losses(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Program(kind, "control=on,size=8K,buffer=4K,waits=off") as program:
                program.tell("calls 5000")
                status = told(program.pid, "status")
                self.assertEqual(program.end(), 0)
                info = check(program.path)
                recorded = sum(info["records_by_kind"].get(name, 0) for name in ("FunctionEnter", "FunctionExit"))
                self.assertEqual(recorded + status["lost"], 10_000)
                self.assertGreater(status["recorded_bytes"], 8 * recorded)
                self.assertLessEqual(status["recorded_bytes"], os.path.getsize(program.path))

    def test_what_a_ring_overwrote(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Program(kind, "control=on,mode=ring,size=8K,buffer=4K,waits=off") as program:
                self.assertNotIn("overwritten", ask(program.pid, "status"))
                program.tell("calls 5000")
                overwritten = told(program.pid, "status")["overwritten"]
                self.assertGreater(overwritten, 0)
                self.assertRegex(ask(program.pid, "status"), rf"(?m)^ +{overwritten} events overwritten$")
                self.assertEqual(program.end(), 0)

    def test_a_clock_that_is_read_rarely(self):
        with Program("functions", "control=on,clock=sparse") as program:
            program.tell("calls 100")
            told(program.pid, "stop")
            program.tell("calls 100")
            path = told(program.pid, "start")["file"]
            program.tell("calls 30")
            self.assertEqual(program.end(), 0)
            self.assertEqual((events(program.path), events(path)), (100, 30))

    def test_before_the_first_event(self):
        with Program("functions") as program:
            status = told(program.pid, "status")
            self.assertEqual((status["state"], status["file"], status["part"]), ("waiting", None, 0))
            self.assertIn("nothing is recorded yet", ask(program.pid, "snapshot", status=3))
            told(program.pid, "stop")
            program.tell("calls 10")
            self.assertEqual(recordings(program.place), [])
            path = told(program.pid, "start")["file"]
            program.tell("calls 12")
            self.assertEqual(program.end(), 0)
            self.assertEqual(events(path), 12)

    def test_a_forked_child_answers_for_itself(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Program(kind) as program:
                program.tell("calls 10")
                child = program.tell("fork", "child")
                status = told(child, "status")
                self.assertEqual((status["state"], status["file"]), ("waiting", None))
                program.tell("calls 3")
                own = told(child, "stop")["file"]
                self.assertNotEqual(own, str(program.path))
                program.tell("calls 100")
                again = told(child, "start")
                self.assertEqual(again["part"], 2)
                program.tell("calls 4")
                # The parent records all the time.
                self.assertEqual(told(program.pid, "status")["state"], "recording")
                program.tell("leave", "joined")
                self.assertIn("does not exist", ask(child, "status", status=3))
                program.tell("calls 5")
                self.assertEqual(program.end(), 0)
                self.assertEqual([events(path) for path in (program.path, own, again["file"])], [15, 3, 4])

    def test_a_child_of_a_stopped_parent(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Program(kind) as program:
                program.tell("calls 10")
                told(program.pid, "stop")
                child = program.tell("fork", "child")
                self.assertEqual(told(child, "status")["state"], "stopped")
                program.tell("calls 10")
                path = told(child, "start")["file"]
                program.tell("calls 6")
                program.tell("leave", "joined")
                program.tell("calls 10")
                self.assertEqual(program.end(), 0)
                self.assertEqual((events(program.path), events(path)), (10, 6))

    def test_programs_that_change_what_is_theirs(self):
        """They close all descriptors and block all signals; the recorder takes none of the numbers of files."""
        for kind in KINDS:
            with self.subTest(kind=kind), Program(kind) as program:
                program.tell("calls 10")
                before = program.tell("files", "file")
                for line in ("close", "block"):
                    program.tell(line)
                told(program.pid, "stop")
                self.assertEqual(program.tell("files", "file"), before)
                path = told(program.pid, "start")["file"]
                self.assertEqual(program.tell("files", "file"), before)
                program.tell("threads 300")  # the file has to grow
                self.assertEqual(program.end(), 0)
                self.assertEqual((events(program.path), events(path)), (10, 300_000))
                self.assertEqual(check(path)["problems"], [])

    def test_descriptors_do_not_pile_up(self):
        with Program("functions") as program:
            def files():
                return len([name for name in os.listdir(f"/proc/{program.pid}/fd")])

            def round_():
                told(program.pid, "stop")
                told(program.pid, "start")
                program.tell("threads 300")

            for _ in range(15):
                round_()
            # The three of the program; trace and side record, of this recording and perhaps of the last.
            self.assertLessEqual(files(), 3 + 4)

    def test_the_process_ends_with_its_last_thread(self):
        with Program("functions") as program:
            program.tell("calls 10")
            program.process.stdin.write("alone\n")
            program.process.stdin.flush()
            self.assertEqual(program.end(), 0)
        self.assertEqual(events(program.path), 10)

    def test_who_may_ask(self):
        if os.geteuid() != 0:
            self.skipTest("only root can act as another user")
        for kind in KINDS:
            place = new_folder()
            place.chmod(0o777)
            for folder in place.parents:
                if folder.owner() == "root" and folder.parts[1:2] == ("tmp",) and len(folder.parts) > 2:
                    folder.chmod(0o755)
            with self.subTest(kind=kind), Program(kind, place=place) as program:
                program.tell("calls 10")
                self.assertIn("belongs to another user", ask(program.pid, "status", status=3, user=NOBODY, group=NOBODY, extra_groups=[]))
                # Its socket alone says so, too.
                answer = raw_request(program.pid, "telltale-control 1 stop", user=NOBODY)
                self.assertEqual(answer, "telltale-control 1\nrefused\nreason the process belongs to another user\n")
                self.assertEqual(told(program.pid, "status")["state"], "recording")
                # A program that gives up root's rights belongs to the user that it becomes.
                program.tell(f"setuid {NOBODY}")
                answer = raw_request(program.pid, "telltale-control 1 stop", user=NOBODY)
                self.assertEqual(answer.split("\n")[1:3], ["ok", "state stopped"])
                program.tell("calls 10")
                self.assertEqual(told(program.pid, "status")["state"], "stopped")
                self.assertEqual(program.end(), 0)
                self.assertEqual(events(program.path), 10)

    def test_a_program_with_more_rights_than_its_caller_has_no_socket(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make programs of root's that others may run")
        place = pathlib.Path(tempfile.mkdtemp(prefix="telltale-control-"))
        self.addCleanup(shutil.rmtree, place)
        place.chmod(0o755)
        shutil.copy(XRAY, place / "libtelltale_xray.so")
        program = place / "linked"
        source = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"]) / "tests/programs/recorders"
        subprocess.run(["g++", "-std=c++17", "-O1", "-pthread", "-finstrument-functions", f"-I{source.parents[2]}/include",
                        f"-I{source}", source / "obeys.cc", "-o", program, f"-L{place}", "-Wl,--no-as-needed", "-ltelltale_xray",
                        f"-Wl,-rpath,{place}"], check=True, timeout=120)
        os.symlink("libtelltale_xray.so", place / "libtelltale_xray.so.0.1")
        program.chmod(0o4755)
        variables = {"TELLTALE_XRAY": f"file={place}/trace.xray,control=on"}
        process = subprocess.Popen([program], env=variables, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   user=NOBODY, group=NOBODY, extra_groups=[])
        try:
            self.assertEqual(process.stdout.readline(), "ready\n")
            if os.stat(f"/proc/{process.pid}").st_uid == NOBODY:
                self.skipTest("programs gain no rights here")
            self.assertNotIn(f"telltale-control-{process.pid}-", pathlib.Path("/proc/net/unix").read_text())
            self.assertIn(f"process {process.pid} carries", ask(process.pid, "status", status=3))
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()
        # Without gained rights it has one.
        program.chmod(0o755)
        process = subprocess.Popen([program], env=variables, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.assertEqual(process.stdout.readline(), "ready\n")
            self.assertEqual(told(process.pid, "status")["mode"], "continuous")
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


class RunTest(unittest.TestCase):
    def test_run_names_all_recordings(self):
        place = new_folder()
        process = subprocess.Popen([TELLTALE, "run", "--control", "-o", place / "all.xray", "--", build("obeys", "functions")],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.stdin.write("calls 3\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "done\n")
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        pid = int(children[0])
        told(pid, "stop")
        told(pid, "start")
        _, said = process.communicate("calls 4\n", timeout=60)
        self.assertEqual(process.returncode, 0)
        paths = recordings(place)
        self.assertEqual(len(paths), 2)
        for path in paths:
            self.assertIn(path.name, said)
        self.assertEqual(sorted(events(path) for path in paths), [3, 4])


if __name__ == "__main__":
    unittest.main()
