"""A command for LLDB: what the functions on the stacks of the stopped program ran (docs/analysis/paths.md).

  (lldb) command script import /usr/local/share/telltale/lldb/telltale_paths.py
  (lldb) telltale-paths --function 'parse*'

The options are those of `telltale paths`. The environment variable TELLTALE names another telltale than that of PATH.
"""
import os
import shlex
import subprocess
import tempfile

import lldb


def telltale_paths(debugger, command, context, result, _):
    """telltale-paths [OPTIONS of `telltale paths`]: what the functions on the stacks of the stopped program ran."""
    process = context.GetProcess()
    if not process.IsValid() or process.GetState() != lldb.eStateStopped:
        result.SetError("no program is stopped; of a core file, `telltale paths CORE` tells more")
        return
    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "dump")
        # LLDB writes no ELF core files of Linux.
        saved = process.SaveCore(dump, "minidump", lldb.eSaveCoreStackOnly)
        if saved.Fail():
            result.SetError(f"the stacks cannot be saved: {saved}")
            return
        try:
            done = subprocess.run([os.environ.get("TELLTALE", "telltale"), "paths", dump, *shlex.split(command)],
                                  capture_output=True, text=True)
        except OSError as error:
            result.SetError(f"telltale cannot be run: {error}")
            return
    result.Print(done.stdout)
    if done.returncode != 0:
        result.SetError(done.stderr.strip())
    else:
        result.PutCString(done.stderr)


def __lldb_init_module(debugger, _):
    debugger.HandleCommand(f"command script add -o -f {__name__}.telltale_paths telltale-paths")
