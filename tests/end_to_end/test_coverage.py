"""telltale-cc's coverage (FC, CC, BBC), variants of functions, and telltale coverage."""
import itertools
import json
import os
import pathlib
import random
import re
import struct
import unittest
import xml.etree.ElementTree

from core_files import crash
from json_schemas import validator
from program_text import program_text
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, compile_with, other_warnings, run, section

TELLTALE = os.environ["TELLTALE"]
PROGRAMS = SOURCE_DIR / "tests/programs/csi"
WALK = PROGRAMS / "recorded_walk.c"
LINES = {number for number, line in enumerate(WALK.read_text().splitlines(), 1) if line.strip() == "LINE;"}
SOURCE = program_text("csi/cases/calls_and_loop.c")


def coverage(core, *words):
    done = run(TELLTALE, "coverage", core, "--json", *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    validator("coverage").validate(document)
    return {function["function"]: function for function in document["functions"]}


def lines_of(function):
    return {line["line"]: line["ran"] for line in function["lines"]}


class Case(SamplerCase):
    def compile(self, schema, *words, release=RELEASES[0]):
        source = pathlib.Path(self.path("source.c"))
        source.write_text(SOURCE)
        done = compile_with(release, f"--trace={schema}", *words, source, "-o", self.path("program"))
        self.assertEqual((done.returncode, other_warnings(done)), (0, ""))
        return self.path("program")


class Compiler(Case):
    def text(self, program, name):
        """A section, with the source file's folders taken out of names."""
        return re.sub(r"_arr_\w*(?=source_c_)", "_arr_", section(program, f".debug_{name}").decode())

    def test_texts_of_the_sections_are_as_published(self):
        for release in RELEASES:
            program = self.compile("cc.schema", "-csi-opt=0", release=release)
            self.assertEqual(self.text(program, "CC"),
                             "#f|__CC_arr_source_c_f\n0|CC0|11|abort\n1|CC1|13|twice\n2|CC2|15|puts\n3|CC3|18|never\n"
                             "#main|__CC_arr_source_c_main\n0|CC0|21|f\n")
            self.assertIsNone(section(program, ".debug_BBC"))
            schema = self.path("fc.schema")
            pathlib.Path(schema).write_text("f;{FC}\n*;{}\n")
            program = self.compile(schema, release=release)
            self.assertEqual(self.text(program, "FC"), "#f|__FC_arr_source_c_f\n")
            program = self.compile("bb.schema", "-csi-opt=0", release=release)
            text = self.text(program, "BBC")
            self.assertRegex(text, r"\A(#\w+\|__BBC_arr_\w+\n(\d+\|BBC\d+((\|\d+)+|\|NULL)\n)+)+\Z")
            self.assertIn("#never|", text)

    def test_higher_levels_have_fewer_probes(self):
        for release in RELEASES:
            counts = []
            for words in (["-csi-opt=0"], ["-opt-style=simple"], ["-csi-opt=2"], ["-csi-opt=3"], ["-csi-opt=3", "-complete-exe"]):
                text = section(self.compile("bb.schema", *words, release=release), ".debug_BBC").decode()
                counts.append(len(re.findall(r"^\d+\|BBC", text, re.M)))
            self.assertEqual(counts, sorted(counts, reverse=True))
            self.assertLess(counts[2], counts[0] / 2)

    def test_programs_behave_as_before(self):
        for release in RELEASES:
            expected = None
            for schema in ("cc.schema", "bb.schema", "all.schema", "cc_pt.schema", "realistic.schema"):
                for words in (["-O0", "-fPIE"], ["-O2"], ["-O2", "-no-filter", "-csi-opt=0", "--indirect-style=ifunc"]):
                    with self.subTest(release=release, schema=schema, words=words):
                        done = run(self.compile(schema, *words, release=release))
                        expected = expected or (done.returncode, done.stdout)
                        self.assertEqual((done.returncode, done.stdout), expected)

    def test_exceptions(self):
        expected = None
        for release in RELEASES:
            for schema in ("cc.schema", "all.schema", "realistic.schema"):
                for level in ("-O0", "-O2"):
                    done = compile_with(release, f"--trace={schema}", "-no-filter", level, PROGRAMS / "exceptions.cc", "-o",
                                        self.path("program"), cxx=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    done = run(self.path("program"))
                    expected = expected or (done.returncode, done.stdout)
                    self.assertEqual((done.returncode, done.stdout), expected)

    def test_arrays_have_types_in_the_debug_information(self):
        for release in RELEASES:
            program = self.compile("cc.schema", "-csi-opt=0", release=release)
            printed = run("gdb", "-q", "-batch", "-ex", "info variables __CC_arr", "-ex", "break never", "-ex", "break 11",
                          "-ex", "run crash", "-ex", "up 0", "-ex", "print __CC_arr", program).stdout
            self.assertRegex(printed, r"__cc_bool __CC_arr_\w+_f\[4\]")
            self.assertRegex(printed, r"\{false, true, true, false\}")


class ControlFlow(Case):
    """extract-section and extract-cfg."""
    KEYS = "{http://graphml.graphdrawing.org/xmlns}"

    def graph(self, program, *words):
        done = run(TELLTALE, "extract-cfg", program, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        root = xml.etree.ElementTree.fromstring(done.stdout)
        nodes = {node.get("id"): {data.get("key"): data.text for data in node} for node in root.iter(self.KEYS + "node")}
        edges = [(edge.get("source"), edge.get("target"), {data.get("key"): data.text for data in edge})
                 for edge in root.iter(self.KEYS + "edge")]
        for source, target, _ in edges:
            self.assertIn(source, nodes)
            self.assertIn(target, nodes)
        return nodes, edges

    def test_graphs_of_coverage_and_of_paths(self):
        program = self.compile("all.schema", "-no-filter", "-csi-opt=0")
        nodes, edges = self.graph(program)
        entries = {node["procedure"]: name for name, node in nodes.items() if node["kind"] == "entry"}
        self.assertEqual(set(entries), {"twice", "never", "f", "main"})
        calls = {(nodes[source]["procedure"], target) for source, target, data in edges if data.get("scope") == "interprocedural"}
        self.assertEqual(calls, {("f", entries["twice"]), ("f", entries["never"]), ("main", entries["f"])})
        labels = sorted(label for node in nodes.values() if node["procedure"] == "f" for label in (node.get("csi-label") or "").split())
        self.assertIn("BBC0", labels)
        self.assertIn("CC3", labels)
        self.assertIn("( 13 )", [node["lines"] for node in nodes.values()])
        traced, edges = self.graph(self.compile("pt.schema"), "--function", "f")
        self.assertEqual({node["procedure"] for node in traced.values()}, {"f"})
        self.assertEqual(sum(data.get("back") == "true" for _, _, data in edges), 1)
        self.assertGreater(max(int(data.get("increment", 0)) for _, _, data in edges), 0)

    def test_objects_of_either_byte_order(self):
        source = SOURCE_DIR / "tests/programs/csi/cases/small.c"
        for release in RELEASES:
            graphs = []
            for target in ("x86_64-linux-gnu", "powerpc64-linux-gnu", "s390x-linux-gnu"):
                done = compile_with(release, f"--target={target}", "--trace=bb.schema", "-csi-opt=0", "-c", source, "-o", self.path("small.o"))
                self.assertEqual(done.returncode, 0, done.stderr)
                graphs.append(self.graph(self.path("small.o")))
                sites = json.loads(run(TELLTALE, "sites", self.path("small.o"), "--json").stdout)["programs"][0]
                self.assertEqual([(one["function"], one["probes"], one["blocks"]) for one in sites["coverage"]], [("small", 4, 4)])
            self.assertIn("( 3 )", [node["lines"] for node in graphs[0][0].values()])
            self.assertEqual(graphs[1:], graphs[:1] * 2)

    def test_copies_say_which_function_they_are_of(self):
        for words, copies in ((("cc_pt.schema", "-fsampler-scheme=branches"), {"f.asking", "main.aside"}),
                              (("realistic.schema",), {"f$CC$PT", "main$CC"})):
            with self.subTest(words=words):
                program = self.compile(*words)
                nodes, _ = self.graph(program)
                functions = {(node["procedure"], node.get("copy-of")) for node in nodes.values()}
                for name in copies:
                    self.assertIn((name, re.split(r"[.$]", name)[0]), functions)
                nodes, _ = self.graph(program, "--function", "f")
                self.assertEqual({node.get("copy-of", "f") for node in nodes.values()}, {"f"})
                self.assertRegex(run(TELLTALE, "extract-cfg", program, "--to", "dot").stdout, r'label="f[.$]\S+ \(copy of f\)"')
                done = run(TELLTALE, "sites", program, "--json")
                answer = json.loads(done.stdout)
                validator("sites").validate(answer)
                named = {row["linkage_name"]: (row["function"], row["copy_of"])
                         for key in ("graphs", "coverage") for row in answer["programs"][0][key]}
                for name in copies:
                    self.assertEqual(named[name], (re.split(r"[.$]", name)[0],) * 2)
                self.assertLessEqual({name for name, _ in named.values()}, {"f", "main", "twice", "never"})
                self.assertRegex(run(TELLTALE, "sites", program).stdout, r"(?m)^function +linkage name .* copy of$")

    def test_sites_of_programs_with_coverage_alone(self):
        program = self.compile("bb.schema", "-csi-opt=0")
        done = run(TELLTALE, "sites", program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"coverage of 4 functions \(\d+ probes\)\n\nfunction  linkage name  mechanism  probes ")
        answer = json.loads(run(TELLTALE, "sites", program, "--json").stdout)["programs"][0]
        rows = {row["function"]: row for row in answer["coverage"]}
        self.assertEqual(set(rows), {"f", "main", "twice", "never"})
        covered = section(program, ".debug_BBC").decode()
        self.assertEqual(sum(row["probes"] for row in rows.values()), len(re.findall(r"^\d+\|BBC", covered, re.M)))
        self.assertTrue(rows["f"]["file"].endswith("source.c"))
        self.assertEqual((rows["f"]["mechanism"], rows["f"]["calls"], rows["f"]["copy_of"]), ("BBC", 0, ""))
        self.assertEqual(run(TELLTALE, "sites", program, "--csv").stdout.splitlines()[0],
                         "program,function,linkage_name,mechanism,probes,blocks,calls,place,copy_of")
        archive = self.path("archive.a")
        self.assertEqual(compile_with(RELEASES[0], "--trace=cc.schema", "-c", self.path("source.c"), "-o", self.path("source.o")).returncode, 0)
        run("ar", "rcs", archive, self.path("source.o"))
        self.assertIn("coverage of 2 functions", run(TELLTALE, "sites", archive).stdout)

    def test_dot(self):
        done = run(TELLTALE, "extract-cfg", self.compile("pt.schema"), "--to", "dot")
        self.assertRegex(done.stdout, r"\Adigraph CFG {\n(.*\n)*}\n\Z")
        self.assertIn("style=dashed", done.stdout)

    def test_a_section_as_it_is(self):
        program = self.compile("cc_pt.schema")
        for name in (".debug_PT", ".debug_CC"):
            done = run(TELLTALE, "extract-section", "--require", name, program)
            self.assertEqual(done.stdout, section(program, name).decode())
        self.assertEqual(run(TELLTALE, "extract-section", "--require", ".debug_FC", program).returncode, 1)

    def test_a_program_without_graphs(self):
        done = run(TELLTALE, "extract-cfg", "/bin/true")
        self.assertEqual(done.returncode, 3)
        self.assertIn("has no control flow graph", done.stderr)


class Variants(Case):
    def choose(self, program, function, value):
        """Edits the program file, as a user would."""
        address = int(re.search(rf"^(\w+) \w __CSI_inst_{function}$", run("nm", program).stdout, re.M).group(1), 16)
        row = re.search(r" __CSI_func_inst +PROGBITS +(\w+) (\w+)", run("readelf", "-SW", program).stdout)
        offset = address - int(row.group(1), 16) + int(row.group(2), 16)
        data = bytearray(pathlib.Path(program).read_bytes())
        before, = struct.unpack_from("<i", data, offset)
        struct.pack_into("<i", data, offset, value)
        pathlib.Path(program).write_bytes(data)
        return before

    def test_a_variable_of_the_program_chooses(self):
        for release in RELEASES:
            for style in ("std", "ifunc"):
                with self.subTest(release=release, style=style):
                    program = self.compile("realistic.schema", f"--indirect-style={style}", "-O1", release=release)
                    names = run("nm", program).stdout
                    for variant in ("none", "CC", "CC$PT"):
                        self.assertIn(f" t f${variant}\n", names)
                    self.assertEqual(" i f\n" in names, style == "ifunc")
                    called = {}
                    for value in (0, 2, 3):
                        before = self.choose(program, "f", value)
                        self.assertIn(before, (0, 2))
                        core = crash(self.path("core"), program, "crash")
                        called[value] = any(call["returned"] == "yes" for call in coverage(core)["f"]["calls"])
                        frames = json.loads(run(TELLTALE, "paths", core, "--json").stdout)["threads"][0]["frames"]
                        traced = [frame for frame in frames if frame["untraced"] is None]
                        self.assertEqual(len(traced), 1 if value == 3 else 0)
                    self.assertEqual(called, {0: False, 2: True, 3: True})

    def choose_everywhere(self, program, value):
        row = re.search(r" __CSI_func_inst +PROGBITS +\w+ (\w+) (\w+)", run("readelf", "-SW", program).stdout)
        offset, size = (int(field, 16) for field in row.groups())
        data = bytearray(pathlib.Path(program).read_bytes())
        data[offset:offset + size] = struct.pack("<i", value) * (size // 4)
        pathlib.Path(program).write_bytes(data)

    def test_a_core_file_with_the_variable_tells_which_variant_ran(self):
        filters = pathlib.Path("/proc/self/coredump_filter")  # programs inherit it
        before = filters.read_text()
        self.addCleanup(filters.write_text, f"0x{before.strip()}")
        schema = self.path("variants.schema")
        pathlib.Path(schema).write_text("record;{}\ndraw;{}\n*;{};{BBC}\n")
        for release, style in itertools.product(RELEASES, ("std", "ifunc")):
            program = build(self.path("walk"), release, "-g", f"--trace={schema}", f"--indirect-style={style}", "-silent", "-O0", "-csi-opt=0",
                            WALK)
            self.choose_everywhere(program, 2)
            unknown = {}
            for filter_bits in ("0x33", "0x37"):  # the second has memory that is mapped from files, and that the program did not change
                with self.subTest(release=release, style=style, filter=filter_bits):
                    filters.write_text(filter_bits)
                    core = crash(self.path("core"), program, self.path("trace"), 5, 3)
                    ran = {line for _, line in struct.iter_unpack("<ii", pathlib.Path(self.path("trace")).read_bytes())}
                    answers = {line: answer for function in coverage(core).values()
                               for line, answer in lines_of(function).items() if line in LINES}
                    unknown[filter_bits] = [line for line, answer in answers.items() if answer == "maybe"]
                    self.assertEqual({line: answer for line, answer in answers.items() if answer != "maybe" and (answer == "yes") != (line in ran)},
                                     {})
            self.assertLess(len(unknown["0x37"]), len(unknown["0x33"]))

    def test_what_variants_ran_is_what_was_recorded(self):
        draws = random.Random(5)
        schema = self.path("variants.schema")
        # For each schema: the values that choose a variant, and whether that variant's data says which lines ran.
        schemas = {"{};{BBC}": {0: False, 2: True}, "{};{FC}": {0: False, 2: False}, "{FC};{BBC}": {1: True, 2: False},
                   "{};{CC};{BBC,PT}": {0: False, 2: True, 3: True}}
        for release, style, (variants, values), level in itertools.product(
                RELEASES, ("std", "ifunc"), schemas.items(), (["-O0", "-csi-opt=0"], ["-O2"])):
            pathlib.Path(schema).write_text(f"record;{{}}\ndraw;{{}}\n*;{variants}\n")
            program = build(self.path("walk"), release, "-g", f"--trace={schema}", f"--indirect-style={style}", "-silent", *level, WALK)
            for value, tells in values.items():
                self.choose_everywhere(program, value)
                core = crash(self.path("core"), program, self.path("trace"), draws.randrange(1 << 30), 200)
                data = pathlib.Path(self.path("trace")).read_bytes()
                ran = {line for _, line in struct.iter_unpack("<ii", data)}
                answers = {line: answer for function in coverage(core).values()
                           for line, answer in lines_of(function).items() if line in LINES and answer != "maybe"}
                wrong = {line: answer for line, answer in answers.items() if (answer == "yes") != (line in ran)}
                self.assertEqual(wrong, {}, (release, style, variants, level, value))
                if tells and level[0] == "-O0":
                    self.assertGreater(len(answers), 15)

    def test_answers_do_not_depend_on_how_a_variant_is_chosen(self):
        two = self.path("two.schema")
        pathlib.Path(two).write_text("*;{BBC};{FC}\n")
        source = PROGRAMS / "cases/returned_variants.c"
        for release, (schema, values), level in itertools.product(
                RELEASES, (("realistic.schema", (0, 2, 3)), (two, (1, 2))), (["-O0", "-csi-opt=0"], ["-O1"])):
            answers = {}
            for style in ("std", "ifunc"):
                program = build(self.path("program"), release, "-g", f"--trace={schema}", f"--indirect-style={style}", "-silent", *level,
                                source)
                for value in values:
                    self.choose_everywhere(program, value)
                    told = coverage(crash(self.path("core"), program))
                    for function in ("called", "by_pointer"):
                        self.assertNotEqual(told[function]["ran"], "no", (release, style, schema, level, value))
                        self.assertNotEqual(lines_of(told[function])[told[function]["line"] + 4], "no")
                        if schema == two and "-O0" in level:
                            self.assertEqual(told[function]["ran"], "yes")
                        if schema == two and "-O0" in level and value == 1:
                            # Other variants, which have no flags of lines, did not run.
                            self.assertEqual([told[function]["mechanisms"], *lines_of(told[function]).values()],
                                             ["BBC,FC", "yes", "no", "yes", "yes"])
                    answers.setdefault(value, []).append(told)
            for value, (std, ifunc) in answers.items():
                self.assertEqual(std, ifunc, (release, schema, level, value))

    def test_functions_that_are_hard_to_copy_behave_as_before(self):
        source = PROGRAMS / "cases/odd_variants.c"
        without = {"steps_of_distances": "has labels whose addresses other code may have", "with_label_of_assembly":
                   "has code that must not be repeated", "sum_of": "takes a variable number of arguments"}
        for release, style, level in itertools.product(RELEASES, ("std", "ifunc"), ("-O0", "-O2")):
            with self.subTest(release=release, style=style, level=level):
                done = compile_with(release, "--trace=realistic.schema", f"--indirect-style={style}", level, source,
                                    "-o", self.path("odd"))
                self.assertEqual(done.returncode, 0, done.stderr)
                # LLVM 19 loses such arguments where one function passes on those of another.
                on_stack = {"odd_sum": "takes a structure on the stack"} if release == "19" and style == "std" else {}
                told = re.findall(r"function '(\w+)' is not traced: it has variants and (.*)", done.stderr)
                self.assertEqual(dict(told), without | on_stack)
                names = run("nm", self.path("odd")).stdout
                for value, function in itertools.product((0, 2, 3), ("main", "steps_of_table", "steps_of_variable", "odd_sum")):
                    if function not in on_stack:
                        self.choose(self.path("odd"), function, value)
                    self.assertEqual(run(self.path("odd")).stdout, "2 1 -2\n4 -1 15\n")
                for function in ("steps_of_table", "steps_of_variable", "steps_of_distances", "odd_sum", "with_label_of_assembly"):
                    self.assertEqual(f" t {function}$CC" in names or f" t {function}$PT" in names,
                                     function not in without | on_stack)

    def test_without_an_empty_variant_the_first_is_number_1(self):
        schema = self.path("two.schema")
        pathlib.Path(schema).write_text("f;{PT};{CC}\n*;{}\n")
        program = self.compile(schema)
        self.assertEqual(self.choose(program, "f", 2), 1)


class Verb(Case):
    def test_what_ran_is_what_was_recorded(self):
        draws = random.Random(3)
        for release in RELEASES:
            for level, words in (("-O0", ["-csi-opt=0"]), ("-O0", []), ("-O2", ["-csi-opt=3"])):
                program = build(self.path("walk"), release, "-g", f"--trace={PROGRAMS / 'recorded_walk_coverage.schema'}",
                                "-silent", level, *words, WALK)
                certain = maybe = 0
                for _ in range(8):
                    records = 1 + draws.randrange(300)
                    core = crash(self.path("core"), program, self.path("trace"), draws.randrange(1 << 30), records)
                    data = pathlib.Path(self.path("trace")).read_bytes()
                    ran = {line for _, line in struct.iter_unpack("<ii", data)}
                    for function in coverage(core).values():
                        for line, answer in lines_of(function).items():
                            if line not in LINES:
                                continue
                            if answer == "maybe":
                                maybe += 1
                                continue
                            certain += 1
                            self.assertEqual(answer == "yes", line in ran, (release, level, words, line))
                self.assertGreater(certain, 100)
                if "-csi-opt=0" in words:
                    # Lines after the place of a frame, in the same block: another pass may have reached them.
                    self.assertLess(maybe * 20, certain)
                self.assertLess(maybe, certain)

    def test_functions_and_calls(self):
        for schema, mechanism in (("bb.schema", "BBC"), ("cc.schema", "CC")):
            core = crash(self.path("core"), self.compile(schema, "-csi-opt=0"), "crash")
            functions = coverage(core)
            self.assertEqual(functions["f"]["ran"], "yes")
            self.assertEqual(functions["f"]["mechanisms"], mechanism)
            lines = lines_of(functions["f"])
            self.assertEqual((lines[13], lines[15]), ("yes", "yes"))
            if mechanism == "BBC":
                self.assertEqual(functions["never"]["ran"], "no")
                self.assertEqual((lines[11], lines[18]), ("yes", "no"))
            else:
                calls = {call["callee"]: call["returned"] for call in functions["f"]["calls"]}
                self.assertEqual(calls, {"abort": "no", "twice": "yes", "puts": "yes", "never": "no"})
        self.assertEqual(set(coverage(core, "--function", "f")), {"f"})

    def test_functions_that_only_pointers_and_vtables_call(self):
        for release, schema, words in itertools.product(RELEASES, ("bb.schema", "all.schema"),
                                                        (["-O0"], ["-O2"], ["-O2", "-csi-opt=1"], ["-O2", "-csi-opt=3"])):
            with self.subTest(release=release, schema=schema, words=words):
                program = build(self.path("program"), release, "-g", f"--trace={schema}", "-silent", *words, PROGRAMS / "called_unseen.cc",
                                cxx=True)
                ran = {name.split("(")[0]: function["ran"] for name, function in coverage(crash(self.path("core"), program)).items()}
                self.assertEqual({name: ran[name] for name in ("called", "called_with_branch", "Circle::area")},
                                 {"called": "yes", "called_with_branch": "yes", "Circle::area": "yes"})
                self.assertEqual({name: ran[name] for name in ("not_called", "not_called_with_branch", "Circle::sides")},
                                 {"not_called": "no", "not_called_with_branch": "no", "Circle::sides": "no"})

    def test_functions_that_only_their_unit_calls_have_no_flag_of_their_own(self):
        counts = {}
        for words in ([], ["-DTAKEN"]):
            program = build(self.path("program"), RELEASES[-1], "-g", "--trace=bb.schema", "-silent", "-O2", *words, PROGRAMS / "called_in_unit.c")
            rows = json.loads(run(TELLTALE, "sites", program, "--json").stdout)["programs"][0]["coverage"]
            counts[bool(words)] = sum(row["probes"] for row in rows if row["function"] == "called")
            self.assertEqual({name: function["ran"] for name, function in coverage(crash(self.path("core"), program)).items()},
                             {"main": "yes", "called": "yes", "not_called": "no"})
        self.assertEqual(counts, {False: 0, True: 1})

    def test_all_formats(self):
        core = crash(self.path("core"), self.compile("bb.schema", "-csi-opt=0"), "crash")
        text = run(TELLTALE, "coverage", core, "--lines").stdout
        self.assertRegex(text, r"(?m)^yes .* BBC +f$")
        self.assertRegex(text, r"(?m)^no .* BBC +never$")
        self.assertIn("-     18      return never(s);\n", text)
        self.assertIn("+     11        abort();\n", text)
        lcov = run(TELLTALE, "coverage", core, "--to", "lcov").stdout
        self.assertIn("FNDA:1,f\n", lcov)
        self.assertIn("FNDA:0,never\n", lcov)
        self.assertIn("\nDA:18,0\n", lcov)
        self.assertIn("\nDA:11,1\n", lcov)
        run(TELLTALE, "coverage", core, "--to", "cobertura", "-o", self.path("cobertura.xml"))
        root = xml.etree.ElementTree.parse(self.path("cobertura.xml")).getroot()
        hits = {int(line.get("number")): line.get("hits") for line in root.iterfind(".//class/lines/line")}
        self.assertEqual((hits[11], hits[18]), ("1", "0"))
        self.assertEqual(int(root.get("lines-covered")), list(hits.values()).count("1"))
        rows = run(TELLTALE, "coverage", core, "--csv").stdout.splitlines()
        self.assertEqual(rows[0], "file,line,function,ran")
        self.assertIn(f"{self.path('source.c')},18,f,no", rows)

    def test_a_core_file_without_coverage(self):
        source = pathlib.Path(self.path("source.c"))
        source.write_text(SOURCE)
        self.assertEqual(compile_with(RELEASES[0], source, "-o", self.path("program")).returncode, 0)
        done = run(TELLTALE, "coverage", crash(self.path("core"), self.path("program"), "crash"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("was built with path tracing or coverage", done.stderr)


if __name__ == "__main__":
    unittest.main()
