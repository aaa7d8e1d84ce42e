"""Row D14 of the reliability goals: blind mutation."""
import gzip
import os
import random
import shutil
import subprocess
import tempfile
import unittest

import slow_xray
from reliability import BIN, STATUSES, Case, reading_commands
from xray_recorder import CLANGS


class Mutations(Case):
    def mutate(self, words, good, count, seed=14):
        scratch = os.path.join(self.folder, "mutant")
        counts = os.path.join(self.folder, "counts")
        with tempfile.TemporaryFile() as errors:
            done = subprocess.run(
                [os.path.join(BIN, "mutation_driver"), "--count", str(count), "--seed", str(seed), "--scratch", scratch,
                 "--counts", counts, "--", *words, "--", *good],
                stdout=subprocess.DEVNULL, stderr=errors, timeout=600)
            if done.returncode != 0:
                errors.seek(0)
                kept = os.path.join(tempfile.gettempdir(), "telltale-mutant")
                shutil.copy(scratch, kept)
                self.fail("%s: status %d; the input is %s; %s"
                          % (words, done.returncode, kept, errors.read()[-2000:].decode(errors="replace")))
            with open(counts) as file:
                return [int(number) for number in file.read().split()]

    def test_d14_blind_mutation_of_recordings(self):
        commands = reading_commands(self.folder)
        for index, words in enumerate(commands):
            with self.subTest(words=words):
                count = -(-1500 // sum(other[0] == words[0] for other in commands))
                good = self.sample_files
                if words[0] == "convert":  # a format family is only written from its own recordings
                    stacktrack = words[2].startswith("stacktrack")
                    good = [path for path in good if path.endswith(".tlg") == stacktrack]
                statuses = self.mutate(words, good, count, seed=1400 + index)
                self.assertEqual(sum(statuses), count)
                self.assertGreater(statuses[0] + statuses[1], count // 5)  # many mutants are still readable

    def test_d14_blind_mutation_of_compressed_recordings(self):
        good = [self.write("good.gz", gzip.compress(slow_xray.random_fdr(random.Random(2), 5))),
                self.write("good.zst", subprocess.run(
                    ["zstd", "-q", "-c"], input=slow_xray.random_fdr(random.Random(3), 4), capture_output=True,
                    check=True).stdout)]
        self.assertEqual(sum(self.mutate(["info", "@"], good, 1500)), 1500)

    def test_d14_blind_mutation_of_programs(self):
        program, trace = self.hostile_program()
        debug = os.path.join(self.folder, "debug")
        subprocess.run(["clang++-" + CLANGS[0], "-O1", "-g", "-fxray-instrument", "-fxray-instruction-threshold=1", "-c",
                        os.path.join(self.folder, "names.cc"), "-o", debug], check=True, timeout=60)
        for words in (["sites", "@"], ["sites", "--json", "@"], ["top", "--json", "--program", "@", trace]):
            with self.subTest(words=words):
                self.assertEqual(sum(self.mutate(words, [program, debug], 1500)), 1500)

    def test_d14_through_processes(self):
        """A few in separate processes, to detect an end by a signal."""
        rng = random.Random(99)
        for index in range(60):
            with open(rng.choice(self.sample_files), "rb") as file:
                data = bytearray(file.read())
            for _ in range(rng.randint(1, 20)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path = self.write("process", bytes(data))
            for words in (["info", "@"], ["top", "@"], ["dump", "@"], ["check", "@"]):
                status, errors = self.run_limited(words, path, address_space=4 << 30)
                self.assertIn(status, STATUSES, (index, words, errors))


if __name__ == "__main__":
    unittest.main()
