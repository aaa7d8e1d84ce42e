"""The LLVM IR that the plugin makes, with each release of clang: FileCheck compares it with the comments in
tests/programs/sampler/ir/. Their "FLAGS:" are passed to telltale-cc."""
import pathlib
import re
import unittest

from sampler_programs import PROGRAMS, RELEASES, SamplerCase, compile_with, run

FILECHECK = pathlib.Path("/usr/lib/llvm-19/bin/FileCheck")
# The IR as the pass leaves it: no optimisation follows, but functions are cloned as in optimised code.
UNOPTIMISED = ("-S", "-emit-llvm", "-O0", "-Xclang", "-disable-O0-optnone", "-fno-discard-value-names")


class Ir(SamplerCase):
    def check(self, name):
        source = PROGRAMS / "ir" / name
        flags = re.search(r"^// FLAGS: (.*)$", source.read_text(), re.M).group(1).split()
        for release in RELEASES:
            with self.subTest(release=release):
                output = self.path(f"{name}.{release}.ll")
                done = compile_with(release, *UNOPTIMISED, *flags, source, "-o", output, cxx=name.endswith(".cc"))
                self.assertEqual(done.returncode, 0, done.stderr)
                checked = run(FILECHECK, source, "--input-file", output)
                self.assertEqual(checked.returncode, 0, checked.stderr[:4000])

    def test_a_function_with_a_loop_has_a_fast_and_a_slow_copy(self):
        self.check("region_copies.c")

    def test_an_acyclic_function_dispatches_to_its_slow_copy_and_extends_its_callers_region(self):
        self.check("acyclic_function.c")

    def test_call_sampling_leaves_plain_code_and_a_clone_with_checks(self):
        self.check("call_sampling.c")

    def test_a_small_loop_is_unrolled_with_a_cached_countdown(self):
        self.check("unrolled_loop.c")

    def test_both_copies_have_landing_pads(self):
        self.check("exceptions.cc")

    def test_sampled_pairs_are_tallied_in_bytes(self):
        self.check("pair_tallies.c")


if __name__ == "__main__":
    unittest.main()
