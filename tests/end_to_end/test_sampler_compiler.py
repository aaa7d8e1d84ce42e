"""telltale-cc and the sampler's runtime: the output and reports of instrumented programs, with each release of clang
for which there is a plugin. sampler_programs.py, not telltale, reads site tables and reports."""
import os
import pathlib
import re
import signal
import subprocess
import unittest

from program_text import program_text
from sampler_programs import (ALL, CONCURRENT, PLUGINS, PROGRAMS, RELEASES, SamplerCase, build, compile_with, resolved, run,
                              samples, section, site_tables, tables)

NEWEST = RELEASES[-1] if RELEASES else None
BASIC = ("-fsampler-scheme=branches", "-fsampler-scheme=returns", "-fsampler-scheme=scalar-pairs")


class Golden(SamplerCase):
    def check(self, name, *flags):
        expected = (PROGRAMS / f"{name}.expected").read_text().splitlines()
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                for sampling in ("-fno-sample", "-fsample"):
                    with self.subTest(release=release, level=level, sampling=sampling):
                        program = build(self.path("p"), release, level, sampling, *flags, *ALL, PROGRAMS / name,
                                        cxx=name.endswith(".cc"))
                        done = self.run_reported(program, SAMPLER_SPARSITY="1")
                        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
                        lines = [mask(line) for line in resolved(self.report, program)]
                        self.assertEqual(lines, expected)

    def test_c(self):
        self.check("schemes.c", "-std=c11")

    def test_cxx(self):
        self.check("schemes.cc", "-std=c++23")


def mask(line):
    """Addresses, and counters of comparisons with uninitialised variables, may have any value."""
    line = re.sub(r"0x[0-9a-f]+", "ADDRESS", line)
    return re.sub(r"(\tlocal-uninit)\t.*", r"\1", line)


