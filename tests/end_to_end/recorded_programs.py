"""Builds small programs and records them with `telltale run`."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

TELLTALE = os.environ["TELLTALE"]
PROGRAMS = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"]) / "tests/programs"
RECORDER = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"]) / "runtime" / "xray" / "libtelltale_xray.so"
CLANG = next((name for name in ("clang++-22", "clang++-19") if shutil.which(name)), None)
XRAY_FLAGS = ("-fxray-instrument", "-fxray-instruction-threshold=1")
CALL_FLAGS = ("-finstrument-functions",)

PROGRAM = (PROGRAMS / "recorders/shop.cc").read_text()
# Calls of one run with `orders` orders: order -> price, fib(5) (15 calls), refuse; in two threads.
FIB5_CALLS = 15


def expected_calls(orders, threads=2):
    return {"shop::price(int)": orders * threads, "shop::fib(int)": FIB5_CALLS * orders * threads,
            "shop::refuse(int)": orders * threads, "shop::order(int)": orders * threads, "shop::work(int)": threads}


@functools.cache
def folder():
    folder.keeper = tempfile.TemporaryDirectory(prefix="telltale-run-")
    return pathlib.Path(folder.keeper.name)


@functools.cache
def build(compiler, *flags, source=PROGRAM, name="program", after=()):
    """Path of the source compiled; cached."""
    place = pathlib.Path(tempfile.mkdtemp(dir=folder()))
    (place / "source.cc").write_text(source)
    subprocess.run([compiler, "-std=c++17", "-O1", "-g", "-pthread", *flags, "source.cc", *after, "-o", name, "-ldl"], cwd=place,
                   check=True, timeout=120)
    return place / name


def telltale(*arguments, **options):
    environment = {**os.environ, "DEBUGINFOD_URLS": "", **options.pop("environment", {})}
    return subprocess.run([TELLTALE, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env=environment, **options)


class Recorded:
    """A run in a folder of its own: its output, and the resulting recordings."""

    def __init__(self, program, *arguments, options=(), **run):
        self.place = pathlib.Path(tempfile.mkdtemp(dir=folder()))
        self.done = telltale("run", *options, "--", program, *arguments, cwd=self.place, **run)
        self.files = sorted(self.place.glob("*.xray"))

    @property
    def file(self):
        if len(self.files) != 1:
            raise AssertionError(f"{self.files} was left: {self.done.stderr}")
        return self.files[0]


def top(*files, options=()):
    """The rows of `telltale top` by name; fails if standard error is not empty."""
    done = telltale("top", "--json", *options, *files)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"top {files}: {done.returncode} {done.stderr}")
    return {row["function"]: row for row in json.loads(done.stdout)["rows"]}


def calls(*files, options=(), prefix="shop::"):
    """Calls by name; without waits, of which the machine decides how many there are."""
    return {name: row["calls"] for name, row in top(*files, options=options).items()
            if name.startswith(prefix) and name != "(waiting)"}


def info(file):
    return json.loads(telltale("info", "--json", file).stdout)
