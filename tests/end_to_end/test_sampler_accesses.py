"""The concurrency schemes: data, yields, atoms, atoms-rw, compare-swap; and assignments that read what they write."""
import subprocess
import unittest

from program_text import program_text
from sampler_programs import ALL, CONCURRENT, PROGRAMS, RELEASES, SamplerCase, build, resolved, run, samples

EVERYTHING = (*ALL, *CONCURRENT)
REACHING = ("-fassign-across-pointer", "-fassign-into-field", "-fassign-into-index")


class Case(SamplerCase):
    def lines(self, program, sparsity="1", status=0):
        done = run(program, env={"SAMPLER_FILE": str(self.report), "SAMPLER_SPARSITY": sparsity, "SAMPLER_SEED": "88172645463325"})
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        return resolved(self.report, program)


class Golden(Case):
    def check(self, name, *flags):
        expected = (PROGRAMS / f"{name}.expected").read_text().splitlines()
        for release in RELEASES:
            for words in (("-O0", "-fno-sample"), ("-O2", "-fno-sample"), ("-O0", "-fsample"), ("-O2", "-fsample")):
                with self.subTest(release=release, words=words):
                    program = build(self.folder / "p", release, *words, *flags, *CONCURRENT, "-pthread", PROGRAMS / name,
                                    cxx=name.endswith(".cc"))
                    self.assertEqual(self.lines(program), expected)

    def test_c(self):
        self.check("accesses.c", "-std=c11")

    def test_cxx(self):
        self.check("accesses.cc", "-std=c++20")


class Escapes(Case):
    def test_an_array_that_is_passed_on_is_shared(self):
        program = build(self.folder / "p", RELEASES[-1], "-O1", "-fno-sample", "-pthread", "-fsampler-scheme=atoms", PROGRAMS / "escapes.c")
        written = {line.split("\t")[4] for line in self.lines(program)}
        self.assertIn("passed[0]", written)
        self.assertFalse({"unread[0]", "alone[0]"} & written, written)


class Threads(Case):
    def test_what_another_thread_did_last(self):
        """Two threads access one variable alternately: watched accesses find the other thread's."""
        for release in RELEASES:
            program = build(self.folder / "p", release, "-O1", "-fno-sample", "-pthread", *CONCURRENT, PROGRAMS / "turns.c")
            rows = {tuple(line.split("\t")[:5:4]) + tuple(line.split("\t")[5:6]): [] for line in self.lines(program)}
            for line in resolved(self.report, program):
                fields = line.split("\t")
                rows[(fields[0], fields[4], *fields[5:6])].append([int(n) for n in fields[6:]])
            (always, known) = sorted(rows[("atoms", "ball", "write")], key=sum, reverse=True)
            # 2,000 accesses, except those that opened a window, which the window does not include: the next access finds
            # its own thread's.
            self.assertGreater(always[1], 1900)
            self.assertLess(always[0], 50)
            self.assertLess(sum(known), sum(always))
            self.assertGreater(known[1], 1800)
            (same, different) = map(sum, zip(*rows[("compare-swap", "ball", "write")]))
            self.assertGreater(different, 1500)
            self.assertLess(same, 500)

    def test_sampled_windows_see_some_of_it(self):
        program = build(self.folder / "p", RELEASES[-1], "-O2", "-pthread", *CONCURRENT, PROGRAMS / "turns.c")
        exact = build(self.folder / "exact", RELEASES[-1], "-O2", "-fno-sample", "-pthread", *CONCURRENT,
                      PROGRAMS / "turns.c")

        def total(lines, scheme):
            return sum(int(n) for line in lines if line.startswith(scheme + "\t") for n in line.split("\t")[6:])

        sampled = self.lines(program, sparsity="100")
        everything = self.lines(exact)
        for scheme in ("atoms", "atoms-rw", "compare-swap", "data"):
            with self.subTest(scheme=scheme):
                self.assertLess(total(sampled, scheme), total(everything, scheme))
                self.assertGreater(total(sampled, scheme), 0)

    def test_yields_count_every_pass(self):
        program = build(self.folder / "p", RELEASES[-1], "-O2", "-fsampler-scheme=yields", PROGRAMS / "accesses.c", "-pthread")
        rows = {line.split("\t")[4]: [int(n) for n in line.split("\t")[5:]] for line in self.lines(program, sparsity="10")}
        self.assertEqual(sum(rows["live = i"]), 150)
        self.assertTrue(0 < rows["live = i"][1] < 50, rows)


