"""Times of XRay records that have one of their own, compared with llvm-xray."""
import csv
import io
import json
import os
import struct
import subprocess
import tempfile
import unittest

from slow_xray import ENTER, EXIT
from test_symbols import metadata
from xray_recorder import CLANGS, telltale


def function(ident, action, delta):
    return struct.pack("<II", ident << 4 | action << 1, delta)


def trace(version, own_times):
    """Calls of 4 (5 ns each) inside calls of 3 (20 ns), with custom events in between that have these times of their
    own."""
    records = metadata(0, struct.pack("<i", 7)) + metadata(4, struct.pack("<qi", 1, 0))
    if version >= 3:
        records += metadata(9, struct.pack("<i", 7))
    records += metadata(2, struct.pack("<HQ", 0, 1000))
    for time in own_times:
        records += function(3, ENTER, 10) + metadata(5, struct.pack("<iQ", 5, time)) + b"hello"
        records += function(4, ENTER, 2) + function(4, EXIT, 5) + metadata(5, struct.pack("<iQ", 3, time + 1)) + b"bye"
        records += function(3, EXIT, 13)
    header = struct.pack("<HHIQQQ", version, 1, 3, 1_000_000_000, 4096, 0)
    if version == 1:
        return header + (records + metadata(1, b"")).ljust(4096, b"\0")
    return header + metadata(7, struct.pack("<Q", len(records))) + records


class OwnTimes(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="telltale-times-"))

    def sums(self, path):
        rows = json.loads(telltale("top", "--json", path).stdout)["rows"]
        return {row["id"]: (row["calls"], row["sum_ns"]) for row in rows}

    def test_a_custom_event_shifts_no_call(self):
        """Versions 1 to 4: an event's own time may have any value."""
        calls = 4
        wanted = {3: (calls, 20 * calls), 4: (calls, 5 * calls)}
        cases = {"true": [1011 + 30 * i for i in range(calls)], "late": [5000 * (i + 1) for i in range(calls)],
                 "early": [1] * calls, "wild": [1 << 63, 0, 1005, (1 << 64) - 2]}
        for version in (1, 2, 3, 4):
            for name, own_times in cases.items():
                with self.subTest(version=version, times=name):
                    path = os.path.join(self.folder, "trace.xray")
                    with open(path, "wb") as file:
                        file.write(trace(version, own_times))
                    self.assertEqual(self.sums(path), wanted)
                    # llvm-xray rejects files in which an event is earlier than the first record.
                    for clang in CLANGS if name in ("true", "late") else ():
                        text = subprocess.run(["llvm-xray-" + clang, "account", "-f", "csv", path], check=True,
                                              capture_output=True, text=True).stdout
                        rows = list(csv.DictReader(io.StringIO(text)))
                        self.assertEqual({int(row["funcid"]): (int(row["count"]), round(float(row["sum"]) * 1e9))
                                          for row in rows}, wanted, clang)
                    for form in ("basic1", "basic3", "fdr1", "fdr3", "fdr4", "fdr5", "llvm-xray-yaml"):
                        made = os.path.join(self.folder, "made." + form)
                        telltale("convert", "--to", form, "-o", made, path)
                        self.assertEqual(self.sums(made), wanted, form)


if __name__ == "__main__":
    unittest.main()
