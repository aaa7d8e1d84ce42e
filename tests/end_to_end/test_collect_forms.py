"""`telltale collect`: the forms of requests that it accepts, what it stores and replies (docs/formats/collect.md)."""
import gzip
import hashlib
import json
import socket
import time

from collect_case import CollectCase, multipart, zstd
from collect_server import Server, headers, report, sites, stored_in_log


class FormsTest(CollectCase):
    def test_a_report_is_stored_with_its_outcome(self):
        with Server(self.store) as server:
            status, fields, body = server.post(
                "id-000001", telltale_label="failed", telltale_rule="output", telltale_status=3, telltale_seconds="0.25",
                telltale_started="2026-11-22T22:44:17Z", telltale_sparsity=100, telltale_seed=18446744073709551615,
                telltale_version="1.2 beta")
            self.assertEqual((status, json.loads(body)), (200, {"id": "id-000001", "duplicate": False}))
            self.assertEqual(fields["Telltale-Sites"], "wanted")
            self.assertNotIn("Telltale-Sparsity", fields)
            (row,) = stored_in_log(self.store)
        expected = {"application": "app", "build": "b1", "id": "id-000001", "label": "failed", "rule": "output", "status": 3,
                    "signal": "", "seconds": 0.25, "started": "2026-11-22T22:44:17Z", "sparsity": 100,
                    "seed": 18446744073709551615, "version": "1.2 beta", "encoding": "", "body": report(),
                    "content_hash": hashlib.sha256(report()).digest()[:16]}
        self.assertLess(abs(row.pop("received_us") / 1e6 - time.time()), 3600)
        self.assertEqual(row, expected)

    def test_the_label_follows_from_status_and_signal(self):
        cases = [({}, "passed", "status"), ({"telltale_status": 0}, "passed", "status"), ({"telltale_status": 1}, "failed", "status"),
                 ({"telltale_signal": "SIGSEGV"}, "failed", "signal"), ({"telltale_signal": "11", "telltale_status": 0}, "failed", "signal"),
                 ({"telltale_status": 1, "telltale_label": "skipped"}, "skipped", "status")]
        with Server(self.store) as server:
            for number, (fields, _, _) in enumerate(cases):
                self.assertEqual(server.post(f"label-{number:03}", **fields)[0], 200)
        for row, (fields, label, rule) in zip(stored_in_log(self.store), cases):
            self.assertEqual((row["label"], row["rule"]), (label, rule), fields)

    def test_signals_are_stored_by_name(self):
        cases = [("SIGSEGV", "SIGSEGV"), ("11", "SIGSEGV"), ("011", "SIGSEGV"), ("0", ""), ("00", ""), ("250", "250"), ("SIGRTMIN+3", "SIGRTMIN+3")]
        with Server(self.store) as server:
            for number, (sent, _) in enumerate(cases):
                self.assertEqual(server.post(f"signal-{number:03}", telltale_signal=sent)[0], 200)
            for wrong in ("-1", "1.5", "99999999999", "SIG/SEGV"):
                self.assertEqual(server.post("signal-999", telltale_signal=wrong)[0], 400, wrong)
        self.assertEqual([row["signal"] for row in stored_in_log(self.store)], [stored for _, stored in cases])

    def test_compressed_chunked_and_empty_bodies(self):
        text = report()
        with Server(self.store) as server:
            self.assertEqual(server.post("gzip-0001", gzip.compress(text), content_encoding="gzip")[0], 200)
            self.assertEqual(server.post("zstd-0001", zstd(text), content_encoding="zstd")[0], 200)
            # An iterable is sent in chunks.
            self.assertEqual(server.post("chunks-01", iter([text[:10], text[10:]]))[0], 200)
            self.assertEqual(server.post("empty-001", b"", telltale_signal="SIGKILL")[0], 200)
            for encoding, body in (("gzip", zstd(text)), ("gzip", text), ("gzip", gzip.compress(text)[:-5]), ("zstd", zstd(text)[:-5]),
                                   ("gzip", gzip.compress(text) + b"more")):
                self.assertEqual(server.post("damaged-1", body, content_encoding=encoding)[0], 400)
            self.assertEqual(server.post("brotli-01", text, content_encoding="br")[0], 415)
            self.assertEqual(server.post("picture-1", b"\x89PNG")[0], 400)
        rows = {row["id"]: row for row in stored_in_log(self.store)}
        self.assertEqual(sorted(rows), ["chunks-01", "empty-001", "gzip-0001", "zstd-0001"])
        self.assertEqual(gzip.decompress(rows["gzip-0001"]["body"]), text)
        self.assertEqual(len({rows[name]["content_hash"] for name in ("gzip-0001", "zstd-0001", "chunks-01")}), 1)
        self.assertEqual(rows["empty-001"]["body"], b"")

    def test_the_original_multipart_form(self):
        fields = {"Content-Type": "multipart/form-data; boundary=cut", "sampler-version": "1.9", "accept": "text/html",
                  "sampler-application-name": "gaim", "sampler-application-version": "1.2", "sampler-application-release": "3 (x)",
                  "sampler-build-distribution": "fedora-4", "sampler-executable-path": "/home/secret/gaim", "sampler-sparsity": "100",
                  "sampler-exit-status": "0", "sampler-exit-signal": "11"}
        inner = report().split(b"\n", 1)[1].removesuffix(b"</report>\n")
        parts = [("samples", inner, True), ("main-backtrace", b"gaim[0x1234]\n", True), ("note", b"plain", False)]
        sampling = self.file("sampling", "gaim * 250\n")
        with Server(self.store, "--sampling", sampling) as server:
            for path in ("/", "/v1/reports"):
                status, reply, body = server.request("POST", path, multipart(parts), fields)
                self.assertEqual((status, body), (200, b""))
                self.assertEqual(reply["sampler-change-sparsity"], "250")
        rows = stored_in_log(self.store)
        self.assertEqual(len({row["id"] for row in rows}), 2)
        self.assertEqual(rows[1]["id"], reply["Sampler-unique-id"])
        row = rows[0]
        self.assertEqual((row["application"], row["build"], row["version"], row["signal"], row["status"], row["label"], row["sparsity"]),
                         ("gaim", "1.2-3__x_-fedora-4", "1.2", "SIGSEGV", None, "failed", 100))
        self.assertEqual(row["body"], b'<report id="samples">\n' + inner + b'</report>\n<report id="main-backtrace">\ngaim[0x1234]\n</report>\n'
                         b'<report id="note">\nplain\n</report>\n')
        self.assertNotIn(b"/home/secret", b"".join(p.read_bytes() for p in self.store.rglob("*") if p.is_file()))

    def test_malformed_multipart_bodies_are_refused(self):
        fields = {"Content-Type": 'multipart/form-data; boundary="cut"', "sampler-application-name": "gaim", "sampler-application-version": "1"}
        good = multipart([("samples", b"", True)])
        cases = {b"": 400, b"no boundary": 400, good[:-6]: 400, good.replace(b"samples", b"../samp"): 400,
                 good.replace(b"gzip", b"lzma"): 415, multipart([(f"p{i}", b"x", False) for i in range(65)]): 400,
                 good.replace(b"\r\n\r\n", b"\r\n"): 400, multipart([("samples", b"x" * (30 << 20), True)]): 413,
                 multipart([("samples", b"x" * 1000, True)]).replace(b"\x00", b"\x01", 3): 400}
        with Server(self.store) as server:
            for body, expected in cases.items():
                self.assertEqual(server.request("POST", "/", body, fields)[0], expected, body[:200])
            self.assertEqual(server.request("POST", "/", good, fields)[0], 200)
            without = {**fields, "Content-Type": "multipart/form-data"}
            self.assertEqual(server.request("POST", "/", good, without)[0], 400)
            both = {**fields, "sampler-exit-status": "1", "sampler-exit-signal": "11"}
            self.assertEqual(server.request("POST", "/", good, both)[0], 400)

    def test_headers_that_are_not_allowed(self):
        cases = [{"telltale_application": None}, {"telltale_application": "../x"}, {"telltale_application": "a/b"}, {"telltale_application": ".."},
                 {"telltale_application": "a" * 65}, {"telltale_build": None}, {"telltale_build": "b c"}, {"telltale_build": "x" * 129},
                 {"telltale_label": "broken"}, {"telltale_status": 256}, {"telltale_status": "-1"}, {"telltale_status": "1x"},
                 {"telltale_signal": "SIG SEGV"}, {"telltale_signal": "SIGSEGV", "telltale_status": 1}, {"telltale_seconds": "nan"},
                 {"telltale_seconds": "-1"}, {"telltale_started": "yesterday"}, {"telltale_sparsity": "ten"}, {"telltale_sparsity": 2**63}, {"telltale_version": "x" * 65}]
        with Server(self.store) as server:
            for fields in cases:
                status, _, body = server.post("id-000001", **fields)
                self.assertEqual(status, 400, fields)
                self.assertTrue(body.endswith(b"\n") and body.count(b"\n") == 1, body)
            for bad in ("short", "x" * 65, "with/slash", "with blank"):
                self.assertEqual(server.post(bad)[0], 400)
        self.assertEqual(stored_in_log(self.store), [])

    def test_paths_and_methods(self):
        with Server(self.store) as server:
            for path in ("/v1", "/v1/reports/", "/v2/reports", "/v1/sites/", "/v1/sites/a%2fb", "/v1/sites/../x", "/store.txt", "//", "/" + "x" * 8000):
                self.assertEqual(server.request("GET", path)[0], 404, path)
            for method, path, allowed in (("GET", "/v1/reports", "POST"), ("PUT", "/v1/reports", "POST"), ("POST", "/v1/sites/b1", "PUT"),
                                          ("POST", "/metrics", "GET, HEAD"), ("DELETE", "/healthz", "GET, HEAD")):
                status, fields, _ = server.request(method, path)
                self.assertEqual((status, fields["Allow"]), (405, allowed), (method, path))
            self.assertEqual(server.request("GET", "/healthz")[0], 200)
            self.assertEqual(server.request("HEAD", "/healthz")[2], b"")
            self.assertEqual(server.raw(b"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nTelltale-Application: a\r\nTelltale-Build: b\r\n"
                                        b"Telltale-Report-Id: abcdefgh\r\n\r\n").split()[1], b"411")
            for path in ("/", "/healthz", "/metrics", "/nowhere"):
                fields = server.request("GET", path)[1]
                self.assertIn("frame-ancestors 'none'", fields["Content-Security-Policy"])
                self.assertEqual((fields["X-Content-Type-Options"], fields["Referrer-Policy"]), ("nosniff", "no-referrer"))

    def test_site_information_is_stored_once(self):
        fields = {"Telltale-Application": "app"}
        with Server(self.store) as server:
            self.assertEqual(server.request("PUT", "/v1/sites/b1", gzip.compress(sites()), {**fields, "Content-Encoding": "gzip"})[0], 201)
            self.assertEqual(server.request("PUT", "/v1/sites/b1", sites(), fields)[0], 200)
            self.assertEqual(server.request("PUT", "/v1/sites/b1", sites(4), fields)[0], 409)
            self.assertEqual(server.request("PUT", "/v1/sites/b2", b"no sites", fields)[0], 400)
            self.assertEqual(server.request("PUT", "/v1/sites/b2", sites(), {})[0], 400)
            self.assertNotIn("Telltale-Sites", server.post("id-000001")[1])
        self.assertEqual((self.store / "sites/app/b1.sites").read_bytes(), sites())
        with Server(self.store) as server:
            self.assertNotIn("Telltale-Sites", server.post("id-000002")[1])

    def test_replies_change_the_sampling_rate(self):
        sampling = self.file("sampling", "# rules\n\napp b1 0\napp * 1000\n")
        with Server(self.store, "--sampling", sampling) as server:
            self.assertEqual(server.post("id-000001")[1]["Telltale-Sparsity"], "0")
            self.assertEqual(server.post("id-000002", telltale_build="c1")[1]["Telltale-Sparsity"], "1000")
            self.assertNotIn("Telltale-Sparsity", server.post("id-000003", telltale_application="other")[1])
            sampling.write_text("app * 7\n")
            server.process.send_signal(1)  # SIGHUP
            while not any(event["event"] == "reloaded" for event in server.events):
                time.sleep(0.01)
            self.assertEqual(server.post("id-000004")[1]["Telltale-Sparsity"], "7")
            sampling.write_text("app\n")
            server.process.send_signal(1)
            while not any(event["event"] == "not_reloaded" for event in server.events):
                time.sleep(0.01)
            self.assertEqual(server.post("id-000005")[1]["Telltale-Sparsity"], "7")

    def test_a_refused_body_need_not_be_sent(self):
        head = "POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: {}\r\n{}\r\n"
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers("expect-01").items())
        with Server(self.store) as server, socket.create_connection(("127.0.0.1", server.port), 30) as connection:
            connection.sendall(head.format(len(report()), fields).encode())
            self.assertEqual(connection.recv(1000), b"HTTP/1.1 100 Continue\r\n\r\n")
            connection.sendall(report())
            self.assertIn(b" 200 OK", connection.recv(1000))
            self.assertIn(b" 413 ", server.raw(head.format(1 << 40, fields).encode(), shut=False))
