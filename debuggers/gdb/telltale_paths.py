"""A command for gdb: what the functions on the stacks of the stopped program ran (docs/analysis/paths.md).

  (gdb) source /usr/local/share/telltale/gdb/telltale_paths.py
  (gdb) telltale-paths --function 'parse*'

The options are those of `telltale paths`. The environment variable TELLTALE names another telltale than that of PATH.
"""
import os
import re
import struct
import subprocess
import tempfile

import gdb

# The general registers of x86-64 in the kernel's order (struct user_regs_struct).
REGISTERS = ("r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi", "orig_rax",
             "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs", "gs")
NT_PRSTATUS, NT_PRPSINFO, NT_AUXV, NT_FILE = 1, 3, 6, 0x46494c45
RED_ZONE = 128  # bytes below the stack pointer that a function may use
# Memory of one mapping that holds no stack. More than a program's variables, less than the shadow of a sanitizer.
MOST_BYTES = 16 << 20


class NotHere(Exception):
    """The process is not one of this machine, or not of x86-64."""


class Mapping:
    """A line of /proc/PID/maps."""

    def __init__(self, line):
        addresses, self.access, offset, _, inode, *path = line.rstrip("\n").split(None, 5)
        self.start, self.end = (int(address, 16) for address in addresses.split("-"))
        self.offset = int(offset, 16)
        self.path = path[0] if path and inode != "0" else None
        self.is_vdso = path == ["[vdso]"]  # the kernel's library, which is in no file

    def flags(self):
        """Those of a program header."""
        return sum(flag for letter, flag in (("r", 4), ("w", 2), ("x", 1)) if letter in self.access)


def mappings(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="surrogateescape") as status:
            # A process on another machine, or in a container, may have the number of one that is here.
            if f"TracerPid:\t{os.getpid()}\n" not in status.read():
                raise NotHere
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as maps:
            return [Mapping(line) for line in maps]
    except OSError as error:
        raise NotHere from error


def thread_status(thread):
    """The contents of a thread's NT_PRSTATUS note, and its stack pointer."""
    thread.switch()
    try:
        values = [int(gdb.newest_frame().read_register(name)) & (1 << 64) - 1 for name in REGISTERS]
    except (gdb.error, ValueError) as error:
        raise NotHere from error
    try:
        signal = int(gdb.parse_and_eval("$_siginfo.si_signo"))
    except gdb.error:
        signal = 0
    status = struct.pack("<3ihxx2Q4i64x27QiI", signal, 0, 0, signal, 0, 0, thread.ptid[1] or thread.ptid[0], 0, 0, 0, *values, 0, 0)
    return status, values[REGISTERS.index("rsp")]


def all_threads(inferior):
    """The status notes, that of the selected thread first, and the stack pointers; what is selected stays so."""
    selected, frame = gdb.selected_thread(), gdb.selected_frame()
    try:
        others = sorted((thread for thread in inferior.threads() if thread.num != selected.num), key=lambda thread: thread.num)
        return [thread_status(thread) for thread in (selected, *others)]
    finally:
        selected.switch()
        frame.select()


def kept_part(mapping, stacks):
    """The addresses of a mapping that `telltale paths` may need: stacks, variables and the headers of mapped files. Of code without
    a file, as compilers make it at run time, it has to know that it is there."""
    code = (mapping.start, mapping.start) if "x" in mapping.access and not mapping.path else None
    if "r" not in mapping.access:
        return code
    held = [pointer for pointer in stacks if mapping.start <= pointer < mapping.end]
    if held and "w" in mapping.access:
        return max(mapping.start, min(held) - RED_ZONE & -4096), mapping.end
    if "w" in mapping.access and mapping.end - mapping.start <= MOST_BYTES:
        return mapping.start, mapping.end
    if mapping.is_vdso:
        return mapping.start, mapping.end
    return (mapping.start, mapping.start + 4096) if mapping.path and mapping.offset == 0 else code


def note(kind, contents):
    return struct.pack("<3I8s", 5, len(contents), kind, b"CORE") + contents + bytes(-len(contents) % 4)


def process_note(pid):
    with open(f"/proc/{pid}/comm", "rb") as name:
        return note(NT_PRPSINFO, struct.pack("<4B4xQ2I4i16s80s", 0, 0, 0, 0, 0, 0, 0, pid, 0, 0, 0, name.read().strip(), b""))


