"""Rows D1 to D14 for Sampler's texts; docs/design/sampler-compiler.md, "Reliability", says which test shows what."""

import csv
import io
import json
import os
import subprocess
import unittest

from sampler_tool_case import GOLDEN, TELLTALE, UNIT, SamplerToolCase


class SamplerReliability(SamplerToolCase):
    def test_names_do_not_escape(self):
        """D11: what stands in sites and reports is text, whatever it is printed to."""
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
        row = json.loads(self.telltale("resolve", report, "--program", sites, "--json"))[0]
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

    def test_hostile_texts_stay_small(self):
        """D3: what reading a MiB costs is bounded by it, whatever it holds."""
        mib = 1 << 20
        section = f'<samples unit="{UNIT}" scheme="%s">\n%s</samples>\n'
        many = {"sections": '<samples unit="%032x" scheme="branches">\n', "names": '<report id="i%d">\n',
                "schemes": f'<samples unit="{UNIT}" scheme="x%d">\n</samples>\n'}
        texts = {name: "".join(line % i for i in range(mib // len(line % 9))) for name, line in many.items()}
        texts |= {"rows": section % ("data", "0\n" * (mib // 2)), "blank": section % ("data", "\n" * mib),
                  "wide": section % ("unknown", "\t" * 63 + "\n" * mib), "angles": section % ("data", "<\n" * (mib // 2)),
                  "graphs": f"*\t0.1\n\n{UNIT}\n\n" * (mib // 40)}
        for name, text in texts.items():
            path = self.write("hostile." + name, text)
            for words in (["info"], ["check"], ["dump"], ["convert", "-o", "/dev/null", "--to", "sampler"]):
                child = subprocess.Popen([TELLTALE, words[0], path, *words[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                self.assertIn(child.returncode, (0, 1, 2), (name, words))
                # The program itself, with its libraries, and 32 MiB + 4 x input.
                self.assertLess(usage.ru_maxrss, (32 + 32 + 4) * 1024, (name, words))


if __name__ == "__main__":
    unittest.main()
