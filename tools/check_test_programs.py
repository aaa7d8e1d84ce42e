#!/usr/bin/env python3
"""Fails when a Python file under tests/ or bench/ holds a C, C++ or C# program in a string: they are files in tests/programs/.

Usage: check_test_programs.py [SOURCE_DIR]
"""
import ast
import pathlib
import re
import sys

# main with its body or without, a function or a class with a body, or an #include that is followed by more text.
TYPE = r"(?:void|int|long|unsigned|double|float|bool|char|auto|size_t)"
PROGRAM = re.compile(rf"\bmain\s*\([^)]*\)\s*\{{|^\s*#\s*include\s*[<\"][^>\"]*[>\"]\s*\n\s*\S|{TYPE}[\s*]+\w+\s*\([^)]*\)\s*\{{|\bclass \w+\s*\{{",
                     re.MULTILINE)
# (file, what the string begins with): why it is no file. Each must still be there.
ALLOWED = {
    ("tests/end_to_end/reliability.py", "int main() {}"): "the end of a program that is generated from hostile names",
    ("tests/end_to_end/test_exports.py", "__attribute__((xray_always_instrument)) void f"): "generated from hostile names",
    ("tests/end_to_end/test_exports.py", "int main(void) { return 0; }"): "the end of the same program",
    ("tests/end_to_end/test_sampler_accesses.py", "void fx(void) {"): "generated: the same statements in functions of two sizes",
    ("tests/end_to_end/test_sampler_accesses.py", "int main(void) { "): "the end of the same program",
    ("tests/end_to_end/test_sampler_accesses.py", "int main(int argc, char **argv) {"): "generated: 210 assignments",
    ("tests/end_to_end/test_sampler_killed.py", "xint x(int n) {"): "generated: as many assignments as the test asks for",
    ("tests/end_to_end/test_symbols.py", "int main() { %s }"): "the end of a program of 32 generated functions",
}
# Tests of tools that read sources: their inputs are pieces of code, not programs.
ALLOWED_FOLDERS = ("tests/tools/",)


def strings(tree):
    """(line, text) of each string; a formatted one has x where a value goes."""
    parts = set()
    for node in ast.walk(tree):  # a formatted string comes before its parts
        if isinstance(node, ast.JoinedStr):
            parts.update(map(id, node.values))
            yield node.lineno, "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value


def complaints(root):
    used = set()
    for path in sorted([*(root / "tests").rglob("*.py"), *(root / "bench").rglob("*.py")]):
        name = path.relative_to(root).as_posix()
        if name.startswith(ALLOWED_FOLDERS):
            continue
        for line, text in strings(ast.parse(path.read_text())):
            if not PROGRAM.search(text):
                continue
            allowed = [key for key in ALLOWED if key[0] == name and text.lstrip().startswith(key[1])]
            used.update(allowed)
            if not allowed:
                yield f"{name}:{line}: a program in a string: make it a file in tests/programs/"
    for key in ALLOWED:
        if (root / key[0]).is_file() and key not in used:
            yield f"{key[0]}: no string begins with '{key[1]}': remove it from tools/check_test_programs.py"


def main():
    found = list(complaints(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)))
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
