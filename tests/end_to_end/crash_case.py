"""Test cases of programs that leave a file of TELLTALE_PATHS when they crash."""
from sampler_programs import SamplerCase, run


def line(text, source):
    """The number of the only line that contains the text."""
    (number,) = [number for number, each in enumerate(source.read_text().splitlines(), 1) if text in each]
    return number


class CrashCase(SamplerCase):
    def setUp(self):
        super().setUp()
        self.file = self.path("paths")

    def crash(self, how, program, **environment):
        """Runs `program how`, which leaves self.file and no temporary file."""
        self.file.unlink(missing_ok=True)
        done = run(program, how, env={"TELLTALE_PATHS": str(self.file), **environment}, cwd=self.folder)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith("paths.")], [], "a temporary file is left")
        return done
