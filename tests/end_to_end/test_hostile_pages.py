"""Row W8: pages of a hostile trace are small, say what they leave out, and cost a browser little. Times are printed, never tested."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import hostile_trace
from export_tools import SOURCE_DIR, install_node_modules

TELLTALE = os.environ["TELLTALE"]
MIB = 1 << 20


def page_data(page):
    text = page.read_text(encoding="utf-8")
    return json.loads(text.partition('<script id="data" type="application/json">')[2].partition("</script>")[0])


class HostilePages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.modules = install_node_modules("web")
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.trace, cls.names = cls.folder / "hostile.xray", cls.folder / "names.yaml"
        hostile_trace.write_trace(cls.trace)
        hostile_trace.write_names(cls.names)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def page(self, *words):
        page = self.folder / "page.html"
        done = subprocess.run([TELLTALE, *words, "-o", page], timeout=600, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertLess(page.stat().st_size, 64 * MIB)
        return page, page_data(page)

    def drive(self, page, *steps):
        """What the page costs at first, and after each step."""
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        done = subprocess.run(["node", SOURCE_DIR / "web" / "tests" / "drive_page.mjs"], timeout=600, capture_output=True, text=True,
                              input=json.dumps({"page": str(page), "steps": [("cost",), *(part for step in steps for part in (step, ("cost",)))]}),
                              env={**os.environ, "TELLTALE_WEB_MODULES": str(self.modules), "TELLTALE_CHROMIUM": chromium})
        self.assertEqual(done.returncode, 0, done.stderr)
        costs = json.loads(done.stdout)["answers"][::2]
        for cost in costs:
            self.assertLess(cost["elements"], 5000)
            self.assertLess(cost["heap"], 512 * MIB)
            self.assertLess(cost["tab"], 1024 * MIB)
            for flame in cost["flames"]:
                self.assertLess(flame["drawn"], 5000)
                self.assertLess(flame["visited"], 200_000)
        first = costs[0]
        # On a busy machine the first paint may come after the first answer.
        paint = "later" if first["firstPaintMs"] is None else f"{first['firstPaintMs']:.0f} ms"
        print(f"{self.id().rpartition('.')[2]}: page {page.stat().st_size / MIB:.1f} MiB, first paint {paint}, "
              f"heap {max(cost['heap'] for cost in costs) // MIB} MiB, tab {max(cost['tab'] for cost in costs) // MIB} MiB", file=sys.stderr)
        return first

    def test_flame(self):
        for words in ((), ("--min-percent", "0")):
            page, data = self.page("flame", self.trace, "--program", self.names, *words)
            facts = dict(data["facts"])
            self.assertEqual(facts["calls"], "5000002")
            self.assertEqual(facts["calls below the maximum depth"], "999000")
            self.assertEqual(facts["left out"], "the ends of 1 long name")
            for name in ("left out", "calls below the maximum depth"):
                self.assertIn(name, data["summary"])
            calls = data["data"]["calls"]
            self.assertLessEqual(len(calls["trees"][0]["depth"]), 100_000)
            self.assertGreater(calls["trees"][0]["pruned"]["nodes"], 4_000_000)
            self.assertEqual(max(len(function[0]) for function in calls["functions"]), 128 * 1024 + 1)
            self.drive(page, ("click", "text=Functions"), ("fill", "#search", "operator"), ("click", "text=Callers and callees"), ("click", "text=Recording"))

    def test_order_of_calls(self):
        other = self.folder / "other.xray"
        hostile_trace.write_trace(other, events=2_000_000, seed=10)
        page, data = self.page("diff", "--order", "--html", self.trace, other, "--program", self.names)
        self.assertLessEqual(len(data["data"]["order"]["edits"]), 200_000)
        self.assertIn("left out", data["summary"])
        self.drive(page, ("press", "."), ("press", "End"), ("fill", "#search", "operator"))

    def test_predictors(self):
        """A program with a million functions, each of which only failing runs called."""
        unit = "0" * 31 + "a"
        rows = "".join(f"{name[:200]}.c\t{i}\t{name}\t0\n" for i, name in enumerate(hostile_trace.names()))
        sites = self.folder / "program.sites"
        sites.write_text(f'<sites unit="{unit}" scheme="function-entries">\n{rows}</sites>\n')
        reports = {}
        for failed in (True, False):
            reports[failed] = self.folder / f"{failed}.report"
            count = "1\n" if failed else "0\n"
            reports[failed].write_text('<report id="samples">\n' + f'<samples unit="{unit}" scheme="function-entries">\n' + count * hostile_trace.NAMES
                                       + "</samples>\n</report>\n")
        runs = "".join(f"{'failed' if failed else 'passed'}\t{reports[failed]}\n" for failed in (True, False) for _ in range(12))
        (self.folder / "runs").write_text(runs)
        for words in ((), ("--all", "--limit", "0")):
            page, data = self.page("isolate", self.folder / "runs", "--program", sites, "--html", *words)
            shown = data["data"]["predictors"]["rows"]
            self.assertLessEqual(len(shown), 2000)
            self.assertIn("left out", data["summary"])
            self.assertRegex(dict(data["facts"])["left out"], "998000 predictors" if words else "999799 related predicates")
            self.drive(page, ("press", "ArrowDown"), ("fill", "#search", "operator"))


if __name__ == "__main__":
    unittest.main()
