#!/usr/bin/env python3
"""`telltale collect` under load: 1,000 reports of 50 KB a second on cores shared with the clients, 10,000 open connections, at most 256 MiB.

Usage: collect_load_bench [SECONDS]

Clients send at 1,000 reports a second in all, and then as fast as they can. Every reply is checked; at the end the store is folded and
every report counted. Times of replies are those that clients see. The disk is that of $TMPDIR.
"""
import json
import multiprocessing
import os
import pathlib
import random
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

TELLTALE = pathlib.Path(os.path.abspath(sys.argv[0])).parent / "telltale"
RATE, SIZE, CLIENTS, IDLE = 1000, 50000, 4, 10000
UNIT = "0123456789abcdef0123456789abcdef"


def make_report(number):
    rng = random.Random(number)
    rows, size = [], 0
    while size < SIZE - 150:
        rows.append(f"{rng.randrange(10) if rng.random() < 0.2 else 0}\t{rng.randrange(10) if rng.random() < 0.2 else 0}\n")
        size += len(rows[-1])
    return f'<report id="samples">\n<samples unit="{UNIT}" scheme="branches">\n{"".join(rows)}</samples>\n</report>\n'.encode()


def send(port, client, seconds, rate, results):
    """Sends reports over one connection: `rate` a second, or without a pause if it is 0."""
    bodies = [make_report(client * 100 + number) for number in range(8)]
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times, begin = [], time.monotonic()
    while time.monotonic() - begin < seconds:
        number = len(times)
        if rate and (ahead := begin + number / rate - time.monotonic()) > 0:
            time.sleep(ahead)
        body = bodies[number % len(bodies)]
        head = (f"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nTelltale-Application: app\r\nTelltale-Build: b1\r\n"
                f"Telltale-Report-Id: load-{rate:.0f}-{client}-{number:08}\r\nContent-Length: {len(body)}\r\n\r\n")
        start = time.monotonic()
        connection.sendall(head.encode() + body)
        answer = connection.recv(65536)
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        times.append(time.monotonic() - start)
    results.put(times)


def status(process, key):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) / 1024
    return 0


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(port, process, seconds, rate):
    results, before = multiprocessing.Queue(), cpu_seconds(process)
    clients = [multiprocessing.Process(target=send, args=(port, client, seconds, rate / CLIENTS, results)) for client in range(CLIENTS)]
    begin = time.monotonic()
    for client in clients:
        client.start()
    times = sorted(t for _ in clients for t in results.get(timeout=seconds + 60))  # a client that failed gives none
    for client in clients:
        client.join()
    took = time.monotonic() - begin
    print(f"{'at %d a second' % rate if rate else 'without a pause'}: {len(times) / seconds:.0f} reports a second of {SIZE} bytes; "
          f"replies: median {times[len(times) // 2] * 1000:.1f} ms, 99 % {times[len(times) * 99 // 100] * 1000:.1f} ms; "
          f"server {(cpu_seconds(process) - before) / took:.2f} cores, peak {status(process, 'VmHWM:'):.0f} MiB")
    return len(times)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    folder = tempfile.mkdtemp(prefix="telltale-load-")
    try:
        process = subprocess.Popen([TELLTALE, "collect", "--listen", "127.0.0.1:0", "--store", f"{folder}/store", "--fold-seconds", "0"],
                                   stderr=subprocess.PIPE)
        port = json.loads(process.stderr.readline())["port"]
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(min(IDLE, hard - 100))]
        print(f"{len(idle)} connections: {status(process, 'RssAnon:'):.0f} MiB")
        sent = load(port, process, seconds, RATE) + load(port, process, seconds / 2, 0)
        for connection in idle:
            connection.close()
        process.terminate()
        assert process.wait() == 0
        begin = time.monotonic()
        subprocess.run([TELLTALE, "store", "fold", f"{folder}/store", "-q"], check=True)
        took = time.monotonic() - begin
        info = json.loads(subprocess.run([TELLTALE, "store", "info", f"{folder}/store", "--json"], check=True, capture_output=True).stdout)
        assert info["rows"][0]["runs"] == sent, (info, sent)
        print(f"folded: {sent} reports, {sent / took:.0f} a second")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
