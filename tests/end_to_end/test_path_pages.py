"""The pages of telltale paths and telltale coverage, in Chromium."""
import json
import os
import shutil
import subprocess
import unittest

from export_tools import install_node_modules
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run
from study_case import telltale

SOURCE = SOURCE_DIR / "tests/programs/csi/crash_ways.c"
TEXT = SOURCE.read_text().splitlines()


def line(text):
    (number,) = [number for number, each in enumerate(TEXT, 1) if text in each]
    return number


class PathPages(SamplerCase):
    def setUp(self):
        super().setUp()
        self.modules = install_node_modules("web")

    def drive(self, page, *steps):
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        done = subprocess.run(["node", SOURCE_DIR / "web" / "tests" / "drive_page.mjs"], timeout=300, capture_output=True, text=True,
                              input=json.dumps({"page": str(page), "steps": steps}),
                              env={**os.environ, "TELLTALE_WEB_MODULES": str(self.modules), "TELLTALE_CHROMIUM": chromium})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["answers"]

    def crash(self, schema, *words):
        program = build(self.path("crash_ways"), RELEASES[-1], f"--trace={schema}", "-silent", "-O0", "-pthread", *words, SOURCE)
        run(program, "fault", env={"TELLTALE_PATHS": str(self.path("core"))})
        return program

    def page(self, verb, *words):
        page = self.path("page.html")
        done = telltale(verb, self.path("core"), "--html", "-o", page, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return page

    def test_stepping_through_a_crash(self):
        page = self.page("paths", "--program", self.crash("pt.schema"))
        chosen = ("eval", "[document.querySelector('output.step').value, document.querySelector('.source-line.chosen code').textContent.trim()]")
        frames = ("eval", "[...document.querySelectorAll('[data-choice=Frame] option')].map(o => o.textContent.replace(/thread \\d+ /, ''))")
        self.assertRegex(page.read_text(), r'\["threads","1"\],\["frames","[2-9]"\]')
        answers = [a for a in self.drive(page, frames, chosen, ("press", "u"), chosen, ("press", "Home"), chosen, ("press", "ArrowRight"), chosen,
                                         ("eval", "document.querySelector('.details .facts dd').textContent")) if a is not None]
        here = line("end(how, value);")
        self.assertEqual(answers[0][:2], [f"#0 end at crash_ways.c:{line('*(volatile int *)0 = value;')}", f"#1 parse at crash_ways.c:{here}"])
        self.assertEqual(answers[1][1], "*(volatile int *)0 = value;")
        self.assertEqual(answers[2][1], "end(how, value);")
        self.assertRegex(answers[3][0], "^step 1 of ")
        self.assertIn(answers[3][1], [TEXT[line("static int parse(") - 1], "int value = 0;"])
        self.assertRegex(answers[4][0], "^step 2 of ")
        self.assertEqual(answers[5], "2 completed paths, all since the call")

    def test_what_follows_the_place_of_a_crash_is_no_step(self):
        source = SOURCE_DIR / "tests/programs/csi/cases/after_the_end.c"
        program = build(self.path("program"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O1", source)
        run(program, env={"TELLTALE_PATHS": str(self.path("core"))}, cwd=self.folder)
        page = self.page("paths", "--program", program)
        last = ("eval", "[document.querySelector('output.step').value, document.querySelector('.source-line.chosen code').textContent.trim()]")
        answers = [answer for answer in self.drive(page, ("press", "End"), last) if answer is not None]
        self.assertEqual(answers[-1], ["step 4 of 4", "*place = number;  /* ran */"])

    def test_coverage(self):
        program = self.crash("bb.schema", "-csi-opt=0")
        for words in (("--html",), ("--to", "html")):
            page = self.path("page.html")
            self.assertEqual(telltale("coverage", self.path("core"), "--program", program, *words, "-o", page).returncode, 0)
            answers = [a for a in self.drive(page, ("eval", "[...document.querySelectorAll('.table-body .table-row')].map(r => r.innerText.replace(/\\s+/g, ' '))"),
                                             ("eval", "[...document.querySelectorAll('.source-line.not-run .number')].map(n => Number(n.textContent))")) if a is not None]
            self.assertTrue(any(row.startswith("did not run") and row.endswith(" recurse") for row in answers[0]), answers[0])
            self.assertIn(line("return value;"), answers[1])
            self.assertNotIn(line("end(how, value);"), answers[1])


if __name__ == "__main__":
    unittest.main()
