"""-fsampler-adaptive: first executions are observed, in addition to the sample and apart from it."""
import collections
import json
import pathlib
import re
import unittest

from program_text import program_text
from sampled_counts_case import SampledCountsCase
from sampler_programs import PROGRAMS, RELEASES, SOURCE_DIR, build, compile_with, run, samples, tables
from study_case import StudyCase, telltale
from test_sampler_statistics import SOME

SCHEMES = ("-fsampler-scheme=branches", "-fsampler-scheme=returns", "-fsampler-scheme=scalar-pairs")
# Bounds of first executions are with those of the sample.
OTHERS = (*SCHEMES, "-fsampler-scheme=function-entries,bounds,float-kinds")
LIMIT = ("-O2", "-fsampler-scheme=branches", "-fexclude-function=main", PROGRAMS / "limit_reached.c")
SELDOM = ("-O2", "-fsampler-adaptive-blocks", *SCHEMES, PROGRAMS / "seldom_reached.c")
FIRST = re.compile(r'<report id="first-samples" sparsity="\d+" first="\d+">\n(.*?)</report>\n', re.S)


def without_first(report):
    """The report as the published format has it."""
    return FIRST.sub("", pathlib.Path(report).read_text())


def first_of(report):
    return tables("".join(FIRST.findall(pathlib.Path(report).read_text())), "samples")


def reached(sections):
    """(scheme, row) of the sites with counts; a unit's signature depends on the options."""
    return {(key[1], row) for key, rows in sections for row, counts in enumerate(rows) if set(counts) != {"0"}}


def outcomes(sections):
    """(scheme, row, index) of the counters that are not 0."""
    return {(key[1], row, index) for key, rows in sections for row, counts in enumerate(rows)
            for index, count in enumerate(counts) if count != "0"}


