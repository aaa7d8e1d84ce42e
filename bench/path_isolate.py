#!/usr/bin/env python3
"""What `telltale isolate` takes for path files with flags of coverage: a generated program with FUNCTIONS functions, of which
every third run takes a wrong line. Checks first that this line predicts failure. Prints processor time and peak memory, and the
time of a run as a ratio to `telltale coverage` of one of the same files, which reads the program, too.

    path_isolate_bench [FUNCTIONS [RUNS]]     default: 1000 24"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BINARIES = pathlib.Path(__file__).absolute().parent
if not (BINARIES / "telltale").exists():
    BINARIES = BINARIES.parent / "build/release/bin"
TELLTALE = BINARIES / "telltale"


def source(functions):
    """The lines of the program. Each function calls one of those before it, in a branch that depends on its argument."""
    lines, repeated = [], None
    for line in (pathlib.Path(__file__).resolve().parent / "programs/many_functions.c").read_text().splitlines():
        if line.strip() == "// begin":
            repeated = []
        elif line.strip() == "// end":
            for i in range(1, functions):
                names = {"f0": f"f{i // 2}", "f1": f"f{i}", "number = 1": f"number = {i}"}
                lines += [re.sub(r"\bf[01]\b|number = 1", lambda found, names=names: names[found[0]], each) for each in repeated]
            repeated = None
        else:
            (lines if repeated is None else repeated).append(line)
    return lines


def measure(*words):
    """What it prints, seconds of processor time and peak MiB."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([TELLTALE, *words], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return out.read().decode(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    functions, runs = (int(word) for word in (sys.argv[1:] + ["1000", "24"][len(sys.argv) - 1:])[:2])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = source(functions)
        (folder / "p.c").write_text("\n".join(lines) + "\n")
        subprocess.run([BINARIES / "telltale-cc", "--trace=all.schema", "-silent", "-O0", "-g", "p.c", "-o", "p"], cwd=folder, check=True)
        for label in ("failed", "passed"):
            (folder / label).mkdir()
        for run in range(runs):
            core = folder / ("passed" if run % 3 else "failed") / f"{run}.core"
            status = subprocess.run([folder / "p", str(run)], env={**os.environ, "TELLTALE_PATHS": str(core), "TELLTALE_PATHS_AT_EXIT": "1"},
                                    check=False).returncode
            assert status == (0 if run % 3 else 1) and core.exists(), (run, status)
        text, seconds, peak = measure("isolate", "--failed", folder / "failed", "--passed", folder / "passed", "--json")
        answer = json.loads(text)
        wrong = next(number for number, each in enumerate(lines, 1) if "// here" in each)
        first = answer["rows"][0]
        found = [each["predicate"] for each in (first, *first["same"])]
        assert f"line {wrong} ran" in found and answer["unexplained"] == 0, found
        one = min(measure("coverage", folder / "failed/0.core", "--json")[1] for _ in range(3))
    print(f"{runs} runs of {functions} functions, {answer['predicates']} predicates: {seconds:.2f} s of processor time, peak {peak:.0f} MiB; "
          f"a run takes {seconds / runs / one:.2f} of `telltale coverage` of one file ({one:.2f} s)")


if __name__ == "__main__":
    main()
