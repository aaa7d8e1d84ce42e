"""python/telltale_spark on two threads: row for row what `telltale isolate --json` prints."""
import functools
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from collect_server import Server, core_file
from made_study import COUNTERS, Build, HeaderBuild, make_header_study, make_study
from parquet_reader import pyarrow
from sampler_programs import RELEASES, SOURCE_DIR, build
from study_case import SCHEMES, StudyCase, table, telltale
from test_collect_store import STOCK, send_study

VERSION = "3.5.6"
# Of these small stores. Java compiles with its quick compiler only, and tables have 3 parts instead of 200: less than half the
# processor time of Spark's own settings (17.5 s of 71.5 s for one run). One test keeps the 200, and one runs the program alone.
FEW_PARTS = "--conf spark.sql.shuffle.partitions=3"
SUBMIT = "--conf spark.ui.enabled=false --conf spark.ui.showConsoleProgress=false --driver-java-options -XX:TieredStopAtLevel=1 {} pyspark-shell"


def pyspark():
    """The folder of PySpark, from PyPI, in the build folder."""
    folder = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"]) / f"python/pyspark-{VERSION}"
    if not folder.is_dir():
        made = folder.with_name(f"{folder.name}.{os.getpid()}")
        pip = [sys.executable, "-m", "pip"]
        if subprocess.run([*pip, "--version"], capture_output=True).returncode != 0:
            pip = ["pip3"]
        subprocess.run([*pip, "install", "-q", "--disable-pip-version-check", "--target", made, f"pyspark=={VERSION}"], check=True, timeout=1800)
        made.rename(folder)
    return folder


def environment(parts):
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(pyspark()), str(SOURCE_DIR / "python")]), "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_SUBMIT_ARGS": SUBMIT.format(parts)}


def command_line(store, *words):
    return [str(store), "--application", "stock", "--master", "local[2]", *words]


def spark(store, *words, parts=None):
    """A run in the session of all tests or, with Spark's settings for parts of tables ("": its own), in a process of its own."""
    if parts is None:
        return session().run(command_line(store, *words))
    return subprocess.run([sys.executable, "-m", "telltale_spark", *command_line(store, *words)],
                          env=environment(parts), capture_output=True, text=True, timeout=1500)


class Session:
    """spark_session.py: a Java process of its own for each run would cost more than the run."""

    def __init__(self):
        script = pathlib.Path(__file__).with_name("spark_session.py")
        self.process = subprocess.Popen([sys.executable, "-B", script], env=environment(FEW_PARTS), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def run(self, words):
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        return subprocess.CompletedProcess(words, *json.loads(self.process.stdout.readline()))

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=300)
        self.process.stdout.close()


@functools.cache
def session():
    return Session()


def tearDownModule():
    if session.cache_info().currsize:
        session().close()


def isolate(store, *words, **options):
    """The documents of telltale and of Spark."""
    done = spark(store, *words, **options)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(telltale("isolate", store, "--application", "stock", "--json", *words).stdout), json.loads(done.stdout)


class RowsCase(unittest.TestCase):
    def check_rows(self, store, *words, least=2, **options):
        expected, found = isolate(store, *words, **options)
        self.assertEqual(found["runs"], {key: expected["runs"][key] for key in found["runs"]})
        self.assertGreaterEqual(len(expected["rows"]), least)
        self.assertEqual(len(found["rows"]), len(expected["rows"]))
        for own, other in zip(found["rows"], expected["rows"]):
            for key, value in own.items():
                if isinstance(value, float):
                    self.assertTrue(math.isclose(value, other[key], rel_tol=1e-12, abs_tol=1e-15), (key, own, other))
                else:
                    self.assertEqual(value, other[key], (key, own, other))
        return expected["rows"]


