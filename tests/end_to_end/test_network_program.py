"""telltale-collect, the program beside telltale that has the network: found by telltale, missed with a clear message,
and the only one that loads OpenSSL."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TELLTALE = pathlib.Path(os.environ["TELLTALE"])
SOURCE = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"])
NETWORK = TELLTALE.parent.parent / "libexec/telltale/telltale-collect"


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def needed(program):
    lines = subprocess.run(["readelf", "-dW", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return " ".join(line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line)


class NetworkProgram(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_only_it_loads_openssl(self):
        self.assertRegex(needed(NETWORK), r"libssl.*libcrypto|libcrypto.*libssl")
        self.assertNotRegex(needed(TELLTALE), "libssl|libcrypto|libfmt|libmd|libstdc")

    def test_telltale_starts_it(self):
        (self.folder / "spool").mkdir()
        self.assertEqual(run(TELLTALE, "send", self.folder / "spool", "--to", "http://127.0.0.1:1"),
                         (0, "", "telltale: 0 reports sent\n"))

    def test_telltale_checks_the_command_line_before(self):
        status, _, said = run(TELLTALE, "collect")
        self.assertEqual(status, 2)
        self.assertTrue(said.startswith("telltale: --store is required\n") and said.endswith("\nSee `telltale help collect`.\n"), said)

    def test_a_telltale_that_was_copied_alone_reads_and_names_what_it_lacks(self):
        alone = self.folder / "bin/telltale"
        alone.parent.mkdir()
        shutil.copy(TELLTALE, alone)
        orders = [SOURCE / "examples/orders/orders.yaml", "--program", SOURCE / "examples/orders/orders-map.yaml"]
        self.assertEqual(run(alone, "top", *orders), run(TELLTALE, "top", *orders))
        self.assertEqual(run(alone, "help", "collect"), run(TELLTALE, "help", "collect"))
        missing = f"telltale: {self.folder.resolve()}/libexec/telltale/telltale-collect: cannot be run: No such file or directory\n"
        for words in (["collect", "--store", self.folder / "store"], ["send", self.folder, "--to", "http://127.0.0.1:1"]):
            with self.subTest(verb=words[0]):
                self.assertEqual(run(alone, *words), (3, "", missing))
        self.assertFalse((self.folder / "store").exists())

    def test_started_by_hand_it_names_the_verbs(self):
        for words in ([], ["--help"], ["top", "x"], ["collect"]):
            with self.subTest(words=words):
                self.assertEqual(run(NETWORK, *words),
                                 (2, "", "telltale: use `telltale collect` or `telltale send`, which start this program\n"))


if __name__ == "__main__":
    unittest.main()