class Language(SamplerCase):
    def test_awkward_control_flow_computes_the_same(self):
        plain = self.path("plain")
        subprocess.run([f"clang-{NEWEST}", "-w", "-o", plain, PROGRAMS / "awkward.c"], check=True)
        expected = run(plain).stdout
        self.assertEqual(len(expected.splitlines()), 11)
        for release in RELEASES:
            for flags in (("-O0", "-fno-sample"), ("-O2",), ("-O0",), ("-O2", "-fthreads", "-g"),
                          ("-O1", "-fno-cache-countdown", "-fassign-across-pointer", "-fassign-into-index",
                           "-fassume-weighty-interns", "-fno-specialize-empty-regions",
                           "-fno-specialize-singleton-regions", "-fcompare-constants", "-ftimestamp-first",
                           "-ftimestamp-last")):
                program = build(self.path("p"), release, "-w", *flags, *ALL, *CONCURRENT, PROGRAMS / "awkward.c")
                for sparsity in ("1", "3", "100"):
                    with self.subTest(release=release, flags=flags, sparsity=sparsity):
                        done = self.run_reported(program, SAMPLER_SPARSITY=sparsity, SAMPLER_SEED="5")
                        self.assertEqual((done.returncode, done.stdout), (0, expected))
                        self.assertEqual([name for name, _ in self.subreports()], ["samples"])

    def test_globals_that_do_not_exist(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/nowhere.c"))
        program = build(self.path("p"), NEWEST, "-O2", "-fno-sample", "-fsampler-scheme=scalar-pairs", source)
        self.assertEqual(self.run_reported(program).returncode, 0)
        rows = [line.split("\t")[7:] for line in resolved(self.report, program)]
        self.assertEqual(rows, [["0LL", "const", "0", "0", "1"], ["nowhere", "global", "0", "0", "0"]])

    def test_a_declaration_of_errno(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/old_errno.c"))
        for release in RELEASES:
            program = build(self.path("p"), release, "-w", "-fsampler-scheme=scalar-pairs", source)
            self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").returncode, 0)
            self.assertEqual([line.split("\t")[7] for line in resolved(self.report, program)], ["0LL", "argc", "0LL", "argc", "number"])

    def test_functions_that_are_declared_pure_are_counted(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/pure_functions.c"))
        counts = set()
        for release in RELEASES:
            for words in (("-O0",), ("-O1",), ("-O2",), ("-O2", "-fno-sample"), ("-O2", "-fsampler-adaptive")):
                program = build(self.path("p"), release, "-w", *words, "-fsampler-scheme=branches,function-entries", source)
                self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").returncode, 0)
                counts.add(tuple(resolved(self.report, program)))
        self.assertEqual(len(counts), 1)
        (rows,) = counts
        entries = {row.split("\t")[3]: int(row.split("\t")[-1]) for row in rows if row.startswith("function-entries")}
        self.assertEqual(entries, {"nonnull": 1000, "same": 1000, "half": 3000, "twice": 1000, "unused": 1000, "main": 1})

    def test_calls_that_must_be_jumps_end_an_activation(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/jumps_to_itself.c"))
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                program = build(self.path("p"), release, level, *ALL, source)
                self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").returncode, 0)
                (row,) = [line for line in resolved(self.report, program) if "fun-reentries" in line and "count_down" in line]
                self.assertEqual(row.split("\t")[-2:], ["5", "0"])

    def test_what_a_child_compares_is_its_own(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/child_compares.c"))
        for words in (("-fno-sample",), ("-O2",)):
            program = build(self.path("p"), NEWEST, *words, "-fsampler-scheme=scalar-pairs", source)
            for report in self.folder.glob("of.*"):
                report.unlink()
            self.run_reported(program, SAMPLER_SPARSITY="1", SAMPLER_FILE=str(self.path("of.%p")))
            found = set()
            for report in self.folder.glob("of.*"):
                rows = [line.split("\t") for line in resolved(report, program)]
                found |= {tuple(row[-3:]) for row in rows if "value" in row and "other" in row}
            self.assertEqual(found, {("6", "2", "297"), ("3", "0", "0")})

    def test_compared_constants_are_those_of_the_unit(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/constants.c"))
        program = build(self.path("p"), NEWEST, "-fno-sample", "-fcompare-constants", "-fsampler-scheme=scalar-pairs",
                        source)
        self.run_reported(program)
        found = {tuple(line.split("\t")[4:][i] for i in (0, 3, 5, 6, 7)) for line in resolved(self.report, program)}
        self.assertEqual({row for row in found if row[0] == "x"},
                         {("x", f"{n}LL", *("100" if n > 7 else "010" if n == 7 else "001")) for n in (0, 1, 3, 7, 32)})
        self.assertIn(("y", "3ULL", "0", "1", "0"), found)

    def test_functions_that_nobody_calls(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/uncalled.c"))
        for release in RELEASES:
            for level in ("-O0", "-O1", "-O2"):
                for scheme in ("branches", "function-entries"):
                    with self.subTest(release=release, level=level, scheme=scheme):
                        program = build(self.path("p"), release, level, f"-fsampler-scheme={scheme}", source)
                        self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").returncode, 0)
                        self.assertEqual({line.split("\t")[3] for line in resolved(self.report, program)} - {"main"},
                                         {"even", "odd", "sum"} | ({"same"} if scheme == "function-entries" else set()))

    def test_filters_and_pragmas(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/excluded.c"))

        def sites(*flags):
            table = build(self.path("a.o"), NEWEST, "-c", "-fsampler-scheme=branches", *flags, source)
            return {(row[2], int(row[1])) for rows in site_tables(table).values() for row in rows}

        self.assertEqual(sites(), {("loud", 3), ("main", 5), ("main", 7)})
        self.assertEqual(sites("-fexclude-function=main"), {("loud", 3)})
        self.assertEqual(sites("-finclude-function=main", "-fexclude-function=*"), {("main", 5), ("main", 7)})
        self.assertEqual(sites(f"-fexclude-location={source}:5"), {("loud", 3), ("main", 7)})
        self.assertEqual(sites(f"-finclude-location={source}:5", f"-fexclude-file={source}"), {("main", 5)})

    def test_sites_of_functions_have_no_place_to_exclude(self):
        """docs/sampler-guide.md, "Schemes": function-entries, and float-kinds of formals."""
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/float_formal.c"))

        def sites(*flags):
            table = build(self.path("a.o"), NEWEST, "-c", "-fsampler-scheme=function-entries,float-kinds,coverage", *flags, source)
            return sorted((scheme, *row[4:5]) for (_, scheme), rows in site_tables(table).items() for row in rows)

        kept = [("float-kinds", "a"), ("function-entries",)]
        self.assertIn(("float-kinds", "b"), sites())
        for flag in ("-fexclude-file=*", f"-fexclude-file={source}", f"-fexclude-location={source}:*"):
            self.assertEqual(sites(flag), kept, flag)
        self.assertEqual(sites("-fexclude-function=f"), [])


class Objects(SamplerCase):
    def test_references_of_real_objects(self):
        """With libgobject itself, which complains about pointers that are not objects, and continues."""
        library = pathlib.Path(f"/usr/lib/{os.uname().machine}-linux-gnu/libgobject-2.0.so.0")
        self.assertTrue(library.exists(), "libglib2.0-0 is not there: ./dev setup")
        for release, cxx in zip(RELEASES, (False, True)):
            program = build(self.path("p"), release, "-O2", "-fno-sample", "-fsampler-scheme=g-object-unref",
                            *(["-x", "c++"] if cxx else []), PROGRAMS / "gobject.c", "-x", "none", library, cxx=cxx)
            done = self.run_reported(program)
            self.assertEqual(done.returncode, 0)
            self.assertIn("g_object_unref", done.stderr)
            rows = {line.split("\t")[4]: [int(n) for n in line.split("\t")[5:]] for line in resolved(self.report, program)}
            nothing = "NULL" if cxx else "(void *)0"
            self.assertEqual(rows, {"other": [0, 1, 3, 0], "held": [0, 0, 1, 0], "object": [0, 1, 0, 0], nothing: [0, 0, 0, 1]})


class Sampling(SamplerCase):
    def test_fixed_takes_every_nth(self):
        program = build(self.path("p"), NEWEST, "-O1", "-fsampler-random=fixed", "-fsampler-scheme=function-entries",
                        PROGRAMS / "schemes.c")
        self.run_reported(program, SAMPLER_SPARSITY="4")
        self.assertEqual(sum(int(row[0]) for _, rows in samples(self.report) for row in rows), 14 // 4)

    def test_offline_follows_the_bank(self):
        bank = self.path("bank")
        bank.write_bytes(b"".join((3).to_bytes(4, "little") for _ in range(1021)))
        program = build(self.path("p"), NEWEST, "-O1", "-fsampler-random=offline", "-fsampler-scheme=function-entries",
                        PROGRAMS / "schemes.c")
        self.run_reported(program, SAMPLER_EVENT_COUNTDOWNS=str(bank))
        self.assertEqual(sum(int(row[0]) for _, rows in samples(self.report) for row in rows), 14 // 3)
        self.run_reported(program)
        self.assertEqual(sum(int(row[0]) for _, rows in samples(self.report) for row in rows), 0)

    def test_nothing_asked_nothing_done(self):
        program = build(self.path("p"), NEWEST, "-O1", *BASIC, PROGRAMS / "schemes.c")
        done = run(program, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(os.listdir(self.folder), ["p"])
        self.run_reported(program)
        self.assertEqual(sum(int(n) for _, rows in samples(self.report) for row in rows for n in row), 0)
        self.assertIn("is not a number", self.run_reported(program, SAMPLER_SPARSITY="many").stderr)

    def test_inline_functions_of_several_units(self):
        """The linker keeps one unit's copy; where another unit's was inlined, its data must still exist."""
        sources = [PROGRAMS / "cases" / name for name in ("count_a.cc", "count_b.cc")]
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                for words in ((), ("-fno-inline",)):
                    program = build(self.path("p"), release, level, "-fsampler-scheme=branches", *words, *sources, cxx=True)
                    self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="100", SAMPLER_SEED="1").returncode, 0)

    def test_timestamps(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/timestamps.c"))
        for release in RELEASES:
            program = build(self.path("p"), release, "-fno-sample", "-ftimestamp-first", "-ftimestamp-last",
                            "-fsampler-scheme=function-entries", source)
            self.run_reported(program)
            stamps = tables(self.report.read_text(), "timestamps")
            self.assertEqual([(key[2], [row[0] for row in rows]) for key, rows in stamps],
                             [("first", ["2", "0", "1"]), ("last", ["4", "0", "1"])])


class Runtime(SamplerCase):
    SIGNALS = {"segv": signal.SIGSEGV, "fpe": signal.SIGFPE, "abort": signal.SIGABRT, "stack": signal.SIGSEGV,
               "bus": signal.SIGBUS, "trap": signal.SIGILL, "term": signal.SIGTERM, "int": signal.SIGINT,
               "hup": signal.SIGHUP, "quit": signal.SIGQUIT, "pipe": signal.SIGPIPE, "sys": signal.SIGSYS,
               "xcpu": signal.SIGXCPU, "xfsz": signal.SIGXFSZ}

    def test_fatal_signals(self):
        program = build(self.path("p"), NEWEST, "-O0", "-g", "-rdynamic", "-fno-sample", "-pthread", *BASIC,
                        PROGRAMS / "crash.c")
        for how, number in self.SIGNALS.items():
            with self.subTest(how=how):
                done = self.run_reported(program, how)
                self.assertEqual(done.returncode, -number)
                names, bodies = zip(*self.subreports())
                self.assertEqual(names, ("samples", "main-backtrace"))
                counted = {tuple(line.split("\t")[1:5:3]): line.split("\t")[-2:] for line in
                           resolved(self.report, program) if line.startswith("branches")}
                self.assertEqual(counted[("crash.c", f'strcmp(how, "{how}") == 0')], ["0", "1"])
                if how != "stack":
                    self.assertIn("(main+0x", bodies[1])
                for line in bodies[1].splitlines():
                    self.assertRegex(line, r"^\S+(\(\S*\))? ?\[0x[0-9a-f]+\]$")

    def test_own_handlers_and_threads(self):
        for sampling in ("-fno-sample", "-fsample"):
            program = build(self.path("p"), NEWEST, sampling, "-pthread", *BASIC, PROGRAMS / "crash.c")
            done = self.run_reported(program, "segv", "own", SAMPLER_SPARSITY="1")
            self.assertEqual((done.returncode, done.stdout), (42, "own handler\n"))
            done = self.run_reported(program, "segv", "thread", SAMPLER_SPARSITY="1")
            self.assertEqual(done.returncode, -signal.SIGSEGV)
            self.assertEqual([name for name, _ in self.subreports()], ["samples", "main-backtrace"])

    def test_ends_and_children(self):
        program = build(self.path("p"), NEWEST, "-fno-sample", "-pthread", *BASIC, PROGRAMS / "crash.c")
        self.assertEqual(self.run_reported(program, "exit").returncode, 7)
        self.assertEqual([name for name, _ in self.subreports()], ["samples"])
        self.run_reported(program, "fork")
        self.assertEqual([name for name, _ in self.subreports()], ["samples"])  # the parent's alone
        run(program, "fork", env={"SAMPLER_FILE": str(self.path("of.%p"))})
        reports = sorted(self.folder.glob("of.*"))
        self.assertEqual(len(reports), 2)
        for report in reports:
            self.assertIn('<report id="samples">', report.read_text())
        self.assertEqual(self.run_reported(program, "exec").returncode, 0)

    def test_descriptor(self):
        program = build(self.path("p"), NEWEST, "-fno-sample", "-fsampler-scheme=function-entries",
                        PROGRAMS / "schemes.c")
        reading, writing = os.pipe()
        done = subprocess.run([program], env={"SAMPLER_REPORT_FD": str(writing), "SAMPLER_FILE": str(self.report)},
                              pass_fds=[writing], timeout=20, check=True)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            text = pipe.read()
        self.assertEqual(done.returncode, 0)
        self.assertTrue(text.startswith('<report id="samples">\n') and text.endswith("</report>\n"))
        self.assertFalse(self.report.exists())

    def test_threads_lose_no_count(self):
        for release in RELEASES:
            program = build(self.path("p"), release, "-O2", "-fno-sample", "-pthread", "-fsampler-scheme=branches",
                            PROGRAMS / "threads.c")
            self.run_reported(program)
            counts = [line.split("\t")[4:] for line in resolved(self.report, program)]
            self.assertIn(["i % 10 == 0", "900000", "100000"], counts)
            self.assertIn(["i < 500000", "2", "1000000"], counts)

    def test_plugins_come_and_go(self):
        module = build(self.path("module.so"), NEWEST, "-fno-sample", "-shared", "-fPIC", *BASIC, PROGRAMS / "module.c")
        shared = build(self.path("libshared.so"), NEWEST, "-fno-sample", "-shared", "-fPIC", *BASIC,
                       PROGRAMS / "shared.c")
        host = build(self.path("host"), NEWEST, "-fno-sample", *BASIC, PROGRAMS / "host.c", shared, f"-Wl,-rpath,{self.folder}")
        self.assertEqual(self.run_reported(host, "3", module).stdout, "")
        of_module = {key[0] for key in site_tables(module)}
        counters = [rows for key, rows in samples(self.report) if key[0] in of_module and key[1] == "branches"]
        self.assertEqual(counters, [[["2", "1"]], [["2", "0"]], [["1", "0"]]])
        lines = resolved(self.report, module, shared, host)
        self.assertIn("branches\tshared.c\t  2\tshared_answer\tn > 2\t0\t1", lines)
        self.assertIn("branches\thost.c\t 12\tmain\ti > 0\t1\t3", lines)


class Sections(SamplerCase):
    def test_sections_survive_and_vanish(self):
        for release in RELEASES:
            objects = []
            for name in ("module", "shared"):
                objects.append(build(self.path(f"{name}.o"), release, "-c", "-O2", "-ffunction-sections", *BASIC,
                                     PROGRAMS / f"{name}.c"))
            main = self.path("main.c")
            main.write_text(program_text("sampler/cases/calls_module.c"))
            together = build(self.path("both.o"), release, "-r", *objects)
            program = build(self.path("p"), release, "-Wl,--gc-sections", *BASIC, main, together)
            expected = site_tables(*objects)
            self.assertEqual({k: v for k, v in site_tables(program).items() if k in expected}, expected)
            self.assertTrue(section(program, ".debug_sampler_cfg").startswith(b"*\t0.1\n"))
            subprocess.run(["strip", program], check=True)
            self.assertIsNone(section(program, ".debug_site_info"))
            self.assertIsNone(section(program, ".debug_sampler_cfg"))
            self.assertEqual(self.run_reported(program).returncode, 0)
            self.assertTrue(samples(self.report))

    def test_lto(self):
        for release in RELEASES:
            if not pathlib.Path(f"/usr/bin/ld.lld-{release}").exists():
                continue
            for kind in ("-flto", "-flto=thin"):
                for sampling in ("-fno-sample", "-fsample"):
                    # Compiled and linked at once, and in two steps.
                    words = ("-O2", kind, sampling, *ALL, "-std=c11")
                    build(self.path("p.o"), release, "-c", *words, PROGRAMS / "schemes.c")
                    for given in (PROGRAMS / "schemes.c", self.path("p.o")):
                        program = build(self.path("p"), release, *words, f"--ld-path=/usr/bin/ld.lld-{release}", given)
                        self.run_reported(program, SAMPLER_SPARSITY="1")
                        expected = (PROGRAMS / "schemes.c.expected").read_text().splitlines()
                        self.assertEqual([mask(line) for line in resolved(self.report, program)], expected)

    def test_static_program(self):
        program = build(self.path("p"), NEWEST, "-static", "-fno-sample", *BASIC, PROGRAMS / "module.c", "-x", "c",
                        PROGRAMS / "threads.c")
        self.assertEqual(self.run_reported(program).returncode, 0)
        self.assertTrue(samples(self.report))

    def test_resolvers_of_ifuncs_run_before_everything(self):
        for release in RELEASES:
            for words in ((), ("-fthreads",), ("-fno-sample-regions",), ("-fsampler-runtime=shared",), ("-static",)):
                with self.subTest(release=release, words=words):
                    program = build(self.path("p"), release, "-O1", "-fsampler-scheme=branches", *words, PROGRAMS / "resolver.c")
                    self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="2", SAMPLER_SEED="1").returncode, 0)
                    (seen,) = [line.split("\t") for line in resolved(self.report, program) if "i < 1000" in line]
                    # A binomial distribution over 1,000: five standard deviations; the seed is fixed.
                    self.assertLess(abs(int(seen[-1]) - 500), 80)

    def test_signature_tells_units_apart(self):
        def unit(*words):
            return {key[0] for key in site_tables(build(self.path("a.o"), NEWEST, "-c", *BASIC, *words))}

        source = PROGRAMS / "module.c"
        first = unit(source)
        self.assertEqual(unit(source), first)
        self.assertNotEqual(unit("-DMORE=1", source), first)
        self.assertNotEqual(unit(PROGRAMS / "shared.c"), first)
        self.assertRegex(first.pop(), r"^[0-9a-f]{32}$")

    def test_graph_numbers_are_those_of_the_sites(self):
        program = build(self.path("p"), NEWEST, "-c", *ALL, PROGRAMS / "schemes.c")
        text = section(program, ".debug_sampler_cfg").decode()
        lines = text.split("\n")
        self.assertEqual(lines[0], "*\t0.1")
        nodes = {}
        at = 3
        while lines[at]:
            name = lines[at].split("\t")[1]
            at += 1
            nodes[name] = []
            while lines[at]:
                nodes[name].append((lines[at], [int(n) for n in lines[at + 1].split("\t") if n]))
                at += 3
            at += 1
        for rows in site_tables(program).values():
            for row in rows:
                self.assertEqual(nodes[row[2]][int(row[3])][0], f"{row[0]}\t{row[1]}")
        for body in nodes.values():
            for _, successors in body:
                self.assertEqual(successors, sorted(successors, reverse=True))
                self.assertTrue(all(0 <= n < len(body) for n in successors))


class Driver(SamplerCase):
    def test_steps_of_a_build(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/includes_a.c"))
        self.path("a.h").write_text("#define ZERO 0\n")
        scheme = "-fsampler-scheme=branches"
        preprocessed = compile_with(NEWEST, scheme, "-E", source)
        self.assertIn("argc > 0", preprocessed.stdout)
        done = compile_with(NEWEST, scheme, "-O2", "-c", "-MD", "-MF", self.path("a.d"), "-o", self.path("a.o"), source)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("a.h", self.path("a.d").read_text())
        assembly = build(self.path("a.s"), NEWEST, "-S", scheme, source).read_text()
        self.assertIn("debug_site_info", assembly)
        words = self.path("words")
        words.write_text(f'-O1 {scheme} "-L{self.path("a b")}"\n-o {self.path("p")} {self.path("a.s")}')
        done = compile_with(NEWEST, f"@{words}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.run_reported(self.path("p")).returncode, 0)
        self.assertEqual(len(samples(self.report)), 1)
        # The flags are optional when linking; a build without schemes is clang's own.
        done = compile_with(NEWEST, self.path("a.o"), "-o", self.path("q"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.run_reported(self.path("q")).returncode, 0)
        plain = build(self.path("r"), NEWEST, source)
        self.assertIsNone(section(plain, ".debug_site_info"))
        self.assertNotIn(b"libtelltale_sampler", plain.read_bytes())
        self.assertIn("clang version", compile_with(NEWEST, "--version").stdout)

    def test_plugin_alone(self):
        for release in RELEASES:
            plugin = PLUGINS / f"telltale-sampler-clang-{release}.so"
            for more in ((), (f"-fpass-plugin={plugin}",)):
                done = run(f"clang-{release}", f"-fplugin={plugin}", *more, "-fplugin-arg-sampler-fsampler-scheme=branches",
                           "-c", PROGRAMS / "module.c", "-o", self.path("m.o"))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                (rows,) = site_tables(self.path("m.o")).values()
                self.assertEqual([row[4:] for row in rows], [["n > 1"]])

    def test_what_is_not_there_is_refused_by_name(self):
        for word, named in (("-fsampler-scheme=nonsense", "'nonsense'"),
                            ("-fsampler-random=never", "'never'"), ("-fexclude-location=a:x", "'a:x'")):
            done = compile_with(NEWEST, word, "-c", PROGRAMS / "module.c", "-o", self.path("m.o"))
            self.assertEqual(done.returncode, 1, word)
            self.assertIn(named, done.stderr)
            self.assertFalse(self.path("m.o").exists())

    def test_statistics(self):
        done = compile_with(NEWEST, "-O1", "-fshow-stats", *BASIC, "-c", PROGRAMS / "schemes.c", "-o", self.path("a.o"))
        rows = {key[1]: len(rows) for key, rows in site_tables(self.path("a.o")).items()}
        self.assertIn(f"scalar-pairs {rows['scalar-pairs']} branches {rows['branches']} returns {rows['returns']};",
                      done.stderr)
        self.assertRegex(done.stderr, r"; functions [1-9]\d*, of them without copies 0; regions [1-9]\d*, of them without sites \d+, with one \d+")

    def test_generic_code_is_cloned_for_its_variant_only(self):
        """Regions: the entry and the loops of main, and in each variant the entry and the loop that its constant selects."""
        words = ("-O2", "-fsampler-scheme=branches", "-fsampler-scheme=returns", PROGRAMS / "variants.c", "-o")
        self.run_reported(build(self.path("exact"), NEWEST, "-fno-sample", *words[:-1]))
        exact = [rows for _, rows in samples(self.report)]
        for release in RELEASES:
            done = compile_with(release, "-fshow-stats", *words, self.path("variants"))
            self.assertIn("; functions 3, of them without copies 0; regions 8,", done.stderr)
            self.assertEqual(self.run_reported(self.path("variants"), SAMPLER_SPARSITY="1").stdout, "39 -30\n")
            self.assertEqual([rows for _, rows in samples(self.report)], exact)

    def test_what_can_be_cloned(self):
        """Constants that the C library's headers ask for, tables of labels that are not constant, and assembly without a named label."""
        self.run_reported(build(self.path("exact"), NEWEST, "-O1", "-fno-sample", *BASIC, PROGRAMS / "can_be_cloned.c"))
        exact = [rows for _, rows in samples(self.report)]
        for release in RELEASES:
            for level in ("-O0", "-O1", "-O2"):
                for mode in ((), ("-fsampler-adaptive",)):
                    program = self.path("program")
                    done = compile_with(release, level, "-fshow-stats", *BASIC, *mode, PROGRAMS / "can_be_cloned.c", "-o", program)
                    with self.subTest(release=release, level=level, mode=mode):
                        self.assertIn("; functions 6, of them without copies 0;", done.stderr)
                        done = self.run_reported(program, SAMPLER_SPARSITY="1")
                        self.assertEqual(done.stdout, "4 8 10 20 10 0\n")
                        # What is observed first follows.
                        self.assertEqual([rows for _, rows in samples(self.report)][:len(exact)], exact)
                        symbols = run("nm", "-j", program).stdout.split()
                        self.assertIn("interpret.asking", symbols)
                        self.assertNotIn("patch.asking", symbols)
                        done = compile_with(release, level, "-fshow-stats", *BASIC, *mode, PROGRAMS / "named_label.c", "-o", program)
                        self.assertIn("; functions 2, of them without copies 1;", done.stderr)
                        self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").stdout, "8\n")

    def test_constants_that_programs_insist_on(self):
        """A call of a function that does not exist stays if a copy does not know its constant."""
        for release in RELEASES:
            for mode in (("-DSAMPLED",), ("-DSAMPLED", "-fsampler-adaptive"), ("-fno-sample",), ("-fno-sample-regions",)):
                with self.subTest(release=release, mode=mode):
                    program = build(self.path("program"), release, "-O2", *BASIC, *mode, PROGRAMS / "insists_on_constants.c")
                    self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY="1").stdout, "51 late\n")


if __name__ == "__main__":
    unittest.main()
