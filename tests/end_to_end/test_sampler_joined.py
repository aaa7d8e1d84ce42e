"""From the compiler to the answer: programs built by telltale-cc and telltale-c++, run, and their reports read by
telltale, compared with an independent reader (sampler_programs.py)."""

import html
import itertools
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

from program_text import program_text
import sampler_programs
from sampler_programs import RELEASES, run

TELLTALE = os.environ["TELLTALE"]

EXAMPLE = sampler_programs.SOURCE_DIR / "examples/buggy/buggy.cc"


@unittest.skipUnless(RELEASES, "the compiler's plugins are not built")
class SamplerJoined(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="telltale-joined-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.libexec = os.path.join(cls.folder, "libexec")
        os.mkdir(cls.libexec)
        for tool in ("extract-section", "extract-report", "resolveSamples", "resolve-backtrace", "resolve-cfg", "precompute"):
            os.symlink(TELLTALE, os.path.join(cls.libexec, tool))
        source = shutil.copy(EXAMPLE, cls.path("buggy.cc"))
        cls.program = {}
        for release in RELEASES:
            cls.program[release] = sampler_programs.build(
                cls.path("buggy-" + release), release, "-g", "-O0", "-fno-sample",
                *(f"-fsampler-scheme={name}" for name in ("branches", "returns", "function-entries", "coverage")), source, cxx=True)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def tool(self, name, *words, stdin=""):
        done = subprocess.run([os.path.join(self.libexec, name), *words], input=stdin, capture_output=True, text=True,
                              timeout=60, cwd=self.folder)
        self.assertEqual(done.returncode, 0, (name, words, done.stderr))
        return done.stdout

    def telltale(self, *words):
        done = run(TELLTALE, *words, cwd=self.folder)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done.stdout

    def recorded(self, release, *words):
        report = self.path(f"report-{release}-{len(words)}")
        done = run(self.program[release], *words, env={"SAMPLER_FILE": report})
        return report, done.returncode

    def test_a_run_is_resolved_as_we_read_it_ourselves(self):
        for release in RELEASES:
            report, status = self.recorded(release)
            self.assertEqual(status, 0)
            program = self.program[release]
            with open(report) as file:
                rows = self.tool("resolveSamples", program, stdin=self.tool("extract-report", "samples", stdin=file.read()))
            ours = sampler_programs.resolved(report, program)
            lines = []
            for row in rows.splitlines():
                columns = row.split("\t")
                lines.append("\t".join([columns[2], os.path.basename(columns[3]), columns[4].rjust(3), columns[5], *columns[7:]]))
            self.assertEqual(sorted(lines), ours)
            self.assertIn("branches\tbuggy.cc\t  5\tfirst_negative\tvalues[i] < 0\t2\t1", lines)

    def test_the_tour_shows_what_is_printed(self):
        page = (sampler_programs.SOURCE_DIR / "docs" / "tour.md").read_text()
        tour = re.search(r"\$ (telltale-c\+\+ .*?)\n\$ .*?\n\$ telltale (resolve .*?)\n(.*?)(?:\$ |```)", page, re.DOTALL)
        for release in RELEASES:
            done = run(sampler_programs.BINARY_DIR / "bin" / "telltale-c++", *tour.group(1).split()[1:], cwd=self.folder,
                       env={"TELLTALE_CLANG_RELEASE": release})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(run(self.path("buggy"), "7", env={"SAMPLER_FILE": self.path("crash.report")}).returncode, -11)
            self.assertEqual(self.telltale(*tour.group(2).split()), tour.group(3))

    def test_texts_and_sections_are_valid(self):
        for release in RELEASES:
            report, _ = self.recorded(release)
            sites, graphs = self.path("p.sites"), self.path("p.cfg")
            for section, path in ((".debug_site_info", sites), (".debug_sampler_cfg", graphs)):
                with open(path, "w") as file:
                    file.write(self.tool("extract-section", "--require", section, self.program[release]))
            self.assertIn("valid", self.telltale("check", report, sites, graphs))
            self.assertIn("function find at ", self.tool("resolve-cfg", self.program[release]))
            lcov = self.telltale("convert", report, "--program", self.program[release], "--to", "lcov", "-o", "-", "--sparsity", "1")
            self.assertIn("\nFNDA:1,first_negative\n", lcov)
            self.assertIn("\nBRDA:5,0,0,2\nBRDA:5,0,1,1\n", lcov)

    def test_a_crash_is_resolved_to_its_line(self):
        for release in RELEASES:
            report, status = self.recorded(release, "7")
            self.assertEqual(status, -11)
            with open(report) as file:
                trace = self.tool("extract-report", "main-backtrace", stdin=file.read())
            rows = [row.split("\t") for row in self.tool("resolve-backtrace", self.program[release], stdin=trace).splitlines()]
            places = {(row[2], os.path.basename(row[3]), row[4]) for row in rows}
            self.assertEqual((rows[0][2], os.path.basename(rows[0][3])), ("main", "buggy.cc"), (trace, rows))
            self.assertIn(("main", "buggy.cc", "15"), places, (trace, rows))
            summary = json.loads(self.telltale("report", report, "--program", self.program[release], "--json"))
            self.assertTrue(any(row["function"] == "main" for row in summary["backtrace"]["backtrace"]))
            self.assertIn({"scheme": "branches", "values": "false 3, true 0", "site": "values[i] < 0"}.items(),
                          [{key: row[key] for key in ("scheme", "values", "site")}.items() for row in summary["one_way"]["one_way"]])

    def test_every_crash_is_resolved_to_its_lines(self):
        """All fatal signals, a stack that overflowed, threads: each frame of the program's own has its function and line."""
        source = shutil.copy(sampler_programs.PROGRAMS / "crash.c", self.folder)
        with open(source) as file:
            lines = file.read().splitlines()
        fail = next(i for i, line in enumerate(lines, 1) if line.startswith("static int fail("))
        calls = {name: next(i for i, line in enumerate(lines, 1) if text in line)
                 for name, text in (("main", "return fail(argv[1])"), ("in_thread", "fail(how);"))}
        for release in RELEASES:
            program = sampler_programs.build(self.path("crash-" + release), release, "-g", "-O0", "-pthread", "-fno-sample",
                                             "-fsampler-scheme=branches", source)
            fixed = sampler_programs.build(self.path("fixed-" + release), release, "-g", "-O0", "-pthread", "-fno-sample", "-no-pie",
                                           "-fsampler-runtime=static", "-fsampler-scheme=branches", source)
            self.assertEqual(run(fixed, "segv", env={"SAMPLER_FILE": self.path("crash.txt")}).returncode, -11)
            with open(self.path("crash.txt")) as file:
                trace = self.tool("extract-report", "main-backtrace", stdin=file.read())
            names = [row.split("\t")[2] for row in self.tool("resolve-backtrace", fixed, stdin=trace).splitlines()]
            self.assertEqual(names[:2], ["fail", "main"], trace)
            every = ("segv", "fpe", "abort", "bus", "trap", "term", "int", "hup", "quit", "pipe", "sys", "xcpu", "xfsz", "stack")
            for how in every if release == RELEASES[-1] else ("segv", "stack"):
                for caller in ("main", "in_thread"):
                    if (how, caller) == ("hup", "in_thread"):
                        continue  # sent to the process: any thread may get it
                    with self.subTest(release=release, how=how, caller=caller):
                        report = self.path("crash.txt")
                        done = run(program, how, *(["thread"] if caller == "in_thread" else []), env={"SAMPLER_FILE": report})
                        self.assertLess(done.returncode, 0)
                        with open(report) as file:
                            trace = self.tool("extract-report", "main-backtrace", stdin=file.read())
                        rows = [row.split("\t") for row in self.tool("resolve-backtrace", program, stdin=trace).splitlines()]
                        self.assertEqual(len(rows), len(trace.splitlines()))
                        # It begins in the program, or in the function that it called to raise a signal.
                        self.assertNotIn("telltale_sampler", trace)
                        self.assertFalse([row for row in rows if "telltale::" in row[2] or row[2].startswith("__restore")], trace)
                        if how in ("segv", "fpe", "trap", "stack"):
                            self.assertEqual(rows[0][2], "dive" if how == "stack" else "fail", trace)
                        ours = [(row[2], int(row[4])) for row in rows if os.path.basename(row[3]) == "crash.c"]
                        if how == "stack":
                            # 1,024 frames, some of them the handler's.
                            dive = next(i for i, line in enumerate(lines, 1) if "dive(n + 1)" in line)
                            self.assertGreater(ours.count(("dive", dive)), 1000)
                            continue
                        wanted = next(i for i, line in enumerate(lines, 1) if f'strcmp(how, "{how}")' in line)
                        self.assertEqual([name for name, _ in ours], ["fail", caller])
                        self.assertIn(ours[0][1], range(wanted, wanted + 5) if how == "pipe" else (wanted,))
                        self.assertGreater(wanted, fail)
                        self.assertEqual(ours[1][1], calls[caller])

    def test_the_first_frame_is_where_it_crashed(self):
        """Not the line, or the function, of the previous instruction: it is not a call."""
        source = self.path("deref.c")
        with open(source, "w") as file:
            file.write(program_text("sampler/cases/deref.c"))
        for release in RELEASES:
            for level in ("-O0", "-O1", "-O2"):
                program = sampler_programs.build(self.path("deref"), release, "-g", level, "-fno-sample", "-fsampler-scheme=branches", source)
                for words, expected in (((), ("second", "6")), (("x",), ("first", "9"))):
                    with self.subTest(release=release, level=level, function=expected[0]):
                        self.assertEqual(run(program, *words, env={"SAMPLER_FILE": self.path("crash.txt")}).returncode, -11)
                        with open(self.path("crash.txt")) as file:
                            trace = self.tool("extract-report", "main-backtrace", stdin=file.read())
                        frames = [row.split("\t") for row in self.tool("resolve-backtrace", program, stdin=trace).splitlines()]
                        self.assertEqual((frames[0][2], frames[0][4]), expected, trace)
                        summary = json.loads(self.telltale("report", self.path("crash.txt"), "--program", program, "--json"))
                        self.assertEqual(summary["backtrace"]["backtrace"][0]["function"], expected[0])

    def test_precompute_draws_what_the_runtime_draws(self):
        """The sites observed with a seed are at the sums of the countdowns that precompute writes for it; a file of
        these countdowns observes the same sites."""
        source = self.path("passes.c")
        with open(source, "w") as file:
            file.write(program_text("sampler/cases/passes.c"))
        for release in RELEASES:
            for sparsity, seed in (("10", "0x123456789abcdef0"), ("37.5", "99887766554433"), ("1", "5"), ("1000", "314159265358979")):
                environment = {"SAMPLER_SPARSITY": sparsity, "SAMPLER_SEED": seed}
                done = run(os.path.join(self.libexec, "precompute"), self.path("bank"), env=environment)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                with open(self.path("bank"), "rb") as file:
                    bank = struct.unpack("=1021i", file.read())
                expected = [place for place in itertools.accumulate(bank) if place <= 20000]
                for kind, wanted in (("online", environment), ("offline", {"SAMPLER_EVENT_COUNTDOWNS": self.path("bank")})):
                    program = sampler_programs.build(self.path("passes"), release, "-O1", f"-fsampler-random={kind}", "-ftrace-sites",
                                                     "-fsampler-scheme=bounds", "-finclude-function=see", "-fexclude-function=*", source)
                    trace = self.path("trace.yaml")
                    run(program, env={**wanted, "SAMPLER_TRACE": trace})
                    with open(trace) as file:
                        places = [int(value, 16) for value in re.findall(r"'bounds \w+ 0 (0x[0-9a-f]+)'", file.read())]
                    self.assertEqual(places[:len(expected)], expected)
                    self.assertEqual(len(places) > len(expected), len(expected) == 1021, (release, kind, sparsity))

    @unittest.skipUnless(shutil.which("genhtml"), "lcov is not installed")
    def test_lcov_is_what_lcov_reads(self):
        """genhtml and lcov read convert's output, get the same counts, and show that the numbers are estimates."""
        report, _ = self.recorded(RELEASES[-1])
        for sparsity, marked in ((1, "telltale_all_counted"), (100, "telltale_estimates_of_1_in_100")):
            info = self.path(f"{sparsity}.info")
            self.telltale("convert", report, "--program", self.program[RELEASES[-1]], "--to", "lcov", "-o", info, "--sparsity", str(sparsity))
            with open(info) as file:
                text = file.read()
            done = run("lcov", "--rc", "lcov_branch_coverage=1", "--summary", info)
            self.assertEqual(done.returncode, 0, done.stderr)
            for what, records in (("lines", "DA:"), ("functions", "FNDA:"), ("branches", "BRDA:")):
                lines = [line for line in text.splitlines() if line.startswith(records)]
                hit = [line for line in lines if int(line.split(":")[1].split(",")[0 if what == "functions" else -1].replace("-", "0")) > 0]
                self.assertRegex(done.stdout + done.stderr, rf"{what}\.+: .*\({len(hit)} of {len(lines)} ")
            done = run("genhtml", "--branch-coverage", "--show-details", "-o", self.path(f"html{sparsity}"), info)
            self.assertEqual(done.returncode, 0, done.stderr)
            pages = {}
            for folder, _, names in os.walk(self.path(f"html{sparsity}")):
                for name in names:
                    if name.endswith(".html"):
                        with open(os.path.join(folder, name), encoding="utf-8") as file:
                            pages[name] = file.read()
            self.assertTrue(any("buggy.cc" in name for name in pages), sorted(pages))
            self.assertTrue(any(marked in page for page in pages.values()))

    @unittest.skipUnless(shutil.which("genhtml"), "lcov is not installed")
    def test_lcov_tells_functions_of_one_name_apart(self):
        """An overload that never ran is not hidden by one that did."""
        source = sampler_programs.PROGRAMS / "overloads.cc"
        program = sampler_programs.build(self.path("overloads"), RELEASES[-1], "-g", "-O0", "-fno-sample",
                                         "-fsampler-scheme=coverage,function-entries", source, cxx=True)
        report, info, folder = self.path("overloads.report"), self.path("overloads.info"), self.path("overloads-html")
        self.assertEqual(run(program, env={"SAMPLER_FILE": report}).returncode, 0)
        self.telltale("convert", report, "--program", program, "--to", "lcov", "-o", info, "--sparsity", "1")
        entered = {"show:4": 1, "show:5": 0, "Pair::Pair:8": 0, "Pair::Pair:9": 2, "Pair::operator_int": 0,
                   "Pair::operator;": 1, "less<int;char>": 1, "less<long;int>": 1, "main": 1}
        done = run("lcov", "--summary", info)
        self.assertRegex(done.stdout + done.stderr, r"functions\.+: .*\(6 of 9 ")
        self.assertEqual(run("genhtml", "--demangle-cpp", "-o", folder, info).returncode, 0)
        (page,) = pathlib.Path(folder).rglob("overloads.cc.func.html")
        rows = re.findall(r'coverFn"><a [^>]*>(.*?)</a></td>\s*<td class="coverFn[HL][io]">(\d+)<', page.read_text())
        self.assertEqual({html.unescape(name): int(count) for name, count in rows}, entered)


if __name__ == "__main__":
    unittest.main()
