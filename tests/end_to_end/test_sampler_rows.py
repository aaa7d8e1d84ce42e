"""The sampler's runtime under the reliability goals R1 to R15, in brief form; TELLTALE_LONG=1 runs the long one.
docs/design/sampler-measurements.md, "Reliability", lists the test for each row."""
import json
import fcntl
import os
import random
import re
import resource
import signal
import subprocess
import time

from program_text import program_text
from sampler_programs import (ALL, BINARY_DIR, CONCURRENT, PROGRAMS, RELEASES, SOURCE_DIR, SamplerCase, build, run, samples,
                              site_tables)

LONG = bool(os.environ.get("TELLTALE_LONG"))
NEWEST = RELEASES[-1] if RELEASES else None
HERE = PROGRAMS / "hardships.cc"
COMMON = ("-std=c++17", "-pthread", f"-I{SOURCE_DIR}/tests/runtime", "-w")
EXACT = ("-fno-sample", "-fsampler-scheme=branches")
FORBIDDEN = BINARY_DIR / "tests/runtime/forbidden_calls.so"


class RowCase(SamplerCase):
    programs = {}

    def program(self, *words):
        """hardships.cc, built once for all tests."""
        if words not in self.programs:
            path = self.keep / f"p{len(self.programs)}"
            self.programs[words] = build(path, NEWEST, "-O1", *COMMON, *words, HERE, "-ldl", cxx=True)
        return self.programs[words]

    @classmethod
    def setUpClass(cls):
        import pathlib
        import tempfile
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.keep = pathlib.Path(folder.name)
        cls.programs = {}

    def ids(self):
        return [name for name, _ in self.subreports()]

    def counted(self, program, predicate="n % 2 == 0", report=None):
        """How often a condition was observed, over all sections of a report."""
        rows = site_tables(program)
        total = 0
        for key, counters in samples(report or self.report):
            for site, counts in zip(rows.get(key, []), counters):
                if key[1] == "branches" and site[4] == predicate:
                    total += sum(int(n) for n in counts)
        return total

    def passes(self, done):
        return int(re.search(r"^passes (\d+)$", done.stdout, re.M)[1])


