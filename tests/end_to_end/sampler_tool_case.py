"""Programs with static information, made with plain clang and objcopy (their readers do not depend on the
instrumentation), and the documented tools and verbs of telltale run on them."""

import os
import shutil
import subprocess
import tempfile
import unittest

from program_text import program_text
from xray_recorder import CLANGS, SOURCE_DIR, TELLTALE

GOLDEN = os.path.join(SOURCE_DIR, "tests/golden/sampler")
PROGRAMS = os.path.join(SOURCE_DIR, "tests/programs/sampler/cases")
LIBEXEC = os.path.join(os.path.dirname(os.path.dirname(TELLTALE)), "libexec/telltale")
TOOLS = ("extract-section", "extract-report", "resolveSamples", "resolveTimestamps", "resolve-backtrace", "resolve-cfg",
         "decimate-samples", "precompute", "find-sampler-info")
CLANG = "clang-" + CLANGS[0]
UNIT = "0123456789abcdef0123456789abcdef"


def read(name, mode="r", folder=GOLDEN):
    with open(os.path.join(folder, name), mode) as file:
        return file.read()


class SamplerToolCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="telltale-sampler-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.build_programs()

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    @classmethod
    def write(cls, name, content):
        with open(cls.path(name), "wb" if isinstance(content, bytes) else "w") as file:
            file.write(content)
        return cls.path(name)

    @classmethod
    def sh(cls, *words):
        subprocess.run(words, check=True, cwd=cls.folder, stdout=subprocess.DEVNULL, timeout=60)

    @classmethod
    def build_programs(cls):
        """myapp, myplugin.so and libmylib.so of the text's example, with one unit of sites each."""
        cls.write("empty.c", program_text("sampler/cases/unit.c"))
        cls.write("main.c", program_text("sampler/cases/empty_main.c"))
        for name, source in (("one", "empty.c"), ("two", "empty.c"), ("three", "empty.c"), ("main", "main.c")):
            cls.sh(CLANG, "-g", "-fPIC", f"-DUNIT=unit_{name}", "-c", source, "-o", name + ".o")
        cls.units = {}
        for number, name in enumerate(("main", "one", "two", "three")):
            unit = f"{number:032x}"
            cls.units[name] = unit
            sites = (f'<sites unit="{unit}" scheme="branches">\n{name}.c\t4\tmain\t3\tvalue\n</sites>\n'
                     f'<sites unit="{unit}" scheme="returns">\n{name}.c\t5\tmain\t7\tfive\n{name}.c\t6\tmain\t9\t*f\n</sites>\n')
            # Odd numbers of padding zeros, as linkers leave them.
            cls.write(name + ".sites.bin", sites.encode() + b"\0" * (number * 3))
            cls.write(name + ".cfg.bin", f"*\t0.1\n{name}.c\n{unit}\n+\t{name}_main\t{name}.c\t3\n{name}.c\t4\n\none_main\tputs\t\n\n\n")
            cls.sh("objcopy", "--add-section", f".debug_site_info={name}.sites.bin", "--add-section",
                   f".debug_sampler_cfg={name}.cfg.bin", name + ".o")
        cls.sh(CLANG, "-o", "myapp", "main.o", "one.o")
        cls.sh(CLANG, "-shared", "-o", "myplugin.so", "two.o")
        cls.sh(CLANG, "-shared", "-o", "libmylib.so", "three.o")
        cls.sh("ar", "rcs", "libunits.a", "one.o", "two.o")

    def tool(self, name, *words, stdin="", status=0):
        done = subprocess.run([os.path.join(LIBEXEC, name), *words], input=stdin if isinstance(stdin, bytes) else stdin.encode(),
                              capture_output=True, cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, status, (name, words, done.stderr.decode()))
        self.stderr = done.stderr.decode()
        return done.stdout.decode()

    def telltale(self, *words, status=0, stdin=b""):
        done = subprocess.run([TELLTALE, *words], input=stdin, capture_output=True, cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, status, (words, done.stderr.decode()))
        self.stderr = done.stderr.decode()
        return done.stdout.decode()

    def samples(self, name, branches, returns):
        unit = self.units[name]
        return (f'<report id="samples">\n<samples unit="{unit}" scheme="branches">\n{branches}</samples>\n'
                f'<samples unit="{unit}" scheme="returns">\n{returns}</samples>\n</report>\n')
