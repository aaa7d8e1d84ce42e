"""Reads the sections of path tracing and decodes a frame's variables by docs/formats/csi.md, without telltale's code."""
import bisect
import collections
import pathlib
import struct
import sys

sys.setrecursionlimit(100_000)  # a path can have many blocks
NULL, NOBITS = 0, 8  # types of ELF sections
Position = collections.namedtuple("Position", "address phase id key is_after")


class Function:
    """An entry of .debug_PT."""

    def __init__(self, name):
        self.name = name
        self.entry = self.exit = None
        self.repeated = 0  # decoded sums with repetitions
        self.lines = {}  # id -> tokens
        self.edges = []  # (from, to, is_back, increment, weight) in the order of the text

    def prepare(self):
        self.out = collections.defaultdict(list)
        for edge in self.edges:
            self.out[edge[0]].append(edge)
        paths = {self.exit: 1}
        self.weight = {}

        def count(block):
            if block not in paths:
                total = 0
                for edge in self.out[block]:
                    self.weight[edge] = total
                    total += 1 if edge[2] else count(edge[1])
                paths[block] = total
            return paths[block]
        self.starts = [(0, None)] + [(edge[4], edge) for edge in self.edges if edge[2]]
        self.starts.sort(key=lambda start: start[0])
        self.count = 0
        for first, edge in self.starts:
            assert first == self.count, (self.name, self.starts)
            self.count += count(self.entry if edge is None else edge[1])

        self.repeats = {}
        self.into = into = collections.defaultdict(list)
        for edge in self.edges:
            into[edge[1]].append(edge)
        # Variables that are set late: blocks to which a single way leads have no sum yet, by the way; blocks to which no back
        # edge leads have no ring.
        self.only_way = {}
        for block in self.lines:
            way = [block]
            while len(into[way[0]]) == 1 and not into[way[0]][0][2]:
                way.insert(0, into[way[0]][0][0])
            if way[0] == self.entry:
                self.only_way[block] = way
        self.count_repetitions([])
        return self

    def count_repetitions(self, repeats):
        """(source, target) of back edges that only count."""
        self.repeats = {target: source for source, target in repeats}
        self.known_ways = {}
        self.after_back, pending = set(), [edge[1] for edge in self.edges if edge[2] and not self.is_counted(edge)]
        while pending:
            block = pending.pop()
            if block not in self.after_back:
                self.after_back.add(block)
                pending += [edge[1] for edge in self.out[block]]

    def is_counted(self, edge):
        return edge[2] and self.repeats.get(edge[1]) == edge[0]

    def before(self, block):
        return [edge for edge in self.into[block] if not self.is_counted(edge)]

    def run_way(self, block, total):
        """The way to a block with the repetitions in its sum: (edge that it begins with or None, blocks)"""
        if not self.repeats:
            return self.way(block, total)
        start, blocks = self.way(block, total % (1 << 24))
        times = total >> 24
        if times:
            self.repeated += 1
            first = next(each for each in blocks if each in self.repeats)
            one_round = [self.repeats[first]]
            while one_round[0] != first:
                (edge,) = self.before(one_round[0])
                one_round.insert(0, edge[0])
            at = blocks.index(first)
            blocks = blocks[:at] + one_round * times + blocks[at:]
        return start, blocks

    def way(self, block, number):
        """The only way to a block that has this number: (edge that it begins with or None, blocks)"""
        blocks = [block]
        while block != self.entry or number:
            before = [e for e in self.before(block) if (number == e[3] if e[2] else e[3] <= number < e[3] + self.ways(e[0]))]
            assert len(before) == 1, (self.name, block, number, before)
            edge = before[0]
            if edge[2]:
                return edge, blocks
            number -= edge[3]
            block = edge[0]
            blocks.insert(0, block)
        return None, blocks

    def ways(self, block):
        if block not in self.known_ways:
            self.known_ways[block] = (block == self.entry) + sum(1 if e[2] else self.ways(e[0]) for e in self.before(block))
        return self.known_ways[block]

    def prefix_history(self, ring, index, total, phase, block):
        """The same as history(), if numbers are those of prefixes."""
        if block in self.only_way:
            return True, self.only_way[block]
        has_ring = block in self.after_back
        if phase:
            assert phase == 1 and has_ring
            index = (index + 1) % len(ring)
        start, blocks = self.run_way(block, ring[index if has_ring else 0] if ring else total)
        for _ in ring[1:]:
            if start is None:
                break
            index = (index - 1) % len(ring)
            start, earlier = self.run_way(start[0], ring[index])
            blocks = earlier + blocks
        assert has_ring or start is None
        return start is None, blocks

    def late_history(self, ring, index, total, phase, block):
        """The same as history(), if the variables are set late."""
        if block in self.only_way:
            return True, self.only_way[block]
        if block not in self.after_back:
            ring, index = [], 0
        return self.history(ring, index, total, phase, block)

    def path(self, number):
        """(edge that it begins with or None, blocks, edge that it ends with)"""
        assert 0 <= number < self.count, (self.name, number)
        first, start = self.starts[bisect.bisect_right([s[0] for s in self.starts], number) - 1]
        rest = number - first
        block = self.entry if start is None else start[1]
        blocks = [block]
        while True:
            edge = [e for e in self.out[block] if self.weight[e] <= rest][-1]
            rest -= self.weight[edge]
            block = edge[1]
            if edge[2] or block == self.exit:
                assert rest == 0
                return start, blocks, edge
            blocks.append(block)

    def prefixes(self, start, block, total):
        """The paths from a start to a block on which the sum is `total`."""
        found = []

        def search(at, total, blocks):
            if at == block:
                if total == 0:
                    found.append(blocks)
                return
            for edge in self.out[at]:
                if not edge[2] and edge[3] <= total and edge[1] != self.exit:
                    search(edge[1], total - edge[3], blocks + [edge[1]])
        first = self.entry if start is None else start[1]
        search(first, total - (start[3] if start else 0), [first])
        return found

    def history(self, ring, index, total, phase, block):
        """(whether it begins with the activation, the blocks that ran up to `block`)"""
        size = len(ring)
        if phase == 1:
            index = (index + 1) % size
        wrapped = size > 0 and ring[-1] != -1
        numbers = (ring[index:] if wrapped else []) + ring[:index]
        paths = [self.path(number) for number in numbers]
        for earlier, later in zip(paths, paths[1:]):
            assert earlier[2] == later[0], (self.name, "paths do not follow one another", numbers)
        if not wrapped and paths:
            assert paths[0][0] is None
        ended = paths[-1][2] if paths else None
        if phase:
            total = ended[3] if ended[2] else 0
        blocks = [b for path in paths[:-1] for b in path[1]]
        if ended is not None and not ended[2]:
            assert total == 0
            last = paths[-1][1]
            return not wrapped, blocks + last[:last.index(block) + 1]
        if paths:
            blocks += paths[-1][1]
        partial = self.prefixes(ended, block, total)
        assert len(partial) == 1, (self.name, ring, "prefixes", partial, block, total, numbers, phase)
        return not wrapped, blocks + partial[0]


