"""Runs a program instruction by instruction, and decodes the variables of the running activation before each."""
import bisect
import collections
import re
import struct

from path_sections import Records, machine_blocks, parse_entries, section_of_any_type
from sampler_programs import SOURCE_DIR, run

RED_ZONE, WINDOW = 512, 2048
STEP = struct.Struct(f"<4Q{WINDOW}s")


def build_stepper(output):
    done = run("cc", "-O1", SOURCE_DIR / "tests/support/single_step.c", "-o", output)
    assert done.returncode == 0, done.stderr
    return output


def bounds_of_functions(program):
    """[(begin, end, symbol)] of the program's own functions, sorted."""
    found = []
    for line in run("nm", "-S", "--defined-only", program).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW":
            found.append((int(words[0], 16), int(words[0], 16) + int(words[1], 16), words[3]))
    return sorted(found)


def frame_rules(program):
    """[(address, register, offset)]: the canonical frame address from an address on, sorted."""
    rules = []
    for line in run("readelf", "--debug-dump=frames-interp", program).stdout.splitlines():
        row = re.match(r"([0-9a-f]{16}) (r\w\w)([+-]\d+) ", line)
        if row:
            rules.append((int(row[1], 16), row[2], int(row[3])))
    return sorted(rules)


class Activation:
    def __init__(self, entry, has_entry):
        self.blocks = [entry] if has_entry else []


