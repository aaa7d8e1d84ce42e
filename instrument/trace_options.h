// Options of --trace, and the grammar of its schema files (docs/formats/csi.md, docs/csi-guide.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/probe_placement.h"

namespace telltale::instrument {

// What a function is instrumented with; a set is the sum of its members.
using MechanismSet = unsigned;
inline constexpr MechanismSet kTracePaths = 1;      // PT
inline constexpr MechanismSet kCoverFunctions = 2;  // FC
inline constexpr MechanismSet kCoverCalls = 4;      // CC
inline constexpr MechanismSet kCoverBlocks = 8;     // BBC

// One line of a schema file: `FUNCTION;{MECHANISM,...};...`
struct TraceRule {
  std::string function;  // a symbol name; "*" is any
  // Sets of mechanisms. Several are variants of the function; the program has all of them.
  std::vector<MechanismSet> variants;
};

struct TraceOptions {
  std::string schema_file;       // of --trace=; empty for none
  std::vector<TraceRule> rules;  // its contents; the first rule that matches decides
  std::uint32_t ring_size = 10;  // path numbers that an activation keeps
  std::uint64_t most_paths = (std::uint64_t{1} << 63U) - 2;  // functions with more are skipped
  bool is_silent = false;
  bool filters = true;  // leaves out mechanisms that tell nothing about a function
  bool legacy_names = false;
  bool records_data = true;     // what each step of the code reads and writes
  bool line_tables = false;     // no debug information about variables and types
  unsigned coverage_level = 2;  // 0: all probes, to 3: the fewest
  ProbeStyle coverage_style = ProbeStyle::kLocalPrepass;  // of level 2
  bool only_complete_runs = false;   // activations end by returning: programs that do not crash
  bool dispatches_by_ifunc = false;  // between variants; otherwise by a variable

  [[nodiscard]] bool is_on() const { return !schema_file.empty(); }
  // Null if no rule matches.
  [[nodiscard]] const TraceRule* rule_for(std::string_view function) const;
};

// One line of --help.
struct TraceOptionHelp {
  std::string_view spelling;
  std::string_view help;
};
std::vector<TraceOptionHelp> trace_option_help();

// Whether the value may be the next word, without "=": --trace, -path-array-size, -hash-size.
bool takes_next_word(std::string_view word);

// Parses one option. Returns false if it is not one of ours. Sets `error` if its value is invalid.
// A number that is no positive integer is ignored, with a `warning`, as csi-cc does.
bool parse_trace_option(std::string_view word, TraceOptions& options,
                        std::optional<std::string>& error, std::optional<std::string>& warning);

// The options that PT_ARRAY_SIZE, PT_HASH_SIZE and CSI_SILENT of the environment stand for.
std::vector<std::string> trace_options_of_environment();

// Parses the text of a schema. Returns an error message, with the line, on failure.
std::optional<std::string> parse_schema(std::string_view text, const std::string& file,
                                        TraceOptions& options);
// The beginning of the name of a schema that the driver has read from standard input.
inline constexpr const char* kInheritedFile = "/proc/self/fd/";
// Reads options.schema_file. Without such a file, the original's schemas are built in: all.schema,
// bb.schema, cc.schema, cc_pt.schema, realistic.schema, and pt.schema.
std::optional<std::string> read_schema(TraceOptions& options);

// "CC$PT"; of an empty set "none". As in names of variants.
std::string name_of(MechanismSet mechanisms);

}  // namespace telltale::instrument
