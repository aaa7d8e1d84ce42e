"""Telltale's XRay recorder under the reliability goals R1 to R15, in brief form; TELLTALE_LONG=1 runs the long one."""
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from own_recorder import (ARCHIVE, BINARY_DIR, CLANGS, LIBRARY, LONG, SOURCE_DIR, Case, Run, Side, build, calls_by_name, events,
                          function_events, telltale, wait_for_calls, work_dir)

NEWEST = CLANGS[-1] if CLANGS else None


def mount_namespace():
    return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


class Signals(Case):
    def test_r1_counts_are_exact_under_signals(self):
        """Handlers that call recorded functions, ten thousand times a second, in two threads."""
        program = build("host", NEWEST)
        for options in ("", "buffer=4K", "version=1,buffer=4K", "clock=sparse", "mode=ring,size=1M,buffer=16K"):
            run = Run(program, "signals", 5000 if LONG else 300, options=options)
            emitted = 2 * (run.said["calls"]["leaf"] + run.said["calls"]["handler"] + 1)
            side = run.side()
            self.assertGreater(run.said["calls"]["handler"], 0)
            self.assertEqual(function_events(events(run.path)) + sum(side.lost.values()), emitted, (options, side.lost))
            self.assertEqual(side.lost["reentrant"], 0)

    def check_interrupted(self, program, options, before, handler, function):
        with self.subTest(options=options, before=before, handler=handler, function=function, program=os.path.basename(program)):
            # One thread at a time: on one processor, CPU changes do not affect the contents of a buffer.
            run = Run(program, 110, before, handler, function, options=options, prefix=("taskset", "-c", str(min(os.sched_getaffinity(0)))))
            self.assertGreater(run.said["interruptions"], 30)
            side = run.side()
            self.assertEqual(function_events(events(run.path)) + sum(side.lost.values()), 2 * run.said["calls"], side.lost)
            self.assertEqual((side.lost["reentrant"], side.lost["too_large"], side.lost["no_space"]), (0, 0, 0))

    def test_r1_a_handler_between_any_two_instructions(self):
        """The buffer is full, nearly full or not, and the handler changes buffers or not."""
        sleds = build("../recorders/interrupted", NEWEST, output="interrupted")
        hooks = build("../recorders/interrupted", NEWEST, "-fno-xray-instrument", "-finstrument-functions",
                      "-Wno-unused-command-line-argument", output="interrupted-functions")
        # A buffer of 4 KiB contains 504 events in version 1, and 502 in version 5, after its head. A call is two
        # events, and four words if its argument is recorded.
        for options in ("version=1,buffer=4K", "buffer=4K", "mode=ring,buffer=4K,size=20K"):
            for handler in (1, 260):
                for before in (250, 251, 252):
                    for clock in ("", ",clock=sparse"):
                        self.check_interrupted(sleds, options + clock, before, handler, "leaf")
                        self.check_interrupted(hooks, options + clock, before, handler, "leaf")
                for before in (124, 125, 126):
                    self.check_interrupted(sleds, options, before, handler, "logged")
            for clock in ("", ",clock=sparse", ",clock=monotonic"):
                self.check_interrupted(sleds, options + clock, 251, 600, "leaf")

    def test_r1_nothing_unsafe_is_called(self):
        """In events, including a thread's first, their handlers' events, crashes with everything that our handler does,
        and children: the process ends with status 97 if libc's allocator, locks, dynamic linker or stdio are called."""
        forbidden = os.path.join(BINARY_DIR, "tests/runtime/forbidden_calls.so")
        preload = {"LD_PRELOAD": LIBRARY + ":" + forbidden}
        program = build("host", NEWEST)
        functions = build("host", NEWEST, "-fno-xray-instrument", "-finstrument-functions",
                          "-Wno-unused-command-line-argument", output="host-functions")
        run = Run(program, "die", "unsafe", env=preload, preload=False, check=False)
        self.assertEqual((run.status, run.stderr), (97, "forbidden call: malloc\n"))
        for host in (program, functions):
            for options in ("buffer=4K", "version=1", "clock=sparse", "clock=monotonic", "mode=ring,size=256K,buffer=4K",
                            "mode=snapshot,size=1M", "depth=2", "min=1us", "threads=1/2"):
                run = Run(host, "signals", 3000 if LONG else 60, options=options, env=preload, preload=False)
                self.assertGreater(run.said["calls"]["handler"], 0)
            Run(host, "forks", 4, options="buffer=4K", env=preload, preload=False)
            for how in ("segv", "abort", "fpe", "ill", "bus", "overflow"):
                run = Run(host, "die", how, options="mode=snapshot,size=1M", env=preload, preload=False, check=False)
                self.assertLess(run.status, 0, run.stderr)
                self.assertEqual(run.traces(), [run.path], how)

    def test_r1_what_hooks_may_call(self):
        """Of the library's imports, hooks and slow path use only those named here: the others are used in files that
        run at start, by the control thread, when objects are loaded, and when the program sets a handler."""
        folder = tempfile.mkdtemp(dir=work_dir())
        subprocess.run(["ar", "x", ARCHIVE], cwd=folder, check=True)
        cold = {"loader", "name_patterns", "start", "signals", "kept_handlers", "options", "clock", "control"}
        allowed = {"pthread_setspecific", "__udivti3"}  # the second: libgcc's division
        ours = set()
        wanted = set()
        for name in os.listdir(folder):
            listing = subprocess.run(["nm", os.path.join(folder, name)], capture_output=True, text=True, check=True).stdout
            for line in listing.splitlines():
                kind, symbol = line.split()[-2:]
                if kind not in "Uw":
                    ours.add(symbol)
                elif name.split(".")[0] not in cold:
                    wanted.add(symbol)
        self.assertEqual({symbol for symbol in wanted - ours if symbol != "_GLOBAL_OFFSET_TABLE_"}, allowed)

    def test_r6_the_host_s_signals(self):
        program = build("host", NEWEST)
        plain = subprocess.run([program, "host_signals"], capture_output=True, text=True, check=True)
        told = json.loads(plain.stdout)
        self.assertEqual((told["preset"], told["host_signals"], told["blocked"]), (0, 5, 0))
        run = Run(program, "host_signals")
        self.assertEqual({**run.said, "pid": 0}, {**told, "pid": 0})
        snapshot = Run(program, "host_signals", options="mode=snapshot")
        self.assertEqual((snapshot.said["host_signals"], snapshot.said["blocked"]), (5, 0))
        # It dies as without the recorder; ignored signals stay ignored.
        for how in ("abort", "segv", "bus", "fpe", "ill", "term", "terminate"):
            plain = subprocess.run([program, "die", how], capture_output=True)
            for options in ("", "mode=snapshot"):
                run = Run(program, "die", how, options=options, check=False)
                self.assertEqual((run.status, run.stdout.split(",", 1)[1], run.stderr),
                                 (plain.returncode, plain.stdout.decode().split(",", 1)[1], plain.stderr.decode()), how)

    def test_r7_r8_crashes_leave_a_snapshot(self):
        program = build("host", NEWEST)
        for how in ("segv", "abort", "fpe", "ill", "bus", "terminate", "overflow", "thread_overflow", "crowd"):
            run = Run(program, "die", how, options="mode=snapshot,size=16M", check=False, timeout=20,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
            self.assertIn(run.status, (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGFPE, -signal.SIGILL, -signal.SIGBUS), how)
            self.assertEqual(run.traces(), [run.path], how)
            self.assertGreaterEqual(calls_by_name(run.path, program)["leaf"], 1000, how)

    def test_r9_registers(self):
        for clang in CLANGS:
            program = build("registers", clang)
            rounds = 100_000 if LONG else 20_000
            for options in ("buffer=4K", "buffer=4K,clock=monotonic", "buffer=4K,clock=sparse", "depth=5,buffer=4K",
                            "min=1ns,buffer=4K", "mode=ring,size=64K,buffer=4K"):
                run = Run(program, rounds, options=options)
                self.assertEqual(run.said["changed"], 0, options)
                side = run.side()
                self.assertEqual(function_events(events(run.path)) + sum(side.lost.values()) + side.left_out, 2 * rounds)


class Deaths(Case):
    def test_r2_all_that_was_recorded_is_there(self):
        program = build("host", NEWEST)
        for how in ("exit", "_exit", "exec", "abort", "segv", "bus", "fpe", "ill", "term", "kill", "terminate", "overflow"):
            for options in ("", "version=1", "clock=sparse", "mode=ring,size=16M"):
                run = Run(program, "die", how, options=options, check=False)
                calls = 1000 + 1 + (1 if how == "exit" else 0)
                self.assertEqual(calls_by_name(run.path, program)["leaf"], calls, (how, options))
                self.assertEqual(run.side().flags & 1, 1 if how == "exit" else 0, how)

    def test_r2_killed_at_any_time(self):
        program = build("host", NEWEST)
        rounds = 1000 if LONG else 25
        for i in range(rounds):
            folder = tempfile.mkdtemp(dir=work_dir())
            shared = os.path.join(folder, "t.shared")
            with open(shared, "wb") as file:
                file.truncate(4096)
            options = ("", "version=1", "buffer=4K", "clock=sparse", "buffer=16K,version=1")[i % 5]
            child = subprocess.Popen([program, "until_killed", shared, "2"],
                                     env=dict(os.environ, LD_PRELOAD=LIBRARY,
                                              TELLTALE_XRAY="file=%s/t.xray,size=64M,%s" % (folder, options)))
            wait_for_calls(shared)
            time.sleep(random.random() * 0.005)
            child.kill()
            child.wait()
            with open(shared, "rb") as file:
                data = file.read()
            done = [struct.unpack_from("<Q", data, 64 * thread)[0] for thread in range(2)]
            path = folder + "/t.xray"
            counts = events(path)
            lost = sum(Side.read(path + ".side").lost.values())
            # Each thread has completed its count, and may be in one more call; a static constructor made one too.
            recorded = function_events(counts) + lost
            self.assertGreaterEqual(recorded, 2 * (sum(done) + 1))
            self.assertLessEqual(recorded, 2 * (sum(done) + 2 + 1))
            shutil.rmtree(folder)

    def test_r3_forks(self):
        program = build("host", NEWEST)
        children = 1000 if LONG else 20
        run = Run(program, "forks", children, options="buffer=4K,size=1G")
        self.assertEqual(run.said["failed"], 0)
        counts = events(run.path)
        # vfork's child makes no call; this file contains nothing of the children.
        self.assertEqual(function_events(counts) + sum(run.side().lost.values()), 2 * (run.said["calls"]["leaf"] + 1))
        others = [path for path in run.traces() if path != run.path]
        self.assertEqual(len(others), children)
        for path in others:
            self.assertEqual(function_events(events(path)), 100)
            self.assertEqual(calls_by_name(path, program), {"leaf": 50})
            self.assertEqual(Side.read(path + ".side").parent, run.said["pid"])
        run = Run(program, "forks", 4, options="fork=off")
        self.assertEqual(run.traces(), [run.path])

    def test_r3_first_calls_in_children(self):
        """Another thread of the parent may hold any of the recorder's locks while a child is created."""
        functions = ("-fno-xray-instrument", "-finstrument-functions", "-Wno-unused-command-line-argument")
        for program in (build("host", NEWEST), build("host", NEWEST, *functions, output="host-functions")):
            children = 400 if LONG else 40
            for options in ("", "functions=*numbered*"):
                run = Run(program, "first_calls_in_children", children, options=",".join(filter(None, ("buffer=4K", options))))
                self.assertEqual(run.said["failed"], 0)
                # A child may call a function before its parent does, and then take the file's name.
                others = [path for path in run.traces() if Side.read(path + ".side").pid != run.said["pid"]]
                self.assertEqual(len(others), children)
                for path in others[:10]:
                    names = [row["function"] for row in json.loads(telltale("top", "--json", path).stdout)["rows"]]
                    self.assertEqual(len([name for name in names if "numbered" in name]), 10, (path, names))

    def test_r3_child_loads_first(self):
        program = build("host", NEWEST, "-rdynamic")
        library = build("plugin", NEWEST, "-fPIC", "-shared", "-DNAME=first", output="libinchild.so")
        run = Run(program, "plugin_in_child", library, options="buffer=4K")
        self.assertEqual(run.said["failed"], 0)
        [child] = [path for path in run.traces() if path != run.path]
        calls = {row["function"]: row["calls"] for row in json.loads(telltale("top", "--json", child).stdout)["rows"]}
        self.assertEqual(calls.get("plugins::first(int)"), 1, calls)

    def test_r3_descriptors_of_others(self):
        program = build("host", NEWEST)
        folder = tempfile.mkdtemp(dir=work_dir())
        run = Run(program, "reuse_descriptors", folder, options="size=256M")
        self.assertEqual(run.said["changed"], 0)
        self.assertEqual(calls_by_name(run.path, program)["leaf"], 500_102)

    def test_r4_threads(self):
        program = build("host", NEWEST)
        alive, short = (10_000, 100_000) if LONG else (1_000, 2_000)
        for options in ("buffer=4K", "mode=ring,size=64M,buffer=4K"):
            run = Run(program, "threads", alive, short, options=options)
            self.assertGreater(run.said["alive"], alive * 0.9)
            self.assertLessEqual(run.said["resident_after"], 1.5 * run.said["resident_before"])
            emitted = 2 * (run.said["calls"]["leaf"] + 1)
            self.assertEqual(function_events(events(run.path)) + sum(run.side().lost.values()), emitted)
            self.assertEqual(run.side().lost["no_space"], 0)


class Objects(Case):
    def plugins(self, clang, flags):
        return [build("plugin", clang, "-fPIC", "-shared", "-DNAME=" + name, *flags, output="lib%s%s.so" % (name, clang))
                for name in ("first", "second")]

    def test_r5_objects_come_and_go(self):
        for clang in CLANGS:
            # Before LLVM 20, clang's own runtime does not support sleds in shared objects; ours does not need it.
            libraries = self.plugins(clang, () if clang == "19" else ("-fxray-shared",))
            program = build("host", clang, "-rdynamic")
            times = 1000 if LONG else 40
            run = Run(program, "plugins", times, *libraries)
            self.assertEqual(run.said["plugin"], times)
            side = run.side()
            objects = side.objects()
            calls = {}
            for row in json.loads(telltale("top", "--json", run.path).stdout)["rows"]:
                for path, (base, functions) in objects.items():
                    if base < row["id"] <= base + functions:
                        calls[os.path.basename(path)] = calls.get(os.path.basename(path), 0) + row["calls"]
            self.assertEqual([calls[os.path.basename(library)] for library in libraries], [times / 2, times / 2])
            self.assertEqual(side.flags & 8, 0)
            loads = [body for kind, body in side.records if kind == 1]
            self.assertEqual(len([body for body in loads if any(os.fsencode(one) in body for one in libraries)]), times)
            self.assertEqual(len([1 for kind, _ in side.records if kind == 2]), times)
            by_name = {row["function"]: row["calls"] for row in json.loads(telltale("top", "--json", run.path).stdout)["rows"]}
            self.assertEqual((by_name.get("plugins::first(int)"), by_name.get("plugins::second(int)")), (times / 2, times / 2))


    def test_objects_do_not_alias(self):
        """Clang's ids allow sixteen objects in an FDR file; ours any number."""
        library = self.plugins(NEWEST, ("-fxray-shared",))[0]
        copies = [library + ".%d.so" % number for number in range(40)]
        for copy in copies:
            shutil.copy(library, copy)
        run = Run(build("host", NEWEST, "-rdynamic"), "plugins", 2 * len(copies), *copies)
        objects = run.side().objects()
        self.assertEqual(len({objects[copy] for copy in copies}), len(copies))
        calls = {row["id"]: row["calls"] for row in json.loads(telltale("top", "--json", run.path).stdout)["rows"]}
        for copy in copies:
            base, functions = objects[copy]
            self.assertEqual([calls.get(base + 1 + i) for i in range(functions)], [2], copy)


class Disks(Case):
    def setUp(self):
        super().setUp()
        self.program = build("host", NEWEST)

    def check_unharmed(self, run):
        plain = subprocess.run([self.program, "calls", "2", "50000"], capture_output=True, text=True, check=True)
        self.assertEqual((run.status, run.stderr), (0, ""))
        self.assertEqual(json.loads(run.stdout)["calls"], json.loads(plain.stdout)["calls"])

    def test_r10_places_that_cannot_be_written(self):
        for path in ("/proc/t.xray", "missing/t.xray", "/dev/full", "/"):
            run = Run(self.program, "calls", 2, 50000, file=path)
            self.check_unharmed(run)
            self.assertFalse(os.path.isfile(run.path))

    def test_r10_limits(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
        run = Run(self.program, "calls", 2, 50000, preexec_fn=small_files)
        self.check_unharmed(run)
        self.check_exact(run)
        run = Run(self.program, "calls", 2, 50000, options="size=300K,buffer=16K")
        self.check_unharmed(run)
        self.check_exact(run)

        def little_memory():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        run = Run(self.program, "calls", 2, 50000, preexec_fn=little_memory)
        self.check_unharmed(run)
        self.assertEqual(function_events(events(run.path)) + sum(run.side().lost.values()), self.emitted())

    def emitted(self):
        return 2 * (100_000 + 2 + 1001 + 1 + 10) + 3 * 6

    def check_exact(self, run):
        side = run.side()
        self.assertGreater(side.lost["no_space"], 0)
        self.assertEqual(function_events(events(run.path)) + sum(side.lost.values()), self.emitted())
        with open(run.path, "rb") as file:
            header = file.read(32)
        self.assertEqual(struct.unpack_from("<I", header, 28)[0], sum(side.lost.values()))
        self.assertIn(b"lost", telltale("info", run.path).stdout)

    def test_r10_full_and_read_only_disks(self):
        if not mount_namespace():
            print("skipped: a mount namespace is not permitted here")
            return
        folder = tempfile.mkdtemp(dir=work_dir())
        for options, full in (("size=1M", True), ("ro", False)):
            script = ('mount -t tmpfs -o %s tmpfs %s && "$@"; status=$?; cp %s/* %s.kept 2>/dev/null; exit $status'
                      % (options, folder, folder, folder))
            kept = folder + ".kept"
            os.makedirs(kept, exist_ok=True)
            done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", "env", "LD_PRELOAD=" + LIBRARY,
                                   "TELLTALE_XRAY=buffer=16K,file=%s/t.xray" % folder, self.program, "calls", "2", "50000"],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), options)
            if full:
                side = Side.read(kept + "/t.xray.side")
                self.assertGreater(side.lost["no_space"], 0)
                self.assertEqual(function_events(events(kept + "/t.xray")) + sum(side.lost.values()), self.emitted())

    def test_r10_a_file_that_is_cut(self):
        folder = tempfile.mkdtemp(dir=work_dir())
        path = folder + "/t.xray"
        done = subprocess.run([self.program, "cut_file", path], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, LD_PRELOAD=LIBRARY, TELLTALE_XRAY="file=" + path))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(Side.read(path + ".side").lost["no_space"], 0)


