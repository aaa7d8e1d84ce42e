#pragma once

// Converts a recording and reads the result back.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "import/formats.h"
#include "import/open_recording.h"
#include "import/timed_calls.h"
#include "model/events.h"
#include "support/verb_runner.h"

namespace telltale::testing {

struct CallCounts {
  uint64_t entries = 0;
  uint64_t exits = 0;
};

// Empty if the file is not a recording of calls.
inline std::optional<CallCounts> count_calls(const std::string& path) {
  struct Counter : IgnoreEvents {
    CallCounts counts;
    void enter(Ticks, FunctionId) { ++counts.entries; }
    void leave(Ticks, FunctionId, LeaveKind) { ++counts.exits; }
  };
  OpenOptions options;
  options.files = {path};
  const auto recording = open_recording(options);
  if (!recording) return std::nullopt;
  const TimedCalls* calls = (*recording)->timed_calls();
  if (calls == nullptr) return std::nullopt;
  Counter counter;
  ProblemLog problems;
  for (size_t stream = 0; stream < calls->streams().size(); ++stream) {
    for (size_t shard = 0; shard < calls->streams()[stream].shards; ++shard)
      calls->play(stream, shard, counter, problems);
  }
  return counter.counts;
}

// Converts the runner's recording to `target`. Returns what is wrong with the result: it cannot be
// read back, or lacks calls of the recording beyond those that `convert` reported as lost. Empty:
// it is correct, or the recording cannot be converted to that format.
inline std::string check_conversion(VerbRunner& runner, const std::string& target) {
  const std::string& recording = runner.files().recording;
  const std::string converted = runner.files().output + "-converted";
  ::unlink(converted.c_str());
  if (runner.run({"convert", "--json", "--to", target, "-o", converted, recording}) != 0) return {};
  const nlohmann::json told = nlohmann::json::parse(runner.printed(), nullptr, false);
  if (told.is_discarded()) return "convert --json prints no JSON";
  if (target == "chrome" || target == "speedscope") {
    std::ifstream file(converted, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return nlohmann::json::accept(text) ? "" : target + " is no JSON";
  }
  const std::optional<OutputFormat> format = output_format_of_name(target);
  if (!format || format->is_export()) return {};
  uint64_t lost = 0;
  for (const nlohmann::json& loss : told["losses"]) lost += loss["count"].get<uint64_t>();
  if (std::filesystem::is_empty(converted))
    return lost != 0 ? "" : target + ": nothing was written, and nothing is said to be lost";
  // Torn data of the recording may stay torn; nothing else may be damaged.
  const int allowed = runner.run({"info", "--strict", recording});
  const int status = runner.run({"info", "--strict", converted});
  if (status != 0 && status != allowed)
    return fmt::format("{}: info --strict of the result ends with {}", target, status);
  const std::optional<CallCounts> before = count_calls(recording);
  if (!before) return {};  // counts without calls
  const std::optional<CallCounts> after = count_calls(converted);
  if (!after) return target + ": the result cannot be opened";
  if (after->entries <= before->entries && after->exits <= before->exits &&
      after->entries + after->exits + lost >= before->entries + before->exits)
    return {};
  return fmt::format("{}: {} entries and {} exits become {} and {}, {} said to be lost", target,
                     before->entries, before->exits, after->entries, after->exits, lost);
}

}  // namespace telltale::testing
