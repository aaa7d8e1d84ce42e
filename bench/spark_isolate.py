#!/usr/bin/env python3
"""What python/telltale_spark costs with 10 and 100 times the data, beside `telltale isolate`: stores of 300, 3,000 and 30,000 runs of a
program with 5,000 sites, of which each run observes a fifth. Both have to name the same predicates with the same counts.

    spark_isolate_bench [--sites N] [RUNS ...]     N: 5000 to 50000, in thousands; Spark works on two threads

Seconds of processor time are what to compare on a busy machine: of all processes together, Spark's Java process included. The peak is
that of the largest process. PySpark is the one that the tests install (tests/end_to_end/test_spark.py); without it, this installs it from PyPI."""
import argparse
import ctypes
import json
import os
import pathlib
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
    """(what it printed, elapsed seconds, seconds of processor time, peak in MiB), orphans such as Spark's Java process included"""
    start, cpu, peak = time.monotonic(), 0, 0
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors, **options)
        status = None
        while True:
            try:
                pid, ended, usage = os.wait3(0)
            except ChildProcessError:
                break
            cpu, peak = cpu + usage.ru_utime + usage.ru_stime, max(peak, usage.ru_maxrss)
            status = ended if pid == process.pid else status
        process.returncode = status
        for file in (output, errors):
            file.seek(0)
        if status != 0:
            sys.exit(f"{command[0]}: {errors.read()[-2000:]}")
        return output.read(), time.monotonic() - start, cpu, peak / 1024


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(pyspark()), str(SOURCE / "python")]), "PYSPARK_PYTHON": sys.executable}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=int, default=[300, 3000, 30000], metavar="RUNS")
    parser.add_argument("--sites", type=int, default=5000, metavar="N")
    chosen = parser.parse_args()
    print(f"{'runs':>6} {'store':>9} {'Spark':>9} {'processor':>11} {'peak':>9} {'telltale':>10} {'processor':>10} {'peak':>9}")
    for runs in chosen.runs:
        with tempfile.TemporaryDirectory() as folder:
            store = pathlib.Path(folder) / "store"
            run([BINARIES / "store_isolate_bench", str(runs), store, str(chosen.sites // 1000)])
            size = sum(path.stat().st_size for path in (store / "runs").rglob("*.parquet"))
            ours = run([BINARIES / "telltale", "isolate", store, "--json"])
            spark = run([sys.executable, "-m", "telltale_spark", store, "--application", "app", "--master", "local[2]"], env=environment)
            expected, found = (json.loads(answer[0])["rows"] for answer in (ours, spark))
            if [[row[key] for key in KEYS] for row in found] != [[row[key] for key in KEYS] for row in expected]:
                sys.exit(f"{runs} runs: the answers differ")
            print(f"{runs:6} {size / 2**20:5.1f} MiB {spark[1]:7.1f} s {spark[2]:9.1f} s {spark[3]:5.0f} MiB "
                  f"{ours[1]:8.2f} s {ours[2]:8.2f} s {ours[3]:5.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
