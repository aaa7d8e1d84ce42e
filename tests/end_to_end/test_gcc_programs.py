"""The programs of GCC's test suite that run: built with path tracing, coverage and the Sampler, each ends as without, and what coverage says
for certain of its lines is that of an unoptimised build. TELLTALE_LONG=1: from Debian's package gcc-12-source; TELLTALE_GCC_PROGRAMS="FIRST
COUNT" chooses some (default: 0 300), in an order that mixes C and C++."""
import os
import pathlib
import random
import re
import shutil
import subprocess
import unittest

from certain_lines import EXACT, builds, printed_and_lines, wrong_lines
from sampler_programs import BINARY_DIR, RELEASES, SamplerCase, build, run

FOLDER = BINARY_DIR / "gcc-programs"
PACKAGE = "gcc-12-source"
FOLDERS = ("gcc.c-torture/execute", "gcc.dg", "g++.dg", "g++.old-deja")
FIRST, COUNT = map(int, os.environ.get("TELLTALE_GCC_PROGRAMS", "0 300").split())
MINUTES = 60
# Programs that say what optimisation finds out, where code and variables are, or which floating-point operations raised exceptions;
# instrumentation changes that.
SAYS_MORE = re.compile(r"__OPTIMIZE__|__builtin_constant_p|link_error|%p|%x|0x%|backtrace|return_address|fetestexcept")
# They read variables without values, loop without an end or an effect, or define a function of the library, which clang computes itself.
UNDEFINED = {"eh990323-1.C", "matrix-6.c", "pr71762-1.c", "pr78185.c", "20010114-2.c"}
# Options that change the language; the others choose what GCC does.
OPTION = re.compile(r"-std=\S+|-D\S+|-pthread|-fno-exceptions|-fno-rtti|-fwrapv|-fgnu89-inline|-funsigned-char|-fsigned-char|-fshort-enums")


def unpacked():
    folder = FOLDER / "suite"
    if not folder.exists():
        FOLDER.mkdir(exist_ok=True)
        subprocess.run(["apt-get", "-oAPT::Sandbox::User=root", "download", PACKAGE], cwd=FOLDER, check=True, capture_output=True, timeout=MINUTES * 60)
        (package,) = FOLDER.glob(f"{PACKAGE}_*.deb")
        subprocess.run(["dpkg-deb", "-x", package, FOLDER / "package"], check=True)
        (archive,) = FOLDER.glob("package/usr/src/gcc-12/gcc-*.tar.xz")
        (FOLDER / "part").mkdir(exist_ok=True)
        subprocess.run(["tar", "xf", archive, "-C", FOLDER / "part", "--strip-components=3", "--wildcards",
                        *(f"*/gcc/testsuite/{name}/*" for name in FOLDERS)], check=True)
        shutil.rmtree(FOLDER / "package")
        (FOLDER / "part").rename(folder)
    return folder


def programs():
    folder = unpacked()
    sources = sorted(folder.rglob("*.c")) + sorted(folder.rglob("*.C"))
    found = [path for path in sources if "execute" in path.parts or "dg-do run" in path.read_text(errors="replace")]
    found = [path for path in found if path.name not in UNDEFINED and not SAYS_MORE.search(path.read_text(errors="replace"))]
    random.Random(1).shuffle(found)
    return [(path, path.relative_to(folder)) for path in found[FIRST:FIRST + COUNT]]


def is_brace(place):
    """Unoptimised functions may have code for a brace only where an exception passes, or a destructor also frees the object."""
    file, line = place
    text = pathlib.Path(file).read_text(errors="replace").splitlines()[line - 1]
    return text.strip() in ("{", "}") or re.search(r"~.*\{$", text.rstrip()) is not None


def language(path):
    text = path.read_text(errors="replace")
    words = OPTION.findall(" ".join(re.findall(r'dg-(?:additional-)?options\s+"([^"]*)"', text)))
    if not any(word.startswith("-std") for word in words):
        new = "c++20" in text or "coroutine" in text
        words.append("-std=gnu11" if path.suffix == ".c" else "-std=c++20" if new else "-std=c++17")
    return [*words, "-w", "-lm", f"-I{path.parent}", *(["-x", "c++"] if path.suffix == ".C" else [])]


@unittest.skipUnless(os.environ.get("TELLTALE_LONG"), "takes an hour, and fetches 83 MB; TELLTALE_LONG=1 runs it")
class GccPrograms(SamplerCase):
    def ends_well(self, path, words, release):
        """Whether the program works with clang alone."""
        plain = self.path("plain")
        compiler = ("clang++-" if path.suffix == ".C" else "clang-") + release
        try:
            return run(compiler, *words, path, "-o", plain).returncode == 0 and run(plain, cwd=self.folder).returncode == 0
        except (subprocess.TimeoutExpired, UnicodeDecodeError):
            return False

    def lines(self, path, words, release, **environment):
        program = build(self.path("program"), release, "-silent", "-g", *words, path, cxx=path.suffix == ".C")
        return printed_and_lines(program, self.folder, **environment)

    def test_they_end_as_without_and_certain_lines_are_right(self):
        used = 0
        for path, name in programs():
            choice = random.Random(str(name))
            words, release = choice.choice(list(builds(RELEASES)))
            base = language(path)
            if not all(self.ends_well(path, [*base, level], release) for level in {"-O0", words[1]}):
                continue
            with self.subTest(program=str(name), words=words, release=release):
                printed, exact = self.lines(path, [*base, *EXACT], release)
                for sparsity in choice.sample(("1", "10", "1000"), 2):
                    again, lines = self.lines(path, [*base, *words], release, SAMPLER_SPARSITY=sparsity)
                    self.assertEqual(again, printed)
                    wrong = wrong_lines(lines, exact)
                    self.assertEqual({place: ran for place, ran in wrong.items() if ran == "no" or not is_brace(place)}, {})
                used += 1
        self.assertGreater(used, COUNT // 3)


if __name__ == "__main__":
    unittest.main()
