"""Reports wait in a folder and are sent: TELLTALE_COLLECT, `telltale send`, `telltale run --collect`. Consent, and what is never sent."""
import gzip
import json
import os
import pathlib
import pty
import random
import re
import signal
import subprocess
import tempfile
import time
import unittest

from collect_server import TELLTALE, Server, stored_in_log
from parquet_reader import read_runs
from sampler_programs import RELEASES, SOURCE_DIR, build
from send_case import DEAD, FakeServer, SendCase
from study_case import PROGRAMS, SCHEMES

STOCK = SOURCE_DIR / "examples/stock/stock.c"


class SendTest(SendCase):
    @classmethod
    def setUpClass(cls):
        cls.keeper = tempfile.TemporaryDirectory(prefix="telltale-send-")
        cls.addClassCleanup(cls.keeper.cleanup)
        cls.programs = pathlib.Path(cls.keeper.name) / "planted-home"
        cls.programs.mkdir()
        cls.ending = build(cls.programs / "ending", RELEASES[-1], "-g", "-O1", *SCHEMES, PROGRAMS / "ending.c")
        cls.stock = build(cls.programs / "stock", RELEASES[-1], "-g", "-O1", "-frelative-paths", "-ftimestamp-first", *SCHEMES, "stock.c", cwd=STOCK.parent)

    def test_the_wait_belongs_to_the_server_that_failed(self):
        """A URL was wrong: with the right one, nothing is kept back."""
        words = ("--spool", self.spool, "--", self.ending, 3)
        self.telltale("run", "--collect", DEAD, *words)
        for _ in range(600):  # the first attempt is that of another process
            if (self.spool / "retry").exists():
                break
            time.sleep(0.05)
        done = self.telltale("run", "--collect", DEAD + "/", *words)  # the same server
        self.assertRegex(done.stderr, rf"2 reports kept back until .* UTC, because an attempt to send to {DEAD} failed; now: telltale send {self.spool} --to {DEAD}/\n")
        self.assertNotIn("kept back", self.telltale("run", "-q", "--collect", DEAD, *words).stderr)
        self.assertEqual(len(self.waiting()), 3)
        with Server(self.store) as server:
            done = self.telltale("run", "--collect", f"http://127.0.0.1:{server.port}", *words)
            self.assertNotIn("kept back", done.stderr)
            for _ in range(600):
                if not self.waiting():
                    break
                time.sleep(0.05)
            self.assertEqual(self.waiting(), [])

    def test_crashes_while_offline_explain_themselves_later(self):
        for number in range(150):
            self.spooled(self.stock, number, SAMPLER_SEED=number)
        ids = self.waiting()
        self.assertEqual(len(ids), 150)
        done = self.send(DEAD)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("0 reports sent, 150 left", done.stderr)
        self.assertIn("next attempt in", done.stderr)
        done = self.send(DEAD, "--if-due")  # the first wait has begun
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^telltale: 150 reports kept back until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, because an attempt to send to "
                         rf"{DEAD} failed; now: telltale send {self.spool} --to {DEAD}\n$")
        self.assertEqual(self.send(DEAD, "--if-due", "--quiet").stderr, "")
        self.assertEqual(self.waiting(), ids)
        rng = random.Random(7)
        kills = 0
        for attempt in range(40):
            with Server(self.store) as server:
                sender = subprocess.Popen([TELLTALE, "send", str(self.spool), "--to", f"http://127.0.0.1:{server.port}"], env=self.environment(),
                                          stderr=subprocess.DEVNULL)
                enough = len(self.waiting()) - rng.choice((0, 1, 2, 5, 10))
                while sender.poll() is None and len(self.waiting()) > enough:
                    time.sleep(0.0005)
                kills += sender.poll() is None
                if attempt % 2:
                    sender.kill()
                server.kill()
                sender.kill()
                sender.wait()
            if not self.waiting():
                break
        self.assertGreater(kills, 2)
        with Server(self.store) as server:
            done = self.send(f"http://127.0.0.1:{server.port}")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.waiting(), [])
        self.assertFalse((self.spool / "retry").exists() and (self.spool / "retry").read_text().split()[0] != "0")
        for words in (("sites", self.store, "--application", "stock", self.stock), ("fold", self.store)):
            done = self.telltale("store", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
        rows = read_runs(self.store, ["id", "label", "signal", "status", "application", "version"])
        self.assertEqual(sorted(row["id"] for row in rows), ids)  # each once
        self.assertEqual({row["application"] for row in rows}, {"stock"})
        done = self.telltale("run", "-q", "--study", self.folder / "study", "--times", 150, "--jobs", 2, "--", self.stock, "{}")
        self.assertEqual(done.returncode, 0, done.stderr)
        top = [json.loads(self.telltale("isolate", source, "--json").stdout)["rows"][0] for source in (self.store, self.folder / "study")]
        self.assertEqual([(row["function"], row["line"]) for row in top][:1] * 2, [(row["function"], row["line"]) for row in top])
        document = json.loads(self.telltale("isolate", self.store, "--program", self.stock, "--json").stdout)
        self.assertIn(top[0]["function"], json.dumps(document["clusters"]))

    def test_endings(self):
        for how, expected in (("0", (0, "", "passed")), ("3", (3, "", "failed")), ("abort", (None, "SIGABRT", "failed")),
                              ("fault", (None, "SIGSEGV", "failed")), ("term", (None, "SIGTERM", "skipped"))):
            with self.subTest(how), FakeServer() as fake:
                done = self.spooled(self.ending, how)
                self.assertEqual(done.returncode, expected[0] if expected[0] is not None else -getattr(signal, expected[1]))
                self.assertEqual(done.stdout, "2\n")
                (name,) = self.waiting()
                text = (self.spool / f"{name}.report").read_text()
                self.assertEqual((self.spool / f"{name}.report").stat().st_mode & 0o777, 0o600)
                done = self.send(fake.url)
                self.assertEqual(done.returncode, 0, done.stderr)
                ((path, fields, _),) = fake.requests
                self.assertEqual(path, "/v1/reports")
                self.assertEqual((fields.get("Telltale-Status"), fields.get("Telltale-Signal"), fields["Telltale-Label"]),
                                 (None if expected[0] is None else str(expected[0]), expected[1] or None, expected[2]))
                self.assertEqual((fields["Telltale-Application"], fields["Telltale-Sparsity"], fields["Telltale-Report-Id"]), ("ending", "1", name))
                noted = subprocess.run(["file", "-b", str(self.ending)], capture_output=True, text=True).stdout
                self.assertIn(f"={fields['Telltale-Build']},", noted)
                self.assertLess(abs(time.time() - time.mktime(time.strptime(fields["Telltale-Started"], "%Y-%m-%dT%H:%M:%SZ")) + time.timezone), 3600)
                self.assertRegex(text, r'^<report id="run">\n')
                self.assertRegex(text, r'seconds \d+\.\d{3}\n</report>\n$')
                self.assertEqual(self.waiting(), [])

    def test_ends_that_the_program_does_not_see(self):
        self.spooled(self.ending, "kill")
        self.assertEqual(list(self.spool.iterdir()), [])
        self.spooled(self.ending, "_exit")
        (name,) = self.waiting()
        (self.spool / f"{name}.report").rename(self.spool / f"{name}.part")  # as if SIGKILL had come just before
        self.spooled(self.ending, "fork")  # parent and child
        statuses = {re.findall(r"^status (\d+)$", path.read_text(), re.M)[0] for path in self.spool.glob("*.report")}
        self.assertEqual(statuses, {"5", "6"})
        for path in self.spool.glob("*.report"):
            path.rename(path.with_suffix(".part"))
            os.utime(path.with_suffix(".part"), (time.time() - 3 * 86400,) * 2)
        done = self.send(DEAD)
        self.assertIn("2 given up", done.stderr)
        self.assertEqual(len(list(self.spool.glob("*.part"))), 1)

    def test_the_program_is_not_harmed(self):
        plain = subprocess.run([self.ending, "3"], env=self.environment(), capture_output=True, text=True, timeout=60)
        full = self.folder / "full"
        full.mkdir()
        for number in range(1000):
            (full / f"{number:032}.report").touch()
        for folder in (self.folder / "missing", full, "relative", "", "off", self.ending, "/proc/self/fd"):
            done = self.spooled(self.ending, 3, TELLTALE_COLLECT=folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (plain.returncode, plain.stdout, plain.stderr), folder)
        self.assertEqual(len(list(full.iterdir())), 1000)
        other = self.folder / "other.report"
        self.spooled(self.ending, 3, SAMPLER_FILE=other)  # its own wish comes first
        self.assertTrue(other.exists())
        self.assertEqual(list(self.spool.iterdir()), [])

    def test_C13_what_could_name_the_user_is_not_sent(self):
        self.spooled(self.ending, "fault", "planted-argument", PLANTED_VARIABLE="planted-value")
        (name,) = self.waiting()
        path = self.spool / f"{name}.report"
        path.write_text(path.read_text() + 'planted-line\n<report id="planted-part">\nplanted-text\n</report>\n')
        self.assertIn("planted-home/ending", path.read_text())
        kept = path.read_bytes()
        with Server(self.store) as server:
            url = f"http://127.0.0.1:{server.port}"
            self.assertEqual(self.send(url).returncode, 0)
            (stored,) = stored_in_log(self.store)
            body = gzip.decompress(stored["body"]).decode()
            self.assertNotIn("planted", body)
            self.assertNotIn(str(self.folder.parent), body)
            self.assertRegex(body, r'<report id="main-backtrace">\n(.*\n)*ending\(')
            self.assertIn('scheme="branches"', body)
            (self.spool / "unredacted-1.report").write_bytes(kept)
            self.assertEqual(self.send(url, "--unredacted").returncode, 0)
            body = gzip.decompress(stored_in_log(self.store)[1]["body"]).decode()
        self.assertIn("planted-home/ending", body)
        self.assertIn("planted-text", body)
        self.assertNotIn("planted-argument", body)

    def wait_for_senders(self):
        """Until no process of this spool is left: those that `run --collect` starts outlive it."""
        def names_spool(process):
            try:
                return os.fsencode(self.spool) in (process / "cmdline").read_bytes()
            except OSError:  # it has ended
                return False
        while any(names_spool(path) for path in pathlib.Path("/proc").glob("[0-9]*")):
            time.sleep(0.01)

    def test_off_means_off(self):
        for text, kept in (("* off\n", 0), ("ending off\n* on\n", 0), ("# comment\n\nending on\n* off\n", 1), ("other off\n", 1), ("ending maybe\n", 0)):
            with self.subTest(text):
                self.consent(text)
                self.spooled(self.ending, 1)
                self.assertEqual(len(self.waiting()), kept)
                done = self.telltale("run", "--collect", DEAD, "--spool", self.spool, "--", self.ending, 3)
                # An earlier attempt to send to DEAD has failed.
                said = re.sub(r"^telltale: 2 reports kept back until .*\n", "", done.stderr) if kept else done.stderr
                self.assertEqual((done.returncode, done.stdout, said), (3, "2\n", ""))
                self.assertEqual(len(self.waiting()), 2 * kept)
                for path in self.spool.glob("*.report"):
                    path.unlink()
        self.consent("* on\n")
        self.wait_for_senders()  # they would remove the report as well
        self.spooled(self.ending, 1)
        self.consent("* off\n")
        with FakeServer() as fake:
            done = self.send(fake.url)
            self.assertIn("1 removed without consent", done.stderr)
            self.assertEqual(fake.requests, [])
        self.assertEqual(self.waiting(), [])
        self.consent("* on\n")
        environment = self.environment(TELLTALE_COLLECT="off")
        done = self.telltale("run", "--collect", DEAD, "--spool", self.spool, "--", self.ending, 3, env=environment)
        self.assertEqual((done.returncode, self.waiting()), (3, []))

    def test_a_consent_that_cannot_be_read_is_off(self):
        """A folder of that name, since tests may run as root."""
        self.spooled(self.ending, 1)
        path = self.home / ".config/telltale/collect"
        path.mkdir(parents=True)
        self.spooled(self.ending, 1)
        self.assertEqual(len(self.waiting()), 1)
        done = self.telltale("run", "--collect", DEAD, "--spool", self.spool, "--", self.ending, 3)
        self.assertEqual((done.returncode, done.stdout), (3, "2\n"))
        self.assertIn(f"not reported: {path}", done.stderr)
        with FakeServer() as fake:
            done = self.send(fake.url)
            self.assertEqual((done.returncode, fake.requests), (3, []), done.stderr)
        self.assertIn(str(path), done.stderr)
        self.assertEqual(len(self.waiting()), 1)

    def ask(self, answer):
        """Runs the program with --ask on a terminal; returns its exit status and what the terminal showed."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(TELLTALE, [TELLTALE, "run", "--collect", DEAD, "--ask", "--spool", str(self.spool), "--", str(self.ending), "3"], self.environment())
        shown = b""
        answered = False
        try:
            while piece := os.read(terminal, 4096):
                shown += piece
                if not answered and b"ne[v]er: " in shown:
                    os.write(terminal, answer.encode() + b"\n")
                    answered = True
        except OSError:
            pass  # the terminal's last process has ended
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()

    def test_asking(self):
        done = self.telltale("run", "--collect", DEAD, "--ask", "--spool", self.spool, "--", self.ending, 3, start_new_session=True)
        self.assertEqual((done.returncode, self.waiting()), (3, []))  # nobody to ask
        config = self.home / ".config/telltale/collect"
        for answer, count in (("n", 0), ("", 0), ("y", 1)):
            self.assertEqual(self.ask(answer)[0], 3)
            self.assertEqual((len(self.waiting()), config.exists()), (count, False), answer)
        status, shown = self.ask("always")
        self.assertEqual((status, len(self.waiting()), config.read_text()), (3, 2, "ending on\n"))
        self.assertIn("127.0.0.1:1", shown)
        self.assertNotIn("Send a report", self.ask("n")[1])
        self.assertEqual(len(self.waiting()), 3)
        config.unlink()
        self.ask("v")
        self.assertEqual((len(self.waiting()), config.read_text()), (3, "ending off\n"))

    def test_run_sends_in_the_background(self):
        with Server(self.store) as server:
            words = ("run", "--collect", f"http://127.0.0.1:{server.port}", "--sparsity", 1, "--release", "2.0-rc1", "--", self.ending)
            temporary = self.folder / "temporary"  # its own: other tests run beside this one
            temporary.mkdir()
            environment = self.environment(TMPDIR=temporary)
            self.assertEqual(self.telltale(*words, 3, env=environment).returncode, 3)
            self.assertEqual(self.telltale(*words, "kill", env=environment).returncode, -9)
            usual = self.home / ".local/state/telltale/spool"
            for _ in range(600):
                if not list(usual.glob("*.report")):
                    break
                time.sleep(0.1)
            stored = stored_in_log(self.store)
        self.assertEqual([(row["status"], row["signal"], row["label"], row["rule"], row["sparsity"], row["version"]) for row in stored],
                         [(3, "", "failed", "status", 1, "2.0-rc1"), (None, "SIGKILL", "failed", "signal", 1, "2.0-rc1")])
        self.assertEqual(usual.stat().st_mode & 0o777, 0o700)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_runs_of_a_study_are_labelled_by_its_rules(self):
        done = self.telltale("run", "-q", "--study", self.folder / "study", "--times", 4, "--label", "test $TELLTALE_STATUS -lt 3", "--collect", DEAD, "--spool", self.spool,
                             "--", self.ending, "{}")
        self.assertEqual(done.returncode, 0, done.stderr)
        texts = [path.read_text() for path in self.spool.glob("*.report")]
        found = sorted(tuple(re.findall(r"^(?:status|label|rule) (.*)$", text, re.M)) for text in texts)
        self.assertEqual(found, [("1", "passed", "command"), ("2", "passed", "command"), ("3", "failed", "command"), ("4", "failed", "command")])
        self.assertEqual(len(list((self.folder / "study/reports").iterdir())), 4)

    def test_replies(self):
        for number in range(3):
            self.spooled(self.ending, number)
        kept = len(self.waiting())
        for status, fields in ((401, {}), (408, {}), (421, {}), (429, {"Retry-After": "700"}), (500, {}), (503, {"Retry-After": "1"}), (302, {})):
            with self.subTest(status), FakeServer((status, fields, "why\nnot")) as fake:
                done = self.send(fake.url)
                self.assertEqual((done.returncode, len(self.waiting()), len(fake.requests)), (1, kept, 1), done.stderr)
                self.assertIn(f"{status} why;", done.stderr)
                if status == 429:
                    self.assertIn("next attempt in 700 s", done.stderr)
        with FakeServer((400, {}, "wrong"), (409, {}, "other"), (415, {}, "gzip?")) as fake:
            done = self.send(fake.url, "--token-file", self.file("token", "secret-token\n"))
            self.assertEqual(done.returncode, 1)
            self.assertIn("refused by the server: 400 wrong", done.stderr)
            self.assertIn("1 report sent, 2 refused", done.stderr)
            self.assertEqual([request[1].get("Content-Encoding") for request in fake.requests], ["gzip", "gzip", "gzip", None])
            self.assertEqual({request[1]["Authorization"] for request in fake.requests}, {"Bearer secret-token"})
        self.assertEqual(self.waiting(), [])

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_keeps_trying(self):
        self.spooled(self.ending, 1)
        with FakeServer((503, {}, ""), (503, {}, ""), (200, {}, '{"duplicate":true}')) as fake:
            done = self.send(fake.url, "--keep-trying", "1h", "--first-wait", 1)
            self.assertEqual((done.returncode, len(fake.requests)), (0, 3), done.stderr)
        self.assertEqual(self.waiting(), [])

    def test_the_server_chooses_the_sparsity(self):
        self.spooled(self.ending, 1)
        with FakeServer((200, {"Telltale-Sparsity": "7"}, '{"duplicate":false}')) as fake:
            self.send(fake.url)
        environment = self.environment(TELLTALE_COLLECT=self.spool)
        subprocess.run([self.ending, "1"], env=environment, capture_output=True, timeout=60)
        self.telltale("run", "--collect", DEAD, "--spool", self.spool, "--", self.ending, 3)
        self.assertEqual([re.findall(r"^sparsity (.*)$", path.read_text(), re.M) for path in self.spool.glob("*.report")], [["7"], ["7"]])
        (wish,) = (self.spool / "sparsity").iterdir()
        wish.write_text("0\n")  # the switch for all
        subprocess.run([self.ending, "1"], env=environment, capture_output=True, timeout=60)
        self.assertEqual(self.telltale("run", "--collect", DEAD, "--spool", self.spool, "--", self.ending, 3).returncode, 3)
        self.assertEqual(len(self.waiting()), 2)
        wish.write_text("garbage\n")
        subprocess.run([self.ending, "1"], env=environment, capture_output=True, timeout=60)
        self.assertEqual({*re.findall(r"^sparsity (.*)$", "".join(path.read_text() for path in self.spool.glob("*.report")), re.M)}, {"7", "100"})

    def test_gives_up_what_is_old_or_too_much(self):
        for number in range(4):
            self.spooled(self.ending, number)
        names = self.waiting()
        for age, name in enumerate(names):
            os.utime(self.spool / f"{name}.report", (time.time() - (40 - age) * 86400 + 3600,) * 2)
        self.assertIn("1 given up", self.send(DEAD, "--give-up-days", 39).stderr)
        size = (self.spool / f"{names[3]}.report").stat().st_size
        self.assertIn("2 given up", self.send(DEAD, "--give-up-days", 3000, "--max-bytes", size).stderr)
        self.assertEqual(self.waiting(), [names[3]])
        for name in ("damaged0", "damaged1", "damaged2"):
            self.file(f"spool/{name}.report", {"damaged0": "", "damaged1": "\0" * 100, "damaged2": '<report id="run">\napplication ../x\n</report>\n<report id="outcome">\n</report>\n'}[name])
        with FakeServer() as fake:
            done = self.send(fake.url, "--give-up-days", 3000)
            self.assertEqual((done.returncode, len(fake.requests), self.waiting()), (1, 1, []))
            self.assertIn("3 unreadable", done.stderr)

    def test_C14_tls(self):
        certificate, key, other = (self.folder / name for name in ("certificate.pem", "key.pem", "other.pem"))
        for out, name in ((other, "DNS:elsewhere.example"), (certificate, "IP:127.0.0.1")):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-addext", f"subjectAltName={name}", "-days", "2",
                            "-keyout", key if out == certificate else self.folder / "other.key", "-out", out], check=True, capture_output=True)
        self.spooled(self.ending, 1)
        for pem, pem_key, trusted, sent in ((certificate, key, None, False), (certificate, key, other, False), (other, self.folder / "other.key", other, False),
                                            (certificate, key, certificate, True)):
            with Server(self.store, "--certificate", pem, "--key", pem_key) as server:
                done = self.send(f"https://127.0.0.1:{server.port}", *(["--authorities", trusted] if trusted else []))
                self.assertEqual(done.returncode, 0 if sent else 1, done.stderr)
        self.assertEqual(len(stored_in_log(self.store)), 1)
        self.assertIn("https", self.send("http://reports.example").stderr)
        self.assertEqual(self.send("http://reports.example").returncode, 2)

    def wait_for_lock(self, name):
        """Waits until a process holds the lock. It reads the kernel's list: a process that tried to take the lock could get it first."""
        path = self.spool / name
        for _ in range(1000):
            if path.exists() and re.search(rf":{path.stat().st_ino} ", pathlib.Path("/proc/locks").read_text()):
                return
            time.sleep(0.01)
        self.fail(f"nobody holds {name}")

    def test_one_sender_at_a_time(self):
        self.spooled(self.ending, 1)
        holder = subprocess.Popen(["flock", self.spool / "send.lock", "sleep", "100"])
        try:
            self.wait_for_lock("send.lock")
            done = self.send(DEAD)
            self.assertEqual(done.returncode, 2)
            self.assertIn("another process", done.stderr)
            queued = subprocess.Popen([TELLTALE, "send", self.spool, "--to", DEAD, "--if-due", "-q"], env=self.environment())
            self.wait_for_lock("send.next")
            self.assertIsNone(queued.poll())
            self.assertEqual(self.send(DEAD, "--if-due").returncode, 2)  # the first one will send everything
        finally:
            subprocess.run(["pkill", "-P", str(holder.pid)])
            holder.wait()
        self.assertEqual(queued.wait(60), 1)
        self.assertTrue((self.spool / "retry").exists())


if __name__ == "__main__":
    unittest.main()
