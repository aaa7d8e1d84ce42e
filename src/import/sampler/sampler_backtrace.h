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

// A frame of a main-backtrace subreport as text. The text is untrusted.
struct ResolvedFrame {
  std::string address;   // as in the report: "0x804ff1c"
  std::string module;    // likewise
  std::string function;  // demangled; empty: unknown
  std::string file;      // empty: unknown
  uint32_t line = 0;
  std::string directory;  // compilation directory
};

// Resolves backtraces with the given programs and libraries, matched by path or file name. Opens no
// other file that a report names.
class BacktraceResolver {
 public:
  explicit BacktraceResolver(std::vector<std::string> modules);

  // Looks up the call before a return address; if no call precedes the address, the program was
  // interrupted there, and the instruction at the address is looked up.
  ResolvedFrame resolve(const sampler::BacktraceFrame& frame);
  // The same, with a frame for each function that was inlined there: the innermost first, never
  // empty.
  std::vector<ResolvedFrame> resolve_inlined(const sampler::BacktraceFrame& frame);
  // If no frame belongs to a given file, a text that names the frames' modules; otherwise empty.
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
  // What is at a frame's call, by `look_up(symbolizer, address)`; the default value of its type if
  // the address is unknown.
  template <typename LookUp>
  auto look_up(const sampler::BacktraceFrame& frame, LookUp look_up);

  std::vector<Module> modules_;
  std::vector<std::string> strangers_;  // modules of frames that were not given, in order
  bool met_ = false;                    // a frame belonged to a given file
};

}  // namespace telltale
