"""What `telltale control` says when a program cannot be controlled, or a request cannot be done."""
import os
import pathlib
import shutil
import socket
import subprocess
import time
import unittest

from recorder_programs import TELLTALE, XRAY, build, new_folder
from test_control import Program, ask, events, raw_request, told


class Refusals(unittest.TestCase):
    def test_no_such_process(self):
        done = subprocess.Popen(["true"])
        done.wait()
        self.assertEqual(ask(done.pid, "status", status=3), f"telltale: process {done.pid} does not exist\n")

    def test_a_process_without_a_recorder(self):
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        try:
            self.assertEqual(ask(process.pid, "stop", status=3), f"telltale: process {process.pid} carries no XRay recorder\n")
        finally:
            process.stdin.close()
            process.wait()

    def test_a_process_that_has_not_started_its_program_yet(self):
        environment = {**os.environ, "RECORDER": str(XRAY), "TELLTALE_XRAY": f"file={new_folder()}/trace.xray,control=on"}
        late = subprocess.Popen(["sh", "-c", 'sleep 0.5; LD_PRELOAD=$RECORDER exec "$0"', build("obeys", "functions")],
                                env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        try:
            self.assertEqual(told(late.pid, "status")["mode"], "continuous")
        finally:
            late.stdin.close()
            late.wait(timeout=60)

    def test_a_process_that_does_not_listen(self):
        environment = {**os.environ, "TELLTALE_XRAY": "control=on"}
        process = subprocess.Popen(["sleep", "60"], env=environment)
        try:
            # execve() closes the descriptor that Popen() waits for before the process has its environment.
            while not pathlib.Path(f"/proc/{process.pid}/environ").read_bytes():
                time.sleep(0.01)
            self.assertIn(f"process {process.pid} carries the XRay recorder with its option control, but does not listen",
                          ask(process.pid, "status", status=3))
        finally:
            process.kill()
            process.wait()

    def test_a_recorder_without_control(self):
        with Program("functions", "control=off") as program:
            self.assertIn("carries the XRay recorder, but without its option control", ask(program.pid, "status", status=3))
            self.assertEqual(len(os.listdir(f"/proc/{program.pid}/task")), 1)

    def test_requests_that_cannot_be_done(self):
        with Program("functions") as program:
            program.tell("calls 1")
            self.assertIn("refuses: it records already", ask(program.pid, "start", status=3))
            told(program.pid, "stop")
            self.assertIn("refuses: it does not record", ask(program.pid, "stop", status=3))
            shutil.rmtree(program.place)
            self.assertIn("refuses: no file can be made", ask(program.pid, "start", status=3))
            self.assertEqual(told(program.pid, "status")["state"], "stopped")
            program.tell("calls 1")
            program.place.mkdir()
            path = told(program.pid, "start")["file"]
            program.tell("calls 2")
            self.assertEqual(program.end(), 0)
            self.assertEqual(events(path), 2)

    def test_wrong_options(self):
        for words in (["status", "--min", "1us"], ["stop", "--function", "a"], ["filter", "--min", "5"], ["filter", "--depth", "0"],
                      ["filter", "--function", "a[,]b"], ["pause"], []):
            with self.subTest(words=words):
                self.assertIn("telltale", ask(os.getpid(), *words, status=2))
        self.assertIn("PID", ask("x", "status", status=2))

    def test_another_version_of_the_protocol(self):
        with Program("functions") as program:
            answer = raw_request(program.pid, "telltale-control 2 status")
            self.assertEqual(answer, "telltale-control 1\nrefused\nreason this version of requests is not known\n")
            answer = raw_request(program.pid, "telltale-control 1 dance")
            self.assertEqual(answer, "telltale-control 1\nrefused\nreason this command is not known\n")
            answer = raw_request(program.pid, "telltale-control 1 filter size=4K")
            self.assertEqual(answer, "telltale-control 1\nrefused\nreason not an option: size=4K\n")

    def listen(self, answer):
        """This process answers as a recorder would."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(listener.close)
        listener.bind("\0telltale-control-%d-%s" % (os.getpid(), "0" * 16))
        listener.listen()
        asking = subprocess.Popen([TELLTALE, "control", str(os.getpid()), "status"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        listener.settimeout(60)
        connection, _ = listener.accept()
        with connection:
            self.assertEqual(connection.recv(8192), b"telltale-control 1 status")
            connection.send(answer)
        _, said = asking.communicate(timeout=60)
        self.assertEqual(asking.returncode, 3)
        return said

    def test_answers_that_are_not_understood(self):
        self.assertIn("speaks version 2 of the control protocol; this telltale speaks version 1", self.listen(b"telltale-control 2\nok\n"))

    def test_an_answer_of_somebody_else(self):
        self.assertIn("does not answer", self.listen(b"hello"))

    def test_a_name_that_another_process_took(self):
        """Names are free for all; only the process itself is believed."""
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
                listener.bind("\0telltale-control-%d-%s" % (process.pid, "0" * 16))
                listener.listen()
                self.assertIn("carries no XRay recorder", ask(process.pid, "status", status=3))
        finally:
            process.stdin.close()
            process.wait()

    def test_the_help_says_what_a_stop_does(self):
        done = subprocess.run([TELLTALE, "help", "control"], capture_output=True, text=True, check=True, timeout=60).stdout
        for word in ("status", "stop", "start", "snapshot", "filter"):
            self.assertIn(word + ":", done)


if __name__ == "__main__":
    unittest.main()
