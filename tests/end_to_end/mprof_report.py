"""Runs mprof-report and reads its text into figures.

report(path, *options) returns a dict with a key per section that was printed:
  header     {title: text}
  jit, gc    {title: number}; gc also has "generations" and "handles"
  sample     {"type", "unmanaged", "managed", "unresolved", "rows": [(hits, percent text, name)]}
  alloc      {"rows": [Row], "total": (bytes, objects)}
  call       {"rows": [Row], "total": calls}
  metadata   {"images", "assemblies", "image_names", "assembly_names"}
  exception  {"throws", "clauses": {kind: count}, "traces"}
  monitor    {"locks": [Lock], "contentions", "acquired", "failures"}
  thread, domain, context   [(id, text)]
  heapshot   [Shot]
  counters   {"last": {...}} or, with --verbose, {"by_time"/"by_category": ...}
  unmatched  [(stack position, method)]
Ids are numbers. Traces are [(value, (outermost, ..., leaf))].
"""

import re
import subprocess
from dataclasses import dataclass, field


@dataclass
class Row:
    numbers: tuple  # bytes, count, average; or total, self, calls
    name: str
    delta: tuple = None  # of a heap shot: bytes, count; None if the class is new
    roots: tuple = None  # references from roots, pinning ones
    references: list = field(default_factory=list)  # (count, class)
    traces: list = field(default_factory=list)


@dataclass
class Lock:
    object: int
    contentions: int
    total: float = 0
    max: float = 0
    average: str = ""
    traces: list = field(default_factory=list)


@dataclass
class Shot:
    number: int
    seconds: str
    size: int
    objects: int
    classes: int
    roots: int
    rows: list = field(default_factory=list)


def milliseconds(stamp):
    """Of a time that mprof-report prints as days:hours:minutes:seconds.milliseconds."""
    days, hours, minutes, seconds = stamp.split(":")
    whole, part = seconds.split(".")
    return ((int(days) * 24 + int(hours)) * 60 + int(minutes)) * 60000 + int(whole) * 1000 + int(part)


