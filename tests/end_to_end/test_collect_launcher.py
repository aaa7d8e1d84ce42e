"""`telltale run --collect` and `run --study` as launchers: what is sent to telltale reaches the program, and the program ends as without them."""
import os
import pathlib
import pty
import re
import signal
import subprocess
import tempfile
import time
import unittest

from sampler_programs import RELEASES, build
from send_case import DEAD, FakeServer, SendCase
from study_case import PROGRAMS, SCHEMES, TELLTALE, table

OTHERS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


class LauncherTest(SendCase):
    @classmethod
    def setUpClass(cls):
        keeper = tempfile.TemporaryDirectory(prefix="telltale-launcher-")
        cls.addClassCleanup(keeper.cleanup)
        folder = pathlib.Path(keeper.name)
        cls.signals = build(folder / "signals", RELEASES[-1], "-O1", *SCHEMES, PROGRAMS / "signals.c")
        cls.ending = build(folder / "ending", RELEASES[-1], "-O1", *SCHEMES, PROGRAMS / "ending.c")

    def collect(self, *words):
        return ("run", "--collect", DEAD, "--sparsity", "1", "--spool", self.spool, *words)

    def start(self, *words, **options):
        """telltale, and the process id of the program that it started."""
        process = subprocess.Popen([TELLTALE, *map(str, words)], env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        program = int(process.stderr.readline())
        self.addCleanup(lambda: is_alive(program) and os.kill(program, signal.SIGKILL))
        return process, program

    def outcome(self):
        """Of the only report of the spool, which is removed."""
        (report,) = self.spool.glob("*.report")
        text = report.read_text()
        report.unlink()
        outcome = text[text.index('<report id="outcome">'):]
        return dict(re.findall(r"^(status|signal|label|rule) (.*)$", outcome, re.M))

    def test_signals_reach_the_program(self):
        study = self.folder / "study"
        for words in (self.collect(), ("run", "-q", "--study", study)):
            with self.subTest(words=words[1]):
                process, _ = self.start(*words, "--", self.signals)
                for number in (*OTHERS, signal.SIGTERM):
                    process.send_signal(number)
                    self.assertEqual(process.stdout.readline(), f"{int(number)}\n")
                self.assertEqual(process.wait(60), 7)
        self.assertEqual(self.outcome(), {"status": "7", "label": "failed", "rule": "status"})
        self.assertEqual([(row["label"], row["rule"], row["status"]) for row in table(study)], [("failed", "status", "7")])

    def test_a_signal_that_ends_the_program_ends_telltale(self):
        """The report is there, and the program is not at fault."""
        for number in (signal.SIGTERM, *OTHERS):
            with self.subTest(number.name):
                process, program = self.start(*self.collect(), "--", self.signals, "default")
                process.send_signal(number)
                self.assertEqual(process.wait(60), -number)
                self.assertFalse(is_alive(program))
                self.assertEqual(self.outcome(), {"signal": number.name, "label": "skipped", "rule": "signal"})

    def test_a_study_skips_a_run_that_it_was_told_to_end(self):
        """Neither --label nor --reference is asked then. A signal that comes from elsewhere is the program's failure."""
        study, asked = self.folder / "study", self.folder / "asked"
        words = ("run", "-q", "--study", study, "--label", f"echo >>{asked}; exit 1", "--reference", "/dev/null", "--", self.signals, "default")
        for tell in (True, False):
            process, program = self.start(*words)
            os.kill(process.pid if tell else program, signal.SIGTERM)
            self.assertEqual(process.wait(60), -signal.SIGTERM)
            self.assertEqual(asked.exists(), not tell)
        self.assertEqual([(row["label"], row["rule"], row["signal"]) for row in table(study)],
                         [("skipped", "signal", "SIGTERM"), ("failed", "command", "SIGTERM")])

    def on_terminal(self, *words):
        """telltale on a terminal of its own: its process id, the terminal, and what reads a line from it."""
        process, terminal = pty.fork()
        if process == 0:
            os.execve(TELLTALE, [TELLTALE, *map(str, words)], self.environment())
        shown = os.fdopen(terminal, "rb", buffering=0, closefd=True)
        self.addCleanup(shown.close)
        return process, terminal, lambda: shown.readline().decode().replace("^C", "").replace("^\\", "").strip()

    def test_keys_of_a_terminal(self):
        """The program gets SIGINT and SIGQUIT once, from the terminal, and nothing else."""
        process, terminal, line = self.on_terminal(*self.collect(), "--", self.signals)
        self.assertRegex(line(), r"^\d+$")
        for key, number in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT), (b"\x03", signal.SIGINT)):
            os.write(terminal, key)
            self.assertEqual(line(), str(int(number)))
        os.kill(process, signal.SIGTERM)
        self.assertEqual(line(), str(int(signal.SIGTERM)))
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 7)
        process, terminal, line = self.on_terminal(*self.collect(), "--", self.signals, "default")
        line()
        os.write(terminal, b"\x03")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), -signal.SIGINT)
        self.assertEqual(len(self.waiting()), 2)

    def test_signals_end_the_runs_of_a_study(self):
        """All of them, so that no program stays behind."""
        for number in (*OTHERS, signal.SIGTERM):
            with self.subTest(number.name):
                process, program = self.start("run", "-q", "--study", self.folder / "study", "--times", 1000, "--", self.signals, "default")
                process.send_signal(number)
                self.assertEqual(process.wait(60), 130)
                self.assertFalse(is_alive(program))

    def test_an_ignored_signal_does_not_end_a_study(self):
        """As with nohup, when the terminal is closed."""
        process, program = self.start("run", "-q", "--study", self.folder / "study", "--times", 2, "--", self.signals,
                                      preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        os.kill(program, signal.SIGTERM)
        second = process.stderr.readline()
        self.assertRegex(second, r"^\d+\n$")  # the next run
        os.kill(int(second), signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)

    def test_programs_that_cannot_be_run(self):
        script = self.folder / "not-for-running"
        script.write_text("echo ran\n")
        script.chmod(0o600)
        environment = self.environment(PATH=f"{self.folder}:{os.environ['PATH']}")
        for words in (self.collect(), ("run", "--study", self.folder / "study"), ("run",)):
            for program, status in ((self.folder / "missing", 127), ("no-such-program", 127), (script, 126), (self.folder, 126), ("not-for-running", 126)):
                with self.subTest(words=words[1:2], program=program):
                    done = self.telltale(*words, "--", program, env=environment)
                    self.assertEqual((done.returncode, done.stdout), (status, ""))
                    self.assertIn("cannot be run", done.stderr)

    def test_a_program_runs_without_a_spool(self):
        """Whatever the user's machine lacks: the program does not need it."""
        blocked = self.folder / "file"
        blocked.write_text("")
        homeless = {name: value for name, value in self.environment().items() if name != "HOME"}
        no_temporary = self.environment(TMPDIR=blocked)
        for words, environment in (((), homeless), ((), self.environment(HOME=blocked)), (("--spool", "/proc/x"), None),
                                   (("--spool", blocked / "x"), None), (("--spool", self.spool), no_temporary)):
            with self.subTest(words=words):
                done = self.telltale("run", "--collect", DEAD, *words, "--", self.ending, 9, env=environment or self.environment())
                self.assertEqual((done.returncode, done.stdout), (9, "2\n"))
                self.assertRegex(done.stderr, "^telltale: not reported: [^\n]+\n$")
                done = self.telltale("run", "-q", "--collect", DEAD, *words, "--", self.ending, 9, env=environment or self.environment())
                self.assertEqual((done.returncode, done.stdout, done.stderr), (9, "2\n", ""))
        self.assertEqual(self.waiting(), [])
        study = self.folder / "study"
        done = self.telltale("run", "--study", study, "--collect", DEAD, "--spool", "/proc/x", "--", self.ending, 9)
        self.assertEqual((done.returncode, len(table(study))), (9, 1))
        self.assertIn("not reported", done.stderr)

    def test_both_ways_label_an_ending_alike(self):
        """TELLTALE_COLLECT and --collect."""
        for how in ("0", "3", "abort", "term"):
            with self.subTest(how), FakeServer() as fake:
                self.spooled(self.ending, how)
                self.telltale("run", "--collect", fake.url, "--sparsity", "1", "--spool", self.spool, "--", self.ending, how)
                for _ in range(600):  # another process sends both
                    if not self.waiting():
                        break
                    time.sleep(0.1)
                of_both = [tuple(fields.get(f"Telltale-{name}", "") for name in ("Status", "Signal", "Label")) for _, fields, _ in fake.requests]
                self.assertEqual(len(of_both), 2)
                self.assertEqual(*of_both)


if __name__ == "__main__":
    unittest.main()
