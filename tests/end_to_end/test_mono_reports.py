"""`telltale report` of real recordings, compared with mprof-report's figure by figure."""

import os
import re
import unittest

import mono_file
import mono_programs
import mprof_report
from mono_programs import report_document


def stack(row):
    return tuple(row["stack"].split(" > "))


def traces(rows, value, **of):
    """[(value, frames)] of the rows with these cells, in an order that does not depend on ties."""
    kept = [row for row in rows if all(row[key] == cell for key, cell in of.items())]
    return sorted(((row[value], stack(row)) for row in kept), key=lambda line: (-line[0], line[1]))


def by_value(lines):
    return sorted(lines, key=lambda line: (-line[0], line[1]))


def resolved(name):
    """mprof-report cannot name a class that it calls unresolved."""
    return not name.startswith("unresolved class")


class Reports(unittest.TestCase):
    """Each report with --like-mprof, of every recording: all of mprof-report's figures."""

    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        if not mono_programs.HAVE_MONO:
            raise unittest.SkipTest("mono, mcs and mprof-report are not installed")
        cls.paths = mono_programs.recordings()

    def compare(self, check, *options, names=None, like=True):
        for name in names or self.paths:
            with self.subTest(recording=name, options=options):
                theirs = mprof_report.report(self.paths[name], *options)
                ours = report_document(self.paths[name], *options, *(["--like-mprof"] if like else []))
                check(ours, theirs)

    def check_traces(self, ours, theirs, value, owner):
        """The stacks of each type or method; several may have the same name."""
        if "traces" not in ours:
            return
        together = {}
        for row in theirs["rows"]:
            together.setdefault(row.name, []).extend(row.traces)
        for name, lines in together.items():
            self.assertEqual(traces(ours["traces"], value, **{owner: name}), by_value(lines), name)

    def test_header(self):
        def check(ours, theirs):
            ours, theirs = ours["header"], theirs["header"]
            self.assertEqual(ours["profiler_version"], theirs["Profiler version"])
            self.assertEqual(str(ours["data_version"]), theirs["Data version"])
            self.assertEqual(ours["arguments"], theirs["Arguments"])
            self.assertEqual(ours["architecture"], theirs["Architecture"])
            self.assertEqual(ours["operating_system"], theirs["Operating system"])
            self.assertEqual("%d nanoseconds" % ours["timer_overhead_ns"], theirs["Mean timer overhead"])
            self.assertEqual(str(ours["pid"]), theirs["Program ID"])
            self.assertEqual(str(ours["port"]), theirs["Server listening on"])

        self.compare(check, like=False)

    def check_jit(self, ours, theirs):
        ours, theirs = ours["jit"], theirs["jit"]
        self.assertEqual(ours["methods"], theirs["Compiled methods"])
        self.assertEqual(ours["bytes"], theirs["Generated code size"])
        self.assertEqual(ours["helpers"], theirs["JIT helpers"])
        self.assertEqual(ours["helper_bytes"], theirs["JIT helpers code size"])

    def test_jit(self):
        self.compare(self.check_jit)
        self.compare(self.check_jit, "--time=0.05-0.2")

        def corrected(ours, theirs):
            # In some runs mono records sizes of methods without code.
            if ours["jit"]["unknown_sizes"] == 0:
                self.check_jit(ours, theirs)

        self.compare(corrected, like=False)

    def test_jit_sizes_that_no_code_has(self):
        method = mono_file.Chain()
        sizes = {0x1000: 100, 0x2000: 2**32 - 1, 0x3000: 3304746348, 0x4000: 28, 0x5000: 2**26, 0x6000: 2**26 - 1}
        events = b"".join(mono_file.event(0x43, method(at), mono_file.sleb(0x10000), mono_file.uleb(size), mono_file.text("m"))
                          for at, size in sizes.items())
        path = os.path.join(mono_programs.work_dir(), "sizes.mlpd")
        with open(path, "wb") as file:
            file.write(mono_file.file_header() + mono_file.buffer(events, mono_file.START))
        self.check_jit(report_document(path, "--like-mprof"), mprof_report.report(path))
        ours = report_document(path)["jit"]
        self.assertEqual((ours["methods"], ours["bytes"], ours["unknown_sizes"]), (6, 128 + 2**26 - 1, 3))

    def check_gc(self, ours, theirs):
        ours, theirs = ours["gc"], theirs["gc"]
        self.assertEqual(ours["resizes"], theirs["GC resizes"])
        self.assertEqual(ours["max_heap_bytes"], theirs["Max heap size"])
        self.assertEqual(ours["moved_objects"], theirs["Object moves"])
        generations = {
            row["generation"]: (row["collections"], row["max_us"], row["total_us"], row["average_us"])
            for row in ours["generations"]
        }
        self.assertEqual(generations, theirs["generations"])
        handles = {row["kind"]: (row["created"], row["destroyed"], row["most"]) for row in ours["handles"]}
        self.assertEqual(handles, {kind: found["numbers"] for kind, found in theirs["handles"].items()})
        for kind, found in theirs["handles"].items():
            for change in ("created", "destroyed"):
                self.assertEqual(
                    traces(ours.get("traces", []), "handles", kind=kind, change=change), by_value(found[change])
                )

    def test_gc(self):
        self.compare(self.check_gc)
        self.compare(self.check_gc, "--traces", "--maxframes=4", names=["everything", "calls", "plain"])
        self.compare(self.check_gc, "--time=0.01-0.1", names=["everything", "plain"])

    def test_gc_in_nanoseconds(self):
        theirs = mprof_report.report(self.paths["everything"])["gc"]["generations"]
        for row in report_document(self.paths["everything"])["gc"]["generations"]:
            figures = (row["collections"], row["max_ns"] // 1000, row["total_ns"] // 1000)
            self.assertEqual(figures, theirs[row["generation"]][:3])

    def check_sample(self, ours, theirs):
        if "sample" not in theirs:
            return
        ours, theirs = ours["sample"], theirs["sample"]
        self.assertEqual(ours["type"], theirs["type"])
        for key in ("unmanaged", "managed", "unresolved"):
            self.assertEqual(ours[key], theirs[key])
        rows = [(row["hits"], "%.2f" % (100 * row["share"]), row["name"]) for row in ours["lines"]]
        self.assertEqual(sorted(rows), sorted(theirs["rows"]))

    def test_sample(self):
        self.compare(self.check_sample)
        self.compare(self.check_sample, "--verbose", names=["samples"])
        self.compare(self.check_sample, "--time=0.2-0.4", names=["samples"])

    def check_alloc(self, ours, theirs):
        if "alloc" not in theirs:
            self.assertEqual(ours["alloc"]["objects"], 0)
            return
        ours, theirs = ours["alloc"], theirs["alloc"]
        self.assertEqual((ours["bytes"], ours["objects"]), theirs["total"])
        rows = sorted((row["bytes"], row["objects"], row["average"], row["type"]) for row in ours["types"])
        self.assertEqual(rows, sorted((*row.numbers, row.name) for row in theirs["rows"]))
        self.check_traces(ours, theirs, "bytes", "type")

    def test_alloc(self):
        self.compare(self.check_alloc)
        self.compare(self.check_alloc, "--traces", names=["everything", "plain", "heap"])
        self.compare(self.check_alloc, "--traces", "--maxframes=3", names=["everything", "calls"])
        self.compare(self.check_alloc, "--traces", "--maxframes=100", names=["heap", "calls"])
        self.compare(self.check_alloc, "--time=0.02-0.3", names=["everything", "calls"])
        self.compare(self.check_alloc, "--thread=0x1", names=["everything"])

    def test_alloc_order(self):
        for sort, key in (("bytes", 0), ("count", 1)):
            for path in (self.paths["everything"], self.paths["calls"]):
                theirs = mprof_report.report(path, "--alloc-sort=" + sort)["alloc"]["rows"]
                ours = report_document(path, "--alloc-sort=" + sort, "--like-mprof")["alloc"]["types"]
                value = ("bytes", "objects")[key]
                self.assertEqual([row[value] for row in ours], [row.numbers[key] for row in theirs])

    def test_alloc_resolves_what_mprof_cannot(self):
        for name in ("everything", "calls", "heap"):
            theirs = mprof_report.report(self.paths[name])["alloc"]
            unresolved = sum(row.numbers[1] for row in theirs["rows"] if not resolved(row.name))
            self.assertGreater(unresolved, 0)
            ours = report_document(self.paths[name])["alloc"]
            self.assertEqual((ours["bytes"], ours["objects"]), theirs["total"])
            self.assertEqual([row["type"] for row in ours["types"] if not resolved(row["type"])], [])

    def check_call(self, ours, theirs):
        if "call" not in theirs:
            self.assertEqual(ours["call"]["calls"], 0)
            return
        unmatched = [(row["position"], row["method"]) for row in ours["call"]["unmatched"]]
        self.assertEqual(sorted(unmatched), sorted(theirs["unmatched"]))
        ours, theirs = ours["call"], theirs["call"]
        self.assertEqual(ours["calls"], theirs["total"])
        rows = sorted((row["total_ms"], row["self_ms"], row["calls"], row["method"]) for row in ours["methods"])
        self.assertEqual(rows, sorted((*row.numbers, row.name) for row in theirs["rows"]))
        self.check_traces(ours, theirs, "calls", "method")

    def test_call(self):
        self.compare(self.check_call)
        self.compare(self.check_call, "--verbose", names=["calls"])
        self.compare(self.check_call, "--traces", names=["calls"])
        self.compare(self.check_call, "--traces", "--verbose", "--maxframes=3", names=["calls"])
        self.compare(self.check_call, "--verbose", "--time=0.1-0.3", names=["calls"])

    def test_call_of_one_thread(self):
        path = self.paths["calls"]
        for thread in report_document(path)["thread"]["threads"]:
            option = "--thread=" + thread["id"]
            self.check_call(
                report_document(path, option, "--verbose", "--like-mprof"), mprof_report.report(path, option, "--verbose")
            )

    def test_call_order(self):
        for sort, column in (("total", "total_ms"), ("self", "self_ms"), ("calls", "calls")):
            option = "--method-sort=" + sort
            theirs = mprof_report.report(self.paths["calls"], option)["call"]["rows"]
            ours = report_document(self.paths["calls"], option, "--like-mprof")["call"]["methods"]
            index = ("total", "self", "calls").index(sort)
            self.assertEqual([row[column] for row in ours], [row.numbers[index] for row in theirs])

    def test_call_corrected(self):
        """Calls and own time equal mprof-report's; so do totals, unless the method is recursive."""
        theirs = mprof_report.report(self.paths["calls"], "--verbose")
        ours = report_document(self.paths["calls"], "--verbose")["call"]
        self.assertEqual(ours["calls"], theirs["call"]["total"])
        self.assertEqual(ours["orphan_exits"], len(theirs["unmatched"]))
        self.assertEqual(
            sorted((row["self_ns"] // 1000000, row["calls"], row["method"]) for row in ours["methods"]),
            sorted((row.numbers[1], row.numbers[2], row.name) for row in theirs["call"]["rows"]),
        )
        total = {row.name: row.numbers[0] for row in theirs["call"]["rows"]}
        recursive = {row["method"]: row for row in ours["methods"] if row["method"].startswith("Calls:")}
        for row in ours["methods"]:
            self.assertLessEqual(row["total_ns"] // 1000000, max(total[row["method"]], row["total_ns"] // 1000000))
        run = recursive["Calls:Run ()"]["total_ns"]
        for method in ("Calls:Fibonacci (int)", "Calls:Recurse (int)"):
            self.assertLessEqual(recursive[method]["total_ns"], run)

    def check_metadata(self, ours, theirs):
        ours, theirs = ours["metadata"], theirs["metadata"]
        self.assertEqual(ours["images"], theirs["images"])
        self.assertEqual(ours["assemblies"], theirs["assemblies"])
        if "image_list" in ours:
            self.assertEqual(sorted(row["name"] for row in ours["image_list"]), sorted(theirs["image_names"]))
            self.assertEqual(sorted(row["name"] for row in ours["assembly_list"]), sorted(theirs["assembly_names"]))

    def test_metadata(self):
        self.compare(self.check_metadata)
        self.compare(self.check_metadata, "--verbose", like=False)

    def check_exception(self, ours, theirs):
        ours, theirs = ours["exception"], theirs["exception"]
        self.assertEqual(ours["throws"], theirs["throws"])
        for kind in ("catch", "filter", "finally", "fault"):
            self.assertEqual(ours[kind], theirs["clauses"].get(kind, 0), kind)
        self.assertEqual(traces(ours.get("traces", []), "throws"), by_value(theirs["traces"]))

    def test_exception(self):
        self.compare(self.check_exception)
        self.compare(self.check_exception, like=False)
        self.compare(self.check_exception, "--traces", names=["everything", "calls", "zipped"])
        self.compare(self.check_exception, "--time=0.05-0.2", names=["everything", "calls"])

    def test_exception_of_each_kind(self):
        found = report_document(self.paths["everything"])["exception"]
        self.assertGreater(min(found[kind] for kind in ("throws", "catch", "filter", "finally", "fault")), 0)

    def check_monitor(self, ours, theirs):
        if "monitor" not in theirs:
            self.assertEqual(ours["monitor"]["contentions"], 0)
            return
        ours, theirs = ours["monitor"], theirs["monitor"]
        for key in ("contentions", "acquired", "failures"):
            self.assertEqual(ours[key], theirs[key])
        rows = {int(row["object"], 16): row for row in ours["locks"]}
        self.assertEqual(set(rows), {lock.object for lock in theirs["locks"]})
        for lock in theirs["locks"]:
            row = rows[lock.object]
            self.assertEqual(row["contentions"], lock.contentions)
            self.assertEqual("%.6f" % (row["wait_ns"] / 1e9), "%.6f" % lock.total)
            self.assertEqual("%.6f" % (row["max_ns"] / 1e9), "%.6f" % lock.max)
            if lock.contentions:
                self.assertEqual("%.6f" % (row["average_ns"] / 1e9), lock.average)
            self.assertEqual(
                traces(ours.get("traces", []), "contentions", object=row["object"]), by_value(lock.traces)
            )

    def test_monitor(self):
        self.compare(self.check_monitor)
        self.compare(self.check_monitor, like=False)
        self.compare(self.check_monitor, "--traces", names=["everything", "calls", "zipped"])

    def check_ids(self, ours, theirs):
        threads = [(int(row["id"], 16), '"%s"' % row["name"]) for row in ours["thread"]["threads"]]
        # We treat a thread with an empty name as one without a name.
        named = [(id, name) for id, name in theirs["thread"] if name not in ("", '""')]
        self.assertEqual([(id, name) for id, name in threads if name != '""'], named)
        self.assertLessEqual({id for id, _ in theirs["thread"]}, {id for id, _ in threads})
        domains = [(int(row["id"], 16), '"%s"' % row["name"]) for row in ours["domain"]["domains"]]
        self.assertEqual(domains, theirs["domain"])
        contexts = [(int(row["id"], 16), int(row["domain"], 16)) for row in ours["context"]["contexts"]]
        self.assertEqual(contexts, [(id, mprof_report.pointer(domain)) for id, domain in theirs["context"]])

    def test_threads_domains_and_contexts(self):
        self.compare(self.check_ids)
        self.compare(self.check_ids, like=False)

    def check_heapshot(self, ours, theirs, options=()):
        if "heapshot" not in theirs:
            self.assertNotIn("heapshot", ours)
            return
        ours, theirs = ours["heapshot"], theirs["heapshot"]
        self.assertEqual(len(ours["shots"]), len(theirs))
        for row, shot in zip(ours["shots"], theirs):
            self.assertEqual(
                (row["shot"], "%.3f" % (row["at_ns"] / 1e9), row["bytes"], row["objects"], row["classes"]),
                (shot.number, shot.seconds, shot.size, shot.objects, shot.classes),
            )
            self.assertEqual(row["roots"] or 0, shot.roots)
            classes = [
                ((line["bytes"], line["objects"], line["average"]), line["type"])
                + ((None if line["delta_bytes"] is None else (line["delta_bytes"], line["delta_objects"])),)
                for line in ours["classes"]
                if line["shot"] == shot.number
            ]
            lines = [(line.numbers, line.name, line.delta) for line in shot.rows]
            # If several classes have the same size, the last one shown may differ.
            last = min((line[0][0] for line in lines), default=0)
            self.assertEqual(sorted(line[0][0] for line in classes), sorted(line[0][0] for line in lines))
            self.assertEqual(
                sorted(map(repr, (line for line in classes if line[0][0] != last or "--verbose" in options))),
                sorted(map(repr, (line for line in lines if line[0][0] != last or "--verbose" in options))),
            )
            if "references" in ours:
                self.check_references(ours["references"], shot)

    def check_references(self, rows, shot):
        ours = {}
        for row in rows:
            if row["shot"] == shot.number:
                roots, found = ours.setdefault(row["type"], ([], []))
                if row["from"] == "(roots)":
                    roots.append((row["references"], row["pinning"]))
                else:
                    found.append((row["references"], row["from"]))
        theirs, shown = {}, {}
        for line in shot.rows:
            roots, found = theirs.setdefault(line.name, ([], []))
            shown[line.name] = shown.get(line.name, 0) + 1
            if line.roots:
                roots.append(line.roots)
            found.extend(line.references)
        for name, (roots, found) in theirs.items():
            ours_roots, ours_found = ours.get(name, ([], []))
            if len(ours_roots) != len(roots) and shown[name] > 0:
                continue  # classes with the same name, not all of which are among those shown
            self.assertEqual(sorted(ours_roots), sorted(roots), name)
            self.assertEqual(by_value(ours_found), by_value(found), name)

    def test_heapshot(self):
        def check_all(ours, theirs):
            self.check_heapshot(ours, theirs, ("--verbose",))

        self.compare(self.check_heapshot)
        self.compare(check_all, "--verbose", names=["everything"])
        self.compare(check_all, "--verbose", "--alloc-sort=count", names=["heap"])
        self.compare(check_all, "--traces", "--verbose", names=["everything", "plain", "heap"])

    def test_growth_is_found(self):
        classes = report_document(self.paths["heap"], "--verbose")["heapshot"]["classes"]
        leaks = [row["objects"] for row in classes if row["type"] == "Leak"]
        self.assertEqual(leaks[:4], [200, 600, 1200, 2000])
        gone = [row for row in classes if row["type"] == "Gone" and row["objects"] == 0]
        self.assertEqual([(row["bytes"], row["delta_objects"]) for row in gone], [(0, -100)])

    def check_counters(self, ours, theirs):
        ours, theirs = ours["counters"]["counters"], theirs["counters"]
        last = {(row["section"], row["name"]): row["shown"] for row in ours}
        self.assertEqual(last, theirs["last"])

    def test_counters(self):
        names = ["everything", "samples", "plain"]
        self.compare(self.check_counters, names=names)

        def by_time(ours, theirs):
            # It prints events of the same millisecond twice.
            found = {}
            for row in ours["counters"]["counters"]:
                found.setdefault(row["at_ns"] // 1000000, set()).add((row["section"], row["name"], row["shown"]))
            stamps = theirs["counters"]["by_time"].items()
            printed = {mprof_report.milliseconds(stamp): set(values) for stamp, values in stamps}
            self.assertEqual(found, printed)

        self.compare(by_time, "--verbose", names=names)

        def by_category(ours, theirs):
            kinds, values = {}, {}
            for row in ours["counters"]["counters"]:
                kinds[row["section"], row["name"]] = (row["type"], row["unit"], row["variance"])
                values.setdefault((row["section"], row["name"]), []).append(row["shown"])
            for key, (kind, found) in theirs["counters"]["by_category"].items():
                self.assertEqual(kinds[key], kind)
                self.assertEqual(values[key], [value for _, value in found], key)

        self.compare(by_category, "--verbose", "--counters-sort=category", names=names)

    def objects(self, *options):
        """mprof-report's history of objects: {(address, what, address or handle or type): how often}."""
        found = {}
        for line in mprof_report.run(self.paths["heap"], *options).splitlines():
            if at := re.match(r"Object (\S+) created \((.*), (\d+) bytes\)", line):
                key = (at[1], "created", int(at[3]))
            elif at := re.match(r"Object (\S+) moved to (\S+)", line):
                key = (at[1], "moved", at[2])
            elif at := re.match(r"Object (\S+) moved from (\S+)", line):
                key = (at[1], "came", at[2])
            elif at := re.match(r"Object (\S+) referenced from (0x\S+)", line):
                key = (at[1], "referenced", at[2])
            else:
                raise AssertionError(line)
            found[key] = found.get(key, 0) + 1
        return found

    def our_objects(self, *options):
        found = {}
        for row in report_document(self.paths["heap"], *options)["objects"]["events"]:
            key = (row["address"], row["event"], row["bytes"] if row["event"] == "created" else row["other"])
            found[key] = found.get(key, 0) + 1
        return found

    def test_find_and_track(self):
        for option in ("--find=S:100000", "--find=T:Leak[]"):
            self.assertEqual(self.our_objects(option, "--like-mprof"), self.objects(option))
        addresses = [row["address"] for row in report_document(self.paths["heap"], "--find=T:Leak[]")["objects"]["events"]]
        option = "--track=" + ",".join(addresses[:3])
        self.assertEqual(self.our_objects(option, "--like-mprof"), self.objects(option))

    def test_objects_are_followed_through_moves(self):
        events = report_document(self.paths["heap"], "--find=T:Leak[]")["objects"]["events"]
        moved = [row for row in events if row["event"] == "moved"]
        self.assertTrue(moved)
        for move in moved:
            later = events[events.index(move) + 1 :]
            places = {row["address"] for row in later if row["object"] == move["object"]}
            self.assertLessEqual(places, {move["other"]} | {row["other"] for row in moved})
        self.assertEqual({row["type"] for row in events if row["event"] == "created"}, {"Leak[]"})


if __name__ == "__main__":
    unittest.main()
