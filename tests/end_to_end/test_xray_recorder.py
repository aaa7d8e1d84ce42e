"""Telltale's XRay recorder in real programs; its recordings are read with telltale itself, and compared with the
programs' own counts. The rows of the reliability goals are in test_xray_recorder_rows.py."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

import recorded_programs
from own_recorder import (ARCHIVE, CLANGS, LIBRARY, SOURCE_DIR, Case, Run, Side, all_events, build, build_static,
                          calls_by_name, events, function_events, telltale, wait_for_calls, wait_until, work_dir)

NEWEST = CLANGS[-1] if CLANGS else None
# Clang's -finstrument-functions instead of sleds.
BRIEF = (recorded_programs.PROGRAMS / "recorders/brief_calls.cc").read_text()
FUNCTIONS = ("-fno-xray-instrument", "-finstrument-functions", "-Wno-unused-command-line-argument")


class Recorder(Case):
    def test_counts_and_names(self):
        for clang in CLANGS:
            for flags in ((), ("-no-pie", "-fno-pie")):
                program = build("host", clang, *flags)
                for options in ("", "version=1", "clock=monotonic", "clock=sparse", "buffer=4K,mode=ring,size=16M"):
                    with self.subTest(clang=clang, flags=flags, options=options):
                        run = Run(program, "calls", 4, 5000, options=options)
                        self.check_calls(run, program, 4, 5000)
                        side = run.side()
                        self.assertEqual(sum(side.lost.values()), 0)
                        self.assertEqual(side.flags & (1 | 8 | 16), 1)  # ended by exit; nothing missing

    def slow_nanoseconds(self, program, options):
        run = Run(program, "calls", 1, 10, options=options)
        (row,) = [row for row in json.loads(telltale("top", "--json", "--program", program, run.path).stdout)["rows"]
                  if row["function"].startswith("slow")]
        self.assertLess(row["sum_ns"], 2_000_000_000, options)
        side = run.side()
        self.assertEqual(side.source, 1 if "monotonic" in options else 3)
        self.assertLess(side.uncertainty, 1_000_000)  # a thousandth
        self.assertEqual(side.anomalies, 0)
        return row["sum_ns"]

    def test_time_is_true(self):
        """`slow` sleeps two milliseconds, on every clock, without a file that contains the counter's frequency."""
        program = build("host", NEWEST)
        for options in ("", "clock=monotonic", "version=1"):
            self.assertGreaterEqual(self.slow_nanoseconds(program, options), 1_990_000, options)

    def test_a_sparse_clock_notices_that_time_passes(self):
        """A thread of the recorder says so each millisecond, if it gets a processor: on a loaded machine it may sleep as long as
        `slow` does."""
        program = build("host", NEWEST)
        found = (self.slow_nanoseconds(program, "clock=sparse:255") for _ in range(20))
        self.assertTrue(any(nanoseconds >= 1_990_000 for nanoseconds in found))

    def test_events(self):
        """Custom and typed events, also where clang's moves overwrite their arguments."""
        for clang in CLANGS:
            run = Run(build("host", clang), "events")
            told = [json.loads(line) for line in telltale("dump", "--json", run.path).stdout.splitlines()]
            custom = [bytes.fromhex(row["data_hex"]) for row in told if row["record"] == "CustomEventMarker"]
            typed = [(row["event_type"], bytes.fromhex(row["data_hex"])) for row in told
                     if row["record"] == "TypedEventMarker"]
            self.assertEqual(custom, [b"hello", b"across", b""])
            self.assertEqual(typed, [(77, b"typed"), (1234, b"turned")])
            events(run.path)
            first = Run(build("host", clang), "events", options="version=1")
            self.assertEqual(events(first.path)["CustomEventMarker"], 3)
            self.assertEqual(first.side().lost["too_large"], 2)  # typed events do not exist there

    def test_events_that_are_too_large_are_counted_as_such(self):
        for options in ("", "version=1,", "mode=ring,size=64K,"):
            run = Run(build("host", NEWEST), "large_events", options=options + "buffer=4K")
            self.assertEqual(events(run.path)["CustomEventMarker"], 2)
            lost = {reason: count for reason, count in run.side().lost.items() if count != 0}
            self.assertEqual(lost, {"too_large": 2}, options)

    def test_filters(self):
        program = build("host", NEWEST)
        run = Run(program, "calls", 2, 1000, options="functions=leaf*;desc?nd;!desc[a-d]nd")
        calls = calls_by_name(run.path, program)
        self.assertEqual(calls, {"leaf": 2002, "descend": 1001})
        run = Run(program, "calls", 2, 1000, options="functions=!leaf*;!descend*;!_Z6loggedl")
        self.assertEqual(set(calls_by_name(run.path, program)), {"throw_below", "slow"})

        run = Run(program, "calls", 2, 1000, options="depth=10")
        calls = calls_by_name(run.path, program)
        self.assertEqual((calls["leaf"], calls["descend"]), (2002, 10))
        self.assertEqual(events(run.path)["FunctionEnter"], 2002 + 10 + 18 + 1)
        self.assertEqual(run.side().left_out, 2 * 991)

        run = Run(program, "calls", 2, 1000, options="min=1ms")
        counts = events(run.path)
        self.assertEqual(calls_by_name(run.path, program)["slow"], 1)
        self.assertEqual(all_events(counts) + run.side().left_out,
                         2 * (2000 + 2 + 1001 + 1 + 10) + 3 * 6)

        run = Run(program, "calls", 8, 1000, options="threads=1/4")
        # The main thread comes first; then every fourth.
        self.assertEqual(calls_by_name(run.path, program)["leaf"], 2 + 2 * 1000)
        self.assertEqual(run.side().left_out, 2 * 6 * 1000)

    def test_only_chosen_functions_are_patched(self):
        program = build("host", NEWEST)
        for options, leaf, slow in (("", 1, 1), ("functions=leaf*", 1, 0), ("functions=!leaf*", 0, 1)):
            said = Run(program, "patched", options=options).said
            self.assertEqual((said["leaf_patched"], said["slow_patched"]), (leaf, slow), options)
        plain = json.loads(subprocess.run([program, "patched"], capture_output=True, check=True).stdout)
        self.assertEqual((plain["leaf_patched"], plain["slow_patched"]), (0, 0))

    def test_duration_filter_compares_functions(self):
        """A short call that an exception ended must not drop another call's entry."""
        program = build("host", NEWEST)
        run = Run(program, "calls", 1, 1, options="min=1us")
        for row in json.loads(telltale("top", "--json", "--program", program, run.path).stdout)["rows"]:
            self.assertEqual(row["orphan_exits"], 0, row)

    def test_recording_a_caller_is_no_time_of_its_call(self):
        """The first entry that is recorded after a library was loaded takes longer than the call inside it."""
        for clang in CLANGS:
            with self.subTest(clang=clang):
                compiler = f"clang++-{clang}"
                library = recorded_programs.build(compiler, *recorded_programs.XRAY_FLAGS, "-fPIC", "-shared", "-DLIBRARY", source=BRIEF,
                                                  name="lib.so")
                run = recorded_programs.Recorded(recorded_programs.build(compiler, source=BRIEF), library, options=["--min", "1us"])
                found = recorded_programs.calls(run.file, prefix="")
                self.assertEqual(found["many"], 100)
                # A busy machine may interrupt some.
                self.assertLess(found.get("brief(int)", 0), 30)

    def test_bad_options(self):
        program = build("host", NEWEST)
        for options in ("nonsense=1", "buffer=1", "clock=sundial", "min=5", "threads=2/3", "version=2", "depth=0", "mode=x"):
            run = Run(program, "calls", 1, 10, options=options)
            self.assertIn("telltale-xray: not an option: " + options, run.stderr)
            self.assertEqual(run.traces(), [])

    def test_names_of_files(self):
        program = build("host", NEWEST)
        folder = tempfile.mkdtemp(dir=work_dir())
        for number in range(3):
            run = Run(program, "calls", 1, 10, env={}, file="../" + os.path.basename(folder) + "/%p-%i-%%.%n.xray")
        names = sorted(name for name in os.listdir(folder) if not name.endswith(".side"))
        self.assertEqual(len(names), 3)
        self.assertTrue(all(name.startswith(os.path.basename(program) + "-") and name.endswith("-%.0.xray")
                            for name in names), names)
        first = Run(program, "calls", 1, 10)
        with open(first.path, "rb") as file:
            before = file.read()
        again = subprocess.run([program, "calls", "1", "10"], capture_output=True, check=True,
                               env=dict(os.environ, LD_PRELOAD=LIBRARY, TELLTALE_XRAY="file=" + first.path))
        pid = json.loads(again.stdout)["pid"]
        with open(first.path, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual([os.path.basename(path) for path in first.traces()], ["t.%d.0.xray" % pid, "t.xray"])

    def test_programs_without_sleds_leave_no_file(self):
        self.assertEqual(Run("/bin/true", check=False).traces(), [])

    def test_interface(self):
        program = build("api", NEWEST, "-I" + os.path.join(SOURCE_DIR, "include"), "-Wl,-u,telltale_xray_start", ARCHIVE,
                        output="api")
        folder = tempfile.mkdtemp(dir=work_dir())
        done = subprocess.run([program, folder], capture_output=True, text=True, check=True, timeout=60)
        said = json.loads(done.stdout)
        first, second, copy = (os.path.join(folder, name + ".xray") for name in ("one", "two", "copy"))
        overwritten = said.pop("overwritten")
        self.assertEqual(said, {"bad": -1, "begun": 0, "twice": -2, "unpatched": 1, "patched": 1, "copied": 1, "again": -1,
                                "between": 0, "second": 0, "file": first})
        self.assertEqual(done.stderr, "telltale-xray: not an option: nonsense\n")
        for path in (first, copy):
            calls = calls_by_name(path, program)
            self.assertGreaterEqual(min(calls["leaf"], calls["shop::other"]), 100)
            counts = events(path)
            self.assertEqual((counts["CustomEventMarker"], counts["TypedEventMarker"]), (1, 1))
        self.assertEqual(set(calls_by_name(second, program)), {"leaf"})
        self.assertEqual(function_events(events(second)) + overwritten, 2 * 20_000)
        self.assertEqual(Side.read(second + ".side").lost["overwritten"], overwritten)

    def test_snapshots(self):
        program = build("host", NEWEST)
        folder = tempfile.mkdtemp(dir=work_dir())
        shared = os.path.join(folder, "t.shared")
        with open(shared, "wb") as file:
            file.truncate(4096)
        child = subprocess.Popen([program, "until_killed", shared, "2"],
                                 env=dict(os.environ, LD_PRELOAD=LIBRARY,
                                          TELLTALE_XRAY="file=%s/s.%%n.xray,mode=snapshot,size=1M,buffer=16K" % folder))
        try:
            wait_for_calls(shared)
            for number in range(3):
                child.send_signal(signal.SIGUSR2)
                path = "%s/s.%d.xray" % (folder, number)
                wait_until(lambda: os.path.exists(path + ".side") and os.path.getsize(path + ".side") > 256)
        finally:
            child.kill()
            child.wait()
        for number in range(3):
            path = "%s/s.%d.xray" % (folder, number)
            counts = events(path)
            self.assertGreater(function_events(counts), 10_000)
            self.assertEqual(set(calls_by_name(path, program)), {"leaf"})


class Linking(Case):
    def test_r11_linked_in(self):
        """The recorder as an archive and as a library of the program: events from static constructors on."""
        for clang in CLANGS:
            program = build_static(clang)
            run = Run(program, "calls", 4, 5000, preload=False)
            self.check_calls(run, program, 4, 5000)
            shared = build("host", clang, "-Wl,--no-as-needed", LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY),
                           output="shared-" + clang)
            run = Run(shared, "calls", 4, 5000, preload=False)
            self.check_calls(run, shared, 4, 5000)
        whole = build_static(NEWEST, "-static")
        run = Run(whole, "calls", 4, 5000, preload=False)
        self.check_calls(run, whole, 4, 5000)

    def test_stripped(self):
        program = build("host", NEWEST)
        stripped = os.path.join(work_dir(), "stripped")
        subprocess.run(["strip", "-s", "-o", stripped, program], check=True)
        run = Run(stripped, "calls", 4, 5000)
        self.check_calls(run, program, 4, 5000)

    def test_r12_inside_malloc(self):
        program = build("allocator", NEWEST)
        run = Run(program, timeout=60)
        counts = events(run.path)
        side = run.side()
        self.assertGreaterEqual(counts["FunctionEnter"] + sum(side.lost.values()), run.said["calls"]["at_least"] / 2)
        self.assertGreater(calls_by_name(run.path, program)["malloc"], 8000)


