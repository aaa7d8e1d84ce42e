"""The checks in tools/ pass on the repository and detect what they are made for."""
import importlib.util
import pathlib
import shutil
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Scratch(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, path, text="x"):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Includes(Scratch):
    def complaints(self):
        return list(load("check_includes").complaints(self.root))

    def test_allowed_directions_pass(self):
        self.write("src/import/a.cc", '#include "formats/x/records.h"\n#include "model/events.h"\n#include <vector>\n')
        self.assertEqual(self.complaints(), [])

    def test_a_format_that_knows_the_model_is_noticed(self):
        self.write("src/formats/x/a.cc", '\n#include "model/events.h"\n')
        self.assertEqual(self.complaints(), ["src/formats/x/a.cc:2: src/formats may not include src/model"])

    def test_a_format_that_knows_another_is_noticed(self):
        self.write("src/formats/x/a.cc", '#include "formats/y/wire.h"\n')
        self.assertIn("another format", self.complaints()[0])

    def test_raw_input_outside_its_places_is_noticed(self):
        self.write("src/analysis/a.cc", "#include <fstream>\n")
        self.write("src/base/zeroed_array.h", "#include <sys/mman.h>\n")  # maps no file
        self.assertEqual([line.partition(":")[0] for line in self.complaints()], ["src/analysis/a.cc"])

    def test_the_command_line_library_outside_its_places_is_noticed(self):
        self.write("src/cli/verbs/a.cc", "#include <CLI/CLI.hpp>\n")
        self.write("src/cli/options/command.cc", "#include <CLI/CLI.hpp>\n")
        self.assertEqual(self.complaints(),
                         ["src/cli/verbs/a.cc:1: <CLI/CLI.hpp>: include cli/options/command.h instead"])

    def test_the_runtime_knows_only_layouts(self):
        self.write("runtime/r/a.h", "")
        self.write("runtime/s/b.h", "")
        self.write("runtime/signals/c.h", "")
        self.write("runtime/r/a.cc", '#include "a.h"\n#include "formats/x/wire.h"\n#include <telltale/x.hpp>\n#include "base/error.h"\n'
                                     '#include "../signals/c.h"\n#include "../s/b.h"\n')
        (self.root / "src").mkdir(parents=True, exist_ok=True)
        self.assertEqual(self.complaints(),
                         [f"runtime/r/a.cc:{line}: runtime/ may include its own folder, runtime/descriptors, runtime/signals, "
                          "formats/*/wire.h, formats/sampler/sampling_wish.h and formats/xray/recorder_limits.h" for line in (4, 6)])

    def test_folders_of_the_plugin_have_an_order(self):
        self.write("instrument/options.h", "")
        self.write("instrument/frontend/f.h", "")
        self.write("instrument/transform/t.h", "")
        self.write("instrument/codegen/c.cc", '#include "options.h"\n#include "formats/sampler/wire.h"\n#include "runtime/sampler/abi.h"\n'
                                              '#include "transform/t.h"\n#include "base/error.h"\n')
        self.write("instrument/transform/t.cc", '#include "transform/t.h"\n#include "frontend/f.h"\n')
        self.write("instrument/plugin.cc", '#include "frontend/f.h"\n#include "transform/t.h"\n')
        (self.root / "src").mkdir(parents=True, exist_ok=True)
        self.assertEqual(self.complaints(), [
            "instrument/codegen/c.cc:4: instrument/codegen may not include instrument/transform",
            "instrument/codegen/c.cc:5: instrument/ may include itself, wire.h of sampler and csi, model/ball_larus.h, model/late_variables.h, model/probe_placement.h and runtime/sampler/abi.h",
            "instrument/transform/t.cc:2: instrument/transform may not include instrument/frontend"])

    def test_an_unknown_folder_is_noticed(self):
        self.write("src/misc/a.cc", "")
        self.assertIn("no row", self.complaints()[0])


class Formats(Scratch):
    PARTS = {
        "docs/formats/x.md": "x",
        "tests/golden/x/one.bin": "x",
        "src/import/x/x_import.cc": "x",
        "src/import/formats.def": "FORMAT(x)\n",
        "src/formats/x/CMakeLists.txt": "telltale_folder(formats/x)\n",
        "fuzz/x_records_fuzz.cc": "x",
        "fuzz/corpus/x_records/seed": "x",
    }

    def complaints(self):
        return list(load("check_formats").complaints(self.root))

    def make_whole(self):
        self.write("src/formats/x/wire.h")
        self.write("src/formats/x/records.h")
        for path, text in self.PARTS.items():
            self.write(path, text)

    def test_a_whole_format_passes(self):
        self.make_whole()
        self.assertEqual(self.complaints(), [])

    def test_every_missing_part_is_noticed(self):
        for path in self.PARTS:
            with self.subTest(path):
                self.make_whole()
                (self.root / path).unlink()
                self.assertEqual(len(self.complaints()), 1, self.complaints())

    def test_a_contract_without_a_reader_is_no_format_yet(self):
        self.make_whole()
        self.write("src/formats/y/wire.h")
        self.assertEqual(self.complaints(), [])

    def test_an_empty_tree_is_noticed(self):
        (self.root / "src/formats").mkdir(parents=True)
        self.assertEqual(len(self.complaints()), 1)


