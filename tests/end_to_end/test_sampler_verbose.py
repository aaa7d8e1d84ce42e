"""SAMPLER_VERBOSE's messages, and the readers' message for a report without observations."""
import errno
import json
import os
import unittest

from program_text import program_text
from sampler_programs import RELEASES, SamplerCase, build, run

NEWEST = RELEASES[-1] if RELEASES else None
TELLTALE = os.environ["TELLTALE"]
OFF = "sampling: off; nothing will be observed: "
NOTHING = "nothing was observed: a program that samples needs SAMPLER_SPARSITY in its environment"


class Verbose(SamplerCase):
    def program(self, *words):
        source = self.path("one.c")
        source.write_text(program_text("sampler/cases/thousand_turns.c"))
        other = self.path("two.c")
        other.write_text(program_text("sampler/cases/two.c"))
        return build(self.path("p"), NEWEST, *words, "-fsampler-scheme=branches", source, other)

    def said(self, program, **environment):
        done = run(program, env={"SAMPLER_VERBOSE": "1", **environment}, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("sampler: "), line)
        return [line.removeprefix("sampler: ") for line in done.stderr.splitlines()]

    def test_where_the_report_goes_and_what_is_observed(self):
        program = self.program()
        file = {"SAMPLER_FILE": "report.txt"}
        place, units = f"report: {self.report}", "units in the report: 2"
        for environment, expected in (
                ({**file}, [place, OFF + "SAMPLER_SPARSITY is not set", units]),
                ({**file, "SAMPLER_SPARSITY": "100"}, [place, "sampling: one in 100", units]),
                ({**file, "SAMPLER_SPARSITY": "0.5"}, ["SAMPLER_SPARSITY is not a number of 1 or more; nothing is sampled: 0.5", place,
                                                       OFF + "SAMPLER_SPARSITY is not a number of 1 or more", units]),
                ({"SAMPLER_SPARSITY": "1"}, ["report: none; neither SAMPLER_FILE nor SAMPLER_REPORT_FD is set, and TELLTALE_COLLECT names no folder for it", "sampling: one in 1"]),
                ({**file, "SAMPLER_SPARSITY": "1", "SAMPLER_SEED": "0x12"}, [place, "sampling: one in 1", units]),
                ({**file, "SAMPLER_SPARSITY": "1", "SAMPLER_SEED": "7th"}, ["SAMPLER_SEED is not an integer; the seed is random: 7th", place,
                                                                            "sampling: one in 1", units]),
                ({"SAMPLER_FILE": "/dev/full", "SAMPLER_SPARSITY": "1"}, ["report: /dev/full", "sampling: one in 1", units,
                                                                          f"report: incomplete; a write failed with error number {errno.ENOSPC}"]),
                ({"SAMPLER_FILE": "no/such/folder"}, ["report: none; it cannot be opened: No such file or directory",
                                                      OFF + "SAMPLER_SPARSITY is not set"]),
                ({"SAMPLER_REPORT_FD": "2", "SAMPLER_SPARSITY": "7"}, None),
                ({"SAMPLER_REPORT_FD": "77"}, ["report: none; it cannot be opened: Bad file descriptor",
                                               OFF + "SAMPLER_SPARSITY is not set"])):
            with self.subTest(environment=environment):
                if expected is not None:
                    self.assertEqual(self.said(program, **environment), expected)
                else:
                    done = run(program, env={"SAMPLER_VERBOSE": "1", **environment})
                    self.assertIn("sampler: report: descriptor 2\n", done.stderr)
        self.assertEqual(run(program, env={**file, "SAMPLER_VERBOSE": ""}, cwd=self.folder).stderr, "")

    def test_why_nothing_goes_to_the_spool(self):
        program = self.program()
        spool, home = self.path("spool"), self.path("home")
        (home / "telltale").mkdir(parents=True)
        words = {"XDG_CONFIG_HOME": str(home), "TELLTALE_COLLECT": str(spool), "SAMPLER_VERBOSE": "1"}

        def said():
            return run(program, env=words, cwd=self.folder).stderr.splitlines()[0]

        folder = "sampler: report: none; the folder of TELLTALE_COLLECT "
        self.assertEqual(said(), folder + "cannot be opened, or is full of files")
        spool.mkdir()
        self.assertRegex(said(), "^sampler: report: /.*/spool/.*part$")
        (spool / "sampling").write_text(f"{program.name} * 0\n")
        self.assertEqual(said(), folder[:-1] + ", or the server, asks for no sampling")
        for number in range(1000):
            (spool / f"{number}.report").touch()
        self.assertEqual(said(), folder + "cannot be opened, or is full of files")
        (home / "telltale/collect").write_text("* off\n")
        self.assertEqual(said(), "sampler: report: none; the user's file of consent says off, or cannot be read")

    def test_kinds_of_programs(self):
        file = {"SAMPLER_FILE": "report.txt"}
        self.assertIn("sampling: none; everything is counted (-fno-sample)", self.said(self.program("-fno-sample"), **file))
        fixed = self.program("-fsampler-random=fixed")
        self.assertIn("sampling: every N-th, N = 5", self.said(fixed, **file, SAMPLER_SPARSITY="5"))
        offline = self.program("-fsampler-random=offline")
        self.assertIn(OFF + "SAMPLER_EVENT_COUNTDOWNS is not set or names no file of countdowns", self.said(offline, **file))
        run(TELLTALE, "precompute", self.path("bank"), env={"SAMPLER_SPARSITY": "10", "SAMPLER_SEED": "1"})
        self.assertIn("sampling: by the countdowns of SAMPLER_EVENT_COUNTDOWNS",
                      self.said(offline, **file, SAMPLER_EVENT_COUNTDOWNS=str(self.path("bank"))))

    def test_a_crash_is_told_too(self):
        source = self.path("crash.c")
        source.write_text(program_text("sampler/cases/raises.c"))
        program = build(self.path("p"), NEWEST, "-fno-sample", "-fsampler-scheme=branches", source)
        done = run(program, env={"SAMPLER_VERBOSE": "1", "SAMPLER_FILE": str(self.report)})
        self.assertIn("sampler: units in the report: 1\n", done.stderr)

    def test_a_report_without_observations_says_why(self):
        program = self.program()
        self.run_reported(program)
        self.assertTrue(self.report.read_text())
        for verb in ("info", "report"):
            self.assertIn(NOTHING, run(TELLTALE, verb, self.report).stdout)
        self.assertEqual(json.loads(run(TELLTALE, "report", self.report, "--json").stdout)["reports"]["note"], NOTHING)
        self.assertEqual(json.loads(run(TELLTALE, "info", self.report, "--json").stdout)["properties"]["note"], NOTHING)
        for words in (["top"], ["resolve"], ["convert", "--to", "csv", "-o", "-"], ["convert", "--to", "lcov", "-o", "-", "--program", program]):
            done = run(TELLTALE, words[0], self.report, *words[1:], "--strict")
            self.assertEqual((done.returncode, done.stderr), (0, f"telltale: {NOTHING}\n"), words)
        self.run_reported(program, SAMPLER_SPARSITY="1")
        for words in (["info"], ["report"], ["report", "--json"], ["top"], ["resolve"]):
            done = run(TELLTALE, words[0], self.report, *words[1:])
            self.assertNotIn("nothing was observed", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
