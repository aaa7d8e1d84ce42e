"""Files that only say how a program was instrumented: verbs that need a run say so, and `sites` lists them."""
import json
import os
import subprocess
import unittest

TELLTALE = os.environ["TELLTALE"]
GOLDEN = os.path.join(os.environ["TELLTALE_SOURCE_DIR"], "tests", "golden")
SITES = os.path.join(GOLDEN, "sampler", "all_schemes.sites")
GRAPHS = os.path.join(GOLDEN, "sampler", "simple.cfg")
REPORT = os.path.join(GOLDEN, "sampler", "all_schemes.report")
PATHS = os.path.join(GOLDEN, "csi", "loop.pt")


class StaticInformation(unittest.TestCase):
    def telltale(self, *words, status=0):
        done = subprocess.run([TELLTALE, *words], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, (words, done.stderr))
        return done.stdout if status == 0 else done.stderr

    def test_verbs_about_runs_say_what_there_is(self):
        for path, noun in ((SITES, "a site table"), (GRAPHS, "a file of control flow graphs"), (PATHS, "CSI path metadata")):
            for verb, needs in (("top", "no timed calls or counts at sites"), ("resolve", "no counts at sites"), ("stacks", "no timed calls"),
                                ("report", "no timed calls, runtime events or counts at sites"), ("paths", "no paths in stack frames")):
                self.assertEqual(self.telltale(verb, path, status=2),
                                 f"telltale: {noun} has static information, {needs}: info, dump, check and sites answer for it\n")

    def test_nothing_is_made_from_no_counts(self):
        for target in ("csv", "json", "lcov"):
            self.assertRegex(self.telltale("convert", SITES, "--to", target, "-o", "-", status=2),
                             f"{target} is made from (timed calls or )?counts at sites, but a site table has static information\n$")
        self.assertIn("no feedback report", self.telltale("convert", SITES, "--to", "sampler", "-o", "-", status=2))

    def test_a_report_with_its_sites_has_both(self):
        with_program = self.telltale("resolve", REPORT, "--program", SITES)
        self.assertEqual(self.telltale("resolve", REPORT, SITES), with_program)
        self.assertIn("has counts at sites and static information", self.telltale("stacks", REPORT, SITES, status=2))
        self.assertIn("has counts at sites, no timed calls", self.telltale("stacks", REPORT, "--program", SITES, status=2))

    def test_it_can_be_described(self):
        for path in (SITES, GRAPHS, PATHS):
            text = self.telltale("info", path)
            self.assertIn("format", text)
            self.assertNotRegex(text, "(?m)^(span|threads) ", "nothing in it has a time")
            self.assertTrue(self.telltale("dump", path))
            self.telltale("check", path)

    def test_sites_lists_functions_with_path_tracing(self):
        text = self.telltale("sites", PATHS)
        self.assertTrue(text.startswith(f"{PATHS}: graphs of 2 functions (10 blocks, 10 edges)\n"), text)
        (program,) = json.loads(self.telltale("sites", PATHS, "--json"))["programs"]
        self.assertEqual(program["format"], "csi")
        self.assertEqual([(row["function"], row["blocks"], row["edges"]) for row in program["graphs"]], [("rand", 2, 1), ("main", 8, 9)])
        self.assertEqual([line.split() for line in text.splitlines()[2:]], [["function", "linkage", "name", "blocks", "edges"], ["rand", "rand", "2", "1"], ["main", "main", "8", "9"]])
        csv = self.telltale("sites", PATHS, "--csv").splitlines()
        self.assertEqual(csv[0], "program,function,linkage_name,blocks,edges,copy_of")
        self.assertEqual(len(csv), 3)

    def test_recordings_are_not_programs(self):
        self.assertIn("an XRay trace has timed calls, no static information: ",
                      self.telltale("sites", os.path.join(GOLDEN, "xray", "every_record_v5.fdr"), status=2))


if __name__ == "__main__":
    unittest.main()
