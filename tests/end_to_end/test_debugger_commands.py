"""The commands for gdb and LLDB, of programs whose files a core file does not name: symbols that the user gave, and
libraries that were loaded by a relative path."""
import json
import re
import shutil
import unittest

from core_files import crash
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run
from test_paths import PROGRAMS, paths

COMMANDS = SOURCE_DIR / "debuggers"
LLDB = shutil.which("lldb-19") or shutil.which("lldb")
USED = r"\n#0 +used_loaded at library.c:\d+\n +(\d|no) .*path.*\n"
WALK = r"\n#\d +walk at recorded_walk.c:\d+\n +(\d|no) .*path.*\n"


class DebuggerCommands(SamplerCase):
    def strip(self, program):
        """The stripped program, and its debug file elsewhere, which nothing names."""
        stripped, debug = self.path("stripped"), self.path("elsewhere.debug")
        run("objcopy", "--only-keep-debug", program, debug)
        run("strip", "-g", program, "-o", stripped)
        return stripped, debug

    def gdb(self, *commands, words=()):
        return run("gdb", "-nx", "-q", "-batch", "-ex", f"source {COMMANDS / 'gdb/telltale_paths.py'}",
                   *(word for command in commands for word in ("-ex", command)), "--args", *words)

    def lldb(self, *commands, words=()):
        """`commands` are for the program that has stopped by a signal or at a breakpoint."""
        return run(LLDB, "--no-lldbinit", "--batch", "-o", f"command script import {COMMANDS / 'lldb/telltale_paths.py'}",
                   *(word for command in commands for word in (command[:2], command[3:])), "--", *words, cwd=self.folder)

    def walk(self):
        return build(self.path("walk"), RELEASES[0], "-g", "-O0", f"--trace={PROGRAMS / 'recorded_walk.schema'}", "-silent",
                     PROGRAMS / "recorded_walk.c")

    def libraries(self):
        """A program, and a library that it loads."""
        sources = PROGRAMS / "libraries"
        options = ("-g", "-O0", "--trace=pt.schema", "-silent")
        for name in ("linked", "loaded"):
            build(self.path(f"{name}.so"), RELEASES[0], *options, "-shared", "-fPIC", f"-DNAME={name}", sources / "library.c")
        program = build(self.path("main"), RELEASES[0], *options, sources / "main.c", self.path("linked.so"), f"-Wl,-rpath,{self.folder}")
        return program, self.path("loaded.so")

    def test_gdb_with_symbols_from_elsewhere(self):
        stripped, debug = self.strip(self.walk())
        words = (stripped, self.path("trace"), 3, 200)
        without = self.gdb("run", "telltale-paths", words=words)
        self.assertNotRegex(without.stdout, WALK)
        for commands in (("run", f"symbol-file {debug}"), (f"symbol-file {debug}", "run")):
            done = self.gdb(*commands, "telltale-paths", words=words)
            self.assertRegex(done.stdout, WALK, done.stderr)
        core = crash(self.path("core"), *words)
        done = self.gdb(f"core-file {core}", f"symbol-file {debug}", "telltale-paths", words=words[:1])
        self.assertRegex(done.stdout, WALK, done.stderr)

    def test_gdb_with_symbols_of_a_library_from_elsewhere(self):
        program, library = self.libraries()
        stripped, debug = self.strip(library)
        commands = ("set breakpoint pending on", "break used_loaded", "run", f"add-symbol-file {debug} 0", "telltale-paths")
        done = self.gdb(*commands, words=(program, stripped))
        self.assertRegex(done.stdout, USED, done.stderr)
        done = self.gdb(*commands[:3], commands[4], words=(program, stripped))
        self.assertNotRegex(done.stdout, USED, done.stderr)

    def test_gdb_needs_no_memory_but_stacks_and_variables(self):
        """gdb's own command writes the shadow of AddressSanitizer too, many gigabytes."""
        program = build(self.path("walk"), RELEASES[0], "-g", "-O0", "-fsanitize=address", f"--trace={PROGRAMS / 'recorded_walk.schema'}",
                        "-silent", PROGRAMS / "recorded_walk.c")
        done = run("prlimit", f"--fsize={64 << 20}", "gdb", "-nx", "-q", "-batch", "-ex",
                   f"source {COMMANDS / 'gdb/telltale_paths.py'}", "-ex", "run", "-ex", "telltale-paths", "--args", program,
                   self.path("trace"), 3, 200)
        self.assertRegex(done.stdout, WALK, done.stderr)

    def test_gdb_shows_what_its_core_file_has(self):
        program = build(self.path("threads"), RELEASES[0], "-g", "-O2", "--trace=pt.schema", "-silent", "-pthread",
                        PROGRAMS / "two_threads.cc", cxx=True)
        core = self.path("core")
        done = self.gdb("run", f"generate-core-file {core}", "thread 2", "up", "telltale-paths --json", "thread", "frame",
                        words=(program,))
        shown = json.loads(re.search(r"^\{$.*?^\}$", done.stdout, re.MULTILINE | re.DOTALL)[0])
        expected = paths(core, "--program", program)
        for document in (shown, expected):
            document["threads"].sort(key=lambda thread: thread["tid"])
            self.assertGreater(len(document["threads"]), 1)
            for frame in (frame for thread in document["threads"] for frame in thread["frames"]):
                del frame["module"]
        self.assertEqual(shown["threads"], expected["threads"])
        self.assertIn("[Current thread is 2 ", done.stdout)
        self.assertRegex(done.stdout.splitlines()[-2], "^#1 ")

    @unittest.skipUnless(LLDB, "LLDB is not installed")
    def test_lldb_with_symbols_from_elsewhere(self):
        stripped, debug = self.strip(self.walk())
        words = (stripped, self.path("trace"), 3, 200)
        self.assertNotRegex(self.lldb("-o run", "-k telltale-paths", words=words).stdout, WALK)
        done = self.lldb("-o run", f"-k target symbols add {debug}", "-k telltale-paths", words=words)
        self.assertRegex(done.stdout, WALK, done.stderr)

    @unittest.skipUnless(LLDB, "LLDB is not installed")
    def test_lldb_with_a_library_that_was_loaded_by_a_relative_path(self):
        program, _ = self.libraries()
        done = self.lldb("-o breakpoint set -n used_loaded", "-o run", "-o telltale-paths", words=(program, "./loaded.so"))
        self.assertRegex(done.stdout, USED, done.stderr)


if __name__ == "__main__":
    unittest.main()
