"""docs/first-hour.md as a new user follows it: its commands run in a root, its lines are looked for in what they print."""
import pathlib
import re
import time

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "first-hour.md"
BLOCK = re.compile(r"^```(lua|sh-session)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What differs from run to run: times, shares and sums, other fractions, and the numbers of threads. The counts of single
# functions do not.
NUMBER = r"[+-]?\d+(?:\.\d+)? (?:ns|us|ms|s|%|times|bytes|calls)(?!\w)|\d+\.\d+"
CALL = r"--thread \d+ --call \d+"
VARIES = re.compile(rf"(?P<thread>\bthread \d+(?::\d+)?)|(?P<number>{NUMBER})|(?P<call>{CALL})|(?P<space>\s+)")
ANY = {"thread": r"thread [\d:]+", "number": f"(?:{NUMBER})", "call": CALL, "space": r"\s+"}


def pattern(line):
    """A line of the page, for any times, and columns of any width."""
    parts, at = [], 0
    for found in VARIES.finditer(line):
        parts.append(re.escape(line[at:found.start()]))
        parts.append(ANY[found.lastgroup])
        at = found.end()
    return re.compile(r"\s*" + "".join(parts).removeprefix(r"\s+") + re.escape(line[at:]) + r"\s*")


def steps():
    """In order: ("lua", name, script) for a file, ("command", line, what it prints)."""
    for kind, text in BLOCK.findall(PAGE.read_text()):
        if kind == "lua":
            yield "lua", text.split()[1], text
            continue
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield "command", command, [line for line in shown if line.strip() not in ("", "...")]


def follow(root):
    """Runs the page in the folder /tmp of `root`. Yields each command, its output, its seconds and the page's lines that
    are not in the output.

    A busy machine may stop the recorded program for milliseconds, which moves other functions to the top of a table. So a
    command that lacks lines is tried again, four times at most, on new recordings."""
    recordings = []
    for kind, name, content in steps():
        if kind == "lua":
            (root.path / "tmp" / name).write_text(content)
            continue
        for left in (4, 3, 2, 1, 0):
            begin = time.monotonic()
            printed = root.run(name)[1]
            seconds = time.monotonic() - begin
            lines = printed.splitlines()
            missing = [line for line in content if not any(pattern(line).fullmatch(one) for one in lines)]
            if not missing or not left:
                break
            root.run("rm -f *.xray *.xray.side")  # a recording never overwrites a file
            for command in recordings:
                root.run(command)
        if name.startswith("telltale run "):
            recordings.append(name)
        yield name, printed, seconds, missing
