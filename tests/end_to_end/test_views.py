"""stacks, graph and flame agree with top, and do not depend on the number of workers."""
import html
import json
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml

TELLTALE = os.environ["TELLTALE"]
MAKE_TRACE = os.path.join(os.path.dirname(TELLTALE), "make_trace")
ORDERS = os.path.join(os.environ["TELLTALE_SOURCE_DIR"], "examples", "orders")
RECORDING = [os.path.join(ORDERS, "orders.yaml"), "--program", os.path.join(ORDERS, "orders-map.yaml")]


def telltale(*arguments):
    done = subprocess.run([TELLTALE, *arguments], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def folded(*arguments):
    """Stacks by their frames."""
    rows = {}
    for line in telltale("stacks", "--names", "full", *RECORDING, *arguments).decode().splitlines():
        stack, number = line.rsplit(" ", 1)
        rows[tuple(stack.split(";"))] = int(number)
    return rows


class ViewsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = {row["function"]: row for row in json.loads(telltale("top", "--json", *RECORDING))["rows"]}

    def test_stacks_add_up_to_top(self):
        for measure, key in (("self", "self_ns"), ("calls", "calls")):
            sums = {name: 0 for name in self.top}
            for stack, number in folded("--measure", measure).items():
                sums[stack[-1]] += number
            for name, row in self.top.items():
                self.assertAlmostEqual(sums[name], row[key], delta=10 if key == "self_ns" else 0, msg=name)
        totals = folded("--measure", "total")
        for stack, number in totals.items():
            if len(stack) > 1:
                self.assertLessEqual(number, totals[stack[:-1]])
        rows = json.loads(telltale("stacks", "--json", *RECORDING))["rows"]
        self.assertEqual({tuple(row["stack"].split(";")): row["self_ns"] for row in rows if row["self_ns"]}, folded())

    def test_threads_apart(self):
        together, apart = folded("--measure", "calls"), folded("--measure", "calls", "--by-thread")
        self.assertEqual({stack[0] for stack in apart}, {"thread 9480", "thread 9481"})
        sums = {}
        for stack, number in apart.items():
            sums[stack[1:]] = sums.get(stack[1:], 0) + number
        self.assertEqual(sums, together)
        alone = folded("--by-thread", "--thread", "9480")
        self.assertEqual({stack[0] for stack in alone}, {"thread 9480"})

    def test_graph_has_the_calls_of_the_stacks(self):
        graph = json.loads(telltale("graph", "--json", *RECORDING))
        edges = {}
        for stack, number in folded("--measure", "calls").items():
            if len(stack) > 1:
                edges[stack[-2:]] = edges.get(stack[-2:], 0) + number
        self.assertEqual({(row["caller"], row["callee"]): row["calls"] for row in graph["edges"]}, edges)
        self.assertEqual({row["function"]: row["calls"] for row in graph["functions"]},
                         {name: row["calls"] for name, row in self.top.items()})
        dot = telltale("graph", "--names", "full", *RECORDING)
        laid_out = json.loads(subprocess.run(["dot", "-Tjson"], input=dot, capture_output=True, check=True).stdout)
        self.assertEqual({html.unescape(node["label"]) for node in laid_out["objects"]}, set(self.top))
        self.assertEqual(len(laid_out["edges"]), len(edges))

    def test_flame_drawing_is_xml_with_every_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "flame.svg")
            telltale("flame", "--names", "full", *RECORDING, "-o", path)
            text = " ".join(xml.parse(path).getroot().itertext())
            for name in self.top:
                self.assertIn(name, text)

    def test_workers_change_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "several-units.fdr")
            subprocess.run([MAKE_TRACE, trace, "2000000"], check=True)
            page, drawing = os.path.join(folder, "x.html"), os.path.join(folder, "x.svg")
            for arguments in (["stacks"], ["graph"], ["top", "--json"], ["report", "--json"], ["info", "--json"],
                              ["diff", trace, "--json"], ["flame", "-o", page], ["flame", "-o", drawing]):
                with self.subTest(arguments=arguments[:2]):
                    outputs = []
                    for jobs in ("1", "2", "8"):
                        printed = telltale(*arguments, "--jobs", jobs, trace)
                        written = b""
                        if arguments[0] == "flame":
                            with open(arguments[-1], "rb") as file:
                                written = file.read()
                        outputs.append((printed, written))
                    self.assertEqual(outputs[0], outputs[1])
                    self.assertEqual(outputs[0], outputs[2])


if __name__ == "__main__":
    unittest.main()
