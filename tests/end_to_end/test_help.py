"""Help and manual pages, all derived from the declarations of the command line."""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

TELLTALE = os.environ["TELLTALE"]
VERBS = ["info", "top", "report", "stacks", "flame", "graph", "diff", "dump", "check", "convert", "sites"]  # verbs that read input
ALL_VERBS = [*VERBS, "run"]


def telltale(*arguments):
    return subprocess.run([TELLTALE, *arguments], capture_output=True, text=True, timeout=60)


class HelpTest(unittest.TestCase):
    def test_overview_names_every_verb(self):
        overview = telltale("help")
        self.assertEqual(overview.returncode, 0)
        self.assertEqual(overview.stdout, telltale("--help").stdout)
        for verb in ALL_VERBS:
            self.assertRegex(overview.stdout, rf"(?m)^  {verb} ")
        nothing = telltale()
        self.assertEqual((nothing.returncode, nothing.stdout), (2, overview.stdout))

    def test_version_names_the_build(self):
        shown = telltale("--version").stdout
        match = re.fullmatch(r"telltale \d+\.\d+\.\d+ \(commit ([0-9a-f]{10,40}|unknown)(, modified)?, \w+ build, (GNU|Clang) [\d.]+\)\n", shown)
        self.assertTrue(match, shown)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=os.environ["TELLTALE_SOURCE_DIR"], capture_output=True, text=True)
        if head.returncode == 0:  # a checkout, not an unpacked archive
            self.assertRegex(match[1], "^[0-9a-f]{10}")

    def test_help_of_a_verb_is_its_own_help_and_fits_a_terminal(self):
        for verb in ALL_VERBS:
            with self.subTest(verb=verb):
                shown = telltale("help", verb)
                self.assertEqual(shown.returncode, 0, shown.stderr)
                self.assertEqual(shown.stdout, telltale(verb, "--help").stdout)
                if verb not in VERBS:
                    continue
                self.assertIn("--strict", shown.stdout)
                self.assertIn("--json", shown.stdout)
                if verb != "sites":  # verbs that read programs
                    for option in ("--thread", "--time", "--function", "--depth"):
                        self.assertIn(option, shown.stdout)

    def test_no_line_is_wider_than_a_small_terminal(self):
        verbs = re.findall(r"(?m)^  (\S+) ", telltale("help").stdout.partition("\nOptions:\n")[0])
        for words in ([], *([verb] for verb in verbs)):
            for line in telltale("help", *words).stdout.splitlines():
                if not line.startswith("  telltale "):  # an example, to be copied
                    self.assertLessEqual(len(line), 80, (words, line))

    def test_every_verb_has_examples_that_its_options_allow(self):
        verbs = re.findall(r"(?m)^  (\S+) ", telltale("help").stdout.partition("\nOptions:\n")[0])
        self.assertGreater(len(verbs), 22)
        for verb in verbs:
            shown = telltale("help", verb).stdout.partition("\nExamples:\n")[2].partition("\n\n")[0]
            examples = re.findall(r"(?m)^  (\S.*)\n      \S", shown)
            self.assertTrue(examples, f"{verb} has no examples: add some to src/cli/help/verb_examples.cc")
            self.assertEqual(telltale("man", verb).stdout.count(".SH EXAMPLES"), 1)
            for example in examples:
                with self.subTest(example=example), tempfile.TemporaryDirectory() as folder:
                    self.assertIn(f"telltale {verb} ", example)
                    # A server ends at once if its folder is a file.
                    (pathlib.Path(folder) / "reports").touch()
                    # The command itself, without what is around it; its files do not exist.
                    words = shlex.split(re.split(r" [|<>] |\)", example.partition(f"telltale {verb}")[2])[0])
                    done = subprocess.run([TELLTALE, verb, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                                          text=True, timeout=60)
                    self.assertNotIn("See `telltale help", done.stderr)

    def test_what_makes_no_sense_is_named(self):
        for arguments, word in ((["bogus"], "no such verb: bogus"), (["top"], "FILE is required"), (["help", "bogus"], "bogus"),
                                (["top", "--bogus", "x"], "--bogus")):
            with self.subTest(arguments=arguments):
                done = telltale(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(word, done.stderr)

    def test_what_is_missing_is_explained(self):
        for verb, explained in (("top", "  FILE..."), ("flame", "  -o, --output FILE     file to write: a page")):
            with self.subTest(verb=verb):
                done = telltale(verb, *(["x"] if verb == "flame" else []))
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(f" is required\n{explained}", done.stderr)
                self.assertTrue(done.stderr.endswith(f"\nSee `telltale help {verb}`.\n"))

    def test_all_arguments_are_explained_where_one_is_missing(self):
        """The word that is there may be meant for the other one."""
        done = telltale("slow", "trace.xray")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"(?s)^telltale: FILE is required\n  FUNCTION +name.*\n  FILE\.\.\. +recordings")

    def test_negative_numbers_are_refused(self):
        recording = os.path.join(os.environ["TELLTALE_SOURCE_DIR"], "examples/orders/orders.yaml")
        for option in ("--jobs", "--limit", "--depth", "--max-decompressed-bytes"):
            with self.subTest(option=option):
                done = telltale("top", recording, option, "-1")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(option, done.stderr)

    def test_values_of_options_are_suggested(self):
        recording = os.path.join(os.environ["TELLTALE_SOURCE_DIR"], "examples/orders/orders.yaml")
        for arguments, word in ((["top", "--sort", "toatl", recording], "total"), (["help", "tpo"], "top"),
                                (["convert", recording, "--to", "perfeto", "-o", "-"], "perfetto"),
                                (["top", "--fields", "cals", recording], "calls")):
            with self.subTest(arguments=arguments):
                done = telltale(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(f"; did you mean {word}?", done.stderr)

    def complete(self, *words, folder=None):
        """Bash's completions of the last word."""
        script = ('source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _telltale; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, TELLTALE, "telltale", *words], capture_output=True, text=True,
                              timeout=60, cwd=folder or os.environ["TELLTALE_SOURCE_DIR"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_bash_completes_verbs_options_values_and_files(self):
        self.assertLessEqual(set(ALL_VERBS), set(self.complete("")))
        self.assertEqual(self.complete("dif"), ["diff"])
        self.assertEqual(self.complete("diff", "--gate-f"), ["--gate-floor", "--gate-floor-ns"])
        self.assertEqual(self.complete("convert", "x", "--to", "fdr"), [f"fdr{n}" for n in range(1, 6)])
        self.assertEqual(self.complete("info", "README"), ["README.md"])
        self.assertEqual(self.complete("help", "gra"), ["graph"])

    def test_bash_completes_names_with_blanks(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "my recording.xray").touch()
            for typed in ("my", "'my", '"my re', r"my\ re"):
                self.assertEqual(self.complete("top", typed, folder=folder), ["my recording.xray"], typed)

    def test_bash_completes_recorded_commands(self):
        self.assertEqual(self.complete("record", "--mod"), self.complete("run", "--mod"))
        self.assertEqual(self.complete("run", "--mod"), ["--mode"])
        self.assertEqual(self.complete("run", "--", "ls", "-"), [""])  # options of ls are not ours
        self.assertEqual(self.complete("run", "--", "cat", "README"), ["README.md"])

    def test_empty_and_impossible_values_are_refused(self):
        for words in (["bench", "--runs", "0", "true", "--", "true"], ["bench", "--runs=-1", "true", "--", "true"],
                      ["graph", "x", "--min-percent", "nan"], ["isolate", "x", "--confidence=nan"], ["top", "x", "--limit", ""],
                      ["replay", "x", "--depth", ""], ["diff", "x", "y", "--gate", ""], ["isolate", "x", "--gate", ""],
                      ["report", "x", "--gate", ""], ["top", "x", "--time", ""], ["top", "x", "--fields", ""], ["dump", "x", "--record", ""],
                      ["report", "x", "--reports", ""], ["report", "x", "--track", ""], ["report", "x", "--find", ""],
                      ["replay", "x", "--last", ""], ["replay", "x", "--around", ""], ["replay", "x", "--call", "0"],
                      ["replay", "x", "--margin", "1us"], ["store", "delete", "x", "--application", ""],
                      ["diff", "x", "y", "--gate-floor", "10us"], ["diff", "x", "y", "--gate-by", "path"]):
            with self.subTest(words=words):
                done = telltale(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, "^telltale: --[a-z-]+")
        for words, why in ((["top", "x", "--limit", "x"], "--limit: needs a whole number, but got x"),
                           (["top", "x", "--limit", "1.5"], "--limit: needs a whole number, but got 1.5"),
                           (["top", "x", "--limit", "99999999999999999999"], "at most 18446744073709551615"),
                           (["heapshot", "x", "--port", "99999"], "--port: needs a number of at most 65535, but got 99999"),
                           (["graph", "x", "--min-percent", "x"], "--min-percent: needs a number, but got x")):
            done = telltale(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(why, done.stderr)

    def test_other_shells_get_every_verb_too(self):
        for shell in ("zsh", "fish"):
            script = telltale("completion", shell).stdout
            for verb in ALL_VERBS:
                self.assertIn(verb, script)

    def test_manual_pages_have_every_option_and_no_warnings(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(telltale("man", "--all", folder).returncode, 0)
            pages = {"telltale.1"} | {f"telltale-{verb}.1" for verb in ALL_VERBS}
            self.assertLessEqual(pages, set(os.listdir(folder)))
            for page in sorted(pages):
                with self.subTest(page=page):
                    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", os.path.join(folder, page)],
                                          capture_output=True, text=True, timeout=60)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    text = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout).replace("\u2010", "-").replace("\u2212", "-")
                    verb = page[len("telltale-"):-2] if page != "telltale.1" else None
                    shown = telltale("help", *([verb] if verb else [])).stdout
                    for option in set(re.findall(r"(?m)^ .*?(--[a-z][a-z-]+)", shown)):
                        self.assertIn(option, text)
                    self.assertIn("EXIT STATUS", text)

    def test_manual_pages_tell_which_options_may_be_repeated(self):
        page = telltale("man", "top").stdout.replace("\\-", "-").partition(".SH EXAMPLES")[0]
        repeated = {tag: "May be given more than once." in text for tag, text in re.findall(r"\.TP\n.*(--[a-z-]+).*\n(.*)", page)}
        self.assertTrue(repeated["--program"])
        self.assertTrue(repeated["--function"])
        for once in ("--json", "--jobs", "--sort", "--rows"):
            self.assertFalse(repeated[once], once)
        self.assertIn("Usage: telltale top [OPTIONS] FILE...\n", telltale("help", "top").stdout)
        self.assertIn("Usage: telltale run [OPTIONS] PROGRAM...\n", telltale("help", "run").stdout)


if __name__ == "__main__":
    unittest.main()
