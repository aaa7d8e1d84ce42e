"""Crashes a program at random instructions, and compares what `telltale paths` says with a full trace that was recorded beside it.

The program runs instruction by instruction from main on (tests/support/crash_points.c), and its block of each activation is recorded.
Before instructions that a seed draws, a copy of the process gets a signal, and leaves its small core file (TELLTALE_PATHS)."""
import bisect
import collections
import concurrent.futures
import functools
import json
import os
import random
import re
import signal
import struct
import subprocess
import tempfile

from path_steps import Checker
from sampler_programs import SOURCE_DIR, run

TELLTALE = os.environ["TELLTALE"]
SIGNALS = (signal.SIGFPE, signal.SIGILL, signal.SIGQUIT, signal.SIGSYS)
EVENT = struct.Struct("<3Q")
WORKERS = 2
TIMEOUT = 600

# `after`: the activations that are live when the program's own code goes on; after an exception, those that it left are gone.
Point = collections.namedtuple("Point", "step pc core stack after_step after")
Live = collections.namedtuple("Live", "activation blocks")  # `blocks`: how many of its blocks ran


class Activation:
    def __init__(self, key, function, frame):
        self.key, self.function, self.frame = key, function, frame  # `frame`: its canonical frame address
        self.blocks = []
        self.has_blocks = False


class Trace(Checker):
    """Which blocks ran in each activation, from the addresses that were executed."""

    def __init__(self, program):
        super().__init__(program)
        self.begins = {}  # address -> key, of functions with positions
        self.untraced = set()  # where other functions begin
        self.passes = {}  # address -> position that is passed there
        self.returns = addresses_after_calls(program)
        self.return_instructions = addresses_of_returns(program)
        self.returned = None  # the end of the frame that the last event leaves: its caller may be a library, of which nothing is seen
        self.edges = {}
        ends = self.addresses + [1 << 64]
        at = 0
        for begin, end, _ in self.bounds:
            while ends[at] < begin:
                at += 1
            if ends[at] < end:
                self.begins[begin] = self.positions[at].key
            else:
                self.untraced.add(begin)
        self.untraced |= addresses_of_stubs(program)
        for position in self.positions:
            self.passes[position.address] = position
        self.seen = {(position.key, position.id) for position in self.positions}  # blocks of which the trace tells that they run
        for block, end in zip(self.machine_blocks, self.machine_blocks[1:] + [1 << 64]):
            # Code at the start of a machine block belongs to the first position in it, except before the first of a function.
            first = bisect.bisect_right(self.addresses, block)
            symbol = bisect.bisect_right(self.bounds, (block, 1 << 64, "")) - 1
            if block in self.passes or first == len(self.addresses) or self.addresses[first] >= end or symbol < 0:
                continue
            if first > 0 and self.addresses[first - 1] >= self.bounds[symbol][0]:
                self.passes[block] = self.positions[first]
        self.stack = []
        self.step = 0
        self.first = {}  # (key, block) -> the step at which it ran first
        self.without_edge = 0

    def watched(self):
        return sorted({*self.begins, *self.passes, *self.returns, *self.return_instructions, *self.untraced})

    def leave(self, stack_pointer):
        while self.stack and self.stack[-1].frame <= stack_pointer:
            self.stack.pop()

    def happens(self, pc, stack_pointer):
        """An instruction at one of the watched addresses is about to run."""
        self.finish_return()
        if pc in self.begins:
            # What has this frame has returned, or has become this function by a tail call.
            self.leave(stack_pointer + 8)
            key = self.begins[pc]
            self.stack.append(Activation(key, self.function(key), stack_pointer + 8))
            self.first.setdefault((key, self.function(key).entry), self.step)
        elif pc in self.untraced:
            self.leave(stack_pointer + 8)  # the function that jumped here has ended
        else:
            self.leave(stack_pointer)
        position = self.passes.get(pc)
        if position is not None and self.stack:
            self.reach(self.stack[-1], position)
        if pc in self.return_instructions:
            self.returned = stack_pointer + 8

    def finish_return(self):
        if self.returned is not None:
            self.leave(self.returned)
        self.returned = None

    def reach(self, activation, position):
        function = activation.function
        assert activation.key == position.key, (function.name, position)
        self.first.setdefault((position.key, position.id), self.step)
        if not activation.has_blocks:
            activation.has_blocks = True
            if (position.key, function.entry) not in self.empty:
                activation.blocks.append(function.entry)
            if position.id == function.entry:
                return
        before = activation.blocks[-1] if activation.blocks else function.entry
        known = self.edges.get((position, before))
        if known is None:
            loops = position.phase == 1 and any(e[:3] == (before, position.id, True) for e in function.edges)
            known = []
            if (position.id != before or loops) and (position.key, position.id) not in self.empty:
                removed = self.removed_between(function, position.key, before, position.id)
                self.without_edge += removed is None
                known = [*(removed or []), position.id]
            self.edges[position, before] = known
        for block in known:
            self.first.setdefault((position.key, block), self.step)
        activation.blocks += known

    def live(self, step, stack_pointer):
        """The activations that have not returned before this step, innermost first."""
        if step > self.step:
            self.finish_return()
        self.leave(stack_pointer)
        return [Live(activation, len(activation.blocks)) for activation in reversed(self.stack)]


