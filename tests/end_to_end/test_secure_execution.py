"""Programs with more privileges than their caller, setuid or with file capabilities: no linked or preloaded library may
use the caller's environment."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"])
CLANG = next((name for name in ("clang++-22", "clang++-19") if shutil.which(name)), None)
CALLER = "nobody"

# Every variable of the runtimes, with a value whose use is detectable, and the other variables that it needs.
# test_no_variable_is_forgotten compares this list with the sources.
VARIABLES = {
    "SAMPLER_EVENT_COUNTDOWNS": ("{place}/victim", {}),
    "SAMPLER_APPEND": ("1", {"SAMPLER_FILE": "{place}/victim"}),
    "SAMPLER_FILE": ("{place}/victim", {}),
    "SAMPLER_REPORT_FD": ("1", {}),
    "SAMPLER_RATES": ("wrong rates", {}),
    "SAMPLER_SEED": ("7", {"SAMPLER_SPARSITY": "1"}),
    "SAMPLER_SPARSITY": ("is not a number", {}),
    "SAMPLER_TRACE": ("{place}/trace", {}),
    "SAMPLER_VERBOSE": ("1", {}),
    "TELLTALE_PATHS": ("{place}/paths", {"TELLTALE_PATHS_AT_EXIT": "1"}),
    "TELLTALE_PATHS_AT_EXIT": ("1", {"TELLTALE_PATHS": "{place}/paths"}),
    "HOME": ("{place}", {"TELLTALE_COLLECT": "{place}", "SAMPLER_SPARSITY": "1"}),
    "XDG_CONFIG_HOME": ("{place}", {"TELLTALE_COLLECT": "{place}", "SAMPLER_SPARSITY": "1"}),
    "TELLTALE_COLLECT": ("{place}", {}),
    # Nobody has said no in a home that can be searched.
    "TELLTALE_COLLECT_PATHS": ("1", {"TELLTALE_COLLECT": "{place}", "TELLTALE_PATHS_AT_EXIT": "1", "HOME": "{place}"}),
    "TELLTALE_STACKTRACK": ("path={place}/stream.tlg", {}),
    "TELLTALE_XRAY": ("file={place}/trace.xray", {}),
}

PROGRAM = (SOURCE / "tests/programs/recorders/secure.cc").read_text()


def sampler(*words):
    return [BUILD / "bin/telltale-c++", "-O1", "-ftrace-sites", "-fsampler-scheme=function-entries", *words]


def commands(place):
    """Runtime and kind of library -> (beginnings of its variables, command that compiles source.cc with it)."""
    libraries = {"xray": BUILD / "runtime/xray", "stacktrack": BUILD / "runtime/stacktrack", "sampler": BUILD / "lib"}
    rpath = f"-Wl,-rpath,{place}"
    for folder in libraries.values():
        for library in folder.glob("libtelltale_*.so*"):
            shutil.copy(library, place, follow_symlinks=True)
    functions = ["g++", "-O1", "-finstrument-functions", "-finstrument-functions-exclude-file-list=/usr,/c++/"]
    checkpoints = ["g++", "-std=c++17", "-O1", "-DSTACKTRACK", f"-I{SOURCE}/include", "-pthread"]
    found = {
        "XRay recorder, hooks, shared": ("TELLTALE_XRAY", functions, [f"-L{place}", "-Wl,--no-as-needed", "-ltelltale_xray", rpath]),
        "StackTrack recorder, static": ("TELLTALE_STACKTRACK", checkpoints, [libraries["stacktrack"] / "libtelltale_stacktrack.a"]),
        "StackTrack recorder, shared": ("TELLTALE_STACKTRACK", [*checkpoints, "-DTELLTALE_STACKTRACK_OUT_OF_LINE"],
                                        [f"-L{place}", "-l:libtelltale_stacktrack.so", rpath]),
    }
    if CLANG:
        found["XRay recorder, sleds, static"] = (
            "TELLTALE_XRAY", [CLANG, "-O1", "-fxray-instrument", "-fxray-instruction-threshold=1", "-fno-xray-link-deps", "-pthread"],
            ["-Wl,-u,telltale_xray_start", libraries["xray"] / "libtelltale_xray.a"])
    if list((BUILD / "lib/telltale").glob("telltale-sampler-clang-*.so")):
        found["Sampler runtime"] = (("SAMPLER_", "TELLTALE_COLLECT", "HOME", "XDG_"), sampler(), [rpath])
        found["crash handler of traced programs"] = ("TELLTALE_PATHS", [BUILD / "bin/telltale-c++", "-O1", "--trace=pt.schema", "-silent"], [])
        found["both in one program"] = ("TELLTALE_COLLECT", sampler("--trace=pt.schema", "-silent"), [rpath])
    return found


class SecureExecutionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if "TELLTALE_SANITIZE:STRING=\n" not in (BUILD / "CMakeCache.txt").read_text():
            raise unittest.SkipTest("sanitizers obey an environment of their own")
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can make programs of root's that others may run")
        cls.keeper = tempfile.TemporaryDirectory(prefix="telltale-secure-")
        cls.addClassCleanup(cls.keeper.cleanup)
        cls.folder = pathlib.Path(cls.keeper.name)
        cls.folder.chmod(0o755)
        (cls.folder / "source.cc").write_text(PROGRAM)
        cls.programs = {}
        for index, (name, (prefix, compile_, after)) in enumerate(commands(cls.folder).items()):
            program = cls.folder / f"program{index}"
            words = [*compile_, cls.folder / "source.cc", "-o", program, *after]
            subprocess.run([str(word) for word in words], check=True, timeout=300)
            cls.programs[name] = (prefix, program)

    def secured(self, program, how):
        """A copy of the program that gains privileges when other users run it."""
        copy = program.with_name(f"{program.name}-{how}")
        if not copy.exists():
            shutil.copy(program, copy)
            copy.chmod(0o4755 if how == "setuid" else 0o755)
            if how == "capabilities":
                if not shutil.which("setcap"):
                    self.skipTest("setcap is not installed")
                done = subprocess.run(["setcap", "cap_net_bind_service+ep", copy], capture_output=True, text=True)
                if done.returncode != 0:
                    self.skipTest(f"file capabilities cannot be set here: {done.stderr.strip()}")
        return copy

    def effects(self, program, variables):
        """The observable effects of a run by another user: output, files, system calls that name or write one, and random numbers."""
        place = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        place.chmod(0o777)
        (place / "victim").write_text("root's own\n")
        (place / "victim").chmod(0o600)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SAMPLER_", "TELLTALE_"))}
        given = [f"-E{name}={value.format(place=place)}" for name, value in variables.items()]
        log = self.folder / "strace.txt"
        trace = ["strace", "-f", "-qq", "-u", CALLER, "-o", log, "-e", "trace=%file,%network,write,writev,pwrite64,pwritev,getrandom"]
        done = subprocess.run([*trace, *given, program], env=environment, cwd=place, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = [re.sub(r"^\d+ +", "", line) for line in log.read_text().splitlines() if " execve(" not in line]
        calls = [re.sub(r"\b0x[0-9a-f]{5,}", "ADDRESS", line.replace(str(place), "PLACE")) for line in calls]
        calls = [re.sub(r'^getrandom\("[^"]*"', "getrandom(BYTES", call) for call in calls]
        left = sorted(path.name for path in place.iterdir())
        if "secure 1" in done.stdout:
            self.assertEqual((place / "victim").read_text(), "root's own\n")
        shutil.rmtree(place)
        return done.stdout, done.stderr, left, calls

    def check(self, how):
        for name, (prefix, program) in self.programs.items():
            secured = self.secured(program, how)
            base = self.effects(secured, {})
            if "secure 1" not in base[0]:
                self.skipTest(f"programs gain no rights here: {self.folder} is mounted nosuid, or strace gives none")
            self.assertIn("handed on:\n", base[0])
            ours = {key: value for key, value in VARIABLES.items() if key.startswith(prefix)}
            self.assertTrue(ours)
            for variable, (value, beside) in ours.items():
                with self.subTest(program=name, variable=variable):
                    self.assertEqual(self.effects(secured, {**beside, variable: value}), base)
            with self.subTest(program=name, variable="all"):
                self.assertEqual(self.effects(secured, {key: value for key, (value, _) in ours.items()}), base)

    def test_setuid(self):
        self.check("setuid")

    def test_file_capabilities(self):
        self.check("capabilities")

    def test_without_gained_rights_each_variable_is_obeyed(self):
        """Proves that the tests above can fail."""
        for name, (prefix, program) in self.programs.items():
            for variable, (value, beside) in VARIABLES.items():
                if variable.startswith(prefix):
                    with self.subTest(program=name, variable=variable):
                        self.assertNotEqual(self.effects(program, {**beside, variable: value}), self.effects(program, beside))

    def test_what_is_preloaded_into_a_setuid_program(self):
        """The dynamic linker ignores it; where it does not, the recorder itself does."""
        (self.folder / "plain.cc").write_text(PROGRAM)
        program = self.folder / "plain"
        subprocess.run(["g++", "-O1", "-finstrument-functions", self.folder / "plain.cc", "-o", program], check=True, timeout=120)
        preload = {"LD_PRELOAD": str(self.folder / "libtelltale_xray.so"), "TELLTALE_XRAY": "file={place}/trace.xray"}
        self.assertIn("trace.xray", self.effects(program, preload)[2])
        secured = self.secured(program, "setuid")
        if "secure 1" not in self.effects(secured, {})[0]:
            self.skipTest("programs gain no rights here")
        self.assertEqual(self.effects(secured, preload)[2], ["victim"])

    def test_a_setuid_program_does_not_write_over_roots_file(self):
        """Without a tracer, as a user would run it."""
        name = next((name for name in self.programs if name.startswith("Sampler")), None)
        if name is None:
            self.skipTest("no plugin was built")
        place = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        target = place / "target"
        target.write_text("root's own\n")
        target.chmod(0o600)
        place.chmod(0o755)
        done = subprocess.run([self.secured(self.programs[name][1], "setuid")], env={"SAMPLER_FILE": str(target), "SAMPLER_SPARSITY": "1"},
                              user=CALLER, group="nogroup", extra_groups=[], capture_output=True, text=True, timeout=60)
        if "secure 1" not in done.stdout:
            self.skipTest("programs gain no rights here")
        self.assertEqual(target.read_text(), "root's own\n")


class SourcesTest(unittest.TestCase):
    def sources(self):
        return {path.relative_to(SOURCE): path.read_text() for path in sorted((SOURCE / "runtime").rglob("*"))
                if path.suffix in (".cc", ".h") and not path.name.endswith("_test.cc")}

    def test_no_variable_is_forgotten(self):
        named = set()
        for text in self.sources().values():
            named.update(re.findall(r'"((?:SAMPLER|TELLTALE)_[A-Z0-9_]+)"', text))
            named.update(re.findall(r'getenv\(\s*"(\w+)"', text))
            named.update(re.findall(r'trusted_variable\(\s*"(\w+)"', text))
        self.assertEqual(named, set(VARIABLES), "a variable of a runtime has to be tried in this file")

    def test_the_environment_is_read_by_secure_getenv_alone(self):
        for path, text in self.sources().items():
            code = re.sub(r"//.*", "", text)
            with self.subTest(path=str(path)):
                self.assertIsNone(re.search(r"(?<!secure_)\bgetenv\s*\(", code.replace("secure_getenv", "SECURE")))
                self.assertIsNone(re.search(r"\b(__)?environ\b|/proc/\w+/environ", code))


if __name__ == "__main__":
    unittest.main()
