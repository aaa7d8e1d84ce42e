"""Row R13 for both recorders, on a simulated processor (tests/programs/recorders/fake_processor.cc): its counter steps
slightly back and far back, machines sleep, processors differ; and its counter is not guaranteed to be constant."""
import json
import os
import re
import struct
import subprocess
import unittest

import own_recorder
import recorder_programs as programs
import stacktrack_file

THREADS = 2
SAID = {"the clock goes backwards", "the clock goes backwards; time is held until it has caught up", "the clock went backwards N times"}


def measured_frequency():
    """The frequency of this machine's counter according to an undisturbed recording."""
    place = programs.new_folder()
    programs.run("functions", programs.build("clocks", "functions"), path=place / "r.xray")
    return own_recorder.Side.read(f"{place}/r.xray.side").frequency


def told_frequency(kind, path):
    """A recording's frequency of the counter in ticks a second, and (XRay) its uncertainty, in parts of 10^9."""
    if kind == "stacktrack":
        done = subprocess.run([programs.TELLTALE, "info", "--json", path], capture_output=True, text=True, check=True)
        return int(re.search(r"(\d+) ticks a second", done.stdout)[1]), 0
    side = own_recorder.Side.read(f"{path}.side")
    return side.frequency, side.uncertainty


def file_offset(data, address):
    """The file offset of a link-time address in an ELF file."""
    (table,), (size, count) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, offset, begin, _, bytes_, _, _ = struct.unpack_from("<IIQQQQQQ", data, table + i * size)
        if kind == 1 and begin <= address < begin + bytes_:
            return offset + address - begin
    raise AssertionError(f"no segment has {address:#x}")


def without_cpuid(path):
    """A copy with ud2 in place of each cpuid, and the number of replacements."""
    listing = subprocess.run(["objdump", "-d", path], capture_output=True, text=True, check=True).stdout
    places = [int(match[1], 16) for match in re.finditer(r"^ *([0-9a-f]+):\t0f a2 +\tcpuid", listing, re.MULTILINE)]
    data = bytearray(path.read_bytes())
    for address in places:
        at = file_offset(data, address)
        assert data[at:at + 2] == b"\x0f\xa2"
        data[at:at + 2] = b"\x0f\x0b"
    copy = programs.new_folder() / path.name
    copy.write_bytes(data)
    copy.chmod(0o755)
    return copy, len(places)


class Ends(unittest.TestCase):
    @unittest.skipIf(programs.SANITIZED, "sanitizers have handlers of their own")
    def test_the_clock_is_measured_once_more_at_exit(self):
        """A program with one event that keeps running: the measurement of its first millisecond is refined later."""
        for kind in programs.KINDS:
            with self.subTest(kind=kind):
                place = programs.new_folder()
                path = place / ("r.tlg" if kind == "stacktrack" else "r.xray")
                copy = place / ("before" + path.suffix)
                programs.run(kind, programs.build("pauses", kind), 300, copy, path=path)
                before, vague = told_frequency(kind, copy)
                after, exact = told_frequency(kind, path)
                if before == 1_000_000_000:
                    self.skipTest("the clock is in nanoseconds: nothing is measured")
                self.assertNotEqual(after, before)
                if kind != "stacktrack":
                    self.assertLess(exact, vague / 4)
                self.assertLess(abs(after - before), before / 100)


