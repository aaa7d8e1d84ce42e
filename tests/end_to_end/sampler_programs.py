"""Builds programs with telltale-cc, and reads their site tables and reports without telltale's code."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

SOURCE_DIR = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"])
BINARY_DIR = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"])
PROGRAMS = SOURCE_DIR / "tests/programs/sampler"
PLUGINS = BINARY_DIR / "lib/telltale"
RELEASES = [r for r in ("19", "22") if (PLUGINS / f"telltale-sampler-clang-{r}.so").is_file()]
SCHEMES = ("scalar-pairs", "coverage", "branches", "bounds", "function-entries", "returns", "float-kinds",
           "g-object-unref", "fun-reentries")
CONCURRENT = tuple(f"-fsampler-scheme={name}" for name in ("data", "yields", "atoms", "atoms-rw", "compare-swap"))
ALL = tuple(f"-fsampler-scheme={name}" for name in SCHEMES)
TIMEOUT = 60

# Shells start jobs in the background with these signals ignored, as nohup does, and programs would inherit that.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def run(*command, env=None, **options):
    merged = {key: value for key, value in os.environ.items() if not key.startswith("SAMPLER_")}
    merged.update(env or {})
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=TIMEOUT,
                          env=merged, **options)


def driver(source):
    return BINARY_DIR / "bin" / ("telltale-c++" if str(source).endswith(".cc") else "telltale-cc")


def compile_with(release, *words, cxx=False, **options):
    name = "telltale-c++" if cxx else "telltale-cc"
    return run(BINARY_DIR / "bin" / name, *words, env={"TELLTALE_CLANG_RELEASE": release}, **options)


def other_warnings(done):
    """What the compiler printed, without warnings about filtered schemes."""
    return "".join(line + "\n" for line in done.stderr.splitlines() if "filtered scheme" not in line)


def build(output, release, *words, cxx=False, **options):
    done = compile_with(release, *words, "-o", output, cxx=cxx, **options)
    if done.returncode != 0:
        raise AssertionError(done.stderr[:4000])
    return output


def section(file, name):
    """The bytes of an ELF section, or None."""
    with tempfile.NamedTemporaryFile() as out:
        done = run("objcopy", "--dump-section", f"{name}={out.name}", file, "/dev/null")
        return out.read() or None if done.returncode == 0 else None


def tables(text, tag):
    """(unit, scheme) -> lists of columns, from <tag unit= scheme=>...</tag>; repeated sections stand one after another."""
    found = []
    head = re.compile(rf'<{tag} unit="([0-9a-f]{{32}})" scheme="([a-z-]+)"(?: when="(\w+)")?>')
    rows = None
    for line in text.splitlines():
        match = head.fullmatch(line)
        if match:
            rows = []
            found.append((match.groups(), rows))
        elif line == f"</{tag}>":
            rows = None
        elif rows is not None:
            rows.append(line.split("\t"))
    return found


def site_tables(*files):
    text = "".join(section(file, ".debug_site_info").replace(b"\0", b"").decode() for file in files)
    return {key[:2]: rows for key, rows in tables(text, "sites")}


def samples(report):
    return [(key[:2], rows) for key, rows in tables(pathlib.Path(report).read_text(), "samples")]


def resolved(report, *files):
    """Lines "scheme file line function columns... counters...", without folders and node numbers, sorted."""
    sites = site_tables(*files)
    lines = []
    for key, counters in samples(report):
        rows = sites[key]
        if len(rows) != len(counters):
            raise AssertionError(f"{key}: {len(rows)} sites, {len(counters)} lines of counters")
        for site, counts in zip(rows, counters):
            place = [os.path.basename(site[0]), site[1].rjust(3), site[2], *site[4:]]
            lines.append("\t".join([key[1], *place, *counts]))
    return sorted(lines)


class SamplerCase(unittest.TestCase):
    """A folder of its own, and plugins that can be loaded."""

    def setUp(self):
        if "TELLTALE_SANITIZE:STRING=\n" not in (BINARY_DIR / "CMakeCache.txt").read_text():
            self.skipTest("compilers do not load plugins with sanitizers")
        self.assertTrue(RELEASES, "no plugin was built")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.report = self.folder / "report.txt"

    def path(self, name):
        return self.folder / name

    def run_reported(self, program, *arguments, **environment):
        self.report.unlink(missing_ok=True)
        return run(program, *arguments, env={"SAMPLER_FILE": str(self.report), **environment}, cwd=self.folder)

    def subreports(self):
        return re.findall(r'<report id="([^"]+)">\n(.*?)</report>\n', self.report.read_text(), re.S)
