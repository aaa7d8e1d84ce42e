"""Forked processes that cannot create files of their own are counted in the parent's recording, for both recorders."""
import json
import os
import subprocess
import unittest

import recorder_programs as programs

WAYS = {"descriptors": "Too many open files", "size": "File too large"}
if os.geteuid() == 0:
    WAYS["user"] = "Permission denied"


def problems(file):
    done = subprocess.run([programs.TELLTALE, "info", "--json", file], capture_output=True, text=True, timeout=60)
    return [problem for problem in json.loads(done.stdout)["problems"] if "forked" in problem["message"]]


@unittest.skipIf(programs.SANITIZED, "sanitizers have files of their own")
class UnrecordedChildren(unittest.TestCase):
    def each(self):
        for kind in programs.KINDS:
            yield kind, programs.build("childrens_files", kind), "x.tlg" if kind == "stacktrack" else "x.xray"

    def test_run_and_info_tell_their_number_and_why(self):
        for kind, program, name in self.each():
            for way, reason in WAYS.items():
                with self.subTest(kind=kind, way=way):
                    place = programs.new_folder()
                    os.chmod(place, 0o700)
                    done = subprocess.run([programs.TELLTALE, "run", "-o", place / name, "--", program, way, "3"], cwd=place,
                                          capture_output=True, text=True, timeout=60)
                    self.assertEqual((done.returncode, programs.recordings(place)), (0, [place / name]), done.stderr)
                    # A StackTrack file counts them only.
                    words = "3 forked processes are not recorded: no file could be created" + ("" if kind == "stacktrack" else f" ({reason})")
                    self.assertIn(f"telltale: {words}\n", done.stderr)
                    (problem,) = problems(place / name)
                    self.assertEqual((problem["kind"], problem["message"]), ("loss", words))
                    checked = subprocess.run([programs.TELLTALE, "check", place / name], capture_output=True, text=True, timeout=60)
                    self.assertEqual(checked.returncode, 1, checked.stdout + checked.stderr)

    def test_children_that_need_none_or_have_one_are_not_counted(self):
        for kind, program, name in self.each():
            for way, options in (("descriptors", ["--no-fork"]), ("none", [])):
                with self.subTest(kind=kind, options=options):
                    place = programs.new_folder()
                    done = subprocess.run([programs.TELLTALE, "run", *options, "-o", place / name, "--", program, way, "1"],
                                          capture_output=True, text=True, timeout=60)
                    self.assertEqual((done.returncode, len(programs.recordings(place))), (0, 1 if options else 2), done.stderr)
                    self.assertNotIn("forked", done.stderr)
                    self.assertEqual([problem for file in programs.recordings(place) for problem in problems(file)], [])

    def test_a_parents_file_that_was_truncated_does_not_end_its_children(self):
        for kind, program, name in self.each():
            with self.subTest(kind=kind):
                path = programs.new_folder() / name
                files = [path] if kind == "stacktrack" else [path, f"{path}.side"]
                programs.run(kind, program, "truncated", 2, *files, path=path)


if __name__ == "__main__":
    unittest.main()
