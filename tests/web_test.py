#!/usr/bin/env python3
"""Runs a test of the page kit: web_test.py FILE.test.mjs; or checks its types: web_test.py types."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "end_to_end"))
from export_tools import SOURCE_DIR, alone, install_node_modules  # noqa: E402


def check_types(modules):
    """tsc finds packages beside the sources or where a configuration says; ours are in the build folder."""
    configuration = modules.parent / "tsconfig.json"
    web = SOURCE_DIR / "web"
    with alone(modules.parent / "types.lock"):
        configuration.write_text(json.dumps({"extends": str(web / "tsconfig.json"), "include": [str(web / "src")],
                                             "compilerOptions": {"paths": {"*": [f"{modules}/*"]}}}))
        return subprocess.run([modules / ".bin" / "tsc", "-p", configuration], timeout=300).returncode


def main():
    modules = install_node_modules("web")
    if sys.argv[1] == "types":
        return check_types(modules)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    page = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"]) / "web" / "page.html"
    environment = {**os.environ, "TELLTALE_WEB_MODULES": str(modules), "TELLTALE_PAGE": str(page), "TELLTALE_CHROMIUM": chromium}
    return subprocess.run(["node", "--test", sys.argv[1]], env=environment).returncode


sys.exit(main())
