"""`telltale collect` when it is killed, a write fails, or the log is damaged: no acknowledged report is lost or counted twice."""
import gzip
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest
import zlib

from collect_case import CollectCase
from collect_server import TELLTALE, Server, core_file, entries_of, headers, report, stored_in_log
from parquet_reader import read_runs


def telltale(*words):
    return subprocess.run([TELLTALE, *map(str, words)], capture_output=True, text=True, timeout=300)


def sent_as(row):
    """The body that the client sent: the report, and the path file, if there is one."""
    return row["report"] + (gzip.decompress(row["paths"]) if row["paths"] is not None else b"")


class Client(threading.Thread):
    """Sends reports, each until it is acknowledged, to whatever server listens at the time."""

    def __init__(self, number, port_of, stop):
        super().__init__(daemon=True)
        self.number, self.port_of, self.stop = number, port_of, stop
        self.sent, self.acknowledged, self.wrong = {}, set(), []

    def run(self):
        rng = random.Random(self.number)
        connection, port = None, None
        for serial in range(1 << 30):
            if self.stop.is_set():
                return
            name = f"client{self.number}-{serial:06}"
            body = report((serial, rng.randrange(5)), (self.number, 1)) + b"\n" * rng.randrange(3000)
            paths = core_file(rng.randbytes(rng.randrange(3000))) if serial % 3 == 0 else b""
            self.sent[name] = hashlib.sha256(body + paths).digest()[:16]
            while not self.stop.is_set():
                try:
                    if connection is None or port != self.port_of():
                        port = self.port_of()
                        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
                    connection.request("POST", "/v1/reports", body + paths, headers(name, telltale_paths_bytes=len(paths)))
                    answer = connection.getresponse()
                    text = answer.read()
                    if answer.status == 200:
                        if json.loads(text)["id"] != name:
                            self.wrong.append((name, text))
                        self.acknowledged.add(name)
                        break
                    if answer.status not in (503, 507):
                        self.wrong.append((name, answer.status, text))
                        break
                    time.sleep(0.02)
                except (OSError, http.client.HTTPException):
                    connection = None
                    time.sleep(0.01)


