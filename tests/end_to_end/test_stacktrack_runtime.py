"""The StackTrack recorder in programs of all kinds (tests/runtime/stacktrack): its recordings, and rows R1 to R5, R10
to R13 and R15 of its reliability goals. TELLTALE_LONG=1: longer runs."""
import collections
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import stacktrack_file

BUILD = os.environ["TELLTALE_BINARY_DIR"]
SOURCE = os.environ["TELLTALE_SOURCE_DIR"]
PROGRAMS = os.path.join(BUILD, "tests", "runtime")
LIBRARIES = ("stacktrack", "stacktrack_shared")
FORBIDDEN = os.path.join(PROGRAMS, "forbidden_calls.so")
SANITIZED = "fsanitize" in open(os.path.join(BUILD, "build.ninja")).read()

# An event or a crash may only call system calls and pure functions. Opening a sink may also read the environment.
ALLOWED = {"syscall", "mmap", "madvise", "fstat", "clock_gettime", "__errno_location", "memcpy", "memset", "memmove", "memchr", "memcmp",
           "strlen", "strchr", "strrchr", "strcspn", "strncpy", "strstr", "sigaction", "sigemptyset", "sigaltstack", "raise",
           "secure_getenv", "getauxval", "unsetenv", "getcwd", "pthread_atfork", "__register_atfork", "program_invocation_short_name", "__progname",
           "__udivti3", "__divti3", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail", "__dso_handle", "__cxa_finalize", "__gmon_start__",
           "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable",
           # Only when the program itself sets a handler (runtime/signals).
           "ssignal", "__sigaction", "__interceptor_sigaction", "__interceptor_signal",
           # Weak: in programs with a sanitizer.
           "__sanitizer_set_death_callback", "__tsan_acquire", "__tsan_release", "__tsan_init", "AnnotateIgnoreSyncBegin",
           "AnnotateIgnoreSyncEnd"}


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, **environment})
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