class Clocks(Case):
    def test_r13_clocks_that_step(self):
        include = ["-I" + os.path.join(SOURCE_DIR, folder) for folder in ("runtime/xray", "src", "include")]
        program = build("clock_steps", NEWEST, *include, "-Wl,-u,telltale_xray_start", ARCHIVE, output="clock_steps")
        run = Run(program, preload=False)
        side = run.side()
        # The small step may be detected twice, the large one once.
        self.assertIn(side.anomalies, (2, 3))
        info = json.loads(telltale("info", "--json", run.path).stdout)
        self.assertLessEqual({problem["kind"] for problem in info["problems"]}, {"oddity"})
        telltale("check", run.path)
        self.assertGreaterEqual(info["records_by_kind"]["NewCPUId"], run.said["cpus"])
        # A step is a gap in which the thread did not run, too.
        (row,) = (row for row in json.loads(telltale("top", "--json", run.path).stdout)["rows"] if row["function"] != "(waiting)")
        self.assertEqual((row["calls"], row["unwound"]), (run.said["calls"]["leaf"], 0))
        # Monotone per thread: no call has a negative duration, and all lie within the span.
        self.assertLessEqual(row["sum_ns"], info["span_ns"])


class Losses(Case):
    def test_r15_recorded_and_lost_are_emitted(self):
        program = build("host", NEWEST)
        choose = random.Random(15)
        for _ in range(60 if LONG else 12):
            threads = choose.choice((1, 2, 5, 9))
            times = choose.choice((10, 1000, 20_000))
            options = ",".join((choose.choice(("mode=ring", "mode=continuous")), choose.choice(("version=1", "version=5")),
                                "buffer=" + choose.choice(("4K", "16K")),
                                "size=" + choose.choice(("8K", "64K", "300000", "64M")),
                                "clock=" + choose.choice(("tsc", "sparse:3", "monotonic"))))
            run = Run(program, "calls", threads, times, options=options)
            side = run.side()
            emitted = 2 * (threads * times + 2 + 1001 + 1 + 10) + 3 * 6
            self.assertEqual(function_events(events(run.path)) + sum(side.lost.values()), emitted, options)
            with open(run.path, "rb") as file:
                self.assertEqual(struct.unpack_from("<I", file.read(32), 28)[0], sum(side.lost.values()))


if __name__ == "__main__":
    unittest.main()
