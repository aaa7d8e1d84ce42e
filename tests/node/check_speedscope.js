// Validates a speedscope file against the schema that speedscope ships.
// Usage: node check_speedscope.js NODE_MODULES FILE
const fs = require("fs");
const path = require("path");
const [modules, file] = process.argv.slice(2);
const Ajv = require(path.join(modules, "ajv"));
const schema = JSON.parse(
  fs.readFileSync(path.join(modules, "speedscope/dist/release/file-format-schema.json"), "utf8"));
const validate = new Ajv({strict: false, allErrors: true}).compile(schema);
if (!validate(JSON.parse(fs.readFileSync(file, "utf8")))) {
  console.error(JSON.stringify(validate.errors, null, 1));
  process.exit(1);
}
