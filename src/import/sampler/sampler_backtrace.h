#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/input_file.h"
#include "formats/sampler/backtrace.h"
#include "program/elf_image.h"
#include "program/symbolizer.h"

namespace telltale {

// A frame of a main-backtrace subreport in words. Text is never trusted.
struct ResolvedFrame {
  std::string address;   // as in the report: "0x804ff1c"
  std::string module;    // likewise
  std::string function;  // as the programmer writes it; empty: unknown
  std::string file;      // empty: unknown
  uint32_t line = 0;
  std::string directory;  // that the compiler ran in
};

// Resolves backtraces with the programs and libraries that were given, which are known by their
// path or the last part of it. No other file is opened, whatever a report names.
class BacktraceResolver {
 public:
  explicit BacktraceResolver(std::vector<std::string> modules);

  // Looks up the instruction before the address, which is where a call returns to; the one at the
  // address if no call stands before it: there the program was interrupted.
  ResolvedFrame resolve(const sampler::BacktraceFrame& frame);
  // There were frames, and none of them is of a file that was given: in words, what they name.
  // Empty otherwise.
  [[nodiscard]] std::string mismatch() const;

 private:
  struct Module {
    std::string path;
    std::unique_ptr<Symbolizer> symbolizer;
    std::optional<InputFile> file;
    std::optional<ElfImage> image;  // none: unreadable
  };
  static void open(Module& module);
  Module* find(std::string_view module);

  std::vector<Module> modules_;
  std::vector<std::string> strangers_;  // modules of frames that nobody gave, in order
  bool met_ = false;                    // a frame was of a file that was given
};

}  // namespace telltale
