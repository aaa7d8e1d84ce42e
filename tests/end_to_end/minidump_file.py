"""Writes minidumps of x86-64 programs from core files, with faults on request."""
import pathlib
import re
import struct

from sampler_programs import run

THREADS, MODULES, MEMORY, SYSTEM, AUXILIARY_VECTOR = 3, 4, 5, 7, 0x47670008
X86, ARM = 9, 12

# Registers in the order of a core file, and their places in CONTEXT of winnt.h.
_NAMES = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig rip cs eflags rsp ss".split()
_PLACES = {name: 0x78 + 8 * i for i, name in
           enumerate("rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 rip".split())}


class CoreFile:
    def __init__(self, path):
        self.data = pathlib.Path(path).read_bytes()
        self.threads, self.modules, self.segments, self.vector = [], {}, [], b""
        offset, = struct.unpack_from("<Q", self.data, 32)
        count, = struct.unpack_from("<H", self.data, 56)
        for i in range(count):
            kind, _, at, address, _, size, _, _ = struct.unpack_from("<IIQQQQQQ", self.data, offset + 56 * i)
            if kind == 1:
                self.segments.append((address, at, size))
            elif kind == 4:
                self._read_notes(self.data[at:at + size])

    def _read_notes(self, notes):
        at = 0
        while at < len(notes):
            name, size, kind = struct.unpack_from("<III", notes, at)
            note = notes[at + 12 + (name + 3 & ~3):][:size]
            at += 12 + (name + 3 & ~3) + (size + 3 & ~3)
            if kind == 1:  # NT_PRSTATUS
                self.threads.append((struct.unpack_from("<i", note, 32)[0], struct.unpack_from("<21Q", note, 112)))
            elif kind == 6:  # NT_AUXV
                self.vector = note
            elif kind == 0x46494c45:  # NT_FILE
                count, = struct.unpack_from("<Q", note)
                for i, path in enumerate(note[16 + 24 * count:].decode().split("\0")[:count]):
                    begin, end, _ = struct.unpack_from("<3Q", note, 16 + 24 * i)
                    known = self.modules.get(path, (begin, end))
                    self.modules[path] = (known[0], max(known[1], end))

    def stack(self, pointer):
        """The address and the bytes from below a stack pointer to the stack's end."""
        for address, at, size in self.segments:
            if address <= pointer < address + size:
                begin = max(address, pointer - 512)
                return begin, self.data[at + begin - address:at + size]
        raise AssertionError(f"no memory at {pointer:#x}")


def build_id(path):
    found = re.search(r"Build ID: (\w+)", run("readelf", "-n", path).stdout)
    return bytes.fromhex(found[1]) if found else b""


def elf_code_view(path):
    return b"LEpB" + build_id(path)


def write_minidump(output, core, processor=X86, module_name=str, pieces=None, code_view=elf_code_view):
    """`module_name` makes a module's path that of the minidump. `pieces` makes a list of (address, bytes) another. `code_view` makes the
    record that identifies the file of a path."""
    core = CoreFile(core)
    contents = bytearray(32)

    def place(data):
        contents.extend(bytes(-len(contents) % 8))
        contents.extend(data)
        return struct.pack("<II", len(data), len(contents) - len(data))

    def context(registers):
        data = bytearray(1232)
        struct.pack_into("<I", data, 0x30, 0x10001f)
        for name, value in zip(_NAMES, registers):
            if name in _PLACES:
                struct.pack_into("<Q", data, _PLACES[name], value)
        return bytes(data)

    stacks = [core.stack(registers[_NAMES.index("rsp")]) for _, registers in core.threads]
    threads = b"".join(struct.pack("<I20xQ8x", tid, 0) + place(context(registers)) for tid, registers in core.threads)
    memory = b"".join(struct.pack("<Q", address) + place(data) for address, data in (pieces or list)(stacks))
    modules = b""
    for path, (begin, end) in core.modules.items():
        name = module_name(path).encode("utf-16-le")
        name = place(struct.pack("<I", len(name)) + name)[4:]
        modules += struct.pack("<QI8x", begin, end - begin) + name + bytes(52) + place(code_view(path)) + bytes(24)
    streams = {SYSTEM: struct.pack("<H54x", processor), THREADS: struct.pack("<I", len(stacks)) + threads,
               MODULES: struct.pack("<I", len(core.modules)) + modules,
               MEMORY: struct.pack("<I", len(memory) // 16) + memory, AUXILIARY_VECTOR: core.vector}
    directory = b"".join(struct.pack("<I", kind) + place(data) for kind, data in streams.items() if kind != SYSTEM or processor)
    directory = place(directory)
    struct.pack_into("<IIII", contents, 0, 0x504d444d, 0xa793, len(streams) - (not processor), struct.unpack("<II", directory)[1])
    pathlib.Path(output).write_bytes(contents)
    return output
