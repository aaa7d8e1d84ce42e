"""What LLVM's tools read of telltale's recordings."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import recorded_programs as programs
from recorded_programs import Recorded, telltale


@unittest.skipUnless(programs.CLANG, "needs clang")
class LlvmXrayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = programs.build(programs.CLANG, *programs.XRAY_FLAGS)

    @unittest.skipUnless(shutil.which("llvm-xray") or shutil.which("llvm-xray-19"), "needs llvm-xray")
    def test_llvm_xray_reads_conversions_of_a_continuous_recording(self):
        run = Recorded(self.program, 20)
        ours = {str(row["id"]): row["calls"] for row in json.loads(telltale("top", "--json", run.file).stdout)["rows"]
                if row["calls"] and row["function"] != "(waiting)"}
        records = lambda path: [json.loads(line) for line in telltale("dump", "--json", path).stdout.splitlines()]
        unplaced = lambda path: [{**row, "offset": 0, "file": ""} for row in records(path) if row["record"] != "Skipped"]
        for options in (["--to", "fdr5"], []):
            converted = run.file.with_name("converted.fdr")
            self.assertEqual(telltale("convert", run.file, *options, "-o", converted, "--force").returncode, 0)
            self.assertEqual(unplaced(converted), unplaced(run.file))
            for reader in filter(shutil.which, ("llvm-xray", "llvm-xray-19", "llvm-xray-22")):
                done = subprocess.run([reader, "convert", "-f", "yaml", converted], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                theirs = collections.Counter(re.findall(r"func-id: (\d+),.* kind: function-enter,", done.stdout))
                self.assertEqual(theirs, ours)
                account = subprocess.run([reader, "account", "-k", converted], capture_output=True, text=True, timeout=60)
                self.assertEqual(account.returncode, 0, account.stderr)

    def test_the_text_of_llvm_xray_has_the_names_of_the_recorded_program(self):
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        program = place / "program"
        shutil.copy(self.program, program)
        run = Recorded(program, 5)
        done = telltale("convert", run.file, "--to", "llvm-xray-yaml", "-o", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("function: 'shop::order(int)'", done.stdout)
        # The recording has them, too.
        program.unlink()
        kept = telltale("convert", run.file, "--to", "llvm-xray-yaml", "-o", "-")
        self.assertEqual((kept.returncode, kept.stdout, kept.stderr), (0, done.stdout, done.stderr))
        os.unlink(f"{run.file}.side")
        done = telltale("convert", run.file, "--to", "llvm-xray-yaml", "-o", "-")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"func-id: (\d+), function: '\1'")


if __name__ == "__main__":
    unittest.main()
