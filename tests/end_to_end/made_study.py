"""Studies that no program made: site tables and reports of two builds, with everything that is in them known."""
import random

COUNTERS = {"branches": 2, "returns": 3, "scalar-pairs": 3, "function-entries": 1, "coverage": 1}
UNITS = {"old": "0" * 31 + "a", "new": "0" * 31 + "b"}
BUILDS = {"old": "f" * 40, "new": "e" * 40}  # the older one is not first by name
HEAD = "run\tlabel\trule\tstatus\tsignal\tseconds\tstarted\tbuild\tsparsity\tseed\tcommand"


class Build:
    """A build's sites. In the older one everything is 2 lines below, a function has another name, and a statement is there once less."""

    def __init__(self, name):
        self.name, self.unit, self.build = name, UNITS[name], BUILDS[name]
        shift = 2 if name == "old" else 0
        self.sites = {scheme: [] for scheme in (*COUNTERS, "bounds")}  # (line, function, text)
        line = 10
        for function in ("load", "renamed" if name == "new" else "first_name", "save"):
            self.sites["function-entries"].append((line + shift, function, ""))
            for text in ("size", "again", "again", "count", "kept", "kept" if name == "new" or function != "load" else "gone"):
                line += 1
                for scheme in self.sites:
                    if scheme != "function-entries":
                        self.sites[scheme].append((line + shift, function, text))
            line += 3

    def table(self):
        columns = {"scalar-pairs": "\tlocal\tdirect\tlimit\tlocal", "bounds": "\tlocal\tdirect"}
        text = ""
        for scheme, sites in self.sites.items():
            rows = "".join(f"main.c\t{line}\t{function}\t{row}" + (f"\t{name}{columns.get(scheme, '')}" if name else "") + "\n"
                           for row, (line, function, name) in enumerate(sites))
            text += f'<sites unit="{self.unit}" scheme="{scheme}">\n{rows}</sites>\n'
        return text


class Run:
    """What a run counted: {scheme: rows of counters}; of bounds: (least, greatest), or None."""

    def __init__(self, build, seed):
        draw = random.Random(seed)
        self.build, self.counts, self.times = build, {}, {}
        self.failed = draw.random() < 0.3
        for scheme, sites in build.sites.items():
            if scheme == "bounds":
                self.counts[scheme] = [self.range(draw, name) for _, _, name in sites]
                continue
            self.counts[scheme] = [[draw.choice((0, 0, 0, 1, 3)) for _ in range(COUNTERS[scheme])] for _ in sites]
            self.times[scheme] = [draw.randrange(1, 900) if any(row) else 0 for row in self.counts[scheme]]
        # What causes the failure: in three of four runs one branch, in the others another one; and a large number.
        first = draw.random() < 0.75
        self.decide(build, ("save", "size"), self.failed and first)
        self.decide(build, ("load", "count"), self.failed and not first)
        large = draw.randrange(70, 90) if self.failed else draw.randrange(10, 65)
        self.counts["bounds"][self.row(build, "bounds", ("save", "size"))] = (-4, large)

    @staticmethod
    def row(build, scheme, statement):
        (row,) = [row for row, (_, *site) in enumerate(build.sites[scheme]) if tuple(site) == statement]
        return row

    def decide(self, build, statement, truth):
        row = self.row(build, "branches", statement)
        self.counts["branches"][row] = [1, int(truth)]
        self.times["branches"][row] = 5

    @staticmethod
    def range(draw, name):
        if draw.random() < 0.4:
            return None
        least = draw.randrange(-50, 50)
        return least, least + draw.randrange(0, 50)

    def report(self):
        text = '<report id="samples">\n'
        for scheme, rows in self.counts.items():
            if scheme == "bounds":
                lines = "".join(f"{row[0]}\t{row[1]}\n" if row else "2147483647\t-2147483648\n" for row in rows)
            else:
                lines = "".join("\t".join(map(str, row)) + "\n" for row in rows)
            text += f'<samples unit="{self.build.unit}" scheme="{scheme}">\n{lines}</samples>\n'
        for scheme, rows in self.times.items():
            lines = "".join(f"{time}\n" for time in rows)
            text += f'<timestamps unit="{self.build.unit}" scheme="{scheme}" when="first">\n{lines}</timestamps>\n'
        return text + "</report>\n"


class HeaderBuild:
    """A build whose files include a header. The newer build has one file more, before the others, and the header's lines are above."""

    def __init__(self, name):
        self.name, self.build = name, BUILDS[name]
        self.files = {"new": ("c.c", "a.c", "b.c"), "old": ("a.c", "b.c")}[name]
        self.line = {"new": 5, "old": 7}[name]

    def units(self):
        return [(f"{number:031x}{self.name[0] == 'o':x}", file) for number, file in enumerate(self.files, 1)]

    def table(self):
        return "".join(f'<sites unit="{unit}" scheme="branches">\nutil.h\t{self.line}\tcheck\t1\tfull\n{file}\t30\tuse\t1\tready\n</sites>\n'
                       for unit, file in self.units())

    def report(self, number, failed):
        """In failing runs, and in no others, what a.c includes of the header was true. What the others include is true at random."""
        draw = random.Random(number)
        sections = "".join(f'<samples unit="{unit}" scheme="branches">\n1\t{int(failed if file == "a.c" else draw.random() < 0.5)}\n1\t1\n</samples>\n'
                           for unit, file in self.units())
        return f'<report id="samples">\n{sections}</report>\n'


def make_header_study(folder, builds, runs):
    """Runs of these builds, in turn; one of three fails."""
    rows = []
    (folder / "reports").mkdir(parents=True)
    (folder / "sites").mkdir()
    for number in range(1, runs + 1):
        build, failed = builds[number % len(builds)], number % 3 == 0
        fields = (number, "failed" if failed else "passed", "status", int(failed), "", "0.1",
                  f"2026-11-23T0{2 if build.name == 'new' else 1}:{number // 60:02}:{number % 60:02}Z", build.build, 1, number, "./made")
        rows.append("\t".join(map(str, fields)) + "\n")
        (folder / f"reports/{number}.report").write_text(build.report(number, failed))
    (folder / "runs.tsv").write_text(f"# telltale study 1\n{HEAD}\n" + "".join(rows))
    for build in builds:
        (folder / f"sites/{build.build}.sites").write_text(build.table())


def make_study(folder, builds, runs, schemes=None):
    """Runs of these builds, in turn; the newer build starts later. Returns the runs. `schemes`: only these."""
    made = []
    for number in range(1, runs + 1):
        made.append(Run(builds[number % len(builds)], number))
    for build in builds:
        for scheme in [scheme for scheme in build.sites if schemes and scheme not in schemes]:
            del build.sites[scheme]
    (folder / "reports").mkdir(parents=True)
    (folder / "sites").mkdir()
    rows = []
    for number, run in enumerate(made, 1):
        for counts in (run.counts, run.times):
            for scheme in [scheme for scheme in counts if schemes and scheme not in schemes]:
                del counts[scheme]
        hour = 2 if run.build.name == "new" else 1
        fields = (number, "failed" if run.failed else "passed", "status", int(run.failed), "", "0.1", f"2026-11-23T{hour:02}:{number // 60:02}:{number % 60:02}Z",
                  run.build.build, 1, number, "./made")
        rows.append("\t".join(map(str, fields)) + "\n")
        (folder / f"reports/{number}.report").write_text(run.report())
    (folder / "runs.tsv").write_text(f"# telltale study 1\n{HEAD}\n" + "".join(rows))
    for build in builds:
        (folder / f"sites/{build.build}.sites").write_text(build.table())
    return made
