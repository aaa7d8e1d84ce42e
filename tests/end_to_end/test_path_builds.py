"""Path tracing with all kinds of builds: link-time optimisation, comdat, sanitizers, coroutines; what is left out; variables as
a debugger reads them; and together with the Sampler."""
import collections
import itertools
import re
import shutil
import struct
import unittest

import debian_sources
from path_sections import Records, parse_entries
from program_text import program_text
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, compile_with, other_warnings, run, section

PROGRAMS = SOURCE_DIR / "tests/programs/csi"
DROPPED = PROGRAMS / "cases/dropped_function.c"
SHARED = (PROGRAMS / "shared_a.cc", PROGRAMS / "shared_b.cc")


def names_of(tags, debug):
    """Names of what readelf prints with one of these tags."""
    return set(re.findall(rf"(?m)\(DW_TAG_(?:{tags})\)\n(?: .*DW_AT_(?!name).*\n)*? .*DW_AT_name .*: (\S+)$", debug))


class Builds(SamplerCase):
    def trace(self, release, *words, cxx=False, error=""):
        # clang aborts if the instrumented code is invalid.
        done = compile_with(release, "--trace=pt.schema", "-fverify-intermediate-code", *words, "-o", self.path("program"), cxx=cxx)
        self.assertEqual((done.returncode, other_warnings(done)), (0, error), words)
        return self.path("program")

    def look_at(self, program):
        """How often each function has an entry. All records agree with one another."""
        entries = parse_entries(section(program, ".debug_PT"))
        records = Records(section(program, ".debug_telltale_paths"))
        recorded = [entries[offset] for offset, _ in records.functions.values()]
        for entry in entries.values():
            # Units that number the blocks of a static function alike share its record.
            self.assertTrue(any((entry.name, entry.lines, entry.edges) == (each.name, each.lines, each.edges) for each in recorded), entry.name)
        for key in {position.key for position in records.positions}:
            self.assertIn(key, records.functions)
        for position in records.positions:
            function = entries[records.functions[position.key][0]]
            self.assertIn(position.id, function.lines)
        for key, (offset, rows) in records.functions.items():
            self.assertIn(["symbol", entries[offset].name], rows)
        return collections.Counter(function.name for function in entries.values()), records

    def test_output_is_the_same_with_all_kinds_of_options(self):
        kinds = ["-O0", "-O2", "-Os", "-g0 -O2", "-O2 -fno-exceptions -std=c++23", "-O2 -static", "-O2 -mno-red-zone",
                 "-O1 -fsanitize=address,undefined", "-O0 -fsanitize=address", "-O2 -fcf-protection=full -fsanitize=safe-stack",
                 "-O2 -fno-integrated-as", "-O2 -masm=intel", "-O2 -fbasic-block-sections=all",
                 "-O2 -ffunction-sections -Wl,--gc-sections", "-O2 -fuse-ld=gold -Wl,--gc-sections"]
        for release in RELEASES:
            compile_with(release, *SHARED, "-o", self.path("plain"), cxx=True)
            expected = run(self.path("plain"))
            for number, kind in enumerate(kinds):
                # Each release builds half of them.
                if number % len(RELEASES) != RELEASES.index(release) and number > 1:
                    continue
                with self.subTest(release=release, kind=kind):
                    program = self.trace(release, *kind.split(), *SHARED, cxx=True)
                    done = run(program)
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, expected.stdout, ""))
                    self.look_at(program)

    @unittest.skipUnless(shutil.which("ld.gold"), "needs gold")
    def test_gold_drops_functions_that_have_no_block_map(self):
        for release in RELEASES:
            words = ("-O2", "-ffunction-sections", "-fuse-ld=gold", "-Wl,--gc-sections", DROPPED)
            names, _ = self.look_at(self.trace(release, "-fno-basic-block-address-map", *words))
            self.assertIn("main", names)
            self.assertEqual(run(self.path("program")).returncode, 3)

    def test_temporary_files_are_not_kept(self):
        for release in RELEASES:
            for word in ("-save-temps", "--save-temps=obj"):
                with self.subTest(release=release, word=word):
                    done = compile_with(release, "--trace=pt.schema", word, "-O2", DROPPED, "-o", self.path("program"))
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn("-save-temps is ignored", done.stderr)
                    self.assertIn("main", self.look_at(self.path("program"))[0])

    def test_functions_of_comdat_groups_have_one_entry_and_static_ones_two(self):
        for release in RELEASES:
            names, records = self.look_at(self.trace(release, "-O0", *SHARED, cxx=True))
            self.assertEqual(names, {"_Z6sharedi": 1, "_Z6largerIiET_S0_": 1, "_ZL4samei": 2, "_ZL9of_headeri": 2, "_Z5otheri": 1})
            files = sorted(row[1].rsplit("/", 1)[1] for _, rows in records.functions.values() for row in rows
                           if row[0] == "file" and ["symbol", "_ZL4samei"] in rows)
            self.assertEqual(files, ["shared_a.cc", "shared_b.cc"])
            self.assertEqual(len([row for row in records.skipped if row["reason"] == ["one block"]]), 1)

    def test_objects_can_be_linked_in_steps(self):
        for release in RELEASES:
            for source in SHARED:
                done = compile_with(release, "--trace=pt.schema", "-c", source, "-o", self.path(source.name + ".o"), cxx=True)
                self.assertEqual((done.returncode, other_warnings(done)), (0, ""))
            objects = [self.path(source.name + ".o") for source in SHARED]
            self.assertEqual(run("ld", "-r", *objects, "-o", self.path("both.o")).returncode, 0)
            names, _ = self.look_at(self.trace(release, self.path("both.o"), cxx=True))
            self.assertEqual(names, {"_Z6sharedi": 1, "_Z6largerIiET_S0_": 1, "_ZL4samei": 2, "_ZL9of_headeri": 2, "_Z5otheri": 1})

    @unittest.skipUnless(shutil.which("ld.lld-19"), "needs lld")
    def test_link_time_optimisation(self):
        for flags in ("-flto", "-flto=thin"):
            with self.subTest(flags=flags):
                program = self.trace("19", "-O1", flags, f"--ld-path={shutil.which('ld.lld-19')}", *SHARED, cxx=True)
                self.assertEqual(run(program).stdout, "27 6 1 2\n")
                names, records = self.look_at(program)
                self.assertIn("_Z5otheri", names)
                self.assertTrue(records.positions)

    def test_variants_with_link_time_optimisation(self):
        """LLVM's linkers crash on references to an ifunc of the same unit."""
        schema = self.path("variants.schema")
        schema.write_text("*;{};{FC};{PT}")
        linkers = [linker for linker in ("bfd", "gold") if shutil.which(f"ld.{linker}")]
        self.assertTrue(linkers)
        for release, linker, flags, style in itertools.product(RELEASES, linkers, ("-flto", "-flto=thin"), ("std", "ifunc")):
            with self.subTest(release=release, linker=linker, flags=flags, style=style):
                done = compile_with(release, f"--trace={schema}", f"--indirect-style={style}", "-O1", flags, f"-fuse-ld={linker}", PROGRAMS / "pointed_to.c",
                                    "-o", self.path("program"))
                self.assertEqual((done.returncode, other_warnings(done)), (0, ""))
                self.assertEqual(run(self.path("program")).stdout, "3 7\n")
                # Optimisation of the whole program leaves no symbol of it.
                if flags == "-flto=thin":
                    self.assertEqual("i larger\n" in run("nm", self.path("program")).stdout, style == "ifunc")

    def test_variables_have_one_place_after_link_time_optimisation(self):
        """Optimisers that run later must not declare a variable in a part of its function only."""
        try:
            sources = debian_sources.unpacked("bzip2")
        except debian_sources.NotThere as why:
            self.skipTest(str(why))
        files = [sources / f"{name}.c" for name in ("blocksort", "bzip2", "bzlib", "compress", "crctable", "decompress", "huffman", "randtable")]
        for release in RELEASES:
            with self.subTest(release=release):
                program = self.trace(release, "-silent", "-w", "-O2", "-flto", "-g", "-D_FILE_OFFSET_BITS=64", *files)
                described = run("readelf", "-W", "--debug-dump=info", program).stdout.split("(DW_TAG_")
                variables = [each for each in described if each.startswith("variable") and re.search(r"DW_AT_name.*__PT_", each)]
                self.assertGreater(len(variables), 30)
                self.assertEqual([each for each in variables if "location list" in each], [])

    def test_coroutines(self):
        for release in RELEASES:
            for level in ("-O0", "-O2"):
                with self.subTest(release=release, level=level):
                    program = self.trace(release, level, "-std=c++20", PROGRAMS / "coroutine.cc", cxx=True)
                    self.assertEqual(run(program).stdout, "184\n")
                    names, _ = self.look_at(program)
                    self.assertTrue(any("resume" in name for name in names) or level == "-O2", names)

    def test_variants_of_functions_that_are_always_inlined(self):
        """A recursive one remains a function, and so does what a coroutine waits with."""
        for release, flags in itertools.product(RELEASES, (("-O0",), ("-O2",), ("-O0", "-flto"))):
            for source, words, expected in ((PROGRAMS / "cases/always_inlined.c", (), "8\n"), (PROGRAMS / "coroutine.cc", ("-std=c++20",), "184\n")):
                with self.subTest(release=release, flags=flags, source=source.name):
                    program = self.trace(release, "--trace=realistic.schema", "-silent", *flags, *words, source, cxx=source.suffix == ".cc")
                    self.assertEqual(run(program).stdout, expected)

    def test_functions_that_return_twice_are_marked(self):
        for release in RELEASES:
            program = self.trace(release, "-O1", PROGRAMS / "returns_twice.c")
            self.assertEqual(run(program).stdout, "bc4 2\n")
            _, records = self.look_at(program)
            marked = [rows[0][1] for _, rows in records.functions.values() if ["flag", "setjmp"] in rows]
            self.assertIn("jumps", marked)
            self.assertNotIn("three_ifs", marked)

    def test_what_is_left_out_is_named(self):
        source = PROGRAMS / "returns_twice.c"
        for release in RELEASES:
            # three_ifs has 8 paths.
            warning = f"telltale-cc: warning: {source}: function 'three_ifs' is not traced: it has more than 7 paths\n"
            program = self.trace(release, "-O0", "-hash-size=7", source, error=warning)
            _, records = self.look_at(program)
            self.assertIn({"symbol": ["three_ifs"], "file": [str(source)], "line": ["15"], "reason": ["too many paths"],
                           "paths": ["8"]}, records.skipped)
            self.trace(release, "-O0", "-hash-size=7", "-silent", source)
            names, _ = self.look_at(self.trace(release, "-O0", "-hash-size=8", source))
            self.assertIn("three_ifs", names)

    def test_other_targets(self):
        source = self.path("loop.c")
        source.write_text(program_text("csi/cases/loop.c"))
        for target in ("-m32", "--target=aarch64-linux-gnu", "--target=armv7-linux-gnueabihf", "--target=riscv64-linux-gnu"):
            for release in RELEASES:
                for words in (("-O0",), ("-O2",), ("-O2", "-fPIC")):
                    for schema in ("pt.schema", "all.schema"):
                        done = compile_with(release, target, "--trace=" + schema, *words, "-c", source, "-o", self.path("loop.o"))
                        self.assertEqual((done.returncode, other_warnings(done)), (0, ""), (target, words, schema))
                        self.assertIn(b"#\nf\n1|EXIT\n0|ENTRY|", self.path("loop.o").read_bytes())
        for release in RELEASES:
            for word in ("--trace=pt.schema", "-fsampler-scheme=branches"):
                done = compile_with(release, "--target=x86_64-pc-windows-gnu", word, "-c", source, "-o", self.path("loop.o"))
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr, f"error: telltale: {word.split('=')[0]} needs a target with ELF files\n1 error generated.\n")

    @staticmethod
    def position_fields(file):
        """Phases and blocks of the positions in an object file, whose addresses only a linker knows."""
        # objcopy may not know the target.
        sections = run("readelf", "-SW", file).stdout
        offset, size = (int(each, 16) for each in re.search(r" \.debug_telltale_paths +PROGBITS +\w+ (\w+) (\w+) ", sections).groups())
        records = file.read_bytes()[offset:offset + size]
        fields = []
        while records:
            size, kind = struct.unpack_from("<IB", records)
            if kind == 2:
                fields.append(struct.unpack_from("<BI", records, 5))
            records = records[4 + size:]
        return fields

    def test_assembly_and_objects_have_the_same_positions(self):
        source = self.path("loop.c")
        source.write_text(program_text("csi/cases/loop.c"))
        targets = ("--target=x86_64-linux-gnu", "-m32", "--target=aarch64-linux-gnu", "--target=armv7-linux-gnueabihf")
        for release in RELEASES:
            for target in targets:
                for level in ("-O0", "-O2"):
                    with self.subTest(release=release, target=target, level=level):
                        positions = []
                        for words in (("-c", source), ("-S", source), ("-c", "-Wno-unused-command-line-argument", self.path("program.s"))):
                            output = self.path("program.s" if words[0] == "-S" else "program")
                            done = compile_with(release, "--trace=pt.schema", target, level, *words, "-o", output)
                            self.assertEqual((done.returncode, other_warnings(done)), (0, ""))
                            if words[0] == "-c":
                                positions.append(self.position_fields(output))
                        self.assertEqual(positions[0], positions[1])
                        # Its loop has a body of several blocks.
                        self.assertGreater(len({block for _, block in positions[0]}), 3)

    def test_functions_begin_with_their_line(self):
        for release in RELEASES:
            done = compile_with(release, "--trace=pt.schema", "-O2", "-c", PROGRAMS / "first_lines.c", "-o", self.path("lines.o"))
            self.assertEqual((done.returncode, other_warnings(done)), (0, ""))
            lines = run("readelf", "--debug-dump=decodedline", self.path("lines.o")).stdout
            rows = {(int(line), int(address, 16)) for line, address in
                    re.findall(r"(?m)^\S*first_lines\.c +(\d+) +(0x[0-9a-f]+|0)\b", lines)}
            symbols = run("readelf", "-sW", self.path("lines.o")).stdout
            starts = {name: int(value, 16) for value, name in re.findall(r"(?m): ([0-9a-f]+) .* FUNC .* ([fg])$", symbols)}
            self.assertLessEqual({(4, starts["f"]), (9, starts["g"])}, rows, (release, starts))

    def test_schemas(self):
        schema = self.path("my.schema")
        source = PROGRAMS / "returns_twice.c"
        schema.write_text("jumps; {PT}\ndeep;{}\nmain;{pt}\n")
        done = compile_with(RELEASES[0], f"--trace={schema}", source, "-o", self.path("program"))
        self.assertEqual((done.returncode, done.stderr),
                         (0, f"telltale-cc: warning: {source}: function 'three_ifs' is not traced: no rule of the schema matches\n"
                             f"telltale-cc: warning: {source}: filtered scheme '{{PT}}' to '{{}}' for function 'main'\n"))
        with_copies = compile_with(RELEASES[0], f"--trace={schema}", "-fsampler-scheme=scalar-pairs,returns", "-fsampler-adaptive",
                                   source, "-o", self.path("other"))
        self.assertIn("function 'three_ifs' is not traced", with_copies.stderr)
        for line in with_copies.stderr.splitlines():
            self.assertIn(line, done.stderr.splitlines())
        done = compile_with(RELEASES[0], "--trace=all.schema", source, "-o", self.path("other"))
        self.assertIn(f"telltale-cc: warning: {source}: filtered scheme '{{BBC,CC,FC,PT}}' to '{{BBC,PT}}' for function ", done.stderr)
        for words in (["-silent"], ["-no-filter"]):
            self.assertNotIn("filtered", compile_with(RELEASES[0], "--trace=all.schema", source, "-o", self.path("other"), *words).stderr)
        names, records = self.look_at(self.path("program"))
        self.assertEqual(names, {"jumps": 1})
        self.assertEqual({row["symbol"][0]: row["reason"][0] for row in records.skipped},
                         {"deep": "the schema excludes it", "main": "one block",
                          "three_ifs": "no rule of the schema matches"})
        schema.write_text("*;{PT}\n*;{CP}\n")
        done = compile_with(RELEASES[0], f"--trace={schema}", source, "-o", self.path("program"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{schema}:2: unknown mechanism 'CP'; mechanisms are PT, FC, CC and BBC", done.stderr)
        done = compile_with(RELEASES[0], "--trace=nowhere.schema", source, "-o", self.path("program"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read the schema file nowhere.schema", done.stderr)

    def test_the_environment_stands_for_options_and_options_win(self):
        source = PROGRAMS / "returns_twice.c"
        rings = []
        for variable, words in (("5", ()), ("5", ("-path-array-size=3",)), ("zero", ())):
            done = run(shutil.which("env"), f"PT_ARRAY_SIZE={variable}", f"TELLTALE_CLANG_RELEASE={RELEASES[0]}",
                       self.driver(), "--trace=pt.schema", *words, source, "-o", self.path("program"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("'zero'; ignored" in done.stderr, variable == "zero")
            _, records = self.look_at(self.path("program"))
            rings += {row[1] for _, rows in records.functions.values() for row in rows if row[0] == "ring"}
        self.assertEqual(rings, ["5", "3", "10"])

    @staticmethod
    def driver():
        from sampler_programs import driver
        return driver("a.c")

    def test_a_debugger_shows_the_variables_in_all_frames(self):
        for release in RELEASES:
            for level in ("-O0", "-O1", "-O2"):
                for legacy in (False, True):
                    with self.subTest(release=release, level=level, legacy=legacy):
                        words = ("-ftrace-legacy-names",) if legacy else ()
                        program = self.trace(release, level, *words, PROGRAMS / "control_flow.c")
                        names = (("__PT_counter_arr", "__PT_counter_idx", "__PT_current_path") if legacy else
                                 ("__PT_pathArr", "__PT_arrIndex", "__PT_curPath"))
                        if optimised := level != "-O0" and not legacy:
                            names = names[2:]  # its only loop is counted in the sum
                        commands = [word for name in names for word in ("-ex", f"print {name}")]
                        done = run("gdb", "-nx", "-batch", "-ex", "break recursive", "-ex", "ignore 1 5", "-ex", "run", "-ex", "up",
                                   *commands, program)
                        self.assertRegex(done.stdout, r"(?m)^#1 .* recursive \(", done.stderr)
                        values = re.findall(r"(?m)^\$\d+ = (.*)$", done.stdout)
                        self.assertEqual(len(values), len(names), done.stdout + done.stderr)
                        self.assertIn(int(values[-1]) % (1 << 24), range(100))
                        if optimised:
                            self.assertIn(int(values[-1]) >> 24, range(6))
                            continue
                        ring = re.fullmatch(r"\{(.*)\}", values[0])[1]
                        # The last slot is not in use yet; gdb abbreviates repeats.
                        self.assertTrue(ring.endswith("-1"), ring)
                        self.assertIn(int(values[1]), range(10))

    def test_variables_and_types_are_described_if_asked_for(self):
        described = ("-g", "-O0", "-ggdb -gz", "-fno-trace-line-tables", "-g -ftrace-line-tables -fno-trace-line-tables")
        lines_only = ("", "-gz", "-gno-column-info", "-g -ftrace-line-tables")
        without_ours = ("-g1", "-gline-tables-only", "-gline-directives-only")  # as without --trace, no variables at all
        for release in RELEASES:
            texts = {}
            for kind in (*described, *lines_only, *without_ours):
                with self.subTest(release=release, kind=kind):
                    program = self.trace(release, "-O2", *kind.split(), PROGRAMS / "insert_keys.cc", cxx=True)
                    debug = run("readelf", "--debug-dump=info", program).stdout
                    variables = names_of("variable|formal_parameter", debug)
                    self.assertEqual(({"tree", "key", "spare"} <= variables, "Tree" in names_of("class_type", debug)),
                                     (kind in described, kind in described), variables)
                    self.assertEqual("__PT_curPath" in variables, kind not in without_ours, variables)
                    if kind in lines_only:
                        self.assertLessEqual(variables, {"__PT_pathArr", "__PT_arrIndex", "__PT_curPath"})
                        self.assertIn("_ZN4Tree6insertEi", debug.split())
                    if kind not in ("-O0", "-gline-directives-only"):
                        self.assertIn("(DW_TAG_inlined_subroutine)", debug.split())
                    if kind != "-O0" and "-gz" not in kind and kind not in without_ours:
                        records = section(program, ".debug_telltale_paths")
                        texts[kind] = (section(program, ".text"), section(program, ".debug_PT"),
                                       re.findall(rb"[\t\n -~]{4,}", records))  # without addresses
            # The code and the path metadata, including the names of variables, are the same.
            self.assertGreater(len(texts), 4)
            self.assertIn(b"key", b" ".join(texts["-g"][2]))
            self.assertEqual([kind for kind, text in texts.items() if text != texts["-g"]], [])

    def test_functions_without_loops_have_a_ring_for_readers_of_the_old_names_only(self):
        for release in RELEASES:
            for words, wanted in ((("-ftrace-legacy-names",), ({"10"}, False)), ((), ({"0", "16"}, True))):
                with self.subTest(release=release, words=words):
                    _, records = self.look_at(self.trace(release, "-O2", *words, PROGRAMS / "control_flow.c"))
                    rows = [row for _, rows in records.functions.values() for row in rows]
                    rings = {row[1] for row in rows if row[0] == "ring"}
                    self.assertEqual((rings, ["flag", "late"] in [list(row[:2]) for row in rows]), wanted)

    def test_where_nothing_joins_the_code_is_that_without_path_tracing(self):
        def code(program, function):
            lines = run("objdump", "-d", "--no-show-raw-insn", "--no-addresses", f"--disassemble={function}", program).stdout.splitlines()
            return [line.strip() for line in lines[lines.index(f"<{function}>:") + 1:] if line.startswith("\t")]

        source = PROGRAMS / "deep_frames.c"
        for release in RELEASES:
            with self.subTest(release=release):
                compile_with(release, "-O2", source, "-o", self.path("plain"))
                program = self.trace(release, "-O2", source)
                self.assertEqual(code(program, "either"), code(self.path("plain"), "either"))
                _, records = self.look_at(program)
                places = {dict(rows)["symbol"]: records.frames[key][0][1] for key, (_, rows) in
                          ((key, (offset, [row[:2] for row in rows])) for key, (offset, rows) in records.functions.items())}
                self.assertEqual(places["either"], ["", "", ""])
                self.assertEqual([bool(place) for place in places["main"]], [False, False, True])

    def test_together_with_the_sampler(self):
        for release in RELEASES:
            for sampling in ("-fsample", "-fno-sample"):
                with self.subTest(release=release, sampling=sampling):
                    program = self.trace(release, "-O2", "-fsampler-scheme=branches", "-fsampler-scheme=returns", sampling,
                                         PROGRAMS / "returns_twice.c")
                    report = self.path("report")
                    done = run(program, env={"SAMPLER_FILE": str(report), "SAMPLER_SPARSITY": "1"})
                    self.assertEqual(done.stdout, "bc4 2\n")
                    self.assertIn('scheme="branches"', report.read_text())
                    names, _ = self.look_at(program)
                    self.assertIn("three_ifs", names)
                    self.assertFalse([name for name in names if name.startswith("telltale")])


if __name__ == "__main__":
    unittest.main()
