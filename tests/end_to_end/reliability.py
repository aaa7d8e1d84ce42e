"""Shared by the tests of the reliability goals."""
import os
import re
import resource
import subprocess
import tempfile
import unittest

import slow_xray
from slow_xray import ENTER, EXIT
from xray_recorder import CLANGS, TELLTALE, telltale

MIB = 1 << 20
BIN = os.path.dirname(TELLTALE)
STATUSES = {0, 1, 2, 3, 4}
CONTROL = set(range(32)) - {10} | {127}


def export_formats():
    """The names that `convert --to` accepts."""
    text = telltale("convert", "--help").stdout.decode()
    names = re.findall(r"(?m)^  ([a-z0-9-]+) ", text[text.index("Formats:") :])
    # The recordings here are XRay's; other systems' formats do not apply.
    return [name for name in names if not name.startswith(("mono", "stacktrack", "sampler", "lcov"))]


def verbs():
    text = telltale("--help").stdout.decode()
    return re.findall(r"(?m)^  ([a-z]+) ", text[: text.index("Options:")])


def reading_commands(folder):
    """Every way of reading a recording in this telltale; "@" is replaced by the file. Outputs are files in folder."""
    have = verbs()
    commands = [["info", "@"], ["info", "--json", "@"], ["top", "@"], ["top", "--json", "--exact", "@"],
                ["top", "--by-thread", "--csv", "@"]]
    output = os.path.join(folder, "out")
    for verb in ("dump", "check", "stacks", "graph", "report"):
        if verb in have:
            commands.append([verb, "@"])
    if "flame" in have:
        commands += [["flame", "-o", output + ".html", "@"], ["flame", "-o", output + ".svg", "@"]]
    if "dump" in have:
        commands += [["dump", "--json", "@"], ["dump", "--depth", "1", "@"], ["check", "--time", "1us..1s", "@"],
                     ["info", "--function", "*", "--depth", "2", "@"], ["flame", "--json", "-o", output + ".flame.json", "@"]]
    if "diff" in have:
        commands.append(["diff", "@", "@"])
    if "convert" in have:
        commands += [["convert", "--to", name, "-o", f"{output}.{name}", "@"] for name in export_formats()]
    return commands


class Case(unittest.TestCase):
    """A folder with recordings of every kind, and ways to run telltale within limits."""

    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.keeper = tempfile.TemporaryDirectory(prefix="telltale-reliability-")
        cls.folder = cls.keeper.name
        cls.samples = os.path.join(cls.folder, "samples")
        os.mkdir(cls.samples)
        subprocess.run([os.path.join(BIN, "write_samples"), cls.samples], check=True)
        cls.sample_files = [os.path.join(cls.samples, name) for name in sorted(os.listdir(cls.samples))]

    @classmethod
    def tearDownClass(cls):
        cls.keeper.cleanup()

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def run_limited(self, words, path, address_space=None, private_memory=None, stack=None):
        """(exit status, standard error). private_memory limits heap and thread stacks, not mapped files."""

        def limit():
            for what, value in ((resource.RLIMIT_AS, address_space), (resource.RLIMIT_DATA, private_memory),
                                (resource.RLIMIT_STACK, stack)):
                if value:
                    resource.setrlimit(what, (value, value))

        done = subprocess.run([TELLTALE, *(path if word == "@" else word for word in words)], preexec_fn=limit,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300)
        return done.returncode, done.stderr.decode(errors="replace")

    def instructions(self, words, path):
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", TELLTALE,
             *(path if word == "@" else word for word in words)],
            capture_output=True, text=True, timeout=300)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return int(done.stderr.split("Collected :")[1].split()[0])

    NAMES = [
        "../../../../../../tmp/telltale-evil", "/tmp/telltale-evil", "</script><script>alert(1)</script>", "]]>",
        "=1+1", "+1", "@SUM(A1)", "-2", 'a"b,c', "it's; {rank=same}", "\x1b]0;owned\x07\x1b[31m", "line\nbreak",
        "tab\there", "\u202ertl", "%s%n%p", "&amp;<b>", "..", "CON", "x" * 5000, "fn=(1) a\ncalls=9", "a;b 3",
    ]

    def hostile_program(self):
        """A program whose functions have these names, and a trace that calls each once."""
        self.assertTrue(CLANGS, "clang is needed")
        source = []  # generated: a function for each name
        for index, name in enumerate(self.NAMES):
            escaped = "".join("\\%03o" % byte for byte in name.encode())
            source.append('extern "C" [[clang::xray_always_instrument, gnu::used]] void f%d() __asm__("%s");\n'
                          'void f%d() {}\n' % (index, escaped, index))
        path = self.write("names.cc", ("".join(source) + "int main() {}\n").encode())
        program = os.path.join(self.folder, "names")
        subprocess.run(["clang++-" + CLANGS[0], "-O1", "-fxray-instrument", "-fxray-instruction-threshold=100000",
                        path, "-o", program], check=True, timeout=60)
        writer = slow_xray.Writer(5)
        writer.buffer(1, 1, 0, 1)
        for index in range(len(self.NAMES)):
            writer.function(ENTER, index + 1, 1)
            writer.custom("\x1b]0;owned\x07</script>=1".encode() + b"\xff", 0, 1)
            writer.function(EXIT, index + 1, index + 1)
        return program, self.write("names.fdr", writer.bytes())