def blocks_told(frame, reading):
    parts = [part for path in frame["paths"][:reading["completed"]] for part in [path] * path["times"]]
    return [block["block"] for part in [*parts, reading] for block in part["blocks"]]


def stored_numbers(frame, function):
    """How many of the completed paths have a number in the ring: repetitions are only counted."""
    after = [path["blocks"][0]["block"] for path in [*frame["paths"][1:], frame["partial"]] if path]
    return sum(function.repeats.get(first) != path["blocks"][-1]["block"] for path, first in zip(frame["paths"], after))


def addresses_after_calls(program):
    """Where functions return to: an activation is left there, even if its caller goes on to a function without paths."""
    found, after_call = set(), False
    for line in run("objdump", "-d", "--no-show-raw-insn", program).stdout.splitlines():
        address, colon, instruction = line.strip().partition(":\t")
        if colon and after_call:
            found.add(int(address, 16))
        after_call = bool(colon) and instruction.startswith("call")
    return found


def addresses_of_returns(program):
    lines = [line.strip().partition(":\t") for line in run("objdump", "-d", "--no-show-raw-insn", program).stdout.splitlines()]
    return {int(address, 16) for address, colon, instruction in lines if colon and instruction.startswith(("ret", "repz ret"))}


def addresses_of_stubs(program):
    """Where calls of functions of libraries begin, which a function may end by jumping to, too."""
    found = set()
    for line in run("objdump", "-d", "--no-show-raw-insn", program).stdout.splitlines():
        stub = re.fullmatch(r"([0-9a-f]+) <.*@plt>:", line)
        if stub:
            found.add(int(stub[1], 16))
    return found


@functools.cache
def _built_crasher():
    folder = tempfile.TemporaryDirectory(prefix="telltale-crasher-")  # removed at the end of the process
    done = run("cc", "-O1", SOURCE_DIR / "tests/support/crash_points.c", "-o", f"{folder.name}/crash_points")
    assert done.returncode == 0, done.stderr
    return folder


def crasher():
    """The program of crash_points.c, which is compiled once: most cases need it, and more than once."""
    return f"{_built_crasher().name}/crash_points"


