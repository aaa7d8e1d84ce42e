"""Rows R6 and R7 for both recorders. R6: a host's handlers see, and its processes end, exactly as without a recorder:
176 combinations of signal, way of handling it, and order of installation. R7: crashes of many threads at once, while a
recording is flushed, and after the recorder's own memory was overwritten: the process ends by its signal, and soon.
TELLTALE_LONG=1: more rounds."""
import re
import signal
import subprocess
import unittest

import recorder_programs as programs

FATAL = {4, 5, 6, 7, 8, 11, 31}


@unittest.skipIf(programs.SANITIZED, "sanitizers have handlers of their own")
class HostSignals(unittest.TestCase):
    maxDiff = None

    def lines(self, kind, how):
        place = programs.new_folder()
        environment = {"LD_PRELOAD": str(programs.XRAY)} if kind != "stacktrack" and how != "none" else {}
        # Core files are irrelevant here: none are written.
        quiet = ["sh", "-c", "echo 0 > /proc/self/coredump_filter; exec \"$@\"", "sh"]
        done = programs.run("stacktrack", programs.build("host_signals", kind), how, place / "r", before=quiet, cwd=place,
                            environment=environment)
        return place, done.stdout.splitlines()

    def check(self, kind):
        _, plain = self.lines(kind, "none")
        self.assertEqual(len(plain), 176)
        # The program itself distinguishes its ways to end.
        self.assertEqual({re.search(r"(signal|exit) (\d+)", line)[0] for line in plain} & {"exit 50", "exit 42"}, set())
        self.assertGreaterEqual(len({re.search(r"(signal|exit) (\d+)", line)[0] for line in plain}), 10)
        for how in ("file", "memory"):
            place, lines = self.lines(kind, how)
            # A snapshot's own signal does not end the process any more; handlers that were there before still get it.
            ours = [kind != "stacktrack" and how == "memory" and bool(re.search("signal 2 (SIG_DFL|SA_RESETHAND) before", line)) for line in plain]
            self.assertEqual([line for line, mine in zip(lines, ours) if not mine], [line for line, mine in zip(plain, ours) if not mine], how)
            files = 0
            for number, line in enumerate(lines):
                end, signal = re.search(r"(signal|exit) (\d+)", line).groups()
                path = place / f"r.{number}"
                # A ring in memory is written when a fault kills its process, also if the host had a handler and then restored
                # the default action, or ignores the signal. No handler runs in abort() when the signal is ignored or the host's
                # handler has returned: libc restores the default action itself.
                unhandled = "Aborted" in line and ("SIG_IGN" in line or ("last words" not in line and " 0 times" not in line))
                died = end == "signal" and int(signal) in FATAL and not unhandled
                if how == "file" or died:
                    self.assertTrue(path.exists(), line)
                if path.exists() and (how == "memory" or number % 10 == 0):
                    files += 1
                    self.assertEqual(programs.calls(kind, path), (100, 0), line)
            self.assertGreaterEqual(files, 7)

    def test_stacktrack(self):
        self.check("stacktrack")

    def test_functions(self):
        self.check("functions")

    @unittest.skipUnless(programs.CLANG, "clang is not installed")
    def test_xray(self):
        self.check("xray")


