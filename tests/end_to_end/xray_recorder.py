"""Builds the programs of tests/programs/xray with a given clang and records traces with them."""

import ctypes
import functools
import glob
import json
import os
import shutil
import subprocess
import tempfile

SOURCE_DIR = os.environ.get("TELLTALE_SOURCE_DIR") or os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
TELLTALE = os.environ.get("TELLTALE") or os.path.join(SOURCE_DIR, "build/release/bin/telltale")
CLANGS = [version for version in ("19", "22") if shutil.which("clang++-" + version)]

_FLAGS = "-std=c++20 -O1 -g -fxray-instrument -fxray-instruction-threshold=100000 -fxray-ignore-loops -pthread".split()


@functools.cache
def work_dir():
    """A folder for this test process; removed when it ends."""
    work_dir.keeper = tempfile.TemporaryDirectory(prefix="telltale-xray-")
    return work_dir.keeper.name


@functools.cache
def build(name, clang, *flags):
    """Path of tests/programs/xray/NAME.cc compiled with clang++-CLANG."""
    program = os.path.join(work_dir(), "-".join([name, clang, *(flag.strip("-") for flag in flags)]))
    source = os.path.join(SOURCE_DIR, "tests/programs/xray", name + ".cc")
    subprocess.run(["clang++-" + clang, *_FLAGS, *flags, source, "-o", program], check=True, timeout=120)
    return program


@functools.cache
def private_frequency_command():
    """Command prefix that sets a TSC frequency of 2.1 GHz in a mount namespace of its own; or None, if this process may
    not create one."""
    script = (
        "mount -t tmpfs tmpfs /sys/devices/system/cpu/cpu0 &&"
        ' printf "2100000\\n" > /sys/devices/system/cpu/cpu0/tsc_freq_khz && exec "$@"'
    )
    command = ["unshare", "-m", "sh", "-c", script, "sh"]
    try:
        done = subprocess.run([*command, "true"], capture_output=True, timeout=30)
    except OSError:
        return None
    return command if done.returncode == 0 else None


class Recording:
    """A trace file and the program's own account."""

    def __init__(self, program, mode, options, *arguments, real_clock=False):
        folder = tempfile.mkdtemp(dir=work_dir())
        environment = dict(os.environ, XRAY_OPTIONS="xray_logfile_base=%s/trace." % folder)
        command = [program, mode, options, *map(str, arguments)]
        if real_clock:
            command = private_frequency_command() + command
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError("%s ended with %d: %s" % (command, done.returncode, done.stderr))
        self.said = json.loads(done.stdout)
        (self.path,) = glob.glob(folder + "/trace.*")
        self.program = program
        with open(self.path, "rb") as file:
            self.bytes = file.read()

    def calls(self, by_thread=False):
        """What the program counted: function -> (returned, unwound), or (tid, function) -> the same."""
        counted = {}
        for row in self.said["calls"]:
            key = (row["tid"], row["function"]) if by_thread else row["function"]
            returned, unwound = counted.get(key, (0, 0))
            counted[key] = (returned + row["returned"], unwound + row["unwound"])
        return counted


def telltale(*arguments, check=True, **more):
    done = subprocess.run([TELLTALE, *arguments], capture_output=True, timeout=more.pop("timeout", 120), **more)
    if check and done.returncode != 0:
        raise AssertionError("telltale %s: status %d: %s" % (arguments, done.returncode, done.stderr.decode()))
    return done


def top(path, *options):
    """id -> row of `telltale top --json`."""
    return {row["id"]: row for row in json.loads(telltale("top", "--json", *options, path).stdout)["rows"]}


def without_address_randomisation():
    """For preexec_fn: personality(ADDR_NO_RANDOMIZE)."""
    ctypes.CDLL(None).personality(0x0040000)
