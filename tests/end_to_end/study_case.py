"""What tests of studies share: records and reads them; table() does so without telltale's code."""
import csv
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from sampler_programs import RELEASES, SOURCE_DIR, build

TELLTALE = os.environ["TELLTALE"]
PROGRAMS = SOURCE_DIR / "tests/programs/study"
SCHEMES = ("-fsampler-scheme=branches", "-fsampler-scheme=returns", "-fsampler-scheme=scalar-pairs")


def telltale(*words, **options):
    options = {"stdin": subprocess.DEVNULL, "timeout": 300, **options}
    return subprocess.run([TELLTALE, *map(str, words)], capture_output=True, text=True, **options)


def table(study):
    """The rows of runs.tsv, read without telltale's code."""
    with open(pathlib.Path(study) / "runs.tsv", newline="") as file:
        head = file.readline()
        assert head == "# telltale study 1\n", head
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


class StudyCase(unittest.TestCase):
    """A folder of studies, and a program that fails as it is told."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-study-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.failing = build(cls.folder / "failing", RELEASES[-1], "-O1", *SCHEMES, PROGRAMS / "failing.c")

    def study(self, name):
        path = self.folder / f"{self.id().split('.')[-1]}-{name}"
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return path

    def record(self, study, *words, mode="status", **options):
        done = telltale("run", "--study", study, *words, "--", self.failing, mode, "{}", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done