class Adaptive(SampledCountsCase):
    def counters(self):
        """Of the sample alone, in the order of schemes and sites."""
        sections = sorted(tables(without_first(self.report), "samples"), key=lambda section: section[0][1])
        return [int(count) for _, rows in sections for row in rows for count in row]

    def all_reached(self, *words):
        exact = build(self.path("exact"), RELEASES[-1], "-fno-sample", *words)
        expected = self.run_reported(exact).stdout
        return expected, reached(samples(self.report))

    def test_limits_that_are_reached_once_are_always_observed(self):
        """The outcome of a branch, without code of its own: one of 100,000 loops ends at its limit."""
        exact = build(self.path("exact"), RELEASES[-1], "-fno-sample", *LIMIT)
        expected = self.run_reported(exact).stdout
        truth = outcomes(samples(self.report))
        for release in RELEASES:
            for words in ((), ("-pthread",), ("-fno-sample-turns",), ("-O0",)):
                program = build(self.path("program"), release, "-fsampler-adaptive", *LIMIT, *words)
                for seed in range(1, 6):
                    with self.subTest(release=release, words=words, seed=seed):
                        done = self.run_reported(program, SAMPLER_SPARSITY="1000", SAMPLER_SEED=str(seed))
                        self.assertEqual(done.stdout, expected)
                        self.assertEqual(outcomes(samples(self.report)), truth)
                        self.assertLess(len(outcomes(tables(without_first(self.report), "samples"))), len(truth))

    def test_rare_code_is_always_observed(self):
        """Every site of this program that a run reaches is in its report, though some are reached once in millions of
        executions of the code around them, and one region in 1,000 is in the sample."""
        expected, truth = self.all_reached(*SELDOM)
        for release in RELEASES:
            for words in ((), ("-pthread",), ("-fno-sample-turns",)):
                program = build(self.path("program"), release, "-fsampler-adaptive", *words, *SELDOM)
                for seed in range(1, 11):
                    with self.subTest(release=release, words=words, seed=seed):
                        done = self.run_reported(program, SAMPLER_SPARSITY="1000", SAMPLER_SEED=str(seed))
                        self.assertEqual(done.stdout, expected)
                        self.assertEqual(truth - reached(samples(self.report)), set())
                        self.assertEqual(reached(samples(self.report)) - truth, set())
                        self.assertNotEqual(truth - reached(tables(without_first(self.report), "samples")), set())

    def test_no_execution_is_observed_twice(self):
        """Not even where rare code is within rare code, inlined or not."""
        sources = {"rare_in_rare.c": self.path("rare_in_rare.c"), "seldom_reached.c": PROGRAMS / "seldom_reached.c",
                   "limit_reached.c": PROGRAMS / "limit_reached.c"}
        sources["rare_in_rare.c"].write_text(program_text("sampler/cases/rare_in_rare.c"))
        for name, source in sources.items():
            exact = build(self.path("exact"), RELEASES[-1], "-O2", "-fno-sample", *SCHEMES, source)
            self.run_reported(exact)
            truth = {(key[1], row, place): int(count) for key, rows in samples(self.report) for row, counts in enumerate(rows)
                     for place, count in enumerate(counts)}
            for release in RELEASES:
                for words in (("-O0",), ("-O2",), ("-O2", "-pthread"), ("-O3",), ("-O2", "-fno-inline"), ("-O2", "-fno-sampler-adaptive-blocks")):
                    program = build(self.path("program"), release, "-fsampler-adaptive", "-fsampler-adaptive-blocks", *words, *SCHEMES, source)
                    for sparsity in ("1000000000", "5"):
                        with self.subTest(name=name, release=release, words=words, sparsity=sparsity):
                            self.run_reported(program, SAMPLER_SPARSITY=sparsity)
                            seen = collections.Counter()
                            for sections in (first_of(self.report), tables(without_first(self.report), "samples")):
                                for key, rows in sections:
                                    for row, counts in enumerate(rows):
                                        for place, count in enumerate(counts):
                                            seen[key[1], row, place] += int(count)
                            self.assertGreater(sum(seen.values()), 0)
                            self.assertEqual({at: (count, truth[at]) for at, count in seen.items() if count > truth[at]}, {})

    def test_the_sample_is_unbiased(self):
        """First executions are counted apart: n N of the published part is the estimate, as without them."""
        often = ("-O2", "-fsampler-scheme=branches", "-fsampler-scheme=scalar-pairs", PROGRAMS / "often_called.c")
        for flags, sparsities in ((SOME, (10, 100)), (often, (8, 30, 100))):
            truth = self.truth_of(*flags)
            for words in ((), ("-fthreads",)):
                sampled = build(self.path("sampled"), RELEASES[-1], "-fsampler-adaptive", *words, *flags)
                for sparsity in sparsities:
                    with self.subTest(sparsity=sparsity, program=flags[-1].name, words=words):
                        self.assert_unbiased(truth, self.counts_of(sampled, sparsity), sparsity, most=0.15)

    def test_checks_do_not_change_what_is_inlined(self):
        for release in RELEASES:
            for words in ((), ("-pthread",)):
                done = compile_with(release, "-O2", "-fsampler-adaptive", *words, *SCHEMES, "-c", "-o", self.path("o"), PROGRAMS / "inlined_callees.c")
                self.assertEqual(done.returncode, 0, done.stderr)
                symbols = run("nm", self.path("o")).stdout
                self.assertIn(" push.slow\n", symbols)
                self.assertNotRegex(symbols, r" push(.fast|.passed)?\n")
                self.assertIn(" take.slow\n", symbols)
                self.assertNotRegex(symbols, r" take(.fast|.passed)?\n")

    def test_checks_in_inlined_code_save_no_register(self):
        for release in RELEASES:
            done = compile_with(release, "-O2", "-fsampler-adaptive", *SCHEMES, "-S", "-o", self.path("s"), PROGRAMS / "inlined_callees.c")
            self.assertEqual(done.returncode, 0, done.stderr)
            code = pathlib.Path(self.path("s")).read_text().split("\nshared:", 1)[1].split(".cfi_endproc", 1)[0]
            self.assertIn("kind_of.slow", code)
            self.assertNotRegex(code, r"push\w*\s+%r(bx|bp|1[2-5])")

    def test_uniform_rates_write_the_published_report(self):
        program = build(self.path("program"), RELEASES[-1], "-fsampler-adaptive", *SELDOM)
        self.run_reported(program, SAMPLER_SPARSITY="100", SAMPLER_SEED="1", SAMPLER_RATES="uniform")
        self.assertEqual(first_of(self.report), [])
        self.assertNotEqual(reached(samples(self.report)), set())

    def test_bounds_of_first_executions_are_with_those_of_the_sample(self):
        source = self.path("bounds.c")
        source.write_text(program_text("sampler/cases/bounds_of_calls.c"))
        for release in RELEASES:
            program = build(self.path("program"), release, "-O1", "-fsampler-adaptive", "-fsampler-scheme=bounds,returns", source)
            with self.subTest(release=release):
                for rates, smallest_and_largest in (("adaptive", ["0", "98"]), ("uniform", ["2147483647", "-2147483648"])):
                    # No region is in the sample.
                    self.run_reported(program, SAMPLER_SPARSITY="1000000000", SAMPLER_SEED="1", SAMPLER_RATES=rates)
                    (rows,) = [rows for key, rows in tables(without_first(self.report), "samples") if key[1] == "bounds"]
                    self.assertEqual(rows[0], smallest_and_largest, rates)
                    self.assertNotIn("bounds", {key[1] for key, _ in first_of(self.report)})

    def test_uniform_rates_are_unbiased(self):
        flags = ("-O2", "-fsampler-scheme=branches", PROGRAMS / "often_called.c")
        truth = self.truth_of(*flags)
        program = build(self.path("sampled"), RELEASES[-1], "-fsampler-adaptive", *flags)
        counts = []
        for seed in range(1, 41):
            self.run_reported(program, SAMPLER_SPARSITY="30", SAMPLER_SEED=str(seed), SAMPLER_RATES="uniform")
            counts.append(self.counters())
        self.assert_unbiased(truth, counts, 30, most=0.15)

    def test_nothing_is_observed_unless_asked(self):
        program = build(self.path("program"), RELEASES[-1], "-fsampler-adaptive", *SELDOM)
        for rates in ({}, {"SAMPLER_RATES": "adaptive:9"}):
            self.run_reported(program, **rates)
            self.assertEqual(reached(samples(self.report)), set())
            self.assertEqual(first_of(self.report), [])

    def test_a_report_of_first_executions_alone_says_so(self):
        program = build(self.path("program"), RELEASES[-1], "-fsampler-adaptive", *SELDOM)
        self.run_reported(program, "1", SAMPLER_SPARSITY="1000000", SAMPLER_SEED="1")
        self.assertEqual(reached(tables(without_first(self.report), "samples")), set())
        self.assertIn("the sample is empty: only first executions", telltale("resolve", self.report).stderr)
        text = self.report.read_text()
        head, first = text[:text.index('<report id="first-samples"')], text[text.index('<report id="first-samples"'):]
        self.report.write_text(head + re.sub(r"^[\d\t]+$", lambda row: re.sub(r"\d+", "0", row[0]), first, flags=re.MULTILINE))
        self.assertIn("nothing was observed", telltale("resolve", self.report).stderr)

    def test_the_number_of_first_executions_can_be_set(self):
        program = build(self.path("program"), RELEASES[-1], "-fsampler-adaptive", "-O2", "-fsampler-scheme=function-entries",
                        "-fsampler-scheme=branches", PROGRAMS / "seldom_reached.c")
        counts = {}
        for number in (1, 3, 200):
            self.run_reported(program, "500", SAMPLER_SPARSITY="1000000", SAMPLER_SEED="1", SAMPLER_RATES=f"adaptive:{number}")
            entries = [rows for (_, scheme, _), rows in first_of(self.report) if scheme == "function-entries"]
            counts[number] = [int(row[0]) for row in entries[0]]
        # draw, kind_of, first_bit, parse, main. kind_of is called in main's loop: a region extends through the call, and each
        # of the first N regions of a place starts a series, which grows with N.
        one, three, many = (found[1] for found in counts.values())
        self.assertGreater(one, 8)
        self.assertLess(one, 150)
        self.assertGreater(three, 2 * one)
        self.assertEqual(many, 500)
        self.assertEqual([found[4] for found in counts.values()], [1, 1, 1])

    def test_exceptions_find_their_registers(self):
        """Of functions that the compiler inlines; the unwinder restores fewer registers than a cold function preserves."""
        source = PROGRAMS / "thrown.cc"
        for release in RELEASES:
            program = build(self.path("program"), release, "-O2", "-fsampler-adaptive", *SCHEMES, "-fsampler-scheme=function-entries", source, cxx=True)
            expected = run(program).stdout
            self.assertEqual(len(expected.splitlines()), 1)
            for sparsity in ("1", "2", "10", "1000"):
                self.assertEqual(self.run_reported(program, SAMPLER_SPARSITY=sparsity, SAMPLER_SEED="3").stdout, expected)

    def test_counters_that_are_never_touched(self):
        """Their pages are not read, and nothing is lost; first executions leave out schemes without counts."""
        wide = ("-O1", "-fsampler-scheme=branches", "-fsampler-scheme=float-kinds", PROGRAMS / "wide.c")
        for words in (("-fno-sample",), ("-fsampler-adaptive",), ("-fno-sample", "-pthread")):
            with self.subTest(words):
                self.run_reported(build(self.path("program"), RELEASES[-1], *words, *wide), SAMPLER_SPARSITY="1000000", SAMPLER_SEED="1")
                sections = first_of(self.report) if "-fsampler-adaptive" in words else samples(self.report)
                (rows,) = [rows for key, rows in sections if key[1] == "branches"]
                # 512 functions with eight branches, and main's loop
                self.assertEqual(len(rows), 4097)
                counted = {row: counts for row, counts in enumerate(rows) if set(counts) != {"0"} and row < 4096}
                first = {row: [str(min(row + 1, 5)), str(max(4 - row, 0))] for row in range(8)}
                self.assertEqual(counted, {**first, **{row: ["5", "0"] for row in (*range(0o3770, 0o4000), *range(0o7760, 0o7770))}})
                self.assertEqual({key[1] for key, _ in tables(without_first(self.report), "samples")}, {"branches", "float-kinds"})
                self.assertEqual([key[1] for key, _ in first_of(self.report)], ["branches"] if "-fsampler-adaptive" in words else [])

    def test_first_calls_end_with_hot_functions(self):
        """Checked code is slower: after some 10,000 regions a function's first calls end."""
        flags = ("-O1", "-fsampler-scheme=branches", PROGRAMS / "hot_calls.c")
        self.assertEqual(len(self.all_reached(*flags)[1]), 8)
        for release in RELEASES:
            program = build(self.path("program"), release, "-fsampler-adaptive", *flags)
            self.run_reported(program, SAMPLER_SPARSITY="1000000000", SAMPLER_SEED="1", SAMPLER_RATES="adaptive:255")
            (_, rows), = first_of(self.report)
            after_loop = [sum(map(int, rows[row])) for row in (2, 5)]
            self.assertEqual(after_loop[0], 20)
            self.assertLess(after_loop[1], 3)
            self.assertGreater(after_loop[1], 0)

    def test_the_first_128_calls_of_a_function_with_loops_are_observed(self):
        flags = ("-O1", "-fsampler-scheme=branches", PROGRAMS / "late_call.c")
        for release in RELEASES:
            for words in ((), ("-pthread",)):
                program = build(self.path("program"), release, "-fsampler-adaptive", *words, *flags)
                for seed in range(1, 6):
                    self.run_reported(program, SAMPLER_SPARSITY="1000000", SAMPLER_SEED=str(seed))
                    (_, rows), = first_of(self.report)
                    calls_is_120, = [row for row in rows if row[1] == "1"]
                    self.assertGreaterEqual(int(calls_is_120[0]), 119)

    def test_a_long_call_leaves_checked_code_and_returns_for_other_code(self):
        """The only call of an interpreter is a first call. After some 1,000,000 regions it leaves checked code, in which a
        countdown ends every 10,000 regions, until it gets to an operation that it has not executed."""
        counted = self.path("count_ends.o")
        build(counted, RELEASES[-1], "-c", PROGRAMS / "count_ends.c")
        wrapped = [f"-Wl,--wrap=telltale_sampler_region_due_{version}" for version in ("v1", "r_v2")]
        flags = ("-O2", *SCHEMES, PROGRAMS / "long_call.c")
        expected, truth = self.all_reached(*flags)
        for release in RELEASES:
            for words in ((), ("-pthread",)):
                program = build(self.path("program"), release, "-fsampler-adaptive", *words, *flags, *wrapped, counted)
                for seed in range(1, 4):
                    with self.subTest(release=release, words=words, seed=seed):
                        done = self.run_reported(program, SAMPLER_SPARSITY="100000000", SAMPLER_SEED=str(seed))
                        # 42,000,000 regions
                        ends = int(re.search(r"(\d+) ends", done.stderr)[1])
                        self.assertGreater(ends, 100)
                        self.assertLess(ends, 300)
                        self.assertEqual(done.stdout, expected)
                        self.assertEqual(reached(first_of(self.report)), truth)

    def test_a_long_call_in_the_sample_stays_in_checked_code(self):
        """At 1/1000, one first call in eight is sampled, with a region in 125. An operation is executed 6,000,000 times."""
        for release in RELEASES:
            program = build(self.path("program"), release, "-O2", "-fsampler-adaptive", "-fsampler-scheme=branches", PROGRAMS / "long_call.c")
            counts = []
            for seed in range(1, 33):
                self.run_reported(program, SAMPLER_SPARSITY="1000", SAMPLER_SEED=str(seed))
                (_, rows), = tables(without_first(self.report), "samples")
                counts.append(max(sum(map(int, row)) for row in rows))
            sampled = [count for count in counts if count > 1000]
            self.assertTrue(0 < len(sampled) < 16, counts)
            for count in sampled:
                self.assertAlmostEqual(count, 48000, delta=5 * 48000 ** 0.5)

    def test_addresses_of_labels_stay_in_their_copy_of_the_code(self):
        flags = ("-fsampler-scheme=branches", PROGRAMS / "kept_label.c")
        expected = run(build(self.path("plain"), RELEASES[-1], "-O1", PROGRAMS / "kept_label.c")).stdout
        for release in RELEASES:
            for level in ("-O1", "-O2"):
                with self.subTest(release=release, level=level):
                    program = build(self.path("program"), release, level, "-fsampler-adaptive", *flags)
                    done = self.run_reported(program, SAMPLER_SPARSITY="1000000000", SAMPLER_SEED="1")
                    self.assertEqual(done.stdout, expected)

    def test_the_more_often_a_place_executes_the_more_rarely_it_is_observed(self):
        flags = ("-O1", "-fsampler-scheme=branches", PROGRAMS / "decades.c")
        for release in RELEASES:
            for words in ((), ("-pthread",)):
                program = build(self.path("program"), release, "-fsampler-adaptive", *words, *flags)
                for seed in range(1, 6):
                    with self.subTest(release=release, words=words, seed=seed):
                        self.run_reported(program, SAMPLER_SPARSITY="100", SAMPLER_SEED=str(seed))
                        (_, rows), = first_of(self.report)
                        # Of the calls below 1,000, 10,000 and 100,000, and of all; row 3 is main's loop.
                        counts = [int(rows[row][0]) for row in range(3)] + [sum(map(int, rows[0]))]
                        self.assertGreater(counts[0], 100)
                        for lower, higher in zip(counts, counts[1:]):
                            self.assertGreater(higher, lower + 8)
                        self.assertLess(counts[3], 400)

    def test_wrong_rates_are_reported(self):
        program = build(self.path("program"), RELEASES[-1], "-fsampler-adaptive", *SELDOM)
        for rates in ("often", "adaptive:", "adaptive:0", "adaptive:256", "adaptive:1x", "adaptive: 1", "adaptive:-1"):
            done = self.run_reported(program, "10", SAMPLER_SPARSITY="10", SAMPLER_RATES=rates)
            self.assertEqual(done.returncode, 0)
            self.assertIn("SAMPLER_RATES is neither uniform nor adaptive", done.stderr)
            self.assertIn(rates, done.stderr)

    def test_other_schemes_and_options_leave_it_uniform(self):
        for words in (("-ftimestamp-first",), ("-fno-sample-regions",), ("-fsampler-scheme=data",), ("-fno-sample",)):
            with self.subTest(words=words):
                program = build(self.path("program"), RELEASES[-1], "-fsampler-adaptive", *words, *SELDOM)
                self.run_reported(program, "100", SAMPLER_SPARSITY="2")
                self.assertEqual(first_of(self.report), [])

    def test_children_observe_their_own_first_executions(self):
        program = build(self.path("program"), RELEASES[-1], "-fsampler-adaptive", "-O1", "-fsampler-scheme=branches",
                        PROGRAMS / "first_in_child.c")
        done = run(program, cwd=self.folder, env={"SAMPLER_FILE": "of.%p", "SAMPLER_SPARSITY": "1000000"})
        self.assertEqual(done.returncode, 0, done.stderr)
        reports = sorted(self.folder.glob("of.*"), key=lambda path: int(path.suffix[1:]))
        self.assertEqual(len(reports), 2)
        (_, rows), = first_of(reports[1])
        self.assertEqual(rows[0], ["1", "1"])

    def test_functions_that_cannot_be_cloned(self):
        """Computed jumps, setjmp, variable arguments: the programs print what they print without."""
        for name in ("awkward.c", "often_called.c", "turns.c"):
            plain = build(self.path("plain"), RELEASES[-1], "-O2", "-w", PROGRAMS / name)
            expected = run(plain)
            for release in RELEASES:
                for words in (("-O0", *SCHEMES), ("-O2", *SCHEMES), ("-O2", *OTHERS), ("-O0", "-fsampler-adaptive-blocks", *SCHEMES),
                              ("-O2", "-fsampler-adaptive-blocks", *SCHEMES)):
                    program = self.path("program")
                    done = compile_with(release, "-w", "-fsampler-adaptive", *words, PROGRAMS / name, "-o", program)
                    self.assertEqual(done.returncode, 0, done.stderr[:2000])
                    with self.subTest(name=name, release=release, words=words):
                        done = self.run_reported(program, SAMPLER_SPARSITY="20", SAMPLER_SEED="1")
                        self.assertEqual((done.returncode, done.stdout), (expected.returncode, expected.stdout))


