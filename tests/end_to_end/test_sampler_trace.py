"""-ftrace-sites: every observation is an event of a trace that telltale reads, and they add up to the report."""
import collections
import json
import os
import unittest

from sampler_programs import ALL, CONCURRENT, PROGRAMS, RELEASES, SamplerCase, build, compile_with, run, samples

TELLTALE = os.environ["TELLTALE"]
LETTERS = {"scalar-pairs": "S", "coverage": "V", "data": "I", "yields": "Y", "atoms": "A", "branches": "B", "bounds": "D",
           "function-entries": "E", "returns": "R", "float-kinds": "F", "g-object-unref": "G", "fun-reentries": "Z",
           "compare-swap": "C", "atoms-rw": "W"}


class Trace(SamplerCase):
    def events(self, trace):
        """(scheme, unit, row, slot or value) of each event, as printed by telltale."""
        done = run(TELLTALE, "check", trace)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        records = [json.loads(line) for line in run(TELLTALE, "dump", "--json", trace).stdout.splitlines()]
        events = [record["fields"] if "fields" in record else record for record in records]
        events = [event for event in events if event.get("event_type")]
        times = [event["tsc"] for event in events]
        self.assertEqual(times, sorted(times))
        found = []
        for event in events:
            words = bytes.fromhex(event["data_hex"]).decode().split(" ") if "data_hex" in event else event["data"].split(" ")
            self.assertEqual(chr(event["event_type"]), LETTERS[words[0]])
            found.append((words[0], words[1], int(words[2]), words[3]))
        return found

    def check(self, program, sparsity, *arguments):
        trace = self.path("trace.yaml")
        done = self.run_reported(program, *arguments, SAMPLER_TRACE=str(trace), SAMPLER_SPARSITY=sparsity, SAMPLER_SEED="2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        counted = collections.Counter()
        events = self.events(trace)
        for scheme, unit, row, slot in events:
            if scheme not in ("data", "bounds"):
                counted[scheme, unit, row, int(slot)] += 1
            elif scheme == "data":
                self.assertTrue(int(slot, 16) > 4096)
                counted[scheme, unit, row, 0] += 1
        report = collections.Counter()
        for (unit, scheme), rows in samples(self.report):
            for row, numbers in enumerate(rows):
                for slot, number in enumerate(numbers):
                    # yields' first counter counts executions that were not observed.
                    if scheme != "bounds" and int(number) > 0 and (scheme, slot) != ("yields", 0):
                        report[scheme, unit, row, slot] += int(number)
        self.assertEqual(counted, report)
        return events

    def test_events_are_the_counters(self):
        for release in RELEASES:
            for words in (("-O0", "-fno-sample"), ("-O2",)):
                with self.subTest(release=release, words=words):
                    program = build(self.path("p"), release, "-ftrace-sites", *words, *ALL, *CONCURRENT, PROGRAMS / "schemes.c")
                    events = self.check(program, "3")
                    self.assertGreater(len(events), 100)
                    self.assertIn("bounds", {event[0] for event in events})

    def test_threads(self):
        program = build(self.path("p"), RELEASES[-1], "-O1", "-fno-sample", "-ftrace-sites", "-pthread", "-fsampler-scheme=data",
                        "-fsampler-scheme=branches", PROGRAMS / "turns.c")
        self.check(program, "1")

    def test_nothing_asked(self):
        program = build(self.path("p"), RELEASES[-1], "-fno-sample", "-ftrace-sites", *ALL, PROGRAMS / "schemes.c")
        self.assertEqual(run(program, cwd=self.folder).returncode, 0)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["p"])
        plain = build(self.path("q"), RELEASES[-1], "-fno-sample", *ALL, PROGRAMS / "schemes.c")
        run(plain, cwd=self.folder, env={"SAMPLER_TRACE": "trace"})
        self.assertEqual(self.events(self.path("trace")), [])

    def test_children_go_on_in_the_trace(self):
        program = build(self.path("p"), RELEASES[-1], "-fno-sample", "-ftrace-sites", "-pthread",
                        "-fsampler-scheme=function-entries", PROGRAMS / "crash.c")
        run(program, "fork", env={"SAMPLER_TRACE": str(self.path("both"))})
        self.assertEqual(len(self.events(self.path("both"))), 3)
        run(program, "fork", env={"SAMPLER_TRACE": str(self.path("of.%p"))})
        self.assertEqual(sorted(len(self.events(file)) for file in self.folder.glob("of.*")), [1, 2])
        self.assertEqual(compile_with(RELEASES[-1], "-fno-trace-sites", "--version").returncode, 0)


if __name__ == "__main__":
    unittest.main()
