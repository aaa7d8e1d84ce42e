"""`telltale collect` under load, slow clients, full disks and crashes: no acknowledged report is lost or counted twice."""
import gzip
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import resource
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from collect_server import TELLTALE, Server, core_file, entries_of, headers, report, sites, stored_in_log
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


class ReliabilityTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-collect-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.store = self.folder / "store"

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

    def test_C4_slow_clients(self):
        """Half send a header at a byte a second, half a body. What healthy clients see is printed, because other work disturbs it."""
        fields = "".join(f"{key}: {value}\r\n" for key, value in headers("slow-00001").items())
        head = f"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\n{fields}".encode()
        with Server(self.store) as server:
            healthy = server.connect()

            def measure(name, count):
                """How long replies take, ascending."""
                times = []
                for number in range(count):
                    began = time.monotonic()
                    self.assertEqual(server.post(f"{name}-{number:05}", connection=healthy)[0], 200)
                    times.append(time.monotonic() - began)
                return sorted(times)

            alone = measure("alone", 400)
            # Slow, but fast enough, also if a second takes longer: 4,000 bytes of a body in a second.
            bodies = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
            for number, connection in enumerate(bodies):
                connection.sendall(head.replace(b"slow-00001", f"pace-{number:05}".encode()) + b"Content-Length: 60000\r\n\r\n" + report().ljust(4000, b"\n"))
            slow, opened = [], []
            for number in range(2000):
                connection = socket.create_connection(("127.0.0.1", server.port))
                opened.append(time.monotonic())
                connection.setblocking(False)
                connection.send(head if number % 2 else head + b"Content-Length: 30000\r\n\r\n")
                slow.append(connection)
            beside, closed, seconds, left = [], {}, 0, 56000
            begin = time.monotonic()
            while len(closed) < len(slow) and time.monotonic() < begin + 90:
                for number, connection in enumerate(slow):
                    if number in closed:
                        continue
                    try:  # a byte a second
                        connection.send(b"x")
                        closed[number] = (connection.recv(100), time.monotonic() - opened[number])
                    except BlockingIOError:
                        pass
                    except OSError:
                        closed[number] = (b"", time.monotonic() - opened[number])
                for connection in bodies:
                    connection.sendall(b"\n" * min(4000, left - 4000))
                left -= min(4000, left - 4000)
                seconds += 1
                beside += measure(f"beside-{seconds}", 40)
                time.sleep(max(0, begin + seconds - time.monotonic()))
            self.assertEqual(len(closed), len(slow), "all slow clients are sent away")
            self.assertEqual(server.metric("timeouts_total"), len(slow))
            answers = [answer for answer, _ in closed.values() if answer]
            self.assertGreater(len(answers), len(slow) // 2)
            self.assertEqual({answer[:13] for answer in answers}, {b"HTTP/1.1 408 "})
            # Not before their time: ten seconds for a header, five for a body's first bytes.
            self.assertGreaterEqual(min(after for number, (_, after) in closed.items() if number % 2), 10)
            self.assertGreaterEqual(min(after for number, (_, after) in closed.items() if number % 2 == 0), 5)
            for connection in bodies:
                connection.sendall(b"\n" * left)
                self.assertEqual(connection.recv(13), b"HTTP/1.1 200 ", "this was fast enough")
            for connection in (*slow, *bodies):
                connection.close()
            beside.sort()
            for name, times in (("alone", alone), ("beside 2,000 slow clients", beside)):
                print(f"{name}: median {times[len(times) // 2] * 1000:.2f} ms, 99 % {times[len(times) * 99 // 100] * 1000:.2f} ms")

    def test_C8_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        # A disk of 16 MiB of its own, which goes away with the server.
        wrapper = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=16m none "$0" && exec "$@"', disk]
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("no right to mount")
        with Server(disk / "store", wrapper=wrapper) as server:
            inside = pathlib.Path(f"/proc/{server.process.pid}/root{disk}/store")
            acknowledged, refused = [], 0
            for number in range(400):
                status, fields, _ = server.post(f"full-{number:05}", report() + random.Random(number).randbytes(100000).hex().encode())
                if status == 200:
                    acknowledged.append(f"full-{number:05}")
                else:
                    self.assertEqual((status, fields["Retry-After"]), (507, "5"))
                    refused += 1
            self.assertGreater(len(acknowledged), 20)
            self.assertGreater(refused, 10)
            self.assertEqual(server.request("GET", "/healthz")[0], 503)
            self.assertEqual([row["id"] for row in stored_in_log(inside)], acknowledged)
            # Space returns: the rest of a record that did not fit is not in the way.
            (inside / "filler").touch()
            first = sorted((inside / "log").glob("*.log"))[0]
            kept = self.folder / "kept"
            (kept / "log").mkdir(parents=True)
            shutil.copy(first, kept / "log")
            os.truncate(first, 0)
            while server.post("after-00001")[0] != 200:
                time.sleep(0.1)
            acknowledged.append("after-00001")
            self.assertEqual(server.request("GET", "/healthz")[0], 200)
            os.remove(first)
            self.assertEqual(server.post("after-00002")[0], 200)
            acknowledged.append("after-00002")

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

    def test_C9_ten_thousand_connections(self):
        count = 10000
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < count + 100:
            self.skipTest(f"the limit of open files is {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        with Server(self.store) as server:
            server.post("warm-00001")
            before = server.rss()
            connections = []
            for _ in range(count):
                connections.append(socket.create_connection(("127.0.0.1", server.port)))
            while server.metric("connections") < count:
                time.sleep(0.05)
            idle = (server.rss() - before) / count
            began, body = time.monotonic(), report()
            for number, connection in enumerate(connections):
                fields = "".join(f"{key}: {value}\r\n" for key, value in headers(f"many-{number:05}").items())
                connection.sendall(f"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            for connection in connections:
                self.assertTrue(connection.recv(4096).startswith(b"HTTP/1.1 200 "))
            took = time.monotonic() - began
            self.assertEqual(server.metric("connections"), count + 1)
            after = (server.rss() - before) / count
            print(f"10,000 connections: {idle:.0f} bytes each idle, {after:.0f} after a report; {took:.1f} s for 10,000 reports")
            self.assertLess(idle, 16384)
            self.assertLess(after, 16384)
            self.assertEqual(server.metric("reports_stored_total"), count + 1)
            for connection in connections:
                connection.close()
            while server.metric("connections") > 1:
                time.sleep(0.05)

    def test_C9_without_free_descriptors(self):
        with Server(self.store, wrapper=["prlimit", "--nofile=64:64"]) as server:
            connections = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
            time.sleep(0.5)
            fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            began = int(fields[11]) + int(fields[12])
            time.sleep(2)
            fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            self.assertLess(int(fields[11]) + int(fields[12]) - began, 50, "the server spins")
            for connection in connections:
                connection.close()
            self.assertEqual(server.post("after-00001")[0], 200)

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
        import struct
        import zlib
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

    def test_C12_overload(self):
        """Five times as many large bodies at once as fit."""
        with Server(self.store) as server:
            body = report() + b"\n" * (4 << 20)
            peak, answers, lock = [0], [], threading.Lock()

            def send(number):
                for serial in range(4):
                    try:
                        status, fields, _ = server.post(f"over-{number:03}-{serial}", body)
                    except OSError:
                        status, fields = 0, {}
                    with lock:
                        answers.append((status, fields.get("Retry-After")))
                        peak[0] = max(peak[0], server.rss())
            threads = [threading.Thread(target=send, args=(number,)) for number in range(80)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            print(f"overload: {peak[0] >> 20} MiB, {sum(status == 200 for status, _ in answers)} of {len(answers)} stored")
            self.assertLess(peak[0], 256 << 20)
            self.assertTrue(all(status in (0, 200) or (status == 503 and after) for status, after in answers), answers)
            self.assertEqual(server.post("after-00001")[0], 200)


if __name__ == "__main__":
    unittest.main()
