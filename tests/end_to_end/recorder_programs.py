"""Programs of tests/programs/recorders, each built for both recorders, and their recordings."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import stacktrack_file

SOURCE = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"])
TELLTALE = os.environ["TELLTALE"]
XRAY = BUILD / "runtime/xray/libtelltale_xray.so"
STACKTRACK = BUILD / "runtime/stacktrack/libtelltale_stacktrack.a"
CLANG = next((name for name in ("clang++-22", "clang++-19") if shutil.which(name)), None)
LONG = bool(os.environ.get("TELLTALE_LONG"))
# The recorder: StackTrack, XRay's sleds, or the hooks of gcc's -finstrument-functions.
KINDS = ("stacktrack", "functions") + (("xray",) if CLANG else ())
SANITIZED = "fsanitize" in (BUILD / "build.ninja").read_text()


@functools.cache
def folder():
    folder.keeper = tempfile.TemporaryDirectory(prefix="telltale-recorders-")
    return pathlib.Path(folder.keeper.name)


def new_folder():
    return pathlib.Path(tempfile.mkdtemp(dir=folder()))


@functools.cache
def build(name, kind):
    """Path of tests/programs/recorders/NAME.cc for a recorder."""
    program = folder() / f"{name}-{kind}"
    source = SOURCE / "tests/programs/recorders" / f"{name}.cc"
    common = ["-std=c++17", f"-I{SOURCE}/include", "-O1", "-g", "-pthread", str(source), "-o", str(program)]
    if kind == "stacktrack":
        command = ["g++", "-DSTACKTRACK", *common, str(STACKTRACK)]
    elif kind == "functions":
        command = ["g++", "-finstrument-functions", "-finstrument-functions-exclude-file-list=/usr,/c++/,recorders/" + name, *common]
    else:
        # Without clang's own runtime, which also opens files.
        command = [CLANG, "-fno-xray-link-deps", "-fxray-instrument", "-fxray-instruction-threshold=100000", "-fxray-ignore-loops", *common]
    subprocess.run(command, check=True, timeout=120)
    return program


def settings(kind, path="", options=""):
    """Environment that records into `path` (empty: the program itself opens the recording)."""
    if kind == "stacktrack":
        return {"TELLTALE_STACKTRACK": ",".join(filter(None, (f"path={path}", options)))} if path else {}
    environment = {"LD_PRELOAD": str(XRAY)}
    if path:
        environment["TELLTALE_XRAY"] = ",".join(filter(None, (f"file={path}", options)))
    return environment


def recordings(place):
    return sorted(path for path in pathlib.Path(place).iterdir() if path.suffix in (".tlg", ".xray"))


def check(path):
    """A recording without problems except losses."""
    done = subprocess.run([TELLTALE, "info", "--json", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    info = json.loads(done.stdout)
    assert all(problem["kind"] in ("loss", "by design") for problem in info["problems"]), info["problems"]
    return info


def calls(kind, path):
    """The number of calls of event(), and of lost ones."""
    info = check(path)
    if kind == "stacktrack":
        file = stacktrack_file.File(path)
        return len([hit for hit in file.hits if hit[2] == "event"]), sum(count for reason, count in file.lost.items() if reason <= 4)
    counts = info["records_by_kind"]
    lost = sum(problem.get("count", 0) for problem in info["problems"])
    return counts.get("FunctionEnter", 0), lost


def run(kind, program, *arguments, path="", options="", before=(), expect=0, timeout=60, **more):
    environment = {**os.environ, **settings(kind, path, options), **more.pop("environment", {})}
    done = subprocess.run([*before, program, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=timeout,
                          **more)
    assert expect is None or done.returncode == expect, f"{program} {arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done
