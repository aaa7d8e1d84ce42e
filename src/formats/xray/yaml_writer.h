#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "formats/xray/records.h"
#include "formats/xray/timed_events.h"
#include "formats/xray/writer.h"

namespace telltale::xray {

// Writes the YAML of `llvm-xray convert -f yaml` (docs/formats/xray.md, "YAML"), record by record.
// Text is quoted so that no name or payload can end its string; bytes that are not UTF-8 are
// written as !!binary.
class YamlWriter {
 public:
  // `function_name` may be empty: then the id is written, as without symbols.
  YamlWriter(const FileHeader& header, std::function<std::string(uint32_t id)> function_name,
             BlockWriter& out);

  struct Thread {
    uint32_t tid = 0;
    uint32_t pid = 0;  // 0: not written
  };
  // A call with its arguments, or a custom or typed event. REQUIRES: one of these kinds.
  void write(const TimedEvent& event, const Thread& thread, std::span<const uint64_t> arguments);
  // Call once, last.
  void finish();

 private:
  std::function<std::string(uint32_t id)> function_name_;
  BlockWriter& out_;
  bool any_ = false;
};

// `text` as one YAML scalar for a flow mapping: plain if that is safe, otherwise quoted.
void append_yaml_scalar(std::string_view text, std::string& out);

}  // namespace telltale::xray
