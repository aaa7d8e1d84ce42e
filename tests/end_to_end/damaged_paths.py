"""Path files, core files, minidumps and programs that are cut or damaged, with every verb that reads them and every form of its
answer, under sanitizers (TELLTALE is the program of the build `fuzz`). What is damaged is reported, and nothing crashes."""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

from core_files import crash
from path_sections import elf_sections
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run

TELLTALE = os.environ["TELLTALE"]
PROGRAM = SOURCE_DIR / "tests/programs/csi/two_threads.cc"
LLDB = shutil.which("lldb-19") or shutil.which("lldb")
NUMBERS = (0, 1, 2**31 - 1, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1)
HEADERS = 6000  # bytes of a core file: headers and notes come first


def damage(data, begin, end, chosen):
    """Changes a bit, a byte or a number of data[begin:end], or copies a part of it."""
    at = chosen.randrange(begin, end)
    how = chosen.randrange(5)
    if how == 0:
        data[at] ^= 1 << chosen.randrange(8)
    elif how == 1:
        data[at] = chosen.randrange(256)
    elif how == 2:
        width = min(chosen.choice((2, 4, 8)), end - at)
        data[at:at + width] = (chosen.choice(NUMBERS) % 256**width).to_bytes(width, "little")
    elif how == 3:
        width = min(chosen.choice((4, 8)), end - at)
        number = int.from_bytes(data[at:at + width], "little") + chosen.choice((-8, -1, 1, 8, 4096))
        data[at:at + width] = (number % 256**width).to_bytes(width, "little")
    else:
        source = chosen.randrange(begin, end)
        size = min(chosen.randrange(1, 200), end - at, end - source)
        data[at:at + size] = data[source:source + size]


def damage_digit(data, begin, end, chosen):
    """Most of the records are text, of which numbers are the interesting part."""
    at = chosen.randrange(begin, end)
    digit = re.search(rb"[0-9]", bytes(data[at:end]))
    if digit:
        data[at + digit.start()] = chosen.randrange(ord("0"), ord("9") + 1)


class DamagedPaths(SamplerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        made = pathlib.Path(folder.name)
        cls.inputs = []  # (file, its program)
        for release, level in ((RELEASES[0], "-O0"), (RELEASES[-1], "-O2")):
            program = build(made / ("program" + level), release, "--trace=all.schema", "-silent", level, "-pthread", PROGRAM, cxx=True)
            file = made / ("paths" + level)
            core = crash(made / ("core" + level), program, env={"TELLTALE_PATHS": str(file)})
            cls.inputs += [(file, program), (core, program)]
            if LLDB:
                dump = made / ("dump" + level)
                subprocess.run([LLDB, "--no-lldbinit", "-b", "-o", "run", "-k", f"process save-core --plugin-name=minidump --style=stack {dump}",
                                program], capture_output=True, timeout=120, check=False)
                cls.inputs.append((dump, program))

    def answers(self, file, program):
        """Command lines, each of which has a whole answer."""
        page = self.path("page.html")
        of_program = (file, "--program", program)
        for words in ((), ("--json",), ("--slice",), ("--html", "--force", "-o", page), ("--strict",), ("--system-headers", "--rows", "2"),
                      ("--function", "*careful*", "--thread", "0")):
            yield "paths", *of_program, *words
        for words in ((), ("--json",), ("--to", "csv"), ("--to", "lcov"), ("--to", "cobertura"), ("--html", "--force", "-o", page), ("--strict",)):
            yield "coverage", *of_program, *words
        for verb in ("check", "dump", "info"):
            yield verb, file
            if verb != "check":
                yield verb, "--json", file

    def questions(self, program):
        for words in (("sites",), ("sites", "--json"), ("sites", "--csv"), ("extract-cfg",), ("extract-cfg", "--to", "dot"), ("check",), ("info",)):
            yield *words, program

    def check(self, words, what):
        done = run(TELLTALE, *words)
        shown = f"{' '.join(map(str, words))} of {what}: {done.returncode}, {done.stderr[-3000:]}"
        self.assertIn(done.returncode, (0, 1, 2, 3, 4), shown)
        self.assertNotRegex(done.stderr, "Sanitizer|runtime error", shown)
        if done.returncode >= 2:
            self.assertIn("telltale: ", done.stderr, shown)
        if done.returncode == 0 and "--json" in words:
            for document in done.stdout.splitlines() if words[0] == "dump" else [done.stdout]:
                json.loads(document)
        return done

    def some(self, questions, count, chosen):
        questions = list(questions)
        return chosen.sample(questions, min(count, len(questions)))

    def check_some(self, questions, count, chosen, what):
        for words in self.some(questions, count, chosen):
            self.check(words, what)

    def test_files_that_are_cut(self):
        chosen = random.Random(1)
        cut = self.path("cut")
        for file, program in self.inputs:
            data = file.read_bytes()
            size = len(data) if len(data) < 1 << 20 else HEADERS
            for part in range(12):
                length = chosen.randrange(part * size // 12, (part + 1) * size // 12)
                cut.write_bytes(data[:length])
                what = f"{file.name}, {length} bytes"
                self.assertIn(self.check(("check", cut), what).returncode, (1, 2, 3), what)
                for words in self.some(self.answers(cut, program), 2, chosen):
                    done = self.check(words, what)
                    if "--strict" in words:
                        self.assertNotEqual(done.returncode, 0, what)

    def test_files_that_are_damaged(self):
        chosen = random.Random(2)
        damaged = self.path("damaged")
        for file, program in self.inputs:
            original = file.read_bytes()
            end = len(original) if len(original) < 1 << 20 else HEADERS
            for number in range(14):
                data = bytearray(original)
                for _ in range(chosen.choice((1, 1, 2, 6))):
                    damage(data, 0, end, chosen)
                damaged.write_bytes(data)
                self.check_some(self.answers(damaged, program), 3, chosen, f"{file.name}, damage {number}")

    def test_programs_that_are_damaged(self):
        chosen = random.Random(3)
        damaged = self.path("program")
        for file, program in self.inputs:
            original = program.read_bytes()
            sections = elf_sections(original)
            names = [name for name in sections if re.search("debug|bb_addr|eh_frame|gcc_except|symtab|strtab", name) and sections[name][1] > 8]
            self.assertLessEqual({".debug_telltale_paths", ".debug_PT"}, set(names))
            for number in range(20):
                data = bytearray(original)
                name = chosen.choice((".debug_telltale_paths", ".debug_PT", chosen.choice(names)))
                begin, size = sections[name]
                for _ in range(chosen.choice((1, 3, 10, 40))):
                    chosen.choice((damage, damage_digit))(data, begin, begin + size, chosen)
                damaged.write_bytes(data)
                what = f"{file.name}, {name}, damage {number}"
                self.check_some(self.answers(file, damaged), 2, chosen, what)
                self.check_some(self.questions(damaged), 1, chosen, what)


if __name__ == "__main__":
    unittest.main()
