"""The flame graph's page as telltale writes it: what it shows, and that no name can harm it. web/tests drives its parts."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import recorder_programs
from export_tools import SOURCE_DIR, compiler, fdr, install_node_modules, restore, yaml_map, yaml_trace

TELLTALE = os.environ["TELLTALE"]

BIDI = [chr(c) for c in (0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069, 0x200E, 0x200F, 0x61C)]
PWN = "window.pwned=1"
HOSTILE = [
    f"</script><script>{PWN}</script>", f"<img src=x onerror={PWN}>", f"<svg onload={PWN}>", f"<!--<script>{PWN}", "-->",
    "]]>", "<![CDATA[", f"javascript:{PWN}", f"${{{PWN}}}", f"`;{PWN};`", f"';{PWN};//", f"\";{PWN};//", f"\\\";{PWN};//",
    f"\\u003cscript>{PWN}", "back\\slash", "trailing\\", "'", '"', "`", "&lt;&amp;&#60;", "@DATA@", "@SCRIPT@", "@CSP@",
    "$&$1$`$'", "%s%n%x", "\x1b[31mred", "\x07bell", "\x01\x02\x1f", "\x7f", "\x80\x9f", "line\nend", "tab\there",
    "carriage\rreturn", "\u2028\u2029", "\ufeffmark", "zero\u200bwidth", *[c + "gnp.exe" for c in BIDI], "e\u0301\u0301\u0301",
    "\U0001f600 caf\u00e9", "\U000e0041tag", "\uffff\ufffe", "__proto__", "constructor", "toString", "hasOwnProperty", " ",
    "  leading", "operator<<(std::ostream&, x)", "../../etc/passwd", "{\"x\":[1]}", "=1+1", "x" * 100_000,
    "<b>" * 30_000,
]


class FlamePage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.modules = install_node_modules("web")
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        # Thread 1: main 1000 ns { parse 600 { Lex 200 }, emit 300 }; thread 2: main 500 { emit 500 }.
        cls.trace = cls.folder / "small.yaml"
        cls.trace.write_text(yaml_trace([
            (1, "enter", 1, 1000), (1, "enter", 2, 1000), (1, "enter", 3, 1100), (2, "enter", 1, 1100),
            (2, "enter", 4, 1100), (1, "exit", 3, 1300), (1, "exit", 2, 1600), (2, "exit", 4, 1600), (2, "exit", 1, 1600),
            (1, "enter", 4, 1600), (1, "exit", 4, 1900), (1, "exit", 1, 2000)]))
        cls.map = cls.folder / "map.yaml"
        cls.map.write_text(yaml_map(["main", "parse", "Lex", "emit"]))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def flame(self, trace, *extra):
        page = self.folder / "page.html"
        done = subprocess.run([TELLTALE, "flame", trace, "-o", page, *extra], timeout=60, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return page

    def drive(self, page, *steps):
        """The steps' answers; the page must do nothing but show itself (web/tests/browser.mjs)."""
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        done = subprocess.run(["node", SOURCE_DIR / "web" / "tests" / "drive_page.mjs"], timeout=300, capture_output=True, text=True,
                              input=json.dumps({"page": str(page), "steps": steps}),
                              env={**os.environ, "TELLTALE_WEB_MODULES": str(self.modules), "TELLTALE_CHROMIUM": chromium})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["answers"]

    def test_a_page_shows_what_was_recorded(self):
        page = self.flame(self.trace, "--program", self.map)
        parse = self.node_of(page, "parse")
        told = ("eval", "[...document.querySelectorAll('.details h2, .details .numbers dd, .details .facts dd')].map(e => e.textContent)")
        threads = ("eval", "[...document.querySelectorAll('[data-choice=Threads] option')].map(o => o.textContent)")
        answers = self.drive(page, threads, ("point", parse), told, ("click", "text=Functions"),
                             ("eval", "[...document.querySelectorAll('.table-body .table-row')].map(e => e.innerText.replace(/\\s+/g, ' '))"),
                             ("click", "text=Recording"), ("eval", "[...document.querySelectorAll('.facts dt')].map(e => e.textContent)"))
        shown = [a for a in answers if a is not None]
        self.assertEqual(shown[0], ["all threads", "thread 1 of process 9", "thread 2 of process 9"])
        self.assertEqual(shown[1], ["parse", "600 ns 40.00 % of all", "400 ns 26.67 % of all", "1", "parse", str(self.map), "2"])
        self.assertEqual(sorted(shown[2]), sorted(["800 ns 800 ns 2 emit", "400 ns 600 ns 1 parse", "200 ns 200 ns 1 Lex", "100 ns 1.5 us 2 main"]))
        self.assertEqual(shown[3], ["file", "format", "span", "threads", "calls"])

    def test_what_is_omitted_by_default(self):
        """Paths with at most 0.01 % of the time and of the calls."""
        rows = [event for _ in range(20_000) for event in (("enter", 1, 1), ("exit", 1, 99))]
        for function, nanoseconds, times in ((2, 100, 1), (3, 300, 3), (4, 100, 9)):
            rows += [event for _ in range(times) for event in (("enter", function, 1), ("exit", function, nanoseconds // times))]
        trace = self.folder / "rare.fdr"
        trace.write_bytes(fdr(rows))
        def shown(*words):
            data = page_data(self.flame(trace, *words))["data"]
            return sorted({data["calls"]["functions"][number][0] for number in data["calls"]["trees"][0]["function"] if number >= 0})
        self.assertEqual(shown("--min-percent", "0"), ["#1", "#2", "#3", "#4"])
        self.assertEqual(shown(), ["#1", "#3", "#4"])

    def test_the_header_names_losses(self):
        whole = self.folder / "whole.fdr"
        whole.write_bytes(fdr([("enter", 1, 10), ("enter", 2, 10), ("exit", 2, 10), ("exit", 1, 10)])[:-5])
        answers = self.drive(self.flame(whole), ("eval", "document.querySelector('.summary .loss').textContent"))
        self.assertRegex(answers[0], "losses .*bytes")

    def test_facts_say_what_was_lost_and_what_a_ring_left_out(self):
        program = recorder_programs.build("takes_turns", "functions")
        for options, name, words in (("size=64K,buffer=4K", "losses", r"^\d+ events lost: without a buffer"),
                                     ("mode=ring,size=64K,buffer=4K", "missing by design", r"^\d+ events lost: overwritten")):
            with self.subTest(options=options):
                path = self.folder / f"{name.split()[0]}.xray"
                subprocess.run([program], input="m" * 20_000, text=True, timeout=60, check=True,
                               env={**os.environ, **recorder_programs.settings("functions", path, options)})
                out = self.folder / "facts.json"
                subprocess.run([TELLTALE, "flame", path, "--json", "-o", out], check=True, timeout=60, capture_output=True)
                facts = {row["name"]: row["value"] for row in json.loads(out.read_text())["facts"]}
                self.assertRegex(facts[name], words)

    def test_omitted_paths_without_a_share_are_said_to_have_none(self):
        done = subprocess.run([TELLTALE, "flame", SOURCE_DIR / "examples/sessions/sessions.mlpd.gz", "--measure", "live-bytes", "-o", self.folder / "live.html"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\d+ of \d+ paths are omitted from the page: none has any of the ")

    def compared(self, *extra, output="page.html"):
        """A run and a later one, in which parse takes longer and emit is gone: ids have changed, names have not."""
        later = self.folder / "later.yaml"
        later.write_text(yaml_trace([(1, "enter", 2, 1000), (1, "enter", 1, 1000), (1, "exit", 1, 2200), (1, "exit", 2, 2500)]))
        names = self.folder / "later-map.yaml"
        names.write_text(yaml_map(["parse", "main"]))
        out = self.folder / output
        done = subprocess.run([TELLTALE, "flame", self.trace, later, "--program-a", self.map, "--program-b", names, "-o", out, "--min-percent", "0",
                               *extra], timeout=60, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def test_two_recordings_are_compared(self):
        data = json.loads(self.compared(output="compared.json").read_text())
        self.assertEqual(data["compared"], {"before": "small.yaml", "after": "later.yaml"})
        self.assertEqual([tree["title"] for tree in data["trees"]], ["all threads"])
        tree = data["trees"][0]
        names = ["all" if number < 0 else data["functions"][number]["function"] for number in tree["function"]]
        rows = list(zip(names, tree["before"]["total_ns"], tree["total_ns"], tree["before"]["calls"], tree["calls"]))
        self.assertEqual(rows, [("all", 1500, 1500, 0, 0), ("main", 1500, 1500, 2, 1), ("parse", 600, 1200, 1, 1), ("Lex", 200, 0, 1, 0),
                                ("emit", 800, 0, 2, 0)])
        self.assertEqual((tree["before"]["inside"][0], tree["inside"][0], tree["before"]["self_ns"][1], tree["self_ns"][1]), (6, 2, 100, 300))
        page = self.compared()
        answers = self.drive(page, ("eval", "document.title"), ("point", 2),
                             ("eval", "[...document.querySelectorAll('.details .numbers dd')].map(e => e.textContent)"),
                             ("click", "text=Recording"), ("eval", "[...document.querySelectorAll('.facts dt')].map(e => e.textContent)"))
        shown = [answer for answer in answers if answer is not None]
        self.assertEqual(shown[0], "small.yaml and later.yaml \u2013 comparison")
        self.assertEqual(shown[1][0], "600 ns \u2192 1.2 us +100 %")
        self.assertEqual([name for name in shown[2] if name.endswith("file")], ["A file", "B file"])

    def test_two_files_can_be_one_recording(self):
        output = self.folder / "both.json"
        one = self.folder / "one.fdr"
        one.write_bytes(fdr([("enter", 1, 10), ("enter", 2, 10), ("exit", 2, 10), ("exit", 1, 10)]))
        two = self.folder / "two.fdr"
        two.write_bytes(fdr([("enter", 1, 10), ("exit", 1, 10)], tid=78))
        for extra, told in ((["--together", "-o", output], ""), (["-o", self.folder / "both.svg"], "the SVG shows both files as one recording")):
            done = subprocess.run([TELLTALE, "flame", one, two, *extra], timeout=60, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(told, done.stderr)
        data = json.loads(output.read_text())
        self.assertNotIn("compared", data)
        self.assertEqual(data["trees"][0]["inside"][0], 3)
        for wrong in (["--follow", one, two], [one, "--program-a", self.map]):
            done = subprocess.run([TELLTALE, "flame", *wrong, "-o", output], timeout=60, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)

    def node_of(self, page, name):
        """The first node with this name in the first tree of the page's data."""
        calls = page_data(page)["data"]["calls"]
        number = next(i for i, info in enumerate(calls["functions"]) if info[0] == name)
        return calls["trees"][0]["function"].index(number)

    def check_names(self, page, wanted):
        """Every name is in the page as text, and showing it has no other effect."""
        functions = page_data(page)["data"]["calls"]["functions"]
        self.assertEqual(sorted(restore(info[0]) for info in functions), sorted(wanted))
        every = """(async () => {
          const {flame} = document.querySelector('.flame canvas');
          const functions = JSON.parse(document.getElementById('data').textContent).data.calls.functions;
          const wrong = [];
          for (let i = 1; i < flame.look.tree.size; i++) {
            const name = functions[flame.look.tree.fn[i]][0];
            location.hash = `#at=${i}&box=${i}`;
            await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
            const shown = document.querySelector('.details .facts dd');
            if (shown.textContent !== name || shown.children.length !== 0) wrong.push(name);
            const last = [...document.querySelectorAll('.crumbs button')].at(-1);
            if (last.title !== name) wrong.push(name);
          }
          return wrong;
        })()"""
        answers = self.drive(
            page, ("eval", every), ("fill", "#search", "script"), ("hover", 1),
            ("eval", "[typeof window.pwned, document.querySelectorAll('img, svg, iframe').length, document.scripts.length]"))
        self.assertEqual(answers[0], [])
        self.assertEqual(answers[-1], ["undefined", 0, 2])

    def test_hostile_names_are_only_text(self):
        names = self.folder / "hostile.yaml"
        names.write_text(yaml_map(HOSTILE))
        events = []
        for i in range(1, len(HOSTILE) + 1):
            events += [("enter", i, 10), ("exit", i, 1000)]
        trace = self.folder / f"<img src=x onerror={PWN}>.fdr"
        trace.write_bytes(fdr(events))
        self.check_names(self.flame(trace, "--program", names), HOSTILE)

    def test_ill_formed_names_are_only_text(self):
        bad = [b"\\377\\376", b"a\\200<img>", b"\\355\\240\\200", b"cut\\360\\237"]
        source = self.folder / "bad.c"
        source.write_bytes(b"".join(
            b'__attribute__((xray_always_instrument)) void f%d(void) __asm__("%s");\n'
            b"__attribute__((xray_always_instrument)) void f%d(void) { __asm__ volatile(\"\"); }\n" % (i, name, i)
            for i, name in enumerate(bad)) + b"int main(void) { return 0; }\n")
        program = self.folder / "bad"
        subprocess.run([compiler(), "-fxray-instrument", "-o", program, source], check=True, timeout=60, capture_output=True)
        trace = self.folder / "bad.fdr"
        trace.write_bytes(fdr([e for i in range(1, 5) for e in (("enter", i, 10), ("exit", i, 1000))]))
        page = self.flame(trace, "--program", program)
        shown = sorted(info[0] for info in page_data(page)["data"]["calls"]["functions"])
        self.assertEqual(shown, sorted([r"\xff\xfe", r"a\x80<img>", r"\xed\xa0\x80", r"cut\xf0\x9f"]))
        self.drive(page, ("hover", 1), ("hover", 2), ("hover", 3), ("hover", 4))

    def test_deep_recursion_needs_little_stack(self):
        deep = 100_000
        trace = self.folder / "deep.fdr"
        trace.write_bytes(fdr([("enter", 1, 1)] * deep + [("exit", 1, 1)] * deep))
        page = self.folder / "deep.html"
        for command in (["flame", "-o", page], ["flame", "-o", page, "--max-stack", "100000", "--max-nodes", "200000", "--min-percent", "0"],
                        ["flame", "-o", self.folder / "deep.svg"], ["stacks"], ["stacks", "--json"], ["graph"],
                        ["graph", "--json"]):
            done = subprocess.run(["bash", "-c", 'ulimit -s 256; exec "$@"', "bash", TELLTALE, command[0], trace, *command[1:]],
                                  timeout=60, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, (command, done.stderr[-500:]))
            if command[-1] == "0":
                answers = self.drive(page, ("flame", "[flame.look.tree.size, flame.look.tree.deepest]"), ("press", "i"),
                                     ("eval", "location.hash += '&at=50000'"), ("flame", "flame.zoomed"), ("flame", "flame.drawn < 100"),
                                     ("click", "text=Functions"), ("click", "text=Callers and callees"))
                self.assertEqual(answers[0], [deep + 1, deep])
                self.assertEqual(answers[3:5], [50000, True])


def page_data(page):
    text = page.read_text(encoding="utf-8")
    begin = '<script id="data" type="application/json">'
    return json.loads(text.partition(begin)[2].partition("</script>")[0])
