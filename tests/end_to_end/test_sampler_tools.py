"""The tools that Sampler's published text names, and its examples."""

import os
import re
import shutil
import struct
import subprocess
import unittest

from sampler_tool_case import CLANG, GOLDEN, LIBEXEC, PROGRAMS, TOOLS, UNIT, SamplerToolCase, read

# The main-backtrace of the published text, and its rows for frames of libraries that were not given.
BACKTRACE = """\
ccrypt[0x804ff1c]
/lib/tls/libc.so.6[0xaa78c8]
ccrypt[0x804c3df]
ccrypt[0x804c80e]
ccrypt[0x804a34b]
/lib/tls/libc.so.6(__libc_start_main+0xd3)[0xa94e23]
ccrypt[0x8049171]
"""

CRASH = read("backtrace.c", folder=PROGRAMS)


class SamplerTools(SamplerToolCase):
    def test_the_tools_are_verbs_and_programs(self):
        named = set(re.split(r"[\s,.]+", self.telltale("sampler", "--help")))
        for name in TOOLS:
            self.assertIn(name, named)
            self.assertIn("Usage: telltale " + name, self.telltale("sampler", name, "--help"))
            self.assertIn("Usage: telltale " + name, self.tool(name, "--help"))

    # ---- extract-section ------------------------------------------------------------------------------------

    def test_extract_section_prints_sections_of_each_file_without_zero_bytes(self):
        text = {}
        for name in self.units:
            with open(self.path(name + ".sites.bin"), "rb") as file:
                text[name] = file.read().replace(b"\0", b"").decode()
        self.assertEqual(self.tool("extract-section", ".debug_site_info", "one.o"), text["one"])
        self.assertEqual(self.tool("extract-section", ".debug_site_info", "myapp"), text["main"] + text["one"])
        self.assertEqual(self.tool("extract-section", "--require", ".debug_site_info", "myplugin.so", "libmylib.so", "one.o"),
                         text["two"] + text["three"] + text["one"])
        self.assertEqual(self.tool("extract-section", ".debug_site_info", "libunits.a"), text["one"] + text["two"])

    def test_thin_archives(self):
        """Their members are files beside them, or in other folders."""
        os.makedirs(self.path("lib"), exist_ok=True)
        self.sh("ar", "rcT", "libthin.a", "one.o", "two.o")
        self.write("a_name_of_more_than_fifteen_letters.o", "")
        self.sh("ar", "rcT", "lib/thin.a", "one.o", "a_name_of_more_than_fifteen_letters.o", self.path("two.o"))
        os.remove(self.path("a_name_of_more_than_fifteen_letters.o"))
        fat = self.tool("extract-section", ".debug_site_info", "libunits.a")
        self.assertEqual(self.tool("extract-section", "--require", ".debug_site_info", "libthin.a"), fat)
        text = self.tool("extract-section", ".debug_site_info", "lib/thin.a")
        self.assertEqual(text, fat)
        self.assertIn("a_name_of_more_than_fifteen_letters.o: no such file", self.stderr)
        raw = self.samples("two", "1\t2\n", "1\t1\t1\n2\t2\t2\n")
        self.assertEqual(self.tool("resolveSamples", "libthin.a", stdin=raw),
                         self.tool("resolveSamples", "libunits.a", stdin=raw).replace("libunits", "libthin"))
        self.assertEqual(self.tool("resolve-cfg", "libthin.a"), self.tool("resolve-cfg", "libunits.a"))
        self.assertIn("6 sites in 2 units", self.telltale("sites", "libthin.a"))
        # Any section name is accepted.
        evil = b"!<thin>\n" + b"//".ljust(48) + b"22".ljust(10) + b"`\n" + b"/dev/zero/\n../../../../\n"[:22].ljust(22, b"\n")
        for at in (b"/0", b"/11", b"/99", b"x/"):
            evil += at.ljust(48) + b"100".ljust(10) + b"`\n"
        self.write("evil.a", evil)
        self.assertEqual(self.tool("extract-section", ".debug_site_info", "evil.a"), "")
        self.assertEqual(self.stderr.count("no such file"), 4)

    def test_extract_section_says_what_is_missing(self):
        self.write("plain.c", "int plain;\n")
        self.sh(CLANG, "-c", "plain.c")
        text = self.tool("extract-section", ".debug_site_info", "plain.o", "one.o")
        self.assertIn("plain.o: section .debug_site_info is missing", self.stderr)
        self.assertIn("one.c", text)
        self.tool("extract-section", "--require", ".debug_site_info", "plain.o", "one.o", status=1)
        self.write("nothing", "")
        self.sh("objcopy", "--add-section", ".debug_site_info=nothing", "plain.o", "hollow.o")
        self.assertEqual(self.tool("extract-section", "--require", ".debug_site_info", "hollow.o"), "")
        self.assertIn("empty", self.stderr)
        self.tool("extract-section", status=2)
        self.tool("extract-section", ".debug_site_info", status=2)
        self.tool("extract-section", ".debug_site_info", "no such file", status=3)

    def test_sections_survive_what_linkers_do_and_vanish_with_strip(self):
        self.sh("ld", "-r", "-o", "both.o", "one.o", "two.o")
        self.assertEqual(self.tool("extract-section", ".debug_site_info", "both.o").count("<sites"), 4)
        self.sh(CLANG, "-Wl,--gc-sections", "-o", "collected", "main.o", "one.o")
        self.assertEqual(self.tool("extract-section", ".debug_site_info", "collected").count("<sites"), 4)
        self.sh("objcopy", "--compress-debug-sections=zlib", "myapp", "compressed")
        self.assertEqual(self.tool("extract-section", ".debug_site_info", "compressed"),
                         self.tool("extract-section", ".debug_site_info", "myapp"))
        self.sh("strip", "-o", "stripped", "myapp")
        self.tool("extract-section", "--require", ".debug_site_info", "stripped", status=1)

    # ---- extract-report -------------------------------------------------------------------------------------

    def test_extract_report_prints_the_bodies_of_one_name(self):
        report = read("plugin_three_times.report")
        self.assertEqual(self.tool("extract-report", "main-backtrace", stdin=report), BACKTRACE)
        samples = self.tool("extract-report", "samples", stdin=report)
        self.assertEqual(samples.count("<samples"), 9)
        self.assertNotIn("report", samples)
        self.assertEqual(self.tool("extract-report", "environment", stdin=report),
                         "key\tvalue\n<samples unit=\"not a section here\">\n\n")
        self.assertEqual(self.tool("extract-report", "nothing", stdin=report, status=1), "")
        self.tool("extract-report", status=2)
        torn = self.tool("extract-report", "samples", stdin=report[:200])
        self.assertIn(torn, report)
        self.assertIn("the report at byte 0 has no </report>", self.stderr)

    # ---- resolveSamples -------------------------------------------------------------------------------------

    def test_the_example_of_the_text(self):
        """extract-report samples <raw-report.log | resolveSamples myapp myplugin.so libmylib.so"""
        raw = (self.samples("two", "1\t2\n", "0\t0\t1\n4\t5\t6\n") + self.samples("main", "0\t9\n", "1\t0\t0\n0\t0\t0\n") +
               self.samples("three", "7\t7\n", "0\t1\t0\n0\t0\t3\n"))
        samples = self.tool("extract-report", "samples", stdin=raw)
        rows = [line.split("\t") for line in self.tool("resolveSamples", "myapp", "myplugin.so", "libmylib.so",
                                                       stdin=samples).splitlines()]
        two, main, three = (self.units[name] for name in ("two", "main", "three"))
        self.assertEqual(rows, [
            ["myplugin.so", two, "branches", "two.c", "4", "main", "3", "value", "1", "2"],
            ["myplugin.so", two, "returns", "two.c", "5", "main", "7", "five", "0", "0", "1"],
            ["myplugin.so", two, "returns", "two.c", "6", "main", "9", "*f", "4", "5", "6"],
            ["myapp", main, "branches", "main.c", "4", "main", "3", "value", "0", "9"],
            ["myapp", main, "returns", "main.c", "5", "main", "7", "five", "1", "0", "0"],
            ["myapp", main, "returns", "main.c", "6", "main", "9", "*f", "0", "0", "0"],
            ["libmylib.so", three, "branches", "three.c", "4", "main", "3", "value", "7", "7"],
            ["libmylib.so", three, "returns", "three.c", "5", "main", "7", "five", "0", "1", "0"],
            ["libmylib.so", three, "returns", "three.c", "6", "main", "9", "*f", "0", "0", "3"]])
        # With the section's name first, as in the text's synopsis, and with extracted files.
        sites = self.write("all.sites", self.tool("extract-section", ".debug_site_info", "myapp", "myplugin.so", "libmylib.so"))
        named = self.tool("resolveSamples", ".debug_site_info", "myapp", "myplugin.so", "libmylib.so", stdin=samples)
        self.assertEqual([line.split("\t") for line in named.splitlines()], rows)
        extracted = self.tool("resolveSamples", sites, stdin=samples)
        self.assertEqual([line.split("\t")[1:] for line in extracted.splitlines()], [row[1:] for row in rows])
        for inputs in (["libunits.a", "main.o", "three.o"], ["myapp", "myplugin.so", sites]):
            text = self.tool("resolveSamples", *inputs, stdin=samples)
            self.assertEqual([line.split("\t")[1:] for line in text.splitlines()], [row[1:] for row in rows])

    def test_every_scheme_keeps_its_columns_and_values(self):
        """Each line is the site's line joined with the row: compared with a few lines of our own that read both files."""
        sites, report = read("all_schemes.sites"), read("all_schemes.report")
        bodies = dict(re.findall(r'<sites unit="\w+" scheme="([\w-]+)">\n(.*?)</sites>', sites, re.DOTALL))
        rows = re.findall(r'<samples unit="(\w+)" scheme="([\w-]+)">\n(.*?)</samples>', report, re.DOTALL)
        self.assertEqual(len(rows), 14)
        file = os.path.join(GOLDEN, "all_schemes.sites")
        expected = [f"{file}\t{unit}\t{scheme}\t{site}\t{values}" for unit, scheme, body in rows
                    for site, values in zip(bodies[scheme].splitlines(), body.splitlines())]
        self.assertEqual(self.tool("resolveSamples", file, stdin=report).splitlines(), expected)

    def test_repeated_sections_are_added_and_bounds_widened(self):
        report = read("plugin_three_times.report")
        text = self.tool("resolveSamples", os.path.join(GOLDEN, "plugin.sites"), stdin=report)
        self.assertEqual([line.split("\t")[2:] for line in text.splitlines()], [
            ["branches", "src/plugin.c", "3", "plug", "2", "on", "1", "6"],
            ["branches", "src/plugin.c", "4", "plug", "5", "tmp", "1", "1"],
            ["bounds", "src/plugin.c", "6", "plug", "7", "x", "local", "direct", "-3", "9"],
            ["function-entries", "src/plugin.c", "2", "plug", "0", "4"]])

    def test_an_object_linked_twice_counts_once(self):
        self.sh("ld", "-r", "-o", "twice.o", "-z", "muldefs", "one.o", "one.o")
        text = self.tool("resolveSamples", "twice.o", stdin=self.samples("one", "1\t2\n", "1\t1\t1\n2\t2\t2\n"))
        self.assertEqual(len(text.splitlines()), 3)

    def test_what_does_not_fit_is_told_and_the_rest_is_delivered(self):
        good = self.samples("main", "1\t2\n", "1\t1\t1\n2\t2\t2\n")
        for damage, told in (
                (self.samples("one", "1\t2\n3\t4\n", "1\t1\t1\n2\t2\t2\n"), "2 rows, "),
                (self.samples("one", "", "1\t1\t1\n2\t2\t2\n"), "0 rows, "),
                (self.samples("one", "1\tx\n", "1\t1\t1\n2\t2\t2\n"), "the first is row 1"),
                (self.samples("two", "1\t2\n", "1\t1\t1\n2\t2\t2\n"),
                 f"no given program has the sites of unit {self.units['two']} (branches, returns)")):
            text = self.tool("resolveSamples", "myapp", stdin=damage + good, status=2)
            self.assertIn(told, self.stderr)
            self.assertEqual([line for line in text.splitlines() if self.units["main"] in line],
                             self.tool("resolveSamples", "myapp", stdin=good).splitlines())
        torn = self.tool("resolveSamples", "myapp", stdin=good[:-25], status=2)
        self.assertIn("the section has no </samples>", self.stderr)
        self.assertEqual(torn.splitlines(), self.tool("resolveSamples", "myapp", stdin=good).splitlines()[:2])
        self.write("plain.c", "int plain;\n")
        self.sh(CLANG, "-c", "plain.c", "-o", "bare.o")
        self.tool("resolveSamples", "bare.o", stdin=good, status=1)
        self.tool("resolveSamples", status=2)
        self.assertEqual(self.tool("resolveSamples", "myapp", stdin=""), "")

    # ---- resolveTimestamps ----------------------------------------------------------------------------------

    def test_timestamps_are_merged_and_joined(self):
        text = self.tool("resolveTimestamps", os.path.join(GOLDEN, "plugin.sites"), stdin=read("plugin_three_times.report"))
        file = os.path.join(GOLDEN, "plugin.sites")
        self.assertEqual([line.split("\t") for line in text.splitlines()],
                         [[time, file, UNIT, "branches", when, "src/plugin.c", line, "plug", cfg, name]
                          for when, times in (("first", ("3", "10")), ("last", ("20", "12")))
                          for time, line, cfg, name in zip(times, ("3", "4"), ("2", "5"), ("on", "tmp"))])

    # ---- resolve-backtrace ----------------------------------------------------------------------------------

    def test_frames_of_files_that_nobody_gave_stay_unknown(self):
        """The rows of libc in the text's table."""
        rows = [line.split("\t") for line in self.tool("resolve-backtrace", "--header", "myapp", stdin=BACKTRACE,
                                                       status=2).splitlines()]
        self.assertEqual(self.stderr, "telltale: no frame of the backtrace belongs to a given program: they name ccrypt, "
                                      "/lib/tls/libc.so.6\n")
        self.assertEqual(rows[0], ["return", "module", "function", "file", "line"])
        self.assertEqual(rows[2], ["0xaa78c8", "/lib/tls/libc.so.6", "??", "??", "0"])
        self.assertEqual(rows[6], ["0xa94e23", "/lib/tls/libc.so.6", "??", "??", "0"])
        self.assertEqual([row[:2] for row in rows[1:]],
                         [[line[line.index("[") + 1:-1], re.split(r"[(\[]", line)[0]] for line in BACKTRACE.splitlines()])

    def test_a_crash_is_resolved_to_functions_and_lines(self):
        """The text's table, for a program of ours: once with fixed addresses, once position-independent."""
        self.write("report.c", CRASH)
        for name, flags in (("fixed", ["-no-pie", "-fno-pie"]), ("moved", ["-pie", "-fPIE"]),
                            ("exported", ["-pie", "-fPIE", "-rdynamic"])):
            self.sh(CLANG, "-g", "-O0", "-fno-omit-frame-pointer", *flags, "-o", name, "report.c")
            trace = subprocess.run([self.path(name)], capture_output=True, check=True, timeout=60).stdout.decode()
            rows = [line.split("\t") for line in self.tool("resolve-backtrace", name, stdin=trace).splitlines()]
            self.assertEqual(len(rows), len(trace.splitlines()))
            ours = {row[2]: row for row in rows if row[3] == "report.c"}
            self.assertIn("handleSignal", ours, (trace, rows))
            self.assertEqual(ours["handleSignal"][4], "7")
            self.assertEqual(ours["main"][4], "17")
            start = [row for row in rows if row[2] == "_start"]
            self.assertEqual([row[3:] for row in start], [["??", "0"]])
            self.assertTrue(all(row[1].endswith(name) for row in ours.values()))

    def test_malformed_backtraces(self):
        text = self.tool("resolve-backtrace", "myapp", stdin="what is this\nmyapp[0x10]\n", status=1)
        self.assertEqual(text, "0x10\tmyapp\t??\t??\t0\n")
        self.tool("resolve-backtrace", status=1)

    # ---- resolve-cfg ----------------------------------------------------------------------------------------

    def test_graphs_as_text(self):
        self.assertEqual(self.tool("resolve-cfg", os.path.join(GOLDEN, "simple.cfg")), (
            "object 0\n\tunit simple.c\n\t\tfunction helper at simple.c:9\n\t\t\tnode 0 at simple.c:10\n"
            "\t\tfunction main at simple.c:3\n\t\t\tnode 0 at simple.c:4\n\t\t\t\tsuccessors: 2 1\n"
            "\t\t\tnode 1 at simple.c:5\n\t\t\t\tsuccessors: 2\n\t\t\t\tcallees: helper (puts)\n"
            "\t\t\tnode 2 at (unknown):0\n\t\t\t\tcallees: ???\n\tunit empty.c\n"))

    def test_graphs_of_programs_resolve_between_objects(self):
        text = self.tool("resolve-cfg", "--verbose", "myapp", self.folder, "myplugin.so")
        self.assertIn("myapp: read", self.stderr)
        self.assertIn("callees: one_main (puts)", text)
        self.assertEqual(text.count("object "), 2)
        self.tool("resolve-cfg", "myplugin.so", "no such file", status=1)
        self.tool("resolve-cfg", "two.o", "libmylib.so", "two.o")
        self.assertIn("two_main is exported by two.c", self.stderr)
        for form in ("--dot", "--dot-calls"):
            text = self.tool("resolve-cfg", form, "myapp", "myplugin.so")
            self.assertTrue(text.startswith("digraph"))
            self.assertEqual(text.count("{"), text.count("}"))
            self.assertIn("two_main", text)
        text = self.tool("resolve-cfg", "--dot", "myapp", "myplugin.so")
        clusters = re.findall(r"subgraph cluster_(\d+) {\n    label=\"(\w+)\"", text)
        self.assertEqual(clusters, [("0", "main_main"), ("1", "one_main"), ("2", "two_main")])
        self.assertEqual(set(re.findall(r"n(\d+)_\d+ ", text)), {"0", "1", "2"})

    def test_edges_of_graphs_lead_to_nodes_that_are_there(self):
        """A successor equal to the number of nodes is out of range."""
        graph = self.write("edges.cfg", f"*\t0.1\na.c\n{UNIT}\n+\tf\ta.c\t1\na.c\t1\n2\t1\t\n\na.c\t2\n\n\n\n\n")
        edges = re.findall(r"(n0_\d+) -> (n0_\d+);", self.tool("resolve-cfg", "--dot", graph))
        self.assertEqual(edges, [("n0_0", "n0_1")])
        self.assertIn("function f has no node 2", self.telltale("check", graph, status=1))

    # ---- decimate-samples, precompute, find-sampler-info ----------------------------------------------------

    def test_decimated_counts(self):
        report = self.samples("main", "1000000\t0\n", "0\t0\t100000\n7\t0\t0\n") + '<report id="x">\n5\t5\n</report>\n'
        once = self.tool("decimate-samples", "100", "42", stdin=report)
        self.assertEqual(self.tool("decimate-samples", "100", "42", stdin=report), once)
        numbers = [int(number) for number in re.findall(r"\d+", re.sub(r"<.*?>", "", once))]
        self.assertTrue(9500 < numbers[0] < 10500, once)
        self.assertEqual(numbers[1], 0)
        self.assertTrue(840 < numbers[4] < 1160, once)
        self.assertIn('<report id="x">\n5\t5\n', once)
        self.assertEqual(self.tool("decimate-samples", "1", stdin=report), report)
        self.tool("decimate-samples", stdin=report, status=2)
        self.tool("decimate-samples", "0", stdin=report, status=2)

    def test_precomputed_countdowns(self):
        def numbers(sparsity, seed):
            environment = {**os.environ, "SAMPLER_SPARSITY": sparsity, "SAMPLER_SEED": seed}
            subprocess.run([os.path.join(LIBEXEC, "precompute"), self.path("bank")], check=True, env=environment, timeout=60)
            with open(self.path("bank"), "rb") as file:
                return struct.unpack("=1021i", file.read())

        self.assertEqual(set(numbers("1", "7")), {1})
        bank = numbers("100", "7")
        self.assertEqual(bank, numbers("100", "7"))
        self.assertNotEqual(bank, numbers("100", "8"))
        self.assertGreaterEqual(min(bank), 1)
        # The mean of 1,021 geometric numbers: 100, with a standard deviation of 99.5 / sqrt(1021) = 3.1.
        self.assertTrue(87 < sum(bank) / 1021 < 113, sum(bank) / 1021)
        self.tool("precompute", "bank", status=2)
        self.tool("precompute", status=2)

    def test_information_of_a_folder(self):
        root = self.path("root", "usr", "bin")
        os.makedirs(root)
        shutil.copy(self.path("myapp"), root)
        self.write(os.path.join("root", "usr", "readme"), "text\n")
        os.symlink("..", os.path.join(root, "loop"))
        self.tool("find-sampler-info", "--extract", "root", "--save", "saved", "--edit-source", "ma", "/src/ma")
        folder = self.path("saved", "usr/lib/sampler/sites/usr/bin")
        self.assertEqual(sorted(os.listdir(folder)), ["myapp.cfg", "myapp.sites"])
        with open(os.path.join(folder, "myapp.sites")) as file:
            sites = file.read()
        self.assertIn("/src/main.c\t4\tmain\t3\tvalue\n", sites)
        self.assertIn("\none.c\t4\t", sites)
        with open(os.path.join(folder, "myapp.cfg")) as file:
            self.assertIn("\n/src/main.c\n", file.read())
        self.tool("resolve-cfg", os.path.join(folder, "myapp.cfg"))
        self.tool("find-sampler-info", "--extract", "root", status=2)
        self.tool("find-sampler-info", "--extract", "no such folder", "--save", "saved", status=3)

    def test_damaged_programs_of_a_folder_are_named_in_order(self):
        os.makedirs(self.path("damaged"))
        for letter in "hbmdkalfcjgei":  # neither the order of the names nor its reverse
            self.write(os.path.join("damaged", letter), "\x7fELF and no more")
        self.tool("find-sampler-info", "--extract", "damaged", "--save", "saved")
        self.assertEqual(re.findall("damaged/(.)", self.stderr), list("abcdefghijklm"), self.stderr)


if __name__ == "__main__":
    unittest.main()
