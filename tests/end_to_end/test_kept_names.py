"""Names of functions whose program was rebuilt or removed after it was recorded."""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

import recorded_programs as programs
from own_recorder import Side
from recorded_programs import Recorded, calls, expected_calls, telltale

KINDS = (("g++", programs.CALL_FLAGS), (programs.CLANG, programs.XRAY_FLAGS))
NAME = 6  # kind of record


def copy_of(program):
    copy = pathlib.Path(tempfile.mkdtemp(dir=programs.folder())) / "program"
    shutil.copy(program, copy)
    return copy


def recorded_alone(program, *arguments):
    """The recording of a run without `telltale run`: it has no names."""
    trace = pathlib.Path(tempfile.mkdtemp(dir=programs.folder())) / "alone.xray"
    subprocess.run([program, *map(str, arguments)], check=True, timeout=60, capture_output=True,
                   env={**os.environ, "LD_PRELOAD": str(programs.RECORDER), "TELLTALE_XRAY": f"file={trace}"})
    return trace


class KeptNames(unittest.TestCase):
    def test_a_recording_keeps_its_names(self):
        for compiler, flags in KINDS:
            for options in ([], ["--mode", "ring"], ["--set", "version=1"]):
                with self.subTest(compiler=compiler, options=options):
                    program = copy_of(programs.build(compiler, *flags))
                    run = Recorded(program, 5, options=options)
                    before = telltale("top", "--json", run.file)
                    self.assertIn("shop::fib(int)", before.stdout)
                    self.assertIn("source.cc", before.stdout)
                    # Rebuilt, then removed.
                    shutil.copy(programs.build(compiler, *flags, "-O2"), program)
                    for _ in range(2):
                        after = telltale("top", "--json", run.file)
                        self.assertEqual((after.stdout, after.stderr), (before.stdout, ""))
                        self.assertEqual(telltale("check", run.file).returncode, 0)
                        program.unlink(missing_ok=True)

    def test_libraries_that_are_loaded_again(self):
        """Their functions have two numbers (gcc), or the object has two records (clang)."""
        text = (programs.PROGRAMS / "recorders/loads_again.cc").read_text()
        for compiler, flags in KINDS:
            with self.subTest(compiler=compiler):
                shared = (*flags, "-fxray-shared", "-fPIC", "-rdynamic") if flags == programs.XRAY_FLAGS else flags
                if "-fxray-shared" in shared and not compiler.endswith("-22"):
                    continue
                place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
                library = programs.build(compiler, *shared, "-fPIC", "-shared", "-DLIBRARY", source=text, name="lib.so")
                program = shutil.copy(programs.build(compiler, *shared, source=text), place / "program")
                shutil.copy(library, place / "lib.so")
                run = Recorded(program, place / "lib.so")
                self.assertEqual(run.done.returncode, 0, run.done.stderr)
                before = telltale("top", "--json", run.file)
                self.assertIn('"in_library"', before.stdout)
                (place / "lib.so").unlink()
                os.unlink(program)
                after = telltale("top", "--json", run.file)
                self.assertEqual((after.stdout, after.stderr), (before.stdout, ""))

    def test_recordings_that_are_read_together(self):
        """Each has the names of the functions that were called in its process."""
        for compiler, flags in KINDS:
            with self.subTest(compiler=compiler):
                program = copy_of(programs.build(compiler, *flags))
                run = Recorded(program, 10, "fork")
                self.assertEqual(len(run.files), 2, run.done.stderr)
                before = telltale("top", "--json", *run.files)
                self.assertIn("shop::fib(int)", before.stdout)
                program.unlink()
                for files in (run.files, run.files[::-1]):
                    after = telltale("top", "--json", *files)
                    self.assertEqual((sorted(row["function"] for row in json.loads(after.stdout)["rows"]), after.stderr),
                                     (sorted(row["function"] for row in json.loads(before.stdout)["rows"]), ""))

    def test_names_are_those_of_called_functions(self):
        run = Recorded(programs.build("g++", *programs.CALL_FLAGS), 5)
        names = {}
        for kind, body in Side.read(f"{run.file}.side").records:
            if kind == NAME:
                _, line, size, file_size = struct.unpack_from("<4I", body)
                names[body[16:16 + size].decode()] = (line, body[16 + size:16 + size + file_size].decode())
        called = {"_ZN4shop3fibEi", "_ZN4shop4workEi", "_ZN4shop5orderEi", "_ZN4shop5priceEi", "_ZN4shop6refuseEi"}
        self.assertLessEqual(called, set(names))
        source = programs.PROGRAM.splitlines()
        for name in called:
            line, file = names[name]
            self.assertEqual(os.path.basename(file), "source.cc")
            self.assertIn(re.sub(r".*?(\d)(fib|work|order|price|refuse)Ei", r"\2", name) + "(int", source[line - 1])

    def test_versions_built_in_one_place_are_compared(self):
        for compiler, flags in KINDS:
            with self.subTest(compiler=compiler):
                program = copy_of(programs.build(compiler, *flags))
                old = Recorded(program, 5)
                shutil.copy(programs.build(compiler, *flags, "-O2"), program)
                new = Recorded(program, 10)
                for _ in range(2):
                    done = telltale("diff", old.file, new.file, "--gate", "calls=10%", "--gate-by", "all")
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn("shop::order(int)", done.stdout)
                    self.assertNotIn("@0x", done.stdout)
                    program.unlink(missing_ok=True)

    def test_a_changed_program_is_said_where_the_recording_has_no_names(self):
        for compiler, flags in KINDS:
            with self.subTest(compiler=compiler):
                original = programs.build(compiler, *flags)
                program = copy_of(original)
                file = recorded_alone(program, 5)
                shutil.copy(programs.build(compiler, *flags, "-O2"), program)
                done = telltale("top", file)
                self.assertEqual(done.returncode, 0)
                self.assertIn("is not the recorded program", done.stderr)
                self.assertNotIn("shop::", done.stdout)
                self.assertRegex(done.stdout, r"@0x[0-9a-f]+" if compiler == "g++" else r"#\d+")
                self.assertEqual(calls(file, options=["--program", original]), expected_calls(5))
                # The recording itself is whole.
                for missing in (False, True):
                    for verb in (["check"], ["top", "--strict"], ["info", "--strict"]):
                        self.assertEqual(telltale(*verb, file).returncode, 0, (verb, missing))
                    program.unlink(missing_ok=True)
                self.assertIn("was not found", telltale("top", file).stderr)

    def test_what_has_no_names_is_not_compared(self):
        original = programs.build("g++", *programs.CALL_FLAGS)
        program = copy_of(original)
        old = recorded_alone(program, 5)
        shutil.copy(programs.build("g++", *programs.CALL_FLAGS, "-O2"), program)
        new = recorded_alone(program, 5)
        for options in ([], ["--gate", "calls=10%"], ["--gate", "calls=10%", "--gate-by", "all"], ["--order"], ["--json"]):
            for files in ([old, new], [new, old]):
                done = telltale("diff", *files, *options)
                self.assertEqual((done.returncode, done.stdout), (2, ""), (options, done.stderr))
                self.assertIn("--program-" + "ba"[files[0] == old], done.stderr)
        done = telltale("diff", old, "--", new, "--gate", "calls=10%")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        done = telltale("diff", old, new, "--program-a", original, "--gate", "calls=0%")
        self.assertEqual(done.returncode, 0, done.stderr)
        # Equal functions of one build have equal numbers.
        program.unlink()
        self.assertEqual(telltale("diff", old, old, "--gate", "calls=0%").returncode, 0)
        self.assertEqual(telltale("diff", old, new, "--gate", "calls=0%").returncode, 2)

    def test_a_recording_without_its_list_of_names_is_not_compared(self):
        for compiler, flags in KINDS:
            with self.subTest(compiler=compiler):
                program = copy_of(programs.build(compiler, *flags))
                run = Recorded(program, 5)
                program.unlink()
                whole = pathlib.Path(run.file)
                alone = pathlib.Path(tempfile.mkdtemp(dir=programs.folder())) / "alone.xray"
                shutil.copy(whole, alone)
                for options in ([], ["--gate", "calls=0%"], ["--gate", "calls=0%", "--gate-by", "all"], ["--order"]):
                    for files in ([alone, whole], [whole, alone]):
                        done = telltale("diff", *files, *options)
                        self.assertEqual((done.returncode, done.stdout), (2, ""), (options, done.stderr))
                        self.assertIn(f"{alone}.side, which names functions, is missing", done.stderr)
                done = telltale("diff", alone, alone, "--", whole, whole, "--gate", "calls=0%")
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                for file in (alone, whole):
                    self.assertEqual(telltale("diff", file, file, "--gate", "calls=0%").returncode, 0)


if __name__ == "__main__":
    unittest.main()
