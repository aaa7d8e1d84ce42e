"""Crash clusters of a store's runs, resolved by the copies of programs that the store keeps."""
import json
import os
import pathlib
import shutil
import tempfile
import time
import unittest

from collect_server import Server
from sampler_programs import RELEASES, build
from study_case import PROGRAMS, SCHEMES, telltale


class CollectClustersTest(unittest.TestCase):
    def test_a_store_s_copy_of_the_program_names_the_functions(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-clusters-"))
        self.addCleanup(shutil.rmtree, folder)
        program = build(folder / "crashing", RELEASES[-1], "-silent", "-g", "-O1", "--trace=pt.schema", *SCHEMES, PROGRAMS / "cases/crashing.c")
        study, store, spool = folder / "study", folder / "store", folder / "spool"
        with Server(store) as server:
            done = telltale("run", "-q", "--study", study, "--times", 8, "--program", program, "--collect", f"http://127.0.0.1:{server.port}",
                            "--spool", spool, "--", "sh", "-c", f"{program} $((TELLTALE_RUN + 5)); exit $?", env={**os.environ, "HOME": str(folder)})
            self.assertEqual(done.returncode, 0, done.stderr)
            end = time.monotonic() + 300  # `run` has started a process that sends
            while list(spool.glob("*.report")) and time.monotonic() < end:
                time.sleep(0.1)
        for words in (("sites", store, "--application", "crashing", program), ("fold", store)):
            done = telltale("store", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
        shutil.move(program, folder / "elsewhere")
        clusters = {}
        for source in (study, store):
            document = json.loads(telltale("isolate", source, "--json").stdout)
            # What exits has its stack in its path file, which is not sent here.
            clusters[source] = {(one["cluster"], one["ending"], one["stack"]): one["runs"] for one in document["clusters"] if one["ending"] != "status 3"}
        self.assertEqual(clusters[store], clusters[study])
        self.assertIn("use < inlined < left", {stack for _, _, stack in clusters[store]})


if __name__ == "__main__":
    unittest.main()
