"""The texts of the small programs that tests write where they need them; tests assert on their line numbers."""
import os
import pathlib

PROGRAMS = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"]) / "tests/programs"


def program_text(name):
    """The text of tests/programs/NAME."""
    return (PROGRAMS / name).read_text()
