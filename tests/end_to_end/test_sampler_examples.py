"""The examples of the Sampler's own texts and tests, in C and in C++: their sites and counts. The programs are ours and
behave as the texts describe."""
import unittest

from program_text import program_text
from sampler_programs import RELEASES, SamplerCase, build, resolved

REACHING = ("-fassign-across-pointer", "-fassign-into-field", "-fassign-into-index")


class Examples(SamplerCase):
    maxDiff = None

    def rows(self, schemes, source, *flags, arguments=(), cxx=False, status=0, release=None):
        """(scheme, line, function, columns..., counters...) of each site, as fields without blanks, sorted."""
        files = {"a": source} if isinstance(source, str) else source
        paths = []
        for name, text in files.items():
            paths.append(self.path(name + (".cc" if cxx else ".c")))
            paths[-1].write_text(text)
        program = build(self.path("p"), release or RELEASES[-1], "-w", *flags, *(f"-fsampler-scheme={scheme}" for scheme in schemes),
                        *paths, cxx=cxx)
        done = self.run_reported(program, *arguments, SAMPLER_SPARSITY="1")
        self.assertEqual(done.returncode, status, done.stderr)
        return [" ".join(field.strip() for i, field in enumerate(line.split("\t")) if i != 1) for line in resolved(self.report, program)]

    def check(self, expected, schemes, source, *flags, **how):
        for cxx in (False, True):
            # C sampled by the one release and C++ by the other, and the other way round without.
            for release, sampling in zip(RELEASES, ("-fno-sample", "-fsample") if cxx else ("-fsample", "-fno-sample")):
                with self.subTest(cxx=cxx, release=release, sampling=sampling):
                    self.assertEqual(sorted(self.rows(schemes, source, sampling, *flags, cxx=cxx, release=release, **how)),
                                     sorted(expected.strip().splitlines()))

    def test_branches_and_the_second_operand(self):
        self.check("""
branches 3 main argv[0][0] == 'x' 1 0
branches 5 main argv[0][0] 0 1
branches 5 main argc > 9 1 0""", ["branches"], program_text("sampler/cases/second_operand.c"))

    def test_units_of_one_program(self):
        self.check("""
branches 2 other value 1 0
branches 3 main n 0 1
branches 4 main n 1 0
returns 3 main other 0 1 0""", ["branches", "returns"], {
            "a": program_text("sampler/cases/calls_other.c"),
            "b": program_text("sampler/cases/other.c")})

    def test_function_entries_and_returns(self):
        self.check("""
function-entries 1 five 2
function-entries 2 less 1
function-entries 3 main 1
returns 4 main five 0 0 1
returns 5 main five 0 0 1
returns 5 main less 1 0 0
""".rstrip(), ["function-entries", "returns"], program_text("sampler/cases/entries_and_returns.c"))

    def test_all_float_kinds(self):
        """As often as their place implies."""
        self.check("""
float-kinds 6 main kept global direct 1 2 3 4 5 6 7 8 9""", ["float-kinds"], program_text("sampler/cases/float_kinds.c"))

    def test_bounds_of_an_enumeration(self):
        self.check("""
bounds 4 assign *holder mem direct 2 3
bounds 7 main channel local direct 1 1
bounds 8 main other local direct 0 0""", ["bounds"], program_text("sampler/cases/bounds.c"), "-fassign-across-pointer")

    def test_every_place_of_a_left_side(self):
        """local, global and mem; direct, field and index."""
        source = program_text("sampler/cases/left_sides.c")
        places = [("plain", "local direct"), ("local.many", "local field"), ("array[1]", "local index"), ("shared_one", "global direct"),
                  ("shared.many", "global field"), ("shared_many[1]", "global index"), ("*q", "mem direct"), ("p->many", "mem field"),
                  ("p->room[1]", "mem index"),
                  ("q[1]", "mem direct")]  # the same as *(q + 1)
        self.check("\n".join(f"bounds {line} f {name} {place} {line - 8} {line - 8}" for line, (name, place) in enumerate(places, 9)),
                   ["bounds"], source, "-DNUMBER=int", *REACHING)
        self.check("\n".join(f"float-kinds {line} f {name} {place} 0 0 0 0 0 0 0 1 0" for line, (name, place) in enumerate(places, 9)),
                   ["float-kinds"], source, "-DNUMBER=float", *REACHING)
        for cxx in (False, True):
            rows = self.rows(["scalar-pairs"], source, "-DNUMBER=int", "-fno-sample", *REACHING, cxx=cxx)
            for line, (name, place) in enumerate(places, 9):
                self.assertIn(f"scalar-pairs {line} f {name} {place} 0LL const 0 0 1", rows)

    def test_globals_are_seen_from_where_they_stand(self):
        """late is not visible to earlier code."""
        self.check("""
scalar-pairs 4 incr counter global direct 0LL const 0 0 1
scalar-pairs 4 incr counter global direct counter global 0 0 1
scalar-pairs 4 incr counter global direct early global 1 0 0
scalar-pairs 8 decr counter global direct 0LL const 0 1 0
scalar-pairs 8 decr counter global direct counter global 1 0 0
scalar-pairs 8 decr counter global direct early global 1 0 0
scalar-pairs 8 decr counter global direct late global 1 0 0""", ["scalar-pairs"], program_text("sampler/cases/late_global.c"))

    def test_what_may_not_be_set_yet(self):
        """chr is local-uninit the first time and local-init after; a null pointer is compared with the null of its type."""
        for cxx in (False, True):
            rows = self.rows(["scalar-pairs"], program_text("sampler/cases/not_yet_set.c"), "-fno-sample", cxx=cxx)
            kinds = {(int(row.split()[1]), row.split()[6]): row.split()[7] for row in rows if row.split()[6] == "chr"}
            self.assertEqual(kinds[5, "chr"], "local-uninit")
            self.assertEqual(kinds[8, "chr"], "local-init")
            self.assertEqual(sum("(char *)0 const" in row for row in rows), 2)
            self.assertTrue(any(row.startswith("scalar-pairs 6 main at local direct (char *)0 const 0 1 0") for row in rows), rows)
            self.assertTrue(any(row.startswith("scalar-pairs 7 main at local direct (char *)0 const 0 0 1") for row in rows), rows)

    def test_all_constants_of_a_unit(self):
        self.check("\n".join(f"scalar-pairs {line} main x local direct {n}LL const " + ("1 0 0", "0 1 0", "0 0 1")[(value > n) + (value >= n)]
                             for line, value in ((2, 32), (3, 1900)) for n in (0, 32, 33, 1900)) + """
scalar-pairs 3 main x local direct x local-init 0 0 1""", ["scalar-pairs"], program_text("sampler/cases/unit_constants.c"), "-fcompare-constants")

    def test_threads_count_exactly(self):
        """Two threads; nothing is lost."""
        self.check("""
branches 5 odd x % 10 == 0 15300 1700
branches 6 even y % 5 == 0 9600 2400
branches 5 odd x < 17000 1 17000
branches 6 even y < 12000 1 12000
""", ["branches"], program_text("sampler/cases/counting_threads.c"), "-pthread", "-O1")

    def test_shared_memory(self):
        """data: reads and writes of globals, of pointers' targets, of locals whose address escapes; yields: the
        assignment."""
        self.check("""
data 4 f *p write 1
data 4 f global read 1
data 8 main global write 1
data 9 main shared write 1
data 11 main shared read 1
data 11 main global read 1
yields 4 f *p = global 0 1
yields 8 main global = 4 0 1
yields 9 main shared = 1 0 1""", ["data", "yields"], program_text("sampler/cases/shared_memory.c"))

    def test_reentries(self):
        self.check("""
fun-reentries 1 down down 1 3
fun-reentries 2 main main 1 0""", ["fun-reentries"], program_text("sampler/cases/reentries.c"))


if __name__ == "__main__":
    unittest.main()
