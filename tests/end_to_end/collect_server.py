"""Starts `telltale collect`, sends reports, and reads the log of a store without telltale's code."""
import http.client
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import threading
import zlib

TELLTALE = os.environ["TELLTALE"]
UNIT = "0123456789abcdef0123456789abcdef"


def sites(rows=3, unit=UNIT):
    """Site information of one unit with branches."""
    lines = "".join(f"main.c\t{10 + row}\tmain\t{row}\tx > {row}\n" for row in range(rows))
    return f'<sites unit="{unit}" scheme="branches">\n{lines}</sites>\n'.encode()


def report(*counts, unit=UNIT):
    """A feedback report; counts are pairs (false, true) of each branch."""
    lines = "".join(f"{false}\t{true}\n" for false, true in counts or [(1, 0), (0, 2), (0, 0)])
    return f'<report id="samples">\n<samples unit="{unit}" scheme="branches">\n{lines}</samples>\n</report>\n'.encode()


def core_file(content=b""):
    """The least that is a core file."""
    return struct.pack("<4s4B8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 4, 62, 1, 0, 64, 0, 0, 64, 56, 0, 64, 0, 0) + content


def headers(report_id, **others):
    """The headers of the simple form; further ones as telltale_x or content_encoding."""
    fields = {"Telltale-Application": "app", "Telltale-Build": "b1", "Telltale-Report-Id": report_id}
    for name, value in others.items():
        name = "-".join(word.capitalize() for word in name.split("_"))
        if value is None:
            fields.pop(name, None)
        else:
            fields[name] = str(value)
    return fields


class Server:
    """A running server. `stop` ends it as an operator would, `kill` as a crash would."""

    def __init__(self, store, *options, listen="127.0.0.1:0", wrapper=(), env=None, fold_seconds=0, expect_ready=True):
        self.store = pathlib.Path(store)
        words = [*wrapper, TELLTALE, "collect", "--listen", listen, "--store", str(store), "--fold-seconds", str(fold_seconds), *map(str, options)]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, env={**os.environ, **(env or {})})
        self.events, self.text = [], []
        self.ready = threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if expect_ready:
            if not self.ready.wait(60) or not self.port:
                raise AssertionError(f"the server does not start: {self.text}")

    port = None

    def _read(self):
        for line in self.process.stderr:
            self.text.append(line.decode(errors="replace"))
            try:
                event = json.loads(line)
            except ValueError:
                continue
            self.events.append(event)
            if event["event"] == "ready":
                self.port = event["port"]
                self.ready.set()
        self.ready.set()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self.reader.join(10)
        self.process.stderr.close()
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(10)
        self.process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()

    def connect(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, body=None, fields=None, connection=None):
        """Status, headers and body of a response."""
        own = connection is None
        connection = connection or self.connect()
        try:
            connection.request(method, path, body, fields or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            if own:
                connection.close()

    def post(self, report_id, body=None, connection=None, **others):
        return self.request("POST", "/v1/reports", report() if body is None else body, headers(report_id, **others), connection)

    def token(self):
        """The header with the operator's token."""
        return {"Authorization": "Bearer " + (self.store / "operator-token").read_text().strip()}

    def link(self):
        """What a browser opens to see the status page."""
        return f"http://127.0.0.1:{self.port}/?token=" + (self.store / "operator-token").read_text().strip()

    def see(self, path, method="GET", fields=None):
        """A page of the operator, asked for with the token."""
        return self.request(method, path, None, {**self.token(), **(fields or {})})

    def metric(self, name):
        for line in self.see("/metrics")[2].decode().splitlines():
            if line.startswith(f"telltale_{name} "):
                return int(line.split()[-1])
        raise AssertionError(f"no metric {name}")

    def rss(self):
        """Resident memory in bytes: anonymous, so without the program's own pages."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no RssAnon")

    def raw(self, data, shut=True, timeout=30):
        """Sends bytes, and reads until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as connection:
            try:
                connection.sendall(data)
                if shut:
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # the server may answer before it has read everything
            answer = b""
            while True:
                try:
                    piece = connection.recv(65536)
                except ConnectionResetError:
                    return answer
                if not piece:
                    return answer
                answer += piece


def entries_of(segment):
    """The payloads of a segment, up to the first damage."""
    data = pathlib.Path(segment).read_bytes()
    assert data[:16] == b"telltale log 1\n\0" or not data, segment
    at, payloads = 16, []
    while at + 16 <= len(data):
        magic, size, checksum, head = struct.unpack_from("<4sIII", data, at)
        if magic != b"TTr\x01" or zlib.crc32(data[at:at + 12]) != head:
            break
        payload = data[at + 16:at + 16 + size]
        if len(payload) != size or zlib.crc32(payload) != checksum:
            break
        payloads.append(payload)
        at += 16 + size
    return payloads


def stored_in_log(store):
    """The reports in the log: dictionaries, in order; those of several segments with one id are all there."""
    reports = []
    for segment in sorted((pathlib.Path(store) / "log").glob("*.log")):
        for payload in entries_of(segment):
            version, received, label, status, seconds, sparsity, has_seed, seed = struct.unpack_from("<BQBidQBQ", payload)
            assert version in (1, 2), version
            at, texts = struct.calcsize("<BQBidQBQ"), []
            paths_bytes = 0
            if version == 2:
                (paths_bytes,) = struct.unpack_from("<Q", payload, at)
                at += 8
            while at < len(payload):
                (size,) = struct.unpack_from("<I", payload, at)
                texts.append(payload[at + 4:at + 4 + size])
                at += 4 + size
            keys = ["application", "build", "id", "rule", "signal", "started", "version"]
            row = {key: text.decode() for key, text in zip(keys, texts)}
            row.update(received_us=received, label=["passed", "failed", "skipped"][label], status=None if status == -1 else status,
                       seconds=seconds, sparsity=sparsity, seed=seed if has_seed else None, content_hash=texts[7],
                       encoding=texts[8].decode(), body=texts[9])
            if version == 2:
                row["paths_bytes"] = paths_bytes
            reports.append(row)
    return reports
