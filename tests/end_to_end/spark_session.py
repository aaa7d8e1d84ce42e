"""`python3 -m telltale_spark` several times in one process: a Java process of its own costs more than a small store's run.

Reads a JSON list of arguments a line, runs them, and prints a JSON list a line: status, standard output and error."""
import contextlib
import io
import json
import sys
import traceback

from telltale_spark.__main__ import main


def run(words):
    sys.argv[1:] = words
    out, error = io.StringIO(), io.StringIO()
    status = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
        except Exception:  # as the interpreter does at the end of a program
            traceback.print_exc()
            status = 1
    return [status, out.getvalue(), error.getvalue()]


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
