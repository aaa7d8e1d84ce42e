#include "formats/stacktrack/reader.h"

#include <fmt/format.h>

#include <array>

namespace telltale::stacktrack {

std::string_view to_string(SkippedBytes::Reason reason) {
  static constexpr std::array<std::string_view, 5> kNames = {"head", "unused", "unfinished",
                                                             "damage", "tail"};
  return kNames[static_cast<size_t>(reason)];
}

Problem problem_of(const SkippedBytes& skipped, const std::string& file_name) {
  Problem problem{Problem::Kind::corruption, skipped.offset, file_name, "record", {},
                  skipped.bytes.size()};
  if (skipped.reason == SkippedBytes::Reason::head) {
    problem.kind = Problem::Kind::loss;
    problem.message = "the stream begins inside a record";
  } else if (skipped.reason == SkippedBytes::Reason::tail) {
    problem.kind = Problem::Kind::torn_tail;
    problem.message =
        fmt::format("the file ends inside this record, after {} bytes", skipped.bytes.size());
  } else {
    problem.message = "this is not a record: it has no type, or no process";
  }
  return problem;
}

}  // namespace telltale::stacktrack
