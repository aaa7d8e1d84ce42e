"""Stack usage of instrumented code."""
import os
import resource
import subprocess
import unittest

from program_text import program_text
from sampler_programs import PROGRAMS, RELEASES, SamplerCase, build, compile_with

SCHEMES = ("-fsampler-scheme=branches", "-fsampler-scheme=returns", "-fsampler-scheme=scalar-pairs")
MODES = {"all": ("-fno-sample",), "sampled": (), "threads": ("-fthreads",), "sites": ("-fno-sample-regions",),
         "sites of threads": ("-fno-sample-regions", "-fthreads")}
RETURN_ADDRESS = 8
# Depth of recursion, and how much of the plain program's stack it takes: docs/design/sampler-measurements.md, "Stack". A sampled
# program at 1/100 is what one ships; at 1/1 every call is observed.
LEVELS = 20000
LIMITS = {("all", "1"): 1.8, ("sampled", "100"): 1.5, ("sampled", "1"): 3.6, ("threads", "100"): 3.2, ("threads", "1"): 3.5,
          ("sites", "100"): 3.0}


class Stack(SamplerCase):
    def frames(self, release, source, *words):
        """Bytes of each function's frame, by its name."""
        done = compile_with(release, "-w", "-O2", "-fstack-usage", *words, "-c", source, "-o", self.path("a.o"))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {}
        for line in self.path("a.su").read_text().splitlines():
            name, size, _ = line.split("\t")
            found[name.split(":")[-1]] = int(size) + RETURN_ADDRESS
        return found

    def test_what_is_compared_with_takes_no_frame(self):
        """Frames are the same whether an assignment is compared with four variables or with sixty. (Values that the
        next assignment is compared with, too, may stay in the frame until then.)"""
        text = program_text("sampler/cases/frames.c")
        for release in RELEASES:
            for mode, words in MODES.items():
                sizes = []
                for count in (2, 60):
                    source = self.path("a.c")
                    source.write_text("int " + ", ".join(f"g{i}" for i in range(count)) + ";\n" + text)
                    frames = self.frames(release, source, *SCHEMES, *words)
                    sizes.append({name: size for name, size in frames.items() if name.split(".")[0] in ("walk", "once")})
                with self.subTest(release=release, mode=mode):
                    self.assertEqual(set(sizes[0]), set(sizes[1]))
                    for name, size in sizes[0].items():
                        self.assertLessEqual(sizes[1][name], size + 32, name)

    def runs(self, program, kib, sparsity):
        limit = int(kib) * 1024
        environment = {**os.environ, "SAMPLER_FILE": "/dev/null", "SAMPLER_SEED": "1", "SAMPLER_SPARSITY": sparsity}
        done = subprocess.run([program, str(LEVELS)], env=environment, capture_output=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (limit, limit)))
        return done.returncode == 0

    def test_deep_recursion(self):
        """A reader of nested lists reaches the same depth as without the sampler, with at most that much more stack."""
        source = PROGRAMS / "nested_lists.c"
        for release in RELEASES:
            plain = build(self.path("plain"), release, "-w", "-O2", source)
            least, most = 64, 65536
            while most - least > 32:
                middle = (least + most) // 2
                least, most = (least, middle) if self.runs(plain, middle, "1") else (middle, most)
            self.assertGreater(most, 1000)
            built = {mode: build(self.path(mode.replace(" ", "")), release, "-w", "-O2", *SCHEMES, *MODES[mode], source)
                     for mode in {mode for mode, _ in LIMITS}}
            for (mode, sparsity), limit in LIMITS.items():
                with self.subTest(release=release, mode=mode, sparsity=sparsity):
                    # The runtime's own share, once, is some KiB.
                    self.assertTrue(self.runs(built[mode], limit * most + 64, sparsity))


if __name__ == "__main__":
    unittest.main()