@unittest.skipUnless(os.uname().machine == "x86_64", "the counter of another processor")
@unittest.skipIf(programs.SANITIZED, "sanitizers have signal handlers of their own")
class Clocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.processor = programs.folder() / "fake_processor"
        subprocess.run(["g++", "-std=c++17", "-O1", f"{programs.SOURCE}/tests/programs/recorders/fake_processor.cc", "-o", cls.processor],
                       check=True, timeout=120)

    def record(self, kind, options, program=None, library=None):
        """(recording, events of each thread)"""
        path = programs.new_folder() / ("r.tlg" if kind == "stacktrack" else "r.xray")
        environment = {name: value for name, value in programs.settings(kind, path, options).items() if name != "LD_PRELOAD"}
        before = [self.processor]
        if kind != "stacktrack":
            before += ["/usr/bin/env", f"LD_PRELOAD={library or programs.XRAY}"]
        done = programs.run("stacktrack", program or programs.build("clocks", kind), before=before, environment=environment)
        return path, int(done.stdout)

    def info(self, path):
        return json.loads(subprocess.run([programs.TELLTALE, "info", "--json", path], capture_output=True, text=True, check=True,
                                         timeout=60).stdout)

    def starts(self, path):
        """Thread -> the times of its events, in chronological order."""
        out = subprocess.run([programs.TELLTALE, "convert", "--to", "json", "-o", "-", path], capture_output=True, check=True, timeout=60)
        found = {}
        for row in json.loads(out.stdout):
            if "event" in row.get("function", row.get("payload", row.get("data", ""))):
                found.setdefault(row["tid"], []).append(row["start_ns"])
        return found

    def check(self, kind, options, frequency):
        path, each = self.record(kind, options)
        info = self.info(path)
        # Nothing is lost, and only the clock is wrong, which is reported.
        self.assertEqual({problem["kind"] for problem in info["problems"]}, {"oddity"})
        self.assertEqual({re.sub(r"\d+", "N", problem["message"]) for problem in info["problems"]} - SAID, set())
        if kind == "stacktrack":
            file = stacktrack_file.File(path)
            self.assertEqual((file.torn, file.unnamed, sum(file.lost.values())), (0, 0, 0))
            told = re.search(r"tdiv=(\d+)", subprocess.run([programs.TELLTALE, "dump", path], capture_output=True, text=True).stdout)[1]
        else:
            side = own_recorder.Side.read(f"{path}.side")
            # 53 steps back for each thread; a thread that had to wait misses the small ones.
            self.assertGreaterEqual(side.anomalies, THREADS * 10)
            self.assertEqual(sum(side.lost.values()), 0)
            told = side.frequency
        # The wrong times would be far off.
        self.assertLess(abs(int(told) / frequency - 1), 0.05)
        starts = self.starts(path)
        self.assertEqual(sorted(len(times) for times in starts.values()), [each] * THREADS)
        for times in starts.values():
            self.assertEqual(times, sorted(times))
            self.assertLess(times[-1] - times[0], 60e9)
        subprocess.run([programs.TELLTALE, "check", path], capture_output=True, check=True, timeout=60)

    def test_r13_a_counter_that_steps(self):
        frequency = measured_frequency()
        for kind in programs.KINDS:
            sparse = "clock=16" if kind == "stacktrack" else "clock=sparse"
            for options in ("", sparse) + (() if kind == "stacktrack" else ("version=1",)):
                with self.subTest(kind=kind, options=options):
                    self.check(kind, options, frequency)

    def test_r13_a_counter_that_is_not_even(self):
        """A processor's counter that is not guaranteed to be constant is not used."""
        for kind in programs.KINDS:
            with self.subTest(kind=kind):
                if kind == "stacktrack":
                    program, places = without_cpuid(programs.build("clocks", kind))
                    path, each = self.record(kind, "", program=program)
                    dump = subprocess.run([programs.TELLTALE, "dump", path], capture_output=True, text=True, check=True).stdout
                    self.assertRegex(dump, r"tdiv=1000000000 timetype=(1|0x0001)\b")
                else:
                    library, places = without_cpuid(programs.XRAY)
                    path, each = self.record(kind, "", library=library)
                    side = own_recorder.Side.read(f"{path}.side")
                    self.assertEqual((side.source, side.uncertainty, side.frequency, side.anomalies), (1, 0, 10**9, 0))
                self.assertGreater(places, 0)
                self.assertEqual(self.info(path)["problems"], [])
                for times in self.starts(path).values():
                    self.assertEqual((len(times), times), (each, sorted(times)))


if __name__ == "__main__":
    unittest.main()
