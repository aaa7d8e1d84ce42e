"""Runs a program for AArch64 instruction by instruction in qemu, writes core files before some of them, and compares what
`telltale paths` says with the full trace. The program is linked statically, and has one thread."""
import bisect
import re
import signal
import socket
import struct
import subprocess
import time

from path_crash_points import Activation, Comparison, Live, Point, Trace
from sampler_programs import run

TARGET = "aarch64-linux-gnu"
EMULATOR = "qemu-aarch64"
PAGE = 4096
CHUNK = 1024  # bytes of memory that the emulator sends at once
STACK_POINTER, PC, LINK = 31, 32, 30  # words of the registers that the emulator sends
REGISTERS = struct.Struct("<33QI")  # x0 to x30, sp, pc, cpsr
STACK_BYTES = 256 * 1024  # that a core file has above the stack pointer, at most


class Emulator:
    """A program that is stopped before its first instruction. Speaks GDB's remote protocol."""

    def __init__(self, command, folder):
        path = folder / "emulator"
        self.process = subprocess.Popen([EMULATOR, "-g", str(path), *map(str, command)], cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(500):
            try:
                self.socket.connect(str(path))
                break
            except OSError:
                time.sleep(0.02)
        self.rest = self.confirmed = b""
        path.unlink(missing_ok=True)

    def close(self):
        self.socket.close()
        self.process.kill()
        self.process.wait()

    def ask(self, packet):
        data = packet.encode()
        self.socket.sendall(self.confirmed + b"$%s#%02x" % (data, sum(data) % 256))
        self.confirmed = b"+"
        while True:
            found = re.search(rb"\$([^#]*)#..", self.rest)
            if found:
                self.rest = self.rest[found.end():]
                return found[1].decode()
            received = self.socket.recv(65536)
            if not received:
                return ""
            self.rest += received

    def registers(self):
        return REGISTERS.unpack(bytes.fromhex(self.ask("g")[:2 * REGISTERS.size]))

    def step(self):
        """Whether the program still runs."""
        return self.ask("s").startswith("T")

    def run_to(self, address):
        assert self.ask(f"Z0,{address:x},4") == "OK"
        assert self.ask("c").startswith("T")
        assert self.ask(f"z0,{address:x},4") == "OK"

    def memory(self, address, size):
        """The bytes at the address, up to where no more are mapped."""
        data = b""
        while len(data) < size:
            wanted = min(size - len(data), CHUNK - (address + len(data)) % CHUNK)
            answer = self.ask(f"m{address + len(data):x},{wanted:x}")
            if not answer or answer.startswith("E"):
                break
            data += bytes.fromhex(answer)
        return data


def note(kind, content):
    return struct.pack("<3I", 5, len(content), kind) + b"CORE\0\0\0\0" + content + bytes(-len(content) % 4)


def core_file(program, headers, segments, registers, stack):
    """A core file with one thread. `segments`: (address, file offset, bytes) of the program's loadable segments."""
    status, process = bytearray(392), bytearray(136)
    struct.pack_into("<h", status, 12, signal.SIGSEGV)
    struct.pack_into("<i", status, 32, 100)
    struct.pack_into("<34Q", status, 112, *registers)
    struct.pack_into("<i", process, 24, 100)
    files = [(address // PAGE * PAGE, (address + size + PAGE - 1) // PAGE * PAGE, offset // PAGE) for address, offset, size in segments]
    mappings = struct.pack("<2Q", len(files), PAGE) + b"".join(struct.pack("<3Q", *each) for each in files)
    mappings += (bytes(str(program), "utf-8") + b"\0") * len(files)
    notes = note(1, bytes(status)) + note(3, bytes(process)) + note(6, struct.pack("<4Q", 3, headers, 0, 0)) + note(0x46494C45, mappings)
    first = program.read_bytes()[:PAGE]
    memory = [(files[0][0], first), (registers[STACK_POINTER] // 16 * 16, stack)]
    offset = 64 + 56 * (1 + len(memory))
    table = struct.pack("<2I6Q", 4, 0, offset, 0, 0, len(notes), 0, 4)
    offset += len(notes)
    for address, data in memory:
        table += struct.pack("<2I6Q", 1, 6, offset, address, 0, len(data), len(data), 1)
        offset += len(data)
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<2HI3QI6H", 4, 183, 1, 0, 64, 0, 0, 64, 56, 1 + len(memory), 0, 0, 0)
    return header + table + notes + b"".join(data for _, data in memory)


def load_segments(program):
    """(address of the program headers, [(address, file offset, bytes in the file)])"""
    data = program.read_bytes()
    table, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<2H", data, 54)
    found = []
    for i in range(count):
        kind, _, offset, address, _, in_file, _, _ = struct.unpack_from("<2I6Q", data, table + i * size)
        if kind == 1:
            found.append((address, offset, in_file))
    return found[0][0] - found[0][1] + table, found


class ArmTrace(Trace):
    """Which blocks ran in each activation. Sees each instruction: a call leaves its return address in a register, not on the stack.
    `may_stop`: instructions that call or access memory. At the others, variables may be between two states, and frames half taken down."""

    def __init__(self, program):
        super().__init__(program)
        self.before = None  # the address of the instruction before
        self.calls, self.may_stop = set(), set()
        for line in run(f"{TARGET}-objdump", "-d", "--no-show-raw-insn", program).stdout.splitlines():
            address, colon, instruction = line.strip().partition(":\t")
            if colon and re.match(r"blr?a*[abz]*\s", instruction):
                self.calls.add(int(address, 16))
            if colon and re.match(r"bl|br|ld|st|cas|swp", instruction):
                self.may_stop.add(int(address, 16))

    def function_at(self, address):
        symbol = bisect.bisect_right(self.bounds, (address, 1 << 64, "")) - 1
        return symbol if symbol >= 0 and address < self.bounds[symbol][1] else None

    def runs(self, registers):
        """The instruction is about to run."""
        pc, stack_pointer = registers[PC], registers[STACK_POINTER]
        before, self.before = self.before, pc
        is_call = before in self.calls and registers[LINK] == before + 4
        while self.stack and self.stack[-1].frame == (pc, stack_pointer):
            self.stack.pop()
        jumps = before is not None and pc != before + 4 and not is_call
        returns_to = (registers[LINK], stack_pointer)
        if pc in self.begins or pc in self.untraced:
            if jumps and self.stack and self.stack[-1].symbol == self.function_at(before):
                returns_to = self.stack.pop().frame  # the function has ended
        elif jumps and self.function_at(before) != self.function_at(pc):
            # A landing pad, or behind a call of setjmp.
            while self.stack and self.stack[-1].frame[1] <= stack_pointer:
                self.stack.pop()
        if pc in self.begins and (is_call or jumps or before is None):
            key = self.begins[pc]
            activation = Activation(key, self.function(key), returns_to)
            activation.symbol = self.function_at(pc)
            self.stack.append(activation)
            self.first.setdefault((key, self.function(key).entry), self.step)
        position = self.passes.get(pc)
        if position is not None and self.stack and self.stack[-1].symbol == self.function_at(pc):
            self.reach(self.stack[-1], position)

    def now(self):
        return [Live(activation, len(activation.blocks)) for activation in reversed(self.stack)]


def compare_steps(program, arguments, folder, scratch, most, every):
    """The Comparison of each `every`-th of the first `most` instructions of main, or the next one at which it may stop."""
    trace = ArmTrace(program)
    comparison = Comparison(trace, program, None)
    headers, segments = load_segments(program)
    main = next(bound[0] for bound in trace.bounds if bound[2] == "main")
    emulator = Emulator([program, *arguments], folder)
    points, wanted = [], 0
    try:
        emulator.run_to(main)
        for step in range(most):
            registers = emulator.registers()
            trace.step = step
            trace.runs(registers)
            wanted -= 1
            if wanted <= 0 and trace.stack and registers[PC] in trace.may_stop:
                wanted = every
                core = scratch / f"core-{step}"
                stack = emulator.memory(registers[STACK_POINTER] // 16 * 16, STACK_BYTES)
                core.write_bytes(core_file(program, headers, segments, registers, stack))
                points.append(Point(step, registers[PC], core, trace.now(), step, None))
            if not emulator.step():
                break
    finally:
        emulator.close()
    comparison.compare_all(points)
    comparison.counts["steps"] = step
    return comparison
