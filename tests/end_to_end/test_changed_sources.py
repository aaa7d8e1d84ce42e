"""Source files that were changed after the program was built: what shows their lines says so, once for each file."""
import json
import os
import pathlib
import shutil
import unittest

from core_files import crash
from program_text import program_text
from sampler_programs import RELEASES, SamplerCase, build, run

TELLTALE = os.environ["TELLTALE"]
CHANGED = "changed since the program was built; its lines may not be those that ran"
NEWER = "newer than the program; its lines may not be those that ran"
HEADER = program_text("csi/cases/half.h")
SOURCE = program_text("csi/cases/quarter.c")


def payload(page, key):
    text = pathlib.Path(page).read_text().split('<script id="data" type="application/json">')[1].split("</script>")[0]
    return json.loads(text)["data"][key]


class Case(SamplerCase):
    def setUp(self):
        super().setUp()
        self.source = pathlib.Path(self.path("quarter.c"))
        self.header = pathlib.Path(self.path("half.h"))
        self.restore()

    def restore(self):
        self.source.write_text(SOURCE)
        self.header.write_text(HEADER)

    def build(self, release, *words, schema="all.schema"):
        return build(self.path("quarter"), release, f"--trace={schema}", "-silent", *words, self.source)

    def change(self, *files):
        for file in files:
            file.write_text("// A new line.\n" + file.read_text())

    def touch(self, *files):
        """Makes files newer than the program, whatever the clock's resolution is."""
        time = os.stat(self.path("quarter")).st_mtime_ns + 10**9
        for file in files:
            os.utime(file, ns=(time, time))

    def notes(self, *words):
        """What a command prints about source files, by file; each is told once."""
        done = run(TELLTALE, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {}
        for line in done.stderr.splitlines():
            if line.endswith("may not be those that ran"):
                tool, file, what = line.split(": ", 2)
                self.assertEqual(tool, "telltale")
                self.assertNotIn(file, found)
                found[file] = what
        return found


class Crashes(Case):
    def answers(self, core, *words):
        """Of each command that shows lines."""
        page = self.path("page.html")
        for verb in ("paths", "coverage"):
            yield verb, "--html", self.notes(verb, core, *words, "--html", "-o", page), payload(page, {"paths": "steps"}.get(verb, verb))
        yield "paths", "", self.notes("paths", core, *words), None
        yield "paths", "--slice", self.notes("paths", core, *words, "--slice"), None
        yield "coverage", "--lines", self.notes("coverage", core, *words, "--lines"), None
        for other in ("csv", "lcov", "cobertura"):
            yield "coverage", other, self.notes("coverage", core, *words, "--to", other), None

    def check(self, core, expected, *words):
        for verb, how, notes, page in self.answers(core, *words):
            with self.subTest(verb=verb, how=how):
                self.assertEqual(notes, expected)
                if page is not None:
                    self.assertEqual({source["file"]: source["changed"] for source in page["sources"] if "changed" in source}, expected)
        for verb in ("paths", "coverage"):
            done = run(TELLTALE, verb, core, *words, "--json", "--strict")
            self.assertEqual(done.returncode, 0, "it is no damage")
            problems = json.loads(done.stdout)["problems"]
            self.assertEqual({problem["file"]: problem["message"] for problem in problems if problem["record"] == "source file"}, expected)

    def test_checksums_tell(self):
        for release in RELEASES:
            for words in ((), ("-g",), ("-O2",), ("-g", "-gz=zlib")):
                with self.subTest(release=release, words=words):
                    self.restore()
                    core = crash(self.path("core"), self.build(release, *words), "8", "3")
                    self.check(core, {})
                    self.touch(self.source, self.header)
                    self.check(core, {})
                    self.change(self.header)
                    self.check(core, {str(self.header): CHANGED})
                    self.change(self.source)
                    self.check(core, {str(self.header): CHANGED, str(self.source): CHANGED})
                    # The text counts, not the time.
                    self.restore()
                    self.check(core, {})

    def test_without_checksums_times_tell(self):
        for release in RELEASES:
            self.restore()
            core = crash(self.path("core"), self.build(release, "-g", "-gdwarf-4"), "8", "3")
            self.check(core, {})
            self.touch(self.source)
            self.check(core, {str(self.source): NEWER})

    def test_separate_debug_file(self):
        for release in RELEASES:
            self.restore()
            program = self.build(release, "-g", "-Wl,--build-id")
            debug = self.path("quarter.debug")
            run("objcopy", "--only-keep-debug", program, debug)
            run("objcopy", "--strip-all", program)
            core = crash(self.path("core"), program, "8", "3")
            self.touch(self.source)
            self.check(core, {}, "--program", debug)
            self.change(self.source)
            self.check(core, {str(self.source): CHANGED}, "--program", debug)

    def test_nothing_is_known_without_the_program(self):
        core = crash(self.path("core"), self.build(RELEASES[-1]), "8", "3")
        self.change(self.source)
        os.remove(self.path("quarter"))
        self.check(core, {})

    def test_a_new_build_is_another_program(self):
        core = crash(self.path("core"), self.build(RELEASES[-1], "-Wl,--build-id"), "8", "3")
        self.change(self.source)
        self.build(RELEASES[-1], "-Wl,--build-id")
        self.check(core, {})

    def test_a_path_file(self):
        program = self.build(RELEASES[0], schema="pt.schema")
        core = self.path("paths.core")
        run(program, "8", "3", env={"TELLTALE_PATHS": core})
        self.assertEqual(self.notes("paths", core), {})
        self.change(self.source)
        self.assertEqual(self.notes("paths", core), {str(self.source): CHANGED})

    @unittest.skipUnless(shutil.which("gdb"), "needs gdb")
    def test_the_command_of_gdb(self):
        program = self.build(RELEASES[0], "-g")
        core = crash(self.path("core"), program, "8", "3")
        self.change(self.source)
        script = pathlib.Path(__file__).parents[2] / "debuggers/gdb/telltale_paths.py"
        done = run("gdb", "-q", "-batch", "-ex", f"source {script}", "-ex", "telltale-paths", program, core)
        self.assertIn(f"telltale: {self.source}: {CHANGED}\n", done.stderr)

    def test_damaged_line_tables_end_nothing(self):
        program = pathlib.Path(self.build(RELEASES[0]))
        core = crash(self.path("core"), program, "8", "3")
        whole = program.read_bytes()
        table = self.path("table")
        run("objcopy", "--dump-section", f".debug_line={table}", program, "/dev/null")
        lines = pathlib.Path(table).read_bytes()
        at = whole.index(lines)
        for byte in range(min(len(lines), 64)):
            program.write_bytes(whole[:at + byte] + bytes([whole[at + byte] ^ 0xff]) + whole[at + byte + 1:])
            done = run(TELLTALE, "paths", core, "--strict")
            self.assertEqual(done.returncode, 0, done.stderr)


class Studies(Case):
    def record(self, program):
        study = self.path("study")
        shutil.rmtree(study, ignore_errors=True)
        done = run(TELLTALE, "run", "-q", "--study", study, "--times", 20, "--", program, "4", "{}")
        self.assertEqual(done.returncode, 0, done.stderr)
        return study

    def isolate(self, *words):
        """The notes of the page, and what they are if all files that it shows have changed."""
        page = self.path("page.html")
        notes = self.notes("isolate", *words, "--html", "-o", page, "--source", self.source.parent)
        sources = payload(page, "predictors")["sources"]
        self.assertNotEqual(sources, [])
        paths = {str((self.source.parent / source["file"]).resolve()): source for source in sources}
        self.assertEqual({path: source["changed"] for path, source in paths.items() if "changed" in source}, notes)
        return notes, dict.fromkeys(paths, CHANGED)

    def check(self, program):
        study = self.record(program)
        self.touch(self.source, self.header)
        self.assertEqual(self.isolate(study)[0], {})
        self.change(self.source, self.header)
        self.assertEqual(*self.isolate(study))
        moved = self.path("moved")
        os.rename(program, moved)
        self.assertEqual(*self.isolate(study, "--program", moved))
        return study

    def test_path_files(self):
        for release in RELEASES:
            self.restore()
            self.check(self.build(release, "-O1", "-Wl,--build-id"))

    def test_reports(self):
        for release in RELEASES:
            for words in ((), ("-frelative-paths",)):
                with self.subTest(release=release, words=words):
                    self.restore()
                    study = self.check(build(self.path("quarter"), release, "-g", "-fno-sample", "-fsampler-scheme=branches", *words,
                                             "-Wl,--build-id", self.source.name, cwd=self.source.parent))
                    # The program is not at hand, but its sites are in the study.
                    self.assertEqual(self.isolate(study)[0], {})

    def test_recordings_of_gcc(self):
        """g++ and gcc write no checksums."""
        program = self.path("quarter")
        done = run("gcc", "-g", "-O1", "-finstrument-functions", self.source, "-o", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        for i in range(1, 13):
            folder = pathlib.Path(self.path("passed" if i % 4 == 0 else "failed"))
            folder.mkdir(exist_ok=True)
            run(TELLTALE, "run", "-q", "-o", folder / f"{i}.xray", "--", program, *(["8"] * (i % 4 == 0)), i)

        words = ("--failed", self.path("failed"), "--passed", self.path("passed"), "--program", program)
        self.assertEqual(self.isolate(*words)[0], {})
        self.touch(self.source, self.header)
        notes, changed = self.isolate(*words)
        self.assertEqual(notes, dict.fromkeys(changed, NEWER))


if __name__ == "__main__":
    unittest.main()
