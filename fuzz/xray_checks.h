#pragma once

// Properties of every input of the XRay fuzz targets. A check that fails aborts.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "formats/xray/convert.h"
#include "formats/xray/verifier.h"
#include "formats/xray/writer.h"
#include "fuzz_checks.h"
#include "output/dump/xray_dump.h"

namespace telltale::fuzz {

// Dump, check and rewriting of a binary trace with a readable header.
inline void check_binary(Bytes file) {
  std::string again;
  require(xray::rewrite_trace(file, into(again)).has_value(), "what has a header can be rewritten");
  require(again == std::string_view(reinterpret_cast<const char*>(file.data()), file.size()),
          "rewriting gives the same bytes");

  ProblemLog text_problems;
  ProblemLog json_problems;
  std::string text;
  std::string json;
  require(xray::dump_trace(file, "f", DumpStyle::kText, into(text), text_problems).has_value(),
          "dump");
  require(xray::dump_trace(file, "f", DumpStyle::kJson, into(json), json_problems).has_value(),
          "dump --json");
  require_placed(text_problems, file);
  require(text_problems.count() == json_problems.count(), "both styles see the same problems");
  require(std::ranges::count(text, '\n') == std::ranges::count(json, '\n'), "and the same records");
  for (const char c : text)
    require(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "no control characters");

  const Result<xray::Verdict> verdict = xray::verify_trace(file);
  require(verdict.has_value(), "check");
  require(verdict->valid() == (verdict->violations() == 0), "the first violation is counted");
  require(verdict->valid() || verdict->first->offset <= file.size(),
          "a violation is placed inside the input");
  if (verdict->valid()) require(text_problems.count() == 0, "a valid file has no problems");
}

// Converts; the result must be readable without any damage.
inline std::string check_conversion(Bytes file, std::string_view to) {
  ProblemLog problems;
  std::string out;
  require(xray::convert_trace(file, "f", *xray::parse_convert_target(to), into(out), problems)
              .has_value(),
          "conversion");
  require_placed(problems, file);
  return out;
}
inline std::string check_binary_conversion(Bytes file, std::string_view to) {
  const std::string out = check_conversion(file, to);
  // The same version is copied, damage included.
  if (std::ranges::equal(as_bytes(out), file)) return out;
  ProblemLog problems;
  std::string text;
  require(xray::dump_trace(as_bytes(out), "f", DumpStyle::kText, into(text), problems).has_value(),
          "a converted file can be read");
  require(problems.count() == 0, "a converted file is whole");
  return out;
}

// Conversions take most of an input's time, so each input gets one of them, chosen by its bytes.
// YAML is read back: it must give the same again.
inline void check_one_conversion(Bytes file, std::span<const std::string_view> targets) {
  uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const std::byte byte : file) hash = (hash ^ static_cast<uint64_t>(byte)) * 1099511628211U;
  const std::string_view to = targets[(hash >> 32) % targets.size()];
  if (to == "yaml") {
    const std::string yaml = check_conversion(file, to);
    require(check_conversion(as_bytes(yaml), to) == yaml, "YAML reads back");
  } else {
    check_binary_conversion(file, to);
  }
}

}  // namespace telltale::fuzz
