"""telltale paths of programs that stopped in code that no file has, or in a handler on a signal stack: the callers are found,
whatever the stacks are read from."""
import json
import shutil
import subprocess
import time
import unittest

from core_files import crash
from sampler_programs import RELEASES, SOURCE_DIR, SamplerCase, build, run
from test_path_sources import PROGRAMS, paths, traced

COMMAND = SOURCE_DIR / "debuggers/gdb/telltale_paths.py"
CALLERS = ["__libc_start_call_main", "__libc_start_main", "_start"]
CLOCK = ["__vdso_clock_gettime", "clock_gettime", "asks_for_time", "main", *CALLERS]


def functions(document):
    return [frame["function"] for frame in document["threads"][0]["frames"]]


class StopsElsewhere(SamplerCase):
    def build(self, level, *words):
        return build(self.path("stops_elsewhere"), RELEASES[-1], "-g", level, "--trace=pt.schema", "-silent", *words,
                     PROGRAMS / "cases/stops_elsewhere.c")

    def gdb(self, program, way):
        """What the command says of the program that stopped at a fault."""
        answer = self.path("answer")
        answer.unlink(missing_ok=True)
        run("gdb", "-nx", "-q", "-batch", "-ex", f"source {COMMAND}", "-ex", "run", "-ex", f"telltale-paths --json -o {answer}",
            "--args", program, way)
        return json.loads(answer.read_text())

    def written(self, program, way):
        """The file of TELLTALE_PATHS."""
        file = self.path("written")
        file.unlink(missing_ok=True)
        run(program, way, env={"TELLTALE_PATHS": str(file)})
        return file

    def start(self, program, way):
        process = subprocess.Popen([program, way], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, timeout=60)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def test_code_that_was_made_at_run_time(self):
        for level in ("-O0", "-O2"):
            program = self.build(level)
            core = paths(crash(self.path("core"), program, "made-faults"))
            made, *callers = functions(core)
            self.assertRegex(made, "^@0x")
            self.assertEqual(callers, ["calls_made_code", "main", *CALLERS])
            self.assertIsNotNone(traced(core)[0]["calls_made_code"][2])
            for document in (paths(self.written(program, "made-faults")), self.gdb(program, "made-faults")):
                self.assertEqual(functions(document)[1:], callers)
                self.assertEqual(traced(document), traced(core))
            process = self.start(program, "made-loops")
            document = paths("--pid", process.pid)
            while not functions(document)[0].startswith("@"):  # it is not there yet
                time.sleep(0.01)
                document = paths("--pid", process.pid)
            self.assertEqual(functions(document)[1:], callers)
            self.assertEqual(traced(document)[0]["calls_made_code"], traced(core)[0]["calls_made_code"])

    def test_the_kernels_library(self):
        for level in ("-O0", "-O2"):
            program = self.build(level)
            core = paths(crash(self.path("core"), program, "kernel"))
            self.assertEqual(functions(core), CLOCK)
            document = self.gdb(program, "kernel")
            self.assertEqual(functions(document), CLOCK)
            self.assertEqual(traced(document), traced(core))

    @unittest.skipUnless(shutil.which("ld.lld-19"), "needs lld")
    def test_code_of_the_linker(self):
        """lld describes it in no unwind table."""
        for level in ("-O0", "-O2"):
            program = self.build(level, f"--ld-path={shutil.which('ld.lld-19')}")
            run("gdb", "-nx", "-q", "-batch", "-ex", "break asks_for_time", "-ex", "run", "-ex", "break *'clock_gettime@plt'", "-ex", "continue",
                "-ex", f"generate-core-file {self.path('core')}", "--args", program, "kernel")
            document = paths(self.path("core"))
            self.assertEqual(functions(document)[1:], CLOCK[2:])
            self.assertEqual([frame["may_lack_caller"] for frame in document["threads"][0]["frames"][:2]], [False, False])
            self.assertIsNotNone(traced(document)[0]["asks_for_time"][2])

    def test_a_handler_on_a_signal_stack_of_a_running_process(self):
        for level in ("-O0", "-O2"):
            process = self.start(self.build(level), "handler")
            document = paths("--pid", process.pid)
            self.assertIsNone(document["threads"][0]["cut"])
            names = functions(document)
            self.assertEqual([name for name in names if name in ("waits_in_handler", "is_interrupted", "main", "_start")],
                             ["waits_in_handler", "is_interrupted", "main", "_start"], names)
            self.assertIsNotNone(traced(document)[0]["is_interrupted"][2])


if __name__ == "__main__":
    unittest.main()
