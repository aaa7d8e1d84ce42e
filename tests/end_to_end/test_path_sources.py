"""telltale paths of running processes and of minidumps: the same answer as for a core file."""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time
import unittest

from core_files import crash
from json_schemas import validator
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run

TELLTALE = os.environ["TELLTALE"]
PROGRAMS = SOURCE_DIR / "tests/programs/csi"
WAITING = PROGRAMS / "waiting_threads.cc"
LLDB = shutil.which("lldb-19") or shutil.which("lldb")


def paths(*words):
    done = run(TELLTALE, "paths", "--json", *words)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    document = json.loads(done.stdout)
    validator("paths").validate(document)
    return document


def traced(document):
    """What the traced functions ran, by thread and function; without addresses, which differ between processes."""
    keys = ("line", "paths", "partial", "other_readings", "complete_history", "found_by", "contradiction")
    return [{frame["function"]: [frame[key] for key in keys] for frame in thread["frames"] if frame["untraced"] is None}
            for thread in document["threads"]]


def state(stat):
    return stat.read_text().rsplit(")", 1)[1].split()[0]


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


class Waiting:
    """A running waiting_threads, both threads of which wait; it aborts at the end."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "7", "5"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=no_core)
        self.process.stdout.readline()
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task")
        while any(state(task / "stat") != "S" for task in tasks.iterdir()):
            time.sleep(0.01)

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        self.process.stdin.close()
        self.status = self.process.wait(timeout=60)
        self.process.stdout.close()


class PathSources(SamplerCase):
    def test_a_running_process_is_read_and_goes_on(self):
        lines = {line.strip(): number for number, line in enumerate(WAITING.read_text().splitlines(), 1)}
        for release in RELEASES:
            for level in ("-O0", "-O1", "-O2"):
                with self.subTest(release=release, level=level):
                    program = build(self.path("waiting"), release, "-g", level, "--trace=pt.schema", "-silent", "-pthread",
                                    WAITING, cxx=True)
                    waiting = Waiting(program)
                    with waiting as process:
                        first, second = traced(paths("--pid", process.pid))
                        # Nothing has changed, and the process is not stopped.
                        self.assertEqual(traced(paths("--pid", process.pid)), [first, second])
                        done = run(TELLTALE, "paths", "--pid", process.pid)
                        self.assertRegex(done.stderr, rf"^telltale: process {process.pid} was stopped for \d+\.\d ms\n$")
                        self.assertEqual(state(pathlib.Path(f"/proc/{process.pid}/stat")), "S")
                    self.assertEqual(waiting.status, -signal.SIGABRT)
                    # Functions of a namespace are found like others.
                    (worker,) = (value for name, value in second.items() if "worker" in name)
                    self.assertTrue(worker[4])
                    # Optimised code runs several turns at once.
                    self.assertGreaterEqual(len(worker[1]), 7 if level == "-O0" else 1)
                    last = [line for block in worker[2]["blocks"] for line in block["lines"]]
                    self.assertIn(lines["for (;;) pause();"], last)
                    (asker,) = (value for name, value in first.items() if "asker" in name)
                    self.assertTrue(asker[4])
                    self.assertEqual(asker[3], [])

    def test_the_answer_is_that_of_a_core_file(self):
        program = build(self.path("waiting"), RELEASES[0], "-g", "-O1", "--trace=pt.schema", "-silent", "-pthread", WAITING,
                        cxx=True)
        with Waiting(program) as process:
            live = traced(paths("--pid", process.pid))
            run("gdb", "-nx", "-q", "-batch", "-p", process.pid, "-ex", f"generate-core-file {self.path('core')}")
        core = traced(paths(self.path("core")))
        self.assertEqual(len(live), 2)
        self.assertCountEqual(live, core)

    def test_a_core_file_that_names_no_files(self):
        """Those of qemu have no note NT_FILE: the dynamic loader's list in memory names the files."""
        for release, options in zip(RELEASES, ((), ("-static",))):
            program = build(self.path("waiting"), release, "-g", "-O1", "--trace=pt.schema", "-silent", "-pthread", *options, WAITING, cxx=True)
            with Waiting(program) as process:
                run("gdb", "-nx", "-q", "-batch", "-p", process.pid, "-ex", f"generate-core-file {self.path('core')}")
            data = self.path("core").read_bytes()
            note = b"ELIFCORE\0"  # the type, and the owner's name
            self.assertEqual(data.count(note), 1)
            self.path("nameless").write_bytes(data.replace(note, b"\x01\0\x60\x60CORE\0"))
            named, nameless = (paths(self.path(name)) for name in ("core", "nameless"))
            self.assertEqual(len(traced(named)), 2)
            self.assertEqual(traced(named), traced(nameless))
            named, nameless = ([[frame["function"] for frame in thread["frames"]] for thread in each["threads"]] for each in (named, nameless))
            self.assertEqual(named, nameless)

    def test_processes_that_cannot_be_read(self):
        for pid, status, message in ((0, 2, "is no process"), (1 << 40, 2, "is no process"),
                                     (4194303, 3, "process 4194303: cannot be read: No such file or directory")):
            done = run(TELLTALE, "paths", "--pid", pid)
            self.assertEqual((done.returncode, done.stdout), (status, ""))
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        done = run(TELLTALE, "paths")
        self.assertEqual(done.returncode, 2)
        self.assertIn("give a core file, a process with --pid, or --coredump last", done.stderr)
        self.assertEqual(run(TELLTALE, "paths", "--pid", os.getpid(), "core").returncode, 2)
        # One that a debugger has stopped already.
        with Waiting(build(self.path("waiting"), RELEASES[0], "-g", "-O0", "-pthread", WAITING, cxx=True)) as process:
            debugger = subprocess.Popen(["gdb", "-nx", "-q", "-p", str(process.pid)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            debugger.stdin.write("echo stopped\\n\n")
            debugger.stdin.flush()
            for line in debugger.stdout:
                if "stopped" in line:
                    break
            done = run(TELLTALE, "paths", "--pid", process.pid)
            debugger.communicate("kill\n" if process.poll() is not None else "detach\nquit\n", timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot be stopped: Operation not permitted", done.stderr)

    def start(self, name):
        """A program of `cases`, built with path tracing, that says when it is ready, and ends when its input does."""
        program = build(self.path(name), RELEASES[0], "-g", "-O0", "--trace=pt.schema", "-silent", "-pthread",
                        PROGRAMS / "cases" / f"{name}.c")
        process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.wait, timeout=60)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def end(self, process):
        process.stdin.close()
        self.assertEqual(process.wait(timeout=60), 0)

    def test_a_process_whose_first_thread_has_ended(self):
        process = self.start("first_thread_ends")
        while state(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/stat")) != "Z":
            time.sleep(0.01)
        (thread,) = traced(paths("--pid", process.pid))
        self.assertEqual([path["times"] for path in thread["wait_for_end"][1]], [1, 1, 1, 1])
        self.end(process)

    def test_a_process_that_has_ended(self):
        process = subprocess.Popen(["true"])
        while state(pathlib.Path(f"/proc/{process.pid}/stat")) != "Z":
            time.sleep(0.01)
        done = run(TELLTALE, "paths", "--pid", process.pid)
        self.assertEqual((done.returncode, done.stderr), (3, f"telltale: process {process.pid}: it has ended\n"))
        process.wait()

    def test_threads_that_end_meanwhile(self):
        process = self.start("threads_come_and_go")
        for _ in range(100):
            done = run(TELLTALE, "paths", "--pid", process.pid)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.end(process)

    def test_a_thread_that_does_not_stop(self):
        # The child ends after the answer only: who waits for the thread, waits for ever.
        process = self.start("waits_in_vfork")
        first, other = paths("--pid", process.pid)["threads"]
        self.assertEqual([frame["function"] for frame in first["frames"] if frame["untraced"] is None], ["wait_for_child"])
        self.assertEqual(other["frames"], [])
        self.assertEqual(other["cut"], "it did not stop: it waits in the kernel, as a thread in vfork() for its child")
        self.end(process)

    def test_an_empty_answer_is_explained(self):
        empty = pathlib.Path(self.path("empty.dmp"))
        empty.write_bytes(b"MDMP" + (0xa793).to_bytes(4, "little") + bytes(24))
        done = run(TELLTALE, "paths", empty)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(done.stderr, "telltale: no thread is in what was left of the program\n")
        with Waiting(build(self.path("waiting"), RELEASES[0], "-g", "-O0", "-pthread", WAITING, cxx=True)) as process:
            done = run(TELLTALE, "paths", "--pid", process.pid, "--function", "no such")
        self.assertIn("no function on the stacks is in what the options select", done.stderr)

    @unittest.skipUnless(LLDB, "LLDB, which writes minidumps, is not installed")
    def test_minidumps_of_lldb(self):
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                with self.subTest(release=release, level=level):
                    program = build(self.path("walk"), release, "-g", level, "--trace=" + str(PROGRAMS / "recorded_walk.schema"),
                                    "-silent", PROGRAMS / "recorded_walk.c")
                    core = paths(crash(self.path("core"), program, self.path("trace"), 3, 200))
                    dump = pathlib.Path(self.path("walk.dmp"))
                    dump.unlink(missing_ok=True)
                    done = subprocess.run([LLDB, "--no-lldbinit", "-b", "-o", f"run {self.path('trace')} 3 200", "-k",
                                           f"process save-core --plugin-name=minidump --style=stack {dump}", program],
                                          capture_output=True, text=True, timeout=120)
                    self.assertTrue(dump.is_file(), done.stdout + done.stderr)
                    document = paths(dump)
                    self.assertEqual(document["stopped_by"], "signal 11 (Segmentation fault)")
                    self.assertEqual(traced(document), traced(core))
                    self.assertGreater(len(traced(document)[0]), 0)
                    self.assertIn("valid minidump", run(TELLTALE, "check", dump).stdout)
                    for line in run(TELLTALE, "dump", "--json", dump).stdout.splitlines():
                        validator("dump-minidump").validate(json.loads(line))
                    info = run(TELLTALE, "info", dump).stdout
                    self.assertRegex(info, r"command +\S+/walk \S+ 3 200\n")
                    self.assertRegex(info, r"stopped by +signal 11")
        # Cut anywhere: an error, or what is left and a problem.
        data = dump.read_bytes()
        cut = pathlib.Path(self.path("cut.dmp"))
        for size in range(0, len(data), 211):
            cut.write_bytes(data[:size])
            done = run(TELLTALE, "paths", cut, "--json")
            self.assertIn(done.returncode, (0, 2, 3), done.stderr)
            if done.returncode == 0:
                self.assertTrue(json.loads(done.stdout)["problems"], size)
                self.assertEqual(run(TELLTALE, "check", cut).returncode, 1, size)


if __name__ == "__main__":
    unittest.main()
