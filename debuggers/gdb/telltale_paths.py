"""A command for gdb: what the functions on the stacks of the stopped program ran (docs/analysis/paths.md).

  (gdb) source /usr/local/share/telltale/gdb/telltale_paths.py
  (gdb) telltale-paths --function 'parse*'

The options are those of `telltale paths`. The environment variable TELLTALE names another telltale than that of PATH.
"""
import os
import subprocess
import tempfile

import gdb


class TelltalePaths(gdb.Command):
    """telltale-paths [OPTIONS of `telltale paths`]: what the functions on the stacks of the stopped program ran."""

    def __init__(self):
        super().__init__("telltale-paths", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if gdb.selected_inferior().pid == 0:
            raise gdb.GdbError("no program is running; of a core file, `telltale paths CORE` tells more")
        with tempfile.TemporaryDirectory() as folder:
            core = os.path.join(folder, "core")
            gdb.execute(f"generate-core-file {core}", to_string=True)
            try:
                done = subprocess.run([os.environ.get("TELLTALE", "telltale"), "paths", core, *gdb.string_to_argv(argument)],
                                      capture_output=True, text=True)
            except OSError as error:
                raise gdb.GdbError(f"telltale cannot be run: {error}") from error
        gdb.write(done.stdout)
        if done.returncode != 0:
            raise gdb.GdbError(done.stderr.strip())
        gdb.write(done.stderr, gdb.STDERR)


TelltalePaths()
