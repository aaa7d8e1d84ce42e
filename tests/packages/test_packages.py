"""What `./dev package` makes: packages that lintian passes and that install, work and are purged on a bare Debian 12; a
program that runs where there is nothing else; the sources."""
import glob
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

import first_hour
from bare_root import BareRoot, NotHere

SOURCE = pathlib.Path(os.environ["TELLTALE_SOURCE_DIR"])
TELLTALE = os.environ["TELLTALE"]
ORDERS = SOURCE / "examples" / "orders"
PACKAGES = SOURCE / "build" / "packages"


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=1200, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def setUpModule():
    # TELLTALE_PACKAGES=1: those that are there, for work on these tests.
    if os.environ.get("TELLTALE_PACKAGES") is None:
        # What is in a package does not depend on how well it is compressed, which takes half of the processor time of all of this.
        run(SOURCE / "dev", "package", env={**os.environ, "DPKG_DEB_COMPRESSOR_LEVEL": "1"})


def one(pattern):
    (path,) = glob.glob(str(PACKAGES / pattern))
    return path


class Archives(unittest.TestCase):
    def test_lintian_finds_nothing(self):
        if shutil.which("lintian") is None:
            self.skipTest("lintian is not installed")
        said = subprocess.run(["lintian", "--fail-on", "error,warning", "--tag-display-limit", "0",
                               *glob.glob(str(PACKAGES / "*.deb"))], capture_output=True, text=True, timeout=1200)
        self.assertEqual((said.returncode, said.stdout), (0, ""))

    def test_the_sources_are_those_of_the_checkout(self):
        with tarfile.open(one("telltale-?.?.?.tar.gz")) as archive:
            names = {name.partition("/")[2] for name in archive.getnames()}
        tracked = set(run("git", "-C", SOURCE, "ls-files").splitlines()) if (SOURCE / ".git").exists() else set()
        self.assertEqual(tracked - names, set())
        self.assertIn(".commit", names)
        self.assertIn("debian/changelog", names)

    def test_the_static_program_runs_in_an_empty_root(self):
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(one("telltale-*-static.tar.gz")) as archive:
                archive.extractall(folder)
            (program,) = glob.glob(folder + "/*/telltale")
            self.assertNotIn("INTERP", run("readelf", "-lW", program))
            if os.geteuid() != 0:
                self.skipTest("only root can enter another root")
            root = pathlib.Path(folder, "root")
            root.mkdir()
            shutil.copy(program, root)
            for name in ("orders.yaml", "orders-map.yaml"):
                shutil.copy(ORDERS / name, root)
            shutil.copy(SOURCE / "examples/sessions/sessions.mlpd.gz", root)
            for words in (["--version"], ["info", "orders.yaml"], ["top", "orders.yaml", "--program", "orders-map.yaml"],
                          ["report", "orders.yaml", "--program", "orders-map.yaml"], ["report", "sessions.mlpd.gz"],
                          ["flame", "orders.yaml", "--program", "orders-map.yaml", "-o", "flame.html"],
                          ["convert", "orders.yaml", "--to", "perfetto", "-o", "orders.pftrace"]):
                with self.subTest(words=words):
                    ours = run("chroot", root, "/telltale", *words, cwd=root)
                    if words[0] in ("top", "report"):
                        self.assertEqual(ours, run(TELLTALE, *words, cwd=root))
            self.assertGreater((root / "flame.html").stat().st_size, 10000)
            self.assertGreater((root / "orders.pftrace").stat().st_size, 1000)
            (root / "spool").mkdir()
            run("chroot", root, "/telltale", "send", "spool", "--to", "http://127.0.0.1:1", cwd=root)
            # No name service is asked, so none has to be there.
            asked = subprocess.run(["chroot", root, "/telltale", "heapshot", "sessions.mlpd.gz", "--host", "localhost", "--port",
                                    "1"], capture_output=True, text=True, timeout=60)
            self.assertIn("localhost:1: the program does not answer", asked.stderr)