class Assignments(Case):
    """`x += e` and `x++` become assignments: order, single evaluation and values stay."""

    def check(self, name, cxx, *flags):
        plain = self.folder / "plain"
        subprocess.run([f"clang{'++' if cxx else ''}-{RELEASES[-1]}", "-w", *flags, "-o", plain, PROGRAMS / name], check=True)
        expected = run(plain).stdout
        self.assertGreater(len(expected.splitlines()), 3)
        for release in RELEASES:
            for words in (("-O0", "-fno-sample", *EVERYTHING), ("-O2", *EVERYTHING), ("-O1", "-fno-sample", *CONCURRENT)):
                with self.subTest(release=release, words=words[:2]):
                    program = build(self.folder / "p", release, "-w", *flags, *REACHING, *words, PROGRAMS / name, cxx=cxx)
                    done = run(program, env={"SAMPLER_FILE": str(self.report), "SAMPLER_SPARSITY": "2"})
                    self.assertEqual((done.returncode, done.stdout), (0, expected))
                    self.assertTrue(samples(self.report))

    def test_c(self):
        self.check("assignments.c", False)

    def test_cxx(self):
        self.check("assignments.cc", True, "-std=c++17")

    def test_coroutines_and_member_initialisers(self):
        self.check("modern.cc", True, "-std=c++20")
        for release in RELEASES:
            for words in (("-O0", "-fno-sample"), ("-O2",)):
                program = build(self.folder / "p", release, *words, "-std=c++20", "-fsampler-scheme=branches",
                                "-fsampler-scheme=returns", "-fsampler-scheme=function-entries", PROGRAMS / "modern.cc", cxx=True)
                rows = {tuple(line.split("\t")[i] for i in (0, 3, 4)): line.split("\t")[5:] for line in self.lines(program)
                        if not line.startswith("function-entries")}
                space = "(anonymous namespace)::"
                for key, values in ((("branches", f"{space}Base::Base", "n > 1"), ["2", "0"]),
                                    (("branches", f"{space}Derived::Derived", "a"), ["0", "1"]),
                                    (("returns", f"{space}Derived::Derived", "is_odd"), ["0", "0", "1"]),
                                    (("branches", f"{space}Derived::Derived", "next() > 100"), ["1", "0"]),
                                    (("branches", f"{space}count", "is_odd(i)"), ["6", "6"]),
                                    (("branches", f"{space}twice", "inner.step()"), ["1", "5"])):
                    self.assertEqual(rows.get(key), values, (release, words, key))

    def test_what_members_begin_with_and_what_coroutines_await(self):
        """Including implicit constructors; code that constant expressions may still evaluate is unchanged."""
        self.check("begun.cc", True, "-std=c++20")
        wanted = (PROGRAMS / "begun.cc.sites").read_text().splitlines()
        for release in RELEASES:
            for words in (("-O0", "-fno-sample"), ("-O2",), ("-O1", "-fno-sample-regions", "-fbalance-paths")):
                program = build(self.folder / "p", release, *words, "-std=c++20", "-fsampler-scheme=branches",
                                "-fsampler-scheme=returns", PROGRAMS / "begun.cc", cxx=True)
                found = [line for line in self.lines(program) if "printf" not in line and "\tmain\t" not in line]
                # Without the file.
                self.assertEqual([" ".join(line.split("\t")[:1] + line.split("\t")[2:]) for line in found], wanted, (release, words))

    def test_sites(self):
        source = self.folder / "a.c"
        source.write_text(program_text("sampler/cases/members.c"))
        program = build(self.folder / "p", RELEASES[-1], "-fno-sample", *REACHING, "-fsampler-scheme=bounds", source)
        rows = [line.split("\t")[1:] for line in self.lines(program)]
        self.assertEqual([row[3:] for row in rows if row[3] not in ("p", "p++")],
                         [["p->n", "mem", "field", "5", "5"], ["p++->n", "mem", "field", "4", "4"],
                          ["a[1]", "local", "index", "8", "8"], ["p->b", "mem", "field", "1", "1"],
                          ["g", "global", "direct", "1", "1"]])


class LargeFunctions(Case):
    """Functions with very many sites, which have different code, give the same counts."""

    def test_accesses(self):
        """One function with 120 accesses, and the same statements in functions of 15."""
        # Generated: the same statements, split into functions of two sizes.
        statements = [f"  shared[{i % 7}] = shared[{i % 5}] + {i};\n" for i in range(60)]
        for release in RELEASES:
            seen = []
            for size in (60, 5):
                calls = [statements[i:i + size] for i in range(0, 60, size)]
                source = self.folder / "a.c"
                source.write_text("int shared[8];\n" +
                                  "".join(f"void f{i}(void) {{\n{''.join(lines)}}}\n" for i, lines in enumerate(calls)) +
                                  "int main(void) { " + " ".join(f"f{i}();" for i in range(len(calls))) + " return 0; }\n")
                program = build(self.folder / "p", release, "-O1", "-fno-sample", *CONCURRENT, source)
                seen.append(sorted([fields[0], *fields[4:]] for fields in (line.split("\t") for line in self.lines(program))))
            self.assertGreater(len(seen[0]), 500)
            self.assertTrue(any(row[0] == "compare-swap" and row[-2] == "1" for row in seen[0]))
            self.assertEqual(seen[0], seen[1])

    def test_comparisons(self):
        """Each of 4,200 comparisons in a function compares with the variables' values at that line."""
        # Generated: 210 assignments.
        names = [f"v{i}" for i in range(20)]
        lines = ["int main(int argc, char **argv) {", "  long " + ", ".join(f"{name} = argc" for name in names) + ";"]
        before = {}
        values = dict.fromkeys(names, 1)
        for i in range(210):
            lines.append(f"  {names[i % 20]} = {i * 7 % 50 - 20} * (long)argc;")
            before[len(lines)] = (dict(values), i * 7 % 50 - 20)
            values[names[i % 20]] = i * 7 % 50 - 20
        source = self.folder / "a.c"
        source.write_text("\n".join([*lines, "  return 0;", "}", ""]))
        for release in RELEASES:
            program = build(self.folder / "p", release, "-O1", "-fno-sample", "-fsampler-scheme=scalar-pairs", source)
            compared = 0
            for line in self.lines(program):
                _, _, at, _, _, _, _, right, _, *counts = line.split("\t")
                if int(at) not in before or right not in names:
                    continue
                known, value = before[int(at)]
                slot = (value > known[right]) + (value >= known[right])
                self.assertEqual(counts, ["1" if i == slot else "0" for i in range(3)], line)
                compared += 1
            self.assertEqual(compared, 4200)


if __name__ == "__main__":
    unittest.main()
