"""A folder stands for the recordings in it: those of a tree of processes, for example."""
import json
import os
import pathlib
import shutil
import tempfile
import unittest

from program_text import program_text
import recorded_programs as programs
from recorded_programs import calls, telltale

WORK = program_text("recorders/cases/work_of.c")


class Folder(unittest.TestCase):
    options = ()

    @classmethod
    def setUpClass(cls):
        program = programs.build("gcc", "-xc", *programs.CALL_FLAGS, source=WORK)
        cls.place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()))
        done = telltale("record", *cls.options, "--", "sh", "-c", f"{program} 3; {program} 5; true", cwd=cls.place)
        assert done.returncode == 0, done.stderr
        (cls.place / "notes.txt").write_text("no recording\n")
        (cls.place / ".hidden.xray").write_text("neither\n")
        (cls.place / "inner").mkdir()

    def copy(self):
        place = pathlib.Path(tempfile.mkdtemp(dir=programs.folder()), "copy")
        return pathlib.Path(shutil.copytree(self.place, place))

    def test_all_processes_together(self):
        files = sorted(str(path) for path in self.place.glob("[!.]*.xray"))
        self.assertEqual(len(files), 2)
        self.assertEqual(calls(self.place, prefix=""), {"main": 2, "work": 5 + 15})
        info = json.loads(telltale("info", "--json", self.place).stdout)
        self.assertEqual(info["files"], files)
        self.assertEqual(len({thread["pid"] for thread in info["threads"]}), 2)
        for verb in ("info", "top", "report", "stacks", "check", "dump"):
            with self.subTest(verb=verb):
                self.assertEqual(telltale(verb, self.place).stdout, telltale(verb, *files).stdout)

    def test_names_of_processes_and_threads(self):
        info = json.loads(telltale("info", "--json", self.place).stdout)
        self.assertEqual({thread["process_name"] for thread in info["threads"]}, {"program"})
        self.assertRegex(telltale("info", self.place).stdout, r"processes +2 \(\d+ program, \d+ program\)")
        rows = json.loads(telltale("top", "--by-process", "--json", self.place).stdout)["rows"]
        work = {row["pid"]: row["calls"] for row in rows if row["function"] == "work"}
        self.assertEqual(sorted(work.values()), [5, 15])
        self.assertTrue(all(row["process_name"] == "program" and "tid" not in row for row in rows))
        by_thread = json.loads(telltale("top", "--by-thread", "--json", self.place).stdout)["rows"]
        self.assertTrue(all(row["thread_name"] == "program" for row in by_thread))
        text = telltale("top", "--by-thread", self.place).stdout.splitlines()
        self.assertEqual(text[0].split()[:4], ["PID", "PROCESS", "TID", "THREAD"])
        self.assertIn("PROCESS", telltale("report", self.place).stdout)
        self.assertEqual(telltale("top", "--by-thread", "--by-process", self.place).returncode, 2)

    def test_records_of_a_process(self):
        for file in self.place.glob("[!.]*.xray"):
            pid = json.loads(telltale("info", "--json", file).stdout)["threads"][0]["pid"]
            self.assertEqual(file.name.split(".")[1], str(pid))
            for chosen, some in ((f"{pid}:{pid}", True), (f"1:{pid}", False)):
                with self.subTest(chosen=chosen):
                    said = {verb: telltale(verb, "--json", "--thread", chosen, file).stdout for verb in ("dump", "info", "check", "top")}
                    self.assertEqual("FunctionEnter" in said["info"], some)
                    self.assertEqual("enter" in said["dump"], some)
                    self.assertEqual(json.loads(said["check"])["rows"][0]["records"] > 0, some)
                    self.assertEqual(bool(json.loads(said["top"])["rows"]), some)

    def test_exports_name_processes(self):
        chrome = json.loads(telltale("convert", self.place, "--to", "chrome", "-o", "-").stdout)["traceEvents"]
        named = [event for event in chrome if event["ph"] == "M" and event["name"] == "process_name"]
        self.assertEqual([event["args"]["name"] for event in named], ["program"] * 2)
        self.assertEqual({event["pid"] for event in named}, {event["pid"] for event in chrome})
        speedscope = json.loads(telltale("convert", self.place, "--to", "speedscope", "-o", "-").stdout)
        self.assertTrue(all(" of program " in profile["name"] for profile in speedscope["profiles"]))

    def test_a_file_with_two_names_is_read_once(self):
        for link in (os.symlink, os.link):
            with self.subTest(link=link.__name__):
                place = self.copy()
                recording = sorted(place.glob("program*.xray"))[0]
                link(recording, place / "a-latest.xray")  # by name the first, and without a side record
                self.assertEqual(calls(place, prefix=""), {"main": 2, "work": 5 + 15})
                self.assertEqual(telltale("dump", place).stdout, telltale("dump", *sorted(place.glob("program*.xray"))).stdout)

    def test_a_file_that_ends_in_its_header_hides_no_other(self):
        place = self.copy()
        whole = sorted(place.glob("program*.xray"))
        (place / "a-torn.xray").write_bytes(whole[0].read_bytes()[:10])
        for name in ("empty.xray", "stderr.log"):  # the second is no recording
            (place / name).write_bytes(b"")
        for verb in ("top", "info", "report", "stacks"):
            done = telltale(verb, place)
            self.assertEqual(done.returncode, 0, verb)
            strict = telltale(verb, "--strict", place)
            self.assertEqual(strict.returncode, 4, verb)
            if verb in ("top", "stacks"):
                self.assertEqual(done.stdout, telltale(verb, *whole).stdout)
            if verb != "info":
                self.assertRegex(done.stderr, r"a-torn\.xray: FileHeader at byte 8: .*\(10 bytes lost\)")
            self.assertRegex(done.stdout + done.stderr, r"empty\.xray: at byte 0: the file is empty")
            self.assertNotIn("stderr.log", done.stdout + done.stderr)
        for verb in ("check", "dump"):
            done = telltale(verb, place)
            self.assertEqual(done.returncode, 3, verb)
            self.assertEqual(done.stdout, telltale(verb, *whole).stdout)
            self.assertIn("a-torn.xray: FileHeader", done.stderr)
        (place / "a-torn.xray").unlink()
        for files in ([place], sorted(place.glob("[!.]*.xray"))):
            for verb in ("check", "dump"):
                done = telltale(verb, *files)
                self.assertEqual((done.returncode, done.stdout), (3, telltale(verb, *whole).stdout))
                self.assertRegex(done.stderr, r"empty\.xray: at byte 0: the file is empty")
        # What is named is to be read.
        (place / "a-torn.xray").write_bytes(whole[0].read_bytes()[:10])
        self.assertEqual(telltale("top", place / "a-torn.xray", *whole).returncode, 3)
        for file in whole:
            file.unlink()
        self.assertEqual(telltale("top", place).returncode, 3)

    def test_a_folder_without_recordings(self):
        for verb in ("top", "check"):
            done = telltale(verb, self.place / "inner")
            self.assertEqual(done.returncode, 2)
            self.assertIn("inner is a folder without recordings", done.stderr)