def file_note(files):
    places = b"".join(struct.pack("<3Q", mapping.start, mapping.end, mapping.offset) for mapping in files)
    names = b"".join(os.fsencode(mapping.path) + b"\0" for mapping in files)
    return note(NT_FILE, struct.pack("<2Q", len(files), 1) + places + names)


def write_core(path, inferior):
    """Writes a core file with the threads' stacks and the programs' variables. gdb's own command writes all memory, which with
    AddressSanitizer is more than most disks hold. Raises NotHere."""
    mapped = mappings(inferior.pid)
    threads = all_threads(inferior)
    kept = [(mapping, kept_part(mapping, [pointer for _, pointer in threads])) for mapping in mapped]
    parts = [(mapping, *part) for mapping, part in kept if part]
    with open(f"/proc/{inferior.pid}/auxv", "rb") as file:
        process = process_note(inferior.pid) + note(NT_AUXV, file.read()) + file_note([mapping for mapping in mapped if mapping.path])
    statuses = [note(NT_PRSTATUS, status) for status, _ in threads]
    notes = statuses[0] + process + b"".join(statuses[1:])  # the kernel's order
    position = 64 + 56 * (1 + len(parts))
    headers = [struct.pack("<2I6Q", 4, 0, position, 0, 0, len(notes), 0, 4)]
    position += len(notes)
    for mapping, start, end in parts:
        headers.append(struct.pack("<2I6Q", 1, mapping.flags(), position, start, 0, end - start, mapping.end - start, 1))
        position += end - start
    with open(path, "wb") as core:
        core.write(struct.pack("<4s5B7x2HI3QI6H", b"\x7fELF", 2, 1, 1, 0, 0, 4, 62, 1, 0, 64, 0, 0, 64, 56, len(headers), 0, 0, 0))
        core.write(b"".join(headers) + notes)
        for _, start, end in parts:
            for at in range(start, end, 1 << 20):
                size = min(end - at, 1 << 20)
                try:
                    core.write(inferior.read_memory(at, size))
                except gdb.MemoryError:  # [vvar], a file that became shorter
                    core.write(bytes(size))


def given_files():
    """The files of the program and its debug information that a core file does not name: gdb may have them from elsewhere."""
    by_build_id = {}
    for objfile in gdb.objfiles():
        if objfile.build_id and objfile.filename:
            by_build_id.setdefault(objfile.build_id, []).append(objfile.filename)
    # A file of symbols has the build-id of what it describes.
    files = [file for same in by_build_id.values() if len(same) > 1 for file in same]
    files.append(gdb.current_progspace().filename)  # of `file`, or of the last `symbol-file`
    # telltale finds the installed ones itself.
    return [file for file in dict.fromkeys(files) if file and os.path.isfile(file) and not file.startswith("/usr/lib/debug/")]


class TelltalePaths(gdb.Command):
    """telltale-paths [OPTIONS of `telltale paths`]: what the functions on the stacks of the stopped program ran."""

    def __init__(self):
        super().__init__("telltale-paths", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = [word for file in given_files() for word in ("--program", file)] + gdb.string_to_argv(argument)
        opened = re.search(r"Local core dump file:\s+`(.+)', file type", gdb.execute("info files", to_string=True))
        if opened:
            self.show(opened[1], words)
            return
        if gdb.selected_inferior().pid == 0:
            raise gdb.GdbError("no program is running, and no core file is open")
        with tempfile.TemporaryDirectory() as folder:
            core = os.path.join(folder, "core")
            try:
                write_core(core, gdb.selected_inferior())
            except NotHere:
                gdb.execute(f"generate-core-file {core}", to_string=True)
            self.show(core, words)

    def show(self, core, arguments):
        try:
            done = subprocess.run([os.environ.get("TELLTALE", "telltale"), "paths", core, *arguments], capture_output=True, text=True)
        except OSError as error:
            raise gdb.GdbError(f"telltale cannot be run: {error}") from error
        gdb.write(done.stdout)
        if done.returncode != 0:
            raise gdb.GdbError(done.stderr.strip())
        gdb.write(done.stderr, gdb.STDERR)


TelltalePaths()
