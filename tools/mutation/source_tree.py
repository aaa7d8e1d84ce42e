"""A copy of the sources with a build of its own, in which mutants are tried."""
import collections
import contextlib
import hashlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess

from mutation.mutants import ROOT, list_sources

MEMORY = 6 << 30  # a mutant may allocate without end


class Tree:
    def __init__(self, folder, cores):
        self.source = folder.resolve()  # as CMake sees it: ccache must find it in front of absolute paths
        self.build = self.source / "build" / "release"
        self.cores = cores
        self.objects = {}
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(self.source), CCACHE_NOHASHDIR="1",
                                TELLTALE=str(self.build / "bin" / "telltale"), TELLTALE_SOURCE_DIR=str(self.source),
                                TELLTALE_BINARY_DIR=str(self.build))

    def synchronise(self):
        wanted = set(list_sources(["."]))
        for name in wanted:
            source, copy = ROOT / name, self.source / name
            if not copy.is_file() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
                shutil.copymode(source, copy)
        for folder, folders, names in os.walk(self.source):
            if folder == str(self.source):
                folders[:] = [name for name in folders if name not in ("build", ".git")]
            for name in names:
                path = pathlib.Path(folder) / name
                if str(path.relative_to(self.source)) not in wanted and "node_modules" not in path.parts:
                    path.unlink()

    def configure(self):
        self.synchronise()
        if not (self.source / ".git").exists():  # `telltale --version` names a commit, which a test looks at
            git = ["git", "-C", str(self.source)]
            subprocess.run([*git, "init", "-q"], check=True)
            subprocess.run([*git, "-c", "user.name=mutate", "-c", "user.email=mutate@localhost", "commit", "-q",
                            "--allow-empty", "-m", "a copy of the sources"], check=True)
        subprocess.run(["cmake", "--preset", "release", "--log-level=WARNING", "-DTELLTALE_BENCH=ON",
                        "-DTELLTALE_CLANG_RELEASES=19"], cwd=self.source, env=self.environment, check=True,
                       stdout=subprocess.DEVNULL)

    def ninja(self, *words, seconds=1800):
        return self.run(["ninja", "-C", str(self.build), "-j", str(self.cores), *words], seconds)

    def run(self, words, seconds, cwd=None, limited=False, cpu_seconds=0):
        """(exit status, output); status -1 after that many seconds. `limited` bounds the memory, `cpu_seconds` the time that
        one process may compute: a mutant that loops ends soon, however busy the machine is."""

        def limit():
            if limited:
                resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            if cpu_seconds:
                resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))

        process = subprocess.Popen(words, cwd=cwd or self.source, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                   preexec_fn=limit)
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output.decode(errors="replace")
        except subprocess.TimeoutExpired:
            return -1, "more than %d s" % seconds
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def find_objects(self):
        """Source file -> objects that are made from it; those of tests and benchmarks only where there is no other."""
        objects = collections.defaultdict(set)
        owner = ""
        for line in self.ninja("-t", "deps")[1].splitlines():
            if line and not line.startswith(" "):
                owner = line.split(":")[0]
            elif line.strip() and not owner.startswith(("fuzz/", "bench/")):  # of these, no object decides anything
                path = pathlib.Path(os.path.normpath(self.build / line.strip()))
                if path.is_relative_to(self.source):
                    objects[str(path.relative_to(self.source))].add(owner)
        for path in list_sources(["web/src"]):
            self.objects[path] = ["web/page.js"]  # the bundle
        for path, names in objects.items():
            product = {name for name in names if not name.endswith("_test.cc.o") and not name.startswith("tests/")}
            self.objects[path] = sorted(product or names)

    def hashes(self, objects):
        return [hashlib.sha256((self.build / name).read_bytes()).digest() for name in objects]
