"""StackTrack's logged variables of types that have a formatter (fmt's, and std::format's where a compiler has it)."""
import json
import shutil
import subprocess
import unittest

import recorder_programs as programs
import stacktrack_file

SOURCE = programs.SOURCE / "tests/programs/recorders/formatted.cc"


class Values(unittest.TestCase):
    def build(self, name, command, *flags):
        program = programs.folder() / name
        return program, subprocess.run([*command, f"-I{programs.SOURCE}/include", *flags, str(SOURCE), str(programs.STACKTRACK), "-o",
                                        str(program), "-pthread", *(["-lfmt"] if "-DWITH_FMT" in flags else [])], capture_output=True,
                                       text=True, timeout=120)

    def check(self, name, command, *flags):
        program, done = self.build(name, command, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = programs.new_folder() / "values.tlg"
        programs.run("stacktrack", program, path=path)
        hits = stacktrack_file.File(path).hits
        expected = []
        for i in range(3):
            expected += [("order", f"order {i} of a buyer <&> whose name is longer than one record"), ("string", "as it is"),
                         ("number", ("0", "0.5", "1")[i])]
        self.assertEqual([(hit[2], hit[4]) for hit in hits[:-1]], expected)
        self.assertEqual(hits[-1][2], "long")
        self.assertEqual(hits[-1][4], ("order 7 of " + "x" * 3000)[:2000])
        # A value without any formatter is rejected with a message.
        _, refused = self.build(name + "-refused", command, *flags, "-DNO_FORMATTER")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("formatter", refused.stderr)

    @unittest.skipIf(programs.SANITIZED, "the library is built with sanitizers")
    def test_fmt(self):
        for standard in ("-std=c++17", "-std=c++20"):
            with self.subTest(standard):
                self.check("fmt" + standard, ["g++", standard, "-O1", "-Wall", "-Wextra", "-Werror"], "-DWITH_FMT")

    @unittest.skipIf(programs.SANITIZED, "the library is built with sanitizers")
    def test_std_format(self):
        command = ["clang++-19", "-stdlib=libc++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror"]
        there = shutil.which(command[0]) and subprocess.run([*command[:3], "-fsyntax-only", "-x", "c++", "-"], input="#include <format>\n",
                                                            capture_output=True, text=True).returncode == 0
        if not there:
            self.skipTest("no compiler here has <format>")
        self.check("std", command)


    @unittest.skipIf(programs.SANITIZED, "the library is built with sanitizers")
    def test_uncommon_types(self):
        expected = [("none", "nullptr"), *(("wide", number) for number in (
            "1267650600228229401496703205381", "-1267650600228229401496703205376", "-170141183460469231731687303715884105728",
            "340282366920938463463374607431768211455", "0"))]
        source = programs.SOURCE / "tests/programs/recorders/uncommon_values.cc"
        warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wold-style-cast", "-Werror"]
        for number, (compiler, standard) in enumerate((compiler, standard) for compiler in ("g++", "clang++-19", "clang++-22")
                                                      for standard in ("c++17", "gnu++20", "c++23")):
            if shutil.which(compiler) is None:
                continue
            with self.subTest(compiler=compiler, standard=standard):
                program = programs.folder() / f"uncommon-{number}"
                done = subprocess.run([compiler, f"-std={standard}", *warnings, f"-I{programs.SOURCE}/include", source, programs.STACKTRACK,
                                       "-o", program, "-pthread"], capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)
                path = programs.new_folder() / "values.tlg"
                programs.run("stacktrack", program, path=path)
                top = subprocess.run([programs.TELLTALE, "top", "--json", path], capture_output=True, text=True, check=True).stdout
                unnamed = source.read_text().split('TELLTALE_BLOCK("")')[0].count("\n") + 1
                self.assertIn(f"uncommon_values.cc:{unnamed}", {row["function"] for row in json.loads(top)["rows"]})
                hits = [(hit[2], hit[4]) for hit in stacktrack_file.File(path).hits]
                self.assertEqual([hit for hit in hits if hit[0] in ("none", "wide")], expected)
                self.assertEqual([text for name, text in hits if name == "volatile"], ["x", "-5", "1.5", "0x0"])
                self.assertEqual([text for name, text in hits if name == "throws"], ["(exception)"] * 2)
                encoded = "w\u00e4\u20ac\U0001f600"
                texts = [encoded, "wide", encoded, "\ufffdx\ufffd", encoded, "\ufffd\ufffd", encoded,
                         *(["eight"] if standard != "c++17" else []), "(null)", "abc", "\u20ac" * 666]
                self.assertEqual([text for name, text in hits if name == "text"], texts)
                functions = [text for name, text in hits if name == "function"]
                self.assertGreater(int(functions[0], 16), 4095)
                self.assertEqual(functions[1], functions[0])


class ThreadSanitizer(unittest.TestCase):
    """Of the program alone: the installed library is built without it."""

    @unittest.skipIf(programs.SANITIZED, "the library is built with sanitizers")
    def test_threads_that_follow_each_other_do_not_race(self):
        source = programs.SOURCE / "tests/programs/recorders/cases/short_threads.cc"
        for compiler in ("g++", "clang++-22"):
            with self.subTest(compiler):
                program = programs.folder() / f"short-threads-{compiler}"
                subprocess.run([compiler, "-std=c++17", "-O1", "-g", "-fsanitize=thread", f"-I{programs.SOURCE}/include", source,
                                programs.STACKTRACK, "-o", program, "-pthread"], check=True, timeout=120)
                path = programs.new_folder() / "threads.tlg"
                # ThreadSanitizer needs mappings where it expects them.
                done = programs.run("stacktrack", program, path=path, before=("setarch", "-R"))
                self.assertEqual(done.stderr, "")
                self.assertEqual(len([hit for hit in stacktrack_file.File(path).hits if hit[2] == "step"]), 400)


DISABLED = (programs.SOURCE / "tests/programs/recorders/disabled_macros.cc").read_text()


class Disabled(unittest.TestCase):
    def test_nothing_is_left(self):
        """The same code, byte for byte, and no additional symbol, compared with macros that expand to nothing."""
        folder = programs.new_folder()
        (folder / "work.cc").write_text(DISABLED)
        for compiler in ("g++", "clang++-19"):
            for level in ("-O0", "-O2"):
                with self.subTest(compiler + level):
                    seen = []
                    for define in ("-DTELLTALE_STACKTRACK_DISABLED", "-DNO_MACROS"):
                        subprocess.run([compiler, "-std=c++17", level, "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", define,
                                        f"-I{programs.SOURCE}/include", "-c", "work.cc", "-o", "work.o"], cwd=folder, check=True, timeout=60)
                        code = subprocess.run(["objdump", "-d", "-r", "work.o"], cwd=folder, capture_output=True, text=True, check=True)
                        names = subprocess.run(["nm", "work.o"], cwd=folder, capture_output=True, text=True, check=True)
                        seen.append((code.stdout, names.stdout))
                    self.assertIn("work", seen[0][1])
                    self.assertEqual(seen[0], seen[1])
                    enabled = subprocess.run([compiler, "-std=c++17", level, f"-I{programs.SOURCE}/include", "-c", "work.cc", "-o",
                                              "work.o"], cwd=folder, timeout=60)
                    self.assertEqual(enabled.returncode, 0)


if __name__ == "__main__":
    unittest.main()