class Reliability(Scratch):
    def setUp(self):
        super().setUp()
        self.check = load("check_reliability")
        self.lines = [f"| {row} | it holds | `tests/end_to_end/test_x.py: test_{row}_holds` |" for row in self.check.ROWS]
        self.write("tests/end_to_end/test_x.py", "class X:\n" + "".join(f"    def test_{row}_holds(self):\n        pass\n" for row in self.check.ROWS))

    def complaints(self):
        self.write("docs/design/reliability.md", "\n".join(self.lines))
        return list(self.check.complaints(self.root))

    def change(self, row, text):
        (at,) = [at for at, line in enumerate(self.lines) if line.startswith(f"| {row} ")]
        self.lines[at] = text

    def test_a_whole_table_passes(self):
        self.assertEqual(self.complaints(), [])

    def test_a_missing_row_is_noticed(self):
        self.change("D7", "")
        self.assertEqual(self.complaints(), ["docs/design/reliability.md: no row D7"])

    def test_a_row_without_a_test_is_noticed(self):
        self.change("D7", "| D7 | it holds | by hand, in `tests/` |")
        self.assertIn("D7: names no test", self.complaints()[0])

    def test_a_test_that_is_gone_is_noticed(self):
        self.write("src/a/b_test.cc", "TEST(B, IsThere) {}\n")
        self.write("web/tests/c.test.mjs", "test('is there', () => 1);\ntest(`${name}: at its limits`, () => 1);\n")
        whole = "`src/a/b_test.cc: IsThere`; `web/tests/c.test.mjs: is there`, `at its limits`"
        self.change("D7", f"| D7 | it holds | {whole} |")
        self.assertEqual(self.complaints(), [])
        for old, new, told in (("IsThere", "IsGone", "b_test.cc has no test IsGone"), ("is there", "is gone", "c.test.mjs has no test is gone"),
                               ("b_test.cc", "d_test.cc", "there is no file src/a/d_test.cc"), ("`web", "`test_gone`; `web", "b_test.cc has no test test_gone")):
            self.change("D7", f"| D7 | it holds | {whole.replace(old, new)} |")
            self.assertEqual([told in complaint for complaint in self.complaints()], [True], told)

    def test_a_test_that_the_table_does_not_name_is_noticed(self):
        self.write("tests/end_to_end/test_y.py", "class Y:\n    def test_C1_also(self):\n        pass\n")
        self.assertEqual(self.complaints(), ["docs/design/reliability.md: test_C1_also of test_y.py is not there"])

    def test_a_row_that_is_there_twice_is_noticed(self):
        self.lines.append(self.lines[0])
        self.assertIn("is already on line 1", self.complaints()[0])


class TrackedFiles(Scratch):
    def complaints(self, *names):
        return list(load("check_tracked_files").complaints(self.root, names))

    def test_files_of_the_project_pass(self):
        self.write("src/a.cc", "x" * 64 * 1024)
        self.assertEqual(self.complaints("src/a.cc", "README.md"), [])

    def test_unknown_folders_are_noticed_once(self):
        self.assertEqual(self.complaints("debian-sources/a.c", "debian-sources/b/c.c"),
                         ["debian-sources: not a part of the project (2 tracked): remove it, or add it to tools/check_tracked_files.py"])

    def test_large_files_are_noticed(self):
        self.write("docs/a.svg", "x" * (64 * 1024 + 1))
        self.assertEqual(self.complaints("docs/a.svg"), ["docs/a.svg: 65537 bytes: a file of the repository has at most 65536"])


class TestPrograms(Scratch):
    def complaints(self, text, name="tests/end_to_end/test_x.py"):
        self.write(name, text)
        return list(load("check_test_programs").complaints(self.root))

    def test_programs_in_strings_are_noticed(self):
        for text in ('P = "int main(void) { return 0; }"', 'P = """\n#include <stdio.h>\nint x;\n"""', 'P = f"int f{i}(int n) {{ return n; }}"',
                     'P = "static class A { }"', 'f("void f(void) {\\n"\n  "}\\n")', 'P = f"{head}int {name}(int n) {{\\n"'):
            with self.subTest(text=text):
                self.assertEqual(self.complaints(text), ["tests/end_to_end/test_x.py:1: a program in a string: make it a file in tests/programs/"])
                self.assertEqual(len(self.complaints(text, "bench/x/run.py")), 2)
                (self.root / "bench/x/run.py").unlink()

    def test_other_strings_pass(self):
        for text in ('P = "#include <format>\\n"', 'P = "static int parse("', 'P = "main(int, char**)"', 'P = "def f(x): pass"'):
            with self.subTest(text=text):
                self.assertEqual(self.complaints(text), [])

    def test_an_exception_that_is_not_used_is_noticed(self):
        found = self.complaints("", "tests/end_to_end/reliability.py")
        self.assertEqual(len(found), 1)
        self.assertIn("no string begins with 'int main() {}'", found[0])


if __name__ == "__main__":
    unittest.main()