class Checker:
    """What ran, by the positions that were passed; compared with what the variables say."""

    def __init__(self, program):
        self.entries = parse_entries(section_of_any_type(program, ".debug_PT"))
        self.records = Records(section_of_any_type(program, ".debug_telltale_paths"))
        for offset, rows in self.records.functions.values():
            self.entries[offset].count_repetitions([(int(row[1]), int(row[2])) for row in rows if row[0] == "repeat"])
        self.bounds = bounds_of_functions(program)
        self.machine_blocks = machine_blocks(section_of_any_type(program, ".llvm_bb_addr_map"))
        begins = collections.Counter(self.machine_blocks)
        positions = []
        without_code = set()  # of these a copy has no instructions, and others may have some
        for position in sorted(self.records.positions, key=lambda p: p.address):
            # The block before ends here, or a block without code is here.
            if position.is_after and begins[position.address]:
                continue
            if begins[position.address] > 1:
                begins[position.address] -= 1
                without_code.add((position.key, position.id))
            else:
                positions.append(position)
        self.positions = positions
        self.addresses = [p.address for p in self.positions]
        self.rules = frame_rules(program)
        # Blocks of which a copy has no instructions: another block begins at its address.
        self.empty = {(one.key, one.id) for one, other in zip(self.positions, self.positions[1:])
                      if one.phase == 0 and one.address == other.address and one[2:4] != other[2:4]}
        self.empty |= without_code
        self.empty |= {p[3:1:-1] for p in self.records.positions} - {p[3:1:-1] for p in self.positions if p.phase == 0}
        self.frame_keys = {places[0][0]: key for key, places in self.records.frames.items()}  # where the variables get their first values
        self.activations = {}
        self.steps = collections.Counter()
        self.complete = collections.Counter()

    def function(self, key):
        return self.entries[self.records.functions[key][0]]

    def rule(self, address):
        return self.rules[bisect.bisect_right(self.rules, (address, "~", 0)) - 1][1:]

    def place(self, operand, recorded_at, step):
        offset, base = re.fullmatch(r"(-?\d*)\(%(\w+)\)", operand).groups()
        offset = int(offset or 0)
        registers = dict(zip(("rsp", "rbp", "rbx"), step[1:4]))
        register, from_register = self.rule(recorded_at)
        if register != base:
            return registers[base] + offset  # a realigned stack
        register, to_frame = self.rule(step[0])
        return registers[register] + to_frame - from_register + offset

    def words(self, address, count, step):
        start = address - (step[1] - RED_ZONE)
        assert 0 <= start and start + 8 * count <= WINDOW, "the frame is too large for the window"
        return list(struct.unpack_from(f"<{count}q", step[4], start))

    def variables(self, key, step):
        """(addresses of ring, index and sum, None for those that there are not; an address in the frame)"""
        (recorded_at, operands), = self.records.frames[key]
        ring_at, index_at, sum_at = (operand and self.place(operand, recorded_at, step) for operand in operands)
        # Functions to each of whose blocks one way leads have no variables.
        register, to_frame = self.rule(step[0])
        return ring_at, index_at, sum_at, sum_at or ring_at or dict(zip(("rsp", "rbp", "rbx"), step[1:4]))[register] + to_frame

    def check(self, step):
        pc = step[0]
        if pc in self.frame_keys:
            key = self.frame_keys[pc]
            entry = self.function(key).entry
            self.activations[key, self.variables(key, step)[3]] = Activation(entry, (key, entry) not in self.empty)
        symbol = bisect.bisect_right(self.bounds, (pc, 1 << 64, "")) - 1
        if symbol < 0 or pc >= self.bounds[symbol][1]:
            return
        last = bisect.bisect_right(self.addresses, pc) - 1
        if last < 0 or self.addresses[last] < self.bounds[symbol][0]:
            return
        # Code at the start of a machine block belongs to the first position in it.
        block = bisect.bisect_right(self.machine_blocks, pc)
        begin = self.machine_blocks[block - 1]
        end = self.machine_blocks[block] if block < len(self.machine_blocks) else 1 << 64
        if self.addresses[last] < begin:
            if last + 1 == len(self.addresses) or self.addresses[last + 1] >= end:
                self.steps["shared code"] += 1
                return
            last += 1
        here = self.positions[last]
        function = self.function(here.key)
        ring_at, index_at, sum_at, frame = self.variables(here.key, step)
        if pc == here.address or pc == begin < here.address:
            self.pass_position(here, function, frame)
        size = int(next(row[1] for row in self.records.functions[here.key][1] if row[0] == "ring"))
        assert (size > 0) == bool(ring_at) == bool(index_at), function.name
        ring = self.words(ring_at, size, step) if size else []
        index, total = (self.words(at, 1, step)[0] if at else 0 for at in (index_at, sum_at))
        truth = self.activations.get((here.key, frame))
        if truth is None:
            self.steps["outside the body"] += 1
            return
        flags = [row[1] for row in self.records.functions[here.key][1] if row[0] == "flag"]
        decode = function.prefix_history if "prefixes" in flags else function.late_history if "late" in flags else function.history
        begins, blocks = decode(ring, index, total, here.phase, here.id)
        blocks = [block for block in blocks if (here.key, block) not in self.empty]
        self.steps[function.name] += 1
        self.complete[begins] += 1
        if begins:
            assert blocks == truth.blocks, (function.name, hex(pc), blocks, truth.blocks)
        else:
            assert blocks == truth.blocks[-len(blocks):], (function.name, hex(pc), blocks, truth.blocks[-40:])

    def pass_position(self, position, function, frame):
        truth = self.activations.get((position.key, frame))
        if truth is None:
            return
        before = truth.blocks[-1] if truth.blocks else function.entry
        loops = position.phase == 1 and any(e[:3] == (before, position.id, True) for e in function.edges)
        if (position.id != before or loops) and (position.key, position.id) not in self.empty:
            removed = self.removed_between(function, position.key, before, position.id)
            assert removed is not None, (function.name, "no edge", before, position)
            truth.blocks += [*removed, position.id]

    def removed_between(self, function, key, before, after):
        """The blocks between two that were passed one after the other, which the compiler removed because they only led to the next one. Those
        of which a copy has no instructions are left out. None: no edges lead there."""
        def only_leads_on(block):
            return len(function.out[block]) == 1 and not function.lines[block]

        # Last, blocks with lines: a copy of one may have nothing left to do, although others have instructions.
        for may_be_removed in (lambda block: (key, block) in self.empty, only_leads_on, lambda block: len(function.out[block]) == 1):
            seen, pending = {before}, [[before]]
            while pending:
                way = pending.pop(0)
                for _, target, *_ in function.out[way[-1]]:
                    if target == after:
                        return [block for block in way[1:] if (key, block) not in self.empty]
                    if may_be_removed(target) and target not in seen:
                        seen.add(target)
                        pending.append([*way, target])
        return None


def check_every_instruction(stepper, program, output, *arguments):
    """The Checker after a run of the program, and its wait status."""
    checker = Checker(program)
    main = next(bound[0] for bound in checker.bounds if bound[2] == "main")
    begin, end = checker.bounds[0][0], max(bound[1] for bound in checker.bounds)
    done = run(stepper, output, f"{main:x}", f"{begin:x}", f"{end:x}", program, *arguments, env={"LD_BIND_NOW": "1"})
    assert done.returncode == 0, done.stderr
    with open(output, "rb") as steps:
        while data := steps.read(STEP.size):
            checker.check(STEP.unpack(data))
    return checker, int(done.stdout.splitlines()[-1])
