"""Programs that leave their build machine, and processes of several parts, each with its own runtime."""
import re
import shutil
import subprocess
import unittest

from program_text import program_text
from sampler_programs import BINARY_DIR, PROGRAMS, RELEASES, SamplerCase, build, resolved, run, samples

NEWEST = RELEASES[-1] if RELEASES else ""
COUNTED = ("-fno-sample", "-fsampler-scheme=branches")
PART = program_text("sampler/cases/answer.c")
# Loads each library without exporting its symbols to the next one, calls it, and may unload it.
HOST = (PROGRAMS / "cases/loads_libraries.c").read_text()
THREADS = (PROGRAMS / "cases/two_threads.c").read_text()


class Ship(SamplerCase):
    def elsewhere(self, program, *, env=None):
        """Runs the program without its build folders: another root file system, with only the system's libraries."""
        box = self.path("box")
        box.mkdir(exist_ok=True)
        shutil.copy(program, box / "program")
        told = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", """
            mount -t tmpfs none "$2" && exec env -i SAMPLER_FILE="$1/report" SAMPLER_SPARSITY=1 "$1/program" """,
            "sh", str(box), str(BINARY_DIR)], capture_output=True, text=True, timeout=60)
        return told

    def test_a_program_needs_nothing_of_its_builder_s(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/fine.c"))
        can_hide = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "true"], capture_output=True).returncode == 0
        for release in RELEASES:
            for words in ((), ("-pthread",), ("-static",), ("-static-pie",)):
                with self.subTest(release=release, words=words):
                    program = build(self.path("p"), release, "-fsampler-scheme=branches", *words, source)
                    dynamic = run("readelf", "-d", program).stdout
                    self.assertNotRegex(dynamic, r"RPATH|RUNPATH|telltale")
                    self.assertNotIn(str(BINARY_DIR).encode(), program.read_bytes())
                    if can_hide:
                        done = self.elsewhere(program)
                        self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), done.stderr)
                        self.report = self.path("box") / "report"
                        self.assertEqual(resolved(self.report, program), ["branches\ta.c\t  3\tmain\targc > 5\t1\t0"])

    def test_the_shared_runtime_is_there_if_one_asks(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/one_branch.c"))
        program = build(self.path("p"), NEWEST, "-fsampler-scheme=branches", "-fsampler-runtime=shared", source)
        self.assertIn("libtelltale_sampler.so", run("readelf", "-d", program).stdout)
        self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").returncode, 0)
        self.assertEqual(len(samples(self.report)), 1)

    def test_plain_objects_get_no_runtime(self):
        source = self.path("threads.c")
        source.write_text(THREADS)
        for words in (("-shared", "-fPIC", "-pthread"), ("-shared", "-fPIC")):
            library = build(self.path("lib.so"), NEWEST, *words, source)
            self.assertNotIn("telltale", run("nm", library).stdout)


class Parts(SamplerCase):
    """One process, several copies of the runtime: one report, in which each unit is counted once."""

    def part(self, name, limit, *words, scheme="branches"):
        source = self.path(f"{name}.c")
        source.write_text(PART.replace("NAME", name).replace("LIMIT", str(limit)))
        return build(self.path(f"lib{name}.so"), NEWEST, "-fno-sample", f"-fsampler-scheme={scheme}", "-shared", "-fPIC", *words,
                     source)

    def counts(self, *files):
        found = {}
        for line in resolved(self.report, *files):
            columns = line.split("\t")
            if columns[0] != "branches":
                continue
            for i, number in enumerate(columns[5:]):
                found.setdefault(columns[4], [0, 0])[i] += int(number)
        return found

    def host(self, *words, plain=False):
        source = self.path("host.c")
        source.write_text(HOST)
        if not plain:
            return build(self.path("host"), NEWEST, *words, source)
        subprocess.run([f"clang-{NEWEST}", "-w", "-o", self.path("host"), source], check=True)
        return self.path("host")

    def test_libraries_that_do_not_see_each_other(self):
        """As modules of an interpreter: the program around them is plain."""
        script = self.path("only.map")
        script.write_text("{ global: *_answer; local: *; };\n")
        for more in ((), ("-Wl,-Bsymbolic",), (f"-Wl,--version-script={script}",)):
            one, two = self.part("one", 3, *more), self.part("two", 7, *more)
            host = self.host(plain=True)
            for how in ("stay", "c", "x", "cx"):
                with self.subTest(more=more, how=how):
                    done = self.run_reported(host, how, one, "one_answer", two, "two_answer")
                    self.assertEqual((done.returncode != 0, done.stderr), ("x" in how, ""))
                    self.assertEqual(done.stdout if "x" not in how else "8\n", "8\n")
                    self.assertEqual(self.counts(one, two), {"n > 3": [4, 6], "n > 7": [8, 2]})
                    self.assertEqual(sum(name == "main-backtrace" for name, _ in self.subreports()), int("x" in how))

    def test_a_program_and_its_libraries(self):
        """Linked with it, loaded by it, or both; some with hidden symbols."""
        script = self.path("only.map")
        script.write_text("{ global: *_answer; local: *; };\n")
        linked = self.part("linked", 1, f"-Wl,--version-script={script}")
        one, two = self.part("one", 3), self.part("two", 7, "-fsampler-runtime=shared")
        main = self.path("main.c")
        main.write_text(program_text("sampler/cases/linked_start.c"))
        for runtime in ("static", "shared"):
            host = self.host(*COUNTED, f"-fsampler-runtime={runtime}", main, linked, f"-Wl,-rpath,{self.folder}")
            for how in ("stay", "c", "x"):
                with self.subTest(runtime=runtime, how=how):
                    done = self.run_reported(host, how, one, "one_answer", two, "two_answer", one, "one_answer")
                    self.assertEqual((done.returncode != 0, done.stderr), ("x" in how, ""))
                    found = self.counts(host, linked, one, two)
                    self.assertEqual([found[name] for name in ("n > 1", "n > 3", "n > 7", "i < 4", "n < 10")],
                                     [[2, 2], [8, 12], [8, 2], [1, 4], [3, 30]])
                    self.assertEqual(sum(name == "main-backtrace" for name, _ in self.subreports()), int("x" in how))

    def test_a_library_that_is_linked_with_does_not_lend_its_runtime(self):
        """A program runs with a library that was rebuilt without the sampler."""
        library = self.part("linked", 1)
        main = self.path("main.c")
        main.write_text(program_text("sampler/cases/linked_main.c"))
        program = build(self.path("p"), NEWEST, *COUNTED, main, library, f"-Wl,-rpath,{self.folder}")
        subprocess.run([f"clang-{NEWEST}", "-shared", "-fPIC", "-o", library, self.path("linked.c")], check=True)
        self.assertEqual(self.run_reported(program).returncode, 0)
        self.assertEqual(self.counts(program), {"linked_answer(3)": [0, 1]})

    def test_threads_forks_and_windows_of_libraries(self):
        """Requests to a copy that is not the leader: threads' countdowns, windows, numbers of observations, traces."""
        source = self.path("threads.c")
        source.write_text(THREADS)
        words = ("-pthread", "-shared", "-fPIC", "-ftimestamp-first", "-ftrace-sites", "-fsampler-scheme=branches",
                 "-fsampler-scheme=atoms", "-fsampler-scheme=compare-swap")
        one = self.part("one", 3)
        host = self.host(plain=True)
        for more in ((), ("-fno-sample-regions",), ("-fno-sample",)):
            with self.subTest(more=more):
                threads = build(self.path("libthreads.so"), NEWEST, *words, *more, source)
                trace = self.path("trace")
                done = self.run_reported(host, "stay", one, "one_answer", threads, "threads_answer", SAMPLER_SPARSITY="1",
                                         SAMPLER_TRACE=str(trace))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(self.counts(one, threads)["i == 7"], [19980, 20])
                by_scheme = {key[1]: rows for key, rows in samples(self.report)}
                for scheme in ("atoms", "compare-swap"):
                    self.assertGreater(sum(int(n) for row in by_scheme[scheme] for n in row), 10, scheme)
                stamps = re.search(r'<timestamps unit="\w+" scheme="branches" when="first">\n(.*?)</timestamps>',
                                   self.report.read_text(), re.S)[1].split()
                self.assertTrue(all(int(stamp) > 0 for stamp in stamps))
                self.assertGreater(trace.read_text().count("branches"), 20_000)


if __name__ == "__main__":
    unittest.main()
