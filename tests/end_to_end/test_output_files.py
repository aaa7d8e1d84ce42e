"""No verb overwrites its input, or a file of another kind without --force."""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from core_files import crash
from program_text import program_text
import recorded_programs as programs
from recorded_programs import telltale
import sampler_programs

SOURCE = pathlib.Path(programs.PROGRAMS).parents[1]
ORDERS = SOURCE / "examples/orders/orders.yaml"
REPORT = SOURCE / "tests/golden/sampler"
ABORTS = program_text("recorders/cases/aborts.cc")


class OutputFiles(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="telltale-outputs-")))
        self.input = self.place / "orders.yaml"
        shutil.copy(ORDERS, self.input)

    def verbs(self, program):
        """Command lines without -o, one for each verb that has it."""
        return {"convert": ["convert", self.input, "--to", "chrome"], "graph": ["graph", self.input], "flame": ["flame", self.input],
                "resolve": ["resolve", self.report()], "sites": ["sites", program], "extract-cfg": ["extract-cfg", program],
                "isolate": ["isolate", "--failed", REPORT / "worked_example.report", "--passed", REPORT / "worked_example.report",
                            "--program", REPORT / "worked_example.sites"],
                "diff": ["diff", self.input, self.input, "--order", "--html"],
                "paths": ["paths", self.core(program)], "coverage": ["coverage", self.core(program)]}

    @functools.cache
    def core(self, program):
        return crash(self.place / "core", program, "crash")

    def traced_program(self):
        if "fsanitize" in (pathlib.Path(sampler_programs.BINARY_DIR) / "build.ninja").read_text() or not sampler_programs.RELEASES:
            self.skipTest("telltale-cc needs its plugins")
        source = self.place / "aborts.cc"
        source.write_text(ABORTS)
        return sampler_programs.build(self.place / "aborts", sampler_programs.RELEASES[-1], "--trace=cc_pt.schema", "-silent", source, cxx=True)

    @staticmethod
    def all_verbs():
        return re.findall(r"^  ([a-z][a-z-]*) {2,}\S", telltale("--help").stdout, re.MULTILINE)

    def report(self):
        return next(iter(sorted(REPORT.glob("*.report"))), REPORT)

    def test_another_kind_needs_force(self):
        for name, kept in (("source.c", b"#include <stdio.h>\nint main() {}\n"), ("data.json", b'{"important": 1}\n'),
                           ("binary", b"\x7fELF\x02\x01\x01\x00"), ("page.html", b"<!DOCTYPE html><p>mine\n")):
            for to in ("chrome", "csv", "dot", "perfetto", "folded"):
                with self.subTest(file=name, to=to):
                    path = self.place / name
                    path.write_bytes(kept)
                    done = telltale("convert", self.input, "--to", to, "-o", path)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(f"{name} exists and is a", done.stderr)
                    self.assertIn("--force replaces it", done.stderr)
                    self.assertEqual(path.read_bytes(), kept)
                    self.assertEqual(telltale("convert", self.input, "--to", to, "-o", path, "--force").returncode, 0)
                    self.assertNotEqual(path.read_bytes(), kept)
        self.assertEqual(sorted(path.name for path in self.place.iterdir()),
                         ["binary", "data.json", "orders.yaml", "page.html", "source.c"], "no temporary file stays")

    def test_a_link_to_nothing_makes_an_ordinary_file(self):
        made, link = self.place / "made", self.place / "link"
        link.symlink_to(made)
        done = telltale("convert", self.input, "--to", "chrome", "-o", link)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(link.is_symlink())
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(made.stat().st_mode & 0o7777, 0o666 & ~mask)

    def test_the_same_kind_is_replaced(self):
        for to in ("chrome", "csv", "json", "dot", "perfetto", "folded", "speedscope", "pprof", "callgrind", "fdr5"):
            with self.subTest(to=to):
                path = self.place / "again"
                for number in range(2):
                    done = telltale("convert", self.input, "--to", to, "-o", path)
                    self.assertEqual(done.returncode, 0, done.stderr)
                path.unlink()
        recording = self.place / "recording"
        for to in ("fdr1", "fdr5", "basic3"):  # versions of one format
            done = telltale("convert", self.input, "--to", to, "-o", recording)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = telltale("convert", self.input, "--to", "chrome", "-o", recording)
        self.assertEqual(done.returncode, 2)
        self.assertIn("recording exists and is an XRay trace; --force replaces it by a JSON file", done.stderr)
        for output in ("page.html", "drawing.svg", "data.json"):
            for number in range(2):
                done = telltale("flame", self.input, "-o", self.place / output)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_input_is_never_overwritten(self):
        program = programs.build("g++", *programs.CALL_FLAGS)
        before = self.input.read_bytes(), program.read_bytes()
        for verb in (["convert", self.input, "--to", "llvm-xray-yaml"], ["graph", self.input, "--json"], ["flame", self.input, "--json"]):
            for force in ([], ["--force"]):
                with self.subTest(verb=verb[0], force=force):
                    done = telltale(*verb, "-o", self.input, *force)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn("is an input", done.stderr)
                    done = telltale(*verb, "--program", program, "-o", program, *force)
                    self.assertEqual(done.returncode, 2, done.stderr)
        for verb in (["sites", program], ["extract-cfg", program], ["paths", program], ["coverage", program],
                     ["diff", "--order", "--html", self.input, self.input, "--program-b", program]):
            done = telltale(*verb, "-o", program, "--force")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("is an input", done.stderr)
        self.assertEqual((self.input.read_bytes(), program.read_bytes()), before)

    def test_a_page_that_is_given_as_an_input(self):
        """--html takes no name."""
        for words in (["isolate", REPORT, "--html", "page.html"], ["paths", "--html", "page.html"], ["coverage", "core", "--html", "page.html"],
                      ["diff", self.input, "--order", "--html", "page.html"]):
            with self.subTest(words=words):
                done = telltale(*words, cwd=self.place)
                self.assertEqual((done.returncode, done.stderr),
                                 (2, "telltale: there is no input page.html; -o FILE names what is written\n"))

    def test_a_side_record_and_a_file_of_a_folder_are_inputs(self):
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        run = programs.Recorded(programs.build("g++", *programs.CALL_FLAGS), 5)
        recording, side = place / "a.xray", place / "a.xray.side"
        shutil.copy(run.file, recording)
        shutil.copy(f"{run.file}.side", side)
        before = side.read_bytes()
        for source, output in ((recording, side), (place, recording), (place, side)):
            done = telltale("convert", source, "--to", "csv", "-o", output, "--force")
            self.assertEqual(done.returncode, 2)
            self.assertIn("is an input", done.stderr)
        self.assertEqual(side.read_bytes(), before)

    def test_links_and_devices(self):
        target = self.place / "target"
        target.write_text("#include <stdio.h>\n")
        link = self.place / "link"
        link.symlink_to(target)
        self.assertEqual(telltale("graph", self.input, "-o", link).returncode, 2)
        self.assertEqual(target.read_text(), "#include <stdio.h>\n")
        self.assertEqual(telltale("graph", self.input, "-o", link, "--force").returncode, 0)
        self.assertTrue(link.is_symlink())
        self.assertTrue(target.read_text().startswith("digraph"))
        self.assertEqual(telltale("graph", self.input, "-o", "/dev/null").returncode, 0)
        with (self.place / "out").open("wb") as out:
            done = subprocess.run([programs.TELLTALE, "graph", self.input, "-o", "/dev/stdout"], stdout=out, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertEqual((self.place / "out").read_bytes(), target.read_bytes())

    def test_standard_output_that_takes_nothing(self):
        """A full disk: exit status 3 and one message, from every verb that answers there."""
        recording = [self.input, "--program", ORDERS.with_name("orders-map.yaml")]
        for words in (["top", *recording], ["top", "--csv", *recording], ["info", self.input], ["report", *recording],
                      ["check", self.input], ["dump", self.input], ["stacks", *recording], ["graph", *recording],
                      ["replay", *recording], ["slow", "validate*", *recording], ["histogram", "validate*", *recording],
                      ["diff", *recording, self.input], ["diff", "--order", *recording, self.input],
                      ["flame", *recording, "-o", "-"], ["convert", *recording, "--to", "folded", "-o", "-"],
                      ["help"], ["help", "top"], ["top", "--help"], ["--version"], ["completion", "bash"], ["man", "top"]):
            with self.subTest(words=words), open("/dev/full", "wb") as full:
                done = subprocess.run([programs.TELLTALE, *words], stdout=full, stderr=subprocess.PIPE, timeout=60)
                self.assertEqual((done.returncode, done.stderr.decode()),
                                 (3, "telltale: standard output: cannot write: No space left on device\n"))

    # What files of these names begin with.
    FORMS = {".html": "<!DOCTYPE html>", ".htm": "<!DOCTYPE html>", ".json": "{", ".svg": r"<\?xml.*\n<svg", ".dot": "digraph", ".gv": "digraph",
             ".sarif": r'{\s*"\$schema": ?"[^"]*sarif', ".info": "SF:", ".lcov": "SF:", ".xml": r"<\?xml.*\n(<!.*\n)?<coverage", ".graphml": r"<\?xml.*\n<graphml",
             ".csv": r"[a-z_]+,[a-z_\d,]+\n"}
    WRITTEN = {"graph": (".dot", ".gv", ".json", ".csv"), "flame": (".html", ".htm", ".svg", ".json"), "resolve": (".json", ".csv"),
               "sites": (".json", ".csv"), "extract-cfg": (".graphml", ".dot", ".gv"), "diff": (".html", ".htm"),
               "isolate": (".html", ".htm", ".json", ".csv", ".sarif", ".dot", ".gv"), "paths": (".html", ".htm", ".json"),
               "coverage": (".html", ".htm", ".json", ".csv", ".info", ".lcov", ".xml"), "convert": (".json", ".csv", ".dot", ".gv")}

    def test_the_name_chooses_what_is_written(self):
        program = self.traced_program()
        commands = {**self.verbs(program), "convert": ["convert", self.input], "diff": ["diff", self.input, self.input, "--order"],
                    "isolate": [*self.verbs(program)["isolate"], "--source", SOURCE]}
        self.assertEqual(set(commands), set(self.WRITTEN))
        for verb, command in commands.items():
            for ending, begins in self.FORMS.items():
                with self.subTest(verb=verb, ending=ending):
                    path = self.place / f"{verb}{ending}"
                    words = command[:-2] if verb == "isolate" and "htm" not in ending else command
                    done = telltale(*words, "-o", path)
                    if ending in self.WRITTEN[verb]:
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertRegex(path.read_text(), re.compile(r"\A\s*(TN:.*\n)?" + begins))
                    elif (verb, ending) not in (("convert", ".info"), ("convert", ".lcov")):  # of reports
                        self.assertEqual((done.returncode, path.exists()), (2, False), done.stderr)
                        self.assertIn(f"telltale {verb} cannot write what the name", done.stderr)

    def test_an_option_chooses_for_any_name_and_other_names_choose_nothing(self):
        program = self.traced_program()
        commands = self.verbs(program)
        for command, begins in ((["graph", self.input, "--json"], "{"), (["flame", self.input, "--json"], "{"),
                                ([*commands["isolate"], "--csv"], "[a-z_]+,"), ([*commands["isolate"], "--annotations"], "::|"),
                                ([*commands["coverage"], "--to", "text"], "(?!<)"), (["convert", self.input, "--to", "csv"], "pid,")):
            for ending in (".svg", ".html", ".json", ".folded"):
                with self.subTest(command=command[0], ending=ending):
                    path = self.place / f"{command[0]}{ending}"
                    done = telltale(*command, "-o", path, "--force")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertRegex(path.read_text(), re.compile(r"\A" + begins))
        for verb, begins in (("graph", "digraph"), ("flame", "<!DOCTYPE html>"), ("resolve", "(?!{)"), ("extract-cfg", r"<\?xml"), ("isolate", "(?!{)")):
            for name in ("x", "x.txt", "x.out"):
                path = self.place / verb / name
                path.parent.mkdir(exist_ok=True)
                done = telltale(*commands[verb], "-o", path)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(path.read_text(), re.compile(r"\A" + begins))

    def test_a_name_and_an_option_that_exclude_each_other(self):
        core = self.verbs(self.traced_program())["paths"]
        done = telltale(*core, "--slice", "-n", 5, "-o", self.place / "x.html")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--html excludes --limit", done.stderr)

    def test_every_verb_with_an_output_has_it(self):
        program = programs.build("g++", source=ABORTS)
        having = {verb for verb in self.all_verbs() if "--output FILE" in telltale(verb, "--help").stdout}
        # `run` never replaces a file, and test_collect_paths.py looks at `store`.
        self.assertEqual(having, set(self.verbs(program)) | {"run", "store"})
        for verb, words in self.verbs(program).items():
            with self.subTest(verb=verb):
                self.assertIn("--force", telltale(verb, "--help").stdout)
                path = self.place / "notes.txt"
                path.write_text("Dear diary\n")
                done = telltale(*words, "-o", path)
                self.assertEqual(path.read_text(), "Dear diary\n")
                if verb == "extract-cfg":  # needs a program of telltale-cc
                    self.assertNotEqual(done.returncode, 0)
                    continue
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("notes.txt exists and is a text that begins with Dear; --force replaces it", done.stderr)
                self.assertEqual(telltale(*words, "-o", path, "--force").returncode, 0)
                self.assertNotEqual(path.read_text(), "Dear diary\n")


if __name__ == "__main__":
    unittest.main()
