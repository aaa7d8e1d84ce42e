"""The predicates of a program's sites, numbered as `telltale isolate` numbers them (docs/analysis/isolation.md)."""
import collections
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
HEADERS = (".h", ".H", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".def")


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


@dataclasses.dataclass
class Sites:
    """The site information of builds, the newest one first."""
    groups: list
    known: set  # (unit, scheme) of all sections, those without predicates too
    builds: list  # of each the numbers of its groups, in the order of its program
    sources: list  # of each by unit: the source file that no other unit has (of several the first by name)


def read_sites(texts):
    """The first definition of a unit and scheme counts."""
    groups, known, builds, sources, predicate, number = [], set(), [], [], 0, {}
    for text in texts:
        key, rows, build, units = None, [], {}, collections.defaultdict(set)
        for line in text.split("\n"):
            if line.startswith("<sites "):
                key, rows = (line.split('"')[1], line.split('"')[3]), []
            elif line == "</sites>":
                if key not in known:
                    known.add(key)
                    if key[1] in COUNTERS:
                        number[key] = len(groups)
                        groups.append(Group(*key, predicate, tuple(rows)))
                        predicate += groups[-1].predicates * len(rows)
                if key in number:
                    build[number[key]] = None
                key = None
            elif key is not None:
                rows.append(line.split("\t"))
                if not rows[-1][0].endswith(HEADERS):
                    units[rows[-1][0]].add(key[0])
        builds.append(list(build))
        sources.append({next(iter(of_file)): file for file, of_file in sorted(units.items(), reverse=True) if len(of_file) == 1})
    return Sites(groups, known, builds, sources)


class Matches:
    """Which sites of several builds are the same code (docs/analysis/isolation.md, "Several builds"). A site is (group, number)."""

    def __init__(self, sites):
        self.groups, self.parent = sites.groups, {}
        builds = [(build, sources) for build, sources in zip(sites.builds, sites.sources) if build]
        if len(builds) > 1:
            self.match([[(self.statement((group, site), sources), (group, site)) for group in build for site in range(len(self.groups[group].rows))]
                        for build, sources in builds])
        self.same_as = {site: self.find(site) for site in sorted(self.parent) if self.find(site) != site}
        self.others = collections.defaultdict(list)  # by the first site of the same code
        for site, first in self.same_as.items():
            self.others[first].append(site)

    def statement(self, site, sources):
        group = self.groups[site[0]]
        row = group.rows[site[1]]
        # Each file that includes a header has the header's code.
        included_by = sources.get(group.unit) if row[0].endswith(HEADERS) else None
        return row[0], included_by, row[2], group.scheme, group.words(site[1], 0)

    def find(self, site):
        while self.parent.get(site, site) != site:
            site = self.parent[site]
        return site

    def unite(self, one, other):
        low, high = sorted((self.find(one), self.find(other)))
        if low != high:
            self.parent[high] = low

    def match(self, builds):
        first = {}
        for build in builds:
            total, seen = collections.Counter(statement for statement, _ in build), collections.Counter()
            for statement, site in build:
                place = statement, total[statement], seen[statement]
                seen[statement] += 1
                self.unite(first.setdefault(place, site), site)
        impossible = set()
        for build in builds:
            members = {}
            for _, site in build:
                if members.setdefault(self.find(site), site) != site:
                    impossible.add(self.find(site))
        for site in [site for site in self.parent if self.find(site) in impossible]:
            self.parent[site] = site

    def sections_of(self, site):
        """The groups of the sites that are the same code as this first one."""
        return frozenset([site[0], *(group for group, _ in self.others.get(site, ()))])

    def other_lines(self, site):
        lines = [int(self.groups[group].rows[row][1]) for group, row in (site, *self.others.get(site, ()))]
        return [line for line in dict.fromkeys(lines) if line != lines[0]]
