"""Output on a terminal: on 80 and 120 columns no line of help, tables and answers is longer, and no number is elided; colours; the pager."""
import pathlib
import re
import tempfile
import unittest

from run_telltale import RECORDING, on_terminal, run

WIDTHS = (80, 120)
# Not broken: a command that is to be copied, and a message, which is one line for whoever searches for it.
WHOLE = re.compile(r"^ *telltale[ :]")


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def rows(text):
    return [line for line in text.splitlines() if re.match(r" *\d", line)]


def numbers(line):
    """Of a table's row: what is before the name."""
    return re.findall(r"(?<!\S)[+-]?[\d,.…]+(?!\S)", re.sub(r"\S*[(>:#].*$", "", line))


class TerminalWidths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keeper = tempfile.TemporaryDirectory(prefix="telltale-widths-")
        cls.addClassCleanup(cls.keeper.cleanup)
        cls.whole = str(pathlib.Path(cls.keeper.name) / "whole.xray")
        cls.torn = str(pathlib.Path(cls.keeper.name) / "torn.xray")
        run("convert", RECORDING[0], "--to", "fdr5", "-o", cls.whole)
        pathlib.Path(cls.torn).write_bytes(pathlib.Path(cls.whole).read_bytes()[:1000])

    def check_width(self, shown, width):
        for line in shown.splitlines():
            if not WHOLE.match(line):
                self.assertLessEqual(len(line), width, line)

    def check_table(self, *words):
        """Columns may be missing, but a number that is shown is whole: it is in the same row on a wide terminal."""
        wide = [numbers(line) for line in rows(plain(on_terminal(1000, *words)))]
        for width in WIDTHS:
            with self.subTest(words=words, width=width):
                shown = plain(on_terminal(width, *words))
                self.check_width(shown, width)
                self.assertEqual(len(rows(shown)), len(wide))
                for line, whole in zip(rows(shown), wide):
                    rest = iter(whole)
                    self.assertTrue(all(number in rest for number in numbers(line)), (line, whole))

    def test_tables(self):
        names = RECORDING[1:]
        for words in (["top"], ["top", "--by-thread"], ["top", "--names", "full"], ["histogram", "validate*"]):
            self.check_table(*words, *RECORDING)
        for words in (["diff"], ["diff", "--names", "full"]):
            self.check_table(*words, self.whole, self.whole, *names)

    def test_answers_with_sentences(self):
        for words in (["info"], ["info", self.torn], ["report"], ["slow", "validate*"], ["replay"]):
            files = () if len(words) > 1 and words[0] == "info" else RECORDING
            for width in WIDTHS:
                with self.subTest(words=words, width=width):
                    self.check_width(plain(on_terminal(width, *words, *files)), width)

    def test_help_of_every_verb(self):
        verbs = re.findall(r"(?m)^  (\S+) ", run("help").stdout.partition("\nOptions:\n")[0])
        self.assertGreater(len(verbs), 22)
        for verb in verbs:
            for width in WIDTHS:
                with self.subTest(verb=verb, width=width):
                    self.check_width(plain(on_terminal(width, verb, "--help")), width)


class TerminalTest(unittest.TestCase):
    def test_tables_fit_and_pipes_are_complete(self):
        for columns in (80, 120):
            for verb in (["top"], ["report"], ["replay"], ["slow", "validate"], ["histogram", "*"]):
                with self.subTest(columns=columns, verb=verb):
                    shown = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal(columns, *verb, *RECORDING))
                    if verb[0] not in ("slow", "replay"):  # these have lines that are no table
                        self.assertLessEqual(max(map(len, shown.splitlines())), columns, shown)
        narrow = on_terminal(80, "top", *RECORDING)
        self.assertIn("left out for want of room: ", narrow)
        piped = run("top", *RECORDING).stdout
        self.assertIn("serve(std::vector<Order> const&, unsigned long, Store&)", piped)
        self.assertNotIn("\x1b", piped)

    def test_colours(self):
        self.assertIn("\x1b[1m", on_terminal(100, "top", *RECORDING))
        self.assertNotIn("\x1b[1m", on_terminal(100, "top", *RECORDING, NO_COLOR="1"))
        self.assertNotIn("\x1b[1m", on_terminal(100, "top", "--color", "never", *RECORDING))
        self.assertIn("\x1b[1m", run("top", "--color", "always", *RECORDING).stdout)

    def test_the_pager(self):
        self.assertIn("> SELF", on_terminal(100, "top", *RECORDING, PAGER="sed 's/^/> /'", NO_COLOR="1").replace(">  ", "> "))
        self.assertNotIn("> ", on_terminal(100, "top", "--no-pager", *RECORDING, PAGER="sed 's/^/> /'", NO_COLOR="1"))


if __name__ == "__main__":
    unittest.main()
