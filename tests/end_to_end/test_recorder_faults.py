"""Row R10 for both recorders: strace makes system calls on a recording's files fail, one after the other. The program
does not notice, and recorded events plus lost events are all events."""
import itertools
import shutil
import unittest

import own_recorder
import recorder_programs as programs

# Events of each of the program's two threads.
TIMES = 40
EACH = 2700 * TIMES
FAULTS = (("openat", "EACCES"), ("fallocate", "ENOSPC"), ("fallocate", "EDQUOT"), ("fallocate", "EOPNOTSUPP"), ("pwrite64", "EIO"),
          ("ftruncate", "EIO"), ("mmap", "ENOMEM"), ("newfstatat", "EIO"), ("fstat", "EIO"), ("fcntl", "EMFILE"))
# The call number from which on calls fail; the first ones create the files.
FROM = ("1+", "2+", "3+", "4+", "7+") if programs.LONG else ("2+", "3+")


@unittest.skipUnless(shutil.which("strace"), "strace is not installed")
@unittest.skipIf(programs.SANITIZED, "sanitizers have files of their own")
class Faults(unittest.TestCase):
    def check(self, kind, call, error, when):
        place = programs.new_folder()
        path = place / ("r.tlg" if kind == "stacktrack" else "r.xray")
        log = programs.new_folder() / "strace"
        strace = ["strace", "-f", "-qq", "-o", str(log), "-P", str(path), "-P", f"{path}.side", "-e",
                  f"inject={call}:error={error}:when={when}"]
        for name, value in programs.settings(kind, path, "" if kind == "stacktrack" else "buffer=4K,size=64M").items():
            strace += ["-E", f"{name}={value}"]
        done = programs.run("stacktrack", programs.build("clocks", kind), TIMES, before=strace)
        # The recorder may say that it has no file; the program says what it says without it.
        self.assertRegex(done.stderr, r"\A(telltale-stacktrack: TELLTALE_STACKTRACK: nothing is recorded: .*\n)?\Z")
        self.assertEqual(done.stdout, f"{EACH}\n")
        injected = log.read_text().count("(INJECTED)")
        if not path.exists():
            return injected, 0
        if kind == "stacktrack":
            events, lost = programs.calls(kind, path)
            self.assertEqual(events + lost, 2 * EACH)
        else:
            events = own_recorder.function_events(own_recorder.events(str(path)))
            # The trace's own counter, because it may lack a side record.
            lost = int.from_bytes(path.read_bytes()[28:32], "little")
            self.assertEqual(events + lost, 4 * EACH)
        return injected, lost

    def test_r10_system_calls_that_fail(self):
        for kind in programs.KINDS:
            injected = losses = 0
            for (call, error), when in itertools.product(FAULTS, FROM):
                with self.subTest(kind=kind, call=call, error=error, when=when):
                    failed, lost = self.check(kind, call, error, when)
                    injected += failed
                    losses += lost != 0
            # Most of the calls happen, and some failures cost events.
            self.assertGreater(injected, 15)
            self.assertGreater(losses, 0)


if __name__ == "__main__":
    unittest.main()