class FolderOfVersion1(Folder):
    """Traces of this version have no process ids; side records have."""
    options = ("--fdr-version", "1")


class ManyFiles(unittest.TestCase):
    CHILDREN = 40

    def test_info_summarises_them(self):
        program = programs.build("g++", *programs.CALL_FLAGS, source=program_text("recorders/cases/many_children.cc"))
        run = programs.Recorded(program, self.CHILDREN)
        files = len(run.files)
        self.assertGreaterEqual(files, self.CHILDREN)
        damaged = run.files[20]
        damaged.write_bytes(damaged.read_bytes()[:-5000])
        text = telltale("info", run.place).stdout
        self.assertLess(len(text.splitlines()), 60)
        self.assertEqual(len([name for name in map(str, run.files) if name in " ".join(text.split())]), 8 + 1)  # the damaged one is named
        self.assertRegex(text, rf"(?m)^files +{files} \(")
        self.assertRegex(text, rf"(?m)^lost +0 events \({files} files\)$")
        self.assertRegex(text, r"(?m)^each file +--json, or info with this file alone$")
        self.assertRegex(text, rf"(?m)^problems +\d+ in 1 of {files} files; ")
        # The document has all, and few files are as they were.
        properties = json.loads(telltale("info", "--json", run.place).stdout)["properties"]
        self.assertEqual(sum(name.endswith(" lost") for name in properties), files)
        few = telltale("info", *run.files[:8]).stdout
        self.assertEqual(few.count("\nfile "), 7)
        self.assertEqual(few.count(" lost "), 8)


if __name__ == "__main__":
    unittest.main()
