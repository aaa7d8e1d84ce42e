"""Standard output and error that are closed or cannot be written, and files that may not be that large: no file of telltale's or
of a recorder's gets their descriptor, statuses are as usual, and nothing stays half written."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from sampler_programs import BINARY_DIR, RELEASES, SOURCE_DIR, SamplerCase, build, run

TELLTALE = os.environ["TELLTALE"]
RECORDING = SOURCE_DIR / "examples/orders/orders.yaml"
PRINTS = SOURCE_DIR / "tests/programs/recorders/prints.cc"
PRINTED = b"line of the log"
CLOSED = (">&-", "2>&-", "<&- >&- 2>&-")


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

    def test_files_above_the_size_limit_are_errors(self):
        for words in (["convert", RECORDING, "--to", "csv"], ["flame", RECORDING]):
            with self.subTest(words=words):
                limited = ["prlimit", "--fsize=512", TELLTALE, *map(str, words), "-o", self.folder / "made"]
                done = subprocess.run(limited, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("File too large", done.stderr)
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_programs_have_the_default_action_of_the_size_limit(self):
        done = subprocess.run(["prlimit", "--fsize=512", TELLTALE, "run", "-q", "--", "sh", "-c", "yes > made"], cwd=self.folder, timeout=60)
        self.assertIn(done.returncode, (-signal.SIGXFSZ, 128 + signal.SIGXFSZ))

    def test_programs_have_them_closed(self):
        done = self.run_closed(">&-", "run", "-q", "--", "sh", "-c", "test -e /proc/self/fd/1; echo $? >&2")
        self.assertIn("1\n", done.stderr)


class PrintingPrograms(SamplerCase):
    """What programs print is not in their recordings."""

    def run_closed(self, redirection, *words, env=None):
        return run("sh", "-c", f'"$@" {redirection}', "sh", *words, env=env, cwd=self.folder)

    def remove(self, pattern):
        for file in self.folder.glob(pattern):
            file.unlink()

    def compile(self, name, *words):
        done = run("g++", "-O1", "-pthread", "-finstrument-functions", f"-I{SOURCE_DIR}/include", *words, PRINTS, "-o", self.path(name),
                   BINARY_DIR / "runtime/stacktrack/libtelltale_stacktrack.a")
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def check_recordings(self, files):
        checked = run(TELLTALE, "check", *files)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        for file in files:
            self.assertEqual(file.read_bytes().count(PRINTED), 0, file)

    def test_stacktrack(self):
        program = self.compile("checkpoints", "-DCHECKPOINTS")
        for redirection in CLOSED:
            with self.subTest(redirection=redirection):
                self.remove("stream*")
                file = self.path("stream.tlg")
                done = self.run_closed(redirection, TELLTALE, "run", "-q", "--stacktrack", "-o", file, "--", program)
                self.assertEqual(done.returncode, 0)
                self.check_recordings([file])

    def test_functions(self):
        program = self.compile("counts")
        for mode, how, count in (("snapshot", "raises", 20), ("continuous", "", 1)):
            for redirection in CLOSED:
                with self.subTest(mode=mode, redirection=redirection):
                    self.remove("calls*")
                    done = self.run_closed(redirection, TELLTALE, "run", "-q", "--mode", mode, "--size", "64M", "-o", "calls.xray",
                                           "--", program, how)
                    self.assertEqual(done.returncode, 0)
                    files = list(self.folder.glob("calls*.xray"))
                    self.assertEqual(len(files), count)
                    self.check_recordings(files)

    def test_sampler(self):
        program = build(self.path("sampled"), RELEASES[-1], "-g", "-O1", "-pthread", "-fsampler-scheme=branches", "-ftrace-sites", PRINTS, cxx=True)
        for redirection in CLOSED:
            for how in ("", "closes", "aborts"):
                with self.subTest(redirection=redirection, how=how):
                    self.remove("*t.txt")
                    trace = self.path("t.txt")
                    self.run_closed(redirection, program, how, env={
                        "SAMPLER_FILE": str(self.report), "SAMPLER_TRACE": str(trace), "SAMPLER_SPARSITY": "100"})
                    self.assertEqual(len(self.subreports()), 1 + (how == "aborts"))
                    for file in (self.report, trace):
                        self.assertEqual(file.read_bytes().count(PRINTED), 0, file)

    def test_low_descriptors_are_the_programs(self):
        """As shells have them, whose scripts write to 3."""
        source = SOURCE_DIR / "tests/programs/sampler/low_descriptors.c"
        program = build(self.path("uses_low"), RELEASES[-1], "-fsampler-scheme=branches", "-ftrace-sites", "-fno-sample", source)
        for limit in ("1024", "256", "40"):
            with self.subTest(limit=limit):
                self.remove("low*.txt")
                report, trace = self.path("low.txt"), self.path("low_trace.txt")
                done = run("prlimit", f"--nofile={limit}", program, env={"SAMPLER_FILE": str(report), "SAMPLER_TRACE": str(trace)})
                self.assertEqual((done.returncode, done.stdout), (0, "3\n"))
                for file in (report, trace):
                    self.assertTrue(file.read_bytes())
                    self.assertNotIn(b"not a report", file.read_bytes())

    def test_stacks_of_crashes(self):
        program = build(self.path("traced"), RELEASES[-1], "-g", "-O1", "-pthread", "--trace=pt.schema", "-silent", PRINTS, cxx=True,
                        cwd=self.folder)
        for redirection in CLOSED:
            with self.subTest(redirection=redirection):
                self.remove("crash*")
                file = self.path("crash.paths")
                self.run_closed(redirection, program, "aborts", env={"TELLTALE_PATHS": str(file)})
                self.assertTrue(file.read_bytes().startswith(b"\x7fELF"))
                self.check_recordings([file])


if __name__ == "__main__":
    unittest.main()
