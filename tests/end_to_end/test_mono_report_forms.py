"""What every report of a Mono recording has: any number of workers, text, CSV, errors."""

import re
import subprocess
import unittest

import mono_programs
from mono_programs import TELLTALE, report_document, report_text


class Forms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not mono_programs.HAVE_MONO:
            raise unittest.SkipTest("mono, mcs and mprof-report are not installed")
        cls.paths = mono_programs.recordings()

    def test_any_number_of_workers(self):
        for name, options in (("calls", ["--verbose"]), ("everything", ["--traces"]), ("calls", ["--traces"])):
            one = report_document(self.paths[name], *options, "--jobs=1")
            for jobs in ("2", "8"):
                self.assertEqual(report_document(self.paths[name], *options, "--jobs=" + jobs), one)

    def test_csv_of_a_table(self):
        lines = report_text(self.paths["heap"], "--csv", "--reports=heapshot.classes").splitlines()
        self.assertEqual(
            lines[0], "shot,bytes,objects,average,delta_bytes,delta_objects,type,class"
        )
        rows = report_document(self.paths["heap"], "--reports=heapshot")["heapshot"]["classes"]
        self.assertEqual(len(lines) - 1, len(rows))
        self.assertEqual(lines[1].split(",")[1], str(rows[0]["bytes"]))
        found = subprocess.run([TELLTALE, "report", "--csv", self.paths["heap"]], capture_output=True)
        self.assertEqual(found.returncode, 2)
        self.assertIn(b"heapshot.classes", found.stderr)

    def test_csv_of_what_was_not_recorded(self):
        # Scripts get the same columns, without rows.
        self.assertEqual(report_text(self.paths["calls"], "--csv", "--reports=heapshot.shots"), "shot,at_ns,bytes,objects,classes,roots\n")
        found = subprocess.run([TELLTALE, "report", "--csv", "--reports=heapshot.weather", self.paths["calls"]], capture_output=True)
        self.assertEqual((found.returncode, found.stdout), (2, b""))

    def test_text_names_every_report(self):
        printed = report_text(self.paths["everything"], "--traces")
        for title in ("Recording", "JIT", "Garbage collection", "Allocations", "Method calls", "Metadata",
                      "Exceptions", "Locks", "Threads", "Domains", "Contexts", "Heap shots", "Counters"):
            self.assertRegex(printed, "(?m)^%s$" % re.escape(title))

    def test_unknown_report(self):
        found = subprocess.run([TELLTALE, "report", "--reports=weather", self.paths["heap"]], capture_output=True)
        self.assertEqual((found.returncode, found.stdout), (2, b""))


if __name__ == "__main__":
    unittest.main()
