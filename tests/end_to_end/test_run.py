"""`telltale run`: programs are recorded, and the recordings are read without further options."""
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from program_text import program_text
import recorded_programs as programs
from recorded_programs import Recorded, calls, expected_calls, info, telltale, top

SHARED = program_text("recorders/cases/shared_shop.cc")
USES_SHARED = program_text("recorders/cases/uses_shared_shop.cc")

CHECKPOINTS = program_text("recorders/cases/checkpoints.cc")


def stacktrack_library():
    return pathlib.Path(os.environ["TELLTALE_BINARY_DIR"]) / "runtime" / "stacktrack" / "libtelltale_stacktrack.a"


def checkpoints():
    return programs.build("g++", f"-I{os.environ['TELLTALE_SOURCE_DIR']}/include", source=CHECKPOINTS, after=(str(stacktrack_library()),))


class SmallRings(unittest.TestCase):
    def test_each_thread_finds_a_buffer(self):
        program = programs.build("g++", *programs.CALL_FLAGS, source=program_text("recorders/cases/threads_at_once.cc"))
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        for size, buffer in (("256K", 4096), ("1M", 16384), ("64M", 65536)):
            with self.subTest(size=size):
                telltale("run", "--mode", "ring", "--size", size, "-o", f"{size}.xray", "--", program, cwd=place)
                recorded = info(place / f"{size}.xray")
                self.assertEqual([problem for problem in recorded["problems"] if problem["kind"] != "by design"], [])
                self.assertIn(f"{buffer} bytes", json.dumps(recorded))


class ThreadsThatEndInCalls(unittest.TestCase):
    def test_short_calls_are_left_out_and_others_recorded(self):
        source = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"]) / "tests/programs/recorders/cases/ends_threads.c"
        for compiler, flag in (("gcc", "-finstrument-functions"), ("clang-22", "-fxray-instrument")):
            if shutil.which(compiler) is None:
                continue
            with self.subTest(compiler):
                place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
                more = ["-fxray-instruction-threshold=1"] if "xray" in flag else []
                subprocess.run([compiler, "-g", "-O1", flag, *more, "-pthread", source, "-o", place / "program"], check=True, timeout=60)
                telltale("run", "--min", "1ms", "-o", "kept.xray", "--", "./program", cwd=place)
                unfinished = {name: row["unfinished"] for name, row in top(place / "kept.xray").items() if name in ("deep", "work")}
                self.assertEqual(unfinished, {"deep": 120, "work": 20})
                # 20 times six of deep and one of work, and both events of main.
                done = telltale("run", "--min", "100s", "-o", "none.xray", "--", "./program", cwd=place)
                self.assertIn("left out all 142 events", done.stderr)


class RunStacktrackTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = checkpoints()

    def test_checkpoints_are_recorded_and_named(self):
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        done = telltale("run", "--stacktrack", "--", self.program, cwd=place)
        self.assertEqual(done.returncode, 0, done.stderr)
        left = list(place.glob("*.tlg"))
        self.assertEqual(len(left), 1, done.stderr)
        self.assertIn(f"telltale: recorded {left[0].name} (", done.stderr)
        named = telltale("run", "--stacktrack", "-o", "mine.tlg", "--", self.program, cwd=place)
        self.assertTrue((place / "mine.tlg").exists(), named.stderr)

    def test_the_example_server_is_recorded_both_ways(self):
        source = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"]) / "examples" / "request_server" / "request_server.cc"
        server = programs.build("g++", *programs.CALL_FLAGS, f"-I{os.environ['TELLTALE_SOURCE_DIR']}/include",
                                source=source.read_text(), after=(str(stacktrack_library()),))
        functions = Recorded(server, 200)
        self.assertIn("200 requests", functions.done.stdout)
        by_name = {name.split("(")[0]: count for name, count in calls(functions.file, prefix="server::").items()}
        self.assertEqual((by_name["server::serve"], by_name["server::answer"]), (2, 200))
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        done = telltale("run", "--stacktrack", "--", server, 200, cwd=place)
        self.assertIn("telltale: recorded ", done.stderr)
        self.assertEqual(len(list(place.glob("*.tlg"))), 1)

    def test_each_program_of_a_command_has_its_own_file(self):
        for words in (("-o", "mine.tlg"), ()):
            with self.subTest(words=words):
                place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
                command = f"{self.program}; {self.program}; sh -c '{self.program}; exec {self.program}'"
                done = telltale("run", "--stacktrack", *words, "--", "sh", "-c", command, cwd=place)
                files = sorted(place.glob("*.tlg"))
                self.assertEqual(len(files), 4, done.stderr)
                self.assertEqual([info(file)["records_by_kind"]["HIT"] for file in files], [14] * 4)
                self.assertEqual((place / "mine.tlg").exists(), bool(words))
                for file in files:
                    self.assertIn(f"telltale: recorded {file.name} (", done.stderr)

    def test_a_recording_of_checkpoints_has_a_limit(self):
        source = CHECKPOINTS.replace("i < 4", "i < 20000").replace("sum == 18", "sum > 0")
        many = programs.build("g++", f"-I{os.environ['TELLTALE_SOURCE_DIR']}/include", source=source, after=(str(stacktrack_library()),))
        for words in (("-o", "mine.tlg"), ()):
            with self.subTest(words=words):
                place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
                done = telltale("run", "--stacktrack", "--size", "512K", *words, "--", many, cwd=place)
                (file,) = place.glob("*.tlg")
                self.assertLessEqual(file.stat().st_size, 512 << 10)
                # Each call has an entry, a value and an exit; main, an entry and an exit.
                (loss,) = info(file)["problems"]
                lost = int(re.search(r"lost (\d+) events", loss["message"])[1])
                self.assertEqual(info(file)["records_by_kind"]["HIT"] + lost, 3 * 20_000 + 2)
                self.assertIn(f"; {lost} events lost, see `telltale info`", done.stderr)
                self.assertNotIn("--without", done.stderr)
        refused = telltale("run", "--stacktrack", "--set", "rotate=64K", "-o", "other.tlg", "--", many, cwd=place)
        self.assertEqual((refused.returncode, refused.stderr), (2, "telltale: files that are rotated have derived names: leave out -o\n"))
        self.assertEqual(telltale("run", "--stacktrack", "--set", "rotate=64K", "--", many, cwd=place).returncode, 0)
        self.assertGreater(len(list(place.glob("*.tlg"))), 10)

    def test_standard_output_is_no_recording(self):
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        done = telltale("run", "-o", "-", "--", self.program, cwd=place)
        self.assertEqual((done.returncode, list(place.iterdir())), (2, []), done.stderr)

    def test_programs_get_the_environment_of_their_caller(self):
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        done = telltale("run", "--stacktrack", "-o", "mine.tlg", "--", "sh", "-c", f"{self.program}; echo $OF_THE_CALLER", cwd=place,
                        environment={"OF_THE_CALLER": "kept"})
        self.assertTrue(done.stdout.endswith("kept\n"), done.stdout)
        self.assertTrue((place / "mine.tlg").exists(), done.stderr)

    def test_what_a_shell_starts_is_recorded(self):
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        done = telltale("run", "--", "bash", "-c", f"{self.program}; true", cwd=place)
        self.assertEqual(len(list(place.glob("*.tlg"))), 1, done.stderr)
        named = telltale("run", "-o", "mine.tlg", "--", "bash", "-c", f"{self.program}; true", cwd=place)
        self.assertTrue((place / "mine.tlg").exists(), named.stderr)
        ring = telltale("run", "--mode", "ring", "--set", "keep=2", "--", "sh", "-c", f"{self.program}; true", cwd=place)
        self.assertEqual((ring.returncode, len(list(place.glob("*.tlg")))), (0, 3), ring.stderr)

    def test_what_is_for_xray_is_refused(self):
        done = telltale("run", "--stacktrack", "--depth", 3, "--", self.program)
        self.assertEqual(done.returncode, 2)
        self.assertIn("for --xray", done.stderr)


