"""A program that is killed while it writes its report leaves the part written so far; SIGTERM lets it finish the
current unit."""
import fcntl
import os
import re
import signal
import subprocess
import unittest

from program_text import program_text
from sampler_programs import PROGRAMS, RELEASES, SamplerCase, build, run, samples, site_tables

NEWEST = RELEASES[-1] if RELEASES else None
TELLTALE = os.environ["TELLTALE"]
# Assignments and their operands: more than 64 KiB of counters in the second unit, two lines in the others.
ASSIGNMENTS = {"first": 1, "second": 100, "third": 1}
GLOBALS = {"first": 2, "second": 150, "third": 2}


class Killed(SamplerCase):
    def setUp(self):
        super().setUp()
        self.preload = self.path("die_at_write.so")
        subprocess.run([f"clang-{NEWEST}", "-shared", "-fPIC", "-o", self.preload, PROGRAMS / "die_at_write.c"], check=True)
        # Generated: as many globals and assignments as the test asks for. Each comparison is made once.
        sources = []
        for name, count in ASSIGNMENTS.items():
            numbers = "".join(f"static int g{i} = {i};\n" for i in range(GLOBALS[name]))
            assignments = "".join(f"  x = n + {i};\n" for i in range(count))
            source = self.path(f"{name}.c")
            source.write_text(f"{numbers}int {name}(int n) {{\n  int x;\n{assignments}  return x;\n}}\n")
            sources.append(source)
        main = self.path("main.c")
        main.write_text(program_text("sampler/cases/calls_three.c"))
        self.program = build(self.path("program"), NEWEST, "-fno-sample", "-fsampler-scheme=scalar-pairs", *sources, main)
        self.sites = sum(len(rows) for rows in site_tables(self.program).values())

    def run_until(self, at, by, **more):
        self.report.unlink(missing_ok=True)
        return run(self.program, env={"SAMPLER_FILE": str(self.report), "LD_PRELOAD": str(self.preload), "DIE_AT": str(at), "DIE_BY": str(int(by)),
                                      **more}, cwd=self.folder)

    def counted(self):
        """How often each comparison was made, by unit; of whole lines."""
        text = self.report.read_text()
        self.report.write_text(text[:text.rfind("\n") + 1])
        counts = {}
        for (unit, _), rows in samples(self.report):
            for i, row in enumerate(rows):
                if len(row) == 3:
                    counts[unit, i] = counts.get((unit, i), 0) + sum(map(int, row))
        return counts

    def writes(self):
        count = self.path("count")
        self.assertEqual(self.run_until(0, 0, COUNT_FILE=str(count)).returncode, 0)
        return int(count.read_text())

    def test_killed_at_each_write(self):
        writes = self.writes()
        whole = self.report.read_text()
        self.assertEqual(list(self.counted().values()), [1] * self.sites)
        self.assertGreater(len(whole), 65536)
        self.assertGreaterEqual(writes, len(whole) / 4096)
        sizes = []
        for at in range(1, writes + 1):
            self.assertEqual(self.run_until(at, signal.SIGKILL).returncode, -signal.SIGKILL)
            text = self.report.read_text()
            self.assertTrue(whole.startswith(text), at)
            sizes.append(len(text))
            if at == 1:
                continue  # nothing was written yet
            # Rows in the file count; missing ones are reported. Between two units the text looks complete, but units are missing.
            done = run(TELLTALE, "resolve", self.report, "--program", self.program, "--strict")
            torn = not text.endswith("</report>\n")
            self.assertEqual(done.returncode, 4 if torn else 0, (at, done.stderr))
            self.assertEqual("has no </report>" in done.stderr or "has no </samples>" in done.stderr or "ends" in done.stderr, torn, done.stderr)
            rows = len(re.findall(r"^\d\t\d\t\d\n", text, re.M))
            self.assertEqual(done.stdout.count("scalar-pairs"), rows)
        self.assertEqual(sizes, sorted(set(sizes)))
        self.assertLessEqual(max(b - a for a, b in zip(sizes, sizes[1:])), 4096)

    def test_asked_to_end_at_each_write(self):
        """The current unit is completed, and each is there once."""
        for by in (signal.SIGTERM, signal.SIGINT):
            for at in range(1, self.writes() + 1):
                with self.subTest(by=by, at=at):
                    self.assertEqual(self.run_until(at, by).returncode, -by)
                    ids = [name for name, _ in self.subreports()]
                    self.assertEqual(ids[-1], "main-backtrace")
                    self.assertEqual(set(self.counted().values()), {1})
                    self.assertEqual(len(self.counted()), self.sites)
                    done = run(TELLTALE, "check", self.report)
                    self.assertEqual(done.returncode, 0, done.stdout)

    def test_killed_while_nobody_reads(self):
        """A pipe contains everything written before."""
        reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        child = subprocess.Popen([self.program], env={"SAMPLER_REPORT_FD": str(writing)}, pass_fds=[writing])
        os.close(writing)
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            text = b""
            while len(text) < 3000:
                text += pipe.read(1000)
            child.kill()
            child.wait()
            while piece := pipe.read(4096):
                text += piece
        self.report.write_bytes(text)
        self.assertGreater(len(self.counted()), 400)
        self.assertLess(len(self.counted()), self.sites)

    def test_asked_to_end_while_a_reader_is_slow(self):
        reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        child = subprocess.Popen([self.program], env={"SAMPLER_REPORT_FD": str(writing)}, pass_fds=[writing])
        os.close(writing)
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            text = pipe.read(1000)
            child.terminate()
            while piece := pipe.read(4096):
                text += piece
        self.assertEqual(child.wait(), -signal.SIGTERM)
        self.report.write_bytes(text)
        self.assertEqual((set(self.counted().values()), len(self.counted())), ({1}, self.sites))
        self.assertEqual(run(TELLTALE, "check", self.report).returncode, 0)

    def test_processes_that_share_a_file(self):
        """One is killed while it writes; the rows that the others add are complete."""
        script = '"$0" & "$0"; wait; LD_PRELOAD="$1" DIE_AT=4 DIE_BY=9 "$0" & "$0"; wait'
        self.report.write_text("")
        holder = f'exec 9>>"{self.report}"; export SAMPLER_REPORT_FD=9; {script}'
        run("bash", "-c", holder, self.program, self.preload, cwd=self.folder)
        counts = self.counted()
        # Three ran to their end; of the fourth there is a part.
        self.assertLessEqual({3}, set(counts.values()))
        self.assertLessEqual(set(counts.values()), {3, 4})


if __name__ == "__main__":
    unittest.main()
