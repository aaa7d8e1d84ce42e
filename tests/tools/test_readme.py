"""The README is short, has the two commands, and its picture is what `./dev picture` draws."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE_DIR = pathlib.Path(__file__).resolve().parents[2]
README = (SOURCE_DIR / "README.md").read_text()


class Readme(unittest.TestCase):
    def test_it_has_at_most_1500_words(self):
        self.assertLessEqual(len(README.split()), 1500)

    def test_its_two_commands(self):
        section = README.split("## Two commands\n", 1)[1].split("\n## ", 1)[0]
        self.assertEqual(re.findall(r"(?m)^    (\S+ \S+)", section), ["./dev demo", "./dev test"])

    def test_what_it_links_to_exists(self):
        links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]*)\)", README) if "://" not in link]
        self.assertGreater(len(links), 10)
        for link in links:
            self.assertTrue((SOURCE_DIR / link).exists(), link)

    def test_the_picture_is_current(self):
        with tempfile.TemporaryDirectory() as folder:
            drawn = pathlib.Path(folder, "flame.svg")
            subprocess.run([os.environ["TELLTALE"], "flame", "orders.yaml", "--program", "orders-map.yaml", "-o", drawn],
                           cwd=SOURCE_DIR / "examples" / "orders", check=True)
            self.assertEqual((SOURCE_DIR / "docs" / "flame.svg").read_text(), drawn.read_text(), "run ./dev picture")


if __name__ == "__main__":
    unittest.main()