class ReliabilityTest(CollectCase):
    def check_store(self, clients):
        """Everything that was acknowledged is there once and unaltered; what was not is whole or absent."""
        done = telltale("store", "fold", self.store)
        self.assertEqual(done.returncode, 0, done.stderr)
        stored = {}
        for row in read_runs(self.store, ["id", "report", "paths"]):
            self.assertNotIn(row["id"], stored, "a report is stored twice")
            stored[row["id"]] = hashlib.sha256(sent_as(row)).digest()[:16]
        sent = {name: digest for client in clients for name, digest in client.sent.items()}
        for client in clients:
            self.assertEqual(client.wrong, [])
            self.assertEqual(client.acknowledged - stored.keys(), set(), "acknowledged reports are lost")
        for name, digest in stored.items():
            self.assertEqual(sent.get(name), digest, name)
        return stored

    def test_C1_kills(self):
        port, stop, rng = [None], threading.Event(), random.Random(5)
        clients = [Client(number, lambda: port[0], stop) for number in range(16)]
        server = Server(self.store, fold_seconds=1)
        port[0] = server.port
        for client in clients:
            client.start()
        for kill in range(100):
            time.sleep(rng.uniform(0.005, 0.3))
            if kill % 5 == 4:  # and what folds
                subprocess.run(["pkill", "-KILL", "-P", str(server.process.pid)])
            server.kill()
            server = Server(self.store, fold_seconds=1)
            port[0] = server.port
        stop.set()
        for client in clients:
            client.join(60)
        self.assertEqual(server.stop(), 0)
        stored = self.check_store(clients)
        print(f"100 kills: {len(stored)} reports, {sum(len(client.acknowledged) for client in clients)} acknowledged")
        self.assertGreater(len(stored), 1000)

    def test_C1_a_fold_does_not_keep_a_killed_servers_sockets(self):
        """Otherwise nothing could listen at the server's address until the fold has ended."""
        server = Server(self.store, fold_seconds=1)
        self.assertEqual(server.post("before-the-fold")[0], 200)
        deadline = time.monotonic() + 60
        folds = []
        while not folds and time.monotonic() < deadline:
            children = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
            folds = [int(child) for child in children if b"\0fold\0" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes()]
        os.kill(folds[0], signal.SIGSTOP)  # as a slow disk would
        try:
            server.kill()
            with Server(self.store, listen=f"127.0.0.1:{server.port}") as again:
                self.assertEqual(again.post("after-the-fold")[0], 200)
        finally:
            os.kill(folds[0], signal.SIGCONT)

    def test_C2_nothing_is_acknowledged_before_it_is_synced(self):
        trace = self.folder / "trace"
        wrapper = ["strace", "-f", "-y", "-s", "4000", "-e", "trace=write,writev,sendmsg,sendto,fdatasync,fsync,openat", "-o", trace]
        server = Server(self.store, wrapper=wrapper)
        for number in range(20):
            self.assertEqual(server.post(f"sync-{number:05}")[0], 200)
        child = int(subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True).stdout.split()[0])
        os.kill(child, signal.SIGTERM)
        server.process.wait(60)
        server.process.stderr.close()
        written, synced, acknowledged = set(), set(), set()
        for line in trace.read_text(errors="replace").splitlines():
            names = set(re.findall(r"sync-\d{5}", line))
            if ".log>" in line and ("writev(" in line or "write(" in line):
                written |= names
            elif re.search(r"fdatasync\(\d+<[^>]*\.log>\)\s+= 0|<\.\.\. fdatasync resumed>\)\s+= 0", line):
                synced |= written
            elif "200 OK" in line:
                self.assertLessEqual(names, synced, "acknowledged before it was on the disk")
                acknowledged |= names
        self.assertEqual(len(acknowledged), 20)

    def test_C2_torn_and_reordered_writes(self):
        """Blocks of 512 bytes after the last sync are written or not, in any order."""
        rng = random.Random(11)
        with Server(self.store) as server:
            for number in range(12):
                self.assertEqual(server.post(f"torn-{number:05}", report((number, 1)) + b"\n" * 700)[0], 200)
        (segment,) = (self.store / "log").glob("*.log")
        whole = segment.read_bytes()
        ends, at = [16], 16
        for payload in entries_of(segment):
            at += 16 + len(payload)
            ends.append(at)
        for state in range(40):
            copy = self.folder / f"state{state}"
            shutil.copytree(self.store, copy)
            acknowledged = rng.randrange(13)
            durable = ends[acknowledged]
            data = bytearray(whole[:rng.randrange(durable, len(whole) + 1)])
            for block in range(durable // 512, len(data) // 512 + 1):
                if rng.random() < 0.4:
                    low, high = max(block * 512, durable), min(block * 512 + 512, len(data))
                    data[low:high] = bytes(max(0, high - low)) if rng.random() < 0.7 else rng.randbytes(max(0, high - low))
            (copy / "log" / segment.name).write_bytes(data)
            self.assertEqual(telltale("store", "fold", copy).returncode, 0)
            ids = sorted(row["id"] for row in read_runs(copy, ["id"]))
            self.assertEqual(ids[:acknowledged], [f"torn-{number:05}" for number in range(acknowledged)])
            self.assertEqual(len(ids), len(set(ids)))

    def test_C3_repeated_reports(self):
        """Three of ten replies are lost, before and after restarts and folds; the whole is sent once more at the end."""
        rng, names = random.Random(3), [f"repeat-{number:05}" for number in range(10000)]
        todo = list(names)
        server = Server(self.store)
        rounds = 0
        while todo:
            connection = server.connect()
            again = []
            for name in todo:
                if rng.random() < 0.3:
                    # The client goes away without reading the reply.
                    with socket.create_connection(("127.0.0.1", server.port)) as lost:
                        fields = "".join(f"{key}: {value}\r\n" for key, value in headers(name).items())
                        body = report()
                        lost.sendall(f"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                    again.append(name)
                    continue
                status, _, body = server.post(name, connection=connection)
                self.assertEqual((status, json.loads(body)["id"]), (200, name))
            connection.close()
            todo = again
            server.stop()
            if rounds == 1:
                self.assertEqual(telltale("store", "fold", self.store).returncode, 0)
            server = Server(self.store)
            rounds += 1
        connection = server.connect()
        for name in names:
            status, _, body = server.post(name, connection=connection)
            self.assertEqual((status, json.loads(body)), (200, {"id": name, "duplicate": True}))
        connection.close()
        self.assertEqual(json.loads(server.post(names[0], telltale_application="other")[2])["duplicate"], False)
        self.assertEqual(server.post(names[1], report((7, 7)))[0], 409)
        server.stop()
        self.assertEqual(telltale("store", "fold", self.store).returncode, 0)
        ids = sorted(row["id"] for row in read_runs(self.store, ["id"]))
        self.assertEqual(ids, sorted([*names, names[0]]))

    def test_C3_the_same_report_at_the_same_time(self):
        with Server(self.store) as server:
            def send(answers):
                for number in range(50):
                    answers.append(json.loads(server.post(f"at-once-{number:03}")[2])["duplicate"])
            answers = [[] for _ in range(8)]
            threads = [threading.Thread(target=send, args=(each,)) for each in answers]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(sum(not duplicate for each in answers for duplicate in each), 50)
        self.assertEqual(len(stored_in_log(self.store)), 50)

    def test_a_fold_that_fails_is_an_event(self):
        with Server(self.store, fold_seconds=1, env={"TELLTALE_DUCKDB": "/nowhere"}) as server:
            self.assertEqual(server.post("report-1")[0], 200)
            deadline = time.monotonic() + 60
            while not (failed := [event for event in server.events if event["event"] == "fold"]):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)
            self.assertEqual((failed[0]["level"], failed[0]["status"]), ("error", 2))
            self.assertIn("stores need DuckDB's library", failed[0]["what"])
            for line in server.text:
                json.loads(line)

    def test_C8_failed_sync(self):
        """A segment whose sync failed is not used any more, and its reports are not acknowledged."""
        wrapper = ["strace", "-f", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=3..4"]
        server = Server(self.store, wrapper=wrapper)
        statuses = []
        for number in range(8):
            status = server.post(f"eio-{number:05}")[0]
            statuses.append(status)
            while status != 200:
                status = server.post(f"eio-{number:05}")[0]
                statuses.append(status)
        self.assertEqual(sorted(set(statuses)), [200, 503])
        self.assertEqual(statuses.count(503), 2)
        child = int(subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True).stdout.split()[0])
        os.kill(child, signal.SIGTERM)
        server.process.wait(60)
        server.process.stderr.close()
        self.assertEqual(len(list((self.store / "log").glob("*.log"))), 3)
        self.assertEqual(telltale("store", "fold", self.store).returncode, 0)
        ids = [row["id"] for row in read_runs(self.store, ["id"])]
        self.assertEqual(sorted(ids), [f"eio-{number:05}" for number in range(8)], "once, though it is in two segments")

    def test_C10_damaged_log(self):
        with Server(self.store) as server:
            for number in range(20):
                server.post(f"damage-{number:03}", report((number, 1)) + b"\n" * 2000)
        (segment,) = (self.store / "log").glob("*.log")
        data = bytearray(segment.read_bytes())
        entry = len(data) // 20
        data[entry * 5 + 300] ^= 1            # in the middle of an entry
        data[entry * 10:entry * 10 + 40] = bytes(40)  # around a head
        segment.write_bytes(data[:-700])      # and a torn end
        with Server(self.store) as server:
            known = server.metric("known_reports")
            self.assertIn(known, (16, 17))
            self.assertEqual([event["event"] for event in server.events].count("damage"), 3)
            self.assertEqual(json.loads(server.post("damage-019", report((19, 1)) + b"\n" * 2000)[2])["duplicate"], False)
            self.assertEqual(json.loads(server.post("damage-018", report((18, 1)) + b"\n" * 2000)[2])["duplicate"], True)
        self.assertEqual(telltale("store", "fold", self.store).returncode, 0)
        self.assertEqual(len(read_runs(self.store, ["id"])), known + 1)
        self.assertEqual([path.name for path in (self.store / "log/damaged").iterdir()], [segment.name])
        for garbage in (b"", b"telltale", bytes(100), b"telltale log 1\n\0" + bytes(5000)):
            (self.store / "log" / f"{1:020}.log").write_bytes(garbage)
            with Server(self.store) as server:
                self.assertEqual(server.metric("known_reports"), known + 1)
        ids = next((self.store / "ids").glob("*.ids"))
        ids.write_bytes(ids.read_bytes()[:-1])
        with Server(self.store) as server:
            self.assertIn("damage", [event["event"] for event in server.events])

    def test_C10_restart_with_many_reports(self):
        """A million stored reports, and a log of a GiB."""
        with Server(self.store) as server:
            server.post("first-00001", report() + b"\n" * (1 << 20))
        (segment,) = (self.store / "log").glob("*.log")
        head, entry = segment.read_bytes()[:16], segment.read_bytes()[16:]
        for number in range(16):
            (self.store / "log" / f"{number + 1:020}.log").write_bytes(head + entry * ((64 << 20) // len(entry)))
        keys = os.urandom(24 * 1000000)
        ids = b"telltale ids 1\n\0" + keys
        (self.store / "ids" / f"{1:020}-{2:020}.ids").write_bytes(ids + struct.pack("<I", zlib.crc32(ids)))
        began = time.monotonic()
        with Server(self.store) as server:
            print(f"ready after {time.monotonic() - began:.2f} s")
            self.assertEqual(server.metric("known_reports"), 1000001)

    def test_C11_shutdown(self):
        stop, clients = threading.Event(), None
        port = [None]
        clients = [Client(number, lambda: port[0], stop) for number in range(8)]
        server = Server(self.store)
        port[0] = server.port
        for client in clients:
            client.start()
        for _ in range(20):
            time.sleep(0.1)
            self.assertEqual(server.stop(), 0)
            self.assertEqual([event["event"] for event in server.events][-2:], ["stopping", "stopped"])
            server = Server(self.store)
            port[0] = server.port
        stop.set()
        for client in clients:
            client.join(60)
        server.stop()
        self.check_store(clients)


if __name__ == "__main__":
    unittest.main()
