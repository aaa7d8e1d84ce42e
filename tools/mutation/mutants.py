"""Small faults, made by universalmutator (PyPI): a random sample of them, one a line, decided by a seed."""
import collections
import contextlib
import hashlib
import io
import pathlib
import random
import re
import subprocess
import sys

from mutation.related_tests import folder_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOL = "universalmutator==1.14.1"
RULES = {".cc": ["universal", "c_like", "cpp"], ".h": ["universal", "c_like", "cpp"],
         ".ts": ["universal", "c_like", "javascript"], ".tsx": ["universal", "c_like", "javascript"]}


class Mutant:
    """A line of a file and what stands there instead."""

    def __init__(self, path, line, old, new, rule):
        self.path, self.line, self.old, self.new, self.rule = path, line, old, new, rule
        self.folder = folder_of(path)
        self.key = hashlib.sha256(repr((path, old, new)).encode()).hexdigest()[:10]

    @staticmethod
    def of_entry(entry):
        """The mutant of a line of results.jsonl."""
        return Mutant(entry["path"], entry["line"], entry["old"], entry["new"], entry["rule"])

    def shown(self):
        return "%s:%d\n      - %s\n      + %s" % (self.path, self.line, self.old.strip(), self.new.strip())


def install_mutator(place):
    """Installs universalmutator into the folder `place`, if it is not there, and lets it be imported."""
    if not (place / "universalmutator").is_dir():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--root-user-action=ignore", "--no-deps",
                        "--target", place, TOOL], check=True)
    sys.path.insert(0, str(place))


def is_code(line):
    text = line.strip()
    return bool(re.search(r"\w", text)) and not re.match(r"(//|/\*|\*|#|namespace\b|using\b|static_assert|template\b)", text)


def are_balanced(text):
    """True if the brackets of a line fit one another, as far as they stand in it."""
    open_ones = []
    for each in text:
        if each in "([{":
            open_ones.append(each)
        elif each in ")]}" and open_ones and open_ones.pop() + each not in ("()", "[]", "{}"):
            return False
    return True


def ends_function(source, number):
    """True if the line of that number (from 1) is the last statement of a function."""
    indent = len(source[number - 1]) - len(source[number - 1].lstrip()) - 2
    if number >= len(source) or source[number].rstrip("\n;,)") != " " * indent + "}":
        return False
    opening = next((line for line in reversed(source[: number - 1])
                    if line.strip() and len(line) - len(line.lstrip()) <= indent), "")
    return not re.match(r"\s*(\} )?(if|else|for|while|do|switch|case|default)\b", opening)


def may_be_swapped(old, new):
    """False if `new` has two operands in another order that are not of one kind, two strings or two names: their types
    usually differ."""
    before, after = ([part.strip() for part in re.split("[(),{}]", line)] for line in (old, new))
    if sorted(before) != sorted(after):
        return True
    kinds = {"string" if part.startswith('"') else "name" if re.fullmatch(r"[\w.]+", part) else part
             for part, other in zip(before, after) if part != other}
    return len(kinds) < 2


