"""Standard output and error that are closed or cannot be written: no file gets their descriptor, and statuses are as usual."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TELLTALE = os.environ["TELLTALE"]
RECORDING = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"]) / "examples/orders/orders.yaml"


class ClosedDescriptorsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-closed-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_closed(self, redirection, *words):
        command = ["sh", "-c", f'"$@" {redirection}', "sh", TELLTALE, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder, timeout=60)

    def test_files_are_written(self):
        usual = self.folder / "usual.csv"
        done = self.run_closed("", "convert", RECORDING, "--to", "csv", "-o", usual)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        for redirection in (">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"):
            for verb in (["convert", "--to", "csv"], ["flame"]):
                with self.subTest(redirection=redirection, verb=verb):
                    output = self.folder / ("made.csv" if verb[0] == "convert" else "made.html")
                    done = self.run_closed(redirection, *verb, RECORDING, "-o", output)
                    self.assertEqual((done.returncode, done.stdout), (0, ""))
                    if verb[0] == "convert":
                        self.assertEqual(output.read_bytes(), usual.read_bytes())
                    else:
                        self.assertTrue(output.read_bytes().lower().startswith(b"<!doctype html"))
                    output.unlink()

    def test_statuses_are_as_usual(self):
        cut = self.folder / "cut.yaml"
        cut.write_bytes(RECORDING.read_bytes()[:-30])
        for words in (["info", "nosuch"], ["top", "--bad"], ["top", cut], ["top", cut, "--strict"], ["check", cut], ["nosuchverb"], [],
                      ["run", "--", "sh", "-c", "exit 7"], ["replay", RECORDING], ["send", "nosuch", "--to", "http://127.0.0.1:1"]):
            usual = self.run_closed("", *words)
            for redirection in ("2>&-", "2>/dev/full"):
                with self.subTest(words=words, redirection=redirection):
                    done = self.run_closed(redirection, *words)
                    self.assertEqual((done.returncode, done.stdout), (usual.returncode, usual.stdout))

    def test_answers_that_cannot_be_printed_are_errors(self):
        for redirection in (">&-", ">/dev/full"):
            done = self.run_closed(redirection, "top", RECORDING)
            self.assertEqual(done.returncode, 3, redirection)
            self.assertIn("telltale: ", done.stderr)

    def test_programs_have_them_closed(self):
        done = self.run_closed(">&-", "run", "-q", "--", "sh", "-c", "test -e /proc/self/fd/1; echo $? >&2")
        self.assertIn("1\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