def run(path, *options):
    done = subprocess.run(["mprof-report", *options, path], capture_output=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError("mprof-report %s: %d: %s" % (path, done.returncode, done.stderr))
    return done.stdout.decode("utf-8", "surrogateescape")


def pointer(text):
    return 0 if text == "(nil)" else int(text, 16)


_TRACE = re.compile(r"\t(-?\d+) (?:bytes|calls|throws|contentions|created|destroyed) from:$")


class _Reader:
    """The lines of a report, with a current position."""

    def __init__(self, text):
        self.lines = text.split("\n")
        self.at = 0

    def peek(self):
        return self.lines[self.at] if self.at < len(self.lines) else None

    def match(self, pattern):
        """Returns the match of the next line and advances; or None."""
        line = self.peek()
        found = re.match(pattern, line) if line is not None else None
        if found:
            self.at += 1
        return found

    def need(self, pattern):
        found = self.match(pattern)
        if not found:
            raise ValueError("line %d of mprof-report: %r is not %r" % (self.at, self.peek(), pattern))
        return found

    def traces(self):
        found = []
        while self.peek() is not None and (head := _TRACE.match(self.peek())):
            self.at += 1
            frames = []
            while frame := self.match(r"\t\t(.*)$"):
                frames.append(frame[1])
            found.append((int(head[1]), tuple(frames)))
        return found


def _header(lines):
    lines.need(r"Mono log profiler data$")
    found = {}
    while line := lines.match(r"\t([^:]+): (.*)$"):
        found[line[1]] = line[2]
    return found


def _jit(lines):
    found = {}
    while line := lines.match(r"\t([^:]+): (-?\d+)$"):
        found[line[1]] = int(line[2])
    return found


def _gc(lines):
    found = {"generations": {}, "handles": {}}
    while True:
        if line := lines.match(r"\tGen(\d) collections: (\d+), max time: (\d+)us, total time: (\d+)us, average: (\d+)us$"):
            found["generations"][int(line[1])] = tuple(map(int, line.groups()[1:]))
        elif line := lines.match(r"\tGC handles (\w+): created: (\d+), destroyed: (\d+), max: (-?\d+)$"):
            before = lines.at
            traces = lines.traces()
            created = sum(1 for at in lines.lines[before : lines.at] if at.endswith("created from:"))
            found["handles"][line[1]] = {
                "numbers": tuple(map(int, line.groups()[1:])),
                "created": traces[:created],
                "destroyed": traces[created:],
            }
        elif line := lines.match(r"\t([^:]+): (-?\d+)$"):
            found[line[1]] = int(line[2])
        else:
            return found


def _sample(lines):
    found = {"rows": []}
    if line := lines.match(r"\tSample type: (.*)$"):
        found["type"] = line[1]
    for kind in ("Unmanaged", "Managed", "Unresolved"):
        if line := lines.match(r"\t%s hits: +(\d+) \( *([\d.]+|-?nan)%%\)$" % kind):
            found[kind.lower()] = int(line[1])
    lines.match(r"\s+Hits +% Method name$")
    while line := lines.match(r"\s+(\d+) +([\d.]+) (.*)$"):
        found["rows"].append((int(line[1]), line[2], line[3]))
    return found


def _alloc(lines):
    found = {"rows": [], "total": (0, 0)}
    lines.match(r" +Bytes +Count +Average Type name$")
    while line := lines.match(r" *(-?\d+) +(\d+) +(-?\d+) (.*)$"):
        found["rows"].append(Row(tuple(map(int, line.groups()[:3])), line[4], traces=lines.traces()))
    if line := lines.match(r"Total memory allocated: (\d+) bytes in (\d+) objects$"):
        found["total"] = (int(line[1]), int(line[2]))
    return found


def _call(lines):
    found = {"rows": [], "total": 0}
    lines.match(r"Total\(ms\) Self\(ms\) +Calls Method name$")
    while line := lines.match(r" *(-?\d+) +(-?\d+) +(\d+) (.*)$"):
        found["rows"].append(Row(tuple(map(int, line.groups()[:3])), line[4], traces=lines.traces()))
    if line := lines.match(r"Total calls: (\d+)$"):
        found["total"] = int(line[1])
    return found


def _metadata(lines):
    found = {"image_names": [], "assembly_names": []}
    found["images"] = int(lines.need(r"\tLoaded images: (\d+)$")[1])
    while line := lines.match(r"\t\t(.*)$"):
        found["image_names"].append(line[1])
    found["assemblies"] = int(lines.need(r"\tLoaded assemblies: (\d+)$")[1])
    while line := lines.match(r"\t\t(.*)$"):
        found["assembly_names"].append(line[1])
    return found


def _exception(lines):
    found = {"throws": int(lines.need(r"\tThrows: (\d+)$")[1]), "clauses": {}}
    found["traces"] = lines.traces()
    while line := lines.match(r"\tExecuted (\w+) clauses: (\d+)$"):
        found["clauses"][line[1]] = int(line[2])
    return found


def _monitor(lines):
    found = {"locks": []}
    while line := lines.match(r"\tLock object (\S+): (\d+) contentions$"):
        lock = Lock(pointer(line[1]), int(line[2]))
        line = lines.need(r"\t\t([\d.]+) secs total wait time, ([\d.]+) max, (\S+) average$")
        lock.total, lock.max, lock.average = float(line[1]), float(line[2]), line[3]
        lock.traces = lines.traces()
        found["locks"].append(lock)
    found["contentions"] = int(lines.need(r"\tLock contentions: (\d+)$")[1])
    found["acquired"] = int(lines.need(r"\tLock acquired: (\d+)$")[1])
    found["failures"] = int(lines.need(r"\tLock failures: (\d+)$")[1])
    return found


def _ids(lines, kind, text):
    found = []
    while line := lines.match(r"\t%s: ([^,]+)(?:, %s: (.*))?$" % (kind, text)):
        found.append((pointer(line[1]), line[2]))
    return found


def _shot_row(lines):
    line = lines.match(r"\t *(-?\d+) +(-?\d+) +(-?\d+) (.*)$")
    if not line:
        return None
    name, delta = line[4], None
    if changed := re.match(r"(.*) \(bytes: ([+-]\d+), count: ([+-]\d+)\)$", name):
        name, delta = changed[1], (int(changed[2]), int(changed[3]))
    row = Row(tuple(map(int, line.groups()[:3])), name, delta)
    if line := lines.match(r"\t\t(\d+) root references \((\d+) pinning\)$"):
        row.roots = (int(line[1]), int(line[2]))
    while line := lines.match(r"\t\t(\d+) references from: (.*)$"):
        row.references.append((int(line[1]), line[2]))
    return row


def _heapshot(lines):
    shots = []
    while True:
        lines.match(r"$")
        line = lines.match(
            r"\tHeap shot (\d+) at ([\d.]+) secs: size: (\d+), object count: (\d+), class count: (\d+), roots: (\d+)$"
        )
        if not line:
            return shots
        shot = Shot(int(line[1]), line[2], *map(int, line.groups()[2:]))
        lines.need(r"\t +Bytes +Count +Average Class name$")
        while row := _shot_row(lines):
            shot.rows.append(row)
        shots.append(shot)


def _counters(lines):
    found = {"last": {}, "by_time": {}, "by_category": {}}
    stamp = section = name = None
    while (line := lines.peek()) is not None and line.startswith("\t"):
        lines.at += 1
        if at := re.match(r"\t(\d+:\d\d:\d\d:\d\d\.\d{3}):$", line):
            stamp = at[1]
        elif at := re.match(r"\t\t\t(\S+) : (.*)$", line):
            if re.match(r"\d+:\d\d:\d\d:\d\d\.\d{3}$", at[1]):
                found["by_category"][section, name][1].append((at[1], at[2]))
            else:
                found["by_time"].setdefault(stamp, []).append((section, at[1], at[2]))
        elif at := re.match(r"\t\t\t(.*\S) +: (.*)$", line):
            found["by_time"].setdefault(stamp, []).append((section, at[1], at[2]))
        elif at := re.match(r"\t\t(.*): \[type: (.*), unit: (.*), variance: (.*)\]$", line):
            name = at[1]
            found["by_category"][section, name] = (at.groups()[1:], [])
        elif at := re.match(r"\t\t(.*\S) +: (.*)$", line):
            found["last"][section, at[1]] = at[2]
        elif at := re.match(r"\t+(.*):$", line):
            section = at[1]
        else:
            raise ValueError("line %d of mprof-report: %r among the counters" % (lines.at, line))
    return found


_SECTIONS = {
    "JIT summary": ("jit", _jit),
    "GC summary": ("gc", _gc),
    "Statistical samples summary": ("sample", _sample),
    "Allocation summary": ("alloc", _alloc),
    "Method call summary": ("call", _call),
    "Metadata summary": ("metadata", _metadata),
    "Exception summary": ("exception", _exception),
    "Monitor lock summary": ("monitor", _monitor),
    "Thread summary": ("thread", lambda lines: _ids(lines, "Thread", "name")),
    "Domain summary": ("domain", lambda lines: _ids(lines, "Domain", "friendly name")),
    "Context summary": ("context", lambda lines: _ids(lines, "Context", "domain")),
    "Heap shot summary": ("heapshot", _heapshot),
    "Counters:": ("counters", _counters),
}


def parse(text):
    lines = _Reader(text)
    found = {"unmatched": []}
    while lines.peek() is not None:
        if line := lines.match(r"unmatched leave at stack pos: (\d+) for method (.*)$"):
            found["unmatched"].append((int(line[1]), line[2]))
        elif lines.peek() == "Mono log profiler data":
            found["header"] = _header(lines)
        elif lines.peek() in _SECTIONS:
            key, read = _SECTIONS[lines.peek()]
            lines.at += 1
            found[key] = read(lines)
        else:
            lines.need(r"$")
    return found


def report(path, *options):
    return parse(run(path, *options))
