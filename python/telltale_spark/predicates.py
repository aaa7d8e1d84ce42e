"""The predicates of a program's sites, numbered as `telltale isolate` numbers them (docs/analysis/isolation.md)."""
import dataclasses

# Scheme: its counters, and whether "another counter counted" is a predicate too.
COUNTERS = {
    "scalar-pairs": (3, True), "coverage": (1, False), "data": (1, False), "yields": (2, False), "atoms": (2, False), "branches": (2, False),
    "function-entries": (1, False), "returns": (3, True), "float-kinds": (9, True), "g-object-unref": (4, True), "fun-reentries": (2, False),
    "compare-swap": (2, False), "atoms-rw": (2, False),
}
NAMES = {
    "atoms": ("same thread", "different thread"), "atoms-rw": ("same thread", "different thread"), "compare-swap": ("same value", "different value"),
    "yields": ("not yielded", "yielded"), "fun-reentries": ("not re-entered", "re-entered"),
    "float-kinds": ("-Inf", "-normal", "-denormal", "-0", "NaN", "+0", "+denormal", "+normal", "+Inf"),
}
RELATIONS, COMPLEMENTS = ("<", "==", ">"), (">=", "!=", "<=")


@dataclasses.dataclass(frozen=True)
class Group:
    """The sites of one unit and scheme."""
    unit: str
    scheme: str
    first_predicate: int
    rows: tuple  # of each site the columns of its site information

    @property
    def counters(self):
        return COUNTERS[self.scheme][0]

    @property
    def complements(self):
        return COUNTERS[self.scheme][1]

    @property
    def observed_by_report(self):
        return self.counters == 1

    @property
    def predicates(self):
        return self.counters * (2 if self.complements else 1)

    def is_true(self, index, counted):
        """Whether a site's predicate was true, by the set of counters that are not 0."""
        if not self.complements:
            return bool(counted >> index & 1)
        own = 1 << index // 2
        return bool(counted & ~own if index % 2 else counted & own)

    def is_always_true(self, index, counted):
        """Whether it was true at every observation."""
        if not self.complements:
            return counted == 1 << index
        own = 1 << index // 2
        return counted != 0 and not counted & own if index % 2 else counted == own

    def words(self, site, index):
        row, counter, complement = self.rows[site], index, False
        if self.complements:
            counter, complement = index // 2, index % 2 == 1
        columns = row[4:] + [""] * 5
        first, scheme = columns[0], self.scheme
        if scheme == "branches":
            return f"{first} is {'FALSE' if counter == 0 else 'TRUE'}"
        relation = (COMPLEMENTS if complement else RELATIONS)[counter] if scheme in ("returns", "scalar-pairs") else ""
        if scheme == "returns":
            return f"{first} {relation} 0"
        if scheme == "scalar-pairs":
            right = columns[3]
            return f"new value of {first} {relation} old value of {right}" if first == right else f"{first} {relation} {right}"
        if scheme == "float-kinds":
            return f"{first} is {'not ' if complement else ''}{NAMES[scheme][counter]}"
        if scheme == "g-object-unref":
            if counter == 3:
                return f"{first} is {'a' if complement else 'not a'} GObject"
            return f"reference count of {first} {'not ' if complement else ''}{('== 0', '== 1', '> 1')[counter]}"
        if scheme == "function-entries":
            return f"{row[2]} entered"
        if scheme == "coverage":
            return f"{first} executed"
        access = f"{columns[1]} of {first}"
        if scheme == "data":
            return access
        if scheme == "fun-reentries":
            return f"{first} {NAMES[scheme][counter]}"
        if scheme == "yields":
            return f"{NAMES[scheme][counter]} {first}"
        return f"{access}: {NAMES[scheme][counter]}"


def read_groups(texts):
    """The groups of site information, and the (unit, scheme) of all sections, those without predicates too. The first definition counts."""
    groups, known, predicate = [], set(), 0
    for text in texts:
        key, rows = None, []
        for line in text.split("\n"):
            if line.startswith("<sites "):
                key, rows = (line.split('"')[1], line.split('"')[3]), []
            elif line == "</sites>":
                if key not in known:
                    known.add(key)
                    if key[1] in COUNTERS:
                        groups.append(Group(*key, predicate, tuple(rows)))
                        predicate += groups[-1].predicates * len(rows)
                key = None
            elif key is not None:
                rows.append(line.split("\t"))
    return groups, known
