"""An installed telltale can be found, linked against and used by a program without this repository."""
import glob
import json
import os
import subprocess
import tempfile
import unittest

import collect_server
import mono_file

TELLTALE = os.environ["TELLTALE"]
SOURCE = os.environ["TELLTALE_SOURCE_DIR"]
BUILD = os.environ["TELLTALE_BINARY_DIR"]
ORDERS = os.path.join(SOURCE, "examples", "orders")


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = os.path.join(cls.folder.name, "prefix")
        build = os.path.join(cls.folder.name, "build")
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        run("cmake", "-S", os.path.join(SOURCE, "tests", "install"), "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={cls.prefix}")
        run("cmake", "--build", build)
        cls.program = os.path.join(build, "uses_telltale")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_library_says_what_the_program_says(self):
        recording = [os.path.join(ORDERS, "orders.yaml"), os.path.join(ORDERS, "orders-map.yaml")]
        folded = os.path.join(self.folder.name, "folded")
        lines = run(self.program, *recording, folded).splitlines()
        info = json.loads(run(TELLTALE, "info", "--json", recording[0]))
        self.assertEqual(lines[0], run(TELLTALE, "--version").split()[1])
        self.assertEqual(lines[1].split(), [info["format"], info["version"], str(info["records"]),
                                            str(len(info["threads"])), str(info["span_ns"]), "0", "0"])
        top = json.loads(run(TELLTALE, "top", "--json", recording[0], "--program", recording[1]))["rows"]
        keys = ("calls", "total_ns", "self_ns", "median_ns", "max_ns", "function")
        self.assertEqual(lines[2:], [" ".join(str(row[key]) for key in keys) for row in top])
        with open(folded) as file:
            self.assertEqual(file.read(), run(TELLTALE, "convert", recording[0], "--program", recording[1], "--to", "folded",
                                              "-o", "-"))

    def test_damage_is_told(self):
        torn = os.path.join(self.folder.name, "torn.fdr")
        run(TELLTALE, "convert", os.path.join(ORDERS, "orders.yaml"), "--to", "fdr5", "-o", torn)
        os.truncate(torn, 1000)
        lines = run(self.program, torn, os.path.join(ORDERS, "orders-map.yaml"), os.path.join(self.folder.name, "out")).splitlines()
        problems = json.loads(run(TELLTALE, "info", "--json", torn))["problems"]
        self.assertEqual([line for line in lines if line.startswith("problem: ")],
                         [f"problem: {p['offset']} {p['record']} {p['lost_bytes']}" for p in problems])
        self.assertGreater(len(problems), 0)

    def test_calls_that_are_too_deep_for_an_export_are_counted(self):
        deep = os.path.join(self.folder.name, "deep.mlpd")
        method = mono_file.Chain()
        with open(deep, "wb") as file:
            file.write(mono_file.file_header() + mono_file.buffer(
                b"".join(mono_file.event(0x23, method(8 * number)) for number in range(1, 1101)), mono_file.START))
        lines = run(self.program, deep, "", os.path.join(self.folder.name, "deep")).splitlines()
        self.assertIn("flattened: 100", lines)  # the tree has 1,000 levels

    def test_an_error_is_an_exception_that_says_where(self):
        done = subprocess.run([self.program, "/dev/null", "", "x"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: ", done.stdout)

    def test_only_the_interface_is_visible(self):
        library = os.path.join(self.prefix, run("cmake", "-LA", "-N", BUILD).split("CMAKE_INSTALL_LIBDIR:PATH=")[1].split()[0],
                               "libtelltale.so")
        symbols = [line.split(maxsplit=2)[1:] for line in run("nm", "-DC", "--defined-only", library).splitlines()]
        self.assertTrue(any("telltale::api::Recording::top" in name for _, name in symbols), symbols)
        # Every C++ library has weak instances of the standard library's own templates.
        strangers = [name for kind, name in symbols if "telltale::api::" not in name and not
                     (kind in "VWu" and "std::" in name)]
        self.assertEqual(strangers, [])

    def test_a_program_with_checkpoints(self):
        """Both forms of the recorder, and none: disabled macros expand to nothing, and need no library."""
        folder = os.path.dirname(self.program)
        for name in ("uses_stacktrack", "uses_stacktrack_shared"):
            path = run(os.path.join(folder, name), self.folder.name).split()[0]
            with open(path, "rb") as file:
                data = file.read()
            for text in (b"stranger's block", b"stranger's value", b"37.5"):
                self.assertIn(text, data, name)
            needed = run("readelf", "-d", os.path.join(folder, name))
            self.assertEqual("libtelltale_stacktrack.so" in needed, name == "uses_stacktrack_shared")
        disabled = os.path.join(folder, "uses_no_stacktrack")
        self.assertEqual(run(disabled, self.folder.name).split(), ["none"])
        self.assertNotIn("telltale", run("nm", "-C", disabled))

    def test_the_tool_of_the_specification_is_installed(self):
        """libexec/telltale/expand_events, under the name that readers of the StackTrack text know."""
        tool = os.path.join(self.prefix, "libexec", "telltale", "expand_events")
        example = os.path.join(SOURCE, "tests", "golden", "stacktrack", "specification.tlg")
        lines = run(tool, "--as-printed", example).splitlines()
        self.assertEqual(lines[0], '<PROLOGUE flags="0x4000" pid="0x60c0" seq="0" _12345678="305419896" version="256" info_len="16" '
                                   'entry_size="24" payload_offset="8"/>')
        self.assertEqual(lines, run(TELLTALE, "expand_events", "--as-printed", example).splitlines())
        self.assertTrue(run(tool, "--show_format").startswith("<RAW_FORMAT"))

    def test_the_program_that_has_the_network_is_installed(self):
        spool = os.path.join(self.folder.name, "spool")
        os.mkdir(spool)
        done = subprocess.run([os.path.join(self.prefix, "bin", "telltale"), "send", spool, "--to", "http://127.0.0.1:1"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, "telltale: 0 reports sent\n"))

    def test_the_guide_to_the_sampler_works_with_what_is_installed(self):
        """Every command of the guide, from telltale-c++ to resolve-backtrace, with only the prefix's bin in the PATH."""
        if not glob.glob(os.path.join(self.prefix, "lib*", "**", "telltale-sampler-clang-*.so"), recursive=True):
            self.skipTest("no plugin was built")
        path = os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep) if not folder.startswith(BUILD))
        said = run("python3", os.path.join(SOURCE, "tools", "check_tour.py"), os.path.join(self.prefix, "bin", "telltale"),
                   os.path.join(SOURCE, "docs", "sampler-guide.md"), env=dict(os.environ, PATH=path))
        self.assertRegex(said, r"sampler-guide.md: [1-9]\d+ commands, 0 print something else")

    def test_pkg_config_knows_the_libraries(self):
        path = dict(os.environ, PKG_CONFIG_PATH=glob.glob(os.path.join(self.prefix, "lib*", "pkgconfig"))[0])
        for name, source in (("telltale", "uses_telltale"), ("telltale-stacktrack", "uses_stacktrack")):
            flags = run("pkg-config", "--cflags", "--libs", name, env=path).split()
            program = os.path.join(self.folder.name, "by_pkg_config")
            run("g++", "-std=c++17", os.path.join(SOURCE, "tests", "install", source + ".cc"), *flags, "-o", program)
            self.assertNotIn("stacktrack", run("readelf", "-d", program))  # programs need no library of ours to run
        self.assertIn("-ltelltale", run("pkg-config", "--libs", "telltale", env=path))
        self.assertIn("telltale_xray_start", run("pkg-config", "--libs", "telltale-xray", env=path))

    def test_uninstall_leaves_nothing(self):
        prefix = os.path.join(self.folder.name, "other prefix")
        run("cmake", "--install", BUILD, "--prefix", prefix)
        ours = os.path.join(prefix, "bin", "of_somebody_else")
        with open(ours, "w"):
            pass
        self.assertGreater(len(run("find", prefix, "-type", "f").splitlines()), 50)
        run(os.path.join(SOURCE, "dev"), "uninstall", prefix)
        self.assertEqual(run("find", prefix, "-not", "-type", "d").splitlines(), [ours])
        done = subprocess.run([os.path.join(SOURCE, "dev"), "uninstall", prefix], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing was installed", done.stderr)

    def test_uninstall_leaves_the_folders_that_were_there(self):
        prefix = os.path.join(self.folder.name, "nest", "opt", "telltale")
        for former in ([], ["bin", "share/man", "share/zsh/site-functions", "lib", "telltale"]):
            for times in (1, 2):
                with self.subTest(former=former, times=times):
                    for name in ["", *former]:
                        os.makedirs(os.path.join(prefix, name), exist_ok=True)
                    before = run("find", prefix)
                    for _ in range(times):
                        run("cmake", "--install", BUILD, "--prefix", prefix)
                    run(os.path.join(SOURCE, "dev"), "uninstall", prefix)
                    self.assertEqual(run("find", prefix), before)

    def test_uninstall_knows_the_folder_by_any_name(self):
        for how in ("link", "relative"):
            real = os.path.join(self.folder.name, "real of " + how)
            os.mkdir(real)
            link = os.path.join(self.folder.name, "link")
            if how == "link":
                os.symlink(real, link)
            run("cmake", "--install", BUILD, "--prefix", link if how == "link" else os.path.basename(real), cwd=self.folder.name)
            run(os.path.join(SOURCE, "dev"), "uninstall", real)
            self.assertEqual(run("find", self.folder.name, "-path", real + "/*", "-not", "-type", "d").splitlines(), [])

    @unittest.skipUnless(os.path.exists(os.path.join(BUILD, "lib", "telltale", "libduckdb.so")), "built without DuckDB")
    def test_the_installed_program_finds_duckdb(self):
        store = os.path.join(self.folder.name, "store")
        with collect_server.Server(store) as server:
            self.assertEqual(server.post("report-1")[0], 200)
        def fold():
            return subprocess.run([os.path.join(self.prefix, "bin", "telltale"), "store", "fold", store], capture_output=True, text=True)

        (library,) = glob.glob(os.path.join(self.prefix, "lib*", "**", "libduckdb.so"), recursive=True)
        os.rename(library, library + ".away")
        try:
            self.assertIn("stores need DuckDB's library", fold().stderr)
        finally:
            os.rename(library + ".away", library)
        done = fold()
        self.assertEqual(done.returncode, 0)
        self.assertIn("1 report of 1 segment in 1 new file", done.stderr)

    def test_the_installed_program_runs(self):
        self.assertIn("valid", run(os.path.join(self.prefix, "bin", "telltale"), "check", os.path.join(ORDERS, "orders.yaml")))
        headers = os.listdir(os.path.join(self.prefix, "include"))
        self.assertEqual(headers, ["telltale"])


if __name__ == "__main__":
    unittest.main()