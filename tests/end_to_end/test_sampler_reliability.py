"""Rows D1 to D14 for Sampler's texts; docs/design/sampler-measurements.md, "Reliability", lists the test for each row."""

import csv
import gzip
import io
import json
import os
import random
import shutil
import subprocess
import unittest

import test_reliability
from sampler_tool_case import CLANG, GOLDEN, TELLTALE, UNIT, SamplerToolCase
from xray_recorder import without_address_randomisation

LONG = bool(os.environ.get("TELLTALE_LONG"))


class SamplerReliability(SamplerToolCase):
    run_limited = test_reliability.Reliability.run_limited
    instructions = test_reliability.Reliability.instructions

    def test_names_do_not_escape(self):
        """D11: sites and reports are printed as text, in every output."""
        evil = "=1+1,\"<script>]]>\x1b[31m\u202e'"
        unit = "f" * 32
        sites = self.write("evil.sites", f'<sites unit="{unit}" scheme="branches">\n{evil}\t1\t{evil}\t0\t{evil}\n</sites>\n')
        report = self.write("evil.report", f'<report id="samples">\n<samples unit="{unit}" scheme="branches">\n1\t1\n</samples>\n'
                                           f'</report>\n<report id="{evil.replace(chr(34), "")}">\n{evil}\n</report>\n')
        for words in (["resolve"], ["top"], ["report"], ["info"]):
            text = self.telltale(words[0], report, "--program", sites)
            self.assertEqual([c for c in text if ord(c) < 32 and c != "\n" or c == "\u202e"], [], words)
        for file in (sites, report):
            self.assertNotIn("\x1b", self.telltale("dump", file))
        row = json.loads(self.telltale("resolve", report, "--program", sites, "--json"))["rows"][0]
        self.assertEqual((row["function"], row["columns"]["predicate"]), (evil, evil))
        row = list(csv.DictReader(io.StringIO(self.telltale("resolve", report, "--program", sites, "--csv"))))[0]
        self.assertEqual(row["function"], "'" + evil)

    def test_every_prefix_and_blind_damage(self):
        """D5 and D14 over all verbs and texts."""
        driver = os.path.join(os.path.dirname(TELLTALE), "mutation_driver")
        good = [os.path.join(GOLDEN, name) for name in sorted(os.listdir(GOLDEN))]
        for words in (["info", "--json", "@"], ["dump", "@"], ["check", "@"], ["top", "@", "--program", os.path.join(GOLDEN, "all_schemes.sites")],
                      ["resolve", "@", "--program", os.path.join(GOLDEN, "plugin.sites"), "--json"], ["report", "@"],
                      ["convert", "@", "-o", "/dev/null", "--to", "sampler"], ["sites", "@"], ["resolve-cfg", "--dot", "@"],
                      ["extract-section", ".debug_site_info", "@"]):
            done = subprocess.run([driver, "--count", os.environ.get("TELLTALE_MUTATIONS", "150"), "--seed", "5", "--scratch",
                                   self.path("scratch"), "--counts", self.path("counts"), "--", *words, "--", *good,
                                   self.path("one.o"), self.path("libunits.a")], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=120)
            self.assertEqual(done.returncode, 0, (words, done.stderr[-2000:]))

    @staticmethod
    def hostile(n):
        """name -> (text of about n bytes, that text's kind): the most expensive inputs for a careless reader."""
        section = f'<samples unit="{UNIT}" scheme="%s">\n%s</samples>\n'
        table = f'<sites unit="{UNIT}" scheme="%s">\n%s</sites>\n'
        many = {"sections": '<samples unit="%032x" scheme="branches">\n', "names": '<report id="i%d">\n',
                "schemes": f'<samples unit="{UNIT}" scheme="x%d">\n</samples>\n'}
        texts = {name: "".join(line % i for i in range(n // len(line % 9))) for name, line in many.items()}
        texts |= {"rows": section % ("data", "0\n" * (n // 2)), "blank": section % ("data", "\n" * n),
                  "wide": section % ("unknown", "\t" * 63 + "\n" * n), "angles": section % ("data", "<\n" * (n // 2)),
                  "bounds": section % ("bounds", "1\t2\n" * (n // 4)), "nested": '<report id="samples">\n' * (n // 22),
                  "graphs": f"*\t0.1\n\n{UNIT}\n\n" * (n // 40)}
        sites = {"empty sites": table % ("branches", "\n" * n), "short sites": table % ("data", "a\n" * (n // 2)),
                 "tabs": table % ("scalar-pairs", "\t" * 9 + "\n" * n),
                 "units": "".join(f'<sites unit="{i:032x}" scheme="data">\nf\t1\tg\t0\tx\tread\n</sites>\n' for i in range(n // 93))}
        return {name: (text, "report") for name, text in texts.items()} | {name: (text, "sites") for name, text in sites.items()}

    def test_hostile_texts_stay_small(self):
        """D3: the memory for reading a MiB is bounded, whatever its contents and the verb."""
        for name, (text, kind) in self.hostile(1 << 20).items():
            path = self.write("hostile", text)
            asked = [["info"], ["check"], ["dump"], ["convert", "-o", "/dev/null", "--to", "sampler"], ["resolve"], ["top"], ["report"],
                     ["convert", "-o", "/dev/null", "--to", "csv"]]
            if kind == "sites":
                asked = [["info"], ["check"], ["dump"], ["sites"], ["sites", "--csv"], ["sites", "--json"]]
            for words in asked:
                child = subprocess.Popen([TELLTALE, words[0], path, *words[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                self.assertIn(child.returncode, (0, 1, 2, 3), (name, words))
                # The program itself, with its libraries, and 32 MiB + 4 x input.
                self.assertLess(usage.ru_maxrss, (32 + 32 + 4) * 1024, (name, words))

    def test_extreme_numbers(self):
        """D3, D12: in every field that holds a number."""
        sites = self.write("extreme.sites", "")
        for value in (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**40):
            with open(sites, "w") as file:
                file.write(f'<sites unit="{UNIT}" scheme="branches">\nf.c\t{value}\tf\t{value}\tx\n</sites>\n')
            text = (f'<samples unit="{UNIT}" scheme="branches">\n{value}\t1\n</samples>\n'
                    f'<timestamps unit="{UNIT}" scheme="branches" when="last">\n{value}\n</timestamps>\n')
            report = self.write("extreme.report", f'<report id="samples">\n{text}{text}</report>\n'
                                f'<report id="main-backtrace">\nm(f+0x{value:x})[0x{value:x}]\n</report>\n')
            (row,) = json.loads(self.telltale("resolve", report, "--program", sites, "--json", "--sparsity", "1000"))["rows"]
            if value < 2**64:
                self.assertEqual(row["values"], {"false": min(2 * value, 2**64 - 1), "true": 2})
                self.assertEqual(row["last"], value)
            else:
                self.assertEqual(row["values"], {"false": 0, "true": 0})
                self.assertFalse(row["reported"])
            for words in (["report"], ["top"], ["info"]):
                self.telltale(words[0], report, "--program", sites)
            # A line 0 is not a place.
            self.telltale("convert", report, "--program", sites, "-o", "-", "--to", "lcov", "--sparsity", str(2**53),
                          status=0 if 0 < value < 2**64 else 2)

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_time_grows_with_the_text_and_no_faster(self):
        """D4."""
        few, many = self.hostile(24 << 10), self.hostile(96 << 10)
        base = self.instructions(["info", "@"], self.write("nothing", '<report id="samples">\n</report>\n'))
        for name in many if LONG else ("sections", "rows", "nested", "units"):
            words = ["sites" if many[name][1] == "sites" else "resolve", "@"] if name != "graphs" else ["check", "@"]
            small = self.instructions(words, self.write("small", few[name][0])) - base
            large = self.instructions(words, self.write("large", many[name][0])) - base
            self.assertLess(large, 4.6 * max(small, base // 10), name)

    def test_by_every_road(self):
        """D7: random reports, merged by a few lines of our own; from a file, a pipe, a compressed file."""
        for seed in range(40 if LONG else 8):
            choice = random.Random(seed)
            rows = [choice.randrange(1, 6) for _ in range(4)]
            kinds = [("branches", 2), ("returns", 3), ("function-entries", 1), ("bounds", 2)]
            sites = "".join(f'<sites unit="{u:032x}" scheme="{scheme}">\n' + "".join(
                f"f{u}.c\t{i + 1}\tg\t{i}" + "\tx" * {"function-entries": 0, "bounds": 3}.get(scheme, 1) + "\n" for i in range(n)) +
                "</sites>\n" for u in range(2) for (scheme, _), n in zip(kinds, rows))
            sums = {}
            text = ""
            for _ in range(choice.randrange(1, 9)):
                u, which = choice.randrange(2), choice.randrange(4)
                scheme, width = kinds[which]
                numbers = [[choice.randrange(-50, 50) if scheme == "bounds" else choice.randrange(10**choice.randrange(1, 18))
                            for _ in range(width)] for _ in range(rows[which])]
                if scheme == "bounds":
                    numbers = [sorted(pair) for pair in numbers]
                text += (f'<report id="samples">\n<samples unit="{u:032x}" scheme="{scheme}">\n' +
                         "".join("\t".join(map(str, row)) + "\n" for row in numbers) + "</samples>\n</report>\n")
                old = sums.get((u, scheme))
                if old and scheme == "bounds":
                    numbers = [[min(a[0], b[0]), max(a[1], b[1])] for a, b in zip(old, numbers)]
                elif old:
                    numbers = [[x + y for x, y in zip(a, b)] for a, b in zip(old, numbers)]
                sums[u, scheme] = numbers
            table, report = self.write("seed.sites", sites), self.write("seed.report", text)
            expected = [(f"{u:032x}", scheme, i, [str(n) for n in row]) for (u, scheme), numbers in sums.items()
                        for i, row in enumerate(numbers)]
            told = self.tool("resolveSamples", table, stdin=text).splitlines()
            told = [line.split("\t") for line in told]
            self.assertEqual([(row[1], row[2], int(row[4]) - 1, row[-dict(kinds)[row[2]]:]) for row in told], expected)
            one = self.telltale("resolve", report, "--program", table, "--csv")
            self.assertEqual(self.telltale("resolve", "-", "--program", table, "--csv", stdin=text.encode()), one)
            packed = self.write("seed.gz", gzip.compress(text.encode()))
            self.assertEqual(self.telltale("resolve", packed, "--program", table, "--csv"), one)
            halves = text.split("</report>\n")
            parts = [self.write(f"part{i}", part + "</report>\n") for i, part in enumerate(halves[:-1])]
            self.assertEqual(self.telltale("resolve", *parts, "--program", table, "--csv"), one)

    def test_depth(self):
        """D8: on a stack of 256 KiB."""
        for name, (text, kind) in self.hostile(1 << 20).items():
            path = self.write("deep", text)
            words = ["sites", "@"] if kind == "sites" else ["resolve", "@"] if name != "graphs" else ["resolve-cfg", "@"]
            status, errors = self.run_limited(words, path, stack=256 << 10)
            self.assertIn(status, (0, 1, 2, 3), (name, errors))

    def test_bombs(self):
        """D9: compressed reports and compressed sections."""
        # Run as children, whose memory is measured.
        subprocess.run(["sh", "-c", """(printf '<report id="samples">\\n'; head -c 256M /dev/zero) | gzip -1 > bomb.gz;
                        (echo '<sites>'; head -c 64M /dev/zero) > zeros"""], cwd=self.folder, check=True)
        packed = self.path("bomb.gz")
        for words in (["info", "@"], ["check", "@"], ["resolve", "@"]):
            status, _ = self.run_limited(words, packed, address_space=512 << 20)
            self.assertIn(status, (0, 1, 3), words)
        self.write("plain.c", "int plain;\n")
        self.sh(CLANG, "-c", "plain.c", "-o", "bare.o")
        self.sh("objcopy", "--add-section", ".debug_site_info=zeros", "bare.o", "large.o")
        self.sh("objcopy", "--compress-debug-sections=zlib", "large.o", "packed.o")
        self.assertEqual(self.telltale("extract-section", ".debug_site_info", "packed.o"), "")
        self.assertIn("bytes would be decompressed from", self.stderr)

    def test_no_file_but_those_given(self):
        """D10: names in sites, reports and backtraces are not opened: opening a pipe without a writer would block
        forever."""
        os.mkfifo(self.path("pipe"))
        pipe = self.path("pipe")
        sites = self.write("names.sites", f'<sites unit="{UNIT}" scheme="coverage">\n{pipe}\t1\t{pipe}\t0\t{pipe}\n</sites>\n')
        trace = f"{pipe}(f+0x1)[0x10]\n"
        report = self.write("names.report", f'<report id="samples">\n<samples unit="{UNIT}" scheme="coverage">\n7\n</samples>\n</report>\n'
                                            f'<report id="../../{pipe}">\n1\n</report>\n<report id="main-backtrace">\n{trace}</report>\n')
        for words in (["info"], ["resolve"], ["top"], ["report"], ["convert", "-o", "-", "--to", "lcov"], ["convert", "-o", "-", "--to", "sampler"]):
            self.telltale(words[0], report, "--program", sites, *words[1:])
        self.assertEqual(self.tool("resolve-backtrace", "myapp", stdin=trace, status=2), f"0x10\t{pipe}\t??\t??\t0\n")

    def test_the_same_bytes_whatever_the_surroundings(self):
        """D13."""
        report, sites = (os.path.join(GOLDEN, "all_schemes." + kind) for kind in ("report", "sites"))
        for words in (["info", "--json"], ["resolve"], ["resolve", "--json"], ["top"], ["report"], ["convert", "-o", "-", "--to", "lcov"],
                      ["convert", "-o", "-", "--to", "sampler"]):
            seen = set()
            for environment in ({}, {"TZ": "Asia/Tokyo", "LC_ALL": "C"}, {"TZ": "America/New_York", "LC_ALL": "de_DE.UTF-8"}):
                for how in ({}, {"preexec_fn": without_address_randomisation}):
                    done = subprocess.run([TELLTALE, words[0], report, "--program", sites, *words[1:]], capture_output=True,
                                          env={**os.environ, **environment}, timeout=60, **how)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    seen.add(done.stdout)
            self.assertEqual(len(seen), 1, words)


if __name__ == "__main__":
    unittest.main()
