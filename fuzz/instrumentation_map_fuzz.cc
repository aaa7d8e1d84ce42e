// ELF files and YAML as instrumentation maps, names of functions included.
#include <cstddef>
#include <cstdint>
#include <string>

#include "program/demangle.h"
#include "program/elf_image.h"
#include "program/instrumentation_map.h"

using namespace telltale;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  ProblemLog problems;
  const Result<InstrumentationMap> map = InstrumentationMap::read(bytes, "fuzz", problems);
  if (size < 4096) demangle(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!map) return 0;
  size_t sleds = 0;
  for (const InstrumentedFunction& function : map->functions()) {
    sleds += map->sleds(function).size();
    if (map->find(function.id) != &function) __builtin_trap();
  }
  if (sleds != map->sleds().size() || sleds > size) __builtin_trap();
  // Written maps read back as the same functions.
  std::string text;
  const size_t left_out = write_llvm_xray_yaml(
      *map, [](const InstrumentedFunction&) { return std::string("''"); },
      [&](std::string_view piece) { text += piece; });
  if (left_out == sleds) return 0;
  ProblemLog none;
  const Result<InstrumentationMap> again =
      InstrumentationMap::read_yaml(std::as_bytes(std::span(text)), "again", none);
  if (!again || again->sleds().size() != sleds - left_out) __builtin_trap();
  return 0;
}
