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


def mapped_path(process, name):
    """The path of a file of that name that the process has mapped; None if it is not known."""
    try:
        with open(f"/proc/{process.GetProcessID()}/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = (line.rstrip("\n").split(None, 5)[5:] for line in maps)
            return next((path for (path,) in filter(None, paths) if path.startswith("/") and os.path.basename(path) == name), None)
    except OSError:
        return None


def given_files(process):
    """The files of the program and its debug information that a minidump does not name."""
    files = []
    for module in process.GetTarget().module_iter():
        file, symbols = module.GetFileSpec(), module.GetSymbolFileSpec()
        if not module.GetUUIDString():
            continue
        if not os.path.isabs(file.fullpath or ""):  # LLDB has what was given to dlopen()
            files.append(mapped_path(process, file.basename))
        if symbols.fullpath != file.fullpath:  # of `target symbols add`
            files.append(symbols.fullpath)
    # telltale finds the installed ones itself.
    return [file for file in dict.fromkeys(files) if file and os.path.isfile(file) and not file.startswith("/usr/lib/debug/")]


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
            words = [word for file in given_files(process) for word in ("--program", file)] + shlex.split(command)
            done = subprocess.run([os.environ.get("TELLTALE", "telltale"), "paths", dump, *words], capture_output=True, text=True)
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