class Crasher:
    """Runs a program with its arguments in a folder, and crashes it at random points."""

    def __init__(self, program, arguments, folder, scratch):
        self.trace = Trace(program)
        self.command = [str(program), *map(str, arguments)]
        self.folder, self.scratch = folder, scratch
        (scratch / "addresses").write_bytes(b"".join(struct.pack("<Q", address) for address in self.trace.watched()))

    def steps(self, points, most):
        """(number of steps, [words of each point])"""
        main = next(bound[0] for bound in self.trace.bounds if bound[2] == "main")
        (self.scratch / "points").write_text("".join(f"{step} {int(number)}\n" for step, number in points))
        words = [crasher(), self.scratch / "events", self.scratch / "addresses", self.scratch / "points", most, f"{main:x}"]
        environment = {**os.environ, "LD_BIND_NOW": "1", "LC_ALL": "C", "TELLTALE_PATHS": f"{self.scratch}/core-%p"}
        done = subprocess.run([*map(str, words), *self.command], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=TIMEOUT)
        assert done.returncode == 0, done.stderr
        *lines, end = [line.split() for line in done.stdout.splitlines()]
        # Core files are named by process ids, which the kernel uses again: a later copy would replace an earlier one's.
        ids = [line[4] for line in lines]
        assert len(set(ids)) == len(ids), "two copies of the process had the same id: run it again"
        return int(end[1]), lines

    def crash(self, count, seed, most, signals=SIGNALS):
        """Points at steps that a seed draws, each with the activations that were live."""
        total = most
        while True:
            draws = random.Random(seed)
            drawn = sorted((draws.randrange(total), draws.choice(signals)) for _ in range(count))
            steps, lines = self.steps(drawn, total)
            if len(lines) == count:
                break
            assert steps < total, (steps, total, len(lines))
            total = steps  # the program is shorter
        self.total = steps
        assert len(lines) == count, (len(lines), total)
        yield from self.points(drawn, lines)

    def catches(self, most):
        """(the steps at which landing pads begin, the end of the run): where neither a function begins nor a call returns, after what
        only the runtime of exceptions takes."""
        total, _ = self.steps([], most)
        found, last = [], 0
        expected = {*self.trace.begins, *self.trace.untraced, *self.trace.returns, *self.trace.return_instructions}
        for step, pc, _ in self.events():
            if step > last + 1000 and pc not in expected:
                found.append(step)
            last = step
        return found, total

    def crash_at(self, steps, most, number=SIGNALS[0]):
        """Points at these steps."""
        drawn = [(step, number) for step in sorted(set(steps))]
        self.total, lines = self.steps(drawn, most)
        yield from self.points(drawn, lines)

    def events(self):
        with open(self.scratch / "events", "rb") as file:
            yield from EVENT.iter_unpack(file.read())

    def points(self, drawn, lines):
        events = self.events()
        event = next(events, None)
        waiting = []  # points after which no event was seen
        for (step, number), line in zip(drawn, lines):
            assert (int(line[0]), int(line[3])) == (step, int(number)), (step, number, line)
            while event is not None and event[0] <= step:
                self.trace.step = event[0]
                self.trace.happens(event[1], event[2])
                yield from (point._replace(after_step=event[0], after=self.trace.live(*event[::2])) for point in waiting)
                waiting = []
                event = next(events, None)
            core = self.scratch / f"core-{line[4]}"
            waiting.append(Point(step, int(line[1]), core, self.trace.live(step, int(line[2])), int(line[0]), None))
        if event is not None:
            self.trace.step = event[0]
            self.trace.happens(event[1], event[2])
            waiting = [point._replace(after_step=event[0], after=self.trace.live(*event[::2])) for point in waiting]
        yield from waiting


