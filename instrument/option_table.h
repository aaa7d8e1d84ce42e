// Every option of telltale-cc that is not clang's, and every scheme: what parses them, `--help` and
// the manual page all read this table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "options.h"

namespace telltale::instrument {

enum class OptionGroup : std::uint8_t { kSites, kSampling, kRecords, kProgram };

struct Option {
  OptionGroup group;
  std::string_view
      name;  // behind "-f", and behind "-fno-" of a toggle; "=" ends it if it takes a value
  std::string_view argument;  // what the value is; empty for a toggle
  std::string_view help;      // one line
  bool Options::* toggle = nullptr;
  void (*take)(std::string_view value, Options& options,
               std::optional<std::string>& error) = nullptr;
  bool is_for_driver = false;  // the plugin has no use for it
};

std::span<const Option> all_options();
std::string_view title_of(OptionGroup group);
// "-f[no-]sample", "-fsampler-scheme=NAME"
std::string spelling_of(const Option& option);

// The option that a word is, as the driver spells it; null if it is none of ours.
const Option* find_option(std::string_view word);

}  // namespace telltale::instrument
