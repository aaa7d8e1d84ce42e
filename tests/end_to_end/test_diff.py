"""Two recordings aligned by name; gates."""
import json
import os
import re
import subprocess
import tempfile
import unittest

TELLTALE = os.environ["TELLTALE"]
ORDERS = os.path.join(os.environ["TELLTALE_SOURCE_DIR"], "examples", "orders")


def telltale(*arguments):
    return subprocess.run([TELLTALE, *arguments], capture_output=True, text=True, timeout=60)


class DiffTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A second recording with shifted ids, in which save() takes 10 us longer and audit() is called review()."""
        cls.folder = tempfile.TemporaryDirectory()
        cls.before = os.path.join(ORDERS, "orders.yaml")
        cls.before_map = os.path.join(ORDERS, "orders-map.yaml")
        cls.after = os.path.join(cls.folder.name, "after.yaml")
        cls.after_map = os.path.join(cls.folder.name, "after-map.yaml")
        late = {}  # by thread: the delay in ticks relative to the first recording

        def change(match):
            text = match.group(0)
            thread = re.search(r"thread: (\d+)", text).group(1)
            late.setdefault(thread, 0)
            if "func-id: 7" in text and "function-tail-exit" in text:
                late[thread] += 21_000  # 10 us at 2.1 GHz
            text = re.sub(r"tsc: (\d+)", lambda m: f"tsc: {int(m.group(1)) + late[thread]}", text)
            return re.sub(r"(func-id: |function: ')(\d+)", lambda m: f"{m.group(1)}{int(m.group(2)) + 100}", text)

        with open(cls.before) as file:
            text = re.sub(r"  - \{.*\}", change, file.read())
        with open(cls.after, "w") as file:
            file.write(text)
        with open(cls.before_map) as file:
            lines = file.read().replace("audit(", "review(").splitlines()
        # With a hundred functions linked before it, the same program has other ids.
        padding = [f"- {{ id: {i}, address: {0x1000 + 16 * i}, function: {0x1000 + 16 * i}, kind: function-enter, "
                   f'always-instrument: true, function-name: "padding{i}()", version: 2 }}' for i in range(1, 101)]
        shifted = [re.sub(r"id: (\d+)", lambda m: f"id: {int(m.group(1)) + 100}", line) for line in lines[1:]]
        with open(cls.after_map, "w") as file:
            file.write("\n".join(["---", *padding, *shifted]) + "\n")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def assert_gates_hold_at_their_limit(self):
        rows = json.loads(self.diff("--json").stdout)["functions"]
        saved = next(row for row in rows if row["function"].startswith("Store::save("))
        grown = saved["self_ns_difference"]
        self.assertGreater(grown, 0)
        floor = ("--gate", "self=0%", "--function", "Store*", "--gate-floor-ns")
        self.diff(*floor, str(grown))
        self.diff(*floor, str(grown - 1), status=1)

    def test_damage_hides_no_finding(self):
        whole = os.path.join(self.folder.name, "whole.xray")
        torn = os.path.join(self.folder.name, "torn.xray")
        self.assertEqual(telltale("convert", self.before, "--to", "fdr5", "-o", whole).returncode, 0)
        with open(whole, "rb") as file, open(torn, "wb") as cut:
            cut.write(file.read()[:1000])
        self.assertEqual(telltale("diff", torn, whole, "--strict").returncode, 4)
        done = telltale("diff", torn, whole, "--strict", "--gate", "calls=0%")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gate: calls of", done.stderr)

    def diff(self, *arguments, status=0):
        done = telltale("diff", self.before, self.after, "--program-a", self.before_map, "--program-b", self.after_map,
                        *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_rows_are_aligned_by_name_and_differences_are_exact(self):
        diff = json.loads(self.diff("--json").stdout)
        rows = {row["function"]: row for row in diff["functions"]}
        save = rows["Store::save(Order const&, unsigned long)"]
        self.assertEqual(save["calls_before"], save["calls_after"])
        self.assertEqual(save["self_ns_difference"], 10_000 * save["calls_before"])
        serve = next(row for name, row in rows.items() if name.startswith("serve("))
        self.assertEqual(serve["total_ns_difference"], 10_000 * save["calls_before"])
        self.assertEqual(serve["self_ns_difference"], 0)
        self.assertEqual(rows["audit(Order const&)"]["fate"], "vanished")
        self.assertEqual(rows["review(Order const&)"]["fate"], "new")
        paths = {row["path"]: row for row in diff["paths"]}
        reviewed = [path for path, row in paths.items() if row["fate"] == "new"]
        self.assertEqual(len(reviewed), 1)
        self.assertTrue(reviewed[0].endswith("validate(Order const&) > review(Order const&)"), reviewed)
        # Both sides agree with top.
        for recording, program, key in ((self.before, self.before_map, "before"), (self.after, self.after_map, "after")):
            for row in json.loads(telltale("top", "--json", recording, "--program", program).stdout)["rows"]:
                mine = rows[row["function"]]
                self.assertEqual((mine[f"calls_{key}"], mine[f"total_ns_{key}"], mine[f"self_ns_{key}"]),
                                 (row["calls"], row["total_ns"], row["self_ns"]))

    def test_callers_with_the_difference_of_a_callee_are_left_out(self):
        shown = self.diff("--rows", "0", "--names", "full").stdout.partition("\nPaths,")[2]
        self.assertRegex(shown, r"\n\d+ callers? with the difference of one of these left out; --csv has all\n$")
        left_out = int(shown.splitlines()[-1].split()[0])
        paths = json.loads(self.diff("--json").stdout)["paths"]
        self.assertEqual(len(shown.splitlines()) - 3, len(paths) - left_out)
        by_name = {path["path"]: path for path in paths}
        slower = max(paths, key=lambda path: path["self_ns_after"] - path["self_ns_before"])["path"]
        self.assertIn(f"    {slower}\n", shown)
        caller = slower.rpartition(" > ")[0]
        growth = lambda name: by_name[name]["total_ns_after"] - by_name[name]["total_ns_before"]
        self.assertAlmostEqual(growth(caller), growth(slower), delta=growth(slower) / 10)
        self.assertNotIn(f"    {caller}\n", shown)

    def test_gate(self):
        self.diff("--gate", "total=1000000%", "--function", "serve*")
        done = self.diff("--gate", "self=10%", "--function", "Store*", status=1)
        self.assertIn("gate: self of Store::save", done.stderr)
        self.assertIn("telltale: gate failed: 1 of 1 function grew by more than self=10% allows\n", done.stderr)
        done = self.diff("--gate", "self=10%", "--function", "Store*", "--gate-floor-ns", "100000")
        self.assertIn("telltale: gate passed: none of 1 function grew by more than self=10% allows; "
                      "1 grew by more than that, but by no more than the floor of 100 us\n", done.stderr)
        self.assertNotIn("gate", self.diff().stderr)
        # A new function has grown without limit; one that vanished has not grown.
        self.assertIn("calls of review", self.diff("--gate", "calls=0%", status=1).stderr)
        self.assertNotIn("audit", self.diff("--gate", "calls=0%", status=1).stderr)
        self.diff("--gate", "calls=0%", "--gate-by", "all")
        done = telltale("diff", self.before, self.before, "--gate", "calls=0%,total=0%,self=0%", "--gate-by", "path")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_gate_that_compares_nothing_does_not_pass(self):
        for words, message in ((("--function", "Stoer*"), "A and B have no calls that the options select"),
                               (("--thread", "1:1"), "A and B have no calls that the options select"),
                               (("--function", "review*"), "A has no calls that the options select"),
                               (("--function", "audit*"), "B has no calls that the options select")):
            for files in ([self.before, self.after], [self.before, self.before, "--", self.after, self.after]):
                words_and_files = [*words, "--program-a", self.before_map, "--program-b", self.after_map, *files]
                done = telltale("diff", "--gate", "calls=0%", *words_and_files)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("--gate has nothing to compare: " + message, done.stderr)
                self.assertEqual(telltale("diff", *words_and_files).returncode, 0)

    def test_times_of_one_run_are_not_judged(self):
        files = ["--program-a", self.before_map, "--program-b", self.after_map, self.before, "--", self.after]
        done = telltale("diff", "--gate", "total=0%", *files)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--gate of times needs two runs or more of each side", done.stderr)
        self.assertEqual(telltale("diff", "--gate", "calls=1000%", "--function", "serve*", *files).returncode, 0)

    def test_a_function_that_is_new_in_all_runs_has_no_ratio(self):
        files = ["--program-a", self.before_map, "--program-b", self.after_map, self.before, self.before, "--", self.after, self.after]
        done = telltale("diff", "--json", "--gate", "calls=0%", *files)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"gate: calls of review\(Order const&\): 0 before, \d+ after\n")
        new = [row for row in json.loads(done.stdout)["exceeded"] if row["name"].startswith("review(")]
        self.assertEqual([(row["before"], row["ratio"], row["ratio_low"]) for row in new], [(0, None, None)])
        # Only one recording a side has paths.
        done = telltale("diff", "--csv", "--table", "paths", *files)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--table paths compares one recording a side", done.stderr)
        self.assertEqual(telltale("diff", "--csv", "--table", "functions", *files).stdout, telltale("diff", "--csv", *files).stdout)

    def test_usage(self):
        self.assert_gates_hold_at_their_limit()
        for gate in ("calls", "calls=5", "speed=5%", "calls=-1%", "calls=x%"):
            self.assertEqual(telltale("diff", self.before, self.after, "--gate", gate).returncode, 2, gate)
        self.assertEqual(telltale("diff", self.before).returncode, 2)

    def test_csv_has_every_path(self):
        lines = self.diff("--csv").stdout.splitlines()
        paths = json.loads(self.diff("--json").stdout)["paths"]
        self.assertEqual(len(lines), len(paths) + 1)
        self.assertTrue(lines[0].startswith("calls_before,calls_after,"))


if __name__ == "__main__":
    unittest.main()
