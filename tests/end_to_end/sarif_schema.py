"""The published JSON Schema of SARIF 2.1.0, from the npm package @microsoft/jest-sarif."""
import functools
import json
import os
import pathlib
import subprocess
import tarfile
import tempfile

import jsonschema

PACKAGE, VERSION = "@microsoft/jest-sarif", "1.0.0-beta.0"
MEMBER = "package/lib/schemas/sarif-2.1.0-rtm.5.json"


@functools.cache
def validator():
    """A validator of logs; the schema is kept in the build folder."""
    kept = pathlib.Path(os.environ["TELLTALE_BINARY_DIR"]) / "npm/sarif-2.1.0-rtm.5.json"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            subprocess.run(["npm", "pack", "--silent", "--ignore-scripts", f"{PACKAGE}@{VERSION}"], cwd=folder, check=True, capture_output=True, timeout=300)
            (archive,) = pathlib.Path(folder).glob("*.tgz")
            with tarfile.open(archive) as files:
                text = files.extractfile(MEMBER).read()
            made = pathlib.Path(folder) / "schema.json"
            made.write_bytes(text)
            made.rename(kept)
    schema = json.loads(kept.read_text())
    jsonschema.Draft4Validator.check_schema(schema)
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())


def complaints(log):
    """Why a log is not valid."""
    return [f"{error.json_path}: {error.message}" for error in validator().iter_errors(log)]
