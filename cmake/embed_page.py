#!/usr/bin/env python3
"""Makes a page that is one file out of its parts, as C++ source.

Usage: embed_page.py OUTPUT.cc FUNCTION PAGE.html STYLE.css SCRIPT.js...

In PAGE.html, @STYLE@ and @SCRIPT@ become the contents, @CSP@ a content security policy that allows these two by
their hashes and nothing else, and @DATA@ is where the caller's data goes: FUNCTION returns the page's two halves.
"""
import base64
import hashlib
import pathlib
import sys


def source_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def literal(text):
    # Compilers limit the length of one literal: a line each, joined by the preprocessor.
    lines = [line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") for line in text.split("\n")]
    return "\n".join(f'    "{line}\\n"' for line in lines[:-1]) + f'\n    "{lines[-1]}"'


def main():
    output, function, page, style, *scripts = sys.argv[1:]
    page, style = (pathlib.Path(path).read_text() for path in (page, style))
    script = "".join(pathlib.Path(path).read_text() for path in scripts)
    if not page.isascii() or not style.isascii() or not script.isascii():
        sys.exit("embed_page.py: pages are written in ASCII; use escapes")
    if "</script" in script.lower() or "</style" in style.lower():
        sys.exit("embed_page.py: a script or style ends itself")
    policy = (f"default-src 'none'; script-src {source_hash(script)}; style-src {source_hash(style)}; "
              "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'")
    page = page.replace("@CSP@", policy).replace("@STYLE@", style).replace("@SCRIPT@", script)
    before, after = page.split("@DATA@")
    pathlib.Path(output).write_text(
        f"// Made by cmake/embed_page.py.\n#include \"output/embedded_page.h\"\n\nnamespace telltale {{\n\n"
        f"EmbeddedPage {function}() {{\n  return {{\n{literal(before)},\n{literal(after)}}};\n}}\n\n"
        f"}}  // namespace telltale\n")


if __name__ == "__main__":
    main()
