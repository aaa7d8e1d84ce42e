"""The LLVM IR that the Sampler plugin makes: comments in tests/programs/sampler/ir/ say what it must be."""
import unittest

from ir_checks import IrCase
from sampler_programs import PROGRAMS

# The IR as the pass leaves it: no optimisation follows, but functions are cloned as in optimised code.
UNOPTIMISED = ("-O0", "-Xclang", "-disable-O0-optnone")


class Ir(IrCase):
    def check(self, name):
        self.check_ir(PROGRAMS / "ir" / name, *UNOPTIMISED)

    def test_a_function_with_a_loop_has_a_fast_and_a_slow_copy(self):
        self.check("region_copies.c")

    def test_an_acyclic_function_dispatches_to_its_slow_copy_and_extends_its_callers_region(self):
        self.check("acyclic_function.c")

    def test_call_sampling_leaves_plain_code_and_a_clone_with_checks(self):
        self.check("call_sampling.c")

    def test_with_threads_each_counts_its_calls(self):
        self.check("thread_call_sampling.c")

    def test_a_small_loop_is_unrolled_with_a_cached_countdown(self):
        self.check("unrolled_loop.c")

    def test_both_copies_have_landing_pads(self):
        self.check("exceptions.cc")

    def test_sampled_pairs_are_tallied_in_bytes(self):
        self.check("pair_tallies.c")

    def test_without_sampling_signal_handlers_do_not_touch_tallies_in_use(self):
        self.check("always_pair_tallies.c")

    def test_without_sampling_threads_have_tallies_of_their_own(self):
        self.check("always_thread_tallies.c")

    def test_without_sampling_few_unsigned_pairs_are_counted_in_assembly(self):
        self.check("always_unsigned_pairs.c")

    def test_loops_observe_first_executions_in_their_first_regions_only(self):
        self.check("first_executions_in_loops.c")

    def test_blocks_with_many_sites_have_no_chains_of_freezes(self):
        self.check("many_sites.c")


if __name__ == "__main__":
    unittest.main()
