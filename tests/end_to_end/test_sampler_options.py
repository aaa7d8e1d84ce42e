"""telltale-cc's documentation: --help, the manual page and the document come from the table that parses options."""
import re
import subprocess
import unittest

from program_text import program_text
from sampler_programs import BINARY_DIR, RELEASES, SOURCE_DIR, SamplerCase, compile_with, run

NEWEST = RELEASES[-1] if RELEASES else ""
DRIVER = BINARY_DIR / "bin/telltale-cc"
# The options of the published manual, and telltale's additions; add new ones here, too.
VALUES = {"sampler-scheme": "branches", "sampler-random": "fixed", "sampler-runtime": "shared", "sampler-scales": "FILE",
          "sampler-reset-at-points": "FILE", "include-function": "main", "exclude-function": "f", "include-file": "a.c",
          "exclude-file": "b.c", "include-location": "a.c:1", "exclude-location": "a.c:*"}
TOGGLES = """sample sample-regions sample-turns sampler-adaptive sampler-adaptive-blocks threads
    balance-paths cache-countdown predict-checks specialize-empty-regions
    specialize-singleton-regions specialise-empty-regions specialise-singleton-regions assume-weighty-externs
    assume-weighty-interns assume-weighty-libraries compare-constants compare-uninitialized assign-across-pointer
    assign-into-field assign-into-index rename-locals relative-paths timestamp-first timestamp-last show-stats trace-sites
    sampler-implications use-points-to annotate-sites add-blast-markers sampler-dataflow save-dataflow-fields
    isolate-shared-accesses sampler-system-headers sampler-normal-form trace-data trace-legacy-names trace-line-tables""".split()


def shown():
    return run(DRIVER, "--help").stdout


class Options(SamplerCase):
    def test_help_has_each_option_with_a_line(self):
        text = shown()
        toggles = re.findall(r"(?m)^  -f\[no-\](\S+)\s+\S+", text)
        values = re.findall(r"(?m)^  -f([a-z-]+)=\S+\s+\S+", text)
        self.assertEqual(sorted(toggles), sorted(TOGGLES))
        self.assertEqual(sorted(values), sorted(VALUES))
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        for scheme in re.findall(r"scheme=\"([a-z-]+)\"", self.all_sites()):
            self.assertRegex(text, rf"(?m)^  {scheme} +[A-Z]")
        # No compiler is needed for it.
        alone = run(DRIVER, "--help", env={"PATH": "/nowhere", "TELLTALE_CLANG_RELEASE": "1"})
        self.assertEqual((alone.returncode, alone.stdout), (0, text))

    def all_sites(self):
        source = self.path("all.c")
        source.write_text(program_text("sampler/cases/empty_main.c"))
        schemes = re.search(r"(?s)\nSchemes:\n(.*?)\n\n", shown())[1]
        words = [f"-fsampler-scheme={name}" for name in re.findall(r"(?m)^  ([a-z-]+) ", schemes)]
        self.assertEqual(len(words), 14)
        done = compile_with(NEWEST, *words, "-S", source, "-o", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return re.sub(r'\\"', '"', done.stdout)

    def test_what_help_names_is_taken(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/empty_main.c"))
        self.path("FILE").write_text("")
        words = [f"-f{switch}{name}" for name in re.findall(r"-f\[no-\](\S+)", shown()) for switch in ("", "no-")]
        words += [f"-f{name}={VALUES[name]}" for name in re.findall(r"(?m)^  -f([a-z-]+)=", shown())]
        words += re.findall(r"(?m)^  (-[a-z]+) ", shown())
        self.assertGreater(len(words), 70)
        for word in words:
            word = word.replace("FILE", str(self.path("FILE")))
            # Both with a scheme, where the plugin parses it, too, and without.
            for more in (("-fsampler-scheme=branches",), ()):
                done = compile_with(NEWEST, *more, word, "-fno-show-stats", "-c", source, "-o", self.path("a.o"))
                self.assertEqual((done.returncode, done.stderr), (0, ""), (word, more))

    def test_the_manual_page_has_what_help_has(self):
        page = self.path("telltale-cc.1")
        page.write_text(run(DRIVER, "--print-manual").stdout)
        done = run("groff", "-man", "-Tutf8", "-ww", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout).replace("\u2010", "-").replace("\u2212", "-")
        words = re.findall(r"(?m)^  (-\S+|[a-z][a-z-]+|[A-Z]+(?:_[A-Z]+)+)(?: |$)", shown().split("\nSites:\n")[1])
        self.assertGreater(len(words), 70)
        for word in words:
            self.assertIn(word, text)
        for section in ("NAME", "SYNOPSIS", "OPTIONS", "Schemes", "Environment", "EXIT STATUS"):
            self.assertRegex(text, rf"(?m)^{section}$")

    def test_the_document_shows_it(self):
        document = (SOURCE_DIR / "docs/sampler-options.md").read_text()
        block = re.search(r"(?s)\n```\n(.*?)```\n", document)[1]
        self.assertEqual(block, shown())

    def test_the_page_is_installed(self):
        prefix = self.path("prefix")
        subprocess.run(["cmake", "--install", BINARY_DIR, "--prefix", prefix], check=True, capture_output=True, timeout=300)
        pages = next(iter(prefix.glob("**/man1")))
        self.assertEqual((pages / "telltale-cc.1").read_text(), run(DRIVER, "--print-manual").stdout)
        for name in ("telltale-c++", "sampler-cc", "csi-cc"):
            self.assertEqual((pages / f"{name}.1").read_text(), ".so man1/telltale-cc.1\n")

    def test_values_that_make_no_sense_are_named(self):
        source = self.path("a.c")
        source.write_text(program_text("sampler/cases/empty_main.c"))
        for word in ("-fsampler-runtime=never", "-fsampler-runtime=", "-fsampler-random=", "-fsampler-scheme="):
            done = compile_with(NEWEST, word, "-c", source, "-o", self.path("a.o"))
            self.assertEqual(done.returncode, 1, word)
            self.assertIn(f"'{word.split('=')[1]}'", done.stderr)


if __name__ == "__main__":
    unittest.main()
