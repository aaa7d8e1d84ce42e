"""`telltale collect`: requests that it refuses or limits (docs/formats/collect.md, rows C and W of docs/design/reliability.md)."""
import base64
import gzip
import hashlib
import http.client
import json
import pathlib
import random
import re
import socket
import ssl
import subprocess
import unittest
import uuid
import zlib

from collect_case import CollectCase, zstd
from collect_server import TELLTALE, Server, headers, report, sites, stored_in_log


class ReliabilityOfRequestsTest(CollectCase):
    def test_a_signal_of_0_is_none(self):
        with Server(self.store) as server:
            self.assertEqual(server.post("no-signal-00", telltale_signal="0", telltale_status="0")[0], 200)
        self.assertEqual([(row["label"], row["signal"]) for row in stored_in_log(self.store)], [("passed", "")])

    def test_targets_with_a_host(self):
        with Server(self.store) as server:
            for target, host, status in (("http://localhost/healthz", "localhost", 200), ("HTTP://LOCALHOST:80/healthz?x", "localhost:80", 200),
                                         ("http://localhost", "localhost", 401), ("http://localhost?x", "localhost", 401),
                                         ("http://localhost/metrics", "localhost", 401), ("http://localhost/metrics", "stranger.example", 400),
                                         ("http://stranger.example/metrics", "localhost", 400), ("ftp://localhost/healthz", "localhost", 404)):
                answer = server.raw(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                self.assertIn(b" %d " % status, answer.split(b"\r\n")[0], (target, host))

    def test_C5_sizes(self):
        with Server(self.store, "--max-body-bytes", 10000) as server:
            self.assertEqual(server.post("id-000001", report() + b"\n" * 9000)[0], 200)
            self.assertEqual(server.post("id-000002", b"x" * 10001)[0], 413)
            self.assertEqual(server.post("id-000003", iter([b"x" * 6000, b"x" * 6000]))[0], 413)
            fields = "".join(f"{name}: {value}\r\n" for name, value in headers("id-000004").items())
            begin = f"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\n{fields}"
            # Refused before the body is there.
            self.assertIn(b" 413 ", server.raw(f"{begin}Content-Length: 1000000000000\r\n\r\n".encode(), shut=False))
            self.assertIn(b" 431 ", server.raw(f"{begin}X: {'x' * 17000}\r\n\r\n".encode(), shut=False))
            self.assertIn(b" 431 ", server.raw((begin + "".join(f"X-{i}: y\r\n" for i in range(100)) + "\r\n").encode(), shut=False))
            self.assertIn(b" 431 ", server.raw(b"GET / HTTP/1.1\r\nX: " + b"x" * 100000, shut=False))
            before = server.rss()
            for number in range(200):
                self.assertEqual(server.post(f"large-{number:03}", iter([b"x" * 6000, b"x" * 6000]))[0], 413)
            self.assertLess(server.rss() - before, 8 << 20)
        self.assertEqual([row["id"] for row in stored_in_log(self.store)], ["id-000001"])

    def test_C6_bombs(self):
        compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
        gzip_bomb = b"".join(compressor.compress(bytes(1 << 20)) for _ in range(200)) + compressor.flush()
        zstd_bomb = zstd(bytes(200 << 20), 19)
        window = subprocess.run(["zstd", "-q", "-c", "--ultra", "-22", "--long=27"], input=bytes(1 << 20) * 8, capture_output=True, check=True).stdout
        nested = gzip.compress(gzip.compress(report()))
        with Server(self.store) as server:
            server.post("warm-0001")
            before, began = server.rss(), self.cpu_of(server)
            for number in range(50):
                self.assertEqual(server.post(f"gzip-{number:04}", gzip_bomb, content_encoding="gzip")[0], 413)
                self.assertEqual(server.post(f"zstd-{number:04}", zstd_bomb, content_encoding="zstd")[0], 413)
            self.assertIn(server.post("window-01", window, content_encoding="zstd")[0], (400, 413))
            self.assertEqual(server.post("nested-01", nested, content_encoding="gzip")[0], 400)
            self.assertLess(server.rss() - before, 64 << 20)
            print(f"100 bombs: {self.cpu_of(server) - began:.2f} s of processor time")
            self.assertEqual(server.post("after-001")[0], 200)

    @staticmethod
    def cpu_of(server):
        fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def test_C7_tokens(self):
        secret, hashed, admin = "sesame-" + uuid.uuid4().hex, uuid.uuid4().hex, uuid.uuid4().hex
        tokens = self.file("tokens", f"# tokens\napp {secret}\napp sha256:{hashlib.sha256(hashed.encode()).hexdigest()}\nother {admin} sites\n")
        with Server(self.store, "--tokens", tokens) as server:
            for value in (None, "Bearer", "Bearer ", "Bearer x", f"Bearer {secret}x", f"Bearer {secret[:-1]}", f"Bearer {admin}", f"bearer  {secret}",
                          secret, "Basic !!!!", "Basic " + base64.b64encode(b"no colon").decode(), "Bearer " + uuid.uuid4().hex):
                # The body is not read: its length would be refused otherwise.
                fields = {**headers("id-000001"), "Content-Length": str(1 << 40), **({"Authorization": value} if value else {})}
                head = "".join(f"{name}: {text}\r\n" for name, text in fields.items())
                answer = server.raw(f"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode(), shut=False)
                self.assertEqual(answer.split()[1], b"401", value)
            for number, value in enumerate((f"Bearer {secret}", f"bearer {hashed}", "Basic " + base64.b64encode(f"me:{secret}".encode()).decode())):
                self.assertEqual(server.post(f"good-{number:04}", authorization=value)[0], 200, value)
            self.assertEqual(server.request("PUT", "/v1/sites/b1", sites(), {"Telltale-Application": "app", "Authorization": f"Bearer {secret}"})[0], 401)
            self.assertEqual(server.request("PUT", "/v1/sites/b1", sites(), {"Telltale-Application": "other", "Authorization": f"Bearer {admin}"})[0], 201)
            everything = "".join(server.text).encode() + server.see("/metrics")[2]
        everything += b"".join(path.read_bytes() for path in self.store.rglob("*") if path.is_file())
        for token in (secret, hashed, admin):
            self.assertNotIn(token.encode(), everything)
        tokens.chmod(0o604)
        done = subprocess.run([TELLTALE, "collect", "--listen", "127.0.0.1:0", "--store", self.store, "--tokens", tokens], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("chmod o-r", done.stderr)

    def test_C7_random_tokens(self):
        """A hundred thousand guesses: none is right, and none is written anywhere."""
        rng, secret = random.Random(7), "sesame-" + uuid.uuid4().hex
        tokens = self.file("tokens", f"app {secret}\n")

        def guess(number):
            if number % 3 == 0:  # nearly right
                at = rng.randrange(len(secret))
                return secret[:at] + chr(ord(secret[at]) ^ 1) + secret[at + 1:]
            return secret[:rng.randrange(len(secret))] if number % 3 == 1 else rng.randbytes(rng.randrange(1, 40)).hex()

        guesses = [guess(number) for number in range(100000)]
        with Server(self.store, "--tokens", tokens) as server, socket.create_connection(("127.0.0.1", server.port), 60) as connection:
            for first in range(0, len(guesses), 100):
                connection.sendall("".join(
                    "POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n" + "".join(
                        f"{name}: {value}\r\n" for name, value in {**headers(f"guess-{number:06}"), "Authorization": f"Bearer {guesses[number]}"}.items()) + "\r\n"
                    for number in range(first, first + 100)).encode())
                answer = b""
                while answer.count(b"HTTP/1.1 ") < 100 or not answer.endswith(b"\n"):
                    piece = connection.recv(1 << 20)
                    self.assertTrue(piece, "the server closed")
                    answer += piece
                self.assertEqual(answer.count(b"HTTP/1.1 401 "), 100)
            self.assertEqual(server.metric("unauthorized_total"), 100000)
            self.assertEqual(server.post("right-0001", authorization=f"Bearer {secret}")[0], 200)
            everything = "".join(server.text).encode() + server.see("/metrics")[2]
        everything += b"".join(str(path).encode() + (path.read_bytes() if path.is_file() else b"") for path in self.store.rglob("*"))
        for token in [secret, *(guess for guess in guesses if len(guess) >= 12)]:
            self.assertNotIn(token.encode(), everything)

    def test_C7_a_nearly_right_token_costs_the_same(self):
        """Instructions instead of time, which other work disturbs: a comparison that ends at the first difference would execute fewer."""
        secrets = [uuid.UUID(int=number << 64 | number).hex for number in (17, 23, 5)]
        tokens = self.file("tokens", "".join(f"app {secret}\n" for secret in secrets))
        costs = []
        for number, token in enumerate((secrets[0][:-1] + "x", "x" + secrets[0][1:], "z" * 32, secrets[2][:-1] + "x")):
            counts = self.folder / f"counts-{number}"
            # telltale becomes telltale-collect, which starts telltale to fold.
            wrapper = ["valgrind", "-q", "--tool=callgrind", "--trace-children=yes", "--trace-children-skip=*/bin/telltale",
                       f"--callgrind-out-file={counts}",
                       "--toggle-collect=telltale::collect::Collector::check(*", "--collect-atstart=no"]
            with Server(self.folder / f"store-{number}", "--tokens", tokens, wrapper=wrapper) as server:
                for request in range(20):
                    self.assertEqual(server.post(f"cost-{request:04}", authorization=f"Bearer {token}")[0], 401)
            costs.append(int(re.search(r"^(?:summary|totals): (\d+)", counts.read_text(), re.M).group(1)))
        self.assertGreater(costs[0], 20 * 1000, costs)
        self.assertLess(max(costs) - min(costs), min(costs) // 1000, costs)

    def test_C7_rates_are_those_of_a_token(self):
        tokens = self.file("tokens", "app first\napp second\nother first\n")
        with Server(self.store, "--tokens", tokens, "--reports-per-second", 1) as server:
            def send(token, number, application="app"):
                return server.post(f"{application}-{token}-{number:03}", telltale_application=application, authorization=f"Bearer {token}")

            answers = [send("first", number) for number in range(40)]
            limited = [fields for status, fields, _ in answers if status == 429]
            self.assertTrue(limited)
            self.assertTrue(all(int(fields["Retry-After"]) >= 1 for fields in limited))
            self.assertIn(b"with this token", answers[-1][2])
            self.assertEqual(send("second", 0)[0], 200, "another token of the application has reports left")
            self.assertEqual(send("first", 0, "other")[0], 200, "and so has the same one for another application")
        with Server(self.folder / "second", "--tokens", tokens, "--bytes-per-second", 100) as server:
            statuses = [server.post(f"bytes-{number:03}", report() + b"\n" * 400, authorization="Bearer first")[0] for number in range(6)]
            self.assertEqual((statuses[0], statuses[-1]), (200, 429))
            self.assertEqual(server.post("bytes-other", report() + b"\n" * 400, authorization="Bearer second")[0], 200)

    def test_C7_rates(self):
        with Server(self.store, "--reports-per-second", 1) as server:
            answers = [server.post(f"rate-{number:04}") for number in range(30)]
            limited = [fields for status, fields, _ in answers if status == 429]
            self.assertGreaterEqual(sum(status == 200 for status, _, _ in answers), 10)
            self.assertTrue(limited)
            self.assertTrue(all(int(fields["Retry-After"]) >= 1 for fields in limited))
            self.assertEqual(server.post("other-001", telltale_application="other")[0], 200)
            self.assertEqual(server.metric("over_rate_total"), len(limited))
        with Server(self.folder / "second", "--bytes-per-second", 100) as server:
            statuses = [server.post(f"rate-{number:04}", report() + b"\n" * 400)[0] for number in range(5)]
            self.assertEqual(statuses[0], 200)
            self.assertIn(429, statuses)

    def test_C13_privacy(self):
        secrets = {"user-agent": "planted-agent", "cookie": "planted-cookie", "x-forwarded-for": "203.0.113.77", "telltale-command": "planted-argv",
                   "telltale-environment": "planted-env", "referer": "planted-referer", "from": "planted@example.org"}
        with Server(self.store) as server:
            self.assertEqual(server.request("POST", "/v1/reports?planted-query", report(), {**headers("id-000001"), **secrets})[0], 200)
            self.assertEqual(server.request("POST", "/v1/reports?planted-query", report(), {**headers("id-000001", telltale_status="planted"), **secrets})[0], 400)
            told = "".join(server.text).encode() + server.see("/metrics")[2]
        kept = b"".join(path.read_bytes() for path in self.store.rglob("*") if path.is_file())
        for data in (told, kept):
            self.assertNotIn(b"planted", data)
            self.assertNotIn(b"203.0.113.77", data)
        self.assertNotIn(b"127.0.0.1", kept)
        for path in self.store.rglob("*"):
            self.assertFalse(path.stat().st_mode & 0o077, f"{path} is open to others")

    def test_connections_end_when_clients_want_it(self):
        with Server(self.store) as server:
            ask, close = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            for request, answers in ((close, 1), (b"GET /healthz HTTP/1.0\r\n\r\n", 1), (ask + ask + close + ask, 3)):
                answer = server.raw(request, shut=False, timeout=60)
                self.assertEqual(answer.count(b" 200 OK\r\n"), answers, answer)
                self.assertEqual(answer.lower().count(b"\r\nconnection: close\r\n"), 1, answer)

    def test_W4_names_of_strangers_do_not_lead_to_the_operator_s_pages(self):
        ours = ("localhost", "LocalHost:80", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:8080", "192.0.2.7:9", "ops.example", "OPS.example:443")
        theirs = ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:80", "xlocalhost", "127.0.0.1:x", "127.0.0.1:", "[::1", "[::1]x",
                  "[evil.example]", "::1", "127.1", "", "ops.example.", "localhost:80:80")
        with Server(self.store, "--host", "ops.example") as server:
            for path in ("/", "/metrics"):
                for host, expected in (*((host, (200, 404)) for host in ours), *((host, (421,)) for host in theirs)):
                    status = int(server.raw(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {server.token()['Authorization']}\r\nConnection: close\r\n\r\n".encode())[9:12])
                    self.assertIn(status, expected, (path, host))
            self.assertEqual(server.raw(b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n")[9:12], b"200")

    def test_W4_names_of_strangers_do_not_lead_to_the_reports(self):
        """A page that reaches the server by a name of its own (DNS rebinding) may send what it likes, unless there are tokens."""
        ours, theirs = ("localhost", "127.0.0.1:8080", "[::1]:8080", "ops.example:443"), ("evil.example", "evil.example:80", "localhost.evil.example", "")

        def statuses(server, host, **fields):
            part = b'--cut\r\nContent-Disposition: form-data; name="x"\r\n\r\ny\r\n--cut--\r\n'
            requests = [("POST", "/v1/reports", {**headers(f"report-{(*ours, *theirs, 'collect.example').index(host):06}"), **fields}, report()),
                        ("POST", "/", {"Content-Type": "multipart/form-data; boundary=cut", **fields}, part),
                        ("POST", "/v1/reports", {"Content-Type": "multipart/form-data; boundary=cut", **fields}, part),
                        ("PUT", "/v1/sites/b1", {"Telltale-Application": "app", **fields}, sites())]
            found = []
            for method, path, more, body in requests:
                head = "".join(f"{name}: {value}\r\n" for name, value in {"Host": host, "Content-Length": len(body), "Connection": "close", **more}.items())
                answer = server.raw(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
                found.append(int(answer[9:12]))
                if found[-1] == 421:
                    self.assertIn(b"this server is not called by this name; see --host", answer)
            return found

        with Server(self.store, "--host", "ops.example") as server:
            for host in ours:
                found = statuses(server, host)
                self.assertEqual((found[0], found[3] in (200, 201)), (200, True), (host, found))
                self.assertNotIn(421, found, host)
            before = server.metric("reports_stored_total")
            for host in theirs:
                self.assertEqual(statuses(server, host), [421] * 4, host)
            self.assertEqual((server.metric("reports_stored_total"), server.metric("other_hosts_total")), (before, 4 * len(theirs)))
            for origin in ("https://evil.example", "null", "http://127.0.0.1:8080"):  # by our address, from a form of a page
                self.assertEqual(statuses(server, "127.0.0.1:8080", Origin=origin), [403] * 4, origin)
            self.assertEqual((server.metric("reports_stored_total"), server.metric("pages_total")), (before, 12))
        tokens = self.file("tokens", "app secret sites\n")
        with Server(self.store, "--tokens", tokens) as server:
            found = statuses(server, "collect.example", Authorization="Bearer secret")
            self.assertNotIn(421, found, "a token protects, whatever the name")
            found = statuses(server, "collect.example", Authorization="Bearer secret", Origin="https://evil.example")
            self.assertNotIn(403, found, "a page has no token")

    def test_C14_addresses(self):
        def refused(*options):
            done = subprocess.run([TELLTALE, "collect", "--store", self.store, *map(str, options)], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            return done.stderr

        tokens = self.file("tokens", "app secret\n")
        for address in ("0.0.0.0:0", ":0", "[::]:0"):
            self.assertIn("without TLS", refused("--listen", address, "--tokens", tokens))
            self.assertIn("without --tokens", refused("--listen", address, "--plain-http"))
            self.assertIn("without TLS the operator's token", refused("--listen", "127.0.0.1:0", "--operator", address))
        for address in ("127.0.0.1", "example.org:80", "127.0.0.1:99999", "127.0.0.1:x", "::1:80x"):
            self.assertIn("is not an address and a port", refused("--listen", address))
        with Server(self.store, "--tokens", tokens, "--plain-http", "--operator", "127.0.0.1:0", listen="0.0.0.0:0") as server:
            self.assertEqual(server.see("/metrics")[0], 404)
            self.assertEqual(server.see("/")[0], 404)
            self.assertEqual(server.request("GET", "/healthz")[0], 200)

    def certificate(self):
        certificate, key = self.folder / "certificate.pem", self.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-days", "2", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        return certificate, key

    def test_C14_tls(self):
        certificate, key = self.certificate()
        with Server(self.store, "--certificate", certificate, "--key", key) as server:
            context = ssl.create_default_context(cafile=certificate)
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                context.minimum_version = context.maximum_version = version
                connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=60)
                for number in range(3):
                    status, _, body = server.post(f"tls-{int(version)}-{number}", report() + b"\n" * 100000, connection=connection)
                    self.assertEqual((status, json.loads(body)["duplicate"]), (200, False))
                connection.close()
            old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
            old.set_ciphers("DEFAULT:@SECLEVEL=0")
            old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
            with self.assertRaises(ssl.SSLError), socket.create_connection(("127.0.0.1", server.port), 30) as plain:
                old.wrap_socket(plain)
            self.assertEqual(server.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")[:5] == b"HTTP/", False)
        self.assertEqual(len(stored_in_log(self.store)), 6)

    def test_C14_the_operator_s_cookie_is_sent_over_tls_only(self):
        certificate, key = self.certificate()
        context = ssl.create_default_context(cafile=certificate)

        def cookie(server, port):
            connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
            status, fields, _ = server.request("GET", server.link().partition(str(server.port))[2], connection=connection)
            connection.close()
            self.assertEqual(status, 303)
            return fields["Set-Cookie"].split("; ")[1:]

        with Server(self.store, "--certificate", certificate, "--key", key) as server:
            self.assertEqual(cookie(server, server.port), ["Path=/", "HttpOnly", "SameSite=Strict", "Secure"])
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with Server(self.store, "--certificate", certificate, "--key", key, "--operator", f"0.0.0.0:{port}") as server:
            self.assertEqual(cookie(server, port), ["Path=/", "HttpOnly", "SameSite=Strict", "Secure"])
        # On a loopback address of its own: plain, for Prometheus and browsers of this machine.
        with Server(self.store, "--certificate", certificate, "--key", key, "--operator", f"127.0.0.1:{port}") as server:
            link, server.port = server.link().partition(str(server.port))[2], port
            self.assertEqual(server.request("GET", link)[1]["Set-Cookie"].split("; ")[1:], ["Path=/", "HttpOnly", "SameSite=Strict"])

    def test_C15_smuggling(self):
        body = report()
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers("smuggle-1").items())
        start = f"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\n{fields}"
        length = f"Content-Length: {len(body)}\r\n"
        inner = f"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\n{fields.replace('smuggle-1', 'smuggle-2')}{length}\r\n".encode() + body
        chunked = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
        cases = [
            start + length + "Transfer-Encoding: chunked\r\n\r\n", start + "Transfer-Encoding: chunked\r\n" + length + "\r\n",
            start + length + length + "\r\n", start + length + "Content-Length: 5\r\n\r\n", start + "Content-Length: 5, 5\r\n\r\n",
            start + "Content-Length: +5\r\n\r\n", start + "Content-Length: -5\r\n\r\n", start + "Content-Length: 0x5\r\n\r\n",
            start + "Content-Length: 99999999999999999999999\r\n\r\n", start + "Content-Length: \r\n\r\n",
            start + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", start + "Transfer-Encoding: gzip, chunked\r\n\r\n",
            start + "Transfer-Encoding: xchunked\r\n\r\n", start + "Transfer-Encoding: identity\r\n\r\n", start + "Transfer-Encoding: chunked, identity\r\n\r\n",
            start + "Transfer-Encoding : chunked\r\n\r\n", start + "Content-Length : 5\r\n\r\n",
            start.replace("\r\n", "\n") + length + "\n", start + length.replace("\r\n", "\n") + "\r\n", start + "X: a\n" + length + "\r\n",
            start + "X: a\r\n b\r\n" + length + "\r\n", start + "X: a\r\n\tb\r\n" + length + "\r\n", " " + start + length + "\r\n",
            start + "X: a\x00b\r\n" + length + "\r\n", start + "X\x00: a\r\n" + length + "\r\n", start + "X y: a\r\n" + length + "\r\n",
            start + ": a\r\n" + length + "\r\n", start + "no colon\r\n" + length + "\r\n", start + "X: a\rb\r\n" + length + "\r\n",
            start.replace("HTTP/1.1", "HTTP/1.0") + "Transfer-Encoding: chunked\r\n\r\n", start.replace("HTTP/1.1", "HTTP/2.0") + length + "\r\n",
            start.replace("HTTP/1.1", "http/1.1") + length + "\r\n", start.replace("Host: localhost\r\n", "") + length + "\r\n",
            start.replace("Host: localhost\r\n", "Host: localhost\r\nHost: 127.0.0.1\r\n") + length + "\r\n", start.replace("POST ", "POST  ") + length + "\r\n",
        ]
        bodies = [b"fffffffffffffffff\r\n", b"10000000000000000\r\n", b"-5\r\n", b"0x5\r\n", b"5 \n", b"5\n" + b"abcde", b"5\r\nabcdefg\r\n0\r\n\r\n",
                  b"g\r\n", b"\r\n", b"5;" + b"x" * 100000, b"5;a=\"b\r\nabcde\r\n0\r\n\r\n"]
        with Server(self.store) as server:
            for case in cases:
                answer = server.raw(case.encode("latin-1") + body + inner)
                self.assertEqual(answer.split()[1:2], [b"400"], case)
                self.assertEqual(answer.count(b"HTTP/1.1 "), 1, f"the connection is closed, what follows is no request: {case}")
            for chunks in bodies:
                answer = server.raw((start + "Transfer-Encoding: chunked\r\n\r\n").encode() + chunks + inner)
                self.assertEqual(answer.split()[1:2], [b"400"], chunks[:50])
                self.assertEqual(answer.count(b"HTTP/1.1 "), 1)
            self.assertEqual(stored_in_log(self.store), [])
            # Two requests at once are two requests; a trailer is none.
            trailer = chunked[:-2] + b"Telltale-Label: failed\r\n\r\n"
            answer = server.raw((start + "Transfer-Encoding: chunked\r\n\r\n").encode() + trailer + inner)
            self.assertEqual(answer.count(b"HTTP/1.1 200 OK"), 2, answer)
        self.assertEqual([row["label"] for row in stored_in_log(self.store)], ["passed", "passed"])


if __name__ == "__main__":
    unittest.main()
