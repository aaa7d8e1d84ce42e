"""The same source and options give the same object, byte for byte: addresses in the compiler, which differ in each
process, do not matter."""
import concurrent.futures
import hashlib
import itertools
import unittest

from sampler_programs import ALL, CONCURRENT, RELEASES, SOURCE_DIR, SamplerCase, compile_with

C_PROGRAMS = [SOURCE_DIR / "tests/programs/sampler" / name for name in ("awkward.c", "crowded.c", "often_called.c")]
CXX_PROGRAMS = [SOURCE_DIR / "tests/programs/sampler/modern.cc"]
TRACED = [SOURCE_DIR / "tests/programs/csi" / name for name in ("control_flow.c", "exceptions.cc")]
SCHEMES = ("-fsampler-scheme=branches", "-fsampler-scheme=returns", "-fsampler-scheme=scalar-pairs")
KINDS = {"sampled": SCHEMES, "adaptive": (*SCHEMES, "-fsampler-adaptive"), "adaptive blocks": (*SCHEMES, "-fsampler-adaptive", "-fsampler-adaptive-blocks"),
         "threads": (*SCHEMES, "-fsampler-adaptive", "-pthread"), "by sites": (*SCHEMES, "-fno-sample-regions", "-fbalance-paths"),
         "all": (*SCHEMES, "-fno-sample"), "other schemes": ALL, "accesses": CONCURRENT}
PATHS = {"paths": ("--trace=pt.schema",), "paths and coverage": ("--trace=cc_pt.schema",)}


class Objects(SamplerCase):
    def assert_same(self, programs, kinds):
        def digest(release, level, program, kind, number):
            output = self.path(f"{release}{level}{program.name}{kind}{number}.o".replace(" ", "_"))
            words = ("-std=c++20",) if program.suffix == ".cc" else ()
            done = compile_with(release, level, "-w", *words, *kinds[kind], "-c", program, "-o", output, cxx=bool(words))
            self.assertEqual(done.returncode, 0, done.stderr[:2000])
            return hashlib.sha256(output.read_bytes()).hexdigest()

        cases = list(itertools.product(RELEASES, ("-O0", "-O2"), programs, kinds))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = {case: [pool.submit(digest, *case, number) for number in range(3)] for case in cases}
        differ = [case for case, digests in found.items() if len({one.result() for one in digests}) != 1]
        self.assertEqual(differ, [])

    def test_of_sampled_programs(self):
        self.assert_same(C_PROGRAMS, KINDS)

    def test_of_sampled_programs_in_cxx(self):
        self.assert_same(CXX_PROGRAMS, {kind: KINDS[kind] for kind in ("adaptive", "by sites")})

    def test_of_traced_programs(self):
        self.assert_same(TRACED, PATHS)


if __name__ == "__main__":
    unittest.main()
