#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/problem.h"

namespace telltale {

// What `check` says of one file, whatever its format.
struct FileCheck {
  struct Violation {
    uint64_t offset = 0;  // in the file
    std::string kind;
    std::string record;
    std::string message;
    std::string text;  // all of it, for people
  };
  std::string file;
  std::string format;   // "xray-fdr"
  std::string title;    // "XRay FDR version 5"
  std::string version;  // as the file says it
  uint64_t records = 0;
  std::vector<std::pair<std::string, uint64_t>> violations;  // by kind; only kinds that occur
  std::optional<Violation> first;                            // the one with the smallest offset
  // Of the compression around it, of text that has no grammar of its own, and what reading it as a
  // recording finds.
  ProblemLog damage;
  bool valid = false;
};

// Puts the verdict of a format's verifier into words. `Violation` is the format's.
template <typename Violation, typename Verdict>
void tell_verdict(const Verdict& verdict, FileCheck& checked) {
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
