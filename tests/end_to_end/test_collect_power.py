"""`telltale collect` and `telltale store fold` when the power fails: what was acknowledged is there, once and unaltered."""
import hashlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

from collect_server import TELLTALE, Server, core_file, report
from parquet_reader import read_runs
from recorded_io import RecordedFolder, strace
from test_collect_reliability import sent_as

STATES = 20000 if os.environ.get("TELLTALE_LONG") else 2000
CLIENTS = 4
# Locks have no content; the status page, and files on the way to it, can be made again.
LEFT_OUT = (".lock", "status.html")


class PowerTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-power-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.store = self.folder / "store"
        self.recorded = RecordedFolder(self.store)
        self.sent = {}  # by id: the content's hash
        self.acknowledged = {}  # by id: the line at which the reply left the server
        self.moments = []

    def add(self, trace):
        calls = self.recorded.add(trace, LEFT_OUT)
        for call in calls:
            if call.name in ("sendmsg", "sendto") and b"HTTP/1.1 200 OK" in (reply := b"".join(call.strings)):
                for name in re.findall(rb'"id":"([^"]+)"', reply):
                    self.acknowledged.setdefault(name.decode(), call.begin)
        self.moments += [call.begin for call in calls] + [call.end + 1 for call in calls]

    def serve(self, round_number):
        """A server that several clients send to at a time, each report once."""
        trace = self.folder / f"server-{round_number}"
        server = Server(self.store, wrapper=strace(trace))

        def send(client):
            for number in range(5):
                name = f"power-{round_number}-{client}-{number}"
                body = report((number, client)) + b"\n" * (137 * (number * CLIENTS + client))
                paths = core_file(b"x" * (731 * client)) if number % 2 else b""
                self.sent[name] = hashlib.sha256(body + paths).digest()
                assert server.post(name, body + paths, telltale_paths_bytes=len(paths))[0] == 200
        clients = [threading.Thread(target=send, args=(client,)) for client in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        child = int(subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True).stdout.split()[0])
        os.kill(child, signal.SIGTERM)
        server.process.wait(60)
        server.process.stderr.close()
        self.add(trace)

    def fold(self, round_number):
        trace = self.folder / f"fold-{round_number}"
        subprocess.run([*strace(trace), TELLTALE, "store", "fold", self.store, "-q"], check=True)
        self.add(trace)

    def check(self, state, moment):
        found = {}
        for row in read_runs(state, ["id", "report", "paths"]):
            self.assertNotIn(row["id"], found, "a report is stored twice")
            found[row["id"]] = hashlib.sha256(sent_as(row)).digest()
        for name, digest in found.items():
            self.assertEqual(digest, self.sent[name], f"{name} is altered")
        due = {name for name, line in self.acknowledged.items() if line < moment}
        self.assertEqual(due - found.keys(), set(), "acknowledged reports are lost")
        return len(found), len(due)

    def test_C2_power_loss(self):
        for round_number in range(2):
            self.serve(round_number)
            self.serve(round_number + 2)
            self.fold(round_number)
        self.assertEqual(self.acknowledged.keys(), self.sent.keys())
        rng = random.Random(7)
        driver = subprocess.Popen([pathlib.Path(TELLTALE).parent / "fold_driver"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(driver.wait)
        self.addCleanup(driver.stdout.close)
        self.addCleanup(driver.stdin.close)
        kept, due = 0, 0
        # In memory, where syncing takes no time.
        memory = tempfile.mkdtemp(prefix="telltale-power-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.addCleanup(shutil.rmtree, memory)
        for number in range(STATES):
            state, moment = pathlib.Path(memory) / f"state-{number}", rng.choice(self.moments)
            self.recorded.write_state(moment, state, rng)
            if not (state / "store.txt").exists() or not (state / "log").is_dir():
                self.assertFalse([name for name, line in self.acknowledged.items() if line < moment], "a lost store")
                shutil.rmtree(state, ignore_errors=True)
                continue  # the server had not created the store
            driver.stdin.write(f"{state}\n")
            driver.stdin.flush()
            with self.subTest(state=number, moment=moment):
                self.assertEqual(driver.stdout.readline(), "ok\n")
                more = self.check(state, moment)
                kept, due = kept + more[0], due + more[1]
            shutil.rmtree(state, ignore_errors=True)
        print(f"{STATES} states of the disk: {due} acknowledged reports, {kept} found")
        self.assertGreater(due, STATES)
        self.assertGreater(kept, due, "some that were not acknowledged are there")


if __name__ == "__main__":
    unittest.main()
