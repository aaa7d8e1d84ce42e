"""Row R3 for both recorders: a program's child, of whatever kind, writes to no file of its parent or of the user, which
strace checks; and every descriptor is closed by exec."""
import re
import shutil
import unittest

import recorder_programs as programs

SYSTEM_CALLS = ("openat,open,creat,dup,dup2,dup3,fcntl,memfd_create,write,"
                "pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,mmap,sendfile,copy_file_range,rename,renameat2,unlink,unlinkat,"
                "clone,clone3,fork,vfork")
# `PID CALL(ARGUMENTS) = RESULT`; a call interrupted by another thread is split into two lines.
LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\w+)")
UNFINISHED = re.compile(r"^(\d+) +(.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$")


def system_calls(path):
    """(pid, name, arguments, result)"""
    begun = {}
    for line in path.read_text(errors="replace").splitlines():
        if match := UNFINISHED.match(line):
            begun[match[1]] = match[0][:match.end(2)]
            continue
        if match := RESUMED.match(line):
            line = begun.pop(match[1], "") + match[2]
        if match := LINE.match(line):
            yield match.groups()


@unittest.skipUnless(shutil.which("strace"), "strace is not installed")
@unittest.skipIf(programs.SANITIZED, "sanitizers have files of their own")
class Children(unittest.TestCase):
    # Kind of child -> events in its own file (None: it has none), and events that it adds to its parent's.
    CHILDREN = {"fork": (70, 0), "daemon": (70, 0), "busy": (70, 0), "spawn": (None, 0), "vfork": (None, 5),
                "clone": (70, 0), "_Fork": (70, 0)}

    def check(self, kind, child):
        place = programs.new_folder()
        suffix = ".tlg" if kind == "stacktrack" else ".xray"
        path = place / ("parent" + suffix)
        mine = [path] if kind == "stacktrack" else [path, place / ("parent.xray.side")]
        user = programs.new_folder()
        log = user / "strace"
        preload = programs.settings(kind, path, "dir=" + str(place) if kind == "stacktrack" else "buffer=4K,size=64M")
        strace = ["strace", "-f", "-y", "-qq", "-o", str(log), "-e", "trace=" + SYSTEM_CALLS]
        for name, value in preload.items():
            strace += ["-E", f"{name}={value}"]
        done = programs.run("", programs.build("children", kind), child, user, *mine, before=strace)
        parent, changed, user_changed, busy = map(int, done.stdout.split())
        self.assertEqual(user_changed, 0)
        if child not in ("vfork", "busy"):
            self.assertEqual(changed, 0)
        in_child, in_parent = self.CHILDREN[child]
        # A process made without libc has no StackTrack recorder (docs/design/stacktrack-runtime.md).
        if kind == "stacktrack" and child in ("clone", "_Fork"):
            in_child = None
        events, lost = programs.calls(kind, path)
        self.assertEqual(events + lost, 110 + in_parent + busy)
        others = [file for file in programs.recordings(place) if file != path]
        self.assertEqual([programs.calls(kind, file) for file in others], [] if in_child is None else [(in_child, 0)])
        self.check_calls(log, parent, {str(file) for file in mine}, {str(file) for file in others}, str(user))

    def check_calls(self, log, parent, mine, others, user):
        written, opened = set(), 0
        calls = [call for call in system_calls(log) if not call[3].startswith("-")]
        births = ("clone", "clone3", "fork", "vfork")
        # A thread's first calls may precede the end of the call that created it.
        threads_of_parent = {str(parent)}
        for pid, name, arguments, result in calls:
            if name in births and "CLONE_THREAD" in arguments and pid in threads_of_parent:
                threads_of_parent.add(result)
        for pid, name, arguments, result in calls:
            if name in births:
                continue
            if name in ("openat", "open", "creat", "memfd_create"):
                opened += 1
                self.assertTrue("O_CLOEXEC" in arguments or f'"{user}/' in arguments or "MFD_CLOEXEC" in arguments, arguments)
                continue
            if name in ("dup", "dup2", "dup3") or name == "fcntl" and "F_DUPFD" in arguments:
                self.assertIn("CLOEXEC", arguments)
                continue
            if name == "mmap" and not ("MAP_SHARED" in arguments and "PROT_WRITE" in arguments) or name == "fcntl":
                continue
            descriptor = re.search(r"\b\d+<([^>]*)>", arguments)
            where = descriptor[1] if descriptor else arguments
            if any(f"<{file}>" in arguments or f'"{file}"' in arguments for file in mine):
                self.assertIn(pid, threads_of_parent, f"{name}({arguments})")
            written.add(where)
        self.assertGreater(opened, 0)
        kept = {file + ".side" for file in others} | mine | others
        foreign = {where for where in written if where not in kept and not where.startswith(user) and
                   not re.match(r"pipe:|/dev/(null|pts)|socket:", where) and not any(file in where for file in kept)}
        self.assertEqual(foreign, set())

    def test_stacktrack(self):
        for child in self.CHILDREN:
            with self.subTest(child=child):
                self.check("stacktrack", child)

    def test_xray(self):
        for kind in programs.KINDS[1:]:
            for child in self.CHILDREN:
                with self.subTest(kind=kind, child=child):
                    self.check(kind, child)


if __name__ == "__main__":
    unittest.main()
