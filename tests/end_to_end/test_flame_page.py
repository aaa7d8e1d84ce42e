"""The flame graph's page in a browser: what it shows, how it is driven, and that no name can harm it."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

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
        cls.modules = install_node_modules()
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

    def drive(self, page, *steps, scheme="light"):
        """The steps' answers; the page must be free of problems (drive_page.js has both)."""
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        done = subprocess.run(["node", SOURCE_DIR / "tests" / "node" / "drive_page.js", self.modules, chromium],
                              input=json.dumps({"page": str(page), "scheme": scheme, "steps": steps}), timeout=60,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["problems"], [])
        return report["answers"]

    def look(self, what):
        """Where a picture goes: nowhere, unless a folder for looking at them is named."""
        folder = os.environ.get("TELLTALE_PICTURES")
        return [("picture", f"{folder}/{what}.png")] if folder else []

    def test_search_zoom_tooltip_and_reset(self):
        matched = ("eval", "document.getElementById('matched').textContent")
        tip = ("eval", "[...document.querySelectorAll('#tip .name, #tip tr')].map(e => e.innerText)")
        zoomed = ("eval", "view.tree.nameOf(view.zoomed)")
        crumbs = ("eval", "[...document.querySelectorAll('#path button')].map(e => e.textContent)")
        page = self.flame(self.trace, "--program", self.map)
        names = [name for _, name in sorted((self.node_of(page, n), n) for n in ("main", "parse", "Lex", "emit"))]
        self.assertEqual(names, ["main", "emit", "parse", "Lex"])  # the widest first
        parse = self.node_of(page, "parse")
        answers = self.drive(
            page, *self.look("light"),
            ("fill", "#search", "^(lex|nothing)$"), matched, *self.look("searched"),
            ("fill", "#search", "^lex$|P"), matched,
            ("fill", "#search", "Lex|emit"), matched,
            ("fill", "#search", "("), matched, ("eval", "document.getElementById('search').getAttribute('aria-invalid')"),
            ("press", "Escape"), matched,
            ("hover", parse), tip, ("eval", "document.getElementById('tip').hidden"),
            ("point", parse), zoomed, crumbs, ("fill", "#search", "lex"), matched, *self.look("zoomed"),
            ("click", "#reset"), zoomed, matched, ("eval", "document.getElementById('reset').disabled"))
        shown = [a for a in answers if a is not None]
        wanted = ["13.33 % matched", "no match", "66.67 % matched", "not a regular expression", "true", ""]
        text = [a for a in shown if isinstance(a, str)]
        self.assertEqual(text, [*wanted, "parse", "33.33 % matched", "all threads", "13.33 % matched"])
        tips, path = [a for a in shown if isinstance(a, list) and a and isinstance(a[0], str)]
        self.assertEqual(tips, ["parse", "calls\t1", "total\t600 ns \u00b7 40.00 % of all", "self\t400 ns \u00b7 26.67 % of all",
                                f"module\t{self.map}", "depth\t2"])
        self.assertEqual(path, ["all threads", "main", "parse"])
        self.assertEqual(shown[-1], True)

    def node_of(self, page, name):
        """The first node with this name in the first tree of the page's data."""
        data = page_data(page)
        number = next(i for i, info in enumerate(data["functions"]) if info[0] == name)
        return data["trees"][0]["function"].index(number)

    def test_threads_orientation_measure_and_keys(self):
        page = self.flame(self.trace, "--program", self.map)
        place = ("eval", "Math.round(view.placeOf(1)[1] - view.placeOf(0)[1])")
        state = ("eval", "[view.tree.nameOf(view.zoomed), view.selected < 0 ? '' : view.tree.nameOf(view.selected)]")
        answers = self.drive(
            page,
            ("eval", "[...document.getElementById('tree').options].map(o => o.textContent)"),
            place, ("click", "#flip"), place, ("press", "i"), place,
            ("select", "#tree", "2"), ("eval", "[view.tree.title, view.width[0]]"),
            ("select", "#tree", "0"), ("select", "#measure", "calls"), ("eval", "view.width[0]"),
            ("select", "#measure", "time"), ("eval", "document.activeElement.blur()"),
            ("press", "ArrowDown"), ("press", "ArrowDown"), ("press", "ArrowDown"), state,
            ("press", "ArrowRight"), state, ("press", "ArrowLeft"), state, ("press", "Enter"), state,
            ("press", "Backspace"), state, ("press", "Home"), state,
            ("press", "/"), ("eval", "document.activeElement.id"), ("press", "e"), ("press", "m"), ("press", "Enter"), state,
            ("press", "Escape"), ("press", "Escape"), state, ("press", "?"), ("eval", "document.getElementById('keys').hidden"),
            *[step for by in ("module", "file", "self") for step in (("select", "#colour", by), ("eval", "view.draw()"))])
        shown = [a for a in answers if a is not None]
        self.assertEqual(shown[:7], [
            ["all threads", "thread 1 of process 9", "thread 2 of process 9"], 19, -19, 19, ["2"],
            ["thread 2 of process 9", 500], ["0"]])
        self.assertEqual(shown[7:10], [["calls"], 6, ["time"]])
        self.assertEqual(shown[10:16], [["all threads", "emit"], ["all threads", "parse"], ["all threads", "emit"],
                                        ["emit", "emit"], ["main", "emit"], ["all threads", "emit"]])
        self.assertEqual(shown[16:20], ["search", ["all threads", "emit"], ["all threads", ""], False])

    def test_nested_matches_count_once(self):
        """main holds parse holds Lex: whoever matches inside of a match adds nothing."""
        matched = ("eval", "document.getElementById('matched').textContent")
        page = self.flame(self.trace, "--program", self.map)
        searches = (("main|parse|lex|emit", "100 %"), ("parse|lex", "40.00 %"), ("lex|main", "100 %"), ("parse|lex|emit", "93.33 %"))
        steps = [step for text, _ in searches for step in (("fill", "#search", text), matched)]
        told = [answer for answer in self.drive(page, *steps) if answer]
        self.assertEqual(told, [f"{share} matched" for _, share in searches])

    def test_the_zoomed_box_fills_the_width(self):
        """What the window shows begins where the box begins, which is not 0 for all but the first of their row."""
        page = self.flame(self.trace, "--program", self.map)
        for name in ("main", "parse", "Lex"):
            node = self.node_of(page, name)
            box = ("eval", f"(() => {{ const scale = view.shownWidth / (view.to - view.from); "
                           f"return [(view.starts[{node}] - view.from) * scale, view.width[{node}] * scale / view.shownWidth]; }})()")
            answers = self.drive(page, ("eval", f"view.starts[{node}]"), ("eval", f"zoom({node})"),
                                 ("until", f"Math.abs(view.width[{node}] - (view.to - view.from)) < 1e-6"), box)
            starts, told = answers[0], answers[-1]
            self.assertEqual(starts > 0, name != "main", name)  # the widest come first: emit stands before parse
            self.assertAlmostEqual(told[0], 0, places=3)
            self.assertAlmostEqual(told[1], 1, places=3)

    def test_dark_scheme_from_the_start_and_when_it_changes(self):
        page = self.flame(self.trace, "--program", self.map)
        pixel = ("eval", "[...view.context.getImageData(5, view.canvas.height - 5, 1, 1).data].slice(0, 3)")
        dark = [0x16, 0x18, 0x1C]
        light = [0xFB, 0xFB, 0xFC]
        answers = self.drive(page, pixel, scheme="dark")
        self.assertEqual(answers, [dark])
        answers = self.drive(page, ("scheme", "light"), ("eval", "view.draw()"), pixel, scheme="dark")
        self.assertEqual(answers[-1], light)
        self.drive(page, *self.look("dark"), ("hover", 2), *self.look("dark_tooltip"), scheme="dark")

    def check_names(self, page, wanted):
        """Every name is in the page as text, and showing each of them does nothing but that."""
        data = page_data(page)
        shown = [info[0] for info in data["functions"]]
        self.assertEqual(sorted(map(restore, shown)), sorted(wanted))
        every = """(() => {
          const wrong = [];
          for (let i = 0; i < view.tree.size; i++) {
            select(i);
            zoom(i);
            details.showTip(view, i, 50, 50);
            const name = view.tree.nameOf(i);
            const tip = document.querySelector('#tip .name');
            if (tip.textContent !== name || tip.children.length !== 0) wrong.push(name);
            const last = [...document.querySelectorAll('#path button')].at(-1);
            if (last.textContent !== name && i !== 0) wrong.push(name);
          }
          zoom(0);
          return wrong;
        })()"""
        answers = self.drive(
            page, ("eval", every),
            ("fill", "#search", "script"), ("hover", 1), *self.look("hostile"),
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
        shown = sorted(info[0] for info in page_data(page)["functions"])
        self.assertEqual(shown, sorted([r"\xff\xfe", r"a\x80<img>", r"\xed\xa0\x80", r"cut\xf0\x9f"]))
        self.drive(page, ("hover", 1), ("hover", 2), ("hover", 3), ("hover", 4))

    def test_a_hundred_thousand_boxes(self):
        events = []
        for i in range(1, 317):  # 316 functions that each call 316 others
            events.append(("enter", i, 1))
            for k in range(1, 317):
                events += [("enter", 1000 + k, 1), ("exit", 1000 + k, 1)]
            events.append(("exit", i, 1))
        trace = self.folder / "wide.fdr"
        trace.write_bytes(fdr(events))
        page = self.flame(trace, "--min-percent", "0", "--max-nodes", "200000")
        answers = self.drive(page, ("eval", "[view.tree.size, Number(view.canvas.dataset.drawn) > 300]"),
                             ("fill", "#search", "1001"), ("hover", 1), ("point", 1),
                             ("until", "Number(view.canvas.dataset.drawn) > 300"))
        self.assertEqual(answers[0], [1 + 316 + 316 * 316, True])

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
                answers = self.drive(page, ("eval", "[view.tree.size, view.tree.deepest]"), ("click", "#flip"),
                                     ("eval", "zoom(50000)"), ("eval", "view.draw()"), ("click", "#reset"))
                self.assertEqual(answers[0], [deep + 1, deep])


def page_data(page):
    text = page.read_text(encoding="utf-8")
    begin = '<script id="data" type="application/json">'
    return json.loads(text.partition(begin)[2].partition("</script>")[0])
