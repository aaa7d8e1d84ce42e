"""Modules and precompiled headers: code emitted in importers and includers is counted as if it were text."""
import os
import re
import shutil
import subprocess
import unittest

from sampler_programs import BINARY_DIR, PLUGINS, PROGRAMS, RELEASES, SamplerCase, compile_with, resolved, run, section

SITES = ("-w", "-O1", "-fno-sample", *(f"-fsampler-scheme={name}" for name in ("branches", "returns", "function-entries")))


class Modules(SamplerCase):
    def setUp(self):
        super().setUp()
        self.sources = self.path("sources")
        shutil.copytree(PROGRAMS / "modules", self.sources, dirs_exist_ok=True)

    def compiled(self, release, *words):
        done = compile_with(release, *SITES, *words, cxx=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)

    def counts(self, program):
        """function, site, counters..., added up over the units that hold the same site."""
        self.assertEqual(self.run_reported(program).returncode, 0)
        found = {}
        for line in resolved(self.report, program):
            columns = line.split("\t")
            counters = [int(n) for n in columns[-(2 if columns[0] == "branches" else 3 if columns[0] == "returns" else 1):]]
            key = tuple(columns[:len(columns) - len(counters)])
            found[key] = [a + b for a, b in zip(counters, found.get(key, [0] * len(counters)))]
        return found

    def as_text(self, release):
        """The same program, of the same lines, without modules."""
        folder = self.path("text")
        shutil.copytree(self.sources, folder, dirs_exist_ok=True)
        module = folder / "shapes.cppm"
        module.write_text(module.read_text().replace("export module shapes;", "").replace("export ", ""))
        main = folder / "main.cc"
        main.write_text(main.read_text().replace("import shapes;", '#include "shapes.cppm"'))
        self.compiled(release, main, "-o", self.path("plain"))
        return self.counts(self.path("plain"))

    def test_named_modules(self):
        source, interface, unit, program = (self.path(name) for name in ("sources/shapes.cppm", "shapes.pcm", "shapes.o", "p"))
        for release in RELEASES:
            expected = self.as_text(release)
            self.assertEqual(sum(counters[0] for key, counters in expected.items() if key[0] == "function-entries"), 31)
            for steps in (((f"-fmodule-output={interface}", "-c", source, "-o", unit),),
                          (("--precompile", source, "-o", interface), ("-c", interface, "-o", unit))):
                with self.subTest(release=release, steps=len(steps)):
                    for step in steps:
                        self.compiled(release, "-std=c++20", *step)
                    self.compiled(release, "-std=c++20", f"-fmodule-file=shapes={interface}", self.sources / "main.cc", unit,
                                  "-o", program)
                    self.assertEqual(self.counts(program), expected)
                    graphs = section(unit, ".debug_sampler_cfg").decode()
                    self.assertTrue(graphs.splitlines()[1].endswith("shapes.cppm"), graphs.splitlines()[1])

    def test_headers_that_are_compiled_before(self):
        user, header, before, program = (self.path(name) for name in ("sources/user.cc", "sources/header.h", "before", "p"))
        for release in RELEASES:
            self.compiled(release, user, "-o", program)
            expected = self.counts(program)
            self.assertEqual(len(expected), 23)
            for make, use in ((("-x", "c++-header", header), ("-include-pch", before)),
                              (("-x", "c++-header", "-c", header), ("-include-pch", before)),
                              ((header,), ("-include-pch", before)),
                              (("-std=c++20", "-fmodule-header", header), ("-std=c++20", "-DAS_UNIT", f"-fmodule-file={before}")),
                              (None, ("-fmodules", f"-fmodules-cache-path={self.path('cache')}"))):
                with self.subTest(release=release, make=make, use=use):
                    if make:
                        self.compiled(release, *make, "-o", before)
                    self.compiled(release, *use, user, "-o", program)
                    self.assertEqual(self.counts(program), expected)

    def test_signatures_tell_headers_apart(self):
        header, before = self.path("sources/header.h"), self.path("before")
        found = set()
        for number in (2, 5):
            header.write_text(header.read_text().replace("> 2", f"> {number}"))
            self.compiled(RELEASES[-1], "-x", "c++-header", header, "-o", before)
            self.compiled(RELEASES[-1], "-include-pch", before, "-c", self.sources / "user.cc", "-o", self.path("o"))
            found.add(section(self.path("o"), ".debug_site_info").split(b'"')[1])
        self.assertEqual(len(found), 2)

    def names_in(self, *files):
        """The files that sites and graphs name, and the units' signatures."""
        sites = b"".join(section(file, ".debug_site_info") or b"" for file in files).decode()
        graphs = b"".join(section(file, ".debug_sampler_cfg") or b"" for file in files).decode()
        named = {row.split("\t")[0] for row in sites.splitlines() if "\t" in row}
        named |= set(re.findall(r"(?m)^(\S*sources/\S*)", graphs))
        return named, re.findall(r'unit="(\w+)"', sites)

    def test_names_of_included_parts(self):
        """#include "./part.c": the name has no dot, and is the same in sites and graphs."""
        sources = self.path("parts")
        shutil.copytree(PROGRAMS / "parts", sources)
        for release in RELEASES:
            unit = sources / f"{release}.o"
            done = subprocess.run([BINARY_DIR / "bin/telltale-cc", *SITES, "-g", "-c", "whole.c", "-o", unit], capture_output=True,
                                  text=True, cwd=sources, env={**os.environ, "TELLTALE_CLANG_RELEASE": release})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for section_name in (".debug_site_info", ".debug_sampler_cfg"):
                text = section(unit, section_name).decode()
                self.assertIn(f"{sources}/part.c", text)
                self.assertNotIn("/./", text)

    def test_relative_names(self):
        """As in a build without modules and precompiled headers, whatever the folder."""
        for release in RELEASES:
            signatures = []
            for place in ("one", "two/deeper"):
                folder = self.path(place)
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copytree(PROGRAMS / "modules", folder / "sources", dirs_exist_ok=True)
                (folder / "build").mkdir(exist_ok=True)

                def compiled(*words, inside="."):
                    done = subprocess.run([BINARY_DIR / "bin/telltale-c++", *SITES, "-frelative-paths", *words],
                                          capture_output=True, text=True, cwd=folder / inside,
                                          env={**os.environ, "TELLTALE_CLANG_RELEASE": release})
                    self.assertEqual((done.returncode, done.stderr), (0, ""), words)

                compiled("-std=c++20", "-fmodule-output=m.pcm", "-c", "sources/shapes.cppm", "-o", "module.o")
                compiled("-std=c++20", "-fmodule-file=shapes=m.pcm", "-c", "sources/main.cc", "-o", "main.o")
                compiled("-x", "c++-header", "sources/header.h", "-o", "before")
                compiled("-include-pch", "before", "-c", "sources/user.cc", "-o", "user.o")
                compiled("-x", "c++-header", "../sources/header.h", "-o", "before", inside="build")
                compiled("-include-pch", "before", "-c", "../sources/user.cc", "-o", "user.o", inside="build")
                for objects, wanted in ((["module.o", "main.o"], {"sources/shapes.cppm", "sources/main.cc"}),
                                        (["user.o"], {"sources/header.h", "sources/user.cc"}),
                                        (["build/user.o"], {"../sources/header.h", "../sources/user.cc"})):
                    names, found = self.names_in(*(folder / name for name in objects))
                    self.assertEqual(names, wanted)
                    signatures.append((place, found))
            self.assertEqual([found for place, found in signatures if place == "one"],
                             [found for place, found in signatures if place != "one"])

    @unittest.skipUnless("22" in RELEASES, "clang 22 and its plugin are not here")
    def test_plugin_alone_says_what_it_needs(self):
        words = ["clang++-22", f"-fplugin={PLUGINS}/telltale-sampler-clang-22.so", "-Xclang", "-plugin-arg-sampler", "-Xclang",
                 "-fsampler-scheme=branches", "-std=c++20", f"-fmodule-output={self.path('m.pcm')}", "-c",
                 self.sources / "shapes.cppm", "-o", self.path("m.o")]
        done = run(*words)
        self.assertEqual(done.returncode, 1)
        self.assertIn("-fno-modules-reduced-bmi", done.stderr)
        done = run(*words, "-fno-modules-reduced-bmi")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
