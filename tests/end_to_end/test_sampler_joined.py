"""From the compiler to the answer: programs built by telltale-cc and telltale-c++, run, and their reports read by telltale,
beside a reading of our own (sampler_programs.py)."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

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
        for tool in ("extract-section", "extract-report", "resolveSamples", "resolve-backtrace", "resolve-cfg"):
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
        readme = (sampler_programs.SOURCE_DIR / "README.md").read_text()
        tour = re.search(r"\$ (telltale-c\+\+ .*?)\n\$ .*?\n\$ telltale (resolve .*?)\n(.*?)```", readme, re.DOTALL)
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
            # The line that crashed, or the one before it: a backtrace's addresses are looked up one byte earlier.
            self.assertTrue(places & {("main", "buggy.cc", "15"), ("main", "buggy.cc", "14")}, (trace, rows))
            summary = json.loads(self.telltale("report", report, "--program", self.program[release], "--json"))
            self.assertTrue(any(row["function"] == "main" for row in summary["backtrace"]["backtrace"]))
            self.assertIn({"scheme": "branches", "values": "false 3, true 0", "site": "values[i] < 0"}.items(),
                          [{key: row[key] for key in ("scheme", "values", "site")}.items() for row in summary["one_way"]["one_way"]])


if __name__ == "__main__":
    unittest.main()