class Isolation(StudyCase):
    def figures(self, name, *words, flags=()):
        """The predictors of 120 runs, by predicate: the runs in which it was true and its site was observed."""
        program = build(self.folder / name, RELEASES[-1], "-O1", "-g", *SCHEMES, *flags, PROGRAMS / "hot_cause.c")
        study = self.study(name)
        done = telltale("run", "-q", "--study", study, "--times", 120, "--jobs", 2, "--seed", 1, *words, "--", program, "{}")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = telltale("isolate", study, "--all", "--filter", "none", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["rows"]

    def test_the_cause_in_hot_code_is_found_with_the_figures_of_complete_observation(self):
        complete = self.figures("complete", flags=("-fno-sample",))
        adaptive = self.figures("adaptive", "--sparsity", 1000, flags=("-fsampler-adaptive", "-fsampler-adaptive-blocks"))
        uniform = self.figures("uniform", "--sparsity", 1000)

        def cause(rows):
            keys = ("failing", "successful", "failing_observed", "successful_observed", "increase", "context")
            return [{key: row[key] for key in keys if key in row} for row in rows if row["predicate"] == "n == -1 is TRUE"]
        self.assertEqual(len(cause(complete)), 1)
        self.assertEqual(cause(adaptive), cause(complete))
        self.assertNotEqual(cause(uniform), cause(complete))

    def test_a_rare_outcome_of_a_place_that_is_executed_some_dozen_times_is_found(self):
        """examples/sheet fails where a search finds nothing, after it has found something about ten times in the run."""
        sources = [path for path in (SOURCE_DIR / "examples/sheet").glob("*.c") if path.name != "fuzz_target.c"]
        ranked = {}
        for kind, flags in (("adaptive", ("-fsampler-adaptive",)), ("uniform", ())):
            program = build(self.folder / kind, RELEASES[-1], "-O1", "-g", "-w", *SCHEMES, *flags, *sources, "-lm")
            study = self.study(kind)
            done = telltale("run", "-q", "--study", study, "--times", 300, "--jobs", 2, "--seed", 1, "--sparsity", 1000, "--", program, "--work",
                            "{}", "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = telltale("isolate", study, "--limit", 1, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            ranked[kind] = [(row["function"], row["predicate"]) for row in json.loads(done.stdout)["rows"][:1]]
        causes = {("explain_node", predicate) for predicate in ("name == (struct name *)0", "name <= (struct name *)0", "find_name == 0", "find_name <= 0")}
        self.assertEqual(len(ranked["adaptive"]), 1)
        self.assertIn(ranked["adaptive"][0], causes)
        self.assertFalse(causes & set(ranked["uniform"]))


if __name__ == "__main__":
    unittest.main()
