"""What a power failure leaves of a folder: the calls that changed it (by strace), and the states in which the disk may be after any of them.

What the rules of POSIX leave open is decided at random: a write that no fsync of its file followed is there or not, by blocks of 512
bytes and in any order; a file that grew has any size between the old one and the new one; and a creation, renaming or removal that no
fsync of its folder followed has happened or not. A renaming happens as a whole, and nothing happens to a name that does not exist yet."""
import dataclasses
import os
import pathlib
import re

CALLS = "openat,write,writev,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir"
BLOCK = 512
STRINGS = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')
FILE = re.compile(r"^\w+\((?:AT_FDCWD|-?\d+)<((?:\\x[0-9a-f]{2})*)>")


def strace(trace, more="sendmsg,sendto"):
    """The words in front of a command whose calls are to be recorded in the file `trace`."""
    return ["strace", "-f", "-y", "-xx", "-s", "10000000", "-e", f"trace={CALLS},{more}", "-o", str(trace)]


def plain(escaped):
    return bytes.fromhex(escaped.replace("\\x", ""))


@dataclasses.dataclass
class Call:
    name: str
    text: str  # from the call's name to its result
    begin: int  # of all lines, in which order it began and ended
    end: int

    @property
    def strings(self):
        assert not any(more for _, more in STRINGS.findall(self.text)), "strace cut a string"
        return [plain(escaped) for escaped, _ in STRINGS.findall(self.text)]

    @property
    def file(self):
        """The path of the descriptor that is the first argument."""
        found = FILE.match(self.text)
        return os.fsdecode(plain(found.group(1))) if found else ""


def calls_of(trace, first_line=0):
    """The calls that succeeded, in the order in which they began."""
    open_calls, calls, number = {}, [], first_line
    for number, line in enumerate(pathlib.Path(trace).read_text(errors="replace").splitlines(), first_line):
        thread, _, text = line.partition(" ")
        text = text.lstrip()
        begin = number
        if text.endswith("<unfinished ...>"):
            open_calls[thread] = (number, text.removesuffix("<unfinished ...>"))
            continue
        if resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", text):
            begin, start = open_calls.pop(thread)
            text = start + resumed.group(1)
        name = re.match(r"\w+(?=\()", text)
        result = re.search(r"\) += (-?\d+)", text)
        if name and result and not result.group(1).startswith("-"):
            calls.append(Call(name.group(), text, begin, number))
    return sorted(calls, key=lambda call: call.begin), number + 1


class File:
    """The writes to a file."""

    def __init__(self):
        self.changes = []  # (call, offset, bytes), or (call, size, None)
        self.synced = []  # calls

    def content(self, moment, rng):
        """What may be on the disk. Calls that began before `moment` may have taken effect."""
        made = max((call.begin for call in self.synced if call.end < moment), default=-1)
        data = bytearray()
        for call, at, piece in self.changes:
            if call.begin >= moment:
                break
            durable = call.end < made
            if piece is None:
                if durable or rng.random() < 0.5:
                    data[at:] = bytes(max(0, at - len(data)))
                continue
            end = at + len(piece)
            size = end if durable else rng.choice((end, rng.randrange(min(len(data), end), end + 1)))
            data.extend(bytes(max(0, size - len(data))))
            for block in range(at // BLOCK, (end + BLOCK - 1) // BLOCK):
                low, high = max(block * BLOCK, at), min((block + 1) * BLOCK, end, len(data))
                if low < high and (durable or rng.random() < 0.6):
                    data[low:high] = piece[low - at:high - at]
        return bytes(data)


@dataclasses.dataclass
class Change:
    """Of names in folders."""
    call: Call
    kind: str  # folder, file, rename, remove
    names: tuple
    file: File | None
    needs: list  # changes without which it cannot happen


class RecordedFolder:
    """The history of a folder that did not exist before."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.files, self.changes, self.synced = {}, [], []  # by path, as of now; Change; (path of a folder, call)
        self.positions, self.last = {}, {}  # by path
        self.lines = 0

    def add(self, trace, leave_out=()):
        """Adds what a command did, and returns its calls. Paths that contain one of `leave_out` do not count."""
        calls, self.lines = calls_of(trace, self.lines)
        for call in calls:
            self.add_call(call, leave_out)
        return calls

    def is_ours(self, path, leave_out):
        return (path == self.folder or path.startswith(self.folder + "/")) and not any(part in path for part in leave_out)

    def note(self, call, kind, names, file=None):
        parents = [self.last[parent] for name in names if (parent := os.path.dirname(name)) in self.last]
        change = Change(call, kind, names, file, parents + [self.last[name] for name in names if name in self.last])
        self.changes.append(change)
        for name in names:
            self.last[name] = change

    def add_call(self, call, leave_out):
        if call.name in ("write", "writev", "pwrite64", "ftruncate", "fsync", "fdatasync"):
            path = call.file
            if not self.is_ours(path, leave_out):
                return
            if call.name.endswith("sync"):
                if path in self.files:
                    self.files[path].synced.append(call)
                else:
                    self.synced.append((path, call))
                return
            file = self.files[path]
            if call.name == "ftruncate":
                file.changes.append((call, int(re.search(r", (\d+)\) += ", call.text).group(1)), None))
                return
            data = b"".join(call.strings)[:int(re.search(r" = (\d+)", call.text[call.text.rindex(")"):]).group(1))]
            at = int(re.search(r", (\d+)\) += ", call.text).group(1)) if call.name == "pwrite64" else self.positions.get(path, 0)
            if call.name != "pwrite64":
                self.positions[path] = at + len(data)
            file.changes.append((call, at, data))
            return
        paths = [os.fsdecode(text) for text in call.strings]
        if not paths or not self.is_ours(paths[0], leave_out):
            return
        if call.name == "openat":
            if "O_CREAT" in call.text and paths[0] not in self.files:
                self.files[paths[0]] = File()
                self.note(call, "file", (paths[0],), self.files[paths[0]])
            elif "O_TRUNC" in call.text:
                self.files[paths[0]].changes.append((call, 0, None))
            if "O_WRONLY" in call.text or "O_RDWR" in call.text:
                self.positions[paths[0]] = 0
        elif call.name.startswith("mkdir"):
            self.note(call, "folder", (paths[0],))
        elif call.name.startswith("rename"):
            moved = [path for path in self.files if path == paths[0]]
            assert moved, f"a folder is renamed: {paths}"
            self.files[paths[1]] = self.files.pop(paths[0])
            self.note(call, "rename", (paths[0], paths[1]), self.files[paths[1]])
        else:
            self.files.pop(paths[0], None)
            self.note(call, "remove", (paths[0],))

    def write_state(self, moment, target, rng):
        """A state in which the disk may be when the power fails at this line, as a new folder."""
        happened = set()
        for change in reversed([change for change in self.changes if change.call.begin < moment]):
            folders = {os.path.dirname(name) for name in change.names}
            durable = any(path in folders and call.begin > change.call.end and call.end < moment for path, call in self.synced)
            if durable or id(change) in happened or rng.random() < 0.5:
                happened.add(id(change))
                happened.update(id(needed) for needed in change.needs)
        names = {}
        for change in self.changes:
            if change.call.begin >= moment or id(change) not in happened:
                continue
            if change.kind in ("rename", "remove"):
                names.pop(change.names[0], None)
            if change.kind != "remove":
                names[change.names[-1]] = change.file
        for path, file in sorted(names.items()):
            place = pathlib.Path(str(target) + path.removeprefix(self.folder))
            if file is None:
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.content(moment, rng))
