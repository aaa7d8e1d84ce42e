"""TELLTALE_PATHS: what a traced program writes when it crashes, read by telltale, gdb and readelf."""
import csv
import io
import itertools
import json
import os
import platform
import re
import signal
import stat
import unittest

import crash_case
from core_files import crash
from program_text import program_text
from sampler_programs import RELEASES, SOURCE_DIR, build, run
from test_paths import TELLTALE, lines_of, paths, traced_frames

SOURCE = SOURCE_DIR / "tests/programs/csi/crash_ways.c"
STACKS = SOURCE_DIR / "tests/programs/csi/cases/stacks.c"
MAPPED = SOURCE_DIR / "tests/programs/csi/cases/mapped_to_read.c"
POISONED = SOURCE_DIR / "tests/programs/csi/cases/poisoned_stack.c"


def line(text, source=SOURCE):
    return crash_case.line(text, source)


class CrashPaths(crash_case.CrashCase):
    def setUp(self):
        super().setUp()
        self.program = build(self.path("crash_ways"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O1", "-pthread", SOURCE)

    def crash(self, how, program=None, **environment):
        return super().crash(how, program or self.program, **environment)

    def check_parse(self, frame):
        """The frame of parse("12-") or parse("31-"), stopped in its call of end()."""
        self.assertEqual((frame["function"], frame["line"], frame["complete_history"]), ("parse", line("end(how, value);"), True))
        self.assertEqual(len(frame["paths"]), 2)
        for path in frame["paths"]:
            self.assertIn(line("value = value * 10"), lines_of(path["blocks"]))
        self.assertIn(line("end(how, value);"), lines_of(frame["partial"]["blocks"]))
        self.assertNotIn(line("value = value * 10"), lines_of(frame["partial"]["blocks"]))

    def test_a_link_that_is_not_told_of_tracing(self):
        """Build systems may pass options of the compiler to compilations only."""
        for release in RELEASES:
            built = build(self.path("crash_ways.o"), release, "--trace=pt.schema", "-silent", "-O1", "-pthread", "-c", SOURCE)
            archive = self.path("crash_ways.a")
            self.assertEqual(run("ar", "rcs", archive, built).returncode, 0)
            plain = build(self.path("plain.o"), release, "-O1", "-c", SOURCE)
            for file, is_traced in ((built, True), (archive, True), (plain, False)):
                with self.subTest(release=release, file=file):
                    self.crash("fault", build(self.path("linked"), release, "-pthread", "-Wl,-u,main", file))
                    self.assertEqual(self.file.exists(), is_traced)

    def test_a_fault(self):
        self.assertEqual(self.crash("fault").returncode, -signal.SIGSEGV)
        document = paths(self.file, "--program", self.program)
        self.assertEqual(document["stopped_by"], "signal 11 (Segmentation fault)")
        frames = traced_frames(document)
        self.assertEqual([frame["function"] for frame in frames], ["end", "parse", "main"])
        self.check_parse(frames[1])
        # main's path has all comparisons of its argument, and ends at the last call.
        self.assertIn(line('"none"'), lines_of(frames[2]["partial"]["blocks"]))
        self.assertLess(self.file.stat().st_size, 12_000)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)

    def test_memory_sanitizer_does_not_look_at_the_runtimes_own_variables(self):
        """They are where the program's uninitialized ones were."""
        for release, level in itertools.product(RELEASES, ("-O0", "-O2")):
            with self.subTest(release=release, level=level):
                program = build(self.path("poisoned"), release, "--trace=pt.schema", "-silent", "-fsampler-scheme=branches", "-fno-sample", "-g",
                                level, "-fsanitize=memory", POISONED)
                for arguments, status in (((), 0), (("reads",), 1)):
                    report = self.path("report")
                    done = run(program, *arguments, env={"TELLTALE_PATHS": str(self.file), "TELLTALE_PATHS_AT_EXIT": "1",
                                                         "SAMPLER_FILE": str(report), "SAMPLER_VERBOSE": "1"}, cwd=self.folder)
                    self.assertEqual((done.returncode, done.stderr.count("WARNING: MemorySanitizer")), (status, status), done.stderr)
                    self.assertTrue(report.read_text().endswith("</report>\n"), report.read_text())
                    frames = paths(self.file, "--program", program)["threads"][0]["frames"]
                    self.assertIn("main", [frame["function"] for frame in frames])
                    report.unlink()
                    self.file.unlink()

    def test_code_of_sanitizers_belongs_to_the_blocks_that_it_splits(self):
        for release in RELEASES:
            for level in ("-O0", "-O1", "-O2"):
                for sanitizer in ("address", "memory", "undefined", "thread"):
                    with self.subTest(release=release, level=level, sanitizer=sanitizer):
                        program = build(self.path("sanitized"), release, "--trace=pt.schema", "-silent", level, "-pthread",
                                        f"-fsanitize={sanitizer}", SOURCE)
                        self.assertNotEqual(self.crash("fault", program, ASAN_OPTIONS="detect_leaks=0").returncode, 0)
                        frames = {frame["function"]: frame for frame in traced_frames(paths(self.file, "--program", program))}
                        for name in ("parse", "main"):
                            self.assertEqual((frames[name]["found_by"], frames[name]["other_readings"]), ("position", []), name)
                        self.check_parse(frames["parse"])

    def test_deaths_of_unusual_processes(self):
        source = STACKS.with_name("unusual_deaths.c")
        program = build(self.path("unusual"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O1", "-pthread", source)
        for how, files in (("main has ended", 1), ("signals are blocked", 1), ("a child has crashed", 2), ("files are limited", 0)):
            with self.subTest(how):
                for file in self.folder.glob("*.core"):
                    file.unlink()
                done = run(program, how, env={"TELLTALE_PATHS": str(self.path("%p.core"))})
                self.assertEqual(done.returncode, -signal.SIGSEGV)
                found = list(self.folder.glob("*.core*"))
                self.assertEqual(len(found), files, found)
                for file in found:
                    frame = traced_frames(paths(file, "--program", program))[0]
                    self.assertEqual((frame["function"], frame["line"]), ("crash", line("*(volatile int *)0", source)))
                    self.assertTrue(frame["complete_history"])

    def build_stacks(self, release, *words):
        return build(self.path("stacks"), release, "-silent", *words, STACKS, STACKS.with_name("without_unwind_table.S"))

    def stack_of(self, how, program):
        """The frames of the program, and what coverage says of after()."""
        self.assertLess(self.crash(str(how), program).returncode, 0)
        coverage = json.loads(run(TELLTALE, "coverage", self.file, "--program", program, "--json").stdout)
        ran = next(function["ran"] for function in coverage["functions"] if function["function"] == "after")
        frames = paths(self.file, "--program", program)["threads"][0]["frames"]
        return [frame for frame in frames if frame["module"] in (str(program), None) and frame["function"] != "_start"], ran

    @unittest.skipUnless(platform.machine() == "x86_64", "return addresses are elsewhere")
    def test_a_call_of_an_address_without_code(self):
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                for schema in ("pt.schema", "bb.schema"):
                    with self.subTest(release=release, level=level, schema=schema):
                        frames, after = self.stack_of(1, self.build_stacks(release, f"--trace={schema}", level))
                        self.assertEqual([frame["function"] for frame in frames], ["@0x10", "call_nowhere", "main"])
                        self.assertEqual(frames[1]["line"], line("nowhere();", STACKS))
                        self.assertFalse(any(frame["may_lack_caller"] for frame in frames))
                        self.assertNotEqual(after, "yes")

    @unittest.skipUnless(platform.machine() == "x86_64", "the assembly is for x86-64")
    def test_assembly_without_an_unwind_table(self):
        for release in RELEASES:
            with self.subTest(release=release):
                program = self.build_stacks(release, "--trace=bb.schema", "-O0")
                frames, after = self.stack_of(2, program)
                self.assertEqual({frame["function"] for frame in frames if frame["may_lack_caller"]}, {"without_unwind_table"})
                self.assertEqual(after, "maybe")  # its caller's frame was not found
                text = run(TELLTALE, "paths", self.file, "--program", program).stdout
                self.assertEqual(text.count("it has no unwind table: the frame of its caller may be missing"), 1)

    def test_the_stack_protector_sees_what_it_sees_without_path_tracing(self):
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                for schema in ("pt.schema", "bb.schema", "all.schema"):
                    program = self.build_stacks(release, f"--trace={schema}", level, "-fstack-protector-strong")
                    for size in (25, 40, 100, 200):
                        with self.subTest(release=release, level=level, schema=schema, size=size):
                            done = self.crash(str(size), program)
                            self.assertIn("stack smashing detected", done.stderr)
                            document = paths(self.file, "--program", program)
                            frames = document["threads"][0]["frames"]
                            frame = frames[1 + next(i for i, each in enumerate(frames) if each["function"] == "__stack_chk_fail")]
                            if schema != "bb.schema":
                                self.assertEqual((frame["function"], frame["line"]), ("overflow", line("the check comes after it", STACKS)))
                            coverage = json.loads(run(TELLTALE, "coverage", self.file, "--program", program, "--json").stdout)
                            overflow = next(each for each in coverage["functions"] if each["function"] == "overflow")
                            last = line("last line of", STACKS)
                            self.assertEqual({each["ran"] for each in overflow["lines"] if each["line"] == last}, {"yes"})

    def test_abort_and_a_sent_signal(self):
        for how, number in (("abort", signal.SIGABRT), ("kill", signal.SIGQUIT)):
            with self.subTest(how):
                self.assertEqual(self.crash(how).returncode, -number)
                frames = traced_frames(paths(self.file, "--program", self.program))
                self.check_parse(next(frame for frame in frames if frame["function"] == "parse"))

    def test_all_threads(self):
        self.assertEqual(self.crash("thread").returncode, -signal.SIGSEGV)
        document = paths(self.file, "--program", self.program)
        self.assertEqual(len(document["threads"]), 3)
        self.assertEqual([frame["function"] for frame in traced_frames(document)], ["end", "parse"])
        self.check_parse(traced_frames(document)[1])
        others = {frame["function"]: frame for thread in (1, 2) for frame in traced_frames(document, thread)}
        self.assertEqual(set(others), {"main", "wait_for_ever"})
        # The third turn of the loop waits.
        self.assertEqual(others["wait_for_ever"]["complete_history"], True)
        self.assertEqual(len(others["wait_for_ever"]["paths"]), 2)
        self.assertIn(line("is_waiting = 1;"), lines_of(others["wait_for_ever"]["partial"]["blocks"]))

    def test_a_thread_that_has_given_its_signal_stack_back(self):
        self.assertEqual(self.crash("ending-thread").returncode, -signal.SIGSEGV)
        document = paths(self.file, "--program", self.program)
        self.assertEqual([frame["function"] for frame in traced_frames(document)], ["end", "parse"])

    def test_stacks_that_overflow(self):
        for how in ("overflow", "overflow-in-thread"):
            with self.subTest(how):
                self.assertEqual(self.crash(how).returncode, -signal.SIGSEGV)
                done = run(TELLTALE, "paths", self.file, "--program", self.program)
                self.assertEqual(done.returncode, 0, done.stderr)
                frames = re.findall(r"^#\d+ +recurse at crash_ways.c", done.stdout, re.M)
                self.assertGreater(len(frames), 100)
                self.assertIn("no further frames: the core file has no memory at", done.stdout)
                self.assertLess(self.file.stat().st_size, 190_000)

    def test_a_deep_frame_and_one_without_variables(self):
        source = SOURCE_DIR / "tests/programs/csi/deep_frames.c"
        text = source.read_text().splitlines()
        number = {word: next(n for n, each in enumerate(text, 1) if f"// {word}" in each) for word in ("the crash", "many", "few", "sums")}
        for release in RELEASES:
            for words in ((), ("-g0",)):
                with self.subTest(release=release, words=words):
                    program = build(self.path("deep"), release, "--trace=pt.schema", "-silent", "-O2", *words, source)
                    self.assertLess(self.crash("", program).returncode, 0)
                    deep, either, main = traced_frames(paths(self.file, "--program", program))
                    self.assertEqual([frame["function"] for frame in (deep, either, main)], ["deep", "either", "main"])
                    self.assertEqual([frame["complete_history"] for frame in (deep, either, main)], [True] * 3)
                    # Two calls of shallow(), and one that goes on.
                    self.assertEqual(sum(path["times"] for path in main["paths"]), 2)
                    if words:
                        continue
                    self.assertIn(number["the crash"], lines_of(deep["partial"]["blocks"]))
                    self.assertIn(number["many"], lines_of(either["partial"]["blocks"]))
                    self.assertNotIn(number["few"], lines_of(either["partial"]["blocks"]))

    def test_a_static_program(self):
        program = build(self.path("static"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O1", "-static", "-pthread", SOURCE)
        self.assertEqual(self.crash("fault", program).returncode, -signal.SIGSEGV)
        frames = traced_frames(paths(self.file, "--program", program))
        self.check_parse(frames[1])

    def test_debuggers_read_it(self):
        self.crash("thread")
        headers = run("readelf", "-lnW", self.file)
        self.assertEqual((headers.returncode, headers.stderr), (0, ""))
        self.assertEqual(headers.stdout.count("NT_PRSTATUS"), 3)
        for note in ("NT_PRPSINFO", "NT_SIGINFO", "NT_AUXV", "NT_FILE"):
            self.assertEqual(headers.stdout.count(note), 1, note)
        shown = run("gdb", "-q", "-batch", "-nx", "-ex", "thread apply all backtrace", "-ex", "frame function parse", "-ex", "print __PT_pathArr", "-ex", "print __PT_arrIndex",
                    self.program, self.file).stdout
        self.assertIn("Program terminated with signal SIGSEGV", shown)
        for function in ("end (", "parse (", "wait_for_ever (", "main ("):
            self.assertIn(function, shown)
        self.assertRegex(shown, r"\$1 = \{\d+, .*\}\n\$2 = \d+\n")

    def test_exit_and_the_end(self):
        """Only if asked for; the status is the program's."""
        self.assertEqual(self.crash("exit").returncode, 3)
        self.assertFalse(self.file.exists())
        self.assertEqual(self.crash("exit", TELLTALE_PATHS_AT_EXIT="1").returncode, 3)
        document = paths(self.file, "--program", self.program)
        self.assertIsNone(document["stopped_by"])
        names = [frame["function"] for thread in document["threads"] for frame in thread["frames"]]
        self.assertFalse([name for name in names if "telltale" in name], "frames of the handler")
        self.check_parse(next(frame for frame in traced_frames(document) if frame["function"] == "parse"))
        self.assertEqual(self.crash("none", TELLTALE_PATHS_AT_EXIT="1").returncode, 0)
        self.assertEqual(traced_frames(paths(self.file, "--program", self.program)), [])

    def test_the_programs_own_handler_replaces_it(self):
        done = self.crash("handled")
        self.assertEqual((done.returncode, done.stdout), (5, "own handler 11\n"))
        self.assertFalse(self.file.exists())

    def test_names(self):
        done = run(self.program, "fault", env={"TELLTALE_PATHS": "at-%p-100%%"}, cwd=self.folder)
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        (name,) = [path.name for path in self.folder.iterdir() if path.name.startswith("at-")]
        self.assertRegex(name, r"^at-\d+-100%$")
        # Neither a missing folder nor an empty name changes how the program ends.
        for pattern in (str(self.folder / "missing/paths"), "", "x" * 5000):
            with self.subTest(pattern[:20]):
                self.assertEqual(run(self.program, "fault", env={"TELLTALE_PATHS": pattern}, cwd=self.folder).returncode, -signal.SIGSEGV)

    def test_nothing_but_a_regular_file_is_replaced(self):
        os.mkfifo(self.path("pipe"))
        self.path("folder").mkdir()
        self.path("link").symlink_to("/dev/null")
        before = sorted(self.folder.iterdir())
        for name, why in (("pipe", "it is no regular file"), ("folder", "it is no regular file"), ("link", "it is no regular file"),
                          ("missing/paths", "files cannot be created in its folder")):
            with self.subTest(name):
                done = run(self.program, "fault", env={"TELLTALE_PATHS": name}, cwd=self.folder)
                self.assertEqual((done.returncode, done.stderr), (-signal.SIGSEGV,
                                 f"telltale: TELLTALE_PATHS: no file will be written to {self.path(name)}: {why}\n"))
                self.assertEqual(sorted(self.folder.iterdir()), before)
        self.assertTrue(self.path("pipe").is_fifo() and self.path("link").is_symlink())
        # Older files are replaced without a word.
        self.path("old").write_text("old")
        self.assertEqual(run(self.program, "fault", env={"TELLTALE_PATHS": "old"}, cwd=self.folder).stderr, "")
        self.assertEqual(self.path("old").read_bytes()[:4], b"\x7fELF")

    def test_ignored_signals_stay_ignored(self):
        done = run("sh", "-c", f"trap '' QUIT; {self.program} kill", env={"TELLTALE_PATHS": str(self.file)})
        self.assertIn(done.returncode, (128 + signal.SIGSEGV, -signal.SIGSEGV))  # raise() returns, the next line faults

    def test_coverage(self):
        program = build(self.path("covered"), RELEASES[-1], "--trace=all.schema", "-csi-opt=0", "-silent", "-O0", "-pthread", SOURCE)
        self.crash("fault", program)
        done = run(TELLTALE, "coverage", self.file, "--program", program, "--to", "csv")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        ran = {int(row["line"]): row["ran"] for row in csv.DictReader(io.StringIO(done.stdout))}
        self.assertEqual(ran[line("value = value * 10")], "yes")
        self.assertEqual(ran[line("sum = recurse(0);")], "no")
        self.assertLess(self.file.stat().st_size, 60_000)

    def test_coverage_of_libraries(self):
        """Libraries that are linked or loaded later, with and without dropped sections and link-time optimisation."""
        sources = SOURCE_DIR / "tests/programs/csi/libraries"
        coverage = ("--trace=bb.schema", "-csi-opt=0", "-silent", "-g", "-O1")
        sections = ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
        for release, options in ((RELEASES[0], ()), (RELEASES[-1], ()), (RELEASES[0], sections), (RELEASES[-1], sections),
                                 (RELEASES[0], ("-fuse-ld=lld", *sections)), (RELEASES[0], ("-fuse-ld=mold",)),
                                 (RELEASES[-1], ("-fuse-ld=mold", *sections)), (RELEASES[-1], ("-flto",))):
            with self.subTest(release=release, options=options):
                linked, loaded = (build(self.path(f"lib{name}.so"), release, *coverage, *options, "-shared", "-fPIC", f"-DNAME={name}",
                                        sources / "library.c") for name in ("linked", "loaded"))
                program = build(self.path("program"), release, *coverage, *options, sources / "main.c", linked, f"-Wl,-rpath,{self.folder}", "-ldl")
                self.assertEqual(self.crash(loaded, program).returncode, -signal.SIGABRT)
                done = run(TELLTALE, "coverage", self.file, "--program", program, "--to", "csv")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                ran = {(row["function"], row["ran"]) for row in csv.DictReader(io.StringIO(done.stdout))}
                self.assertIn(("unused_in_program", "no"), ran)
                for name in ("linked", "loaded"):
                    self.assertLessEqual({(f"used_{name}", "yes"), (f"unused_{name}", "no")}, ran)
                self.assertLess(self.file.stat().st_size, 25_000)

    def test_programs_that_map_their_own_files_for_reading(self):
        """Symbolizers and loaders of plugins do. Such a mapping, which may be below the loaded file, is not where code runs."""
        flags = ("--trace=all.schema", "-silent", "-O1")
        for release in RELEASES:
            library = build(self.path("libfail.so"), release, *flags, "-shared", "-fPIC", "-DLIBRARY", MAPPED)
            program = build(self.path("program"), release, *flags, MAPPED, library, f"-Wl,-rpath,{self.folder}")
            for mapped in ((), (library,), (program,), (library, program, library)):
                self.file.unlink(missing_ok=True)
                core = crash(self.path("core"), program, *mapped, env={"TELLTALE_PATHS": str(self.file)})
                for source in (self.file, core):
                    with self.subTest(release=release, mapped=[path.name for path in mapped], source=source.name):
                        fail_at, main = traced_frames(paths(source))
                        self.assertEqual((fail_at["function"], fail_at["line"]), ("fail_at", line("*(volatile int*)0 = count", MAPPED)))
                        self.assertEqual(sum(path["times"] for path in fail_at["paths"]), 4)
                        self.assertEqual((main["function"], main["line"]), ("main", line("fail_at(\"abcdef\", 'e')", MAPPED)))
                        coverage = json.loads(run(TELLTALE, "coverage", source, "--json").stdout)
                        self.assertEqual({each["function"]: each["ran"] for each in coverage["functions"]}, {"fail_at": "yes", "main": "yes"})

    def test_a_crash_before_main(self):
        source = SOURCE_DIR / "tests/programs/csi/cases/crash_before_main.cc"
        for release in RELEASES:
            program = build(self.path("program"), release, "--trace=pt.schema", "-silent", "-O0", source, cxx=True)
            self.assertEqual(self.crash("", program).returncode, -signal.SIGABRT)
            frame = traced_frames(paths(self.file, "--program", program))[0]
            self.assertEqual((frame["function"], frame["line"]), ("choose(int)", line("std::abort();", source)))

    def test_libraries_that_are_loaded_twice(self):
        """A library that was unloaded has lost its flags: it may have run. Each copy that dlmopen() loads has flags of its own."""
        source = SOURCE_DIR / "tests/programs/csi/cases/loaded_twice.c"
        for release in RELEASES:
            for schema in ("bb.schema", "cc_pt.schema"):
                flags = (f"--trace={schema}", "-silent", "-O0")
                library = build(self.path("library.so"), release, *flags, "-shared", "-fPIC", "-DLIBRARY", source)
                program = build(self.path("program"), release, *flags, source, "-ldl")
                for words in ((), ("copies",)):
                    with self.subTest(release=release, schema=schema, words=words):
                        core = crash(self.path("core"), program, library, *words)
                        functions = json.loads(run(TELLTALE, "coverage", core, "--json").stdout)["functions"]
                        told = next(each for each in functions if each["function"] == "run_once")
                        self.assertNotIn("no", {told["ran"], *(line["ran"] for line in told["lines"])})
                        if words and schema == "bb.schema":
                            self.assertEqual(told["ran"], "yes")

    def test_compressed_as_coredumpctl_keeps_them(self):
        self.crash("fault")
        self.assertEqual(run("zstd", "-q", self.file, "-o", self.path("core.zst")).returncode, 0)
        self.check_parse(traced_frames(paths(self.path("core.zst"), "--program", self.program))[1])

    def test_names_with_dots_of_their_own(self):
        source = SOURCE_DIR / "tests/programs/csi/dotted_names.cc"
        for release, level in itertools.product(RELEASES, ("-O0", "-O2")):
            with self.subTest(release=release, level=level):
                program = build(self.path("program"), release, "--trace=pt.schema", "-silent", level, source, cxx=True)
                self.crash("", program)
                names = re.findall(r"(?m)^#\d+ +(\S+)", run(TELLTALE, "paths", self.file, "--program", program).stdout)
                self.assertEqual(names[0], "walk.v.first_half")
                self.assertIn("_GLOBAL__sub_I_dotted_names.cc", names)

    def test_what_is_linked(self):
        """Programs get the handler; libraries, and programs without libc, do not."""
        self.assertTrue("telltale_paths_v1" in run("nm", self.program).stdout)
        library = build(self.path("lib.so"), RELEASES[-1], "--trace=pt.schema", "-silent", "-shared", "-fPIC", SOURCE)
        self.assertFalse("telltale_paths" in run("nm", library).stdout)
        bare = self.path("bare.c")
        bare.write_text(program_text("csi/cases/without_libc.c"))
        program = build(self.path("bare"), RELEASES[-1], "--trace=pt.schema", "-silent", "-nostdlib", "-static", bare)
        self.assertFalse("telltale_paths" in run("nm", program).stdout)


if __name__ == "__main__":
    unittest.main()
