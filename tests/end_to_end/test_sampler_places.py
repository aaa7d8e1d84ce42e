"""Calls are counted wherever an expression is allowed: as many returns are observed as the function has entries."""
import unittest

from sampler_programs import ALL, CONCURRENT, PROGRAMS, RELEASES, SamplerCase, build, resolved, run

NOT_LOOKED_AT = {"everywhere.c": 0, "everywhere.cc": 2}  # initialisers of globals
STANDARD = {"everywhere.c": "-std=gnu17", "everywhere.cc": "-std=c++23"}


class Places(SamplerCase):
    def seen(self, program):
        """(calls entered, returns observed) of `told`."""
        entered = returned = 0
        for line in resolved(self.report, program):
            columns = line.split("\t")
            if columns[0] == "function-entries" and columns[3].startswith("told"):
                entered += int(columns[-1])
            elif columns[0] == "returns" and columns[4] == "told":
                returned += sum(int(n) for n in columns[-3:])
        return entered, returned

    def test_every_call_is_seen(self):
        for name, standard in STANDARD.items():
            plain = run(build(self.path("plain"), RELEASES[-1], standard, "-w", PROGRAMS / name, cxx=name.endswith("cc")))
            for release in RELEASES:
                for level in ("-O0", "-O2"):
                    with self.subTest(program=name, release=release, level=level):
                        program = build(self.path("p"), release, standard, "-w", level, "-fno-sample", *ALL, *CONCURRENT,
                                        PROGRAMS / name, cxx=name.endswith("cc"))
                        self.assertEqual(self.run_reported(program).stdout, plain.stdout)
                        entered, returned = self.seen(program)
                        self.assertGreater(entered, 100)
                        self.assertEqual(returned, entered - NOT_LOOKED_AT[name])


if __name__ == "__main__":
    unittest.main()
