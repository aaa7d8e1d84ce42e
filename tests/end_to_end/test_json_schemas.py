"""What each verb prints with --json is the document that its schema describes, for recordings of every format."""
import csv
import glob
import json
import os
import re
import subprocess
import tempfile
import unittest

from collect_server import Server
from json_schemas import SCHEMAS, validator

TELLTALE = os.environ["TELLTALE"]
SOURCE_DIR = os.environ["TELLTALE_SOURCE_DIR"]
GOLDEN = os.path.join(SOURCE_DIR, "tests", "golden")
ORDERS = os.path.join(SOURCE_DIR, "examples", "orders")
SITES = ["--program", os.path.join(GOLDEN, "sampler", "all_schemes.sites")]
MEASURES = ["alloc-bytes", "alloc-count", "samples", "throws", "blocked", "live-bytes", "live-count"]
# Of verbs whose document has another name.
DOCUMENTS = {"report": "report-calls"}
# Verbs that want a running program or a core file: the script that validates their document, and how.
ELSEWHERE = {"heapshot": ("test_live.py", 'complaints("heapshot"'), "control": ("test_control.py", 'complaints("control"'), "paths": ("test_paths.py", 'validator("paths")'),
             "coverage": ("test_coverage.py", 'validator("coverage")'),
             "bench": ("test_several_runs.py", 'validator("diff-runs").validate')}
# Verbs whose JSON is no document.
NO_DOCUMENT = {"dump": 'self.dumped(path, "--json"'}
RUNTIME_REPORTS = ("header jit gc sample alloc call metadata exception monitor thread domain context heapshot counters coverage stats "
                   "pauses growth retention contention hotspots timelines series").split()


def golden(*patterns):
    return [path for pattern in patterns for path in sorted(glob.glob(os.path.join(GOLDEN, pattern)))]


class JsonSchemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.validators = {os.path.basename(path).removesuffix(".schema.json"): None for path in glob.glob(SCHEMAS + "/*")}
        for name in cls.validators:
            cls.validators[name] = validator(name)
        cls.calls = golden("xray/calls.*fdr", "xray/every_record_v[135].fdr", "xray/*_v[13].basic", "xray/*_v5.fdr.yaml", "stacktrack/*.tlg") + [os.path.join(ORDERS, "orders.yaml")]
        cls.runtime = golden("mono/v*.mlpd")
        cls.reports = golden("sampler/*.report")

    def document(self, name, *words, statuses=(0,)):
        """Runs telltale; its output is valid by the schema `name`, and says so."""
        done = subprocess.run([TELLTALE, *words, "--json"], capture_output=True, text=True, timeout=120)
        self.assertIn(done.returncode, statuses, (words, done.stderr))
        document = json.loads(done.stdout)
        errors = [f"{error.json_path}: {error.message}" for error in self.validators[name].iter_errors(document)]
        self.assertEqual(errors[:5], [], (name, words))
        self.assertEqual(document["schema"], {"name": name, "version": 1})
        return document

    def test_there_are_recordings_of_every_format(self):
        formats = {self.document("info", "info", path)["recording"]["format"] for path in self.calls + self.runtime + self.reports}
        self.assertEqual(formats, {"xray", "xray-yaml", "stacktrack", "mono", "sampler"})

    def test_every_recording(self):
        for path in self.calls + self.runtime + self.reports:
            self.document("info", "info", path)
            (row,) = self.document("check", "check", path, statuses=(0, 1))["rows"]
            self.assertEqual(row["file"], path)
        self.document("check", "check", *self.calls, statuses=(0, 1))

    def test_timed_calls(self):
        for path in self.calls + self.runtime:
            for words in ([], ["--by-thread"], ["--exact", "--limit", "1"]):
                self.document("top", "top", path, *words)
            for words in ([], ["--by-thread"], ["--measure", "calls"]):
                self.document("stacks", "stacks", path, *words)
            self.document("graph", "graph", path, "--min-percent", "1")
            self.document("flame", "flame", path, "-o", "-")
            self.document("flame-diff", "flame", path, path, "-o", "-")
            self.document("diff", "diff", path, path, "--gate", "calls=0%", statuses=(0, 2))  # 2: no calls
        for path in self.calls:
            self.document("report-calls", "report", path)
        for path in self.runtime:
            for measure in MEASURES:
                if not self.document("stacks", "stacks", path, "--measure", measure)["rows"]:
                    continue  # flame refuses an empty answer
                for tree in self.document("flame", "flame", path, "-o", "-", "--measure", measure)["trees"]:
                    self.assertEqual({len(column) for column in tree.values() if isinstance(column, list)}, {len(tree["depth"])})

    def test_questions_about_calls(self):
        for path in self.calls + self.runtime:
            self.document("replay", "replay", path, "--limit", "50")
            self.document("replay", "replay", path, "--merge", "--last", "1ms")
        self.document("histogram", "histogram", "*", self.calls[-1])
        self.document("slow", "slow", "*", self.calls[-1], "--limit", "3")
        for path in self.calls:
            self.document("diff-runs", "diff", path, path, "--", path, path)
            self.document("diff-order", "diff", path, path, "--order")

    def test_a_difference_with_a_gate(self):
        one, other = self.calls[0], self.calls[-1]
        document = self.document("diff", "diff", one, other, "--gate", "calls=0%,total=0%,self=0%", statuses=(0, 1))
        self.assertTrue(document["exceeded"])

    def test_runtime_events(self):
        for path in self.runtime:
            for words in ([], ["--traces"], ["--verbose"], ["--like-mprof"], ["--like-mprof", "--traces", "--verbose"],
                          ["--verbose", "--counters-sort", "category"], ["--rows", "1"]):
                self.document("report-runtime", "report", path, *words)
            for words in ([], ["--traces"], ["--like-mprof"]):
                document = self.document("report-runtime", "report", path, "--reports", ",".join(RUNTIME_REPORTS), *words)
                self.assertEqual(set(document) - {"telltale", "schema", "recording", "problems"}, set(RUNTIME_REPORTS))
            for words in (["--find", "S:1"], ["--find", "T:e", "--traces"]):
                self.document("report-objects", "report", path, *words)

    def test_counts_at_sites(self):
        for path in self.reports:
            for words in ([], SITES, SITES + ["--sparsity", "100"]):
                self.document("report-sites", "report", path, *words)
                self.document("top-sites", "top", path, *words)
                self.document("resolve", "resolve", path, *words)

    def test_many_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            runs = os.path.join(folder, "runs")
            with open(runs, "w") as file:
                file.writelines(f"{label}\t{path}\n" for path in self.reports for label in ("failed", "passed", "skipped"))
            for words in ([], ["--all", "--filter", "none"], ["--affinity", "2", "--discard", "relabel"], ["--regression", "--filter", "none"]):
                self.document("isolate", "isolate", runs, *SITES, *words)
            with open(os.path.join(folder, "runs.tsv"), "w") as file:
                file.write("# telltale study 1\nrun\tlabel\trule\tstatus\tsignal\tseconds\tstarted\tbuild\tsparsity\tseed\tcommand\n"
                           "1\tfailed\tsignal\t\tSIGSEGV\t0.5\t2026-01-01T00:00:00Z\tb1\t1\t7\tprogram 1\nnonsense\n")
            document = self.document("study", "study", "info", folder)
            self.assertEqual((document["rows"][0]["failed"], len(document["problems"])), (1, 1))
            with Server(os.path.join(folder, "store")) as server:
                server.post("id-000001")
            subprocess.run([TELLTALE, "store", "fold", server.store, "-q"], check=True)
            self.assertEqual(self.document("store", "store", "info", str(server.store))["rows"][0]["runs"], 1)

    def test_programs(self):
        map_file = os.path.join(ORDERS, "orders-map.yaml")
        document = self.document("sites", "sites", map_file, "--sleds")
        self.assertTrue(document["programs"][0]["functions"][0]["sleds"])
        self.document("sites", "sites", map_file, SITES[1], TELLTALE)

    def test_conversions(self):
        with tempfile.TemporaryDirectory() as folder:
            for target in ("perfetto", "folded", "fdr1"):
                document = self.document("convert", "convert", self.calls[0], "--to", target, "-o", os.path.join(folder, target))
                self.assertEqual(document["format"], target)

    def test_records(self):
        """Each line of `dump --json` is one of the records that the schema of its format describes; CSV has its columns."""
        for name, paths in {
                "xray": golden("xray/*.fdr", "xray/*.basic"), "xray-yaml": golden("xray/*.yaml"), "mono": golden("mono/*.mlpd"),
                "stacktrack": golden("stacktrack/*.tlg"), "sampler": golden("sampler/*"), "csi": golden("csi/*"),
                "core": golden("../../fuzz/corpus/core_file/core")}.items():
            kinds = {kind["properties"]["record"].get("const"): kind for kind in self.validators["dump-" + name].schema["anyOf"]}
            self.assertTrue(paths, name)
            found = {}
            for path in paths:
                for line in self.dumped(path, "--json", statuses=(0, 3)).splitlines():
                    record = json.loads(line, object_pairs_hook=self.without_duplicates)
                    found.setdefault(record["record"], (path, []))[1].append(record)
            for kind, (path, records) in found.items():
                if kind not in kinds:  # of a StackTrack platform with a description
                    self.assertIn(None, kinds, (name, kind))
                    continue
                validate = self.validators["dump-" + name].evolve(schema=kinds[kind])
                for record in records:
                    errors = [f"{error.json_path}: {error.message}" for error in validate.iter_errors(record)]
                    self.assertEqual(errors[:3], [], (name, record))
                header, row = list(csv.reader(self.dumped(path, "--csv", "--record", kind).splitlines()))[:2]
                keys = [key for key in kinds[kind]["properties"] if key != "record"]
                self.assertEqual(header, keys + ["more"] * kinds[kind]["additionalProperties"], (name, kind))
                first = next(record for record in records if str(record["offset"]) == row[0])
                for key, cell in zip(keys, row):
                    value = first.get(key, "")
                    self.assertEqual(cell, value if isinstance(value, str) else json.dumps(value, separators=(",", ":"),
                                                                                         ensure_ascii=False), (name, first, key))

    def dumped(self, path, *words, statuses=(0,)):
        done = subprocess.run([TELLTALE, "dump", path, *words], capture_output=True, text=True, timeout=120)
        self.assertIn(done.returncode, statuses, (path, words, done.stderr))
        return done.stdout

    @staticmethod
    def without_duplicates(pairs):
        keys = [key for key, _ in pairs]
        assert len(set(keys)) == len(keys), keys
        return dict(pairs)

    def test_damage_is_told_in_the_document(self):
        path = max(self.calls, key=os.path.getsize)
        with open(path, "rb") as file:
            data = file.read()
        with tempfile.TemporaryDirectory() as folder:
            cut = os.path.join(folder, "cut")
            with open(cut, "wb") as file:
                file.write(data[:len(data) * 2 // 3 + 1])
            for name, verb in (("info", "info"), ("top", "top"), ("stacks", "stacks"), ("graph", "graph"), ("report-calls", "report")):
                self.assertTrue(self.document(name, verb, cut)["problems"], verb)

    def test_a_schema_notices_what_it_does_not_know(self):
        document = self.document("top", "top", self.calls[-1])
        document["rows"][0]["more"] = 1
        self.assertFalse(self.validators["top"].is_valid(document))
        del document["rows"][0]["more"]
        self.assertTrue(self.validators["top"].is_valid(document))
        document["rows"][0]["calls"] = "1"
        self.assertFalse(self.validators["top"].is_valid(document))

    def test_every_verb_with_json_is_validated(self):
        """The list of verbs is telltale's own: a new one fails here until one of its documents is validated."""
        def printed(*words):
            return subprocess.run([TELLTALE, *words], capture_output=True, text=True, timeout=120, check=True).stdout
        listed = printed("--help").split("\nOptions:")[0]
        verbs = [verb for verb in re.findall(r"^  (\S+)", listed, re.M) if re.search(r"^ +(-\S+, )?--json\b", printed("help", verb), re.M)]
        self.assertIn("top", verbs)
        for verb in verbs:
            script, use = ELSEWHERE.get(verb, (__file__, NO_DOCUMENT.get(verb, f'document("{DOCUMENTS.get(verb, verb)}", "{verb}"')))
            with open(os.path.join(os.path.dirname(__file__), script)) as file:
                self.assertIn(use, file.read(), f"{script} does not validate {verb} --json")

    def test_json_that_is_no_document(self):
        """One object a line and record."""
        for path in (self.calls[0], self.runtime[-1], self.reports[0], *golden("csi/*.pt", "sampler/*.sites")):
            done = subprocess.run([TELLTALE, "dump", path, "--json"], capture_output=True, text=True, timeout=120, check=True)
            for line in done.stdout.splitlines():
                self.assertTrue({"offset", "record"} <= set(json.loads(line)), line)

    def test_every_schema_is_used(self):
        with open(__file__) as file:
            text = file.read()
        for name in set(self.validators) - set(ELSEWHERE) - {"dump-minidump"}:  # test_path_sources.py has a minidump
            use = f'"{name.removeprefix("dump-")}": golden' if name.startswith("dump-") else f'document("{name}"'
            self.assertIn(use, text, name)


if __name__ == "__main__":
    unittest.main()
