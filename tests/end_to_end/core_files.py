"""Runs programs until they crash, and keeps their core files."""
import os
import pathlib
import re
import resource
import subprocess
import tempfile

from sampler_programs import run


def _allow_core():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _kernel_writes_here():
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    return re.fullmatch(r"[\w.%]+", pattern) is not None and \
        resource.getrlimit(resource.RLIMIT_CORE)[1] == resource.RLIM_INFINITY


def crash(output, program, *words, timeout=60, env=None):
    """Runs `program`, which is to end by a signal; its core file becomes `output`. Where the kernel gives core files to
    another program, gdb writes it."""
    with tempfile.TemporaryDirectory() as folder:
        if _kernel_writes_here():
            done = subprocess.run([str(program), *map(str, words)], cwd=folder, preexec_fn=_allow_core, timeout=timeout,
                                  capture_output=True, text=True, env={**os.environ, **(env or {})})
            if done.returncode >= 0:
                raise AssertionError(f"{program} ended with {done.returncode}")
            (core,) = pathlib.Path(folder).iterdir()
        else:
            core = pathlib.Path(folder) / "core"
            run("gdb", "-q", "-batch", "-ex", "run", "-ex", f"generate-core-file {core}", "--args", program, *words, env=env)
        pathlib.Path(output).write_bytes(core.read_bytes())
    return output
