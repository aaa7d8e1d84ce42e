"""Programs that fail for a known cause, and after how many runs `telltale isolate` ranks that cause first: for sampler_evidence_bench."""
import dataclasses
import json
import math
import os
import random
import shutil
import subprocess
import sys

from sampler_overhead import BINARY_DIR, NO_AUTOTOOLS, RELEASE, SOURCE_DIR, build

TELLTALE = BINARY_DIR / "bin/telltale"
PROGRAMS = SOURCE_DIR / "bench/programs"


def bc_program(rng):
    """A program for bc of a few or of many variables and arrays."""
    scalars = [f"v{i}" for i in range(rng.choice((rng.randrange(4, 40), rng.randrange(40, 240))))]
    arrays = [f"a{i}" for i in range(rng.choice((rng.randrange(1, 12), rng.randrange(12, 90))))]

    def value(depth=0):
        kind = rng.random()
        if kind < 0.35 or depth > 3:
            return str(rng.randrange(1, 1000))
        if kind < 0.6:
            return rng.choice(scalars)
        if kind < 0.75:
            return f"{rng.choice(arrays)}[{rng.randrange(9)}]"
        return f"({value(depth + 1)} {rng.choice('+-*')} {value(depth + 1)})"

    lines = [f"scale = {rng.randrange(12)}"]
    for name in rng.sample(scalars + arrays, len(scalars) + len(arrays)):
        lines.append(f"{name if name[0] == 'v' else f'{name}[{rng.randrange(9)}]'} = {value()}")
        if rng.random() < 0.2:
            lines.append(f"if ({value()} > {value()}) {value()} else {value()}")
        if rng.random() < 0.1:
            lines.append(f"for (i = 0; i < {rng.randrange(9)}; i++) {rng.choice(arrays)}[i] = i * {value()}")
        if rng.random() < 0.1:
            lines.append(f"sqrt({value()} ^ 2)")
    return "\n".join([*lines, "quit", ""])


def json_document(rng):
    """A document with numbers of up to 62 characters, and in 15 of 100 with a longer one."""
    def digits(count):
        return "".join(rng.choices("0123456789", k=count))

    def value(depth=0):
        kind = rng.random()
        if kind < 0.5 or depth > 5:
            return f"{rng.randrange(1000)}.{digits(rng.randrange(1, rng.choice((3, 8, 17, 40, 58))))}"
        if kind < 0.65:
            return rng.choice(("true", "null", '"a text"', '"\\u00e4\\n"'))
        if kind < 0.8:
            return f"[{','.join(value(depth + 1) for _ in range(rng.randrange(5)))}]"
        return "{" + ",".join(f'"key{i}":{value(depth + 1)}' for i in range(rng.randrange(5))) + "}"

    parts = [value() for _ in range(150)]
    if rng.random() < 0.15:
        parts[rng.randrange(150)] = f"0.{digits(rng.randrange(63, 90))}"
    return f"[{','.join(parts)}]"


@dataclasses.dataclass
class Cause:
    """`command` is run as written, with {} for the run's number. `predicates` name the cause, and not only the place where it ends; they
    count in `function`, if it is given. The program is made of the `files`, or of a Debian package as in sampler_overhead (`package`:
    its name, how to configure and make it, and the program); `document` makes the file inputs/{} of a run."""
    command: tuple
    predicates: tuple
    function: str = ""
    files: tuple = ()
    flags: str = ""
    package: tuple = ()
    document: object = None

    def build(self, place, flags):
        program = place / "program"
        flags = f"-g -frelative-paths {flags} {self.flags}"
        if self.package:
            made, _ = build("bug", "kind", place, {"json_reader": PROGRAMS / "json_reader.c"}, {"bug": (*self.package, "")}, {"kind": flags})
            shutil.copy(made, program)
            shutil.rmtree(place / "bug-kind")
            return program
        subprocess.run([BINARY_DIR / "bin/telltale-cc", "-O1", "-w", *flags.split(), *self.files, "-o", program, "-lm"],
                       check=True, env={**os.environ, "TELLTALE_CLANG_RELEASE": RELEASE})
        return program


def small(name, predicates, function="", flags=""):
    """A program of bench/programs/causes with a planted bug."""
    return Cause(("./program", "{}"), predicates, function, (PROGRAMS / f"causes/{name}.c",), flags)


