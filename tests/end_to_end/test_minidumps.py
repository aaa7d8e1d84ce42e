"""telltale paths of minidumps as other programs write them, and of damaged ones: the answer is that for the core file."""
import os
import pathlib
import unittest
import zlib

from core_files import crash
from minidump_file import ARM, elf_code_view, write_minidump
from sampler_programs import RELEASES, SamplerCase, build, run
from test_path_sources import PROGRAMS, paths, traced

TELLTALE = os.environ["TELLTALE"]


class Minidumps(SamplerCase):
    def setUp(self):
        super().setUp()
        self.program = build(self.path("walk"), RELEASES[0], "-g", "-O0", f"--trace={PROGRAMS / 'recorded_walk.schema'}",
                             "-silent", PROGRAMS / "recorded_walk.c")
        self.core = crash(self.path("core"), self.program, self.path("trace"), 3, 200)
        self.expected = traced(paths(self.core))
        self.assertGreater(len(self.expected[0]), 0)

    def write(self, **faults):
        return write_minidump(self.path("walk.dmp"), self.core, **faults)

    def test_memory_in_pieces(self):
        self.assertEqual(traced(paths(self.write())), self.expected)

        def cut(stacks, size):
            return [(address + i, data[i:i + size]) for address, data in stacks for i in range(0, len(data), size)]
        for size in (100, 101):  # numbers lie in two pieces
            self.assertEqual(traced(paths(self.write(pieces=lambda stacks: cut(stacks, size)))), self.expected, size)
            self.assertEqual(traced(paths(self.write(pieces=lambda stacks: cut(stacks, size)[::-1]))), self.expected, size)
            self.assertEqual(traced(paths(self.write(pieces=lambda stacks: stacks + cut(stacks, size)))), self.expected, size)

    def test_modules_with_relative_paths_are_found_by_their_build_ids(self):
        dump = self.write(module_name=lambda path: "./" + os.path.basename(path) if path == str(self.program) else path)
        self.assertIn("./walk (build-id ", run(TELLTALE, "paths", dump).stderr)
        self.assertEqual(traced(paths(dump, "--program", self.program)), self.expected)

    def test_libraries_without_a_path_are_found_by_their_build_ids(self):
        for prefix, frame in (("", r"\n#\d+ +__libc_start_main\b"), ("other-", r"\n +no paths: other-libc\.so\S* was not found; use --program\n")):
            dump = self.write(module_name=lambda path: path if path == str(self.program) else prefix + os.path.basename(path))
            self.assertEqual(traced(paths(dump)), self.expected)
            self.assertRegex(run(TELLTALE, "paths", dump).stdout, frame)

    def test_programs_without_a_build_id(self):
        program = build(self.path("walk"), RELEASES[0], "-g", "-O0", f"--trace={PROGRAMS / 'recorded_walk.schema'}", "-silent",
                        "-Wl,--build-id=none", PROGRAMS / "recorded_walk.c")
        self.core = crash(self.path("core"), program, self.path("trace"), 3, 200)
        checksum = zlib.crc32(program.read_bytes())
        for own, proves in ((b"LEpB" + checksum.to_bytes(4, "little"), True), (b"RSDS" + bytes(21), False)):  # LLDB's, Crashpad's
            dump = self.write(code_view=lambda path: own if path == str(program) else elf_code_view(path))
            for words in ((), ("--program", program)):
                self.assertEqual(traced(paths(dump, *words)), self.expected)
            done = run(TELLTALE, "paths", dump)
            self.assertEqual("answers are right only if it is the file that ran" in done.stderr, not proves, done.stderr)
        dump = self.write(code_view=lambda path: b"LEpB" + bytes(3) + b"1" if path == str(program) else elf_code_view(path))
        self.assertEqual(run(TELLTALE, "paths", dump, "--program", program).returncode, 3)

    def test_a_processor_that_is_not_named_or_another_is_said(self):
        for processor, message in ((0, "names no processor that telltale knows"), (ARM, "it is a program of another machine")):
            for words in ((), ("--program", self.program)):
                done = run(TELLTALE, "paths", self.write(processor=processor), *words)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, rf"telltale: \S+/walk cannot be used: .*{message}\n")
                self.assertNotIn("was not found", done.stderr)

    def test_a_cut_file_cannot_say_what_it_is_of(self):
        data = pathlib.Path(self.write()).read_bytes()
        cut = pathlib.Path(self.path("cut.dmp"))
        for size in (40, len(data) // 2, len(data) - 40):
            cut.write_bytes(data[:size])
            done = run(TELLTALE, "paths", cut, "--program", self.program)
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, r"cut.dmp: the file is cut before, or inside, what names its programs, so that nothing says "
                                          r"whether \S+/walk is one of them\n$")


if __name__ == "__main__":
    unittest.main()
