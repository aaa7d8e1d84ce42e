"""A store of collected reports: what other readers find in it, folding, deletion, and `telltale isolate` on it."""
import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from collect_server import TELLTALE, Server, sites
from parquet_reader import pyarrow, read_runs
from sampler_programs import RELEASES, SOURCE_DIR, build
from study_case import SCHEMES, StudyCase, table, telltale

STOCK = SOURCE_DIR / "examples/stock/stock.c"


def send_study(server, study, application="stock", first=0):
    """Sends the runs of a study, as `telltale send` would. `first` is added to the numbers in their ids."""
    connection = server.connect()
    for row in table(study):
        path = study / "reports" / f"{row['run']}.report"
        fields = {"telltale_application": application, "telltale_build": row["build"], "telltale_label": row["label"], "telltale_rule": row["rule"],
                  "telltale_seconds": row["seconds"], "telltale_started": row["started"], "telltale_sparsity": row["sparsity"], "telltale_seed": row["seed"]}
        if row["status"]:
            fields["telltale_status"] = row["status"]
        if row["signal"]:
            fields["telltale_signal"] = row["signal"]
        status, _, body = server.post(f"run-{first + int(row['run']):06}", path.read_bytes() if path.exists() else b"", connection=connection, **fields)
        assert status == 200, body
    connection.close()


