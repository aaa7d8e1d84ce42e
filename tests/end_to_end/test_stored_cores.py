"""telltale paths --coredump: core files under the names that systemd-coredump gives them, compressed as it does."""
import json
import os
import pathlib
import unittest

from core_files import crash
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run

TELLTALE = os.environ["TELLTALE"]
PROGRAM = SOURCE_DIR / "tests/programs/csi/crash_ways.c"
BOOT = "0123456789abcdef0123456789abcdef"
ZSTD = (".zst", "zstd", "-q", "--rm")
XZ = (".xz", "xz", "-0")
LZ4 = (".lz4", "lz4", "-q", "--rm")


class StoredCores(SamplerCase):
    def setUp(self):
        super().setUp()
        self.cores = self.path("coredump")
        self.cores.mkdir()
        self.program = build(self.path("ways"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O0", "-pthread", PROGRAM)

    def store(self, command, pid, time, compressor, *words):
        """A crash as systemd-coredump stores it; returns what `paths` says of the plain core file."""
        core = crash(self.path("core"), self.program, *words)
        stored = self.cores / f"core.{command}.1000.{BOOT}.{pid}.{time}"
        stored.write_bytes(pathlib.Path(core).read_bytes())
        if compressor:
            suffix, *line = compressor
            done = run(*line, stored, *([f"{stored}{suffix}"] if line[0] == "lz4" else []))
            self.assertEqual((done.returncode, stored.exists()), (0, False), done.stderr)
        return self.threads(core)

    def threads(self, *words):
        done = run(TELLTALE, "paths", *words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["threads"]

    def stored(self, which):
        return self.threads("--coredump", which, "--coredump-folder", self.cores)

    def test_core_files_are_found_by_process_and_command(self):
        zstd = self.store("ways", 4711, 1700000001000000, ZSTD, "fault")
        xz = self.store("web\\x20server", 4712, 1700000002000000, XZ, "abort")
        lz4 = self.store("ways", 4713, 1700000003000000, LZ4, "kill")
        plain = self.store("a\\x2eout", 4711, 1600000000000000, None, "abort")
        self.assertEqual(len({json.dumps(each) for each in (zstd, xz, lz4, plain)}), 4)
        for which, expected in (("4711", zstd), ("4712", xz), ("web server", xz), ("4713", lz4), ("last", lz4), ("ways", lz4),
                                ("a.out", plain)):
            with self.subTest(which=which):
                self.assertEqual(self.stored(which), expected)
        done = run(TELLTALE, "paths", "--coredump", "4712", "--coredump-folder", self.cores)
        self.assertRegex(done.stderr, r"^telltale: .*\.xz: web server, process 4712, 2023-11-14T22:13:22Z\n$")

    def test_what_is_not_there(self):
        done = run(TELLTALE, "paths", "--coredump", "99", "--coredump-folder", self.cores)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no core file of process 99; if the journal has it: coredumpctl dump 99 | telltale paths -", done.stderr)
        done = run(TELLTALE, "paths", "--coredump", "last", "--coredump-folder", self.path("missing"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("missing", done.stderr)
        self.assertEqual(run(TELLTALE, "paths", "--coredump", "last", self.path("core")).returncode, 2)
        # A cut stream gives what it has.
        self.store("ways", 4711, 1700000001000000, LZ4, "fault")
        (stored,) = self.cores.iterdir()
        stored.write_bytes(stored.read_bytes()[:-1000])
        done = run(TELLTALE, "paths", "--coredump", "last", "--coredump-folder", self.cores)
        self.assertRegex(done.stderr, r"torn lz4 file: its end is missing after \d+ bytes; decompressed so far: \d+ bytes")


if __name__ == "__main__":
    unittest.main()
