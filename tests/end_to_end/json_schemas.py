"""The JSON Schemas that the build has made."""
import functools
import json
import os

import jsonschema

SCHEMAS = os.path.join(os.environ["TELLTALE_BINARY_DIR"], "schemas")


@functools.cache  # to check a schema takes as long as to check many a document
def validator(name):
    with open(os.path.join(SCHEMAS, name + ".schema.json")) as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def complaints(name, document):
    """Why the document is not valid by the schema of that name, or does not say that it is of it."""
    found = [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(document)]
    if document.get("schema") != {"name": name, "version": 1}:
        found.append(f"the document is of the schema {document.get('schema')}")
    return found
