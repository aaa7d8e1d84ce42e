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


class TelltalePaths(gdb.Command):
    """telltale-paths [OPTIONS of `telltale paths`]: what the functions on the stacks of the stopped program ran."""

    def __init__(self):
        super().__init__("telltale-paths", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        opened = re.search(r"Local core dump file:\s+`(.+)', file type", gdb.execute("info files", to_string=True))
        if opened:
            # The core file names the program's path at the crash; gdb may have it from elsewhere.
            program = gdb.current_progspace().filename
            self.show(opened[1], [*(["--program", program] if program else []), *gdb.string_to_argv(argument)])
            return
        if gdb.selected_inferior().pid == 0:
            raise gdb.GdbError("no program is running, and no core file is open")
        with tempfile.TemporaryDirectory() as folder:
            core = os.path.join(folder, "core")
            gdb.execute(f"generate-core-file {core}", to_string=True)
            self.show(core, gdb.string_to_argv(argument))

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
