// Writes the JSON Schema of each document into a folder as NAME.schema.json. A build step.
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "import/formats.h"
#include "output/output_file.h"
#include "output/table/json_schema.h"
#include "report/schemas/schemas.h"

namespace {

telltale::Result<void> write_file(const std::string& path, const std::string& text) {
  telltale::Result<telltale::OutputFile> file = telltale::OutputFile::open(path);
  if (!file) return std::unexpected(file.error());
  if (telltale::Result<void> written = file->write(text); !written) return written;
  return file->finish();
}

// Of a line of `dump --json`.
std::string records_schema(std::string_view name, const telltale::FormatDescriptor& format) {
  const std::vector<telltale::RecordTable> tables = format.records();
  std::vector<telltale::LineSchema> kinds;
  for (const telltale::RecordTable& table : tables)
    kinds.push_back({table.record, table.columns, table.open});
  return telltale::json_line_schema(
      name, "A line of what `dump --json` prints of " + std::string(format.noun) + ": a record.",
      kinds, format.takes_description);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') {
    std::fputs("usage: telltale_write_schemas FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  for (const telltale::DocumentSchema* schema : telltale::schemas::all()) {
    const auto path = folder / (std::string(schema->name) + ".schema.json");
    if (const auto done = write_file(path, telltale::json_schema(*schema)); !done) {
      std::fprintf(stderr, "telltale_write_schemas: %s\n", to_string(done.error()).c_str());
      return 1;
    }
  }
  for (const telltale::FormatDescriptor* format : telltale::all_formats()) {
    const std::string name = "dump-" + std::string(format->name);
    if (const auto done =
            write_file(folder / (name + ".schema.json"), records_schema(name, *format));
        !done) {
      std::fprintf(stderr, "telltale_write_schemas: %s\n", to_string(done.error()).c_str());
      return 1;
    }
  }
  return 0;
}
