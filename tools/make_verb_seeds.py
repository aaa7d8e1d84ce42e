#!/usr/bin/env python3
"""Makes the seeds of the fuzz target `verbs` from other tests' files: each file prefixed by bytes that select a verb
and options (see fuzz/verbs_fuzz.cc).

  tools/make_verb_seeds.py FOLDER
"""
import os
import random
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SEEDS_A_FILE = 6
LARGEST = 32 * 1024


def files():
    yield os.path.join(ROOT, "examples/orders/orders.yaml")
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "tests/golden"))):
        for name in sorted(names):
            if not name.endswith(".txt"):  # the output of `dump`
                yield os.path.join(folder, name)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    random_bytes = random.Random(1)  # the same seeds each time
    number = 0
    for path in files():
        with open(path, "rb") as file:
            recording = file.read()
        for turn in range(SEEDS_A_FILE):
            choice = bytearray(random_bytes.randbytes(6))
            choice[0] = (choice[0] & 0x7F) | (0x80 if turn == 0 else 0)  # one in six converts
            with open(os.path.join(folder, "%04d" % number), "wb") as seed:
                seed.write(choice + recording[:LARGEST])
            number += 1


if __name__ == "__main__":
    main()