@unittest.skipIf(programs.SANITIZED, "sanitizers have handlers of their own")
class Crashes(unittest.TestCase):
    ENDS = {"segv": signal.SIGSEGV, "abort": signal.SIGABRT, "fpe": signal.SIGFPE, "ill": signal.SIGILL}

    def crash(self, kind, what, end, how, limit=""):
        place = programs.new_folder()
        path = place / ("r.tlg" if kind == "stacktrack" else "r.xray")
        environment = {} if kind == "stacktrack" else {"LD_PRELOAD": str(programs.XRAY)}
        # A process that does not end soon is a failure. The limit is generous enough for a busy machine.
        done = programs.run("stacktrack", programs.build("crashes", kind), how, path, what, end, cwd=place, expect=None, timeout=30,
                            environment=environment, before=["sh", "-c", limit + "ulimit -c 0; exec \"$@\"", "sh"])
        self.assertEqual(done.returncode, -self.ENDS[end], f"{kind} {what} {end} {how}: {done.stderr}")
        return path

    def readable(self, path):
        """telltale's answer on a damaged file: it succeeds, or reports that this is not a recording."""
        done = subprocess.run([programs.TELLTALE, "info", "--json", path], capture_output=True, text=True, timeout=60)
        self.assertIn(done.returncode, (0, 1, 2, 3), done.stderr)
        return done

    def test_many_at_once(self):
        for kind in programs.KINDS:
            for how in ("file", "memory"):
                for end in list(self.ENDS) if programs.LONG else ("segv", "abort"):
                    with self.subTest(kind=kind, how=how, end=end):
                        events, lost = programs.calls(kind, self.crash(kind, "crowd", end, how))
                        self.assertEqual((events, lost), (20 * 50 + 1, 0))

    def test_r8_stack_overflow(self):
        for kind in programs.KINDS:
            for how in ("file", "memory"):
                for what, more in (("overflow", 0), ("thread_overflow", 7)):
                    for limit in ("", "ulimit -s unlimited; " if what == "thread_overflow" else "ulimit -s 64; "):
                        with self.subTest(kind=kind, how=how, what=what, limit=limit):
                            path = self.crash(kind, what, "segv", how, limit)
                            self.assertEqual(programs.calls(kind, path), (51 + more, 0))

    def test_r10_a_file_that_somebody_cuts(self):
        for kind in programs.KINDS:
            for cut_to in (0, 100, 4096, 50_000):
                with self.subTest(kind=kind, cut_to=cut_to):
                    place = programs.new_folder()
                    if kind == "stacktrack":
                        environment = {"TELLTALE_STACKTRACK": f"dir={place}"}
                    else:
                        environment = {"LD_PRELOAD": str(programs.XRAY), "TELLTALE_XRAY": f"file={place}/r.xray"}
                    done = programs.run("stacktrack", programs.build("crashes", kind), "open", "-", "cut", cut_to, environment=environment)
                    emitted, lost = map(int, done.stdout.split())
                    self.assertEqual(done.stderr, "")
                    files = programs.recordings(place)
                    self.readable(files[0])
                    if kind == "stacktrack":
                        # It continues in the next file; lost with the first are its contents, and at most an event or two per thread.
                        self.assertEqual(len(files), 2)
                        recorded, told = programs.calls(kind, files[1])
                        self.assertGreaterEqual(recorded + lost, 2 * 20_000 - 4)
                        # The first file may be unreadable: the next one contains the later losses. A thread loses only the events
                        # in progress while the next file is created.
                        self.assertEqual(told, lost)
                        self.assertGreater(lost, 0)
                        self.assertLessEqual(lost, 4)
                    else:
                        self.assertGreaterEqual(lost, 2 * 20_000 - 4 - 4 * 8192)
                        self.assertGreater(lost, 0)

    def test_r10_a_file_that_somebody_cuts_and_makes_long_again(self):
        """A thread whose data is gone only detects that when it checks: then all of the data is counted."""
        for kind in programs.KINDS:
            for cut_to in (0, 20):
                with self.subTest(kind=kind, cut_to=cut_to):
                    place = programs.new_folder()
                    if kind == "stacktrack":
                        environment = {"TELLTALE_STACKTRACK": f"dir={place}"}
                    else:
                        environment = {"LD_PRELOAD": str(programs.XRAY), "TELLTALE_XRAY": f"file={place}/r.xray"}
                    done = programs.run("stacktrack", programs.build("crashes", kind), "open", "-", "cut_and_again", cut_to,
                                        environment=environment)
                    emitted, lost = map(int, done.stdout.split())
                    files = programs.recordings(place)
                    self.readable(files[0])
                    if kind == "stacktrack":
                        self.assertEqual(len(files), 2)
                        recorded, _ = programs.calls(kind, files[1])
                        self.assertEqual(recorded + lost, emitted)
                    else:
                        self.assertEqual(lost, 2 * emitted)

    def test_while_it_is_flushed(self):
        for kind in programs.KINDS:
            for number in range(40 if programs.LONG else 4):
                with self.subTest(kind=kind):
                    events, _ = programs.calls(kind, self.crash(kind, "flush", ("segv", "abort")[number % 2], "memory" if number % 4 > 1 else "file"))
                    self.assertGreater(events, 0)

    def test_memory_that_was_written_over(self):
        for kind in programs.KINDS:
            for number in range(60 if programs.LONG else 6):
                for how in ("file", "memory"):
                    with self.subTest(kind=kind, how=how, number=number):
                        path = self.crash(kind, f"scribble{number}", ("abort", "segv", "fpe")[number % 3], how)
                        if path.exists():
                            self.readable(path)

    def test_a_fault_while_the_crash_is_noted(self):
        """It ends the note; the process ends by its own signal."""
        for kind in (kind for kind in programs.KINDS if kind != "stacktrack"):
            with self.subTest(kind=kind):
                path = programs.new_folder() / "r.xray"
                environment = {"LD_PRELOAD": str(programs.XRAY), "TELLTALE_XRAY": f"file={path},crash=on"}
                done = programs.run("stacktrack", programs.build("crashes", kind), "open", "-", "unmapped", "abort", expect=None, timeout=30,
                                    environment=environment)
                self.assertEqual(done.returncode, -signal.SIGABRT)
                self.assertEqual(programs.calls(kind, path)[0], 3001)

    def test_headers_of_chunks_that_were_written_over(self):
        for kind in programs.KINDS:
            with self.subTest(kind=kind):
                done = self.readable(self.crash(kind, "headers", "abort", "file"))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, r'"problems"')
                self.assertNotIn('"problems":[]', done.stdout.replace(" ", ""))


if __name__ == "__main__":
    unittest.main()