class FirstHour(unittest.TestCase):
    """A root of its own: the page begins with the installation."""

    def test_the_commands_of_the_page_print_its_lines(self):
        try:
            root = BareRoot()
        except NotHere as reason:
            self.skipTest(str(reason))
        self.addCleanup(root.close)
        before = root.files()
        shutil.copy(one("telltale_*.deb"), root.path / "tmp")
        followed = 0
        for command, printed, seconds, missing in first_hour.follow(root):
            print(f"{seconds:6.2f} s  {command}")
            followed += 1
            with self.subTest(command=command):
                self.assertEqual(missing, [], printed)
        self.assertGreaterEqual(followed, 11)
        root.run("apt-get purge -q -y telltale")
        self.assertEqual([path for path in root.files() - before if "telltale" in path], [])


class BareDebian(unittest.TestCase):
    """One root for all steps: each needs the packages of the step before."""

    @classmethod
    def setUpClass(cls):
        try:
            cls.root = BareRoot()
        except NotHere as reason:
            raise unittest.SkipTest(str(reason)) from reason
        cls.addClassCleanup(cls.root.close)

    def said(self, command):
        return self.root.run(command)[1]

    def test_the_packages_install_work_and_are_purged(self):
        for name in ("orders.yaml", "orders-map.yaml"):
            shutil.copy(ORDERS / name, self.root.path / "tmp")
        before = self.root.files()
        self.root.install(one("telltale_*.deb"))
        with self.subTest("telltale reads"):
            self.assertEqual(self.said("telltale top orders.yaml --program orders-map.yaml"),
                             run(TELLTALE, "top", "orders.yaml", "--program", "orders-map.yaml", cwd=ORDERS))
        with self.subTest("telltale finds the program that has the network"):
            self.assertIn("0 reports sent", self.said("mkdir spool && telltale send spool --to http://127.0.0.1:1 2>&1"))
        with self.subTest("the program that has the network is in libexec, with its help"):
            self.said("test -x /usr/libexec/telltale/telltale-collect")
            for verb in ("collect", "send"):
                self.assertIn("telltale " + verb, self.said(f"telltale {verb} --help"))
        self.root.install("g++", "pkg-config")
        with self.subTest("telltale records without the development files"):
            shutil.copy(SOURCE / "tests/programs/recorders/cases/work.c", self.root.path / "tmp")
            self.said("gcc -finstrument-functions work.c -o work && telltale run -q -o work.xray -- ./work")
            self.assertRegex(self.said("telltale top work.xray"), r"(?m)^ *[\d.]+ % +177 .* work$")
        self.root.install(one("telltale-dev_*.deb"))
        with self.subTest("telltale-dev, by pkg-config"):
            shutil.copy(SOURCE / "tests/install/uses_telltale.cc", self.root.path / "tmp")
            self.said("g++ -std=c++17 uses_telltale.cc $(pkg-config --cflags --libs telltale) -o uses_telltale")
            self.assertIn("12 141378 125060 50 110030 validate(Order const&)", self.said("./uses_telltale orders.yaml orders-map.yaml folded"))
            shutil.copytree(SOURCE / "examples/request_server", self.root.path / "tmp/server")
            self.said("g++ -std=c++17 server/request_server.cc $(pkg-config --cflags --libs telltale-stacktrack) -o server/run &&"
                      " telltale run -q -o server.tlg -- server/run 10 && telltale check server.tlg")
        self.root.install(one("telltale-sampler_*.deb"), "libclang-rt-19-dev")
        with self.subTest("telltale-sampler compiles"):
            shutil.copy(SOURCE / "examples/buggy/buggy.cc", self.root.path / "tmp")
            self.said("telltale-c++ -g -fno-sample -fsampler-scheme=branches buggy.cc -o buggy")
            self.root.run("SAMPLER_FILE=crash.report ./buggy 7", check=False)
            self.assertIn("first_negative", self.said("telltale resolve crash.report --program buggy"))
        self.said("apt-get purge -q -y telltale telltale-dev telltale-sampler && apt-get autoremove --purge -q -y"
                  " g++ gcc pkg-config libclang-rt-19-dev")
        left = sorted(path for path in self.root.files() - before)
        self.assertEqual([path for path in left if "telltale" in path], [])


if __name__ == "__main__":
    unittest.main()