CAUSES = {
    "stock": Cause(("./program", "{}"), ("shelf == (const char *)0", "shelf <= (const char *)0", "shelf_of == 0", "shelf_of <= 0", "quantity < 0 is TRUE",
                                         "free_quantity < 0", "room_left < 0", "used > room"), files=(SOURCE_DIR / "examples/stock/stock.c",)),
    "sheet": Cause(("./program", "--work", "{}", "--quiet"), ("name == (struct name *)0", "name <= (struct name *)0", "find_name == 0", "find_name <= 0"),
                   "explain_node", tuple(file for file in sorted((SOURCE_DIR / "examples/sheet").glob("*.c")) if file.name != "fuzz_target.c")),
    # A boundary, a null pointer, a wrong order, a counter that overflows, threads.
    "boundary": small("boundary", ("length > longest is TRUE", "length > longest", "length >= longest", "i > longest", "i >= longest", "i == longest")),
    "missing": small("missing", ("article != NULL is FALSE", "article == (struct article *)0", "article <= (struct article *)0",
                                 "find_article == 0", "find_article <= 0")),
    "wrong_order": small("wrong_order", ("in_a_hurry is TRUE", "chance_below(400) == 0 is TRUE", "chance_below == 0", "chance_below <= 0")),
    "overflow": small("overflow", ("new value of wrong_records < old value of wrong_records", "new value of wrong_records <= old value of wrong_records",
                                   "wrong_records < 0LL", "wrong_records <= 0LL"), "count_wrong"),
    # An urgent job leaves no thread that waits; the C library declares `daylight`, which is 0.
    "wakeup": small("wakeup", ("is_urgent is TRUE", "chance_below(4 * kJobs) == 0 is TRUE", "chance_below == 0", "chance_below <= 0",
                               "waiting < is_urgent", "waiting <= is_urgent",
                               *(f"waiting {sign} {zero}" for sign in ("==", "<=") for zero in ("0LL", "done", "daylight", "__daylight"))), flags="-pthread"),
    # The bug of bc 1.06 that the study of 2005 isolated, in bc 1.07.1: the table of arrays is cleared up to the number of variables.
    "bc-arrays": Cause(("./program", "-q", "inputs/{}"), ("a_count < next_var", "a_names < v_names"), "more_arrays",
                       package=("bc", "./configure -q CC={plain} CFLAGS=-w && sed -i '/old_count = a_count/,/^}}/s/indx < a_count/indx < v_count/' bc/storage.c",
                                "make -s -C lib CC={cc} CFLAGS='{flags}' " + NO_AUTOTOOLS + " && make -s -C bc CC={cc} CFLAGS='{flags}' " + NO_AUTOTOOLS, "bc/bc"),
                       document=bc_program),
    # CVE-2023-26819 of cJSON 1.7.15, whose fix is taken out: a number of more than 63 characters is cut, so that a document is
    # refused. The program that reads documents is not instrumented.
    "cjson-number": Cause(("./program", "inputs/{}"), ("i < (sizeof(number_c_string) - 1) is FALSE",), "parse_number",
                          package=("cjson", "patch -s -R -p1 <debian/patches/0001-allocate-memory-for-the-temporary-buffer.patch && cp {json_reader} reader.c",
                                   "{plain} -I. -O2 -c reader.c && {cc} {flags} cJSON.c reader.o -lm -o reader", "reader"), document=json_document),
}


def run_telltale(*words, cwd):
    done = subprocess.run([str(word) for word in (TELLTALE, *words)], cwd=cwd, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"telltale {' '.join(map(str, words))}: {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def ranks_first(study, program, known):
    rows = json.loads(run_telltale("isolate", study, "--program", program, "--limit", 1, "--json", cwd=study))["rows"]
    return bool(rows) and rows[0]["predicate"] in known.predicates and known.function in ("", rows[0]["function"])


def subset(study, rows, head, folder):
    """A study of these runs; their reports are links."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "reports").mkdir(parents=True)
    (folder / "sites").symlink_to(study / "sites")
    (folder / "runs.tsv").write_text("\n".join([*head, *rows, ""]))
    for row in rows:
        number = row.split("\t", 1)[0]
        os.link(study / f"reports/{number}.report", folder / f"reports/{number}.report")
    return folder


def runs_needed(study, program, known, folder, seed):
    """Runs in a random order from which on the cause ranks first, however many more there are; None: it does not with all.
    Sizes grow by two fifths."""
    lines = (study / "runs.tsv").read_text().splitlines()
    head, rows = lines[:2], [row for row in lines[2:] if (study / f"reports/{row.split(chr(9), 1)[0]}.report").exists()]
    random.Random(seed).shuffle(rows)
    sizes = [len(rows)]
    while sizes[-1] > 8:
        sizes.append(int(sizes[-1] / 1.4))
    needed = None
    for size in sizes:
        if not ranks_first(subset(study, rows[:size], head, folder / "part"), program, known):
            break
        needed = size
    return needed


def measure(name, modes, folder, options):
    """By mode: runs needed (None: more than there are), and how many there are. `modes`: (name, flags of the compiler, the number of
    executions of which one is sampled or None); `options`: `runs` of a study and `repetitions`, the orders of its runs."""
    known = CAUSES[name]
    place = folder / f"cause-{name}"
    (place / "inputs").mkdir(parents=True)
    for number in range(1, options.runs + 1 if known.document else 1):
        (place / f"inputs/{number}").write_text(known.document(random.Random(number)))
    answers = {}
    for mode, flags, sparsity in modes:
        program = known.build(place, flags)
        study = place / "study"
        shutil.rmtree(study, ignore_errors=True)
        words = () if sparsity is None else ("--sparsity", sparsity)
        runs = min(options.runs, 500) if sparsity is None else options.runs
        run_telltale("run", "-q", "--study", study, "--times", runs, "--jobs", 2, "--seed", 1, "--timeout", "10s", *words, "--", *known.command, cwd=place)
        needed = [runs_needed(study, program, known, place, seed) for seed in range(options.repetitions)]
        answers[mode] = {"needed": needed, "of": runs}
        print(f"{name:<12} {mode:<24} {summary(needed, runs)}", flush=True)
    return answers


def summary(needed, runs):
    ordered = sorted(math.inf if one is None else one for one in needed)
    quartiles = [ordered[(len(ordered) - 1) * part // 4] for part in (2, 1, 3)]
    median, low, high = (f"more than {runs}" if one == math.inf else str(one) for one in quartiles)
    return f"median {median}, quartiles {low} to {high}, never in {needed.count(None)} of {len(needed)}"