class StoreTest(StudyCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stock = build(cls.folder / "stock", RELEASES[-1], "-g", "-O1", "-frelative-paths", "-ftimestamp-first", *SCHEMES, "stock.c", cwd=STOCK.parent)
        cls.recorded = cls.folder / "days"
        done = telltale("run", "-q", "--study", cls.recorded, "--times", 300, "--jobs", 2, "--sparsity", 3, "--seed", 1, "--", cls.stock, "{}")
        assert done.returncode == 0, done.stderr
        cls.store = cls.folder / "store"
        with Server(cls.store) as server:
            send_study(server, cls.recorded)
        done = telltale("store", "sites", cls.store, "--application", "stock", cls.stock)
        assert done.returncode == 0, done.stderr
        done = telltale("store", "fold", cls.store)
        assert done.returncode == 0, done.stderr

    def isolate(self, *words):
        done = telltale("isolate", *words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def fresh(self, *reports):
        """A store with reports of other labels than pass, by id."""
        store = self.folder / self.id().split(".")[-1]
        with Server(store) as server:
            for name, fields in reports:
                self.assertEqual(server.post(name, **fields)[0], 200)
        return store

    def test_the_answer_is_that_of_the_study(self):
        for words in ((), ("--all", "--filter", "none"), ("--score", "ochiai", "--affinity", 3), ("--jobs", 1), ("--jobs", 5)):
            study, store = self.isolate(self.recorded, *words), self.isolate(self.store, *words)
            self.assertGreater(len(study["rows"]), 1)
            self.assertEqual(store["rows"], study["rows"], words)
            for key in ("runs", "predicates", "predicates_true", "candidates", "unexplained"):
                self.assertEqual(store[key], study[key], key)
        # Only the program has the names of its functions.
        store = self.isolate(self.store, "--program", self.stock)
        for cluster in (*store["clusters"], *study["clusters"]):
            del cluster["first_run"]  # runs of a store are numbered as they arrived
        self.assertEqual(store["clusters"], study["clusters"])

    def digests(self, store):
        return sorted(path for path in (store / "digests").rglob("*") if path.is_file())

    def copy_of_store(self):
        store = self.folder / self.id().split(".")[-1]
        shutil.copytree(self.store, store)
        shutil.rmtree(store / "digests")
        (store / "digests").mkdir()
        return store

    def test_one_damaged_file_costs_its_runs_only(self):
        store = self.copy_of_store()
        (whole,) = (store / "runs").rglob("*.parquet")
        expected, listed = self.isolate(store), json.loads(telltale("store", "info", store, "--json").stdout)
        for name, data in (("a.parquet", whole.read_bytes()[:-1000]), ("b.parquet", b""), ("z.parquet", b"PAR1 but no more than that PAR1")):
            whole.with_name(name).write_bytes(data)
        complaint = r"telltale: \S*/a\.parquet: Parquet file[^\n]*: is damaged, and runs that it had are missing: [^\n]*\n"
        done = telltale("isolate", store, "--json")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\A" + complaint)
        self.assertNotIn("SELECT", done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["rows"], answer["runs"]), (expected["rows"], expected["runs"]))
        self.assertEqual(len(answer["problems"]), 3)
        self.assertEqual(telltale("isolate", store, "--strict").returncode, 4)
        done = telltale("store", "info", store, "--json")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, complaint)
        self.assertEqual(json.loads(done.stdout)["rows"], listed["rows"])
        done = telltale("store", "fold", store)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"damaged files","3"', (store / "status.html").read_text().replace('", "', '","'))
        # A report may be in a damaged file, or not.
        ids = pyarrow().parquet.read_table(whole, partitioning=None, columns=["id"]).column("id").to_pylist()
        self.assertEqual(telltale("store", "report", store, "--application", "stock", ids[0]).returncode, 0)
        done = telltale("store", "report", store, "--application", "stock", "no-such-report")
        self.assertEqual(done.returncode, 3)
        self.assertIn(".parquet", done.stderr)

    def test_sites_that_cannot_be_read_are_named(self):
        store = self.copy_of_store()
        (sites_file,) = (store / "sites").rglob("*.sites")
        sites_file.write_text("no sites at all\n")
        done = telltale("isolate", store)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{sites_file.name}", done.stderr)

    def test_later_isolations_read_digests(self):
        store = self.copy_of_store()
        expected = self.isolate(store)["rows"]
        files = sorted((store / "runs").rglob("*.parquet"))
        self.assertEqual([path.relative_to(store / "digests").with_suffix("") for path in self.digests(store)],
                         [path.relative_to(store / "runs").with_suffix("") for path in files])
        without = {**os.environ, "TELLTALE_DUCKDB": "/nonexistent.so"}  # nothing else can read the files
        done = subprocess.run([TELLTALE, "isolate", store, "--json"], env=without, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["rows"], expected)
        # Only the digest of new reports is made.
        before = {path: path.stat().st_mtime_ns for path in self.digests(store)}
        with Server(store) as server:
            send_study(server, self.recorded, first=1000)
        self.assertEqual(telltale("store", "fold", store).returncode, 0)
        self.assertEqual(self.isolate(store)["runs"]["failing"], 2 * self.isolate(self.store)["runs"]["failing"])
        after = {path: path.stat().st_mtime_ns for path in self.digests(store)}
        self.assertGreater(len(after), len(before))
        self.assertEqual({path: after[path] for path in before}, before)

    def test_digests_that_are_no_use_are_made_again(self):
        store = self.copy_of_store()
        expected = self.isolate(store)["rows"]
        digest, *_ = self.digests(store)
        whole = digest.read_bytes()
        for damaged in (b"", whole[:20], whole[:-1], whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], b"another kind of file"):
            digest.write_bytes(damaged)
            self.assertEqual(self.isolate(store)["rows"], expected)
            self.assertEqual(digest.read_bytes(), whole)
        # A file with other runs under the same name.
        (file,) = (store / "runs").rglob("*.parquet")
        runs = pyarrow().parquet.read_table(file, partitioning=None)
        pyarrow().parquet.write_table(runs.slice(0, 100), file)
        labels = runs.slice(0, 100).column("label").to_pylist()
        answer = self.isolate(store)["runs"]
        self.assertEqual((answer["failing"], answer["successful"]), (labels.count("failed"), labels.count("passed")))
        # Where none can be written, or an older version made the store.
        shutil.rmtree(digest.parents[2])
        digest.parents[2].write_text("no folder")
        self.assertEqual(self.isolate(store)["runs"], answer)
        shutil.rmtree(store / "digests")
        self.assertEqual(self.isolate(store)["runs"], answer)
        self.assertFalse((store / "digests").exists())

    def test_digests_do_not_keep_deleted_reports(self):
        store = self.copy_of_store()
        before = self.isolate(store)["runs"]
        self.assertIn(b"run-000003", self.digests(store)[0].read_bytes())
        self.assertEqual(telltale("store", "delete", store, "--application", "stock", "run-000003").returncode, 0)
        self.assertEqual(self.digests(store), [])
        after = self.isolate(store)["runs"]
        self.assertEqual(after["failing"] + after["successful"], before["failing"] + before["successful"] - 1)
        self.assertNotIn(b"run-000003", self.digests(store)[0].read_bytes())
        (file,) = (store / "runs").rglob("*.parquet")
        file.parent.rename(file.parent.with_name("day=2020-01-01"))
        digest, *_ = self.digests(store)
        digest.parent.rename(digest.parent.with_name("day=2020-01-01"))
        self.assertEqual(telltale("store", "fold", store, "--keep-days", 30).returncode, 0)
        self.assertEqual(list((store / "digests").iterdir()), [])

    def test_other_readers_find_what_was_sent(self):
        rows = {row["id"]: row for row in read_runs(self.store)}
        self.assertEqual(len(rows), 300)
        for sent in table(self.recorded):
            row = rows[f"run-{int(sent['run']):06}"]
            path = self.recorded / "reports" / f"{sent['run']}.report"
            text = path.read_bytes()
            self.assertEqual(row["report"], text)
            self.assertEqual((row["application"], row["build"], row["label"], row["rule"], row["started"], str(row["sparsity"]), str(row["seed"])),
                             ("stock", sent["build"], sent["label"], sent["rule"], sent["started"], sent["sparsity"], sent["seed"]))
            self.assertEqual((row["status"], row["signal"]), (int(sent["status"]) if sent["status"] else None, sent["signal"] or None))
            self.assertEqual((row["bytes"], row["damage"]), (len(text), 0))
            self.assertEqual(row["day"], row["received"].date().isoformat())
            self.assertEqual(row["sections"], self.observed(text.decode()))
            backtrace = text.decode().partition('<report id="main-backtrace">')
            expected = (backtrace[1] + backtrace[2]).encode() if row["label"] == "failed" and backtrace[1] else None
            self.assertEqual(row["backtrace"], expected)

    @staticmethod
    def observed(text):
        """The sections of a report, read without telltale's code."""
        counts, times, current = {}, {}, None
        for line in text.splitlines():
            if line.startswith(("<samples ", "<timestamps ")):
                unit, scheme = line.split('"')[1], line.split('"')[3]
                current = (counts if line.startswith("<samples") else times).setdefault((unit, scheme), [])
            elif line.startswith("<"):
                current = None
            elif current is not None:
                current.append([int(number) for number in line.split("\t")])
        sections = []
        for unit, scheme in sorted(counts):
            rows = counts[unit, scheme]
            seen = [site for site, row in enumerate(rows) if any(row)]
            sections.append({"unit": unit, "scheme": scheme, "rows": len(rows), "sites": seen,
                             "counted": [sum(1 << i for i, number in enumerate(rows[site]) if number) for site in seen],
                             "first": [times[unit, scheme][site][0] for site in seen] if seen else None})
        return sections

    def test_the_documented_schema_is_that_of_the_files(self):
        documented = {}
        for line in (SOURCE_DIR / "docs/formats/store.md").read_text().splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) == 5 and cells[2].split("[")[0].split(" ")[0] in ("VARCHAR", "INTEGER", "SMALLINT", "BIGINT", "UBIGINT", "DOUBLE", "TIMESTAMP", "BLOB", "list"):
                for name in cells[1].split(", "):
                    documented[name] = cells[2]
        file = next((self.store / "runs").rglob("*.parquet"))
        schema = pyarrow().parquet.read_schema(file)
        types = {"string": "VARCHAR", "int32": "INTEGER", "int16": "SMALLINT", "int64": "BIGINT", "uint64": "UBIGINT", "double": "DOUBLE",
                 "timestamp[us]": "TIMESTAMP", "binary": "BLOB"}

        def name_of(kind):
            if str(kind) in types:
                return types[str(kind)]
            return "list of STRUCT" if "struct" in str(kind.value_type) else types[str(kind.value_type)] + "[]"
        found = {field.name: name_of(field.type) for field in schema}
        found.update({field.name: name_of(field.type) for field in schema.field("sections").type.value_type})
        self.assertEqual(found, documented)

    def test_info(self):
        (row,) = json.loads(telltale("store", "info", self.store, "--json").stdout)["rows"]
        labels = [run["label"] for run in table(self.recorded)]
        self.assertEqual((row["application"], row["runs"], row["failed"], row["passed"], row["sites"]),
                         ("stock", 300, labels.count("failed"), labels.count("passed"), "yes"))
        self.assertIn(row["build"], telltale("store", "info", self.store).stdout)

    def test_reports_that_are_not_folded_are_told(self):
        store = self.folder / "unfolded"
        with Server(store) as server:
            self.assertEqual(server.post("waits-0001")[0], 200)
        for words in (("store", "info"), ("isolate",)):
            self.assertIn("not folded yet", telltale(*words, store).stderr, words)
        self.assertEqual(telltale("store", "fold", store).returncode, 0)
        for words in (("store", "info"), ("isolate",)):
            self.assertNotIn("not folded yet", telltale(*words, store).stderr, words)

    def test_a_fold_may_be_interrupted_anywhere(self):
        rng = random.Random(2)
        store = self.folder / "interrupted"
        names = []
        for round_ in range(12):
            with Server(store) as server:
                connection = server.connect()
                for number in range(40):
                    names.append(f"part-{round_:02}-{number:03}")
                    self.assertEqual(server.post(names[-1], connection=connection, telltale_build=f"b{number % 3}")[0], 200)
                connection.close()
            process = subprocess.Popen([TELLTALE, "store", "fold", store, "-q"])
            time.sleep(rng.uniform(0, 0.25))
            process.kill()
            process.wait()
            ids = [row["id"] for row in read_runs(store, ["id"])]
            self.assertEqual(len(ids), len(set(ids)))
        # And before each of its renames and removals.
        for call in ("rename", "unlink"):
            for when in range(1, 8):
                with Server(store) as server:
                    names.append(f"call-{call}-{when:02}")
                    self.assertEqual(server.post(names[-1])[0], 200)
                subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={when}",
                                TELLTALE, "store", "fold", store, "-q"], timeout=120)
                ids = [row["id"] for row in read_runs(store, ["id"])]
                self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(telltale("store", "fold", store).returncode, 0)
        self.assertEqual(sorted(row["id"] for row in read_runs(store, ["id"])), sorted(names))
        self.assertEqual(list((store / "log").glob("*.log")), [])
        self.assertFalse((store / "log/folding").exists())

    def test_deleted_reports_do_not_come_back(self):
        store = self.fresh(*[(f"delete-{number:02}", {}) for number in range(6)], ("other-app-1", {"telltale_application": "other"}))
        self.assertEqual(telltale("store", "delete", store, "--application", "app", "delete-00").returncode, 0)
        with Server(store) as server:
            server.post("delete-06")
        # One of a file, one of the log, one that is not there, one of another application.
        done = telltale("store", "delete", store, "--application", "app", "delete-01", "delete-06", "nowhere-1", "other-app-1")
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = [*(f"delete-{number:02}" for number in range(2, 6)), "other-app-1"]
        self.assertEqual(sorted(row["id"] for row in read_runs(store, ["id"])), expected)
        with Server(store) as server:
            self.assertEqual(json.loads(server.post("delete-01")[2])["duplicate"], True)
        telltale("store", "fold", store)
        self.assertEqual(sorted(row["id"] for row in read_runs(store, ["id"])), expected)
        whole = b"".join(path.read_bytes() for path in (store / "log").rglob("*") if path.is_file())
        self.assertNotIn(b"delete-06", whole)
        for words in (("delete", store, "x"), ("delete", store, "--application", "app"), ("delete", store, "--application", "app", "../../x"),
                      ("fold", self.folder), ("info", store, "more"), ("sites", store, "--application", "app", STOCK)):
            self.assertNotEqual(telltale("store", *words).returncode, 0, words)

    def test_old_reports_are_removed(self):
        store = self.fresh(("today-001", {}))
        telltale("store", "fold", store)
        (file,) = (store / "runs").rglob("*.parquet")
        old = file.parent.with_name("day=2020-01-01")
        file.parent.rename(old)
        sites_of_old = store / "sites/app/b1.sites"
        sites_of_old.parent.mkdir(exist_ok=True)
        sites_of_old.write_bytes(sites())
        with Server(store) as server:
            server.post("today-002")
        # In microseconds, these overflow to now or later.
        for days in (106_751_992, 213_503_983, 2**64 - 1):
            self.assertNotEqual(telltale("store", "fold", store, "--keep-days", days).returncode, 0, days)
        telltale("store", "fold", store, "--keep-days", 36500)
        self.assertEqual(sorted(row["id"] for row in read_runs(store, ["id"])), ["today-001", "today-002"])
        done = telltale("store", "fold", store, "--keep-days", 30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 old file removed", done.stderr)
        self.assertEqual([row["id"] for row in read_runs(store, ["id"])], ["today-002"])
        self.assertFalse(old.exists())
        self.assertEqual(len(list((store / "ids").iterdir())), 1)
        self.assertTrue(sites_of_old.exists())

    @unittest.skipUnless(os.geteuid() == 0, "becomes another user")
    def test_what_cannot_be_read_is_not_left_out(self):
        """A folder or file that root made in another user's store."""
        os.chmod(self.folder, 0o755)
        store = self.fresh(("mine-0001", {"telltale_build": "b1"}), ("mine-0002", {"telltale_build": "b3"}))
        telltale("store", "fold", store)
        with Server(store) as server:
            server.post("root-0001", telltale_build="b2")
        telltale("store", "fold", store)
        user = {"user": 65534, "group": 65534, "extra_groups": []}
        subprocess.run(["chown", "-R", "65534:65534", store], check=True)
        self.assertEqual(telltale("store", "info", store, **user).stdout.count("\napp "), 3)
        of_root = store / "runs/application=app/build=b2"
        os.chown(of_root, 0, 0)
        for words in (("store", "info"), ("isolate",), ("store", "fold", "--keep-days", 30), ("store", "delete", "--application", "app")):
            done = telltale(*words[:2], store, *words[2:], *(["mine-0001"] if "delete" in words else []), **user)
            self.assertEqual((done.returncode, done.stdout), (3, ""), (words, done.stderr))
            self.assertIn(f"{of_root}: cannot be read: Permission denied", done.stderr)
        os.chown(of_root, 65534, 65534)
        ids = max((store / "ids").iterdir())
        os.chown(ids, 0, 0)
        other = Server(store, wrapper=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"), expect_ready=False)
        self.assertEqual(other.process.wait(60), 3)
        other.stop()
        self.assertIn(f"{ids}: cannot open: Permission denied", "".join(other.text))
        # A folder into which one may not look is not one of another kind.
        os.chown(store, 0, 0)
        for words in (("store", "info"), ("store", "fold"), ("isolate",), ("study", "relabel"), ("study", "info")):
            done = telltale(*words, store, **user)
            self.assertEqual((done.returncode, done.stdout), (3, ""), (words, done.stderr))
            self.assertRegex(done.stderr, rf"^telltale: {store}(/runs.tsv)?: cannot .*: Permission denied\n$")

    def test_if_all_files_are_damaged_nothing_is_answered(self):
        """At its begin, in a page far after it, at its end."""
        store = self.copy_of_store()
        file = max((store / "runs").rglob("*.parquet"), key=lambda path: path.stat().st_size)
        parquet = pyarrow().parquet
        runs = parquet.read_table(file, partitioning=None)
        parquet.write_table(pyarrow().concat_tables([runs] * 40), file, row_group_size=1000)
        whole = file.read_bytes()
        groups = parquet.read_metadata(file)
        pages = {column.path_in_schema: column.data_page_offset for column in map(groups.row_group(groups.num_row_groups - 1).column, range(groups.num_columns))}
        for first, last in ((4, 60), (pages["label"], pages["label"] + 8), (len(whole) - 40, len(whole))):
            file.write_bytes(whole[:first] + bytes(byte ^ 0xff for byte in whole[first:last]) + whole[last:])
            done = telltale("isolate", store)
            self.assertEqual((done.returncode, done.stdout), (3, ""), (first, done.stderr))
            self.assertIn(f"{file}: DuckDB: ", done.stderr)

    def test_the_server_folds(self):
        store = self.folder / "folding"
        with Server(store, fold_seconds=1) as server:
            server.post("fold-0001")
            end = time.monotonic() + 120
            while not list(store.glob("runs/**/*.parquet")) and time.monotonic() < end:
                time.sleep(0.1)
            self.assertEqual([row["id"] for row in read_runs(store, ["id"])], ["fold-0001"])
            while server.metric("folds_total") == 0 and time.monotonic() < end:
                time.sleep(0.1)
            self.assertEqual((server.metric("unfolded_bytes"), server.metric("failed_folds_total")), (0, 0))
            self.assertIn(b"<html", server.see("/")[2])
            self.assertEqual(json.loads(server.post("fold-0001")[2])["duplicate"], True)

    def test_a_fold_takes_what_a_running_server_has(self):
        """Also with --fold-seconds 0, and again and again."""
        store = self.folder / "asked"
        with Server(store) as server:
            for number in range(3):
                server.post(f"asked-000{number}")
                done = telltale("store", "fold", store)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("1 report of 1 segment in 1 new file", done.stderr)
                self.assertEqual([row["id"] for row in read_runs(store, ["id"])], [f"asked-000{old}" for old in range(number + 1)])
            self.assertIn("0 reports of 0 segments", telltale("store", "fold", store).stderr)
            self.assertFalse((store / "roll").exists())
            server.post("asked-0003")
            # A server that has no time: what it writes stays in the log.
            server.process.send_signal(signal.SIGSTOP)
            try:
                done = telltale("store", "fold", store)
            finally:
                server.process.send_signal(signal.SIGCONT)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("the server did not end the segment that it writes", done.stderr)
            self.assertIn("0 reports of 0 segments", done.stderr)
            self.assertFalse((store / "roll").exists())
            self.assertIn("1 report of 1 segment", telltale("store", "fold", store).stderr)

    def test_without_the_library_reports_are_received_and_kept(self):
        store = self.folder / "without"
        with Server(store, fold_seconds=1, env={"TELLTALE_DUCKDB": "/nonexistent.so"}) as server:
            server.post("kept-0001")
            end = time.monotonic() + 60
            # The event is printed after the fold is counted.
            while "fold" not in (event["event"] for event in server.events) and time.monotonic() < end:
                time.sleep(0.1)
            self.assertIn("fold", [event["event"] for event in server.events])
            self.assertGreater(server.metric("failed_folds_total"), 0)
        done = subprocess.run([TELLTALE, "store", "fold", store], env={**os.environ, "TELLTALE_DUCKDB": "/nonexistent.so"}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("stores need DuckDB's library", done.stderr)
        self.assertEqual(telltale("store", "fold", store).returncode, 0)
        self.assertEqual([row["id"] for row in read_runs(store, ["id"])], ["kept-0001"])

    def test_builds_applications_and_missing_sites(self):
        store = self.fresh(("one-00001", {"telltale_label": "failed"}), ("two-00001", {"telltale_build": "c2"}), ("skip-0001", {"telltale_label": "skipped"}),
                           ("empty-001", {"body": b"", "telltale_signal": "SIGKILL"}),
                           ("random-01", {"body": b"<report id=\"samples\">\n\x7f random <bytes>\n", "telltale_label": "passed"}), ("other-001", {"telltale_application": "other"}))
        telltale("store", "fold", store)
        self.assertIn("choose one with --application", telltale("isolate", store).stderr)
        self.assertIn("no site information", telltale("isolate", store, "--application", "app").stderr)
        text = self.folder / "text.sites"
        text.write_bytes(sites())
        answer = self.isolate(store, "--application", "app", "--program", text)
        self.assertEqual(answer["runs"], {"failing": 1, "successful": 1, "skipped": 1, "without_report": 2, "unresolved": 0, "other_clusters": 0,
                                          "failing_left_out": 1})
        answer = self.isolate(store, "--application", "app", "--program", text, "--build", "c2")
        self.assertEqual((answer["runs"]["failing"], answer["runs"]["successful"]), (0, 1))
        shorter = self.folder / "shorter.sites"
        shorter.write_bytes(sites(2))
        done = telltale("isolate", store, "--application", "app", "--program", shorter, "--strict")
        self.assertEqual(done.returncode, 4)
        self.assertIn("3 rows", done.stderr)


if __name__ == "__main__":
    unittest.main()