@unittest.skipUnless(programs.CLANG, "needs clang")
class RunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = programs.build(programs.CLANG, *programs.XRAY_FLAGS)

    def test_a_recording_names_itself_and_its_functions(self):
        run = Recorded(self.program, 20)
        self.assertEqual((run.done.returncode, run.done.stdout), (0, ""))
        self.assertIn(f"telltale: recorded {run.file.name} (", run.done.stderr)
        self.assertEqual(calls(run.file), expected_calls(20))
        rows = top(run.file)
        self.assertEqual(pathlib.Path(rows["shop::price(int)"]["file"]).name, "source.cc")
        self.assertEqual(rows["shop::refuse(int)"]["unwound"], 20)
        said = info(run.file)
        self.assertEqual(said["problems"], [])
        self.assertEqual(len(said["threads"]), 3)
        self.assertRegex(said["properties"]["object 0"], r"/program, build-id [0-9a-f]{40}, at 0x[0-9a-f]+, \d+ functions")
        self.assertIn("continuous; the process ended by exit", said["properties"]["recorder"])
        self.assertRegex(said["properties"]["clock"], "within|nanoseconds")
        self.assertEqual(telltale("check", run.file).returncode, 0)

    def test_the_programs_end_is_passed_on(self):
        self.assertEqual(Recorded(self.program, 1, "seven").done.returncode, 7)
        for end, number in (("term", signal.SIGTERM), ("abort", signal.SIGABRT), ("kill", signal.SIGKILL)):
            with self.subTest(end=end):
                run = Recorded(self.program, 10, end)
                self.assertEqual(run.done.returncode, -number)
                self.assertEqual(calls(run.file), expected_calls(10))

    def test_signals_reach_the_program(self):
        place = tempfile.mkdtemp(dir=programs.folder())
        with subprocess.Popen([programs.TELLTALE, "run", "--", self.program, "5", "wait"], cwd=place, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            self.assertEqual(run.stdout.readline(), "ready\n")
            run.send_signal(signal.SIGTERM)
            _, said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGTERM)
        self.assertIn("telltale: recorded ", said)

    def test_arguments_and_standard_streams_are_the_programs(self):
        run = Recorded(self.program, 1, "echo", "--help", "-o", "a b", input="line\n")
        self.assertEqual(run.done.stdout, "[--help][-o][a b]line\n")

    def test_what_cannot_be_run_is_said_as_shells_do(self):
        for program, status in (("/no/such/program", 127), ("no-such-program-anywhere", 127), ("/etc/hostname", 126)):
            with self.subTest(program=program):
                run = Recorded(program)
                self.assertEqual(run.done.returncode, status)
                self.assertIn("cannot be run", run.done.stderr)

    def test_a_program_that_was_not_built_for_it_is_told_so(self):
        plain = programs.build("g++", "-DPLAIN")
        run = Recorded(plain, 1)
        self.assertEqual((run.done.returncode, run.files), (0, []))
        self.assertIn("compile with -finstrument-functions (g++, clang) or -fxray-instrument", run.done.stderr)
        static = programs.build("g++", "-static")
        self.assertIn("statically linked", Recorded(static, 1).done.stderr)

    def test_options_that_only_xray_has_say_which_recorder(self):
        run = Recorded("/bin/sh", "-c", f"{self.program} 3", options=["--function", "*shop::order*"])
        self.assertEqual(calls(run.file), {"shop::order(int)": 6})

    def test_output_name_and_what_exists(self):
        run = Recorded(self.program, 2, options=["-o", "mine.xray", "--quiet"])
        self.assertEqual((run.file.name, run.done.stderr), ("mine.xray", ""))
        again = telltale("run", "-o", run.file, "--", self.program, 2)
        self.assertEqual(again.returncode, 2)
        self.assertIn("exists", again.stderr)

    def test_names_without_a_suffix(self):
        steps = programs.build("g++", f"-I{os.environ['TELLTALE_SOURCE_DIR']}/include", source=program_text("recorders/cases/forked_step.cc"),
                               after=(str(stacktrack_library()),))
        for name, kind, program in (("noext", "--xray", self.program), ("dat", "--xray", self.program),
                                    ("noext", "--stacktrack", steps), ("run.dat", "--stacktrack", steps)):
            with self.subTest(name=name, kind=kind):
                folder = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
                (folder / "other.noext").touch()
                done = telltale("run", kind, "-o", name, "--", program, 2, "fork", cwd=folder)
                made = sorted(file.name for file in folder.iterdir() if not file.name.endswith((".side", "other.noext")))
                self.assertEqual(len(made), 2, done.stderr)
                self.assertEqual(sorted(re.findall(r"recorded (\S+) ", done.stderr)), made)

    def test_the_longest_names(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        longest = "n" * (255 - len(".4194304.9999.side") - len(".xray")) + ".xray"
        done = telltale("run", "--xray", "-o", longest, "--", self.program, 2, "fork", cwd=folder)
        files = sorted(folder.glob("*.xray"))
        self.assertEqual(len(files), 2, done.stderr)
        for file in files:
            self.assertIn("shop::order(int)", calls(file))
        program = folder / ("p" * 255)
        shutil.copy(self.program, program)
        done = telltale("run", "--xray", "--", program, 2, "fork", cwd=folder)
        files = sorted(folder.glob("ppp*.xray"))
        self.assertEqual(len(files), 2, done.stderr)
        for file in files:
            self.assertIn("shop::order(int)", calls(file))

    def test_filters(self):
        only = Recorded(self.program, 10, options=["--function", "*shop::p*", "--function", "*shop::order*"])
        self.assertEqual(calls(only.file), {"shop::price(int)": 20, "shop::order(int)": 20})
        without = Recorded(self.program, 10, options=["--without", "*fib*"])
        self.assertNotIn("shop::fib(int)", calls(without.file))
        self.assertEqual(calls(without.file)["shop::price(int)"], 20)
        shallow = Recorded(self.program, 10, options=["--function", "*shop*", "--depth", 2])
        self.assertEqual(calls(shallow.file), {"shop::work(int)": 2, "shop::order(int)": 20})
        self.assertNotEqual(info(shallow.file)["properties"]["left out"], "0 events by filters")
        long = Recorded(self.program, 10, options=["--min", "10s"])
        self.assertEqual([calls(file) for file in long.files], [{}] * len(long.files))

    def test_a_sparse_clock_keeps_counts_and_says_what_is_estimated(self):
        run = Recorded(self.program, 200, options=["--sparse", 16])
        self.assertEqual(calls(run.file), expected_calls(200))
        said = info(run.file)
        self.assertRegex(said["properties"]["sparse clock"], r"every 16th event .*; \d+ records have estimated times")
        estimated = int(said["properties"]["sparse clock"].split("; ")[1].split()[0])
        self.assertGreater(estimated, said["records"] * 3 // 4)
        self.assertLess(estimated, said["records"])
        dense = Recorded(self.program, 200)
        self.assertNotIn("sparse clock", info(dense.file)["properties"])

    def test_what_a_ring_overwrote_is_counted(self):
        run = Recorded(self.program, 3000, options=["--mode", "ring", "--size", "256K", "--set", "buffer=4K"])
        said = info(run.file)
        self.assertIn("ring", said["properties"]["recorder"])
        lost = [problem["message"] for problem in said["problems"] if problem["kind"] == "by design"]
        self.assertEqual(len(lost), len(said["problems"]), said["problems"])
        self.assertRegex(" ".join(lost), r"\d+ events lost: overwritten")
        # The user asked for the newest part of the run only: the recording is sound, and each answer says what it lacks.
        self.assertEqual(telltale("check", run.file).returncode, 0)
        top = telltale("top", "--strict", run.file)
        self.assertEqual(top.returncode, 0, top.stderr)
        self.assertRegex(top.stderr, r"\d+ events lost: overwritten")
        recorded = sum(said["records_by_kind"].get(kind, 0) for kind in ("FunctionEnter", "FunctionExit", "FunctionTailExit"))
        everything = Recorded(self.program, 3000)
        by_kind = info(everything.file)["records_by_kind"]
        emitted = sum(by_kind.get(kind, 0) for kind in ("FunctionEnter", "FunctionExit", "FunctionTailExit"))
        self.assertEqual(recorded + int(lost[0].split("events lost")[0].split()[-1]), emitted)

    def test_version_1(self):
        run = Recorded(self.program, 10, options=["--fdr-version", 1])
        self.assertEqual(info(run.file)["version"], "1")
        self.assertEqual(calls(run.file), expected_calls(10))

    def test_options_of_clangs_runtime_do_not_prevent_recording(self):
        """Its runtime would patch all functions before the recorder is loaded."""
        for options, said in (("patch_premain=true", True), ("patch_premain=false,patch_premain=1 xray_mode=xray-basic", True),
                              ("patch_premain=true patch_premain=false", False), ("verbosity=0", False)):
            with self.subTest(options):
                run = Recorded(self.program, 10, environment={"XRAY_OPTIONS": options})
                self.assertEqual("patch_premain of XRAY_OPTIONS was switched off" in run.done.stderr, said)
                self.assertEqual(calls(run.file), expected_calls(10))
        quiet = Recorded(self.program, 10, options=["--quiet"], environment={"XRAY_OPTIONS": "patch_premain=true"})
        self.assertEqual(quiet.done.stderr, "")

    def test_a_forked_child_has_a_recording_of_its_own(self):
        run = Recorded(self.program, 10, "fork")
        self.assertEqual(len(run.files), 2, run.done.stderr)
        counts = sorted(calls(file)["shop::order(int)"] for file in run.files)
        self.assertEqual(counts, [3, 20])
        self.assertEqual(calls(*run.files), {**expected_calls(10), "shop::work(int)": 3, "shop::order(int)": 23,
                                             "shop::price(int)": 23, "shop::refuse(int)": 23,
                                             "shop::fib(int)": 23 * programs.FIB5_CALLS})
        alone = Recorded(self.program, 10, "fork", options=["--no-fork"])
        self.assertEqual(calls(alone.file), expected_calls(10))

    def test_a_child_that_outlives_the_program(self):
        run = Recorded(self.program, 10, "daemon")
        self.assertEqual(len(run.files), 2, run.done.stderr)
        said = re.findall(r"recorded (\S+) \(\d+ bytes(.*)\)", run.done.stderr)
        self.assertEqual(sorted(note for _, note in said), ["", "; its process still runs"])
        (name,) = (name for name, note in said if note)
        self.assertEqual(calls(run.place / name)["shop::order(int)"], 3)
        os.kill(int(name.split(".")[-3]), signal.SIGKILL)

    def test_functions_of_shared_objects_have_names(self):
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        (place / "shared.cc").write_text(SHARED)
        (place / "main.cc").write_text(USES_SHARED)
        compile_ = [programs.CLANG, "-O1", "-g", *programs.XRAY_FLAGS]
        subprocess.run([*compile_, "-fPIC", "-shared", "-fxray-shared", "shared.cc", "-o", "libshop.so"], cwd=place, check=True)
        subprocess.run([*compile_, "main.cc", "-L.", "-lshop", f"-Wl,-rpath,{place}", "-o", "main"], cwd=place, check=True)
        run = Recorded(place / "main")
        self.assertEqual(calls(run.file), {"shop::pack(int)": 5, "shop::ship(int)": 10})

    def test_text_has_the_same_names_without_debug_information(self):
        """Only --json and --csv tell files and lines, so that only they read it, unless a function has no symbol."""
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        program = place / "program"
        shutil.copy(programs.build(programs.CLANG, *programs.XRAY_FLAGS, "-g"), program)
        run = Recorded(program, 5)
        for words in ((), ("--wildcard", "--strip-symbol=*shop*")):
            subprocess.run(["objcopy", *words, program], check=True)
            rows = json.loads(telltale("top", "--json", run.file).stdout)["rows"]
            ours = {row["function"]: row for row in rows if row["function"].startswith("shop::")}
            self.assertEqual(set(ours), {"shop::work(int)", "shop::order(int)", "shop::price(int)", "shop::refuse(int)", "shop::fib(int)"})
            self.assertEqual({os.path.basename(row["file"]) for row in ours.values()}, {"source.cc"})
            shown = telltale("top", "--names", "full", "-n", "0", run.file).stdout
            self.assertEqual({line.split()[-1] for line in shown.splitlines() if "shop::" in line}, set(ours))

    def test_what_recording_costs_is_measured(self):
        run = Recorded(self.program, 50, options=["--overhead", 2])
        self.assertEqual(calls(run.file), expected_calls(50))
        self.assertRegex(run.done.stderr, r"total overhead: +(\d+\.\d\d times|no ratio) elapsed, ")
        self.assertNotIn("ended differently", run.done.stderr)
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        run = Recorded("sh", "-c", f"{self.program} 1; test -e {place}/ran && exit 3; touch {place}/ran", options=["--overhead", 2])
        self.assertIn("the runs ended differently, which may explain the difference: status 0 of 1 run and status 3 of 3 runs", run.done.stderr)

    def test_every_run_of_a_comparison_reads_the_same_input(self):
        """A file from its current position, and everything from a pipe or a socket; the programs print what they read."""
        text = "".join(f"line {i}\n" for i in range(50_000))
        reads = ["sh", "-c", f"cksum; {self.program} 1"]
        wanted = subprocess.run(["cksum"], input=text, capture_output=True, text=True).stdout
        piped = Recorded(*reads, options=["--overhead", 2], input=text)
        self.assertEqual(piped.done.stdout, wanted * 4, piped.done.stderr)
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        (place / "input").write_text("skipped\n" + text)
        with open(place / "input", encoding="utf-8") as file:
            os.lseek(file.fileno(), len("skipped\n"), os.SEEK_SET)
            self.assertEqual(Recorded(*reads, options=["--overhead", 2], stdin=file).done.stdout, wanted * 4)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.send(b"short\n")
            ours.shutdown(socket.SHUT_WR)
            done = Recorded("cat", options=["--overhead", 1], stdin=theirs).done
        self.assertEqual(done.stdout, "short\n" * 2)
        for nothing in (subprocess.DEVNULL, "closed"):
            close = {"preexec_fn": lambda: os.close(0)} if nothing == "closed" else {"stdin": nothing}
            run = Recorded(self.program, 3, options=["--overhead", 1], **close)
            self.assertEqual((run.done.returncode, calls(run.file)), (0, expected_calls(3)), run.done.stderr)

    def test_a_comparison_says_when_it_waits_for_input_and_when_it_reads_a_terminal(self):
        reading, writing = os.pipe()
        place = tempfile.mkdtemp(dir=programs.folder())
        with subprocess.Popen([programs.TELLTALE, "run", "--overhead", "1", "--", "cat"], cwd=place, text=True, stdin=reading,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            os.close(reading)
            self.assertIn("reading standard input to its end", run.stderr.readline())
            os.write(writing, b"late\n")
            os.close(writing)
            self.assertEqual(run.communicate(timeout=60)[0], "late\n" * 2)
        user, terminal = pty.openpty()
        with os.fdopen(terminal), os.fdopen(user):
            said = telltale("run", "--overhead", 1, "--", self.program, 3, cwd=place, stdin=terminal).stderr
        self.assertIn("standard input is a terminal: each run reads from it separately", said)

    def test_what_a_shell_starts_is_recorded(self):
        """Without an option for the recorder; the shell itself supports none."""
        for shell in (["bash", "-c", f"{self.program} 3; true"], ["sh", "-c", f"{self.program} 3"], ["env", self.program, 3]):
            with self.subTest(shell=shell):
                run = Recorded(*shell)
                self.assertEqual(calls(run.file), expected_calls(3), run.done.stderr)
                self.assertNotIn("no recording", run.done.stderr)
        named = Recorded("bash", "-c", f"{self.program} 3; true", options=["-o", "mine.xray"])
        self.assertEqual((named.file.name, calls(named.file)), ("mine.xray", expected_calls(3)))
        ring = Recorded("bash", "-c", f"{self.program} 3; true", options=["--set", "buffer=4K"])
        self.assertEqual(calls(ring.file), expected_calls(3), ring.done.stderr)
        compared = Recorded("bash", "-c", f"{self.program} 3; true", options=["--overhead", 2])
        self.assertEqual(calls(compared.file), expected_calls(3), compared.done.stderr)

    def test_names_and_settings_of_one_recorder_select_it(self):
        """In a program with both kinds of hooks."""
        source = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"]) / "examples" / "request_server" / "request_server.cc"
        server = programs.build("g++", *programs.CALL_FLAGS, f"-I{os.environ['TELLTALE_SOURCE_DIR']}/include", source=source.read_text(),
                                after=(str(stacktrack_library()),))
        for options, is_xray in (((), True), (("-o", "x.tlg"), False), (("-o", "x.tlg", "--set", "size=1M"), False), (("-o", "x.xray"), True),
                                 (("-o", "x.tlg", "--depth", 3), True), (("--set", "layout=classic"), False), (("--set", "size=1M"), True),
                                 (("--set", "crash=off"), True)):
            with self.subTest(options=options):
                run = Recorded(server, 20, options=options)
                (file,) = [file for file in run.place.iterdir() if file.suffix in (".xray", ".tlg")]
                self.assertEqual(info(file)["format"].startswith("xray"), is_xray, run.done.stderr)

    def test_many_recordings_are_not_all_named(self):
        program = programs.build("g++", *programs.CALL_FLAGS, source=program_text("recorders/cases/many_children.cc"))
        for children, lines in ((9, 10), (10, 11), (11, 11), (40, 11)):
            said = Recorded(program, children).done.stderr.splitlines()
            self.assertEqual(len(said), lines)
            if children > 10:
                self.assertRegex(said[-1], rf"^telltale: recorded {children - 9} more files \(\d+ bytes\)$")

    def test_what_a_script_starts_is_recorded(self):
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        (place / "script").write_text(f"#!/bin/sh\n{self.program} 3\n{checkpoints()}\n")
        (place / "script").chmod(0o755)
        run = Recorded(place / "script")
        self.assertEqual(calls(run.file), expected_calls(3))
        self.assertEqual(len(list(run.place.glob("*.tlg"))), 1, run.done.stderr)

    def test_when_nothing_that_a_shell_started_could_be_recorded_nobody_else_is_blamed(self):
        plain = programs.build("g++", "-DPLAIN")
        run = Recorded("bash", "-c", f"{plain} 1; true")
        self.assertEqual((run.done.returncode, run.files), (0, []))
        self.assertIn("nothing was recorded: neither bash nor what it may have started", run.done.stderr)
        static = programs.build("g++", "-static", *programs.CALL_FLAGS)
        self.assertIn("statically linked", Recorded("bash", "-c", f"{static} 1; true").done.stderr)

    def test_an_installed_telltale_finds_its_recorder(self):
        prefix = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        for folder, file in (("bin", programs.TELLTALE), ("lib", programs.RECORDER)):
            (prefix / folder).mkdir()
            shutil.copy(file, prefix / folder)
        done = subprocess.run([prefix / "bin" / "telltale", "run", "-o", prefix / "x.xray", "--", self.program, "3"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(calls(prefix / "x.xray"), expected_calls(3))
        (prefix / "lib" / programs.RECORDER.name).unlink()
        done = subprocess.run([prefix / "bin" / "telltale", "run", "--", self.program, "3"], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertIn("the recorder is not installed", done.stderr)

    def test_a_torn_or_hostile_side_record_costs_names_only(self):
        run = Recorded(self.program, 10)
        side = run.file.with_name(run.file.name + ".side")
        whole = side.read_bytes()
        for cut in (0, 7, 100, 255, 256, 300, len(whole) - 1):
            with self.subTest(cut=cut):
                side.write_bytes(whole[:cut])
                done = telltale("top", "--json", run.file)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(".side", done.stderr)
                self.assertEqual(telltale("top", "--strict", run.file).returncode, 4)
        side.unlink()
        done = telltale("top", run.file)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^telltale: #\d+ is a function's number: --program BIN, .*\n$")
        self.assertIn("#1", done.stdout)

    def test_compressed_recordings_keep_their_side_record(self):
        run = Recorded(self.program, 10)
        subprocess.run(["gzip", run.file], check=True)
        self.assertEqual(calls(f"{run.file}.gz"), expected_calls(10))


if __name__ == "__main__":
    unittest.main()
