"""Rows D10 and D11 (names open no file and are printed unchanged and harmless) and D13 (determinism) of the reliability
goals."""
import csv
import io
import json
import os
import random
import shutil
import subprocess
import unittest

import slow_xray
from reliability import CONTROL, Case, reading_commands, verbs
from slow_xray import ENTER, EXIT
from xray_recorder import TELLTALE, telltale, without_address_randomisation


class Names(Case):
    # --- D10, D11

    def test_d11_names_arrive_unchanged_and_harmless(self):
        program, trace = self.hostile_program()
        rows = json.loads(telltale("top", "--json", "--sort", "id", "--program", program, trace).stdout)["rows"]
        self.assertEqual([row["function"] for row in rows], self.NAMES)
        text = telltale("top", "--csv", "--sort", "id", "--program", program, trace).stdout.decode()
        cells = [row["function"] for row in csv.DictReader(io.StringIO(text, newline=""))]
        for cell, name in zip(cells, self.NAMES, strict=True):
            self.assertIn(cell, (name, "'" + name))
            self.assertNotIn(cell[0], "=+-@\t\r", name)
        for words in (["top"], ["info"], ["dump"], ["check"], ["sites"], ["stacks"]):
            if words[0] not in verbs():
                continue
            files = [program] if words == ["sites"] else ["--program", program, trace]
            done = telltale(*words, *files, check=False)
            self.assertIn(done.returncode, (0, 1), (words, done.stderr))
            for output in (done.stdout, done.stderr):
                self.assertFalse(CONTROL & set(output), words)
                self.assertNotIn("\u202e", output.decode(), words)
        for line in telltale("dump", "--json", trace).stdout.splitlines():
            json.loads(line)

    def test_d11_any_payload_survives_yaml(self):
        """Regression: unescaped control bytes next to spaces made the YAML unreadable."""
        for payload in (b" \0\nx\x1b ", b"' ", b" \xff", b"\n", "\u202e\u2028".encode(), b"- { a: b }", b"\r\n "):
            writer = slow_xray.Writer(5)
            writer.buffer(1, 1, 0, 5)
            writer.function(ENTER, 1, 1)
            writer.custom(payload, 0, 1)
            writer.function(EXIT, 1, 1)
            text = os.path.join(self.folder, "payload.yaml")
            again = os.path.join(self.folder, "payload.fdr")
            telltale("convert", "--to", "llvm-xray-yaml", "-o", text, self.write("payload", writer.bytes()))
            telltale("convert", "--to", "fdr5", "-o", again, text)
            with open(again, "rb") as file:
                (thread,) = slow_xray.Trace(file.read()).threads.values()
            self.assertEqual([event[3] for event in thread.events() if event[1] == "custom"], [payload])

    def test_d11_file_names_on_the_command_line(self):
        data = slow_xray.random_fdr(random.Random(3), 5)
        for name in (b"\x1b]0;owned\x07.fdr", b"new\nline", b"\xff\xfe", "\u202e".encode()):
            path = os.path.join(self.folder.encode(), name)
            with open(path, "wb") as file:
                file.write(data[:-3])
            for words in (["info"], ["top"], ["dump"], ["info", "--json"]):
                done = subprocess.run([TELLTALE.encode(), *(word.encode() for word in words), path], capture_output=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                for output in (done.stdout, done.stderr):
                    self.assertFalse(CONTROL & set(output), (name, words))
                    output.decode()  # valid UTF-8
            missing = subprocess.run([TELLTALE.encode(), b"top", path + b".missing"], capture_output=True)
            self.assertEqual(missing.returncode, 3)
            self.assertFalse(CONTROL & set(missing.stderr), name)

    def test_d10_names_open_no_file(self):
        if not shutil.which("strace"):
            self.fail("strace is needed")
        program, trace = self.hostile_program()
        inside = os.path.join(self.folder, "outputs")
        os.makedirs(inside, exist_ok=True)
        for words in reading_commands(inside) + [["sites", program]]:
            log = os.path.join(self.folder, "strace")
            command = [TELLTALE, *(trace if word == "@" else word for word in words)]
            if "@" in words:
                command[2:2] = ["--program", program]
            done = subprocess.run(["strace", "-f", "-qq", "-e", "trace=file", "-e", "signal=none", "-o", log, *command],
                                  capture_output=True, timeout=120)
            self.assertIn(done.returncode, (0, 1), (words, done.stderr))
            with open(log, errors="replace") as lines:
                for line in lines:
                    self.assertNotIn("telltale-evil", line, words)
                    writes = any(flag in line for flag in ("O_WRONLY", "O_RDWR", "O_CREAT")) or any(
                        call in line for call in (" creat(", "rename", "unlink", "link(", "mkdir", "mknod", "chmod"))
                    if writes and "readlink" not in line:
                        allowed = inside in line or "O_TMPFILE" in line or "/dev/null" in line
                        self.assertTrue(allowed, (words, line))
            self.assertFalse(os.path.exists("/tmp/telltale-evil"))

    # --- D13

    def test_d13_the_same_bytes_whatever_the_surroundings(self):
        data = slow_xray.random_fdr(random.Random(13), 5, calls=3000)
        path = self.write("same", data)
        surroundings = [
            {"jobs": "1"}, {"jobs": "2"}, {"jobs": "2"},
            {"jobs": "2", "env": dict(os.environ, TZ="Asia/Tokyo", LC_ALL="C")},
            {"jobs": "1", "env": dict(os.environ, TZ="America/New_York", LC_ALL="de_DE.UTF-8")},
            {"jobs": "2", "preexec_fn": without_address_randomisation},
        ]
        for words in reading_commands(self.folder):
            seen = set()
            for how in surroundings:
                how = dict(how)
                arguments = [path if word == "@" else word for word in words]
                done = telltale(*arguments, "-j", how.pop("jobs"), check=False, **how)
                self.assertIn(done.returncode, (0, 1), (words, done.stderr))
                output = done.stdout
                if "-o" in words:
                    with open(words[words.index("-o") + 1], "rb") as file:
                        output += file.read()
                seen.add(output)
            self.assertEqual(len(seen), 1, words)


if __name__ == "__main__":
    unittest.main()
