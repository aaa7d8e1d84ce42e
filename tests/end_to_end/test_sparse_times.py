"""Exports mark times that were not read from the clock but estimated (a sparse clock)."""
import csv
import gzip
import io
import json
import re
import subprocess
import unittest

import recorder_programs as programs


@unittest.skipIf(programs.SANITIZED, "the StackTrack library is built with sanitizers")
class SparseTimes(unittest.TestCase):
    def record(self, kind, options):
        place = programs.new_folder()
        path = place / ("r.tlg" if kind == "stacktrack" else "r.xray")
        programs.run(kind, programs.build("children", kind), "spawn", place, path=path, options=options)
        return path

    def convert(self, path, form):
        done = subprocess.run([programs.TELLTALE, "convert", "--to", form, "-o", "-", path], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def marks(self, path):
        """The number of marked times, by format."""
        rows = json.loads(self.convert(path, "json"))
        chrome = json.loads(self.convert(path, "chrome"))["traceEvents"]
        worth = {"": 0, "start": 1, "end": 1, "both": 2}
        table = list(csv.DictReader(io.StringIO(self.convert(path, "csv").decode())))
        calls = sum(worth[row["estimated"]] for row in table)
        self.assertEqual(sum(worth[row.get("estimated", "")] for row in rows if row["kind"] == "call"), calls)
        self.check_by_path(path, calls)
        return {"json": sum(worth[row.get("estimated", "")] for row in rows),
                "chrome": sum("telltale.estimated" in event.get("cat", "") for event in chrome),
                "perfetto": self.convert(path, "perfetto").count(b"\x09estimated")}

    def check_by_path(self, path, calls):
        """Exports by path state once how many times are estimated."""
        said = f"{calls} starts and ends of calls have estimated times".encode() if calls else b""
        texts = {form: self.convert(path, form) for form in ("speedscope", "callgrind", "dot")}
        texts["pprof"] = gzip.decompress(self.convert(path, "pprof"))
        folded = subprocess.run([programs.TELLTALE, "convert", "--to", "folded", "-o", "-", path], capture_output=True, timeout=60)
        texts["folded"] = folded.stderr
        for form, text in texts.items():
            found = re.search(rb"\d+ starts and ends of calls have estimated times", text)
            self.assertEqual(found.group() if found else b"", said, form)

    def test_xray(self):
        for kind in programs.KINDS[1:]:
            with self.subTest(kind=kind):
                path = self.record(kind, "clock=sparse")
                marks = self.marks(path)
                self.assertEqual(len(set(marks.values())), 1, marks)
                # Of 220 events every 16th is timed, and those after gaps.
                said = programs.check(path)["properties"]["sparse clock"]
                self.assertIn(str(marks["json"]), said)
                self.assertGreater(marks["json"], 110)
                self.assertLessEqual(marks["json"], 220 - 220 // 16)
                self.assertEqual(set(self.marks(self.record(kind, "")).values()), {0})

    def test_stacktrack(self):
        path = self.record("stacktrack", "clock=16")
        held = sum(hit[6] for hit in programs.stacktrack_file.File(path).hits)
        self.assertGreater(held, 60)
        self.assertEqual(self.marks(path), {"json": held, "chrome": held, "perfetto": held})
        dumped = subprocess.run([programs.TELLTALE, "dump", "--json", path], capture_output=True, text=True, timeout=60).stdout
        self.assertEqual(sum(int(json.loads(line).get("flags", "0"), 16) & 0x8FF == 0x800 for line in dumped.splitlines()), held)
        self.assertEqual(set(self.marks(self.record("stacktrack", "")).values()), {0})


if __name__ == "__main__":
    unittest.main()
