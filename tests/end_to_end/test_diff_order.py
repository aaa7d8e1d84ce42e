"""diff --order: the calls of two threads, aligned."""
import csv
import io
import json
import re
import shutil
import unittest

from program_text import program_text
import recorded_programs as programs
from recorded_programs import Recorded, telltale

PROGRAM = program_text("recorders/cases/reordered.cc")


@unittest.skipUnless(shutil.which("g++"), "needs g++")
class DiffOrder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program = programs.build("g++", *programs.CALL_FLAGS, source=PROGRAM)
        cls.old = Recorded(program).file
        cls.new = Recorded(program, "new").file

    def order(self, *options):
        done = telltale("diff", self.old, self.new, "--order", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_insertions_deletions_and_moves(self):
        found = json.loads(self.order("--json"))
        # main, load, 100 requests with two calls each; audit with two calls; save with one moves.
        self.assertEqual((found["same"], found["only_a"], found["only_b"], found["moved"], found["approximate"],
                          found["unaligned"]),
                         (1 + 1 + 300, 1, 3, 2, 0, 0))
        self.assertEqual((found["a"]["calls"], found["b"]["calls"]), (305, 307))
        edits = [(row["kind"], row["depth"], row["function"].split("(")[0], row["calls"]) for row in found["edits"]]
        self.assertEqual(edits, [("changed", 0, "main", 1), ("moved", 1, "save", 2), ("same", 1, "load", 1 + 40 * 3),
                                 ("changed", 1, "request", 1), ("same", 2, "check", 1), ("added", 2, "audit", 3),
                                 ("same", 2, "flush", 1), ("same", 1, "request", 59 * 3), ("removed", 1, "check", 1),
                                 ("arrived", 1, "save", 2)])
        rows = list(csv.DictReader(io.StringIO(self.order("--csv"))))
        self.assertEqual([row["kind"] for row in rows], [edit[0] for edit in edits])

    def test_page(self):
        """Its data are those of the document; rows of the same calls are one."""
        page = self.old.parent / "order.html"
        self.assertEqual(self.order("--html", "-o", page), "")
        data = json.loads(re.search(r'(?s)<script id="data" type="application/json">(.*?)</script>', page.read_text())[1])
        self.assertEqual([(tab["kind"], tab["data"]) for tab in data["tabs"]], [("order", "order")])
        order, document = data["data"]["order"], json.loads(self.order("--json"))
        for key in ("same", "only_a", "only_b", "moved"):
            self.assertEqual(order[key], document[key])
        kinds = ("same", "changed", "removed", "added", "moved", "arrived")
        self.assertEqual([(kinds[kind], depth, calls, a or None, b or None, order["functions"][name]) for kind, depth, _, calls, a, b, name in order["edits"]],
                         [(row["kind"], row["depth"], row["calls"], row["call_a"], row["call_b"], row["function"]) for row in document["edits"]])
        for options in (("--html", "--json", "--order"), ("--html",), ("-o", page)):
            self.assertEqual(telltale("diff", self.old, self.new, *options).returncode, 2, options)

    def test_numbers_are_for_replay(self):
        (added,) = [row for row in json.loads(self.order("--json"))["edits"] if row["kind"] == "added"]
        (tid,) = {row["tid"] for row in json.loads(telltale("info", "--json", self.new).stdout)["threads"] if row["name"] == "program"
                  and row["tid"] == row["pid"]}
        shown = telltale("replay", self.new, "--thread", tid, "--call", added["call_b"])
        self.assertIn("audit()", shown.stdout, shown.stderr)

    def test_text(self):
        text = self.order()
        self.assertIn("302 calls the same, in the same order; 1 only in A, 3 only in B, 2 moved\n", text)
        self.assertRegex(text, r"\n\+ +\d+      audit\(\) \(2 calls inside\)\n")
        self.assertRegex(text, r"\n- +\d+ +  check\(\)\n")
        self.assertRegex(text, r"\n< +\d+ +\d+    save\(\) \(1 call inside\), moved to here in B: call \d+\n")
        self.assertRegex(text, r"\n> +\d+ +\d+    save\(\) \(1 call inside\), moved from call \d+ of A\n")
        self.assertRegex(text, r"\.\.\. 177 calls as before\n")
        self.assertIn("more; --limit 0 shows all", self.order("--limit", "2"))
        same = telltale("diff", self.old, self.old, "--order").stdout
        self.assertRegex(same, r"305 calls the same, in the same order; 0 only in A, 0 only in B\n$")

    def test_threads(self):
        tids = [[row["tid"] for row in json.loads(telltale("info", "--json", file).stdout)["threads"] if row["tid"] != row["pid"]][0]
                for file in (self.old, self.new)]
        found = json.loads(self.order("--json", "--thread", tids[0], "--thread", tids[1]))
        self.assertEqual((found["same"], found["only_a"], found["only_b"]), (2, 0, 0))
        for options, message in ((["--thread", "1"], "has no such thread"), (["--gate", "calls=0%"], "--order has no gate"),
                                 (["--thread", "1", "--thread", "2", "--thread", "3"], "two threads")):
            done = telltale("diff", self.old, self.new, "--order", *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