class Rows(unittest.TestCase):
    def each(self, program, *words, libraries=LIBRARIES, **environment):
        for library in libraries:
            with self.subTest(library=library):
                self.assertIn("ok", run(os.path.join(PROGRAMS, f"{library}_{program}"), *words, **environment))

    def test_r1_nothing_but_what_is_safe_is_called(self):
        for name in ("libtelltale_stacktrack.so", "libtelltale_stacktrack.a"):
            symbols = run("nm", "-u", os.path.join(BUILD, "runtime", "stacktrack", name))
            used = {line.split()[-1].split("@")[0] for line in symbols.splitlines() if " U " in line or " w " in line}
            # An archive's members also name one another.
            if not SANITIZED:
                self.assertEqual({s for s in used - ALLOWED if "telltale" not in s}, set(), name)

    def test_r1_events_do_not_allocate(self):
        self.each("hosts", "allocation_free")

    def test_r1_signals(self):
        """Ten thousand a second in two threads, whose handlers have checkpoints; the process ends if an event calls the
        allocator, a lock, the dynamic linker or stdio."""
        self.each("threads", "signals", LD_PRELOAD=FORBIDDEN)

    @unittest.skipIf(SANITIZED, "a trap inside a sanitizer is none of ours")
    def test_r1_a_handler_between_any_two_instructions(self):
        """The chunk is full, nearly full or not, and the handler changes chunks or not."""
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "interrupted")
            subprocess.run(["g++", "-std=c++17", "-O2", "-DSTACKTRACK", f"-I{SOURCE}/include", "-pthread", "-o", program,
                            f"{SOURCE}/tests/programs/recorders/interrupted.cc", f"{BUILD}/runtime/stacktrack/libtelltale_stacktrack.a"],
                           check=True, timeout=120)
            # A thread's first chunk has 128 slots; a logged variable takes two.
            ways = [("leaf", before) for before in (126, 127, 128)] + [("logged", before) for before in (62, 63, 64)]
            for options in ("", "clock=16", "ring=64K", "layout=classic", "sequence=count"):
                for function, before in ways:
                    for handler in (1, 700):
                        with self.subTest(options=options, function=function, before=before, handler=handler):
                            path = os.path.join(folder, f"{options}.{function}.{before}.{handler}.tlg")
                            said = json.loads(run(program, "90", str(before), str(handler), function,
                                                  TELLTALE_STACKTRACK=f"path={path},{options}"))
                            self.assertGreater(said["interruptions"], 30)
                            info = json.loads(run(os.environ["TELLTALE"], "info", "--json", path))
                            lost = [re.search(r"(\d+) events", problem["message"]).group(1) for problem in info["problems"]]
                            # What a ring overwrote is no finding: it was asked to. Other losses are.
                            damage = [problem for problem in info["problems"] if problem["kind"] != "by design"]
                            checked = subprocess.run([os.environ["TELLTALE"], "check", "--json", path], capture_output=True, text=True)
                            self.assertEqual(checked.returncode, 1 if damage else 0, checked.stdout)
                            self.assertEqual(json.loads(checked.stdout)["rows"][0]["violations"], 0, checked.stdout)
                            self.assertEqual(info["records_by_kind"]["HIT"] + sum(map(int, lost)), said["calls"], info["problems"])

    def test_texts_of_the_program_and_of_a_source_file_whose_name_is_too_long(self):
        with tempfile.TemporaryDirectory() as folder:
            program, path = os.path.join(folder, "rounds"), os.path.join(folder, "rounds.tlg")
            subprocess.run(["g++", "-std=c++17", "-O2", "-DSTACKTRACK", f"-I{SOURCE}/include", "-pthread", f"-fmacro-prefix-map={SOURCE}={'n' * 3000}",
                            "-o", program, f"{SOURCE}/tests/programs/recorders/rounds.cc", f"{BUILD}/runtime/stacktrack/libtelltale_stacktrack.a"],
                           check=True, timeout=120)
            run(program, path, "wide")
            file = stacktrack_file.File(path)
            texts = [file.texts.get(record.offset) for record in file.records if record.flags & 0xFF == stacktrack_file.PROCINFO]
            self.assertEqual(set(texts), {os.path.realpath(program)})
            self.assertEqual(set(file.files.values()), {"n" * 2000})
            self.assertEqual(file.lost[5], 1)

    def test_r1_nothing_unsafe_in_a_crash(self):
        self.each("deaths", "crash_dump", LD_PRELOAD=FORBIDDEN)

    def test_r1_what_is_unsafe_is_seen(self):
        done = subprocess.run([os.path.join(PROGRAMS, "stacktrack_threads"), "unsafe"], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "LD_PRELOAD": FORBIDDEN})
        self.assertEqual((done.returncode, done.stderr), (97, "forbidden call: malloc\n"))

    def test_r1_thread_storage_is_not_lazy(self):
        for name in ("stacktrack/libtelltale_stacktrack.so", "xray/libtelltale_xray.so"):
            relocations = run("readelf", "-rW", os.path.join(BUILD, "runtime", name))
            self.assertRegex(relocations, "TPOFF64")
            self.assertNotRegex(relocations, "DTPMOD|TLSDESC")

    def test_r2_sigkill(self):
        self.each("deaths", "kill", libraries=LIBRARIES[:1])

    def test_r2_every_kind_of_death(self):
        self.each("deaths", "kinds", libraries=LIBRARIES[:1])

    def test_r2_a_ring_in_memory_is_dumped_by_a_crash(self):
        self.each("deaths", "crash_dump")

    def test_r3_children(self):
        self.each("forks", "kinds")

    def test_r3_forks_in_the_middle_of_events(self):
        self.each("forks", "storm", libraries=LIBRARIES[:1])

    def test_r3_descriptors(self):
        self.each("forks", "descriptors")

    def test_r4_threads_that_come_and_go(self):
        self.each("threads", "short")
        self.each("threads", "live")
        self.each("threads", "cancelled")

    def test_r5_modules(self):
        modules = [os.path.join(PROGRAMS, f"stacktrack_module_{name}.so") for name in ("first", "second")]
        self.each("hosts", "modules", *modules, libraries=LIBRARIES[1:])

    def test_r10_limits(self):
        self.each("hosts", "disk")
        self.each("hosts", "replaced")

    def test_r10_a_full_disk(self):
        with tempfile.TemporaryDirectory() as folder:
            mount = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=1m none "$1" && shift && "$@"', "sh", folder]
            if subprocess.run(mount + ["true"], capture_output=True).returncode != 0:
                self.skipTest("no file system can be mounted here")
            done = subprocess.run(mount + [os.path.join(PROGRAMS, "stacktrack_hosts"), "disk", folder], capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ok disk\n", ""))

    def test_r10_where_no_file_can_be(self):
        for folder in ("/nowhere", "/proc"):
            done = subprocess.run([os.path.join(PROGRAMS, "stacktrack_sinks"), "make", "wide", folder], capture_output=True,
                                  text=True, timeout=60)
            self.assertIn("FAILED: open: ", done.stderr)

    def test_wrong_settings_are_named(self):
        """And the others hold."""
        program = os.path.join(PROGRAMS, "stacktrack_hosts")

        def said(settings, status=0):
            done = subprocess.run([program, "order"], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "TELLTALE_STACKTRACK": settings})
            self.assertEqual(done.returncode, status)
            return done.stderr.splitlines()

        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(said(f"dir={folder},size=1M,rotate=64M,keep=2,clock=16,layout=wide,sequence=clock,fork=yes,"), [])
            for wrong in ("rotat=64M", "rotate=64X", "rotate=", "rotate=K", "keep=4294967296", "layout=clasic", "sequence=1", "fork=maybe",
                          "clock=-1", "on"):
                self.assertEqual(said(f"{wrong},dir={folder}"), [f'telltale-stacktrack: TELLTALE_STACKTRACK: "{wrong}" is no setting; it is ignored'])
            self.assertEqual(len(os.listdir(folder)), 11)
            self.assertEqual(said(f"dir={folder}/none", 1)[:1], ["telltale-stacktrack: TELLTALE_STACKTRACK: nothing is recorded: no file can be opened: no such file or directory"])
            for wrong, least in (("size=1K", 16384), ("size=12287,layout=classic", 12288)):
                self.assertEqual(said(f"dir={folder},{wrong}", 1)[:1],
                                 [f"telltale-stacktrack: TELLTALE_STACKTRACK: nothing is recorded: no file can be opened: size must be at least {least} bytes"])
            self.assertEqual(said(f"dir={folder},size=16K"), [])

    def test_r11_before_main_and_after_it(self):
        for library in LIBRARIES:
            with self.subTest(library=library), tempfile.TemporaryDirectory() as folder:
                path = run(os.path.join(PROGRAMS, f"{library}_hosts"), "order", TELLTALE_STACKTRACK="dir=" + folder).strip()
                names = collections.Counter(hit[2] for hit in stacktrack_file.File(path).hits)
                for name in ("constructor of a static", "destructor of a static", "atexit"):
                    self.assertEqual(names[name], 1, names)
                self.assertGreater(names["thread that outlives main"], 0)

    def test_r12_inside_the_allocator(self):
        self.each("hosts", "inside_malloc")

    @unittest.skipUnless(os.uname().machine == "x86_64", "the counter of another processor")
    def test_r13_a_counter_that_steps(self):
        for library in LIBRARIES:
            for every in ("1", "16"):
                with self.subTest(library=library, every=every), tempfile.TemporaryDirectory() as folder:
                    path = run(os.path.join(PROGRAMS, f"{library}_clocks"), folder, every).strip()
                    info = json.loads(run(os.environ["TELLTALE"], "info", "--json", path))
                    kinds = [problem["kind"] for problem in info["problems"]]
                    self.assertEqual(set(kinds), {"oddity"}, info["problems"])
                    self.assertIn("clock goes back", json.dumps(info["problems"]))
                    # Monotone within each thread, in chronological order.
                    last = {}
                    for event in json.loads(run(os.environ["TELLTALE"], "convert", "--to", "json", "-o", "-", path)):
                        time, number = last.get(event["tid"], (0, -1))
                        self.assertGreaterEqual(event["start_ns"], time)
                        self.assertEqual(event["payload"], f"number={number + 1}")
                        last[event["tid"]] = event["start_ns"], number + 1
                    self.assertEqual([number for _, number in last.values()], [3599, 3599])

    def test_r15_accounting(self):
        self.each("threads", "accounting")

    def test_sinks_that_change_while_threads_record(self):
        self.each("threads", "reconfigured")

    def test_sinks(self):
        for what in ("cycles", "rings", "ring_with_signals", "ring_with_threads", "several", "rotation", "texts"):
            self.each("sinks", what)


