// The table of all schemes and options of telltale-cc that are not clang's. The parser, `--help`,
// the manual page and docs/sampler-options.md are generated from it.
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
  std::string_view name;      // after "-f" or "-fno-"; ends with "=" if it takes a value
  std::string_view argument;  // placeholder of the value; empty for a toggle
  std::string_view help;      // one line
  bool Options::* toggle = nullptr;
  void (*take)(std::string_view value, Options& options,
               std::optional<std::string>& error) = nullptr;
  bool is_for_driver = false;  // not passed to the plugin
};

std::span<const Option> all_options();
std::string_view title_of(OptionGroup group);
// "-f[no-]sample", "-fsampler-scheme=NAME"
std::string spelling_of(const Option& option);

// The option that a word is, as the driver spells it; null if it is not one of ours.
const Option* find_option(std::string_view word);

}  // namespace telltale::instrument
