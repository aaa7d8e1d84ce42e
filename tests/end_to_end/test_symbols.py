"""Names and lines of code: programs made by real compilers, and recordings that contain any of their addresses."""
import json
import os
import re
import struct
import subprocess
import tempfile
import unittest

from program_text import program_text
from slow_xray import ENTER, EXIT
from xray_recorder import CLANGS, telltale

FIRST_ASSIGNED = 1 << 27
TID = 7


def metadata(kind, body):
    return bytes([kind << 1 | 1]) + body.ljust(15, b"\0")


def trace(ids):
    """A version 5 trace in which each function is called once, for 10 ticks."""
    records = metadata(0, struct.pack("<i", TID)) + metadata(4, struct.pack("<qi", 1, 0))
    records += metadata(9, struct.pack("<i", TID)) + metadata(2, struct.pack("<HQ", 0, 1000))
    for function in ids:
        records += struct.pack("<II", function << 4 | ENTER << 1, 10) + struct.pack("<II", function << 4 | EXIT << 1, 10)
    header = struct.pack("<HHIQQQ", 5, 1, 3, 1_000_000_000, 1 << 16, 0)
    return header + metadata(7, struct.pack("<Q", len(records))) + records


def side_record(path, addresses, build_id=None, size=None, modified=None):
    """Assigns ids to `addresses` of the program at `path`, loaded at its link-time addresses."""
    status = os.stat(path)
    if build_id is None:
        notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
        build_id = bytes.fromhex(re.search("Build ID: ([0-9a-f]+)", notes)[1]) if "Build ID" in notes else b""
    size = status.st_size if size is None else size
    modified = status.st_mtime_ns if modified is None else modified
    name = path.encode()
    body = struct.pack("<IIQQQIIQQQHHI", 0, 1, 0, 0, 1 << 47, 0, 0, 0, size, modified, len(build_id), len(name), 0)
    records = b""
    for kind, body in ((1, body + build_id + name), (3, struct.pack("<II", FIRST_ASSIGNED, len(addresses)) +
                                                     struct.pack("<%dQ" % len(addresses), *addresses))):
        body = body.ljust((len(body) + 7) // 8 * 8, b"\0")
        records += struct.pack("<II", kind, 8 + len(body)) + body
    header = b"TTXRSIDE" + struct.pack("<HHIQII", 1, 256, 0, 256 + len(records), TID, 0)
    return header.ljust(256, b"\0") + records


class Symbols(unittest.TestCase):
    def setUp(self):
        self.assertTrue(CLANGS, "clang 19 or 22 is needed")
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="telltale-symbols-"))

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return path

    def compile(self, name, source, *flags, clang=None):
        program = os.path.join(self.folder, name)
        subprocess.run(["clang++-" + (clang or CLANGS[-1]), "-O1", "-Wno-unused-command-line-argument", self.write(name + ".cc", source), "-o", program,
                        *flags], check=True, timeout=120)
        return program

    def symbols(self, program):
        """Name -> (address, size)."""
        text = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
        return {match[3]: (int(match[1], 16), int(match[2], 16))
                for match in re.finditer(r"(?m)^([0-9a-f]+) ([0-9a-f]+) [Tt] (\w+)$", text)}

    def names(self, program, addresses, *options, **identity):
        """The name of each address, with file and line; and the problems of the recording."""
        path = self.write("symbols.xray", trace(range(FIRST_ASSIGNED, FIRST_ASSIGNED + len(addresses))))
        self.write("symbols.xray.side", side_record(program, addresses, **identity))
        rows = {row["id"]: row for row in json.loads(telltale("top", "--json", *options, path).stdout)["rows"]}
        problems = json.loads(telltale("info", "--json", *options, path).stdout)["problems"]
        return ([(row["function"], os.path.basename(row["file"] or ""), row["line"])
                 for row in (rows[FIRST_ASSIGNED + i] for i in range(len(addresses)))],
                [problem["message"] for problem in problems])

    def test_a_function_behind_the_end_of_a_section_has_its_own_line(self):
        """Functions in sections of their own, of every size modulo 16: some leave no padding."""
        lines = {}
        # Generated: two functions for each of 16 sizes, with one padding each.
        source = "int shared;\n"
        for size in range(16):
            for name, attribute in (("skips_%d" % size, "never"), ("follows_%d" % size, "always")):
                lines[name] = source.count("\n") + 2
                source += ("\n[[clang::xray_%s_instrument, gnu::noinline]] void %s()\n"
                           '{\n  asm volatile(".skip %d, 0x90");\n  shared += 1;\n}\n' % (attribute, name, size))
        source += "int main() { %s }\n" % " ".join(name + "();" for name in lines)
        for clang in CLANGS:
            for flags in (("-gdwarf-5",), ("-gdwarf-4",), ("-gdwarf-5", "-gsplit-dwarf"), ("-gdwarf-4", "-gsplit-dwarf"),
                          ("-gdwarf-5", "-fno-xray-instrument"), ("-gline-tables-only",)):
                with self.subTest(clang=clang, flags=flags):
                    program = self.compile("side", source, "-fxray-instrument", "-fno-xray-link-deps",
                                           "-ffunction-sections", "-no-pie", *flags, clang=clang)
                    symbols = {re.sub(r"_Z\d+(\w+)v", r"\1", name): place for name, place in self.symbols(program).items()}
                    ends = {address + size for address, size in symbols.values()}
                    self.assertTrue([name for name in lines if symbols[name][0] in ends])
                    told, _ = self.names(program, [symbols[name][0] for name in lines])
                    wanted = [(name + "()", "side.cc", line) for name, line in lines.items()]
                    if "-gline-tables-only" in flags:  # no declarations: the first line of code
                        self.assertEqual([row[:2] for row in told], [row[:2] for row in wanted])
                        for row, want in zip(told, wanted):
                            self.assertIn(row[2] - want[2], (0, 1, 2, 3), row)
                        continue
                    self.assertEqual(told, wanted)
                    if "-fno-xray-instrument" in flags:
                        continue
                    functions = json.loads(telltale("sites", "--json", program).stdout)["programs"][0]["functions"]
                    listed = {row["function"]: (os.path.basename(row["file"] or ""), row["line"]) for row in functions}
                    for name, path, line in wanted:
                        self.assertEqual(listed.get(name, (path, line)), (path, line))

    def test_a_function_ends_where_its_symbol_does(self):
        program = self.compile("ends", program_text("xray/cases/apart.cc"), "-g", "-no-pie",
                               "-Wl,--section-start=.apart=0x500000,--section-start=.close=0x500040")
        address, size = self.symbols(program)["alone"]
        told, _ = self.names(program, [address, address + size - 1, address + size, address - 1])
        self.assertEqual(told[0], ("alone", "ends.cc", 3))
        self.assertEqual(told[1][0], "alone")
        self.assertEqual(told[2], ("@%#x" % (address + size), "", None))
        self.assertEqual(told[3], ("@%#x" % (address - 1), "", None))

    NAMED = program_text("xray/cases/named.cc")

    def test_a_debug_file_of_another_build_names_nothing(self):
        """Only the build-id tells two builds of the same layout apart."""
        debug = {}
        for name in ("right", "wrong"):
            program = self.compile(name, self.NAMED.replace("NAME", name), "-g", "-no-pie", "-fxray-instrument",
                                   "-fxray-instruction-threshold=1", "-Wl,--build-id=sha1")
            debug[name] = os.path.join(self.folder, name + " apart")  # outside the search path
            subprocess.run(["objcopy", "--only-keep-debug", program, debug[name]], check=True)
        right = os.path.join(self.folder, "right")
        subprocess.run(["strip", right], check=True)
        path = self.write("plain.xray", trace([1]))

        def called(debug_file):
            (row,) = json.loads(telltale("top", "--json", "--program", right, "--program", debug_file, path).stdout)["rows"]
            return row["function"]
        self.assertEqual(called(debug["right"]), "right")
        self.assertTrue(called(debug["wrong"]).startswith("@"), called(debug["wrong"]))

    def test_without_a_build_id_size_and_time_tell(self):
        program = self.compile("plain", self.NAMED.replace("NAME", "plainly"), "-no-pie", "-Wl,--build-id=none")
        status = os.stat(program)
        addresses = [self.symbols(program)["plainly"][0]]
        self.assertEqual(self.names(program, addresses), ([("plainly", "", None)], []))
        for other in ({"size": status.st_size + 1}, {"modified": status.st_mtime_ns + 1},
                      {"modified": status.st_mtime_ns - 1}, {"build_id": b"\1\2\3\4"}):
            with self.subTest(other=other):
                told, problems = self.names(program, addresses, **other)
                self.assertEqual(told, [("@%#x" % addresses[0], "", None)])
                self.assertEqual(len(problems), 1)
                self.assertIn("its functions have no names", problems[0])


if __name__ == "__main__":
    unittest.main()