class Signals(RowCase):
    def test_r1_nothing_unsafe_is_called(self):
        """In observations of every scheme, including a thread's first, and in crashes with everything that the handler
        does: the process ends with status 97 if libc's allocator, locks, dynamic linker or stdio are called."""
        # libgcc's unwinder calls pthread_once for an initialisation that was done at start: it only reads a word.
        preload = {"LD_PRELOAD": str(FORBIDDEN), "TELLTALE_MAY_CALL": "pthread_once"}
        everything = (*ALL, *CONCURRENT)
        program = self.program(*EXACT)
        done = self.run_reported(program, "unsafe", "malloc", **preload)
        self.assertEqual((done.returncode, done.stderr), (97, "forbidden call: malloc\n"))
        for words in (("-fno-sample", *everything), (*everything, "-ftimestamp-first", "-ftimestamp-last"),
                      ("-fno-sample", "-ftrace-sites", "-fsampler-scheme=branches", "-fsampler-scheme=bounds"),
                      ("-fsampler-runtime=shared", *everything)):
            program = self.program(*words)
            trace = {"SAMPLER_TRACE": str(self.path("trace"))} if "-ftrace-sites" in words else {}
            done = self.run_reported(program, "unsafe", "thread", **preload, **trace, SAMPLER_SPARSITY="3")
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            for how in ("segv", "abort", "fpe", "ill", "bus", "term", "stack"):
                done = self.run_reported(program, "unsafe", how, **preload, **trace, SAMPLER_SPARSITY="3")
                self.assertLess(done.returncode, 0, (words, how, done.stderr))
                self.assertEqual(self.ids(), ["samples", "main-backtrace"], (words, how))

    def test_r1_counts_are_exact_under_signals(self):
        """Handlers that count, ten thousand times a second, in two threads that count."""
        program = self.program(*EXACT)
        done = self.run_reported(program, "signals", "5000" if LONG else "500")
        self.assertEqual(done.returncode, 0)
        self.assertGreater(self.passes(done), 100_000)
        self.assertEqual(self.counted(program), self.passes(done))

    def test_r1_what_the_runtime_needs(self):
        """Only libc."""
        library = BINARY_DIR / "lib/libtelltale_sampler.so"
        wanted = run("nm", "-D", "--undefined-only", library).stdout.split()
        names = {name.split("@")[0] for name in wanted if len(name) > 1}
        self.assertIn("write", names)
        self.assertEqual(names & {"printf", "fopen", "fwrite", "fdopen", "__cxa_throw", "_Znwm", "backtrace_symbols_fd",
                                  "pthread_mutex_lock", "pthread_once", "calloc"}, set())
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", library).stdout)
        self.assertLessEqual(set(needed), {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"})


class Deaths(RowCase):
    ENDS = {"segv": signal.SIGSEGV, "fpe": signal.SIGFPE, "abort": signal.SIGABRT, "bus": signal.SIGBUS, "ill": signal.SIGILL,
            "trap": signal.SIGTRAP, "sys": signal.SIGSYS, "term": signal.SIGTERM, "stack": signal.SIGSEGV,
            "terminate": signal.SIGABRT}

    def test_r2_what_was_counted_is_there(self):
        program = self.program(*EXACT)
        for how, number in self.ENDS.items():
            for _ in range(20 if LONG else 1):
                done = self.run_reported(program, "fail", how)
                self.assertEqual(done.returncode, -number, how)
                self.assertEqual(self.ids(), ["samples", "main-backtrace"], how)
                self.assertEqual(self.counted(program), 10, how)

    def test_r2_killed_at_any_time(self):
        """A trace contains all observations but the last, which the kernel may cut at a page's end; telltale reads the
        earlier ones."""
        program = self.program("-fno-sample", "-ftrace-sites", "-fsampler-scheme=branches")
        trace = self.path("trace")
        telltale = os.environ["TELLTALE"]
        choice = random.Random(5)
        for _ in range(1000 if LONG else 10):
            environment = dict(os.environ, SAMPLER_TRACE=str(trace), SAMPLER_FILE=str(self.report))
            child = subprocess.Popen([program, "for_ever"], env=environment)
            while not trace.exists() or trace.stat().st_size < 5000:
                time.sleep(0.001)
            time.sleep(choice.random() * 0.01)
            child.kill()
            child.wait()
            text = trace.read_bytes()
            whole = text.endswith(b"}\n")
            self.assertTrue(whole or len(text) % 4096 == 0, text[-200:])
            told = run(telltale, "dump", "--json", trace)
            self.assertEqual(told.stdout.count('"event_type"'), text.count(b"}\n"))
            self.assertEqual(told.stderr == "", whole)
            self.assertEqual(self.report.read_text(), "")
            trace.unlink()

    def test_r6_handlers_that_go_on_to_ours(self):
        for words in ((), ("-static",)):
            program = self.program(*EXACT, *words)
            for how in ("informed", "plain"):
                for end in ("segv", "term"):
                    done = self.run_reported(program, "later", how, end)
                    self.assertEqual((done.returncode, done.stdout), (-self.ENDS[end], "later\n"), (how, end, words))
                    self.assertEqual(self.ids(), ["samples", "main-backtrace"], (how, end, words))
                    self.assertEqual(self.counted(program), 10)

    def test_r7_twenty_threads_crash_at_once(self):
        program = self.program(*EXACT)
        for how in ("segv", "abort", "fpe", "ill"):
            for _ in range(50 if LONG else 3):
                done = self.run_reported(program, "crowd", how)
                self.assertEqual(done.returncode, -self.ENDS[how])
                # The thread that came second waited; it may have reported the counts since then.
                self.assertEqual(self.ids()[:2], ["samples", "main-backtrace"], how)
                self.assertEqual(self.counted(program), 10 + 20 * 50)
                done = run(os.environ["TELLTALE"], "check", self.report)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_r7_reports_that_take_their_time(self):
        """Threads that crash meanwhile wait as long as the report is read; a pipe holds a page, and the report is
        larger."""
        program = self.program("-fno-sample", "-fsampler-scheme=branches", "-fsampler-scheme=scalar-pairs", "-fcompare-constants")
        reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        child = subprocess.Popen([program, "crowd", "segv"], env={"SAMPLER_REPORT_FD": str(writing)}, pass_fds=[writing], cwd=self.folder)
        os.close(writing)
        text = b""
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while piece := pipe.read(2048):
                text += piece
                time.sleep(0.2)
        self.assertEqual(child.wait(), -signal.SIGSEGV)
        self.assertGreater(len(text), 8192)
        self.report.write_bytes(text)
        self.assertEqual(self.ids(), ["samples", "main-backtrace"])
        self.assertTrue(text.endswith(b"</report>\n"))

    def test_r7_the_first_process_of_a_container(self):
        """A signal that ends other processes does not end this one; the one that does is reported, too."""
        if subprocess.run(["unshare", "-pf", "true"], capture_output=True).returncode != 0:
            self.skipTest("processes may not be numbered anew here")
        program = self.program(*EXACT)
        done = self.run_reported("unshare", "-pf", program, "survivor")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.ids()[:3], ["samples", "main-backtrace", "samples"])
        self.assertEqual(self.counted(program), 10 + 10 + 20)

    def test_r7_crash_in_the_handler(self):
        """Unreadable counters, a stack that cannot be unwound: the original signal ends the process, and the parts that
        can be written are in the file."""
        program = self.program(*EXACT)
        done = self.run_reported(program, "broken", "stack")
        self.assertEqual(done.returncode, -signal.SIGILL)
        self.assertEqual(self.ids(), ["samples", "main-backtrace"])
        self.assertEqual(self.counted(program), 20)
        self.assertRegex(dict(self.subreports())["main-backtrace"], r"\[0x[0-9a-f]+\]\n")
        done = self.run_reported(program, "broken", "counters")
        self.assertEqual(done.returncode, -signal.SIGILL)
        self.assertRegex(dict(self.subreports())["main-backtrace"], r"^\S*\[0x[0-9a-f]+\]\n")

    def test_r8_a_small_signal_stack_of_the_program_s_own(self):
        program = self.program(*EXACT)
        done = self.run_reported(program, "small_stack")
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.assertEqual(self.ids(), ["samples", "main-backtrace"])


class Programs(RowCase):
    def test_r3_children(self):
        """By fork, the bare system call, vfork and posix_spawn, while four threads count: the parent's report is its
        own."""
        program = self.program(*EXACT)
        rounds = 1000 if LONG else 120
        done = self.run_reported(program, "children", rounds)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.ids(), ["samples"])
        # Children that call exit print their counts, too: the last line is the parent's.
        said = int(re.findall(r"^passes (\d+)$", done.stdout, re.M)[-1])
        # A child's own report contains its counts, and not its parent's.
        self.assertEqual(self.counted(program), said)
        run(program, "children", 16, env={"SAMPLER_FILE": str(self.path("of.%p"))})
        counts = [self.counted(program, report=file) for file in self.folder.glob("of.*")]
        self.assertEqual(len(counts), 5)
        self.assertEqual(sorted(counts)[:4], [10, 10, 20, 20])  # 10 more after exit

    def test_r3_descriptors_that_become_other_files(self):
        program = self.program(*EXACT)
        self.path("files").mkdir()
        done = self.run_reported(program, "reuse", "files")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({file.read_text() for file in self.path("files").iterdir()}, {"mine\n"})
        self.assertEqual(self.counted(program), 40)
        # A relative name, after which the program changes its folder; the file is still found.
        self.report.unlink()
        run(program, "reuse", "files", env={"SAMPLER_FILE": "report.txt"}, cwd=self.folder)
        self.assertEqual(self.counted(program), 40)
        self.assertEqual(len(list(self.path("files").iterdir())), 20)
        # A descriptor given by the caller is gone.
        with open(self.path("given"), "wb") as given:
            done = subprocess.run([program, "reuse", "files"], env={"SAMPLER_REPORT_FD": str(given.fileno())},
                                  pass_fds=[given.fileno()], timeout=60, cwd=self.folder, capture_output=True)
        self.assertEqual((done.returncode, self.path("given").read_text()), (0, ""))
        self.assertEqual({file.read_text() for file in self.path("files").iterdir()}, {"mine\n"})

    def test_r4_threads(self):
        program = self.program(*EXACT)
        alive, following = (10_000, 100_000) if LONG else (300, 2000)
        sampled = self.program("-fsampler-scheme=branches")
        for one in (program, sampled):
            few = self.run_reported(one, "threads", alive, 10, SAMPLER_SPARSITY="7")
            done = self.run_reported(one, "threads", alive, following, SAMPLER_SPARSITY="7")
            self.assertEqual((few.returncode, done.returncode), (0, 0))
            # Memory after many short threads and after few.
            self.assertLess(int(done.stderr), 1.5 * int(few.stderr))
            if one is program:
                self.assertEqual(self.counted(program), self.passes(done))

    def test_r5_modules_at_the_same_address(self):
        modules = []
        for name, limit in (("one", "1"), ("other", "2")):
            source = self.path(f"{name}.c")
            source.write_text(program_text("sampler/cases/answer.c").replace("NAME", "module").replace("LIMIT", limit))
            modules.append(build(self.path(f"{name}.so"), NEWEST, "-fno-sample", "-shared", "-fPIC", "-fsampler-scheme=branches",
                                 source))
        program = self.program(*EXACT)
        rounds = 1000 if LONG else 200
        done = self.run_reported(program, "modules", rounds, *modules)
        self.assertEqual(done.returncode, 0, done.stderr)
        for module, predicate in zip(modules, ("n > 1", "n > 2")):
            self.assertEqual(self.counted(module, predicate), rounds // 2)
        # Loaded a hundred times: one line per site, merged.
        done = run(os.environ["TELLTALE"], "resolve", self.report, *(w for m in modules for w in ("--program", m)), "--json")
        values = {row["columns"]["predicate"]: row["values"] for row in json.loads(done.stdout)["rows"]
                  if "predicate" in row["columns"]}
        self.assertEqual(values["n > 1"], {"false": 1, "true": rounds // 2 - 1})
        self.assertEqual(values["n > 2"], {"false": 1, "true": rounds // 2 - 1})

    def test_r9_the_program_s_state(self):
        for words in (("-fsampler-scheme=branches",), EXACT, ("-fsampler-runtime=shared", "-fsampler-scheme=branches")):
            program = self.program(*words)
            for sparsity in ("1", "3", "100"):
                done = self.run_reported(program, "invisible", SAMPLER_SPARSITY=sparsity, SAMPLER_SEED="3")
                self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "changed 0"), (words, sparsity))

    def test_r10_disks(self):
        """Full, read-only, removed meanwhile: the program ends as usual."""
        program = self.program(*EXACT)
        script = ('mount -t tmpfs -o size=4k none "$0" && cd "$0" && head -c 4096 /dev/zero > fill; '
                  'SAMPLER_FILE="$0/report" "$1" && rm -f "$0/fill" && mount -o remount,ro "$0" && SAMPLER_FILE="$0/report" "$1" && echo fine')
        self.path("mounted").mkdir()
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0:
            done = run("unshare", "-m", "sh", "-c", script, self.path("mounted"), program)
            self.assertEqual((done.stdout, done.stderr), ("passes 20\npasses 20\nfine\n", ""))
        done = self.run_reported(program, "fail", "segv", LD_PRELOAD="")
        expected = self.report.read_text()
        self.assertTrue(expected)
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        child = subprocess.Popen([program], env={"SAMPLER_REPORT_FD": str(writing)}, pass_fds=[writing], stdout=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            self.assertIn("</report>\n", pipe.read())
        self.assertEqual(child.wait(), 0)
        limits = dict(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        done = subprocess.run([program], env={"SAMPLER_FILE": str(self.report)}, capture_output=True, **limits)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"passes 20\n", b""))
        self.assertEqual(self.report.stat().st_size, 100)

    def test_r11_before_main_and_after_it(self):
        """Constructors and destructors of static objects are counted, however the runtime is linked, in any order."""
        other = self.path("other.cc")
        other.write_text(program_text("sampler/cases/static_objects.cc"))
        for words in (EXACT, (*EXACT, "-fsampler-runtime=shared"), (*EXACT, "-static")):
            for files in ((HERE, other), (other, HERE)):
                with self.subTest(words=words):
                    program = build(self.path("p"), NEWEST, "-O1", *COMMON, *words, *files, cxx=True)
                    done = self.run_reported(program)
                    self.assertEqual((done.returncode, done.stdout), (0, "passes 20\n"))
                    self.assertEqual((self.counted(program), self.counted(program, "n > 5")), (20, 2))

    def test_r12_inside_the_allocator(self):
        for words in (EXACT, ("-fsampler-scheme=branches",)):
            program = self.program(*words, "-DOWN_ALLOCATOR")
            for how in ("signals", "threads"):
                done = self.run_reported(program, how, "50", "50", SAMPLER_SPARSITY="2", SAMPLER_SEED="1")
                self.assertEqual(done.returncode, 0)
                # Nine passes, interrupted by signals.
                self.assertGreater(self.counted(program, "memory != nullptr"), 0 if words != EXACT else 5)
            self.assertEqual(self.run_reported(program, "fail", "segv", SAMPLER_SPARSITY="2").returncode, -signal.SIGSEGV)
            self.assertEqual(self.ids(), ["samples", "main-backtrace"])


if __name__ == "__main__":
    import unittest
    unittest.main()
