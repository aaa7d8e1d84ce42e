"""`telltale collect` with slow clients, a full disk, and more connections and bodies than it can hold."""
import os
import pathlib
import random
import resource
import shutil
import socket
import subprocess
import threading
import time
import unittest

from collect_case import CollectCase
from collect_server import Server, headers, report, stored_in_log


class OverloadTest(CollectCase):
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
        # The server stores reports on a tmpfs of 16 MiB in its own mount namespace, which ends with it.
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
