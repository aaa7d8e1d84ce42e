"""Coverage of a real program. Mono's log profiler wrote it up to data version 15; since 5.14 a separate profiler writes
the same as XML. The test converts the XML of Debian's mono to coverage events of version 15, which telltale reports."""
import json
import os
import subprocess
import unittest
import xml.etree.ElementTree

import mono_programs
from mono_file import START, buffer, event, file_header, text, uleb

TELLTALE = mono_programs.TELLTALE
ASSEMBLY, METHOD, STATEMENT, CLASS = 0x09, 0x19, 0x29, 0x39


def record_coverage():
    """Mono's XML of a run of tests/programs/mono/everything.cs."""
    path = os.path.join(mono_programs.work_dir(), "coverage.xml")
    program = mono_programs.compile_program("everything")
    subprocess.run(["mono", "--profile=coverage:output=" + path, program, "calls", "exceptions", "threads"],
                   check=True, capture_output=True, timeout=120)
    return xml.etree.ElementTree.parse(path).getroot()


def numbers(element, *names):
    return [uleb(int(element.get(name))) for name in names]


def coverage_events(root):
    """Buffers of events, in the order of the XML; classes follow their assembly."""
    events, assembly = [], ""
    for number, element in enumerate(root):
        words = [text(element.get(name) or "") for name in ("assembly", "class", "name", "guid", "filename")]
        owner, type_name, name, guid, file = words
        if element.tag == "assembly":
            assembly = name
            events.append(event(ASSEMBLY, name, guid, file, *numbers(element, "method-count", "full", "partial")))
        elif element.tag == "class":
            events.append(event(CLASS, assembly, name, *numbers(element, "method-count", "full", "partial")))
        elif element.tag == "method":
            statements = element.findall("statement")
            events.append(event(METHOD, owner, type_name, name, text(""), file, *numbers(element, "token"), uleb(number),
                                uleb(len(statements))))
            events += [event(STATEMENT, uleb(number), *numbers(one, "offset", "counter", "line", "column"))
                       for one in statements]
        if len(events) > 1000:
            yield b"".join(events)
            events = []
    yield b"".join(events)


class Coverage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not mono_programs.HAVE_MONO:
            raise unittest.SkipTest("mono, mcs and mprof-report are not installed")
        cls.root = record_coverage()
        cls.path = os.path.join(mono_programs.work_dir(), "coverage.mlpd")
        with open(cls.path, "wb") as file:
            file.write(file_header(version=15))
            for i, events in enumerate(coverage_events(cls.root)):
                file.write(buffer(events, START + i * 10_000_000))

    def report(self, *options):
        done = subprocess.run([TELLTALE, "report", "--json", "--reports=coverage", self.path, *options],
                              capture_output=True, check=True, timeout=60)
        return json.loads(done.stdout)["coverage"]

    def test_is_valid(self):
        subprocess.run([TELLTALE, "check", self.path], check=True, capture_output=True, timeout=60)

    def test_figures_are_those_of_mono(self):
        found = self.report()
        names = ("method-count", "full", "partial")
        for tag, table in (("assembly", "assemblies"), ("class", "types")):
            expected = [(one.get("name"), *(int(one.get(name)) for name in names)) for one in self.root.iter(tag)]
            rows = [(row["assembly" if tag == "assembly" else "type"], row["methods"], row["fully"], row["partially"])
                    for row in found[table]]
            self.assertEqual(sorted(rows), sorted(expected))
        expected = [(one.get("assembly"), one.get("class"), one.get("name"), len(one.findall("statement")),
                     sum(int(statement.get("counter")) > 0 for statement in one.findall("statement")))
                    for one in self.root.iter("method")]
        rows = [(row["assembly"], row["type"], row["method"], row["statements"], row["covered"])
                for row in found["methods"]]
        self.assertEqual(rows, expected)

    def test_what_ran_is_covered(self):
        found = self.report()
        ours = next(row for row in found["assemblies"] if row["assembly"] == "everything")
        ran = [row for row in found["methods"] if row["assembly"] == "everything"]
        self.assertEqual(ours["fully"] + ours["partially"], sum(row["covered"] > 0 for row in ran))
        self.assertIn("Fibonacci (int)", {row["method"] for row in ran if row["type"] == "Calls" and row["covered"]})
        self.assertNotIn("Busy", {row["type"] for row in ran if row["covered"]})

    def test_jobs_change_nothing(self):
        self.assertEqual(self.report("--jobs=1"), self.report("--jobs=8"))


if __name__ == "__main__":
    unittest.main()
