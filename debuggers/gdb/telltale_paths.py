"""A command for gdb: what the functions on the stacks of the stopped program ran (docs/analysis/paths.md).

  (gdb) source /usr/local/share/telltale/gdb/telltale_paths.py
  (gdb) telltale-paths --function 'parse*'

The options are those of `telltale paths`. The environment variable TELLTALE names another telltale than that of PATH.
"""
import os
import re
import subprocess
import tempfile

import gdb


def given_files():
    """The files of the program and its debug information that a core file does not name: gdb may have them from elsewhere."""
    by_build_id = {}
    for objfile in gdb.objfiles():
        if objfile.build_id and objfile.filename:
            by_build_id.setdefault(objfile.build_id, []).append(objfile.filename)
    # A file of symbols has the build-id of what it describes.
    files = [file for same in by_build_id.values() if len(same) > 1 for file in same]
    files.append(gdb.current_progspace().filename)  # of `file`, or of the last `symbol-file`
    # telltale finds the installed ones itself.
    return [file for file in dict.fromkeys(files) if file and os.path.isfile(file) and not file.startswith("/usr/lib/debug/")]


class TelltalePaths(gdb.Command):
    """telltale-paths [OPTIONS of `telltale paths`]: what the functions on the stacks of the stopped program ran."""

    def __init__(self):
        super().__init__("telltale-paths", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = [word for file in given_files() for word in ("--program", file)] + gdb.string_to_argv(argument)
        opened = re.search(r"Local core dump file:\s+`(.+)', file type", gdb.execute("info files", to_string=True))
        if opened:
            self.show(opened[1], words)
            return
        if gdb.selected_inferior().pid == 0:
            raise gdb.GdbError("no program is running, and no core file is open")
        with tempfile.TemporaryDirectory() as folder:
            core = os.path.join(folder, "core")
            gdb.execute(f"generate-core-file {core}", to_string=True)
            self.show(core, words)

    def show(self, core, arguments):
        try:
            done = subprocess.run([os.environ.get("TELLTALE", "telltale"), "paths", core, *arguments], capture_output=True, text=True)
        except OSError as error:
            raise gdb.GdbError(f"telltale cannot be run: {error}") from error
        gdb.write(done.stdout)
        if done.returncode != 0:
            raise gdb.GdbError(done.stderr.strip())
        gdb.write(done.stderr, gdb.STDERR)


TelltalePaths()
