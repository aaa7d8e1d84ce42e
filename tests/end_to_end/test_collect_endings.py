"""TELLTALE_COLLECT: runs that end by _exit, _Exit or quick_exit are complete, and have the right outcome."""
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

from sampler_programs import RELEASES, build, samples, site_tables
from send_case import FakeServer, SendCase
from study_case import PROGRAMS

NEWEST = RELEASES[-1] if RELEASES else None
WORDS = ("-O1", "-pthread", "-fno-sample", "-fsampler-scheme=branches")
SOURCE, OTHER = PROGRAMS / "short_endings.c", PROGRAMS / "ends_for_others.c"
SHORT = {"_exit": 3, "_Exit": 4, "quick_exit": 5}


class EndingsTest(SendCase):
    @classmethod
    def setUpClass(cls):
        keeper = tempfile.TemporaryDirectory(prefix="telltale-endings-")
        cls.addClassCleanup(keeper.cleanup)
        cls.programs = pathlib.Path(keeper.name)
        cls.program = build(cls.programs / "short", NEWEST, *WORDS, SOURCE, OTHER)

    def library(self, name, *words, release=NEWEST):
        return build(self.programs / name, release, *WORDS, "-shared", "-fPIC", *words, OTHER)

    def linked(self, library, name="linked", *words):
        return build(self.programs / name, NEWEST, *WORDS, *words, SOURCE, library, f"-Wl,-rpath,{self.programs}")

    def outcomes(self, program, how, returned, **more):
        """The last outcome of each complete report of a run."""
        for file in self.spool.iterdir():
            file.unlink()
        done = self.spooled(program, how, **more)
        self.assertEqual(done.returncode, returned, done.stderr)
        texts = [file.read_text() for file in self.spool.glob("*.report")]
        for text in texts:
            self.assertEqual(text.count("<report id="), text.count("\n</report>\n"))
            self.assertRegex(text, r"seconds \d+\.\d{3}\n</report>\n$")
        return sorted(re.findall(r"^(?:status|signal) (\w+)$", text, re.M)[-1] for text in texts)

    def parts(self):
        return len(list(self.spool.glob("*.part")))

    def counted(self, predicate, *programs):
        """The counters of a branch, summed over the sections of the report."""
        (report,) = self.spool.glob("*.report")
        sites = site_tables(*programs)
        rows = [counts for key, counters in samples(report) for site, counts in zip(sites[key], counters) if site[-1] == predicate]
        self.assertTrue(rows, predicate)
        return [sum(map(int, column)) for column in zip(*rows)]

    def test_c_and_cxx(self):
        for release in RELEASES:
            for words in ((), ("-x", "c++"), ("-fsampler-runtime=shared",), ("-static",), ("-fsample",)):
                cxx = "c++" in words
                program = build(self.programs / "short-too", release, *WORDS, *words, SOURCE, OTHER, cxx=cxx)
                more = {"std::_Exit": 12, "std::quick_exit": 13, "invoke": 14} if cxx else {}
                for how, status in {**SHORT, **more}.items():
                    with self.subTest(release=release, words=words, how=how):
                        self.assertEqual(self.outcomes(program, how, status), [str(status)])
                        self.assertEqual(self.parts(), 0)

    def test_they_are_sent(self):
        for how, status in SHORT.items():
            with self.subTest(how), FakeServer() as fake:
                self.spooled(self.program, how)
                done = self.send(fake.url)
                self.assertEqual(done.returncode, 0, done.stderr)
                ((_, fields, _),) = fake.requests
                self.assertEqual((fields["Telltale-Status"], fields["Telltale-Label"]), (str(status), "failed"))
                self.assertEqual(self.waiting(), [])

    def test_the_system_s_status(self):
        self.assertEqual(self.outcomes(self.program, "large", 5), ["5"])
        self.assertEqual(self.outcomes(self.program, "negative", 255), ["255"])

    def test_handlers(self):
        """The last status counts, and what handlers do is counted."""
        self.assertEqual(self.outcomes(self.program, "handler", 6), ["6"])
        self.assertEqual(self.counted("n > 2", self.program), [0, 1])
        for how, status in (("handler _exit", 21), ("handler exit", 22), ("handler quick_exit", 23), ("atexit _exit", 21),
                            ("on_exit _exit", 7), ("signal", 24), ("crash", 1)):
            with self.subTest(how):
                self.assertEqual(self.outcomes(self.program, how, status), [str(status)])
                self.assertEqual(self.parts(), 0)

    def test_threads(self):
        """The first of them decides."""
        for _ in range(20):
            done = self.spooled(self.program, "threads")
            (name,) = self.waiting()
            report = self.spool / f"{name}.report"
            self.assertEqual(re.findall(r"^status (\d+)$", report.read_text(), re.M), [str(done.returncode)])
            self.assertIn(done.returncode, range(30, 38))
            report.unlink()

    def test_children(self):
        self.assertEqual(self.outcomes(self.program, "fork", 8), ["7", "8"])
        self.assertEqual(self.outcomes(self.program, "vfork", 10), ["10"])
        self.assertEqual(self.outcomes(self.program, "killed after vfork", -9), [])

    def test_exec_and_daemon(self):
        """What comes next is another program, or a child. Nothing stays in the folder, which many children that exec would fill."""
        self.assertEqual(self.outcomes(self.program, "exec", 0), [])
        self.assertEqual(self.parts(), 0)
        self.assertEqual(self.outcomes(self.program, "noexec", 127), ["127"])
        self.assertEqual(self.counted('is("noexec")', self.program), [0, 1])
        self.outcomes(self.program, "daemon", 0)
        deadline = time.monotonic() + 20
        while not self.waiting() and time.monotonic() < deadline:
            time.sleep(0.01)
        (name,) = self.waiting()
        self.assertRegex((self.spool / f"{name}.report").read_text(), r"\nstatus 11\n")
        self.assertEqual(self.parts(), 0)

    def test_code_that_is_not_instrumented(self):
        plain = self.programs / "plain.so"
        subprocess.run([f"clang-{NEWEST}", "-shared", "-fPIC", "-o", plain, OTHER], check=True)
        program = self.linked(plain)
        for how, status in SHORT.items():
            self.assertEqual(self.outcomes(program, how, status), [])
            self.assertEqual(self.parts(), 0)
        program = build(self.programs / "pointer", NEWEST, *WORDS, PROGRAMS / "cases/exit_by_pointer.c")
        self.assertEqual((self.outcomes(program, "", 3), self.parts()), ([], 0))

    def test_several_copies_of_the_runtime(self):
        """The library's is the leader, because it registers first."""
        library = self.library("other.so")
        program = self.linked(library)
        for how, status in SHORT.items():
            with self.subTest(how):
                self.assertEqual(self.outcomes(program, how, status), [str(status)])
                self.assertEqual(self.counted(f'strcmp(how, "{how}") == 0', library, program), [0, 1])
                self.counted('is("large")', library, program)
        self.assertEqual(self.outcomes(program, "large", 5), ["5"])
        self.assertEqual(self.outcomes(program, "handler", 6), ["6"])
        self.assertEqual(self.counted("n > 2", library, program), [0, 1])

    def test_copies_of_two_releases(self):
        """The one that registers first writes the only report."""
        library = self.library("earlier.so")
        program = self.linked(library, "later")
        place = next(line for line in subprocess.run(["nm", library], capture_output=True, text=True).stdout.splitlines()
                     if line.endswith(" telltale_sampler_copy"))
        changed = subprocess.run(["gdb", "-q", "-batch", "--write", library, "-ex", f"set var *(unsigned *)0x{place.split()[0]} = 0x101"],
                                 capture_output=True, text=True)
        self.assertEqual(changed.returncode, 0, changed.stderr)
        for how, status in (*SHORT.items(), ("", 1)):
            with self.subTest(how):
                done = self.spooled(program, how)
                self.assertIn("built by another release", done.stderr)
                (name,) = self.waiting()
                report = self.spool / f"{name}.report"
                self.assertEqual(re.findall(r"^status (\d+)$", report.read_text(), re.M), [str(status)])
                self.assertEqual((done.returncode, self.parts()), (status, 0))
                self.assertEqual(len(samples(report)), 1)
                report.unlink()
        self.assertEqual(self.outcomes(program, "large", 5), [])  # it has no part in the report

    def test_unusual_declarations(self):
        """C programs may call what has another type, or none."""
        for release in RELEASES:
            program = build(self.programs / "old", release, *WORDS, "-w", "-std=gnu89", PROGRAMS / "cases/old_declarations.c")
            for how, status in (("a", 7), ("b", 200), ("c", 9)):
                with self.subTest(release=release, how=how):
                    self.assertEqual(self.outcomes(program, how, status), [str(status)])


if __name__ == "__main__":
    unittest.main()
