"""Every C or C++ example in the public headers and in the documents compiles unchanged."""
import glob
import os
import re
import subprocess
import tempfile
import unittest

from xray_recorder import CLANGS, SOURCE_DIR

LANGUAGES = {"c": ("c", "-std=c11"), "h": ("c", "-std=c11"), "c++": ("c++", "-std=c++17"), "cpp": ("c++", "-std=c++17"),
             "cc": ("c++", "-std=c++17"), "hpp": ("c++", "-std=c++17")}


def header_examples(path):
    """Comment lines indented by three or more blanks are code, and so are empty ones between them."""
    block, start = [], 0
    with open(path) as file:
        for number, line in enumerate([*file, "end"], 1):
            if re.match(r"//   +\S", line) or (block and line.strip() == "//"):
                start = number if not block else start
                block.append(line[5:].rstrip("\n"))
            elif block:
                # Users include only the header itself.
                include = "#include <telltale/%s>" % os.path.basename(path)
                yield "%s:%d" % (os.path.relpath(path, SOURCE_DIR), start), "\n".join([include, *block, ""]), "c++"
                block = []


def document_examples(path):
    with open(path) as file:
        text = file.read()
    for match in re.finditer(r"(?m)^```([a-z+]+)\n(.*?)^```$", text, re.S):
        if match[1] in LANGUAGES:
            place = "%s:%d" % (os.path.relpath(path, SOURCE_DIR), text.count("\n", 0, match.start()) + 1)
            yield place, match[2], match[1]


class Examples(unittest.TestCase):
    def test_every_example_compiles(self):
        examples = []
        for path in sorted(glob.glob(os.path.join(SOURCE_DIR, "include/telltale/*"))):
            examples += header_examples(path)
        for path in [os.path.join(SOURCE_DIR, "README.md"),
                     *sorted(glob.glob(os.path.join(SOURCE_DIR, "docs/**/*.md"), recursive=True))]:
            examples += document_examples(path)
        places = [place for place, _, _ in examples]
        self.assertTrue(any(place.startswith("include/telltale/stacktrack.hpp") for place in places), places)
        self.assertTrue(any(place.startswith("docs/") for place in places), places)
        self.assertTrue(CLANGS, "clang 19 or 22 is needed")
        with tempfile.TemporaryDirectory(prefix="telltale-examples-") as folder:
            for place, code, language in examples:
                name, standard = LANGUAGES[language]
                source = os.path.join(folder, "example")
                with open(source, "w") as file:
                    file.write(code)
                for compiler in ("g++", "clang++-" + CLANGS[-1]):
                    with self.subTest(example=place, compiler=compiler):
                        done = subprocess.run([compiler, "-x", name, standard, "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                                               "-I", os.path.join(SOURCE_DIR, "include"), source],
                                              capture_output=True, text=True, timeout=120)
                        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
