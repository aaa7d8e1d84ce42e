"""A bare Debian 12 in a folder, to install packages into. Needs root, mmdebstrap and a package registry."""
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

TIMEOUT = 1200


class NotHere(Exception):
    """This machine cannot make or enter such a root; the message says why."""


@functools.cache
def _fresh_root():
    """The folder that holds the first root; all others are copies of it, which takes two seconds instead of thirty."""
    if os.geteuid() != 0:
        raise NotHere("only root can make a root and enter it")
    if shutil.which("mmdebstrap") is None:
        raise NotHere("mmdebstrap is not installed")
    folder = tempfile.TemporaryDirectory(prefix="telltale-root-")
    made = subprocess.run(["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--skip=cleanup/apt", "bookworm",
                           pathlib.Path(folder.name, "root")],
                          capture_output=True, text=True, timeout=TIMEOUT)
    if made.returncode != 0:
        raise NotHere(f"mmdebstrap: {made.stderr.strip()[-500:]}")
    return folder


class BareRoot:
    """The folder of a fresh Debian 12; removed by close(). Commands run in it see its files and /proc, nothing else."""

    def __init__(self):
        fresh = pathlib.Path(_fresh_root().name, "root")
        self._folder = tempfile.TemporaryDirectory(prefix="telltale-root-")
        self.path = pathlib.Path(self._folder.name, "root")
        subprocess.run(["cp", "--archive", fresh, self.path], check=True, timeout=TIMEOUT)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(pathlib.Path("/etc", name), self.path / "etc" / name)

    def close(self):
        self._folder.cleanup()

    def run(self, command, check=True):
        """Runs a line of sh in /tmp; its exit status, and its output with standard error."""
        # /proc is mounted in a mount namespace of the command's own.
        inside = 'mount -t proc proc "$0/proc" && exec chroot "$0" /bin/sh -c "cd /tmp && $1"'
        done = subprocess.run(["unshare", "--mount", "sh", "-c", inside, self.path, command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root",
                                   "DEBIAN_FRONTEND": "noninteractive"})
        if check and done.returncode != 0:
            raise AssertionError(f"{command}: exit status {done.returncode}\n{done.stdout}")
        return done.returncode, done.stdout

    def install(self, *packages):
        """Names of packages, or files: those are copied in first."""
        words = []
        for package in packages:
            if os.path.exists(package):
                shutil.copy(package, self.path / "tmp")
                package = "/tmp/" + os.path.basename(package)
            words.append(package)
        self.run("apt-get install -q -y --no-install-recommends " + " ".join(words))

    def files(self):
        """Everything but the package manager's own records."""
        own = ("var/lib/dpkg/", "var/lib/apt/", "var/cache/", "var/log/", "proc/", "tmp/", "dev/", "etc/ld.so.cache")
        paths = (str(path.relative_to(self.path)) for path in self.path.rglob("*"))
        return {path for path in paths if not (path + "/").startswith(own) and not path.startswith(own)}
