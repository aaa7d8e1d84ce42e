#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace telltale::cli {

// What a fuzzer says of an input that it kept.
enum class FuzzKind : uint8_t { corpus, crash, hang };

struct FuzzInput {
  std::string path;
  FuzzKind kind = FuzzKind::corpus;
  bool operator==(const FuzzInput&) const = default;
};

// By the names that libFuzzer (crash-, leak-, oom-, timeout-) and honggfuzz (SIGSEGV.PC. ...) give
// files.
FuzzKind kind_of_file(std::string_view name);

// The inputs in a fuzzer's folder, or one file, ordered by path. AFL and AFL++: `queue`, `crashes`
// and `hangs` of the folder, or of its subfolders, one an instance. Otherwise, as libFuzzer and
// honggfuzz have them, all files of the folder and its subfolders; hidden ones and the fuzzers' own
// reports are left out. Errors: io; usage, if there is no input.
Result<std::vector<FuzzInput>> find_fuzz_inputs(const std::string& path);

}  // namespace telltale::cli
