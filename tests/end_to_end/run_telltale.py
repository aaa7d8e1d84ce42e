"""Runs telltale, also on a terminal; and the stored recording of examples/orders, which many tests ask."""
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios
import time

TELLTALE = os.environ["TELLTALE"]
ORDERS = os.path.join(os.environ["TELLTALE_SOURCE_DIR"], "examples", "orders")
RECORDING = [os.path.join(ORDERS, "orders.yaml"), "--program", os.path.join(ORDERS, "orders-map.yaml")]


def run(*words, status=0):
    done = subprocess.run([TELLTALE, *map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done


def document(*words):
    return json.loads(run(*words, "--json").stdout)


def on_terminal(columns, *words, **environment):
    """What telltale prints on a terminal of this width."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "xterm", "PAGER": "cat", **environment})
        os.environ.pop("NO_COLOR", None) if "NO_COLOR" not in environment else None
        time.sleep(0.1)  # until the width is set
        os.execv(TELLTALE, ["telltale", *words])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    text = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            block = os.read(terminal, 65536)
        except OSError:
            break
        if not block:
            break
        text += block
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, text
    return text.decode().replace("\r\n", "\n")
