"""The pages of `telltale collect` in a browser of someone who means harm: rows W1, W2, W3, W5, W6 and W7 (W4 is in test_collect_requests.py)."""
import base64
import html
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from collect_server import TELLTALE, UNIT, Server, headers, report, sites

PWN = "document.documentElement.id='pwned'"
PAYLOADS = [f"</script><script>{PWN}</script>", f"<img src=x onerror={PWN}>", f"<svg onload={PWN}>", f"'\"><script>{PWN}</script>", f"<iframe srcdoc='<script>parent.{PWN}</script>'>",
            f"<!--</script><script>{PWN}//-->", f"<a href=javascript:{PWN}>x</a>", f"{{{{constructor.constructor('{PWN}')()}}}}", f"<style>@import 'javascript:{PWN}'</style>",
            f"]]><script>{PWN}</script>", f"\u2028{PWN}\u2029", f"<math><mtext><img src=x onerror={PWN}></math>", f"<base href=//evil.example/><b onclick={PWN}>", f"&lt;script&gt;{PWN}"]

OPEN_UMASK = ("sh", "-c", 'umask 0; exec "$@"', "sh")


class PagesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="telltale-pages-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.store = self.folder / "store"

    def test_W1_hostile_names_are_only_text(self):
        """In every text that a program, or whoever sends reports, can choose."""
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        self.assertTrue(chromium)
        # All are true in the same runs, so that the page lists them together.
        rows = "".join(f"{text}\t10\t{text}\t1\t{text}\n" for text in PAYLOADS)
        table = f'<sites unit="{UNIT}" scheme="branches">\n{rows}</sites>\n'
        with Server(self.store) as server:
            self.assertEqual(server.request("PUT", "/v1/sites/b1", table.encode(), {"Telltale-Application": "app"})[0], 201)
            for run in range(60):
                failed, text = run % 4 == 0, PAYLOADS[run % len(PAYLOADS)]
                body = report(*[(1, int(failed))] * len(PAYLOADS)) + f'<report id="main-backtrace">\n{text}({text}+0x1)[0x1]\n</report>\n'.encode()
                version = "".join(c for c in text if " " <= c <= "~")[:64]
                self.assertEqual(server.post(f"run-{run:06}", body, telltale_status=int(failed), telltale_version=version)[0], 200)
            last = "</script><script>document.documentElement.id='pwned'</script>"
            self.assertEqual(server.post("run-999999", body, telltale_status=0, telltale_version=last)[0], 200)
        self.assertEqual(subprocess.run([TELLTALE, "store", "fold", self.store, "-q"]).returncode, 0)
        with Server(self.store) as server:
            shown, data = [], server.see("/")[2].decode()
            self.assertEqual((data.count("<script"), data.count("</script")), (2, 2), "the page's own")
            for tab in range(5):
                done = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom",
                                       f"{server.link()}#tab=part{tab}"], capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0)
                self.assertNotIn("pwned", done.stdout[:done.stdout.index("<head")], "a script ran")
                self.assertEqual(done.stdout.count("<script"), 2)
                shown.append(html.unescape(re.sub(r"(?s)<(script|style)\b.*?</\1>", "", done.stdout)))
        self.assertTrue(any(last in text for text in shown))
        (predictors,) = [text for text in shown if "True in the same runs" in text]
        for text in PAYLOADS:
            # Separators of lines are shown as what they are.
            self.assertIn(text.strip("\u2028\u2029") if "\u2028" in text else f"{text} is TRUE", predictors)

    def test_tables_fit_a_phone(self):
        """Four columns of 6 em beside each other are as wide as a phone."""
        with Server(self.store) as server:
            server.request("PUT", "/v1/sites/b1", sites(), {"Telltale-Application": "app"})
            for run in range(20):
                server.post(f"run-{run:06}", report((1, int(run % 4 == 0))), telltale_status=int(run % 4 == 0))
        subprocess.run([TELLTALE, "store", "fold", self.store, "-q"], check=True)
        page = (self.store / "status.html").read_text()
        tables = [json.loads(text) for text in re.findall(r"\{\"columns\":\[.*?\](?=,\"rows\":)", page) for text in [text + "}"]]
        self.assertGreaterEqual(len(tables), 3)
        for table in tables:
            self.assertLessEqual(sum(not column.get("minor", False) for column in table["columns"]), 4, table)

    def test_numbers_of_the_status_page(self):
        with Server(self.store) as server:
            server.request("PUT", "/v1/sites/b1", sites(), {"Telltale-Application": "app"})
            for run, label in enumerate(("failed", "failed", "passed", "passed", "passed", "skipped")):
                body = b"" if run == 2 else report()
                self.assertEqual(server.post(f"run-{run:06}", body, telltale_label=label, telltale_status=3, telltale_version=f"1.{run}")[0], 200)
            for run in range(4):
                self.assertEqual(server.post(f"other-{run:06}", telltale_application="other", telltale_build="b2", telltale_signal="SIGSEGV")[0], 200)
        subprocess.run([TELLTALE, "store", "fold", self.store, "-q"], check=True)
        page = (self.store / "status.html").read_text()
        start, tables = re.compile(r'"part[0-9]+":(?=\{)'), {}
        for found in start.finditer(page):
            part, _ = json.JSONDecoder().raw_decode(page, found.end())
            if "columns" in part:
                keys = [column["key"] for column in part["columns"]]
                tables[keys[1]] = [dict(zip(keys, row)) for row in part["rows"]]
        for table, key in (("version", "first"), ("version", "last"), ("day", "day")):
            for row in tables[table]:
                self.assertRegex(row.pop(key), r"^20\d\d-\d\d-\d\d$")
        self.assertEqual(tables["version"], [
            {"application": "app", "version": "1.5", "runs": 6, "failed": 2, "rate": 0.4, "without": 1, "sites": "yes", "build": "b1"},
            {"application": "other", "version": "", "runs": 4, "failed": 4, "rate": 1, "without": 0, "sites": "missing", "build": "b2"}])
        self.assertEqual([{**row, "rate": round(row["rate"], 3)} for row in tables["day"]],
                         [{"application": "app", "runs": 6, "failed": 2, "rate": 0.333}, {"application": "other", "runs": 4, "failed": 4, "rate": 1}])
        self.assertEqual([(row["application"], row["end"], row["runs"], row["build"]) for row in tables["end"]],
                         [("app", "status 3", 2, "b1"), ("other", "SIGSEGV", 4, "b2")])

    def test_W2_policies_of_every_route(self):
        with Server(self.store) as server:
            server.post("run-000001")
        subprocess.run([TELLTALE, "store", "fold", self.store, "-q"], check=True)
        requests = [("GET", path) for path in ("/", "/?x=1", "/healthz", "/metrics", "/nowhere", "/v1/reports", "/v1/sites/b1", "//", "/status.html")] + [
            ("HEAD", "/"), ("POST", "/"), ("POST", "/v1/reports"), ("PUT", "/v1/sites/b2"), ("PUT", "/"), ("DELETE", "/healthz"), ("OPTIONS", "/v1/reports")]
        with Server(self.store) as server:
            link = server.link().partition(str(server.port))[2]
            for method, path, token in [(*request, token) for request in [*requests, ("GET", link)] for token in (server.token(), {})]:
                with self.subTest(method=method, path=path, token=bool(token)):
                    status, fields, body = server.request(method, path, b"" if method in ("POST", "PUT") else None, token)
                    policy = fields["Content-Security-Policy"] + (body.decode() if status == 200 and path[:2] in ("/", "/?") and method == "GET" else "")
                    for part in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"):
                        if body or part != "default-src 'none'":
                            self.assertIn(part, policy)
                    self.assertNotIn("unsafe", policy.split("</head>")[0].split("<style")[0])
                    self.assertEqual((fields["X-Content-Type-Options"], fields["Referrer-Policy"], fields["Cross-Origin-Resource-Policy"]),
                                     ("nosniff", "no-referrer", "same-origin"))
                    self.assertNotIn("Access-Control-Allow-Origin", fields)
            self.assertIn(b"require-trusted-types-for 'script'", server.see("/")[2])
            answer = server.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nBroken\r\n\r\n")
            for field in (b"Content-Security-Policy: default-src 'none'", b"X-Content-Type-Options: nosniff", b"Cross-Origin-Resource-Policy: same-origin"):
                self.assertIn(field, answer)

    def test_W3_listens_where_it_is_told(self):
        with Server(self.store, "--operator", "[::1]:0") as server:
            inodes = {os.readlink(path) for path in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir() if path.exists() or path.is_symlink()}
            listening = set()
            for table, size in (("tcp", 8), ("tcp6", 32)):
                for row in pathlib.Path(f"/proc/{server.process.pid}/net/{table}").read_text().splitlines()[1:]:
                    fields = row.split()
                    if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                        words = bytes.fromhex(fields[1][:size])
                        address = b"".join(struct.pack(">I", word) for (word,) in struct.iter_unpack("<I", words))
                        listening.add(socket.inet_ntop(socket.AF_INET if size == 8 else socket.AF_INET6, address))
            self.assertEqual(listening, {"127.0.0.1", "::1"})

    def test_W5_a_page_changes_nothing(self):
        """GET has no effect; what a page of another origin can send, a form, a request without CORS or an image, is refused."""
        with Server(self.store) as server:
            before = sorted(self.store.rglob("*"))
            for path in ("/", "/healthz", "/metrics", "/v1/reports", "/v1/sites/b1", "/v1/reports?delete=1"):
                for method in ("GET", "HEAD"):
                    server.see(path, method, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"})
            form = b'--cut\r\nContent-Disposition: form-data; name="samples"\r\n\r\n\r\n--cut--\r\n'
            for origin in ("http://127.0.0.1:1", "https://evil.example", "null"):
                for kind, body in (("multipart/form-data; boundary=cut", form), ("text/plain", report()), ("application/x-www-form-urlencoded", b"a=b")):
                    self.assertEqual(server.request("POST", "/v1/reports", body, {**headers("page-00001"), "Content-Type": kind, "Origin": origin})[0], 403)
                    self.assertEqual(server.request("POST", "/", body, {"Content-Type": kind, "Origin": origin, "sampler-application-name": "app"})[0], 403)
                self.assertEqual(server.request("PUT", "/v1/sites/b1", sites(), {"Telltale-Application": "app", "Origin": origin})[0], 403)
                # What a browser asks before it lets a page send a header of ours.
                status, fields, _ = server.request("OPTIONS", "/v1/reports", None, {"Origin": origin, "Access-Control-Request-Method": "POST"})
                self.assertEqual((status, [name for name in fields if name.lower().startswith("access-control")]), (405, []))
            self.assertEqual(sorted(self.store.rglob("*")), before)
            self.assertEqual(server.metric("reports_stored_total"), 0)

    def test_W6_pages_need_the_operator_s_token(self):
        with Server(self.store) as server:
            token = (self.store / "operator-token").read_text()
            self.assertRegex(token, r"\A[0-9a-f]{32}\n\Z")
            token = token.strip()
            status, fields, _ = server.request("GET", "/?token=" + token)
            self.assertEqual((status, fields["Location"]), (303, "/"))
            cookie, *rest = fields["Set-Cookie"].split("; ")
            self.assertEqual(rest, ["Path=/", "HttpOnly", "SameSite=Strict"])
            name = cookie.partition("=")[0]
            basic = base64.b64encode(f"me:{token}".encode()).decode()
            right = ({"Authorization": f"Bearer {token}"}, {"Authorization": f"Basic {basic}"}, {"Cookie": cookie}, {"Cookie": f"a=b; {cookie}; c"})
            nearly = token[:-1] + ("0" if token[-1] != "0" else "1")
            wrong = ({}, *({"Authorization": text} for text in ("Bearer", "Bearer ", token, f"Bearer {nearly}", f"Bearer {token[:-1]}", f"Bearer {token}0", "Bearer " + "0" * 32)),
                     *({"Cookie": text} for text in (f"{name}={nearly}", f"{name}=", name, f"x{cookie}", f"other={token}", f"x={cookie}", ";;", "=")))
            for path in ("/", "/metrics", "/?x=1"):
                for method in ("GET", "HEAD"):
                    for given in right:
                        self.assertEqual(server.request(method, path, None, given)[0], 200, (path, given))
                    for given in wrong:
                        status, fields, _ = server.request(method, path, None, given)
                        self.assertEqual((status, fields["WWW-Authenticate"], fields["Set-Cookie"]), (401, "Bearer", None), (path, given))
            for path in (f"/?token={nearly}", "/?token=", f"/?token={token}&x=1", f"/?x=1&token={token}", f"/metrics?token={token}"):
                self.assertEqual(server.request("GET", path)[0], 401, path)
            self.assertEqual(server.request("GET", "/healthz")[0], 200)
            self.assertEqual(server.metric("unauthorized_total"), 6 * len(wrong) + 5)
            self.assertNotIn(token, "".join(server.text))
        with Server(self.store, "--operator", "127.0.0.1:0") as server:
            self.assertEqual(server.token(), {"Authorization": f"Bearer {token}"}, "it stays")
            # A new one without a restart.
            (self.store / "operator-token").unlink()
            server.process.send_signal(signal.SIGHUP)
            while not any(event["event"] == "reloaded" for event in server.events):
                self.assertIsNone(server.process.poll())
                time.sleep(0.01)
            self.assertNotEqual(server.token(), {"Authorization": f"Bearer {token}"})

    def test_W6_the_operator_s_own_address_needs_the_token(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with Server(self.store, "--operator", f"127.0.0.1:{port}") as server:
            server.port = port
            for path in ("/", "/metrics"):
                self.assertEqual((server.request("GET", path)[0], server.see(path)[0]), (401, 200))
            self.assertEqual(server.request("GET", "/healthz")[0], 200)

    def test_W6_the_token_s_file_is_checked(self):
        with Server(self.store):
            pass
        path = self.store / "operator-token"
        token = path.read_text()
        for text, mode, told in (("", 0o600, "is not 32 hexadecimal digits"), ("x" * 32, 0o600, "is not 32"), (token + token, 0o600, "is not 32"), (token, 0o640, "chmod go="), (token, 0o604, "chmod go=")):
            path.write_text(text)
            path.chmod(mode)
            done = subprocess.run([TELLTALE, "collect", "--listen", "127.0.0.1:0", "--store", self.store], capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("operator-token", done.stderr)
            self.assertIn(told, done.stderr)

    def test_W6_only_the_terminal_is_told_the_link(self):
        controller, terminal = os.openpty()
        with open(controller, "rb", buffering=0) as told:
            process = subprocess.Popen([TELLTALE, "collect", "--listen", "127.0.0.1:0", "--store", self.store], stderr=terminal)
            os.close(terminal)
            text = b""
            while b"status page: " not in text or not text.endswith(b"\n"):
                if not select.select([told], [], [], 60)[0]:
                    break  # it is told nothing more
                text += told.read(4096)
            process.terminate()
            process.wait(60)
        self.assertRegex(text.decode(), r"telltale: status page: http://127\.0\.0\.1:[0-9]+/\?token=" + (self.store / "operator-token").read_text().strip())

    def test_W6_files_are_the_owner_s_alone(self):
        """Whatever the umask is, and whichever command wrote them."""
        with Server(self.store, wrapper=OPEN_UMASK) as server:
            self.assertEqual(server.request("PUT", "/v1/sites/b1", sites(), {"Telltale-Application": "app"})[0], 201)
            for run in range(20):
                self.assertEqual(server.post(f"run-{run:06}", telltale_status=run % 2)[0], 200)
        for words in (["store", "fold", self.store, "-q"], ["store", "delete", self.store, "--application", "app", "run-000003"], ["store", "info", self.store],
                      ["isolate", self.store, "--application", "app"]):
            done = subprocess.run([*OPEN_UMASK, TELLTALE, *words], capture_output=True, text=True)
            self.assertIn(done.returncode, (0, 1), done.stderr)
        found = [self.store, *self.store.rglob("*")]
        for kind in ("operator-token", "status.html", "*.parquet", "*.digest", "*.ids", "*.sites", "deleted", "*.lock"):
            self.assertTrue(any(path.match(kind) for path in found), kind)
        for path in found:
            self.assertEqual(oct(path.stat().st_mode & 0o7777), oct(0o700 if path.is_dir() else 0o600), path)

    @unittest.skipUnless(os.geteuid() == 0, "becomes another user")
    def test_W6_another_user_learns_nothing(self):
        os.chmod(self.folder, 0o755)
        with Server(self.store, wrapper=OPEN_UMASK) as server:
            server.post("run-000001")
            script = ("import encodings.idna, http.client, os, sys\n"
                      "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
                      "for path in ('/', '/metrics', '/healthz'):\n"
                      "    connection = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1])); connection.request('GET', path)\n"
                      "    print(connection.getresponse().status)\n"
                      "for name in ('operator-token', 'log', ''):\n"
                      "    try: print(os.listdir(os.path.join(sys.argv[2], name)) if name != 'operator-token' else open(os.path.join(sys.argv[2], name)).read())\n"
                      "    except PermissionError: print('denied')\n")
            done = subprocess.run([sys.executable, "-c", script, str(server.port), self.store], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stdout.split(), ["401", "401", "200", "denied", "denied", "denied"], done.stderr)

    def test_W7_paths_that_lead_elsewhere(self):
        (self.folder / "secret").write_text("planted-secret")
        paths = ["/..", "/../secret", "/./..", "/v1/../../secret", "/v1/sites/../../../secret", "/v1/sites/..", "/v1/sites/.", "/%2e%2e/secret", "/..%2fsecret", "/%2e%2e%2fsecret",
                 "/v1/sites/..%2f..%2fsecret", "/v1/sites/%2e%2e", "/%00", "/secret%00.html", "/v1/sites/b1%00", "/status.html", "/store.txt", "/log", "/log/", "/runs/", "/ids", "/deleted",
                 "/tmp", "/sites/app/b1.sites", "//", "///", "//secret", "/\\..\\secret", "/..\\secret", "/v1/sites/a/b", "/v1/sites/a%2fb", "/v1/sites/" + "x" * 129, "/" + "x" * 8192,
                 "/" + "../" * 2000 + "secret", "/;/..", "/.git/config", "/metrics/..", "/metrics/", "/healthz/", "/index.html", "/favicon.ico", "/v1//reports", "/%c0%ae%c0%ae/secret"]
        self.assertGreaterEqual(len(paths), 40)
        with Server(self.store) as server:
            server.post("run-000001")
            for path in paths:
                for method in ("GET", "PUT"):
                    answer = server.raw(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode())
                    self.assertEqual(answer[9:12], b"404", (method, path))
                    self.assertNotIn(b"planted-secret", answer)
            # Not a path at all.
            for path in ("", "secret", "http://evil.example/", "/\x00", "*"):
                answer = server.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                self.assertIn(answer[9:12], (b"400", b"404"), path)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["secret", "store"])


if __name__ == "__main__":
    unittest.main()
