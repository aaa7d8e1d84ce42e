"""`telltale sites` on programs that real compilers and linkers made, compared with llvm-xray, nm and the source."""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time
import unittest

import xray_programs
from program_text import program_text
from xray_programs import COMPILERS, CROSS_TARGETS, LINKER, LLVM_XRAY, Workshop, telltale

LINE = re.compile(r"- \{ id: (\d+), address: 0x([0-9A-F]+), function: 0x([0-9A-F]+), kind: ([a-z-]+), "
                  r"always-instrument: (true|false), function-name: (.*), version: (\d) \}")


def sites(*arguments, **options):
    return json.loads(telltale("sites", "--json", "--sleds", *arguments, **options).stdout)["programs"][0]


def our_rows(program, name="linkage_name"):
    """The sleds in llvm-xray's terms."""
    return [(function["id"], int(sled["address"], 16), int(function["address"], 16), sled["kind"],
             sled["always_instrument"], function[name], sled["version"])
            for function in program["functions"] for sled in function["sleds"]]


def llvm_rows(text):
    rows = []
    for line in text.splitlines():
        if match := LINE.fullmatch(line):
            ident, address, function, kind, always, name, version = match.groups()
            rows.append((int(ident), int(address, 16), int(function, 16), kind, always == "true",
                         name.strip("'\""), int(version)))
    return rows


