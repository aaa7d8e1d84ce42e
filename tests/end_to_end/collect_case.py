"""Shared by the tests of `telltale collect`: a folder for its store, and bodies of requests."""
import gzip
import pathlib
import shutil
import subprocess
import tempfile
import unittest


class CollectCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-collect-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)  # the fold of a killed server may still write
        self.store = self.folder / "store"

    def file(self, name, text, mode=0o600):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return path


def zstd(data, level=3):
    return subprocess.run(["zstd", "-q", "-c", f"-{level}"], input=data, capture_output=True, check=True).stdout


def multipart(parts, boundary="cut"):
    body = b""
    for name, text, compressed in parts:
        head = f'content-disposition: form-data; filename="{name}"; name="{name}"\r\n'
        if compressed:
            head += "content-encoding: gzip\r\n"
        body += f"--{boundary}\r\n{head}\r\n".encode() + (gzip.compress(text) if compressed else text) + b"\r\n"
    return body + f"--{boundary}--\r\n".encode()
