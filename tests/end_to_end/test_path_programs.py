"""Real programs, from Debian's source packages, built with path tracing, pass their own tests. TELLTALE_LONG=1 adds larger
programs and levels."""
import unittest

import test_sampler_real_programs as real
from path_sections import Records, parse_entries
from sampler_programs import RELEASES, section


class PathPrograms(real.RealPrograms):
    test_all_schemes_together = test_first_executions = test_each_scheme = None

    def look_at(self, _reports, program, _part):
        """Every function of the text is numbered consistently, and has a record and positions."""
        entries = parse_entries(section(program, ".debug_PT"))
        records = Records(section(program, ".debug_telltale_paths"))
        self.assertEqual({offset for offset, _ in records.functions.values()}, set(entries))
        placed = {position.key for position in records.positions}
        self.assertGreater(len(placed), len(entries) * 0.9)
        return len(entries)

    def check(self, name, release, level):
        with self.subTest(program=name, release=release, level=level):
            functions = self.passes(name, release, f"{level} --trace=pt.schema -silent")
            self.assertGreater(functions, 10)

    def test_small_programs(self):
        # Each release builds each program once.
        for number, name in enumerate(real.SHORT):
            for level in ("-O0", "-O2"):
                self.check(name, RELEASES[(number + (level == "-O2")) % len(RELEASES)], level)

    @unittest.skipUnless(real.LONG, "takes long: TELLTALE_LONG=1")
    def test_larger_programs(self):
        for name in ("lua", "gzip", "ninja", "sqlite"):
            for release in RELEASES:
                for level in ("-O0", "-O2", "-O3"):
                    self.check(name, release, level)


if __name__ == "__main__":
    unittest.main()
