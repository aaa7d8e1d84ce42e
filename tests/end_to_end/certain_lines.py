"""What `telltale coverage` says for certain of the lines of a program that ran to its end."""
import itertools
import json
import os

from sampler_programs import run

TELLTALE = os.environ["TELLTALE"]
LEVELS = ("-O1", "-O2", "-O3", "-Os")
SCHEMES = "-fsampler-scheme=branches,returns,scalar-pairs,function-entries,float-kinds"
SAMPLERS = ((), (SCHEMES,), (SCHEMES, "-fsampler-adaptive"), (SCHEMES, "-fno-sample"), ("-fsampler-scheme=returns",))
# How to build a program of which every line is known.
EXACT = ("--trace=bb.schema", "-no-filter", "-csi-opt=0", "-O0")


def builds(releases):
    """(options, release of the compiler) of builds whose certain answers must be those of EXACT."""
    for schema, level, words, release in itertools.product(("bb.schema", "all.schema", "cc.schema", "pt.schema"), LEVELS, SAMPLERS, releases):
        yield (f"--trace={schema}", level, *words), release


def certain_lines(document):
    """{(file, line): "yes" or "no"} of the JSON document: a line may be in several functions."""
    answers = {}
    for line in (line for function in document["functions"] for line in function["lines"]):
        answers.setdefault((line["file"], line["line"]), set()).add(line["ran"])
    return {place: "yes" if "yes" in ran else "no" for place, ran in answers.items() if "yes" in ran or "maybe" not in ran}


def printed_and_lines(program, folder, **environment):
    """What the program printed, and its certain_lines()."""
    printed, status, lines = ending_and_lines(program, folder, **environment)
    if status != 0:
        raise AssertionError(f"{program} ended with {status}")
    return printed, lines


def ending_and_lines(program, folder, **environment):
    """What the program printed, its exit status, and its certain_lines()."""
    file = folder / "paths"
    file.unlink(missing_ok=True)
    done = run(program, env={"TELLTALE_PATHS": str(file), "TELLTALE_PATHS_AT_EXIT": "1", "SAMPLER_FILE": str(folder / "report"), **environment})
    if not file.exists():  # it ended by _exit()
        return done.stdout, done.returncode, {}
    answer = run(TELLTALE, "coverage", file, "--program", program, "--json")
    if answer.returncode != 0:
        raise AssertionError(answer.stderr)
    return done.stdout, done.returncode, certain_lines(json.loads(answer.stdout))


def wrong_lines(lines, exact):
    return {place: ran for place, ran in lines.items() if ran != exact.get(place, ran)}
