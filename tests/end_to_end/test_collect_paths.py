"""Path files (TELLTALE_PATHS) of deployed programs: sent with reports, kept in the store, evidence of `telltale isolate`."""
import gzip
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from collect_case import CollectCase, multipart, zstd
from collect_server import TELLTALE, Server, core_file, report, stored_in_log
from parquet_reader import pyarrow, read_runs
from sampler_programs import RELEASES, SOURCE_DIR, build
from send_case import DEAD, FakeServer
from study_case import table, telltale

PROGRAMS = SOURCE_DIR / "tests/programs/csi"
GRADED = PROGRAMS / "graded.c"


def unpacked(row):
    """The path file of a store's row."""
    return gzip.decompress(row["paths"]) if row["paths"] is not None else None


def digests(store, ending):
    return sorted((store / "digests").rglob(f"*.{ending}"))


class RequestTest(CollectCase):
    def test_the_simple_form(self):
        core = core_file(b"stack" * 100)
        with Server(self.store) as server:
            for name, encoding, pack in (("plain-001", None, lambda data: data), ("gzip-0001", "gzip", gzip.compress), ("zstd-0001", "zstd", zstd)):
                more = {"content_encoding": encoding} if encoding else {}
                body = pack(report() + core)
                for duplicate in (False, True):
                    status, _, text = server.post(name, body, telltale_paths_bytes=len(core), **more)
                    self.assertEqual((status, json.loads(text)), (200, {"id": name, "duplicate": duplicate}), text)
                row = stored_in_log(self.store)[-1]
                self.assertEqual((row["id"], row["paths_bytes"], row["body"]), (name, len(core), body))
            # A run that SIGKILL ended, or of a program with path tracing alone.
            self.assertEqual(server.post("alone-001", core, telltale_paths_bytes=len(core))[0], 200)
            self.assertEqual(server.post("none-0001")[0], 200)
            self.assertNotIn("paths_bytes", stored_in_log(self.store)[-1])
            self.assertEqual(server.metric("path_files_stored_total"), 4)
            self.assertEqual(server.post("plain-001", report() + core_file(b"other"), telltale_paths_bytes=69)[0], 409)
        self.assertEqual(telltale("store", "fold", self.store).returncode, 0)
        rows = {row["id"]: row for row in read_runs(self.store)}
        self.assertEqual({name: (row["report"], unpacked(row), row["bytes"]) for name, row in rows.items()},
                         {**{name: (report(), core, len(report())) for name in ("plain-001", "gzip-0001", "zstd-0001")},
                          "alone-001": (b"", core, 0), "none-0001": (report(), None, len(report()))})

    def test_the_multipart_form(self):
        core = core_file(bytes(range(256)))
        fields = {"Content-Type": "multipart/form-data; boundary=cut", "sampler-application-name": "app", "sampler-application-version": "1",
                  "Telltale-Report-Id": "parts-001"}
        samples = b'<samples unit="u" scheme="branches">\n</samples>\n'
        with Server(self.store, "--max-paths-bytes", 1000) as server:
            for packed in (True, False):
                fields["Telltale-Report-Id"] = f"parts-00{int(packed)}"
                self.assertEqual(server.request("POST", "/", multipart([("samples", samples, True), ("paths", core, packed), ("note", b"x", False)]), fields)[0], 200)
            two = multipart([("paths", core, True), ("paths", core, True)])
            self.assertEqual(server.request("POST", "/", two, fields)[0::2], (400, b"there are two parts paths\n"))
            for large in (True, False):
                self.assertEqual(server.request("POST", "/", multipart([("paths", core_file(b"x" * 2000), large)]), fields)[0], 413)
        rows = stored_in_log(self.store)
        self.assertEqual([(row["paths_bytes"], gzip.decompress(row["body"])) for row in rows],
                         [(len(core), b'<report id="samples">\n' + samples + b'</report>\n<report id="note">\nx\n</report>\n' + core)] * 2)

    def test_hostile_path_files(self):
        core = core_file(b"x")
        cases = ((b"no core file", 12, 400, b"the path file"), (core.replace(b"\x04\0", b"\x02\0", 1), len(core), 400, b"not a core file"),
                 (core[:30], 30, 400, b"the path file"), (core, len(report() + core) + 1, 400, b"fewer than Telltale-Paths-Bytes"),
                 (core, "-1", 400, b"Telltale-Paths-Bytes"), (core, 2**64, 400, b"Telltale-Paths-Bytes"), (core, 4097, 413, b"more than 4096 bytes"),
                 (core_file(b"x" * 5000), 5064, 413, b"more than 4096 bytes"), (core, len(core) - 1, 400, b""), (core, len(core) + 1, 400, b"the path file"))
        with Server(self.store, "--max-paths-bytes", 4096, "--max-report-bytes", 2000) as server:
            for number, (content, size, status, text) in enumerate(cases):
                answer = server.post(f"hostile-{number}", report() + content, telltale_paths_bytes=size)
                self.assertEqual(answer[0], status, (size, answer))
                self.assertIn(text, answer[2])
                self.assertEqual(answer[2].count(b"\n"), 1)
            self.assertEqual(server.metric("path_files_too_large_total"), 2)
            # Each has its own limit.
            self.assertEqual(server.post("large-001", report() + b"\n" * 2000 + core, telltale_paths_bytes=len(core))[0], 413)
            self.assertEqual(server.post("large-002", zstd(report() + core_file(b"\0" * 4032)), telltale_paths_bytes=4096, content_encoding="zstd")[0], 200)
            self.assertEqual(server.post("bomb-0001", gzip.compress(report() + b"\0" * (1 << 22)), telltale_paths_bytes=100, content_encoding="gzip")[0], 413)
        self.assertEqual([row["id"] for row in stored_in_log(self.store)], ["large-002"])
        with Server(self.store, "--max-paths-bytes", 0) as server:
            self.assertEqual(server.post("off-00001", report() + core, telltale_paths_bytes=len(core))[0], 413)


class SendTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keeper = tempfile.TemporaryDirectory(prefix="telltale-paths-")
        cls.addClassCleanup(cls.keeper.cleanup)
        cls.programs = pathlib.Path(cls.keeper.name) / "planted-home"
        cls.programs.mkdir()
        cls.both = build(cls.programs / "both", RELEASES[-1], "-silent", "-O0", "-pthread", "--trace=pt.schema", "-fsampler-scheme=branches", PROGRAMS / "crash_ways.c")
        cls.traced = build(cls.programs / "traced", RELEASES[-1], "-silent", "-O0", "-pthread", "--trace=pt.schema", PROGRAMS / "crash_ways.c")

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-paths-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.spool, self.store = self.folder / "spool", self.folder / "store"
        self.spool.mkdir()

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SAMPLER_", "TELLTALE_COLLECT", "TELLTALE_PATHS", "XDG_"))}
        return {**kept, "HOME": str(self.folder), **{name: str(value) for name, value in more.items()}}

    def spooled(self, *arguments, program=None, **more):
        """Runs a program that fills the spool by itself."""
        environment = self.environment(TELLTALE_COLLECT=self.spool, SAMPLER_SPARSITY=1, **more)
        return subprocess.run([program or self.both, *arguments], env=environment, capture_output=True, timeout=60)

    def waiting(self, ending):
        return sorted(path.stem for path in self.spool.glob(f"*.{ending}"))

    def send(self, url, *words):
        return telltale("send", self.spool, "--to", url, *words, env=self.environment())

    def test_the_program_s_own_spool(self):
        self.spooled("fault")
        self.assertEqual(self.waiting("paths"), [])  # only if they are asked for
        self.spooled("fault", TELLTALE_COLLECT_PATHS="0")
        self.assertEqual(self.waiting("paths"), [])
        for path in self.spool.iterdir():
            path.unlink()
        for how in ("fault", "abort"):
            self.spooled(how, TELLTALE_COLLECT_PATHS=1)
        self.spooled("none", TELLTALE_COLLECT_PATHS=1)  # it ends well, and leaves none
        self.assertEqual(len(self.waiting("report")), 3)
        paths = self.waiting("paths")
        self.assertEqual(len(paths), 2)
        self.assertLess(set(paths), set(self.waiting("report")))
        self.assertEqual({(self.spool / f"{name}.paths").stat().st_mode & 0o777 for name in paths}, {0o600})
        # Its own wish comes first.
        self.spooled("fault", TELLTALE_COLLECT_PATHS=1, TELLTALE_PATHS=self.folder / "own.core")
        self.assertTrue((self.folder / "own.core").exists())
        self.assertEqual(self.waiting("paths"), paths)
        self.assertEqual(self.spooled("fault", program=self.traced, TELLTALE_COLLECT_PATHS=1).returncode, -11)
        self.assertEqual(len(self.waiting("report")), 4)  # path tracing alone leaves no reports
        with Server(self.store) as server:
            done = self.send(f"http://127.0.0.1:{server.port}")
            self.assertEqual((done.returncode, done.stderr), (0, "telltale: 4 reports sent, 2 of them with path files\n"))
        self.assertEqual((self.waiting("report"), self.waiting("paths")), ([], []))
        self.assertEqual(sorted(row["id"] for row in stored_in_log(self.store) if "paths_bytes" in row), paths)

    def test_stacks_are_sent_without_pieces_of_arguments(self):
        """Where the stack begins decides which pieces are left in it."""
        for size in range(0, 96, 4):
            self.spooled("fault", "planted-argument", TELLTALE_COLLECT_PATHS=1, PADDING="x" * size)
        self.assertEqual(len(self.waiting("paths")), 24)
        with Server(self.store) as server:
            self.assertEqual(self.send(f"http://127.0.0.1:{server.port}").returncode, 0)
        self.assertEqual(telltale("store", "fold", self.store).returncode, 0)
        stored = [unpacked(row) for row in read_runs(self.store)]
        self.assertEqual(len(stored), 24)
        self.assertEqual([number for number, file in enumerate(stored) if re.search(b"plante|nted-a|argume", file)], [])

    def test_the_stored_file_says_what_the_program_did(self):
        self.spooled("fault", "planted-argument", TELLTALE_COLLECT_PATHS=1)
        (name,) = self.waiting("paths")
        sent = (self.spool / f"{name}.paths").read_bytes()
        self.assertIn(b"planted-home", sent)
        self.assertIn(b"planted-argument", sent)
        own = telltale("paths", self.spool / f"{name}.paths").stdout
        with Server(self.store) as server:
            self.assertEqual(self.send(f"http://127.0.0.1:{server.port}").returncode, 0)
        self.assertEqual(telltale("store", "fold", self.store).returncode, 0)
        for words in (("report", name), ("paths", name)):
            done = telltale("store", words[0], self.store, "--application", "both", name, "-o", self.folder / words[0])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        own_file = self.folder / "notes.txt"
        own_file.write_text("Dear diary\n")
        refused = telltale("store", "report", self.store, "--application", "both", name, "-o", own_file)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--force replaces it by", refused.stderr)
        self.assertEqual(own_file.read_text(), "Dear diary\n")
        self.assertEqual(telltale("store", "report", self.store, "--application", "both", name, "-o", own_file, "--force").returncode, 0)
        (row,) = read_runs(self.store)
        stored = (self.folder / "paths").read_bytes()
        self.assertEqual(own_file.read_bytes(), (self.folder / "report").read_bytes())
        self.assertEqual((row["report"], unpacked(row)), ((self.folder / "report").read_bytes(), stored))
        self.assertEqual((self.folder / "paths").stat().st_mode & 0o777, 0o600)
        self.assertEqual(len(stored), len(sent))
        self.assertNotIn(b"planted", stored)
        answer = telltale("paths", self.folder / "paths", "--program", self.both).stdout
        self.assertEqual(answer.splitlines()[2:], own.splitlines()[2:])  # the first lines have the command
        self.assertIn("crash_ways.c", answer)
        for words in (("paths", self.store, "--application", "both", "nowhere-1"), ("paths", self.store, name), ("report", self.store, "--application", "both"),
                      ("paths", self.store, "--application", "other", name)):
            self.assertEqual(telltale("store", *words).returncode, 2, words)

    def test_unredacted_is_as_it_was_written(self):
        self.spooled("fault", "planted-argument", TELLTALE_COLLECT_PATHS=1)
        (path,) = self.spool.glob("*.paths")
        sent = path.read_bytes()
        with FakeServer() as fake:
            self.assertEqual(self.send(fake.url, "--unredacted").returncode, 0)
            ((_, fields, body),) = fake.requests
        self.assertEqual(int(fields["Telltale-Paths-Bytes"]), len(sent))
        self.assertTrue(gzip.decompress(body).endswith(sent))

    def test_a_server_that_takes_no_path_files_gets_the_report(self):
        for status in (400, 413):
            self.spooled("fault", TELLTALE_COLLECT_PATHS=1)
            with FakeServer((status, {}, "why\nnot")) as fake:
                done = self.send(fake.url)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"the path file is left out: refused by the server: {status} why", done.stderr)
                self.assertIn("1 report sent, 1 path files left out", done.stderr)
                first, second = fake.requests
                self.assertIn("Telltale-Paths-Bytes", first[1])
                self.assertNotIn("Telltale-Paths-Bytes", second[1])
                self.assertEqual(first[1]["Telltale-Report-Id"], second[1]["Telltale-Report-Id"])
                self.assertTrue(gzip.decompress(second[2]).endswith(b"</report>\n"))
            self.assertEqual((self.waiting("report"), self.waiting("paths")), ([], []))
        with FakeServer((503, {}, "busy")) as fake:  # says nothing of the path file
            self.spooled("fault", TELLTALE_COLLECT_PATHS=1)
            self.assertEqual((self.send(fake.url).returncode, len(fake.requests)), (1, 1))
        self.assertEqual(len(self.waiting("paths")), 1)

    def test_path_files_that_cannot_be_sent(self):
        for content in (b"", b"no core file", core_file(b"x" * (33 << 20))):
            self.spooled("fault", TELLTALE_COLLECT_PATHS=1)
            (path,) = self.spool.glob("*.paths")
            path.write_bytes(content)
            with FakeServer() as fake:
                done = self.send(fake.url)
                self.assertEqual((done.returncode, len(fake.requests)), (0, 1), done.stderr)
                self.assertNotIn("Telltale-Paths-Bytes", fake.requests[0][1])
                self.assertIn("1 path files left out", done.stderr)
            self.assertEqual(self.waiting("paths"), [])

    def test_no_path_file_stays_behind(self):
        for age in (1, 3):
            orphan = self.spool / f"orphan-000{age}.paths"
            orphan.write_bytes(core_file())
            os.utime(orphan, (time.time() - age * 86400,) * 2)
        self.spooled("fault", TELLTALE_COLLECT_PATHS=1)
        (name,) = self.waiting("report")
        os.utime(self.spool / f"{name}.paths", (time.time() - 3 * 86400,) * 2)
        self.assertIn("1 given up", self.send(DEAD).stderr)
        self.assertEqual(self.waiting("paths"), sorted([name, "orphan-0001"]))
        size = (self.spool / f"{name}.report").stat().st_size
        self.assertIn("1 given up", self.send(DEAD, "--max-bytes", size).stderr)  # its path file counts
        self.assertEqual((self.waiting("report"), self.waiting("paths")), ([], ["orphan-0001"]))
        (self.folder / ".config/telltale").mkdir(parents=True)
        self.spooled("fault", TELLTALE_COLLECT_PATHS=1)
        (self.folder / ".config/telltale/collect").write_text("* off\n")
        self.assertIn("1 removed without consent", self.send(DEAD).stderr)
        self.assertEqual(self.waiting("paths"), ["orphan-0001"])
        self.spooled("fault", TELLTALE_COLLECT_PATHS=1)
        self.assertEqual(self.waiting("paths"), ["orphan-0001"])

    def test_run_collects_them_only_if_asked(self):
        program = self.folder / "stripped"
        shutil.copy(self.traced, program)
        subprocess.run(["strip", program], check=True)
        for words, count in (((), 0), (("--collect-paths",), 1)):
            done = telltale("run", "--collect", DEAD, "--spool", self.spool, *words, "--", program, "fault", env=self.environment())
            self.assertEqual(done.returncode, -11, done.stderr)
            self.assertEqual(len(self.waiting("paths")), count)
        self.assertEqual(len(self.waiting("report")), 2)
        self.assertIn("--collect", telltale("run", "--collect-paths", "--", program).stderr)

    def test_the_question_says_what_a_path_file_has(self):
        for words, expected in (((), False), (("--collect-paths",), True)):
            pid, terminal = pty.fork()
            if pid == 0:
                os.execve(TELLTALE, [TELLTALE, "run", "--collect", DEAD, "--ask", *words, "--spool", str(self.spool), "--", str(self.both), "none"], self.environment())
            shown = b""
            try:
                while piece := os.read(terminal, 4096):
                    shown += piece
                    if b"ne[v]er: " in shown:
                        os.write(terminal, b"n\n")
                        shown = shown.replace(b"ne[v]er: ", b"")
            except OSError:
                pass  # the terminal's last process has ended
            os.close(terminal)
            os.waitpid(pid, 0)
            self.assertEqual(b"what was in its memory" in shown, expected, shown)
            self.assertEqual(b"no files, arguments or names" in shown, not expected, shown)


