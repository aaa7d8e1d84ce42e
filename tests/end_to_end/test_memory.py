"""Memory does not grow with the trace for info, check, top, slow, histogram and convert."""
import os
import resource
import subprocess
import tempfile
import unittest

TELLTALE = os.environ["TELLTALE"]
MAKE_TRACE = os.path.join(os.path.dirname(TELLTALE), "make_trace")
MIB = 1 << 20


def run(arguments, data_limit):
    """Runs telltale with a limit on its private memory (heap, stacks; mapped files do not count)."""

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (data_limit, data_limit))

    return subprocess.run([TELLTALE, *arguments], preexec_fn=limit, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=300)


class MemoryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = os.path.join(cls.folder.name, "large.fdr")
        # 256 MiB of records in 16 buffers, one thread: four times the tightest limit.
        subprocess.run([MAKE_TRACE, cls.trace, str(32 * MIB)], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, data_limit, *arguments):
        done = run(list(arguments), data_limit)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_answers_need_less_than_64_mib_for_256_mib_of_records(self):
        for words in (["info"], ["check"], ["top"], ["slow", "*"], ["histogram", "*"]):
            with self.subTest(words=words):
                self.check(64 * MIB, *words, self.trace)

    def test_convert_needs_less_than_the_records_themselves(self):
        for target in ("perfetto",):
            with self.subTest(target=target):
                output = os.path.join(self.folder.name, "out")
                self.check(192 * MIB, "convert", "--jobs", "2", "--to", target, "-o", output, self.trace)
                os.remove(output)

    def test_the_limit_is_real(self):
        """An exact profile keeps every duration, and must fail under the same limit."""
        self.assertNotEqual(run(["top", "--exact", "--jobs", "2", self.trace], 64 * MIB).returncode, 0)


if __name__ == "__main__":
    unittest.main()