class SparkBuildsTest(RowsCase):
    def test_sites_of_several_builds_are_one(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-spark-"))
        self.addCleanup(shutil.rmtree, folder)
        builds = [Build("new"), Build("old")]
        make_study(folder / "study", builds, 120, COUNTERS)
        with Server(folder / "store") as server:
            send_study(server, folder / "study")
            for build in builds:
                server.request("PUT", f"/v1/sites/{build.build}", build.table().encode(), {"Telltale-Application": "stock"})
        self.assertEqual(telltale("store", "fold", folder / "store").returncode, 0)
        for words in ((), ("--all",)):
            self.assertTrue(any(row["other_lines"] for row in self.check_rows(folder / "store", *words)))

    def test_a_header_is_matched_by_the_file_that_includes_it(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-spark-"))
        self.addCleanup(shutil.rmtree, folder)
        builds = [HeaderBuild("new"), HeaderBuild("old")]
        make_header_study(folder / "study", builds, 90)
        with Server(folder / "store") as server:
            send_study(server, folder / "study")
            for build in builds:
                server.request("PUT", f"/v1/sites/{build.build}", build.table().encode(), {"Telltale-Application": "stock"})
        self.assertEqual(telltale("store", "fold", folder / "store").returncode, 0)
        row = self.check_rows(folder / "store", least=1)[0]
        self.assertEqual((row["file"], row["other_lines"], row["true_in_failing"]), ("util.h", [7], 30))

    def test_path_files_are_left_out_by_name_and_counted(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-spark-"))
        self.addCleanup(shutil.rmtree, folder)
        made = Build("new")
        make_study(folder / "study", [made], 60, COUNTERS)
        with Server(folder / "store") as server:
            send_study(server, folder / "study")
            server.request("PUT", f"/v1/sites/{made.build}", made.table().encode(), {"Telltale-Application": "stock"})
        self.assertEqual(telltale("store", "fold", folder / "store").returncode, 0)
        with Server(folder / "store") as server:  # a later file: the first one is as those of earlier versions
            for label in ("failed", "failed", "skipped"):
                status, _, _ = server.post(f"paths-{label}-{server.metric('known_reports')}", core_file(), telltale_application="stock", telltale_build=made.build,
                                           telltale_label=label, telltale_paths_bytes=64)
                self.assertEqual(status, 200)
        (file,) = (folder / "store/runs").rglob("*.parquet")
        runs = pyarrow().parquet.read_table(file, partitioning=None)
        pyarrow().parquet.write_table(runs.drop(["paths"]), file)
        self.assertEqual(telltale("store", "fold", folder / "store").returncode, 0)
        done = spark(folder / "store")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("2 runs left path files", done.stderr)
        done = spark(folder / "store", "--without-paths")
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        found = json.loads(done.stdout)
        self.assertEqual(found["path_files_left_out"], 2)
        # The rows are those of a store without path files.
        for file in (folder / "store/runs").rglob("*.parquet"):
            runs = pyarrow().parquet.read_table(file, partitioning=None)
            pyarrow().parquet.write_table(runs.drop(["paths"]) if "paths" in runs.column_names else runs, file)
        rows = json.loads(telltale("isolate", folder / "store", "--json").stdout)["rows"]
        self.assertGreater(len(rows), 1)
        self.assertEqual([(row["predicate"], row["true_in_failing"], row["observed_in_failing"]) for row in found["rows"]],
                         [(row["predicate"], row["true_in_failing"], row["observed_in_failing"]) for row in rows])

    def test_a_program_with_bounds_is_refused(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-spark-"))
        self.addCleanup(shutil.rmtree, folder)
        build = Build("new")
        make_study(folder / "study", [build], 4)
        with Server(folder / "store") as server:
            send_study(server, folder / "study")
            server.request("PUT", f"/v1/sites/{build.build}", build.table().encode(), {"Telltale-Application": "stock"})
        self.assertEqual(telltale("store", "fold", folder / "store").returncode, 0)
        done = spark(folder / "store")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("--without-bounds", done.stderr)


class SparkTest(StudyCase, RowsCase):
    def test_rows_are_those_of_isolate(self):
        stock = build(self.folder / "stock", RELEASES[-1], "-g", "-O1", "-frelative-paths", "-ftimestamp-first", *SCHEMES,
                      "-fsampler-scheme=function-entries", "-fsampler-scheme=float-kinds", "stock.c", cwd=STOCK.parent)
        study, store = self.folder / "study", self.folder / "store"
        done = telltale("run", "-q", "--study", study, "--times", 200, "--jobs", 2, "--sparsity", 2, "--seed", 1, "--", stock, "{}")
        self.assertEqual(done.returncode, 0, done.stderr)
        with Server(store) as server:
            send_study(server, study)
            server.post("skipped-1", telltale_application="stock", telltale_label="skipped")
            server.post("killed-01", b"", telltale_application="stock", telltale_signal="SIGKILL")
            server.post("random-01", b"<report id=\"samples\">\n\x7f random <bytes>\n", telltale_application="stock", telltale_build=table(study)[0]["build"])
            server.post("other-001", telltale_application="other")
        self.assertEqual(telltale("store", "sites", store, "--application", "stock", stock).returncode, 0)
        self.assertEqual(telltale("store", "fold", store).returncode, 0)
        (build_id,) = [row["build"] for row in json.loads(telltale("store", "info", store, "--json").stdout)["rows"] if row["runs"] >= 200]
        self.check_rows(store, "--build", build_id, parts=FEW_PARTS)
        self.check_rows(store, "--build", build_id, "--all", parts="")


if __name__ == "__main__":
    unittest.main()