def elf_sections(data):
    """Name -> (offset, size) of a 64-bit ELF file's sections that have bytes in it."""
    offset, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<3H", data, 58)
    headers = [struct.unpack_from("<2I4Q", data, offset + i * size) for i in range(count)]
    sections = {}
    for header in headers:
        at = headers[names][4] + header[0]
        if header[1] not in (NULL, NOBITS):
            sections[data[at:data.index(0, at)].decode()] = header[4:6]
    return sections


def section_of_any_type(file, name):
    """The bytes of a section, or None; objcopy dumps only common types."""
    data = pathlib.Path(file).read_bytes()
    sections = elf_sections(data)
    if name not in sections:
        return None
    offset, size = sections[name]
    return data[offset:offset + size]


def machine_blocks(section):
    """Addresses where machine blocks begin, from .llvm_bb_addr_map, sorted."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = section[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    found = []
    while at < len(section):
        version = section[at]
        features = section[at + 1:at + (3 if version >= 5 else 2)]
        features = int.from_bytes(features, "little")
        has_call_ends = features == 0x20
        assert 2 <= version <= 5 and (features == 0 or has_call_ends), (version, features)
        at += 3 if version >= 5 else 2
        end, = struct.unpack_from("<Q", section, at)
        at += 8
        for _ in range(number()):
            number()
            begin = end + number()
            last_call = sum(number() for _ in range(number())) if has_call_ends else 0
            end = begin + last_call + number()
            number()
            found.append(begin)
    return sorted(found)


def parse_entries(text):
    """{offset of '#': Function}"""
    functions = {}
    offset = 0
    state = function = None
    for line in text.decode().splitlines(keepends=True):
        word = line.rstrip("\n")
        if word == "#":
            state = "name"
            start = offset
        elif state == "name":
            function = functions[start] = Function(word)
            state = "blocks"
        elif word == "$":
            state = "edges"
        elif state == "blocks":
            block, *tokens = word.split("|")
            kind = tokens.pop(0) if tokens and tokens[0] in ("EXIT", "ENTRY", "NULL") else None
            if kind == "EXIT":
                function.exit = int(block)
            else:
                function.entry = int(block) if kind == "ENTRY" else function.entry
                function.lines[int(block)] = [int(token) for token in tokens]
        else:
            nodes, numbers = word.split("|")
            back = "~>" in nodes
            source, target = nodes.split("~>" if back else "->")
            increment, weight = numbers.split("$")
            function.edges.append((int(source), int(target), back, int(increment), int(weight)))
        offset += len(line)
    return {key: function.prepare() for key, function in functions.items()}


class Records:
    """The section .debug_telltale_paths."""

    def __init__(self, section):
        self.functions = {}  # key -> (offset in .debug_PT, [[word, field...], ...])
        self.positions = []  # of functions with path tracing; those of functions with coverage alone have keys of flow records
        self.frames = collections.defaultdict(list)  # key -> [(address, [array, index, sum])]
        self.skipped = []
        self.flows = []  # [[word, field...], ...] of each function
        self.units = []  # likewise of each translation unit
        names = {}  # reference -> [file, function]
        flow_keys = set()
        while section:
            size, kind = struct.unpack_from("<IB", section)
            body = section[5:4 + size]
            section = section[4 + size:]
            if kind == 1:
                key, offset = struct.unpack_from("<QQ", body)
                self.functions[key] = offset, self.rows(body[16:])
            elif kind == 2:
                phase, block, key, address = struct.unpack("<BIQQ", body)
                self.positions.append(Position(address, phase & 127, block, key, phase >= 128))
            elif kind == 3:
                key, address = struct.unpack_from("<QQ", body)
                operands = body[16:].split(b"\0")
                assert operands.pop() == b""
                self.frames[key].append((address, [operand.decode() for operand in operands]))
            elif kind in (5, 6, 9):
                continue  # coverage, data flow
            elif kind == 7:
                self.flows.append(self.rows(body[8:]))
                flow_keys.add(struct.unpack_from("<Q", body)[0])
            elif kind == 8:
                self.units.append(self.rows(body))
            elif kind == 10:
                names.update({row[0]: row[1:] for row in self.rows(body)})
            else:
                assert kind == 4, kind
                self.skipped.append({row[0]: row[1:] for row in self.rows(body)})
        assert all(p.key in self.functions or p.key in flow_keys for p in self.positions)
        self.positions = [p for p in self.positions if p.address and p.key in self.functions]
        for rows in (*(rows for _, rows in self.functions.values()), *self.flows):
            for row in rows:
                if row[0] in ("scope", "gone"):
                    row[2:3] = names[row[2]]

    @staticmethod
    def rows(text):
        return [line.split("\t") for line in text.decode().splitlines()]