class SitesTest(unittest.TestCase):
    def setUp(self):
        self.workshop = self.enterContext(Workshop())

    def llvm(self, binary, *flags):
        return llvm_rows(self.workshop.run(LLVM_XRAY, "extract", "--symbolize", "--no-demangle", *flags, binary).stdout)

    def compare(self, binary):
        ours = our_rows(sites(binary))
        theirs = self.llvm(binary)
        self.assertGreater(len(theirs), 5)
        self.assertEqual([row[:5] + row[6:] for row in ours], [row[:5] + row[6:] for row in theirs])
        # Constructors and destructors have two names for one address (C1, C2); both are correct.
        plain = [re.sub(r"([CD])[12]E", r"\1xE", row[5]) for row in ours]
        self.assertEqual(plain, [re.sub(r"([CD])[12]E", r"\1xE", row[5]) for row in theirs])

    def test_every_way_of_linking_agrees_with_llvm_xray(self):
        for compiler in COMPILERS:
            ways = {"pie": ["-fPIE", "-pie"], "fixed": ["-no-pie"], "gc": ["-ffunction-sections", "-Wl,--gc-sections"],
                    "no_index": ["-fno-xray-function-index"]}
            if compiler == "22":
                ways["shared.so"] = ["-fPIC", "-shared", "-fxray-shared"]
            for way, flags in ways.items():
                with self.subTest(compiler=compiler, way=way):
                    binary = self.workshop.compile(way, *flags, compiler=compiler)
                    self.compare(binary)
                    self.assertEqual(sites(binary)["problems"], [])

    def test_typed_events_that_llvm_xray_refuses(self):
        binary = self.workshop.compile("typed", "-DTYPED")
        program = sites(binary)
        self.assertEqual(program["sleds_by_kind"]["typed-event"], 1)
        refused = subprocess.run([LLVM_XRAY, "extract", binary], capture_output=True, text=True)
        self.assertNotEqual(refused.returncode, 0, "llvm-xray has learnt typed events: the YAML may now have them")
        written = telltale("sites", binary, "--to", "llvm-xray-yaml", "-o", self.workshop.path / "map.yaml")
        self.assertIn("1 sleds have kinds without a name in llvm-xray", written.stderr)

    def test_names_and_lines(self):
        source = xray_programs.PROGRAM.splitlines()
        expected = {name: 1 + next(i for i, line in enumerate(source) if text in line) for name, text in
                    {"ns::Shape::get(int) const": "::get(int k) const {", "hidden(int)": "static int hidden",
                     "tail": "int tail(", "logged(long)": "long logged", "main": "int main"}.items()}
        for compiler in COMPILERS:
            for flags in (["-g"], ["-gdwarf-4"], ["-gline-tables-only"], ["-g", "-gz"]):
                with self.subTest(compiler=compiler, flags=flags):
                    program = sites(self.workshop.compile("named", *flags, compiler=compiler))
                    found = {function["function"]: function for function in program["functions"]}
                    for name, line in expected.items():
                        self.assertEqual(pathlib.Path(found[name]["file"]).name, "program.cc")
                        # Without declarations the first line of the body is used.
                        slack = 1 if "only" in flags[0] else 0
                        self.assertIn(found[name]["line"] - line, range(slack + 1), name)
                    self.assertIn("int ns::twice<int>(int)", found)

    def test_stripped_programs_keep_the_map(self):
        binary = self.workshop.compile("whole")
        whole = sites(binary)
        stripped = self.workshop.path / "stripped"
        self.workshop.run("strip", "-s", "-o", stripped, binary)
        program = sites(stripped)
        self.assertEqual([row[:5] for row in our_rows(program)], [row[:5] for row in our_rows(whole)])
        hidden = next(f for f in whole["functions"] if f["function"] == "hidden(int)")
        self.assertEqual(program["functions"][hidden["id"] - 1]["function"], "@" + hidden["address"])

    def split(self, binary, debug):
        """Moves the debug information to `debug`; returns the stripped program."""
        stripped = binary.with_name(binary.name + ".stripped")
        debug.parent.mkdir(parents=True, exist_ok=True)
        self.workshop.run("objcopy", "--only-keep-debug", binary, debug)
        self.workshop.run("strip", "-s", "-o", stripped, binary)
        return stripped

    def names(self, *arguments, **options):
        program = sites(*arguments, **options)
        return [(f["function"], f["line"]) for f in program["functions"]], program["debug_file"]

    def test_separate_debug_file_by_build_id(self):
        binary = self.workshop.compile("whole", "-Wl,--build-id=sha1")
        build_id = sites(binary)["build_id"]
        self.assertRegex(build_id, "^[0-9a-f]{40}$")
        root = self.workshop.path / "root"
        debug = root / ".build-id" / build_id[:2] / (build_id[2:] + ".debug")
        stripped = self.split(binary, debug)
        whole, _ = self.names(binary)
        self.assertNotEqual(self.names(stripped)[0], whole, "found without being told where")
        self.assertEqual(self.names(stripped, "--debug-directory", root), (whole, str(debug)))
        self.assertEqual(self.names(stripped, "--debug-file", debug)[0], whole)
        refused = telltale("sites", debug, check=False)
        self.assertEqual(refused.returncode, 3)
        self.assertIn("separate debug file", refused.stderr)

    def test_separate_debug_file_by_link_and_checksum(self):
        binary = self.workshop.compile("whole", "-Wl,--build-id=none")
        whole, _ = self.names(binary)
        debug = self.workshop.path / "whole.debug"
        stripped = self.split(binary, debug)
        self.workshop.run("objcopy", f"--add-gnu-debuglink={debug}", stripped)
        self.assertEqual(self.names(stripped), (whole, str(debug)))
        with debug.open("r+b") as file:  # one bit of another build
            file.seek(-1, os.SEEK_END)
            last = file.read(1)
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last[0] ^ 1]))
        self.assertNotEqual(self.names(stripped)[0], whole, "the checksum was not compared")

    @unittest.skipUnless(shutil.which("debuginfod"), "needs Debian's debuginfod")
    def test_separate_debug_file_from_debuginfod(self):
        binary = self.workshop.compile("whole", "-Wl,--build-id=sha1")
        whole, _ = self.names(binary)
        served = self.workshop.path / "served"
        stripped = self.split(binary, served / "whole.debug")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = subprocess.Popen(["debuginfod", "-F", "-p", str(port), "-d", ":memory:", str(served)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.workshop.path)
        try:
            for attempt in range(60):
                environment = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{port}",
                               "DEBUGINFOD_CACHE_PATH": str(self.workshop.path / f"cache{attempt}")}
                names, debug_file = self.names(stripped, environment=environment)
                if names == whole:
                    break
                time.sleep(0.5)
            self.assertEqual(names, whole)
            self.assertEqual(debug_file, "debuginfod")
        finally:
            server.terminate()
            server.wait(timeout=30)

    @unittest.skipUnless(LINKER, "needs ld.lld")
    def test_other_machines(self):
        for target in CROSS_TARGETS:
            for position in ("-fPIC", "-fno-PIC"):
                if target.startswith(("powerpc", "mips")) and position == "-fno-PIC":
                    continue  # clang 22 crashes on the one and ignores the other
                with self.subTest(target=target, position=position):
                    self.check_machine(target, position)

    def check_machine(self, target, position):
        objects = self.workshop.compile("cross.o", f"--target={target}", position, "-ffreestanding", "-c",
                                        source="freestanding.c")
        binary = self.workshop.path / "cross"
        self.workshop.run(LINKER, *(["-pie"] if position == "-fPIC" else []), "-e", "_start", objects, "-o", binary)
        program = sites(binary)
        self.assertEqual(program["problems"], [])
        self.assertEqual([f["function"] for f in program["functions"][:3]], ["leaf", "logged", "_start"])
        self.assertEqual(program["functions"][1]["line"], 3)
        symbols = {name: int(address, 16) for address, _, name in
                   (line.split() for line in self.workshop.run("llvm-nm-19", "--defined-only", binary).stdout.splitlines())}
        for function in program["functions"]:
            self.assertEqual(int(function["address"], 16), symbols[function["function"]])
            self.assertIn(function["sleds"][0]["kind"], ("function-enter", "log-args-enter"))
        if not target.startswith(("s390x", "mips")):  # llvm-xray 22 refuses these
            self.compare_cross(binary, program)
        # The object file has the same values before a linker has relocated anything.
        relocatable = sites(objects)
        self.assertEqual(relocatable["problems"], [])
        offset = int(program["functions"][0]["address"], 16) - int(relocatable["functions"][0]["address"], 16)
        if not target.startswith(("riscv", "loong")):  # their linkers shorten code
            self.assertEqual([row[1] + offset for row in our_rows(relocatable)], [row[1] for row in our_rows(program)])
        self.assertEqual([f["function"] for f in relocatable["functions"]], [f["function"] for f in program["functions"]])

    def compare_cross(self, binary, program):
        theirs = llvm_rows(self.workshop.run(LLVM_XRAY, "extract", binary).stdout)
        self.assertEqual([row[:5] for row in our_rows(program)], [row[:5] for row in theirs])

    def test_object_file_with_a_section_for_every_function(self):
        objects = self.workshop.compile("parts.o", "-c", "-ffunction-sections")
        linked = self.workshop.compile("linked", "-ffunction-sections")
        self.assertEqual([f["function"] for f in sites(objects)["functions"]],
                         [f["function"] for f in sites(linked)["functions"]])
        self.assertLess(len(self.llvm(objects)), len(our_rows(sites(objects))), "llvm-xray reads one section only")

    def test_llvm_xray_accepts_our_map_and_we_accept_both(self):
        binary = self.workshop.compile("whole")
        ours = self.workshop.path / "ours.yaml"
        telltale("sites", binary, "--to", "llvm-xray-yaml", "-o", ours)
        self.workshop.run("./whole", env={**os.environ, "XRAY_OPTIONS": "patch_premain=true xray_mode=xray-basic "
                                          "xray_logfile_base=log.", "XRAY_BASIC_OPTIONS": "func_duration_threshold_us=0"})
        log = next(self.workshop.path.glob("log.*"))
        accounts = [self.workshop.run(LLVM_XRAY, "account", log, "-d", "-m", given, "-f", "csv").stdout.splitlines()
                    for given in (binary, ours)]
        self.assertGreater(len(accounts[0]), 3)
        self.assertEqual([re.sub(r'"[^"]*",', "", line, 1).replace(" >", ">") for line in accounts[1]][1:] and
                         [line.split(",")[:2] for line in accounts[1]],
                         [line.split(",")[:2] for line in accounts[0]])
        theirs = self.workshop.path / "theirs.yaml"
        theirs.write_text(self.workshop.run(LLVM_XRAY, "extract", "--symbolize", "--no-demangle", binary).stdout)
        first = our_rows(sites(theirs), "function")
        self.assertEqual([row[:5] for row in first], [row[:5] for row in our_rows(sites(ours))])
        self.assertIn("int ns::twice<int>(int)", [row[5] for row in first])

    def test_hostile_names_stay_text(self):
        evil = '"\\e]0;x\\a</script>,=cmd\\n"'
        source = self.workshop.path / "evil.cc"
        source.write_text(program_text("xray/cases/evil.cc").replace("NAME", evil))
        binary = self.workshop.compile("evil", source="evil.cc")
        name = "\x1b]0;x\a</script>,=cmd\n"
        self.assertIn(name, [f["function"] for f in sites(binary)["functions"]])
        self.assertNotRegex(telltale("sites", binary).stdout, r"[\x00-\x09\x0b-\x1f]")
        target = self.workshop.path / "evil.yaml"
        telltale("sites", binary, "--to", "llvm-xray-yaml", "-o", target)
        self.assertIn(name, [f["function"] for f in sites(target)["functions"]])

    def test_exit_statuses(self):
        plain = self.workshop.path / "plain"
        self.workshop.run("clang++-22", "program.cc", "-o", plain)
        nothing = telltale("sites", plain)
        self.assertIn("has no XRay instrumentation map", nothing.stderr)
        binary = self.workshop.compile("whole")
        cut = self.workshop.path / "cut"
        cut.write_bytes(binary.read_bytes()[:-100])
        for arguments, status in ((["sites"], 2), (["sites", binary, "--csv", "--json"], 2),
                                  (["sites", binary, plain, "--to", "llvm-xray-yaml"], 2), (["sites", "absent"], 3),
                                  (["sites", cut], 3), (["sites", binary, "absent"], 3),
                                  (["sites", binary, "-o", "/dev/full"], 3)):
            self.assertEqual(telltale(*arguments, check=False).returncode, status, arguments)
        rows = telltale("sites", binary, "--csv").stdout.splitlines()
        self.assertEqual(rows[0], "program,id,address,sleds,function,place")
        self.assertEqual(len(rows) - 1, sites(binary)["function_count"])


if __name__ == "__main__":
    unittest.main()
