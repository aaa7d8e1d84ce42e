"""FileCheck on the LLVM IR that telltale-cc's plugins leave, with each release of clang."""
import pathlib
import re

from sampler_programs import RELEASES, SamplerCase, compile_with, run

FILECHECK = pathlib.Path("/usr/lib/llvm-19/bin/FileCheck")


class IrCase(SamplerCase):
    def check_ir(self, source, *words):
        """The comments of the source are for FileCheck; its "FLAGS:" are passed to telltale-cc."""
        flags = re.search(r"^// FLAGS: (.*)$", source.read_text(), re.M).group(1).split()
        for release in RELEASES:
            with self.subTest(release=release):
                output = self.path(f"{source.name}.{release}.ll")
                done = compile_with(release, "-S", "-emit-llvm", "-fno-discard-value-names", *words, *flags, source, "-o", output,
                                    cxx=source.suffix == ".cc")
                self.assertEqual(done.returncode, 0, done.stderr)
                checked = run(FILECHECK, source, "--input-file", output)
                self.assertEqual(checked.returncode, 0, checked.stderr[:4000])
