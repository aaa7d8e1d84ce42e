"""Programs with threads: threads have counters or tallies of their own, and the report has the sum."""
import collections
import re
import signal
import subprocess
import sys

from sampler_programs import PROGRAMS, RELEASES, SamplerCase, build, samples, site_tables

SOURCE = PROGRAMS / "many_threads.c"
SCHEMES = ("-fsampler-scheme=branches", "-fsampler-scheme=scalar-pairs", "-fsampler-scheme=returns",
           "-fsampler-scheme=function-entries", "-fsampler-scheme=coverage")
# Fewer than there are sets of counters, and more.
COUNTS = ("3", "40")


class Threads(SamplerCase):
    def totals(self, program, report):
        """{(scheme, row): the sum of its counters over all subreports}, and the sites' descriptions."""
        tables, totals, sites = site_tables(program), collections.Counter(), {}
        for key, rows in samples(report):
            for row, counts in enumerate(rows):
                totals[key[1], row] += sum(int(count) for count in counts)
                sites[key[1], row] = tables[key][row]
        return totals, sites

    def check(self, program, passes, report=None):
        """Each value in the loop is compared once in each round, so all counts of its sites add up to the rounds."""
        totals, sites = self.totals(program, report or self.report)
        lines = SOURCE.read_text().splitlines()
        in_loop = [site for site, words in sites.items()
                   if any(f"{part} = " in lines[int(words[1]) - 1] and site[0] == "scalar-pairs" for part in ("n", "p"))
                   and "(i" in lines[int(words[1]) - 1].replace("(unsigned long)i", "(i")]
        self.assertGreater(len(in_loop), 10)
        in_loop += [site for site, words in sites.items() if site[0] == "branches" and words[4] == "n % 2 == 0"]
        self.assertEqual({sites[site][4]: totals[site] for site in in_loop if totals[site] != passes}, {})
        return totals

    def run_mode(self, program, how, count, code=0, **environment):
        self.report.unlink(missing_ok=True)
        done = self.run_reported(program, how, count, **environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return int(re.search(r"passes (\d+)", done.stdout)[1])

    def test_no_count_is_lost(self):
        for release in RELEASES:
            program = build(self.path("p"), release, "-O2", "-fno-sample", "-pthread", "-w", *SCHEMES, SOURCE)
            for count in COUNTS:
                for how in ("end", "destructors", "between", "stay", "fork"):
                    with self.subTest(release=release, how=how, count=count):
                        self.check(program, self.run_mode(program, how, count))

    def test_no_sample_is_lost(self):
        """Where all regions are in the sample, counts are exact: threads have tallies of their own and add them to
        counters that they share."""
        for release in RELEASES:
            for words in ((), ("-fsampler-adaptive",), ("-fPIC",)):
                program = build(self.path("p"), release, "-O2", "-pthread", "-w", *words, *SCHEMES, SOURCE)
                for count in COUNTS:
                    for how in ("between", "fork") if words else ("end", "destructors", "between", "stay", "fork"):
                        with self.subTest(release=release, words=words, how=how, count=count):
                            self.check(program, self.run_mode(program, how, count, SAMPLER_SPARSITY="1"))

    def test_objects_without_fpic_may_become_a_library(self):
        for release in RELEASES:
            library = build(self.path("counting.so"), release, "-O2", "-pthread", "-shared", "-w", "-fsampler-scheme=branches",
                            PROGRAMS / "counting_library.c")
            done = self.run_reported(sys.executable, "-c", "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).count(9))", str(library),
                                     SAMPLER_SPARSITY="1")
            self.assertEqual((done.returncode, done.stdout), (0, "1\n"), done.stderr)
            (_, rows), = samples(self.report)
            self.assertIn(["8", "1"], [list(row) for row in rows])  # n == 7

    def test_fatal_signal(self):
        program = build(self.path("p"), RELEASES[-1], "-O2", "-fno-sample", "-pthread", "-w", *SCHEMES, SOURCE)
        for count in COUNTS:
            self.check(program, self.run_mode(program, "signal", count, -signal.SIGSEGV))

    def test_child_has_its_own_counts(self):
        program = build(self.path("p"), RELEASES[-1], "-O2", "-fno-sample", "-pthread", "-w", *SCHEMES, SOURCE)
        for count in COUNTS:
            for old in self.folder.glob("of.*"):
                old.unlink()
            done = subprocess.run([program, "fork", count], env={"SAMPLER_FILE": str(self.folder / "of.%p")}, timeout=60,
                                  capture_output=True, text=True, check=True)
            passes = int(re.search(r"passes (\d+)", done.stdout)[1])
            reports = sorted(self.folder.glob("of.*"), key=lambda report: int(report.suffix[1:]))
            self.assertEqual(len(reports), 2)
            self.check(program, passes, reports[0])
            self.check(program, passes - 20000 + 7, reports[1])

    def test_same_report_as_with_one_set_of_counters(self):
        """One thread: the same numbers with -pthread and without."""
        found = []
        for words in (("-pthread",), ()):
            program = build(self.path("p"), RELEASES[-1], "-O2", "-fno-sample", "-w", "-ftrivial-auto-var-init=zero", *words,
                            *SCHEMES, PROGRAMS / "schemes.c", "-lm")
            self.report.unlink(missing_ok=True)
            self.run_reported(program)
            found.append([(key[1], rows) for key, rows in samples(self.report)])
        self.assertEqual(found[0], found[1])
        self.assertGreater(len(found[0]), 3)
