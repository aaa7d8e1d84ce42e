"""Compiles small real programs with clang's -fxray-instrument for the tests that need them."""
import os
import pathlib
import shutil
import subprocess
import tempfile

PROGRAMS = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"]) / "tests/programs"
COMPILERS = [version for version in ("19", "22") if shutil.which(f"clang++-{version}")]
LLVM_XRAY = shutil.which("llvm-xray-22")
LINKER = shutil.which("ld.lld-19")
CROSS_TARGETS = ["aarch64-linux-gnu", "riscv64-linux-gnu", "loongarch64-linux-gnu", "s390x-linux-gnu",
                 "powerpc64le-linux-gnu", "mips64-linux-gnuabi64", "mips64el-linux-gnuabi64"]

PROGRAM = (PROGRAMS / "xray/shapes.cc").read_text()

FREESTANDING = (PROGRAMS / "xray/freestanding.c").read_text()


class Workshop:
    """A folder of its own with the sources; compile() writes its output there. Use as a context manager."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="telltale-")
        self.path = pathlib.Path(self._folder.name)
        (self.path / "program.cc").write_text(PROGRAM)
        (self.path / "freestanding.c").write_text(FREESTANDING)
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def run(self, *command, **options):
        return subprocess.run([str(part) for part in command], cwd=self.path, check=True, capture_output=True,
                              text=True, timeout=120, **options)

    def compile(self, output, *flags, compiler="22", source="program.cc"):
        self.run(f"clang++-{compiler}" if source.endswith("cc") else f"clang-{compiler}", "-O1", "-g",
                 "-fxray-instrument", "-fxray-instruction-threshold=1", source, *flags, "-o", output)
        return self.path / output


def telltale(*arguments, environment=None, check=True, cwd=None):
    """Runs the built binary."""
    result = subprocess.run([os.environ["TELLTALE"], *map(str, arguments)], capture_output=True, text=True,
                            timeout=120, cwd=cwd, env={**os.environ, "DEBUGINFOD_URLS": "", **(environment or {})})
    if check and result.returncode != 0:
        raise AssertionError(f"telltale {arguments} gave {result.returncode}: {result.stderr}")
    return result
