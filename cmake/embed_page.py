#!/usr/bin/env python3
"""Makes the page kit one HTML file, and that file C++ source.

Usage: embed_page.py OUTPUT.cc OUTPUT.html PAGE.html STYLE.css SCRIPT.js

In PAGE.html, @STYLE@ and @SCRIPT@ become the contents of these files, and @CSP@ a content security policy that allows
both by their hashes and nothing else. @DATA@ stays in OUTPUT.html: a page is that file with a payload in its place.
OUTPUT.cc defines embedded_page(), which returns the two halves around it.
"""
import base64
import hashlib
import pathlib
import sys


def source_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def array(name, text, width=40):
    """The text as an array: compilers need not take a string literal of more than 65,536 characters."""
    rows = [", ".join(str(ord(c)) for c in text[i:i + width]) for i in range(0, len(text), width)]
    return f"constexpr char {name}[] = {{\n    " + ",\n    ".join(rows) + "};\n"


def main():
    source, whole, *parts = sys.argv[1:]
    page, style, script = (pathlib.Path(path).read_text() for path in parts)
    if not page.isascii() or not style.isascii() or not script.isascii():
        sys.exit("embed_page.py: pages are written in ASCII; use escapes")
    if "</script" in script.lower() or "</style" in style.lower():
        sys.exit("embed_page.py: a script or style ends itself")
    policy = (f"default-src 'none'; script-src {source_hash(script)}; style-src {source_hash(style)}; "
              "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
    page = page.replace("@CSP@", policy).replace("@STYLE@", style).replace("@SCRIPT@", script)
    before, after = page.split("@DATA@")
    pathlib.Path(whole).write_text(page)
    pathlib.Path(source).write_text(
        f"// Made by cmake/embed_page.py.\n#include \"output/flame/embedded_page.h\"\n\nnamespace telltale {{\nnamespace {{\n\n"
        f"{array('kBefore', before)}{array('kAfter', after)}\n}}  // namespace\n\n"
        f"EmbeddedPage embedded_page() {{\n  return {{{{kBefore, sizeof kBefore}}, {{kAfter, sizeof kAfter}}}};\n}}\n\n"
        f"}}  // namespace telltale\n")



if __name__ == "__main__":
    main()
