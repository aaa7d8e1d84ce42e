"""`telltale run` with options that cannot work does not start the program; if nothing is recorded, it says why."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from program_text import program_text
import recorded_programs as programs
from recorded_programs import Recorded, calls, telltale

WORK = program_text("recorders/cases/work_and_file.c")
# Values that the XRay recorder takes, and others.
GOOD = ["mode=ring", "size=1", "size=500k", "size=64M", "size=1g", "buffer=4K", "buffer=16M", "version=1", "clock=auto",
        "clock=tsc", "clock=monotonic", "clock=sparse", "clock=sparse:255", "depth=1", "depth=65536", "min=0", "min=500ns", "min=3600s",
        "threads=1/1000000", "signal=USR2", "signal=SIGHUP", "signal=64", "fork=off", "functions=work",
        "auto=on", "auto=off", "auto=1/1ns", "auto=100000/200ns", "auto=999999999999999/3600s"]
BAD = ["foo=bar", "Mode=ring", "mode=", "mode=rings", "size=0", "size=10X", "size=10MB", "size=1025G", "size=M", "size=-1",
       "buffer=3K", "buffer=4097", "buffer=17M", "version=2", "clock=sparse:1", "clock=sparse:256", "clock=sparse16", "depth=0",
       "depth=2x", "depth=65537", "min=5", "min=1.5us", "min=5m", "min=3601s", "threads=2", "threads=1/0", "threads=2/3", "signal=FOO",
       "signal=0", "signal=65", "fork=yes", "functions=", "auto=1", "auto=0/1us", "auto=1/0", "auto=1/5", "auto=1/3601s", "auto=x/1us"]
BAD_STACKTRACK = ["foo=bar", "ring=10X", "rotate=x", "keep=a", "clock=0", "clock=65537", "layout=wider", "sequence=x", "fork=1"]


def place():
    return pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = programs.build("gcc", "-xc", *programs.CALL_FLAGS, source=WORK)

    def test_programs_that_cannot_be_started_have_the_shells_statuses(self):
        here = place()
        (here / "corpus").mkdir()
        (here / "corpus/seed").write_text("seed\n")
        (here / "text").write_text("no program\n")
        launchers = {"run": ["run", "--"], "overhead": ["run", "--overhead", 1, "--"], "study": ["run", "--study", here / "s", "--"],
                     "collect": ["run", "--collect", "http://127.0.0.1:9", "--spool", here / "spool", "--"],
                     "fuzz": ["study", "fuzz", here / "corpus", "-o", here / "fuzz", "--"],
                     "bench": ["bench", "--runs", 1, "true", "--"]}
        (here / "spool").mkdir()
        for name, words in launchers.items():
            for program, status in ((here / "missing", 127), ("no-such-program", 127), (here / "text", 126)):
                with self.subTest(launcher=name, program=str(program)):
                    done = telltale(*words, program, cwd=here)
                    self.assertEqual(done.returncode, status, done.stderr)
                    self.assertIn(f"telltale: {program}: cannot be run: ", done.stderr)
                    self.assertNotIn("did you mean", done.stderr)
            with self.subTest(launcher=name, program="of this folder"):
                (here / "local-program").write_text("#!/bin/sh\n")
                (here / "local-program").chmod(0o700)
                self.assertIn("local-program: cannot be run: No such file or directory; did you mean ./local-program?\n",
                              telltale(*words, "local-program", cwd=here).stderr)
        self.assertEqual(telltale("bench", "--runs", 1, here / "missing", "--", "true").returncode, 127)
        self.assertFalse((here / "fuzz").exists())

    def refused(self, *options, status=2):
        here = place()
        done = telltale("run", *options, "--", self.program, here / "ran", cwd=here)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(os.listdir(here), [], options)
        return done.stderr

    def test_the_program_is_not_started(self):
        for options, said in ((["--min", "5"], "--min 5: this must be a whole number with a unit, such as 500ns"),
                              (["--size", "10X"], "--size 10X: this must be a number of bytes"),
                              (["--set", "foo=bar"], "--set foo=bar: the recorder has no setting foo; it has file, mode"),
                              (["--signal", "FOO"], "--signal FOO: this must be USR1"),
                              (["--depth", "0"], "--depth"), (["--auto", "--sparse", "16"], "--sparse"), (["--threads", "0"], "--threads"),
                              (["--function", "f(int[,]*"], "cannot hold a comma"),
                              (["--stacktrack", "--size", "1K"], "--size 1K: a StackTrack file has 16384 bytes at least"),
                              (["--stacktrack", "--set", "layout=classic", "--size", "11K"], "--size 11K: a StackTrack file has 12288 bytes at least"),
                              (["--stacktrack", "--size", "10X"], "--size 10X: this must be a number of bytes")):
            with self.subTest(options=options):
                self.assertIn(said, self.refused(*options))
        for setting in BAD_STACKTRACK:
            with self.subTest(setting=setting):
                self.assertIn(f"--set {setting}: ", self.refused("--stacktrack", "--set", setting))

    def test_it_refuses_what_the_recorder_refuses(self):
        for setting, good in [(text, True) for text in GOOD] + [(text, False) for text in BAD]:
            with self.subTest(setting=setting):
                here = place()
                environment = dict(os.environ, LD_PRELOAD=str(programs.RECORDER), TELLTALE_XRAY=setting)
                alone = subprocess.run([self.program], cwd=here, env=environment, capture_output=True, text=True, timeout=60)
                self.assertEqual("not an option" not in alone.stderr, good, alone.stderr)
                done = telltale("run", "--set", setting, "--", self.program, cwd=here)
                self.assertEqual(done.returncode, 0 if good else 2, done.stderr)

    def test_a_folder_that_cannot_have_a_recording(self):
        self.assertIn("/no/such: cannot record into this folder: No such file", self.refused("-o", "/no/such/x.xray", status=3))
        self.assertIn("cannot record into this folder: Not a directory", self.refused("-o", "/etc/hostname/x.xray", status=3))
        self.assertIn("/proc: cannot record into this folder", self.refused("-o", "/proc/x.xray", status=3))
        self.assertIn("/tmp/ is a folder; -o names a file, such as /tmp/run.xray", self.refused("-o", "/tmp/"))

    def test_names_that_are_too_long(self):
        for name in ("n" * 233 + ".xray", "n" * 250 + ".xray", "n" * 300):
            self.assertIn(f"the recording's name has {len(name)} bytes, but 237 at most are possible", self.refused("-o", name))
        self.assertIn("256 bytes, but 250", self.refused("--stacktrack", "-o", "n" * 256))

    def test_the_reason_why_nothing_was_recorded(self):
        def said(*words, options=()):
            run = Recorded(*words, options=options)
            self.assertEqual((run.done.returncode, run.files), (0, []))
            return run.done.stderr
        self.assertIn("none of the functions that --function and --without leave was called",
                      said(self.program, options=["--function", "nothing"]))
        self.assertRegex(said(self.program, options=["--min", "10s"]), r"left out all 3[0-9] events")
        self.assertIn("no snapshot was asked for: it is written when the program gets SIGUSR2",
                      said(self.program, options=["--mode", "snapshot"]))
        self.assertIn("gets SIGHUP", said(self.program, options=["--mode", "snapshot", "--signal", "HUP"]))
        uncalled = programs.build("gcc", "-xc", *programs.CALL_FLAGS, source=program_text("recorders/cases/uncalled.c"))
        self.assertIn("none of the functions that can be watched was called", said(uncalled))
        own = programs.build("gcc", "-xc", *programs.CALL_FLAGS, source=program_text("recorders/cases/own_hooks.c"))
        self.assertIn("defines __cyg_profile_func_enter: calls of its functions reach that instead of the recorder", said(own))
        self.assertIn("reached a StackTrack checkpoint; --xray records its functions", said(self.program, options=["-o", "x.tlg"]))

    def test_a_recording_that_was_removed(self):
        for remove in ("rm -f *.xray", "mv *.xray gone", "mkdir away; mv *.xray* away"):
            run = Recorded("sh", "-c", f"{self.program}; {remove}", options=["--xray"])
            self.assertRegex(run.done.stderr, r"nothing was recorded: \S+\.xray was made and removed again, by the program or another one")
        run = Recorded("sh", "-c", "touch x.txt; rm x.txt", options=["--xray"])
        self.assertNotIn("removed", run.done.stderr)
        self.assertIn("neither sh nor what it may have started called functions", run.done.stderr)

    def test_a_process_that_has_not_recorded_yet(self):
        daemon = programs.build("gcc", "-xc", *programs.CALL_FLAGS, source=program_text("recorders/cases/late_daemon.c"))
        run = Recorded(daemon)
        try:
            said = re.search(r"nothing was recorded yet: none of .* was called; but process (\d+) \(\S+\) still runs, and may record into (\S+)\n",
                             run.done.stderr)
            self.assertIsNotNone(said, run.done.stderr)
            self.assertEqual(pathlib.Path(said[2]).resolve(), run.place.resolve())
        finally:
            (run.place / "go").touch()
        while not list(run.place.glob("*.xray")):
            time.sleep(0.01)

    def test_static_programs_have_hooks_of_the_c_library(self):
        for flags in (["-static"], ["-static-pie"]):
            static = programs.build("gcc", "-xc", *flags, *programs.CALL_FLAGS, source=WORK)
            self.assertIn("is statically linked: nothing can be preloaded", Recorded(static).done.stderr)
        archive = programs.RECORDER.parent / "libtelltale_xray.a"
        linked = programs.build("g++", "-static", *programs.CALL_FLAGS, "-Wl,-u,telltale_xray_start", source=program_text("recorders/cases/uncalled.c"),
                                after=(str(archive),))
        self.assertIn("none of the functions that can be watched was called", Recorded(linked).done.stderr)

    def test_a_program_whose_name_begins_like_mono(self):
        here = place()
        shutil.copy(programs.build("gcc", "-xc", "-DPLAIN", source=program_text("recorders/cases/uncalled.c")), here / "monolith")
        shutil.copy(here / "monolith", here / "mono-sgen")
        self.assertNotIn("Mono", Recorded(here / "monolith").done.stderr)
        self.assertIn("programs of Mono record themselves", Recorded(here / "mono-sgen").done.stderr)

    @unittest.skipUnless(programs.CLANG, "needs clang")
    def test_below_clangs_threshold(self):
        small = programs.build(programs.CLANG, "-fxray-instrument", source=program_text("sampler/cases/empty_main.c"))
        self.assertIn("-fxray-instruction-threshold=1", Recorded(small).done.stderr)

    def test_what_launchers_start_is_recorded(self):
        here = place()
        shutil.copy(self.program, here / "work")
        (here / "Makefile").write_text("all: ; @./work\n")
        (here / "CTestTestfile.cmake").write_text('add_test(work "./work")\n')
        for launcher in (["bash", "-c", "./work; true"], ["make", "-s"], ["ctest"], ["env", "-C", ".", "./work"],
                         [sys.executable, "-c", "import subprocess; subprocess.run(['./work'], check=True)"]):
            with self.subTest(launcher=launcher):
                done = telltale("run", "--", *launcher, cwd=here)
                self.assertEqual(done.returncode, 0, done.stderr)
                (file,) = here.glob("work.*.xray")
                self.assertEqual(calls(file, prefix=""), {"main": 1, "work": 15}, done.stderr)
                file.unlink()


if __name__ == "__main__":
    unittest.main()
