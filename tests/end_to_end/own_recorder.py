"""Builds the programs of tests/programs/xray_recorder and runs them with telltale's own recorder."""
import dataclasses
import functools
import glob
import json
import os
import struct
import subprocess
import tempfile
import time
import unittest

from xray_recorder import CLANGS, SOURCE_DIR, telltale, top, work_dir

BINARY_DIR = os.environ.get("TELLTALE_BINARY_DIR") or os.path.join(SOURCE_DIR, "build/release")
LIBRARY = os.path.join(BINARY_DIR, "runtime/xray/libtelltale_xray.so")
ARCHIVE = os.path.join(BINARY_DIR, "runtime/xray/libtelltale_xray.a")
FLAGS = ("-std=c++20 -O1 -g -fxray-instrument -fxray-instruction-threshold=100000 -fxray-ignore-loops "
         "-pthread").split()
# Long forms of the rows of docs/design/build-and-test.md: TELLTALE_LONG=1.
LONG = bool(os.environ.get("TELLTALE_LONG"))


def _is_for_the_linker(flag):
    return flag.startswith("-Wl,") or flag.endswith((".a", ".so")) or flag in ("-no-pie", "-rdynamic", "-static")


@functools.cache
def _compiled(name, clang, *flags):
    """An object file. Of several programs that differ in what they are linked with, the source is compiled once: that takes seconds."""
    (number, output) = tempfile.mkstemp(suffix=".o", dir=work_dir())
    os.close(number)
    source = os.path.join(SOURCE_DIR, "tests/programs/xray_recorder", name + ".cc")
    subprocess.run(["clang++-" + clang, *FLAGS, "-c", source, "-o", output, *flags], check=True, timeout=300)
    return output


@functools.cache
def build(name, clang, *flags, output=""):
    """Path of tests/programs/xray_recorder/NAME.cc compiled with clang++-CLANG."""
    program = os.path.join(work_dir(), "own-" + (output or "-".join([name, clang, *(f.strip("-").replace("/", "_") for f in flags)])))
    object_file = _compiled(name, clang, *(flag for flag in flags if not _is_for_the_linker(flag)))
    subprocess.run(["clang++-" + clang, *FLAGS, object_file, "-o", program, *flags], check=True, timeout=300)
    return program


def build_static(clang, *flags):
    """host.cc with the recorder."""
    return build("host", clang, *flags, "-Wl,-u,telltale_xray_start", ARCHIVE, output="static-" + clang + "-".join(flags))


@dataclasses.dataclass
class Side:
    """Reads TRACE.side as described in docs/formats/xray-recorder.md."""
    flags: int
    pid: int
    parent: int
    frequency: int
    source: int
    uncertainty: int
    lost: dict
    left_out: int
    anomalies: int
    records: list

    @staticmethod
    def read(path):
        with open(path, "rb") as file:
            data = file.read()
        assert data[:8] == b"TTXRSIDE", data[:8]
        _, header, flags, committed, pid, parent = struct.unpack_from("<HHIQII", data, 8)
        frequency, source, uncertainty = struct.unpack_from("<QII", data, 56)
        lost = dict(zip(("overwritten", "no_space", "reentrant", "too_large", "in_snapshot"),
                        struct.unpack_from("<5Q", data, 80)))
        left_out, anomalies = struct.unpack_from("<QQ", data, 120)
        assert committed <= len(data), (committed, len(data))
        records = []
        at = header
        while at < committed:
            kind, size = struct.unpack_from("<II", data, at)
            assert size >= 8 and size % 8 == 0 and at + size <= committed, (at, size)
            records.append((kind, data[at + 8:at + size]))
            at += size
        return Side(flags, pid, parent, frequency, source, uncertainty, lost, left_out, anomalies, records)

    def objects(self):
        """path -> (id base, functions), of Object records."""
        found = {}
        for kind, body in self.records:
            if kind == 1:
                base, functions = struct.unpack_from("<II", body, 32)
                build_id, path = struct.unpack_from("<HH", body, 64)
                found[body[72 + build_id:72 + build_id + path].decode()] = (base, functions)
        return found


