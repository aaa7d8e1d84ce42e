#pragma once

#include <elfutils/libdwfl.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>

#include "program/symbolizer.h"

namespace telltale {

// Finds separate debug files for libdwfl's modules: those of the options, then by build-id and
// .gnu_debuglink, then from a debuginfod server if DEBUGINFOD_URLS is set. A server is asked for a
// file once in a process: what it did not have, or did not send in time, is missing from then on.
// Its files are used only if they have the build-id that was asked for.
// Must outlive the Dwfl that uses its callbacks.
class DebugFileSearch {
 public:
  explicit DebugFileSearch(SymbolizerOptions options);
  DebugFileSearch(const DebugFileSearch&) = delete;
  DebugFileSearch& operator=(const DebugFileSearch&) = delete;

  [[nodiscard]] const Dwfl_Callbacks* callbacks() const { return &callbacks_; }
  // To be called for each module that is reported: the search is its user data.
  void attach(Dwfl_Module* module);
  // The programs for which a server sent a file of another build, which is not used.
  [[nodiscard]] const std::set<std::string>& sent_others() const { return sent_others_; }

 private:
  static int find(Dwfl_Module* module, void** userdata, const char* module_name, Dwarf_Addr base,
                  const char* file_name, const char* link, GElf_Word checksum, char** found_name);
  int open_given_file(Dwfl_Module* module, char** found_name) const;

  SymbolizerOptions options_;
  std::string path_;
  char* path_text_ = nullptr;
  Dwfl_Callbacks callbacks_ = {};
  std::set<std::string> sent_others_;
};

// Calls tell(servers), with the text of DEBUGINFOD_URLS, when an answer takes longer than
// `patience`: at most once in a process, and from another thread. Call this before any search.
void on_debuginfod_wait(void (*tell)(std::string_view servers), std::chrono::milliseconds patience);

}  // namespace telltale
