"""Programs and objects whose sections objcopy has compressed. GNU's older form renames them: .debug_PT is .zdebug_PT then."""
import unittest

from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run
from test_paths import TELLTALE

SOURCE = SOURCE_DIR / "tests/programs/csi/crash_ways.c"


class CompressedSections(SamplerCase):
    def setUp(self):
        super().setUp()
        self.file = self.path("paths")

    def crash(self, how, program):
        self.file.unlink(missing_ok=True)
        run(program, how, env={"TELLTALE_PATHS": str(self.file)}, cwd=self.folder)

    def test_programs(self):
        program = build(self.path("program"), RELEASES[-1], "--trace=all.schema", "-fsampler-scheme=branches", "-silent", "-g", "-pthread", SOURCE)
        self.crash("fault", program)
        words = (("sites",), ("extract-cfg",), ("extract-section", ".debug_PT"), ("coverage", self.file, "--json", "--program"),
                 ("paths", self.file, "--json", "--program"))

        def answers():
            return [(done.returncode, done.stdout, done.stderr) for done in (run(TELLTALE, *each, program) for each in words)]
        expected = answers()
        self.assertEqual([status for status, _, _ in expected], [0] * len(words))
        for form in ("zlib-gnu", "zlib-gabi"):
            self.assertEqual(run("objcopy", f"--compress-debug-sections={form}", program).returncode, 0)
            headers = run("readelf", "-SW", program).stdout
            self.assertEqual(".zdebug_PT" in headers, form == "zlib-gnu", headers)
            with self.subTest(form=form):
                self.assertEqual(answers(), expected)
            self.assertEqual(run("objcopy", "--decompress-debug-sections", program).returncode, 0)
        run("objcopy", "--only-keep-debug", "--compress-debug-sections=zlib-gnu", program, self.path("program.debug"))
        run("objcopy", "--strip-all", f"--add-gnu-debuglink={self.path('program.debug')}", program)
        with self.subTest("a separate file"):
            self.assertEqual(answers()[-2:], expected[-2:])

    def test_an_object(self):
        built = build(self.path("crash_ways.o"), RELEASES[-1], "--trace=pt.schema", "-silent", "-O1", "-pthread", "-c", SOURCE)
        self.assertEqual(run("objcopy", "--compress-debug-sections=zlib-gnu", built).returncode, 0)
        self.assertIn(".zdebug_telltale_paths", run("readelf", "-SW", built).stdout)
        self.crash("fault", build(self.path("linked"), RELEASES[-1], "-pthread", built))
        self.assertTrue(self.file.exists())


if __name__ == "__main__":
    unittest.main()
