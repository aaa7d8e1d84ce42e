#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/problem.h"

namespace telltale {

// The result of `check` for one file of any format.
struct FileCheck {
  struct Violation {
    uint64_t offset = 0;  // in the file
    std::string kind;
    std::string record;
    std::string message;
    std::string text;  // all of it, as text
  };
  std::string file;
  std::string format;   // "xray-fdr"
  std::string title;    // "XRay FDR version 5"
  std::string version;  // as the file says it
  uint64_t records = 0;
  std::vector<std::pair<std::string, uint64_t>> violations;  // by kind; only kinds that occur
  std::optional<Violation> first;                            // the one with the smallest offset
  // Problems of the compression around the file, of text without a grammar, and those found by
  // opening it as a recording.
  ProblemLog damage;
  bool valid = false;
};

// Describes the result of a format's verifier in words. `Violation` is the format's.
template <typename Violation, typename Verdict>
void describe_verdict(const Verdict& verdict, FileCheck& checked) {
  checked.records = verdict.records;
  for (size_t i = 0; i < Violation::kKinds; ++i) {
    if (verdict.counts[i] == 0) continue;
    checked.violations.emplace_back(to_string(static_cast<typename Violation::Kind>(i)),
                                    verdict.counts[i]);
  }
  if (const auto& first = verdict.first) {
    checked.first = {first->offset, std::string(to_string(first->kind)), first->record,
                     first->message, to_string(*first)};
  }
  checked.valid = verdict.valid() && !checked.damage.damaged();
}

}  // namespace telltale
