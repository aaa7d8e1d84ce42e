// Writes the JSON Schema of each document into a folder: NAME.schema.json. A step of the build.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "output/table/json_schema.h"
#include "report/schemas/schemas.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: telltale_write_schemas FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  for (const telltale::DocumentSchema* schema : telltale::schemas::all()) {
    std::ofstream file(folder / (std::string(schema->name) + ".schema.json"));
    file << telltale::json_schema(*schema);
    if (!file.flush()) {
      std::perror(argv[1]);
      return 1;
    }
  }
  return 0;
}