class Tools(Case):
    def test_valgrind(self):
        if not shutil.which("valgrind"):
            self.fail("valgrind is needed (tools/packages.txt)")
        program = build_static(NEWEST, "-gdwarf-4")
        run = Run(program, "calls", 2, 200, preload=False, options="size=16M,clock=monotonic",
                  prefix=("valgrind", "-q", "--error-exitcode=9", "--smc-check=all"))
        self.check_calls(run, program, 2, 200)
        self.assertEqual(run.stderr, "")
        # Functions by address. The leak checker would read every word after the trace's end. docs/design/recording.md has this suppression.
        suppressed = "--suppressions=" + os.path.join(SOURCE_DIR, "tests/programs/xray_recorder/valgrind.supp")
        program = build_static(NEWEST, "-gdwarf-4", *FUNCTIONS)
        for options in ("size=16M,clock=sparse", "size=16M,depth=3"):
            run = Run(program, "calls", 2, 200, preload=False, options=options,
                      prefix=("valgrind", "-q", "--error-exitcode=9", "--leak-check=no", suppressed))
            self.assertEqual(run.stderr, "")
            self.assertGreater(calls_by_name(run.path, program)["leaf"], 0)

    def test_thread_sanitizer(self):
        for flags in (("-fno-xray-link-deps",), FUNCTIONS):
            program = build_static(NEWEST, "-fsanitize=thread", "-DWITHOUT_CLANGS_RUNTIME", *flags)
            for options in ("", "clock=sparse", "mode=ring,size=256K,buffer=16K"):
                run = Run(program, "calls", 4, 2000, preload=False, options=options)
                self.assertEqual(run.stderr, "")
                self.assertGreater(sum(calls_by_name(run.path, program).values()), 1000)


class Containers(Case):
    @unittest.skipUnless(subprocess.run(["unshare", "-mpf", "true"], capture_output=True).returncode == 0, "no namespaces here")
    def test_without_sysfs_and_with_other_process_ids(self):
        program = build("host", NEWEST)
        script = 'mount -t tmpfs none /sys && mount -t proc none /proc && "$@"'
        run = Run(program, "calls", 2, 200, prefix=("unshare", "-mpf", "sh", "-c", script, "sh"))
        self.check_calls(run, program, 2, 200)
        side = run.side()
        self.assertLess(side.pid, 100)
        self.assertIn(side.source, (2, 3))
        self.assertGreater(side.uncertainty, 0)


if __name__ == "__main__":
    unittest.main()
