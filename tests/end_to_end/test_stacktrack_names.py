"""Names of threads and processes in recordings of the StackTrack recorder, in every layout and answer."""
import collections
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import stacktrack_file

SOURCE = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"])
LIBRARY = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"]) / "runtime/stacktrack/libtelltale_stacktrack.a"
TELLTALE = os.environ["TELLTALE"]


def telltale(*words):
    done = subprocess.run([TELLTALE, *map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


class ThreadNames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keeper = tempfile.TemporaryDirectory(prefix="telltale-names-")
        cls.addClassCleanup(cls.keeper.cleanup)
        cls.program = pathlib.Path(cls.keeper.name) / "shop"
        subprocess.run(["g++", "-std=c++17", "-O1", f"-I{SOURCE}/include", SOURCE / "tests/programs/recorders/cases/named_threads.cc",
                        LIBRARY, "-pthread", "-o", cls.program], check=True, timeout=120)

    def record(self, events, options="", wrapper=()):
        place = pathlib.Path(tempfile.mkdtemp(dir=self.keeper.name))
        subprocess.run([*wrapper, self.program, str(events)], check=True, timeout=60,
                       env={**os.environ, "TELLTALE_STACKTRACK": ",".join(filter(None, (f"dir={place}", options)))})
        return sorted(place.glob("*.tlg"))

    def names(self, *files):
        rows = csv.DictReader(io.StringIO(telltale("convert", *files, "--to", "csv", "-o", "-")))
        return sorted(collections.Counter(row["tid"] + " " + row["thread"] for row in rows).items())

    def check_names(self, *files, second="renamed"):
        shown = [key.split(" ", 1)[1] for key, _ in self.names(*files)]
        self.assertEqual(sorted(shown), sorted(["first=1", second, "shop"]))

    def test_every_layout_and_kind(self):
        for options in ("", "layout=classic", "ring=16M", "sequence=count", "clock=16"):
            with self.subTest(options=options):
                files = self.record(20_000, options)
                self.check_names(*files)
                self.assertEqual(json.loads(telltale("check", "--json", *files))["rows"][0]["violations"], 0)
                self.assertNotIn("telltale.thread", telltale("info", *files))
                rows = json.loads(telltale("top", "--by-process", "--json", *files))["rows"]
                self.assertEqual({row["process_name"] for row in rows}, {"shop"})

    def test_files_that_are_rotated_each_have_the_names(self):
        files = self.record(20_000, "rotate=300K")
        self.assertGreater(len(files), 3)
        self.check_names(*files)
        for file in files:
            named = stacktrack_file.File(file)
            self.assertLessEqual({hit[1] for hit in named.hits}, set(named.threads), file)

    @unittest.skipIf(subprocess.run(["unshare", "-pf", "true"], capture_output=True).returncode != 0, "needs process id namespaces")
    def test_rotated_files_of_processes_with_one_id(self):
        """In containers all programs may have the id 1: their files are apart, those of one of them together."""
        record = lambda events: self.record(events, "rotate=300K", ["unshare", "-pf"])
        with concurrent.futures.ThreadPoolExecutor() as pool:
            folders = list(pool.map(record, (50_000, 60_000)))
        every = [file for files in zip(*folders) for file in files]
        every += [file for files in folders for file in files if file not in every]
        counted = lambda files: [(row["tid"], row["function"], row["calls"])
                                 for row in json.loads(telltale("top", "--by-thread", "--json", *files))["rows"]]
        alone = [counted(files) for files in folders]
        self.assertNotEqual(*alone)
        self.assertCountEqual(counted(every), alone[0] + alone[1])
        self.assertTrue(all(row["unfinished"] == 0 for row in json.loads(telltale("top", "--json", *every))["rows"]))
        shown = json.loads(telltale("info", "--json", *every))["threads"]
        self.assertCountEqual([(row["process_number"], row["tid"]) for row in shown],
                              [(number, tid) for number in (1, 2) for tid in {tid for tid, _, _ in alone[0]}])
        self.assertRegex(telltale("info", *every), r"(?m)^processes +2 \(1\.1 shop, 1\.2 shop\)$")

    def test_files_that_are_rotated_may_be_given_in_any_order(self):
        files = sorted(self.record(100_000, "rotate=300K"), key=lambda path: int(path.stem.rsplit("_", 1)[1]))
        self.assertGreater(len(files), 10)
        rows = telltale("top", "--json", *files)
        self.assertTrue(all(row["unfinished"] == 0 for row in json.loads(rows)["rows"]))
        for other in (sorted(files), files[::-1], [files[0].parent]):
            self.assertEqual(telltale("top", "--json", *other), rows)

    def test_a_thread_with_few_events_keeps_its_first_name(self):
        self.check_names(*self.record(10), second="second")

    def test_every_answer(self):
        (file,) = self.record(20_000)
        rows = json.loads(telltale("top", "--by-thread", "--json", file))["rows"]
        self.assertEqual({row["thread_name"] for row in rows}, {"first=1", "renamed", "shop"})
        self.assertEqual({row["process_name"] for row in json.loads(telltale("top", "--by-process", "--json", file))["rows"]}, {"shop"})
        self.assertIn("(first=1)", telltale("replay", file, "-n", "0"))
        self.assertIn('"renamed"', telltale("convert", file, "--to", "chrome", "-o", "-"))

    def test_conversion_keeps_them(self):
        (file,) = self.record(20_000)
        for target in ("stacktrack-classic", "stacktrack-wide"):
            with self.subTest(target=target):
                out = file.with_suffix(f".{target}.tlg")
                telltale("convert", file, "--to", target, "-o", out)
                self.check_names(out)

    def test_the_second_reader_agrees(self):
        (file,) = self.record(20_000)
        self.assertEqual(sorted(stacktrack_file.File(file).threads.values()), ["first=1", "renamed", "shop"])


if __name__ == "__main__":
    unittest.main()