class Run:
    """A run of a program with the recorder."""

    def __init__(self, program, *arguments, options="", preload=True, prefix=(), file="t.xray", check=True, timeout=400,
                 **more):
        self.folder = tempfile.mkdtemp(dir=work_dir())
        self.path = os.path.join(self.folder, file)
        environment = dict(os.environ, **more.pop("env", {}))
        settings = "file=" + self.path + ("," + options if options else "")
        environment["TELLTALE_XRAY"] = settings
        command = [*prefix, program, *map(str, arguments)]
        if preload:
            command = ["env", "LD_PRELOAD=" + LIBRARY, *command]
        self.done = subprocess.run(command, env=environment, capture_output=True, timeout=timeout, **more)
        self.stdout = self.done.stdout.decode()
        self.stderr = self.done.stderr.decode()
        self.status = self.done.returncode
        if check and self.status != 0:
            raise AssertionError("%s: status %d: %s" % (command, self.status, self.stderr))
        self.said = json.loads(self.stdout) if check else None

    def side(self):
        return Side.read(self.path + ".side")

    def traces(self):
        return sorted(path for path in glob.glob(self.folder + "/*") if not path.endswith((".side", ".shared")))

    def events(self, path=None):
        """Kind -> number, for a valid trace without problems except counted losses and a missing side record."""
        return events(path or self.path)


def events(path):
    (checked,) = json.loads(telltale("check", "--json", path, check=False).stdout)["rows"]
    assert checked["violations"] == 0, checked
    info = json.loads(telltale("info", "--json", path).stdout)
    for problem in info["problems"]:
        no_side = problem["kind"] == "oddity" and "names functions and threads, is missing" in problem["message"]
        assert no_side or problem["kind"] in ("loss", "by design"), problem
    counts = info["records_by_kind"]
    return counts if isinstance(counts, dict) else {row["kind"]: row["count"] for row in counts}


def function_events(counts):
    return sum(counts.get(kind, 0) for kind in ("FunctionEnter", "FunctionExit", "FunctionTailExit", "FunctionEnterArgs"))


def all_events(counts):
    return function_events(counts) + counts.get("CustomEventMarker", 0) + counts.get("TypedEventMarker", 0)


def calls_by_name(path, program):
    """Short name -> calls with entry and exit; without waits, of which the machine decides how many there are."""
    rows = {}
    for row in top(path, "--program", program).values():
        if row["function"] == "(waiting)":
            continue
        name = row["function"].split("(")[0]
        rows[name] = rows.get(name, 0) + row["calls"]
    return rows


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.002)


def wait_for_calls(shared):
    def begun():
        with open(shared, "rb") as file:
            return struct.unpack("<Q", file.read(8))[0] > 20_000
    wait_until(begun)


class Case(unittest.TestCase):
    """Shared by the tests of the recorder."""

    maxDiff = None

    def setUp(self):
        self.assertTrue(CLANGS, "clang 19 or 22 is needed")

    def check_calls(self, run, program, threads, times):
        """Of host.cc's `calls`."""
        self.assertEqual(run.said["calls"]["leaf"], threads * times + 1)
        counts = events(run.path)
        # leaf also runs in a static destructor, after `calls` has been printed.
        self.assertEqual(counts["FunctionEnterArgs"], 10)
        self.assertEqual(counts["FunctionEnter"], threads * times + 2 + 1001 + 3 * 6 + 1)
        # Calls left by an exception have no exit.
        self.assertEqual(counts["FunctionExit"], threads * times + 2 + 1001 + 1 + 10)
        calls = calls_by_name(run.path, program)
        self.assertEqual((calls["leaf"], calls["descend"], calls["logged"], calls["slow"]),
                         (threads * times + 2, 1001, 10, 1))
        arguments = [json.loads(line)["value"] for line in telltale("dump", "--json", run.path).stdout.splitlines()
                     if b"CallArgument" in line]
        self.assertEqual(arguments, [i * 1_000_000_000_000_000_007 for i in range(10)])