class StoreCase(unittest.TestCase):
    """Runs of a program with a bug, with sampled branches and paths, in a study and at the same time through the server.

    Both outcomes have grade() on the stack. Runs of mode 7 fail, by a turn that others do not take."""

    times = 10

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-paths-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.program = build(cls.folder / "graded", RELEASES[-1], "-silent", "-g", "-O0", "--trace=pt.schema", "-fsampler-scheme=branches", GRADED)
        cls.study, cls.store = cls.folder / "study", cls.folder / "store"
        environment = {**os.environ, "HOME": str(cls.folder)}
        script = f"{cls.program} $((5 + $TELLTALE_RUN / 2 % 4)) $((7 + 4 * ($TELLTALE_RUN % 2)))"
        with Server(cls.store) as server:
            url = f"http://127.0.0.1:{server.port}"
            done = telltale("run", "-q", "--study", cls.study, "--times", cls.times, "--sparsity", 3, "--seed", 1, "--label", 'test "$TELLTALE_STATUS" = 3',
                            "--program", cls.program, "--collect", url, "--collect-paths", "--spool", cls.folder / "spool", "--", "sh", "-c", script,
                            env=environment, timeout=900)
            assert done.returncode == 0, done.stderr
            end = time.monotonic() + 300  # `run` has started a process that sends
            while list((cls.folder / "spool").glob("*.report")) and time.monotonic() < end:
                time.sleep(0.1)
            assert server.metric("path_files_stored_total") == cls.times
        for words in (("sites", cls.store, "--application", "graded", cls.program), ("fold", cls.store)):
            done = telltale("store", *words, timeout=900)
            assert done.returncode == 0, done.stderr
        cls.answer = cls.isolate(cls.store)

    @classmethod
    def isolate(cls, *words, **options):
        done = telltale("isolate", "--json", *words, timeout=900, **options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def copy_of_store(self):
        store = self.folder / self.id().split(".")[-1]
        shutil.copytree(self.store, store)
        return store


class IsolateTest(StoreCase):
    times = 80

    def test_the_answer_is_that_of_the_study(self):
        study = self.isolate(self.study, "--program", self.program)
        store = self.isolate(self.store, "--program", self.program)
        for document in (study, store):
            for cluster in document["clusters"]:
                del cluster["first_run"]  # runs of a store are numbered as they arrived
        self.assertEqual(store, study)
        self.assertEqual(store["rows"], self.answer["rows"])  # the store has a copy of the program
        labels = [row["label"] for row in table(self.study)]
        self.assertEqual((study["runs"]["failing"], study["runs"]["successful"]), (labels.count("failed"), labels.count("passed")))
        self.assertEqual(labels.count("failed"), 40)

    def test_the_cause_is_named(self):
        """Once, of all failing runs, by its path; the sampled branches have seen it in some."""
        (row, *_) = self.answer["rows"]
        self.assertEqual((row["true_in_failing"], row["true_in_successful"]), (40, 0))
        equal = {(each["scheme"], each["predicate"]) for each in (row, *row["same"])}
        wrong = next(number for number, line in enumerate(GRADED.read_text().splitlines(), 1) if "mode == 7" in line)
        self.assertTrue(any(scheme in ("paths", "last-path", "lines-of-call") for scheme, _ in equal), equal)
        document = self.isolate(self.store, "--all", "--filter", "none")
        branches = {(row["predicate"], row["true_in_successful"]): row["true_in_failing"] for row in document["rows"] if row["line"] == wrong and row["scheme"] == "branches"}
        self.assertTrue(0 < branches["mode == 7 is TRUE", 0] < 40, branches)

    def test_path_files_are_decoded_once(self):
        without = {**os.environ, "TELLTALE_DUCKDB": "/nonexistent.so"}  # nothing else can read the files
        before = {path: path.stat().st_mtime_ns for path in digests(self.store, "paths")}
        self.assertEqual(len(before), 1)
        self.assertEqual(self.isolate(self.store, env=without)["rows"], self.answer["rows"])
        self.assertEqual({path: path.stat().st_mtime_ns for path in digests(self.store, "paths")}, before)


class StoreTest(StoreCase):
    def test_digests_of_no_use_are_made_again(self):
        store = self.copy_of_store()
        self.isolate(store)  # a copy has other files
        (digest,) = digests(store, "paths")
        whole = digest.read_bytes()
        for damaged in (b"", whole[:-1], whole[:90] + bytes([whole[90] ^ 1]) + whole[91:]):
            digest.write_bytes(damaged)
            self.assertEqual(self.isolate(store)["rows"], self.answer["rows"])
            self.assertEqual(digest.read_bytes(), whole)
        # Without the program, nothing is kept.
        digest.unlink()
        shutil.rmtree(store / "programs")
        self.assertEqual(self.isolate(store)["runs"], self.answer["runs"])
        self.assertEqual(digests(store, "paths"), [])
        self.assertEqual(self.isolate(store, "--program", self.program)["rows"], self.answer["rows"])
        self.assertEqual(len(digests(store, "paths")), 1)

    def test_deletion_and_retention(self):
        store = self.copy_of_store()
        self.isolate(store)
        deleted = read_runs(store, ["id"])[3]["id"]
        self.assertIn(deleted.encode(), digests(store, "paths")[0].read_bytes())
        self.assertEqual(telltale("store", "delete", store, "--application", "graded", deleted).returncode, 0)
        self.assertEqual(digests(store, "paths"), [])
        rows = read_runs(store, ["id", "paths"])
        self.assertEqual((len(rows), sum(row["paths"] is not None for row in rows)), (9, 9))
        self.assertEqual(telltale("store", "paths", store, "--application", "graded", deleted).returncode, 2)
        self.assertEqual(sum(self.isolate(store)["runs"][key] for key in ("failing", "successful")), 9)
        self.assertNotIn(deleted.encode(), digests(store, "paths")[0].read_bytes())
        for folder in ("runs", "digests"):
            (day,) = {path.parent for path in (store / folder).rglob("*") if path.is_file()}
            day.rename(day.with_name("day=2020-01-01"))
        self.assertEqual(telltale("store", "fold", store, "--keep-days", 30).returncode, 0)
        self.assertEqual([path for folder in ("runs", "digests") for path in (store / folder).rglob("*")], [])

    def test_files_of_earlier_versions_have_no_path_files(self):
        store = self.copy_of_store()
        (file,) = (store / "runs").rglob("*.parquet")
        runs = pyarrow().parquet.read_table(file, partitioning=None)
        pyarrow().parquet.write_table(runs.drop(["paths"]), file)
        without = self.isolate(store, "--all", "--filter", "none")
        self.assertEqual({each["scheme"] for row in without["rows"] for each in (row, *row["same"])}, {"branches"})
        first, second = (row["id"] for row in read_runs(store, ["id"])[:2])
        self.assertEqual(telltale("store", "paths", store, "--application", "graded", first).returncode, 2)
        self.assertEqual(telltale("store", "delete", store, "--application", "graded", second).returncode, 0)
        self.assertEqual(len(read_runs(store, ["id"])), 9)
        with Server(store) as server:  # a newer file beside it
            core = telltale_paths(self.store, first)
            self.assertEqual(server.post("newer-001", core, telltale_application="graded", telltale_paths_bytes=len(core))[0], 200)
        self.assertEqual(telltale("store", "fold", store).returncode, 0)
        self.assertEqual(sum(self.isolate(store)["runs"][key] for key in ("failing", "successful")), 10)

    def test_a_path_file_that_cannot_be_read_is_counted(self):
        store = self.copy_of_store()
        with Server(store) as server:
            torn = telltale_paths(store, read_runs(store, ["id"])[0]["id"])[:3000]
            self.assertEqual(server.post("torn-0001", torn, telltale_application="graded", telltale_paths_bytes=len(torn))[0], 200)
            self.assertEqual(server.post("other-001", core_file(), telltale_application="graded", telltale_paths_bytes=64)[0], 200)
        self.assertEqual(telltale("store", "fold", store).returncode, 0)
        for _ in range(2):  # also from the digest
            done = telltale("isolate", store, "--json", timeout=900)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, r"torn-0001.*the file ends before the memory")
            document = json.loads(done.stdout)
            self.assertEqual(sum(document["runs"][key] for key in ("failing", "successful", "without_report")), 12)
            done = telltale("isolate", store, "--json", "--strict", timeout=900)
            self.assertEqual(done.returncode, 4)


def telltale_paths(store, name):
    return subprocess.run([TELLTALE, "store", "paths", store, "--application", "graded", name], capture_output=True, check=True).stdout


if __name__ == "__main__":
    unittest.main()
