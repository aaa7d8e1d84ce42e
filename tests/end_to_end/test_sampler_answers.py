"""The verbs on feedback reports and site information."""

import csv
import io
import json
import os
import shutil
import re
import unittest

from sampler_tool_case import CLANG, GOLDEN, SOURCE_DIR, TELLTALE, SamplerToolCase, read


class SamplerAnswers(SamplerToolCase):
    def test_the_page_shows_what_telltale_prints(self):
        with open(os.path.join(SOURCE_DIR, "docs/formats/sampler.md")) as file:
            console = re.search(r"```\n(\$ telltale .*?)```", file.read(), re.DOTALL).group(1)
        for part in console.split("$ telltale ")[1:]:
            command, _, output = part.partition("\n")
            words = [os.path.join(GOLDEN, word) if word.startswith("worked") else word for word in command.split()]
            self.assertEqual(self.telltale(*words), output, command)

    def test_resolve_as_rows(self):
        report, sites = os.path.join(GOLDEN, "all_schemes.report"), os.path.join(GOLDEN, "all_schemes.sites")
        rows = json.loads(self.telltale("resolve", report, "--program", sites, "--json"))["rows"]
        self.assertEqual(len(rows), 25)
        pairs = rows[0]
        self.assertEqual(pairs["columns"], {"left": "late", "host": "local", "offset": "direct", "right": "counter",
                                            "right_kind": "global"})
        self.assertEqual(pairs["values"], {"<": 1, "==": 0, ">": 2})
        table = list(csv.DictReader(io.StringIO(self.telltale("resolve", report, "--program", sites, "--csv"))))
        self.assertEqual([(row["scheme"], int(row["site"]), row["function"]) for row in table],
                         [(row["scheme"], row["site"], row["function"]) for row in rows])
        helper = self.telltale("resolve", report, "--program", sites, "--function", "help*", "--json")
        self.assertEqual({row["function"] for row in json.loads(helper)["rows"]}, {"helper"})
        seen = json.loads(self.telltale("resolve", report, "--program", sites, "--observed", "--scheme", "branches", "--json"))["rows"]
        self.assertEqual([row["site"] for row in seen], [0, 2])
        guess = json.loads(self.telltale("resolve", report, "--program", sites, "--sparsity", "100", "--json"))["rows"][0]
        self.assertEqual(guess["estimates"]["<"]["count"], 100)
        self.assertAlmostEqual(guess["estimates"]["<"]["margin"], 195.0, places=1)
        self.assertIn("< 100 +- 195, == 0 +- 0, > 200 +- 276", self.telltale("resolve", report, "--program", sites, "--sparsity", "100"))
        self.assertNotIn("+-", self.telltale("resolve", report, "--program", sites))

    def test_lcov_is_marked_as_an_estimate(self):
        report, sites = os.path.join(GOLDEN, "all_schemes.report"), os.path.join(GOLDEN, "all_schemes.sites")
        plain = self.telltale("convert", report, "--program", sites, "-o", "-", "--to", "lcov")
        self.assertIn("TN:telltale_counts_as_reported\nSF:src/ccrypt/traverse.c\n", plain)
        for line in ("FN:8,main", "FNDA:8,helper", "BRDA:20,0,0,3", "BRDA:20,1,1,-", "DA:20,4", "LF:6", "end_of_record"):
            self.assertIn(f"\n{line}\n", plain)
        sampled = self.telltale("convert", report, "--program", sites, "-o", "-", "--to", "lcov", "--sparsity", "100")
        self.assertIn("TN:telltale_estimates_of_1_in_100\n", sampled)
        self.assertIn("\nDA:20,400\n", sampled)
        self.assertIn("TN:telltale_all_counted\n",
                      self.telltale("convert", report, "--program", sites, "-o", "-", "--to", "lcov", "--sparsity", "1"))
        self.telltale("convert", report, "-o", "-", "--to", "lcov", status=2)

    def test_an_empty_report_among_others(self):
        """Of a run that SIGKILL ended: `resolve reports/*` answers from the others, and names it."""
        report = os.path.join(GOLDEN, "plugin_three_times.report")
        empty = self.write("killed.report", "")
        self.assertEqual(self.telltale("resolve", empty, report, "--csv"), self.telltale("resolve", report, "--csv"))
        self.telltale("resolve", empty, report, "--strict", status=4)
        for files in ((empty,), (empty, self.write("killed-too.report", ""))):
            self.telltale("resolve", *files, status=3)

    def test_units_without_sites_miss_no_report(self):
        """A source file of tables has none; its unit cannot report anything."""
        report, sites = os.path.join(GOLDEN, "all_schemes.report"), read(os.path.join(GOLDEN, "all_schemes.sites"))
        branch = next(line for line in re.search(r'scheme="branches">\n(.*?)</sites>', sites, re.DOTALL).group(1).splitlines())
        for row, count in (("", 0), (branch + "\n", 1)):
            added = f'<sites unit="{"0" * 32}" scheme="branches">\n{row}</sites>\n'
            info = self.telltale("info", report, "--program", self.write("more.sites", sites + added))
            self.assertEqual(int(re.search(r"(?m)^unreported units +(\d+)$", info).group(1)), count)

    def test_one_report_of_several(self):
        report = os.path.join(GOLDEN, "plugin_three_times.report")
        merged, copy = self.path("merged.report"), self.path("copy.report")
        shutil.copy(report, copy)
        self.telltale("convert", report, report, "-o", merged, status=2)
        self.telltale("convert", report, copy, "-o", merged)
        self.telltale("check", merged)
        twice = self.telltale("resolve", report, copy, "--csv")
        self.assertEqual(self.telltale("resolve", merged, "--csv"), twice)

    def test_what_needs_calls_says_so(self):
        report = os.path.join(GOLDEN, "all_schemes.report")
        for words in (["flame", report, "-o", "x.svg"], ["stacks", report], ["graph", report], ["diff", report, report],
                      ["convert", report, "-o", "-", "--to", "perfetto"], ["convert", report, "-o", "-", "--to", "fdr5"],
                      ["top", report, "--sort", "calls"], ["top", report, "--by-thread"], ["top", report, "--depth", "2"],
                      ["info", report, "--thread", "1"], ["report", report, "--time", "1s.."], ["dump", report, "--function", "f"],
                      ["info", "--follow", report]):
            self.assertEqual(self.telltale(*words, status=2), "", words)
            self.assertTrue(self.stderr.startswith("telltale: "), (words, self.stderr))

    def test_a_program_in_the_place_of_a_report(self):
        report = os.path.join(GOLDEN, "all_schemes.report")
        self.assertEqual(self.telltale("resolve", report, TELLTALE, status=3), "")
        self.assertIn("a program, not a recording: name it with --program", self.stderr)

    def test_sites_of_programs(self):
        text = self.telltale("sites", "myapp")
        self.assertIn("6 sites in 2 units (branches 2, returns 4)", text)
        for file in ("libunits.a", "one.o", os.path.join(GOLDEN, "all_schemes.sites")):
            self.assertIn(" sites in ", self.telltale("sites", file))
        program = json.loads(self.telltale("sites", "--json", "myapp"))["programs"][0]
        self.assertEqual(program["sites_by_scheme"], {"branches": 2, "returns": 4})
        self.assertEqual(program["sites"][0]["columns"], {"predicate": "value"})
        rows = list(csv.DictReader(io.StringIO(self.telltale("sites", "--csv", "myapp", "one.o"))))
        self.assertEqual(len(rows), 9)

    def test_rows_of_sites_and_of_reports_join(self):
        raw = self.write("joined.report", self.samples("main", "1\t2\n", "1\t1\t1\n2\t2\t2\n"))
        key = lambda row: (row["unit"], row["scheme"], int(row["site"]))
        sites = [key(row) for row in csv.DictReader(io.StringIO(self.telltale("sites", "--csv", "myapp")))]
        told = [key(row) for row in csv.DictReader(io.StringIO(self.telltale("resolve", raw, "--program", "myapp", "--csv")))]
        self.assertEqual(sorted(told), sorted(sites))
        self.assertEqual(len(told), 6)
        # Without a program the place names the unit, in machine-readable tables, too.
        unit = self.units["main"]
        for words in (["top", raw, "--csv"], ["report", raw, "--csv", "--reports", "sites"]):
            places = [row["place"] for row in csv.DictReader(io.StringIO(self.telltale(*words)))]
            self.assertEqual(set(places), {f"unit {unit}, site 0", f"unit {unit}, site 1"}, words)

    def test_a_program_that_the_report_is_not_of(self):
        """Every verb that joins reports with programs reports missing programs; --strict makes it an exit status."""
        unit = self.units["two"]
        raw = self.write("other.report", self.samples("two", "1\t2\n", "1\t1\t1\n2\t2\t2\n"))
        missing = f"no given program has the sites of unit {unit} (branches, returns)"
        verbs = [["info", raw], ["resolve", raw], ["resolve", raw, "--csv"], ["resolve", raw, "--json"], ["top", raw], ["top", raw, "--json"],
                 ["report", raw], ["report", raw, "--json"]]
        verbs += [["convert", raw, "--to", to, "-o", self.path("out." + to)] for to in ("json", "csv", "sampler")]
        for words in verbs:
            for program in ("myapp", "libmylib.so"):
                with self.subTest(words=words, program=program):
                    out = self.telltale(*words, "--program", program)
                    told = out if words[0] == "info" else self.stderr
                    self.assertIn("no given program has any of its units", told)
                    self.assertIn(missing, told)
                    self.telltale(*words, "--program", program, "--strict", status=4)
            # With the right one as well nothing is missing; and without any, nothing is expected.
            for programs in (["--program", "myapp", "--program", "myplugin.so"], []):
                self.telltale(*words, *programs, "--strict")
                self.assertEqual(self.stderr, "")
        # A missing library beside a program that fits.
        both = self.write("both.report", self.samples("main", "1\t2\n", "1\t1\t1\n2\t2\t2\n") + self.samples("two", "1\t2\n", "1\t1\t1\n2\t2\t2\n"))
        self.telltale("resolve", both, "--program", "myapp", "--strict", status=4)
        self.assertIn(missing, self.stderr)
        self.assertNotIn("any of its units", self.stderr)
        self.assertIn('"damaged_places": 0', self.telltale("report", both, "--program", "myapp", "--json"))

    def test_lines_of_a_program_that_the_report_is_not_of(self):
        """LCOV contains the program's own lines, which did not run: that is reported."""
        raw = self.write("other.report", self.samples("two", "1\t2\n", "1\t1\t1\n2\t2\t2\n"))
        lines = self.telltale("convert", raw, "--program", "myapp", "--to", "lcov", "-o", "-")
        self.assertIn("BRDA:4,0,0,-\n", lines)
        self.assertIn("no given program has any of its units", self.stderr)
        self.telltale("convert", raw, "--program", "myapp", "--to", "lcov", "-o", "-", "--strict", status=4)

    def test_a_backtrace_of_another_program(self):
        crash = self.write("crash.report", '<report id="main-backtrace">\nbuggy(+0x12)[0x12]\n/lib/libc.so.6(+0x3)[0x3]\n</report>\n')
        self.telltale("report", crash, "--program", "myapp")
        self.assertEqual(self.stderr, "telltale: no frame of the backtrace belongs to a given program: they name buggy, /lib/libc.so.6\n")
        self.telltale("report", crash)
        self.assertEqual(self.stderr, "")

    def test_a_stripped_program_with_a_separate_debug_file(self):
        self.sh(CLANG, "-Wl,--build-id", "-o", "shipped", "main.o")
        self.sh("objcopy", "--only-keep-debug", "shipped", "symbols.dbg")
        self.sh("strip", "shipped")
        raw = self.samples("main", "1\t2\n", "1\t1\t1\n2\t2\t2\n")
        self.assertEqual(len(self.tool("resolveSamples", "symbols.dbg", stdin=raw).splitlines()), 3)
        self.tool("resolveSamples", "shipped", stdin=raw, status=1)
        self.sh("objcopy", "--add-gnu-debuglink=symbols.dbg", "shipped")
        text = self.tool("resolveSamples", "shipped", stdin=raw)
        self.assertEqual({line.split("\t")[0] for line in text.splitlines()}, {"shipped"})

    def test_report_and_top(self):
        report, sites = os.path.join(GOLDEN, "plugin_three_times.report"), os.path.join(GOLDEN, "plugin.sites")
        summary = json.loads(self.telltale("report", report, "--program", sites, "--json"))
        self.assertEqual(summary["reports"]["observations"], 13)
        self.assertEqual(len(summary["backtrace"]["backtrace"]), 7)
        self.assertEqual([row["last"] for row in summary["last"]["last"]], [20, 12])
        self.assertIn("Backtrace of the crash", self.telltale("report", report, "--program", sites))
        self.assertEqual(self.telltale("report", report, "--csv", "--reports", "schemes").splitlines()[0],
                         "scheme,sites,observed,observed_share,observations")
        rows = json.loads(self.telltale("top", report, "--program", sites, "--json", "--sparsity", "10"))["rows"]
        self.assertEqual([row["count"] for row in rows], [7, 4, 2, None])
        self.assertEqual(rows[0]["estimate"], 70)


if __name__ == "__main__":
    unittest.main()
