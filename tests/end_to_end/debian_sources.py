"""Debian's source packages, fetched once into the build folder with apt, under a lock."""
import os
import pathlib
import shutil
import subprocess

from export_tools import alone

FOLDER = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"]) / "debian-sources"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
TIMEOUT = 180


class NotThere(Exception):
    """No network, no mirror or no apt; the message says which."""


def _apt(*words):
    """apt with a state of its own: the machine's package lists may lack sources, and are not changed."""
    for name in ("lists/partial", "cache/archives/partial"):
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
    release = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    suite = release.get("VERSION_CODENAME", "bookworm").strip('"')
    (FOLDER / "sources.list").write_text(f"deb-src [signed-by={KEYRING}] http://deb.debian.org/debian {suite} main\n")
    options = {"Dir::Etc::sourcelist": FOLDER / "sources.list", "Dir::Etc::sourceparts": "/dev/null",
               "Dir::State::lists": FOLDER / "lists", "Dir::Cache": FOLDER / "cache", "Acquire::Languages": "none",
               "APT::Sandbox::User": "root"}
    command = ["apt-get", *(f"-o{key}={value}" for key, value in options.items()), *words]
    try:
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=TIMEOUT)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotThere(f"apt-get: {error}") from error
    if done.returncode != 0:
        raise NotThere(f"apt-get {' '.join(words)}: {done.stderr.strip()[-500:]}")


def unpacked(package):
    """The folder with the sources of `package` as Debian builds them; read-only for callers."""
    FOLDER.mkdir(exist_ok=True)
    folder = FOLDER / package
    with alone(FOLDER / "lock"):
        if not folder.exists():
            if not list((FOLDER / "lists").glob("*_source_Sources*")):
                _apt("update")
            _apt("source", "--download-only", package)
            (description,) = FOLDER.glob(f"{package}_*.dsc")
            unpacking = FOLDER / f"{package}.part"
            shutil.rmtree(unpacking, ignore_errors=True)
            subprocess.run(["dpkg-source", "--no-check", "-x", description, unpacking], check=True, capture_output=True,
                           timeout=TIMEOUT)
            unpacking.rename(folder)
    return folder