def may_compile(old, new):
    """False for what cannot compile. Asking a compiler would cost seconds; this asks for the blanks that clang-format puts
    around operators with two operands, and leaves out where the rules take types and templates for such operators."""
    if new.count("\n") != 1:
        return False  # break or continue after a line: mostly outside of loops
    if new.strip().startswith("/*"):  # a statement that is left out
        text = old.strip()
        if text.startswith(("->", ".")):
            return False  # the end of a statement that begins above
        is_declaration = re.match(r"(?!return\b)[\w:<>,*& ]+[ *&]\w+( = |;|\{|\()", text) is not None
        return text.endswith(";") and not is_declaration and not re.match(r"[\])}]", text) and all(
            text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
    if not are_balanced(new) or any(
            new.count(a) - new.count(b) != old.count(a) - old.count(b) for a, b in ("()", "[]", "{}")):
        return False
    if new.count('"') % 2 != old.count('"') % 2 or re.search(r"\(,|,,|,\)", new):
        return False
    if re.search(r"(?<!if)(?<!while)(?<!return)(?<=\w) \((0==1|1==1)\)", new):
        return False
    if "===" in new and "===" not in old or '"' in old and re.search(r"[-*/%]=", new):
        return False  # the latter: text is appended
    if not may_be_swapped(old, new):
        return False
    at = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), len(new) - 1)
    operators = r"[-+*/%<>=!&|]"
    kind = r"\w" if re.match(r"\w", old[at]) and not re.match(operators, new[at]) else operators
    begin = end = at  # of the word or operator that is another one now
    while begin > 0 and re.match(kind, old[begin - 1]):
        begin -= 1
    while end < len(old) and re.match(kind, old[end]):
        end += 1
    word = old[begin:end]
    if re.match(r"[A-Za-z_]", word):  # not in uint64_t or append
        return word in ("if", "else", "while") or word in ("begin", "end", "min", "max") and old[end : end + 1] == "("
    if word in ("++", "--"):
        return new[begin:end] in ("++", "--")
    if re.match(r"[-+*/%<>=&|]", word):
        return old[begin - 1 : begin] == " " and old[end : end + 1] in (" ", "\n")
    if re.match(r"\w", old[at]):  # a number as a whole: no part of 0x80, U+203A or a name
        return re.search(r"\w$", old[:at]) is None and re.match(r"\d+(U|UL|ULL|\.\d+)?\b", old[at:]) is not None
    return True


def list_sources(paths):
    """Files below `paths` that git knows or would add, relative to the checkout."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "--", *paths], capture_output=True,
                            text=True, check=True).stdout.splitlines()
    return sorted({name for name in listed if (ROOT / name).is_file()})


class Sample:
    """Mutants in a random order that the seed decides, one a line, the folders in turn. The sources are read once, so that
    the checkout may change while the mutants are tried."""

    def __init__(self, paths, seed):
        self.seed = seed
        self.sources = {}
        self.mutants_of_file = {}
        self.lines = collections.defaultdict(list)  # folder -> (path, line number)
        for path in list_sources(paths):
            if pathlib.Path(path).suffix not in RULES or path.endswith("_test.cc") or not folder_of(path):
                continue
            self.sources[path] = (ROOT / path).read_text().splitlines(keepends=True)
            self.lines[folder_of(path)] += [
                (path, number) for number, line in enumerate(self.sources[path], 1) if is_code(line)]
        for folder, lines in self.lines.items():
            random.Random("%s %s" % (seed, folder)).shuffle(lines)

    def of_line(self, path, number):
        if path not in self.mutants_of_file:
            from universalmutator import mutator
            source = self.sources[path]
            with contextlib.redirect_stdout(io.StringIO()):
                found = mutator.mutants_regexp(source, ruleFiles=RULES[pathlib.Path(path).suffix], ignorePatterns=[],
                                               ignoreStringOnly=True)
            by_line = collections.defaultdict(list)
            for line, new, rule, *_ in found:
                lost_answer = new.strip().startswith("/*return ") and ends_function(source, line)
                if may_compile(source[line - 1], new) and not lost_answer:
                    by_line[line].append(Mutant(path, line, source[line - 1], new, rule[0]))
            self.mutants_of_file[path] = by_line
        return self.mutants_of_file[path][number]

    def __iter__(self):
        waiting = {folder: iter(lines) for folder, lines in sorted(self.lines.items())}
        while waiting:
            for folder in list(waiting):
                for path, number in waiting[folder]:
                    mutants = self.of_line(path, number)
                    if mutants:
                        yield random.Random("%s %s %d" % (self.seed, path, number)).choice(mutants)
                        break
                else:
                    del waiting[folder]


def find_moved(mutant):
    """The mutant where its line stands now, which may be in a file that was moved; None if the line is gone."""
    name = pathlib.PurePath(mutant.path).name
    candidates = [path for path in list_sources(["."]) if pathlib.PurePath(path).name == name and folder_of(path)]
    for path in sorted(candidates, key=lambda path: path != mutant.path):
        lines = (ROOT / path).read_text().splitlines(keepends=True)
        places = [number for number, line in enumerate(lines, 1) if line == mutant.old]
        if places:
            mutant.path, mutant.folder = path, folder_of(path)  # the key stays
            mutant.line = min(places, key=lambda number: abs(number - mutant.line))
            return mutant
    return None
