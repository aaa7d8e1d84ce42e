"""Programs whose debug information is split (-gsplit-dwarf): answers are those of programs that have it themselves."""
import pathlib
import re
import signal
import unittest

from core_files import crash
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run
from test_paths import TELLTALE, paths

SOURCE = SOURCE_DIR / "tests/programs/csi/cases/stops_inlined.c"
FAULT = next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if "abort()" in line)
CALL = next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if "-= checked" in line)
MISSING = "inlined functions may be missing"


def places(document):
    return [(frame["function"], frame["line"], frame["inlined"]) for frame in document["threads"][0]["frames"]
            if frame["file"] is not None and frame["file"].endswith(SOURCE.name)]


class SplitDebug(SamplerCase):
    def build(self, release, *words):
        for file in self.folder.glob("*.dwo"):
            file.unlink()
        return build(self.path("program"), release, "--trace=all.schema", "-silent", "-O2", *words, SOURCE)

    def answers(self, program):
        """Of all frames, and what was printed about the program; numbers of its address space left out."""
        core = crash(self.path("core"), program)
        document = paths(core, "--program", program)
        text = run(TELLTALE, "paths", core, "--program", program)
        coverage = run(TELLTALE, "coverage", core, "--program", program, "--lines")
        self.assertEqual((text.returncode, coverage.returncode), (0, 0), text.stderr + coverage.stderr)
        return places(document), re.sub(r"(?m)^thread \d+$", "", text.stdout), coverage.stdout, text.stderr

    def test_paths_and_coverage_are_the_same(self):
        for release in RELEASES:
            for version in ("-gdwarf-5", "-gdwarf-4"):
                with self.subTest(release=release, version=version):
                    whole = self.answers(self.build(release, version))
                    self.assertEqual(whole[0][:2], [("checked", FAULT, True), ("sum", CALL, False)])
                    split = self.build(release, version, "-gsplit-dwarf")
                    self.assertEqual(len(list(self.folder.glob("*.dwo"))), 1)
                    self.assertEqual(self.answers(split), whole)

    def test_what_is_inlined_is_in_the_program_too(self):
        """Of -gsplit-dwarf=single, libdw finds nothing else."""
        for release in RELEASES:
            whole = self.answers(self.build(release, "-g"))
            for kind in ("-gsplit-dwarf", "-gsplit-dwarf=single"):
                with self.subTest(release=release, kind=kind):
                    program = self.build(release, kind)
                    for file in self.folder.glob("*.dwo"):
                        file.unlink()
                    found, _, _, notes = self.answers(program)
                    self.assertEqual((found, notes), (whole[0], ""))

    def test_a_missing_file_is_named(self):
        for words in (("-gsplit-dwarf", "-gdwarf-4"), ("-gsplit-dwarf", "-fno-split-dwarf-inlining")):
            with self.subTest(words=words):
                program = self.build(RELEASES[-1], *words)
                (file,) = self.folder.glob("*.dwo")
                file.unlink()
                _, _, _, notes = self.answers(program)
                self.assertEqual(len(notes.splitlines()), 1, notes)
                self.assertIn(file.name, notes)
                self.assertIn(MISSING, notes)

    def test_stacks_of_failed_runs_have_inlined_functions(self):
        for split in ((), ("-gsplit-dwarf",)):
            with self.subTest(split=split):
                program = build(self.path("program"), RELEASES[-1], "-O2", "-g", "-fno-sample", "-fsampler-scheme=returns", *split, SOURCE)
                study = self.path("study" + "".join(split))
                done = run(TELLTALE, "run", "--study", study, "--times", "1", "--", program)
                self.assertEqual(done.returncode, -signal.SIGABRT, done.stderr)
                stacks = (pathlib.Path(study) / "stacks.tsv").read_text()
                self.assertRegex(stacks, r"(?s)\tchecked\t.*\tsum\t.*\tmain\t")


if __name__ == "__main__":
    unittest.main()
