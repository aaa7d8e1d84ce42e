"""How runs are sampled is set from outside: by the environment, a file of the user, or the server's reply, in this order."""
import pathlib
import re
import tempfile
import unittest

from collect_server import Server
from sampler_programs import RELEASES, build
from send_case import FakeServer, SendCase
from study_case import PROGRAMS, SCHEMES


class RatesTest(SendCase):
    @classmethod
    def setUpClass(cls):
        keeper = tempfile.TemporaryDirectory(prefix="telltale-rates-")
        cls.addClassCleanup(keeper.cleanup)
        cls.program = build(pathlib.Path(keeper.name) / "ending", RELEASES[-1], "-O1", "-fsampler-adaptive", *SCHEMES, PROGRAMS / "ending.c")

    def rates(self, **environment):
        """(sparsity, first executions) of a run, as its report in the spool says; "uniform" without first executions."""
        before = set(self.waiting())
        self.spooled(self.program, 1, **{"SAMPLER_SPARSITY": None, **environment})
        new = set(self.waiting()) - before
        if not new:
            return None
        text = (self.spool / f"{new.pop()}.report").read_text()
        first = re.search(r'<report id="first-samples" sparsity="(\d+)" first="(\d+)">', text)
        sparsity = re.search(r"^sparsity (.*)$", text, re.M)[1]
        if first:
            self.assertEqual(first[1], sparsity)
        return sparsity, first[2] if first else "uniform"

    def reply(self, **fields):
        """Sends what waits to a server that replies with these fields."""
        self.spooled(self.program, 1)
        names = {"sparsity": "Telltale-Sparsity", "rates": "Telltale-Rates"}
        replies = [(200, {names[key]: value for key, value in fields.items()}, '{"duplicate":false}')] * len(self.waiting())
        with FakeServer(*replies) as fake:
            done = self.send(fake.url)
        self.assertEqual((done.returncode, self.waiting()), (0, []), done.stderr)
        return done.stderr

    def test_the_usual_rates(self):
        self.assertEqual(self.rates(), ("100", "100"))

    def test_the_server_chooses_the_rates(self):
        for sparsity, rates, expected in (("7", "adaptive:3", ("7", "3")), ("9", "uniform", ("9", "uniform")), ("11", "adaptive", ("11", "100"))):
            self.assertNotIn("ignored", self.reply(sparsity=sparsity, rates=rates))
            self.assertEqual(self.rates(), expected)
        self.reply(sparsity="0", rates="adaptive:3")
        self.assertIsNone(self.rates())
        self.spool.joinpath("sparsity").joinpath(next((self.spool / "sparsity").iterdir()).name).write_text("5\n")
        self.assertEqual(self.rates(), ("5", "100"))

    def test_rules_of_the_server_reach_the_runs(self):
        rules = self.folder / "rules"
        rules.write_text("other * 3 uniform\nending * 12 adaptive:2\n")
        self.spooled(self.program, 1)
        with Server(self.store, "--sampling", rules) as server:
            self.assertEqual(self.send(f"http://127.0.0.1:{server.port}").returncode, 0)
        self.assertEqual(self.rates(), ("12", "2"))

    def test_invalid_replies_are_ignored_and_counted(self):
        self.reply(sparsity="7", rates="adaptive:3")
        for fields in ({"sparsity": "7", "rates": "adaptive:0"}, {"sparsity": "7", "rates": "adaptive:256"}, {"sparsity": "-1"},
                       {"sparsity": "1000000001"}, {"sparsity": "99999999999999999999999999"}, {"rates": "uniform"}, {"sparsity": "8 uniform"},
                       {"sparsity": "8", "rates": "uniform adaptive"}, {"sparsity": "8", "rates": "../../etc/passwd" * 400}):
            with self.subTest(fields=str(fields)[:80]):
                errors = self.reply(**fields)
                self.assertIn("replies with an invalid sampling rate ignored", errors)
                self.assertIn("the server's reply asks for sparsity", errors)
                self.assertEqual(self.rates(), ("7", "3"))

    def test_a_damaged_wish_is_not_obeyed(self):
        self.reply(sparsity="7", rates="adaptive:3")
        (wish,) = (self.spool / "sparsity").iterdir()
        for text in ("", "garbage\n", "7\nsometimes\n", "7\nuniform\nuniform\n", "\0" * 100, "7\n" * 10000):
            wish.write_text(text)
            self.assertEqual(self.rates(), ("100", "100"), text[:20])

    def test_environment_before_file_before_server(self):
        self.reply(sparsity="7", rates="adaptive:3")
        rules = self.spool / "sampling"
        rules.write_text("# mine\nother * 2 uniform\nending ffff 4 uniform\nending * 20 adaptive:5\nending * 21 uniform\n")
        self.assertEqual(self.rates(), ("20", "5"))
        self.assertEqual(self.rates(SAMPLER_SPARSITY="30"), ("30", "5"))
        self.assertEqual(self.rates(SAMPLER_RATES="uniform"), ("20", "uniform"))
        self.assertEqual(self.rates(SAMPLER_SPARSITY="30", SAMPLER_RATES="adaptive:9"), ("30", "9"))
        rules.write_text("ending * often\n")
        self.assertEqual(self.rates(), ("7", "3"))
        rules.write_text("ending * 0\n")
        self.assertIsNone(self.rates())

    def test_runs_of_telltale_are_sampled_alike(self):
        self.reply(sparsity="7", rates="adaptive:3")
        words = ("run", "--collect", "http://127.0.0.1:9", "--spool", self.spool, "--", self.program, 1)
        for text, expected in ((None, ("7", "3")), ("ending * 5 adaptive:4\n", ("5", "4"))):
            if text:
                (self.spool / "sampling").write_text(text)
            self.telltale(*words)
            reports = [path.read_text() for path in self.spool.glob("*.report")]
            self.assertIn(expected, [re.search(r'first-samples" sparsity="(\d+)" first="(\d+)"', report).groups() for report in reports])

    def test_wrong_rules_of_the_server(self):
        for line, reason in (("app * 7 often", "has rates other than uniform"), ("app * 7 adaptive:0", "has rates other than uniform"),
                             ("app * 1000000001", "has a sparsity that is not a number up to"), ("app * 7 uniform more", "is not an application")):
            rules = self.folder / "rules"
            rules.write_text(line + "\n")
            done = self.telltale("collect", "--listen", "127.0.0.1:0", "--store", self.store, "--sampling", rules)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    unittest.main()
