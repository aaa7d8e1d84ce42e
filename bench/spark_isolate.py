#!/usr/bin/env python3
"""What python/telltale_spark costs with growing data, beside `telltale isolate`: stores of 300, 3,000 and 30,000 runs of a program with
50,000 sites, of which each run observes a fifth. Both have to name the same predicates with the same counts.

    spark_isolate_bench [RUNS ...]     default 300 3000; Spark works on two threads

PySpark is the one that the tests install (tests/end_to_end/test_spark.py); without it, this installs it from PyPI."""
import ctypes
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

BINARIES = pathlib.Path(os.path.abspath(sys.argv[0])).parent
SOURCE = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("TELLTALE", str(BINARIES / "telltale"))
os.environ.setdefault("TELLTALE_SOURCE_DIR", str(SOURCE))
os.environ.setdefault("TELLTALE_BINARY_DIR", str(BINARIES.parent))
sys.path.insert(0, str(SOURCE / "tests/end_to_end"))
from test_spark import pyspark  # noqa: E402

KEYS = ("line", "scheme", "predicate", "true_in_failing", "true_in_successful", "observed_in_failing", "observed_in_successful")


PR_SET_CHILD_SUBREAPER = 36


def run(command, **options):
    """(what it printed, elapsed seconds, seconds of processor time, orphans such as Spark's Java process included)"""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, **options)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stderr[-2000:]}")
    return done.stdout, time.monotonic() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(pyspark()), str(SOURCE / "python")]), "PYSPARK_PYTHON": sys.executable}
    print(f"{'runs':>6} {'store':>9} {'Spark':>10} {'processor':>10} {'telltale':>10} {'processor':>10} {'ratio':>6}")
    for runs in [int(word) for word in sys.argv[1:]] or [300, 3000]:
        with tempfile.TemporaryDirectory() as folder:
            store = pathlib.Path(folder) / "store"
            run([BINARIES / "store_isolate_bench", str(runs), store])
            size = sum(path.stat().st_size for path in (store / "runs").rglob("*.parquet"))
            ours = run([BINARIES / "telltale", "isolate", store, "--json"])
            spark = run([sys.executable, "-m", "telltale_spark", store, "--application", "app", "--master", "local[2]"], env=environment)
            expected, found = (json.loads(answer[0])["rows"] for answer in (ours, spark))
            if [[row[key] for key in KEYS] for row in found] != [[row[key] for key in KEYS] for row in expected]:
                sys.exit(f"{runs} runs: the answers differ")
            print(f"{runs:6} {size / 2**20:5.0f} MiB {spark[1]:8.1f} s {spark[2]:8.1f} s {ours[1]:8.2f} s {ours[2]:8.2f} s {spark[1] / ours[1]:6.0f}", flush=True)


if __name__ == "__main__":
    main()
