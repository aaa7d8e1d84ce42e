"""Compiles the programs of tests/programs/mono and records them with Mono's log profiler.

Alone: mono_programs.py FOLDER [NAME...] puts the recordings of RECORDINGS (or those named) into FOLDER.
"""

import atexit
import concurrent.futures
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

SOURCE_DIR = os.environ.get("TELLTALE_SOURCE_DIR") or os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
TELLTALE = os.environ.get("TELLTALE") or os.path.join(SOURCE_DIR, "build/release/bin/telltale")
HAVE_MONO = all(shutil.which(tool) for tool in ("mono", "mcs", "mprof-report"))

_GC = "gc,gcalloc,gcmove,gcroot,gchandle,finalization"

# Name -> (profiler options, program, its arguments). Together they contain every event of data version 17.
RECORDINGS = {
    "everything": ("nodefaults,%s,exception,monitor,counter,jit,heapshot,maxframes=16" % _GC, "everything", []),
    # Enter and leave events; stacks are derived from them, so other events carry no backtrace.
    "calls": (
        "nodefaults,calls,gcalloc,monitor,exception,gchandle",
        "everything",
        "calls exceptions fault handles monitors threads domains contexts".split(),
    ),
    "samples": ("nodefaults,sample=1000,counter", "everything", ["busy"]),
    # As a user would call it; this adds exceptions, counters, and roots at every collection.
    "plain": ("alloc,heapshot=ondemand,heapshot-on-shutdown", "everything", ["handles", "heap"]),
    "heap": ("nodefaults,gcalloc,gcmove,gcroot,heapshot,maxframes=4", "everything", ["heap"]),
    "zipped": ("nodefaults,exception,monitor,zip", "everything", ["exceptions", "monitors"]),
}


@functools.cache
def work_dir():
    """A folder for this test process; removed when it ends."""
    path = tempfile.mkdtemp(prefix="telltale-mono-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@functools.cache
def compile_program(name):
    """Path of tests/programs/mono/NAME.cs, compiled."""
    program = os.path.join(work_dir(), name + ".exe")
    source = os.path.join(SOURCE_DIR, "tests/programs/mono", name + ".cs")
    subprocess.run(["mcs", "-out:" + program, source], check=True, capture_output=True, timeout=120)
    return program


@functools.cache
def compile_ahead(name):
    """The same, compiled ahead of time to machine code."""
    program = os.path.join(work_dir(), name + "_ahead.exe")
    shutil.copy(compile_program(name), program)
    subprocess.run(["mono", "--aot", program], check=True, capture_output=True, timeout=120)
    return program


def record(path, options, program, arguments):
    """Runs a program under the log profiler; returns its standard output."""
    if not program.endswith(".exe"):
        program = compile_program(program)
    command = ["mono", "--profile=log:%s,output=%s" % (options, os.path.abspath(path)), os.path.abspath(program),
               *map(str, arguments)]
    for _ in range(3):  # mono itself aborts in two of a hundred recordings of calls, and leaves files in its working folder
        done = subprocess.run(command, cwd=work_dir(), capture_output=True, text=True, timeout=120)
        if done.returncode != -signal.SIGABRT:
            break
    if done.returncode != 0:
        raise RuntimeError("%s ended with %d: %s" % (command, done.returncode, done.stderr))
    return done.stdout


@functools.cache
def recordings(*names):
    """Name -> path, for the named RECORDINGS (all by default); made in parallel, because mono waits at its end."""
    names = names or tuple(RECORDINGS)
    paths = {name: os.path.join(work_dir(), name + ".mlpd") for name in names}
    for name in names:
        compile_program(RECORDINGS[name][1])
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: record(paths[name], *RECORDINGS[name]), names))
    return paths


def report_document(path, *options):
    """What `telltale report --json` prints."""
    done = subprocess.run([TELLTALE, "report", path, "--json", *options], capture_output=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError("telltale report %s: %d: %s" % (options, done.returncode, done.stderr.decode()))
    return json.loads(done.stdout)


def report_text(path, *options):
    return subprocess.run(
        [TELLTALE, "report", path, *options], capture_output=True, check=True, timeout=120
    ).stdout.decode()


def main(folder, *names):
    os.makedirs(folder, exist_ok=True)
    for name, path in recordings(*names).items():
        shutil.copy(path, os.path.join(folder, name + ".mlpd"))
        print(name, os.path.getsize(path))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
