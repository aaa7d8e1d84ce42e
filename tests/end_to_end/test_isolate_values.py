"""`telltale isolate`, on reports with the smallest and largest values of variables (the scheme bounds)."""
import json
import pathlib
import shutil
import tempfile
import unittest

from study_case import telltale

UNIT = "0123456789abcdef0123456789abcdef"
SITES = f'<sites unit="{UNIT}" scheme="bounds">\nshop.c\t12\tsell\t4\tdiscount\tlocal\tdirect\nshop.c\t20\tsell\t7\ttotal\tlocal\tdirect\n</sites>\n'


class IsolateValues(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-isolate-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "shop.sites").write_text(SITES)
        for number in range(60):
            failed = number % 4 == 0
            least = -40 - number if failed else -number % 30 - 29  # of discount: -100 to -40, and -29 to 0
            rows = f"{least}\t{number % 7}\n{number % 5}\t{number % 11 + 10}\n"
            path = cls.folder / ("failed" if failed else "passed") / f"{number}.report"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f'<report id="samples">\n<samples unit="{UNIT}" scheme="bounds">\n{rows}</samples>\n</report>\n')

    def isolate(self, *words):
        done = telltale("isolate", "--failed", self.folder / "failed", "--passed", self.folder / "passed", "--program", self.folder / "shop.sites",
                        "--json", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_a_number_of_the_data_separates(self):
        row = self.isolate()["rows"][0]
        self.assertEqual([row[key] for key in ("predicate", "scheme", "function", "file", "line")],
                         ["discount was once <= -40", "bounds", "sell", "shop.c", 12])
        self.assertEqual([row[key] for key in ("true_in_failing", "true_in_successful", "observed_in_failing", "observed_in_successful")], [15, 0, 15, 45])

    def test_the_number_of_threads_does_not_matter(self):
        self.assertEqual(self.isolate("--all", "--jobs", 1), self.isolate("--all", "--jobs", 4))

    def test_a_regression_ranks_the_cause_first(self):
        found = self.isolate("--regression")["regression"]
        self.assertEqual((found["folds"], found["predicates"] > 0), (5, True))
        first = found["coefficients"][0]
        self.assertEqual((first["predicate"], first["true_in_failing"], first["true_in_successful"]), ("discount was once <= -40", 15, 0))
        self.assertGreater(first["coefficient"], 0)
        self.assertEqual(found["coefficients"], sorted(found["coefficients"], key=lambda row: -row["coefficient"]))
        self.assertEqual(found, self.isolate("--regression", "--jobs", 5)["regression"])
        self.assertIsNone(self.isolate()["regression"])
        done = telltale("isolate", "--failed", self.folder / "failed", "--passed", self.folder / "passed", "--program", self.folder / "shop.sites",
                        "--regression")
        self.assertRegex(done.stdout, r"\nregression: \d+ predicates? took part, (1 has|\d+ have) a coefficient other than 0, lambda 0\.\d+\nCOEFFICIENT +FAILED")

    def test_a_regression_of_one_outcome(self):
        done = telltale("isolate", "--passed", self.folder / "passed", "--program", self.folder / "shop.sites", "--regression", "--json")
        self.assertEqual(json.loads(done.stdout)["regression"], {"lambda": 0, "folds": 0, "predicates": 0, "intercept": 0, "coefficients": []})
        self.assertIn("no run failed", done.stderr)

    def test_a_regression_of_one_failed_run(self):
        done = telltale("isolate", "--failed", self.folder / "failed/0.report", "--passed", self.folder / "passed", "--program",
                        self.folder / "shop.sites", "--regression", "--filter", "none", "--json")
        found = json.loads(done.stdout)["regression"]
        self.assertEqual(found["folds"], 0)
        self.assertEqual((found["coefficients"][0]["true_in_failing"], found["coefficients"][0]["true_in_successful"]), (1, 0))


if __name__ == "__main__":
    unittest.main()
