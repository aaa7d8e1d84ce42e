"""Reads a store's Parquet files with pyarrow, which is from PyPI and knows nothing of telltale."""
import functools
import os
import pathlib
import subprocess
import sys

VERSION = "21.0.0"


@functools.cache
def pyarrow():
    """pyarrow's modules parquet and dataset, installed into the build folder."""
    folder = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"]) / f"python/pyarrow-{VERSION}-{sys.version_info.major}.{sys.version_info.minor}"
    if not (folder / "pyarrow").is_dir():
        made = folder.with_name(f"{folder.name}.{os.getpid()}")
        pip = [sys.executable, "-m", "pip"]
        if subprocess.run([*pip, "--version"], capture_output=True).returncode != 0:
            pip = ["pip3"]
        subprocess.run([*pip, "install", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--target", made,
                        f"pyarrow=={VERSION}"], check=True, timeout=900)
        try:
            made.rename(folder)
        except OSError:
            pass  # another test was faster
    sys.path.insert(0, str(folder))
    import pyarrow.dataset
    import pyarrow.parquet
    return pyarrow


def read_runs(store, columns=None):
    """The rows of all files; application, build and day come from the paths."""
    folder = pathlib.Path(store) / "runs"
    files = sorted(str(path) for path in folder.rglob("*.parquet"))
    if not files:
        return []
    arrow = pyarrow()
    partitions = arrow.dataset.partitioning(arrow.schema([(name, arrow.string()) for name in ("application", "build", "day")]), flavor="hive")
    dataset = arrow.dataset.dataset(files, format="parquet", partitioning=partitions, partition_base_dir=str(folder))
    return dataset.to_table(columns=columns).to_pylist()
