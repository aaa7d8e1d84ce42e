"""Which mutants ./dev mutate leaves out since they cannot compile."""
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from mutation.mutants import ends_function, may_compile  # noqa: E402
from mutation.related_tests import RELATED, folder_of  # noqa: E402


class Mutants(unittest.TestCase):
    def test_what_may_compile(self):
        for old, new in (("  if (a < b) return;", "  if (a <= b) return;"), ("  ++count;", "  --count;"),
                         ("  total += part;", "  /*total += part;*/"), ("  f(from, to);", "  f ( to,from);"),
                         ("  int n = 0;", "  int n = (0+1);"), ("  x = a && b;", "  x = a || b;"),
                         ('  f("a", "b");', '  f ( "b","a");'), ("  return v.begin();", "  return v.end();")):
            with self.subTest(new=new):
                self.assertTrue(may_compile(old + "\n", new + "\n"))

    def test_what_cannot_compile(self):
        for old, new in (("  if (thin_ && !x) {", "  (1==1) && !x) {"), ("  int n = 0;", "  /*int n = 0;*/"),
                         ("  for (;; ++i) {", "  for (;; -+i) {"), ("  append_end(x);", "  append_begin(x);"),
                         ("  uint8_t bit = 0x80;", "  uint8_t bit = 0x-1;"), ('  f("a", b);', "  f ( b,\"a\");"),
                         ('  f("a", "b", c);', '  f("a"", c);'), ("      ->required();", "      /*->required();*/"),
                         ("  std::vector<int> v;", "  std::vector<=int> v;"), ('  text += "x";', '  text %= "x";')):
            with self.subTest(new=new):
                self.assertFalse(may_compile(old + "\n", new + "\n"))

    def test_the_last_statement_of_a_function(self):
        source = ["int f() {\n", "  if (x) {\n", "    return 1;\n", "  }\n", "  return 2;\n", "}\n"]
        self.assertFalse(ends_function(source, 3))
        self.assertTrue(ends_function(source, 5))

    def test_every_source_has_tests(self):
        for folder in ("src", "runtime", "instrument", "web"):
            for path in sorted((ROOT / folder).rglob("*")):
                name = str(path.relative_to(ROOT))
                if path.suffix in (".cc", ".js") and "node_modules" not in name and not name.endswith("_test.cc"):
                    self.assertIsNotNone(folder_of(name), name)

    def test_scripts_of_the_table_exist(self):
        for tests in RELATED.values():
            for test in tests:
                kind, _, name = test.partition(":")
                if kind == "script":
                    self.assertTrue(os.path.isfile(ROOT / "tests" / "end_to_end" / (name + ".py")), test)


if __name__ == "__main__":
    unittest.main()