class Content(unittest.TestCase):
    """The file contains what the program records."""

    def check(self, library, kind):
        with tempfile.TemporaryDirectory() as folder:
            path = run(os.path.join(PROGRAMS, f"{library}_sinks"), "make", kind, folder).strip()
            self.assertRegex(os.path.basename(path), r"^%s_sinks_\d{8}_\d{6}_[0-9A-F]{4,8}_1\.tlg$" % library)
            file = stacktrack_file.File(path)
        self.assertEqual((file.torn, file.unnamed), (0, 0))
        self.assertEqual([os.path.basename(name) for name in file.files.values()], ["sinks.cc"])
        properties = list(file.properties.values())[0]
        self.assertEqual(sorted(properties.values()), ["a property that is longer than one record=yes", "owner=tests"])
        served = []
        for i in range(4):
            inside = [("refused", False, None)] if i == 2 else []
            value = [] if i == 2 else [("request", False, str(i))]
            served += [("::Server::serve", False, None), *value, ("::Server::serve", True, None), *inside]
        values = [("bool", "true"), ("char", "c"), ("negative", "-5"), ("largest", str(2**64 - 1)), ("half", "0.5"),
                  ("string", "a string of 32 bytes: 0123456789"), ("literal", "\u00e4 & <b>"), ("null", "(null)"), ("empty", None),
                  ("streamed", "point 3"), ("enumerator", "7"), ("long", "l" * 2000)]
        expected = [("::record_all", False, None), *served, ("::worker [with T = double]", False, None), ("::worker [with T = double]", True, None),
                    ("values", False, None), *[(name, False, text) for name, text in values],
                    ("values", True, None), ("::record_all", True, None)]
        found = [(re.sub(r"^(\{anonymous\}|\(anonymous namespace\))", "", name), left, text)
                 for _, _, name, left, text, _, _ in file.hits]
        self.assertEqual(found, expected)
        styles = {name: style for name, style, _, _, _ in file.names.values()}
        self.assertEqual((styles["values"], styles["refused"], styles["bool"]), (4, 5, 6))
        times = [hit[5] for hit in file.hits]
        self.assertEqual(times, sorted(times))
        return file

    def test_wide(self):
        for library in LIBRARIES:
            file = self.check(library, "wide")
            self.assertEqual(sum(hit[6] for hit in file.hits), 0)
            self.assertEqual(file.lost[5], 1)

    def test_counted(self):
        file = self.check("stacktrack", "counted")
        self.assertEqual([hit[0] for hit in file.hits], list(range(1, len(file.hits) + 1)))

    def test_sparse(self):
        file = self.check("stacktrack", "sparse")
        held = sum(hit[6] for hit in file.hits)
        self.assertGreater(held, len(file.hits) * 3 // 4)
        self.assertLess(held, len(file.hits))

    def test_classic(self):
        with tempfile.TemporaryDirectory() as folder:
            path = run(os.path.join(PROGRAMS, "stacktrack_sinks"), "make", "classic", folder).strip()
            file = stacktrack_file.File(path)
            size = os.path.getsize(path)
        # No empty slots, and everything in order of capture, so that any reader of the specification can read it.
        self.assertEqual(size, 24 * len(file.records))
        self.assertEqual(file.records[0].flags & 0xFF, stacktrack_file.PROLOGUE)
        sequences = [record.sequence for record in file.records]
        self.assertEqual(sequences, sorted(sequences))
        known = set()
        for record in file.records:
            if record.flags & 0xFF == stacktrack_file.SLOC:
                known.add(int.from_bytes(record.payload[:2], "little"))
            if record.flags & 0xFF == stacktrack_file.HIT:
                self.assertIn(int.from_bytes(record.payload[8:10], "little"), known)
        # Losses are logged variables there.
        self.assertEqual([(hit[2], hit[4]) for hit in file.hits if hit[2].startswith("telltale.")], [("telltale.lost.cut_text", "1")])
        self.assertEqual([hit[0] for hit in file.hits], list(range(1, len(file.hits) + 1)))


@unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
@unittest.skipIf(SANITIZED, "a sanitized program does not run under valgrind")
class Valgrind(unittest.TestCase):
    def test_clean(self):
        for program, what in (("threads", "reconfigured"), ("sinks", "cycles"), ("sinks", "rings"), ("sinks", "several")):
            with self.subTest(what):
                run("valgrind", "-q", "--error-exitcode=9", os.path.join(PROGRAMS, f"stacktrack_{program}"), what)


@unittest.skipUnless(shutil.which("clang++-19"), "clang++-19 is not installed")
class ThreadSanitizer(unittest.TestCase):
    def test_clean(self):
        sources = [os.path.join(SOURCE, "runtime", "stacktrack", name)
                   for name in os.listdir(os.path.join(SOURCE, "runtime", "stacktrack"))
                   if name.endswith(".cc") and not name.endswith("_test.cc")]
        sources.append(os.path.join(SOURCE, "runtime/signals/kept_handlers.cc"))
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "threads")
            run("clang++-19", "-std=c++17", "-O1", "-g", "-fsanitize=thread", "-I" + os.path.join(SOURCE, "include"),
                "-I" + os.path.join(SOURCE, "src"), os.path.join(SOURCE, "tests", "runtime", "stacktrack", "threads.cc"),
                *sources, "-o", program, "-pthread")
            for what in ("cancelled", "signals", "accounting", "reconfigured"):
                with self.subTest(what):
                    run(program, what)


if __name__ == "__main__":
    unittest.main()
