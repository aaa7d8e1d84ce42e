"""tools/clang_tidy.py looks at each source alone, even if the build compiles it with others."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import clang_tidy  # noqa: E402


class Units(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for name in ("BUILD", "PASSED", "PLUGIN", "ROOT"):
            self.addCleanup(setattr, clang_tidy, name, getattr(clang_tidy, name))
        clang_tidy.BUILD, clang_tidy.PASSED, clang_tidy.PLUGIN = self.root, self.root / "passed", self.root / "none"
        shutil.copy(clang_tidy.ROOT / ".clang-tidy", self.root)
        clang_tidy.ROOT = self.root
        clang_tidy.PASSED.mkdir()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_a_source_that_gets_an_include_from_its_neighbour_is_noticed(self):
        whole = self.write("src/whole.cc", "#include <vector>\nint size_of(const std::vector<int>& v) { return static_cast<int>(v.size()); }\n")
        lacking = self.write("instrument/lacking.cc", "int first_of(const std::vector<int>& v) { return v[0]; }\n")
        alone = self.write("alone.cc", "int one() { return 1; }\n")
        unit = self.write("build/units/x/x_0.cc", '#include "whole.cc"\n#include "instrument/lacking.cc"\n')
        self.write("compile_commands.json", json.dumps([
            {"file": str(file), "directory": str(self.root), "command": f"ccache clang++-19 -std=c++20 -Wall -o {file}.o -c {file}"}
            for file in (unit, alone)]))
        entries = list(clang_tidy.compile_commands())
        self.assertEqual([entry[0] for entry in entries], [whole, lacking, alone])
        complaints = {source.name: text for source, text in (clang_tidy.check(*entry) for entry in entries)}
        self.assertEqual((complaints["whole.cc"], complaints["alone.cc"]), ("", ""))
        self.assertIn("lacking.cc:1:", complaints["lacking.cc"])
        self.assertEqual(len(list(clang_tidy.PASSED.iterdir())), 2)

    def test_what_may_not_have_been_checked(self):
        """The commits of the last day, the latest first; what is not committed before them."""
        def commit(name, days):
            self.write(name, f"{days}")
            stamp = f"2026-11-{20 - days}T12:00:00+0000"
            for words in (["add", name], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", name]):
                subprocess.run(["git", "-C", str(self.root), *words], check=True,
                               env={**os.environ, "GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp})

        subprocess.run(["git", "init", "-q", "-b", "main", str(self.root)], check=True)
        self.write(".gitignore", ".clang-tidy\npassed\n.gitignore\n")
        for name, days in (("old.cc", 3), ("earlier.cc", 1), ("a.cc", 0), ("earlier.cc", 0), ("last.cc", 0)):
            commit(name, days)
        self.write("new.cc", "")
        self.write("a.cc", "changed")
        names = [path.name for path in clang_tidy.changed_files()]
        self.assertEqual(names, ["new.cc", "a.cc", "last.cc", "earlier.cc"])
        subprocess.run(["git", "-C", str(self.root), "checkout", "-qb", "branch", "HEAD~1"], check=True)
        commit("branched.cc", 0)
        self.assertEqual([path.name for path in clang_tidy.changed_files()], ["new.cc", "a.cc", "branched.cc"])


if __name__ == "__main__":
    unittest.main()