def frames_of(core, program):
    """(the frames with paths of a core file, innermost first; why there are no more; whether a frame is about to go on in a landing pad)
    from telltale"""
    done = subprocess.run([TELLTALE, "paths", core, "--program", program, "--json"], capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    document = json.loads(done.stdout)
    (thread,) = document["threads"]
    cut = thread["cut"]
    lands = any(frame["interrupted"] for before, frame in zip(thread["frames"], thread["frames"][1:]) if not before["inlined"])
    return [frame for frame in thread["frames"] if frame["untraced"] is None or is_outside(frame)], cut, lands


def is_outside(frame):
    """Small core files do not have the variables of a large frame that is about to be left."""
    return frame["untraced"] is not None and "the core file has no memory at" in frame["untraced"]


def functions_of(core, program):
    """What of the whole program ran, from telltale: {(symbol, file): {block: answer}}."""
    done = subprocess.run([TELLTALE, "coverage", core, "--program", program, "--json"], capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return {(function["linkage_name"], function["file"]): {block["block"]: block["ran"] for block in function["blocks"]}
            for function in json.loads(done.stdout)["functions"]}


class Comparison:
    """Compares what telltale says of points with what ran; `wrong` describes each frame that differs. `starts_at_main`: nothing of the
    program runs before main."""

    def __init__(self, trace, program, by_lines, starts_at_main=True):
        self.trace, self.program, self.by_lines, self.starts_at_main = trace, program, by_lines, starts_at_main
        self.keys = collections.defaultdict(list)
        for key, (_, rows) in trace.records.functions.items():
            fields = {row[0]: row[1] for row in rows if len(row) > 1}
            self.keys[fields["symbol"], fields["file"]].append(key)
        self.counts = collections.Counter()
        self.wrong = []

    def compare_all(self, points):
        """Removes the core files of points that agree."""
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for point, frames, by_lines, functions in pool.map(self.ask, points):
                before = len(self.wrong)
                *frames, lands = frames
                self.counts["points where an exception is caught"] += lands
                if lands and point.after is not None:  # that is next: what the exception leaves is not shown
                    point = point._replace(step=point.after_step, stack=point.after)
                self.compare(point, *frames, by_lines)
                self.compare_program(point, functions)
                if len(self.wrong) == before:
                    point.core.unlink()

    def ask(self, point):
        by_lines = frames_of(point.core, self.by_lines)[0] if self.by_lines else None
        return point, frames_of(point.core, self.program), by_lines, functions_of(point.core, self.program)

    def compare_program(self, point, functions):
        """Blocks that certainly ran, and those that certainly did not, in the whole program."""
        for name, blocks in functions.items():
            if len(self.keys[name]) != 1:
                continue
            (key,) = self.keys[name]
            for block, answer in blocks.items():
                if block is None or (key, block) in self.trace.empty:
                    continue
                if (key, block) not in self.trace.seen and (key, block) not in self.trace.first:
                    continue  # it became a part of the branch to it: a conditional jump to the function that it calls last
                self.counts[f"blocks of the program: {answer}"] += 1
                ran = self.trace.first.get((key, block), point.step + 1) <= point.step
                if (answer == "yes" and not ran and self.starts_at_main) or (answer == "no" and ran):
                    self.counts["wrong"] += 1
                    self.wrong.append(f"step {point.step} at {point.pc:#x}, {point.core.name}: block {block} of {name[0]} ran: {answer}")

    def compare(self, point, frames, cut, by_lines):
        self.counts["points"] += 1
        self.counts["stacks that are cut"] += cut is not None
        if len(frames) > len(point.stack) or (len(frames) < len(point.stack) and cut is None):
            self.differs(point, None, [frame["linkage_name"] for frame in frames], [live.activation.function.name for live in point.stack])
            return
        for number, (frame, live) in enumerate(zip(frames, point.stack)):
            if is_outside(frame):
                self.counts["frames outside the core file"] += 1
                if frame["linkage_name"] != live.activation.function.name or number > 0:
                    self.differs(point, frame, [frame["untraced"]], self.ran(live))
                continue
            self.compare_frame(point, frame, live)
            if by_lines is not None and number < len(by_lines):
                self.compare_lines(by_lines[number], live)

    def differs(self, point, frame, told, ran):
        self.counts["wrong"] += 1
        at = next((n for n, (one, other) in enumerate(zip(reversed(told), reversed(ran))) if one != other), min(len(told), len(ran)))
        told, ran = ((f"of {len(blocks)}: ", blocks[max(len(blocks) - at - 20, 0):len(blocks) - max(at - 10, 0)]) for blocks in (told, ran))
        self.wrong.append(f"step {point.step} at {point.pc:#x}, {point.core.name}: {frame and frame['linkage_name']}: from the end on, they "
                          f"differ at {at}: telltale says {told}, ran {ran}")

    def ran(self, live):
        """The blocks of an activation. One that passed no position is in its entry."""
        function, key = live.activation.function, live.activation.key
        if live.blocks:
            return live.activation.blocks[:live.blocks]
        return [] if (key, function.entry) in self.trace.empty else [function.entry]

    def compare_frame(self, point, frame, live):
        function, key = live.activation.function, live.activation.key
        ran = self.ran(live)
        readings = [self.told(frame, reading, key) for reading in [frame["partial"], *frame["other_readings"]] if reading]
        right = [told for told in readings if fits(told, ran, frame["complete_history"])]
        if not right and frame["found_by"] == "all blocks":
            # What has no position may be on the way to the next block, after the increment: it is reported as that block's beginning.
            ahead = [*ran, *live.activation.blocks[len(ran):len(ran) + 1]]
            right = [told for told in readings if fits(told, ahead, frame["complete_history"])]
            self.counts["frames on the way to a block"] += bool(right)
        rows = self.trace.records.functions[key][1]
        kept = int(next(row[1] for row in rows if row[0] == "ring")) - (["flag", "prefixes"] in rows)  # a slot has the current sum
        # Of several readings, only the paths that all share are told.
        is_short = not frame["complete_history"] and len(readings) == 1 and stored_numbers(frame, function) != kept
        kind = "of setjmp" if frame["unreliable"] else "by position" if frame["found_by"] == "position" else "by other means"
        self.counts["frames"] += 1
        self.counts[f"frames {kind}"] += 1
        self.counts["frames with their whole history"] += frame["complete_history"]
        self.counts["frames between updates"] += bool(frame["partial"] and frame["partial"]["between_updates"])
        self.counts["frames with several readings"] += len(readings) > 1
        self.counts["blocks"] += len(right[0]) if right else 0
        if frame["linkage_name"] != function.name or not right or frame["contradiction"] or is_short:
            if frame["unreliable"]:
                self.counts["wrong, of setjmp"] += 1
            else:
                self.differs(point, frame, readings[0] if readings else [frame["contradiction"]], ran)

        self.compare_blocks(point, frame, key, set(ran))

    def compare_blocks(self, point, frame, key, ran):
        """What telltale says of each block of one activation, by all evidence together."""
        for block in frame["blocks_ran"]:
            if (key, block["block"]) in self.trace.empty:
                continue
            self.counts[f"blocks of frames: {block['ran']}"] += 1
            if block["ran"] != "maybe" and (block["ran"] == "yes") != (block["block"] in ran):
                self.counts["wrong"] += 1
                self.wrong.append(f"step {point.step} at {point.pc:#x}, {point.core.name}: block {block['block']} of a frame of "
                                  f"{frame['linkage_name']} ran: {block['ran']}")

    def told(self, frame, reading, key):
        return [block for block in blocks_told(frame, reading) if (key, block) not in self.trace.empty]

    def compare_lines(self, frame, live):
        """With lines alone: is the answer the lines that ran, one of several answers, or wrong?"""
        lines = live.activation.function.lines
        ran = lines_of(self.ran(live), lines)
        answers = []
        # DWARF's place of the variables is wrong while a function returns, and may be outside the core file.
        for reading in [] if is_outside(frame) else [frame["partial"], *frame["other_readings"]]:
            if reading:
                blocks = blocks_told(frame, reading)
                answers.append(fits(lines_of(blocks, lines), ran, frame["complete_history"]))
        kind = "one answer, right" if answers == [True] else "several answers, one right" if any(answers) else "no right answer"
        self.counts[f"by lines: {kind}"] += 1


def fits(told, ran, is_complete):
    return told == ran if is_complete else bool(told) and told == ran[len(ran) - len(told):]


def lines_of(blocks, lines):
    """Lines without the places where numbers are stored, and without repetitions."""
    found = []
    for block in blocks:
        for line in lines.get(block, ()):
            if line > 0 and (not found or found[-1] != line):
                found.append(line)
    return found


def without_positions(program, scratch):
    """A copy of the program without block addresses."""
    by_lines = scratch / "by_lines"
    assert run("objcopy", "--remove-section=.debug_telltale_paths", program, by_lines).returncode == 0
    return by_lines


def crash_and_compare(program, arguments, folder, scratch, count, seed, most, starts_at_main=True):
    """The Comparison of `count` points. A copy of the program without block addresses answers beside it."""
    each = Crasher(program, arguments, folder, scratch)
    comparison = Comparison(each.trace, program, without_positions(program, scratch), starts_at_main)
    comparison.compare_all(list(each.crash(count, seed, most)))
    comparison.counts["steps"] = each.total
    comparison.counts["steps without an edge"] = each.trace.without_edge
    return comparison


def crash_where_caught(program, folder, scratch, most, back):
    """The Comparison of points before each landing pad: the steps of `back` before it."""
    each = Crasher(program, [], folder, scratch)
    comparison = Comparison(each.trace, program, None)
    landings, total = each.catches(most)
    comparison.compare_all(list(each.crash_at([step - distance for step in landings for distance in back], total)))
    comparison.counts["landing pads"] = len(landings)
    return comparison


def crash_where_returning(program, folder, scratch, most, count):
    """The Comparison of points at the last instructions of functions that return."""
    each = Crasher(program, [], folder, scratch)
    comparison = Comparison(each.trace, program, None)
    total, _ = each.steps([], most)
    returns = [step - 1 for step, pc, _ in each.events() if pc in each.trace.returns]
    comparison.compare_all(list(each.crash_at(returns[:count], total)))
    return comparison
