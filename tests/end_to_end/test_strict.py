"""`info --strict`, `top --strict` and `check` agree on every file, and every loss is reported: on every prefix and on
one-byte mutants of small files of each format, and of recordings by telltale's own recorder."""
import os
import resource
import shutil
import subprocess
import tempfile
import unittest

from own_recorder import CLANGS, Run, build
from xray_recorder import SOURCE_DIR, TELLTALE

BIN = os.path.dirname(TELLTALE)
# check's name of the problem that info and top report.
CHECK_STATUS = {0: 0, 4: 1, 3: 3, 2: 2}


class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="telltale-strict-"))
        cls.samples = os.path.join(cls.folder, "samples")
        os.mkdir(cls.samples)
        subprocess.run([os.path.join(BIN, "write_samples"), cls.samples], check=True)

    def sweep(self, path, *options, places=120, side=None, verb_options=()):
        """(kind, offset, (info, top, check), records, problems) of the file and of its mutants."""
        scratch = os.path.join(self.folder, "mutant")
        if side:
            shutil.copy(side, scratch + ".side")
        elif os.path.exists(scratch + ".side"):
            os.remove(scratch + ".side")
        step = max(1, os.path.getsize(path) // places)
        step += step > 1 and step % 2 == 0  # so that all positions in a word occur
        results = os.path.join(self.folder, "results")
        subprocess.run([os.path.join(BIN, "sweep_driver"), "--scratch", scratch, "--results", results,
                        *(options or ("--step", str(step))), path, *verb_options],
                       check=True, timeout=600, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows = []
        with open(results) as file:
            for line in file:
                kind, *numbers = line.split()
                at, info, top, check, records, problems = map(int, numbers)
                rows.append((kind, at, (info, top, check), records, problems))
        return rows

    def check_agreement(self, rows):
        differ = [row for row in rows if row[2][0] != row[2][1] or CHECK_STATUS.get(row[2][0]) != row[2][2]]
        self.assertEqual(differ, [], "%d of %d" % (len(differ), len(rows)))

    def check_losses(self, rows):
        """Fewer records than in the whole file are always reported."""
        whole = rows[0][3]
        self.assertGreater(whole, 0)
        silent = [row for row in rows if row[3] < whole and row[2][0] == 0]
        self.assertEqual(silent, [], "%d of %d" % (len(silent), len(rows)))

    def test_xray(self):
        names = [name for name in sorted(os.listdir(self.samples)) if not name.endswith((".tlg", ".mlpd"))]
        self.assertGreater(len(names), 5)
        for name in names:
            with self.subTest(name=name):
                self.check_agreement(self.sweep(os.path.join(self.samples, name)))

    def test_stacktrack(self):
        names = [name for name in sorted(os.listdir(self.samples)) if name.endswith(".tlg")]
        self.assertGreater(len(names), 5)
        for name in names:
            with self.subTest(name=name):
                self.check_agreement(self.sweep(os.path.join(self.samples, name)))

    def test_mono(self):
        names = [name for name in sorted(os.listdir(self.samples)) if name.endswith(".mlpd")]
        self.assertGreater(len(names), 2)
        for name in names:
            with self.subTest(name=name):
                self.check_agreement(self.sweep(os.path.join(self.samples, name), places=60))

    # The recorder's files, with cells of 4 KiB.
    RECORDINGS = {
        "continuous": "buffer=4K,size=1M",
        "version 1": "buffer=4K,size=1M,version=1",
        "sparse": "buffer=4K,size=1M,clock=sparse",
        "ring": "buffer=4K,size=64K,mode=ring",
        "ring of version 1": "buffer=4K,size=64K,mode=ring,version=1",
    }

    def check_recording(self, path):
        self.assertTrue(os.path.exists(path + ".side"))
        for side in (None, path + ".side"):
            with self.subTest(side=side is not None):
                # The head of the file and of its first cell byte by byte, then samples of the rest.
                for options in (("--step", "1", "--limit", "160"), ()):
                    rows = self.sweep(path, *options, side=side, places=80)
                    self.check_agreement(rows)
                    self.check_losses(rows)
                # Cuts between cells and inside unused parts.
                for begin in range(32, os.path.getsize(path), 4096):
                    options = ("--from", str(begin), "--limit", str(begin + 4096), "--step", "1999")
                    rows = self.sweep(path, *options, side=side)
                    self.check_agreement(rows)
                    self.check_losses(rows)

    def test_own_recordings(self):
        self.assertTrue(CLANGS, "clang 19 or 22 is needed")
        program = build("host", CLANGS[-1])
        for name, options in self.RECORDINGS.items():
            with self.subTest(recording=name):
                self.check_recording(Run(program, "calls", 3, 60, options=options).path)
        with self.subTest(recording="events"):
            # Nothing protects the size of an event (docs/formats/xray-recorder.md). Without waits, whose records would move the events from
            # run to run, the flipped bits of sizes leave no record at the end of the payload.
            self.check_recording(Run(program, "events", options="buffer=4K,size=1M,waits=off").path)
        with self.subTest(recording="snapshot"):
            self.check_recording(Run(program, "die", "abort", options="buffer=4K,size=64K,mode=snapshot", check=False,
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))).path)

    def test_sampler_reports(self):
        # A report is text: most mutants are other reports, and prefixes at the end of a row are whole ones.
        for name in ("all_schemes", "worked_example", "plugin_three_times"):
            with self.subTest(name=name):
                path = os.path.join(SOURCE_DIR, "tests/golden/sampler", name + ".report")
                rows = self.sweep(path, places=200)
                self.check_agreement(rows)
                self.assertTrue(any(row[2][0] == 4 for row in rows), "no mutant is damaged")


if __name__ == "__main__":
    unittest.main()
