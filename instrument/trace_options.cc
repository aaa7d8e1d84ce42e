#include "trace_options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace telltale::instrument {
namespace {

struct BuiltInSchema {
  std::string_view name;
  std::string_view text;
};
constexpr std::array<BuiltInSchema, 6> kBuiltInSchemas = {{
    {"pt.schema", "*;{PT}\n"},
    {"all.schema", "*;{CC,PT,FC,BBC}\n"},
    {"bb.schema", "*;{BBC}\n"},
    {"cc.schema", "*;{CC}\n"},
    {"cc_pt.schema", "*;{CC,PT}\n"},
    {"realistic.schema", "*;{};{CC};{CC,PT}\n"},
}};
struct Mechanism {
  std::string_view name;
  MechanismSet set;
};
// In the order of names.
constexpr std::array<Mechanism, 4> kMechanisms = {
    {{"BBC", kCoverBlocks}, {"CC", kCoverCalls}, {"FC", kCoverFunctions}, {"PT", kTracePaths}}};

// Accepts one dash or two.
bool take_name(std::string_view& word, std::string_view name) {
  std::string_view rest = word;
  if (!rest.starts_with('-')) return false;
  rest.remove_prefix(rest.starts_with("--") ? 2 : 1);
  if (!rest.starts_with(name)) return false;
  word = rest.substr(name.size());
  return true;
}

bool is_option(std::string_view word, std::string_view name) {
  return take_name(word, name) && word.empty();
}

bool is_development_option(std::string_view word) {
  return is_option(word, "verify-results") || is_option(word, "no-heuristics") ||
         is_option(word, "log-stats") || take_name(word, "debug-pass=");
}

// A positive integer as C spells it: decimal, octal or hexadecimal.
std::optional<std::uint64_t> positive_number(std::string_view text, std::uint64_t most) {
  const std::string digits(text);
  if (digits.empty() || std::isdigit(static_cast<unsigned char>(digits[0])) == 0)
    return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const std::uint64_t number = std::strtoull(digits.c_str(), &end, 0);
  if (*end != '\0' || errno != 0 || number == 0 || number > most) return std::nullopt;
  return number;
}

template <typename Number>
void take_number(std::string_view name, std::string_view value, std::uint64_t most, Number& number,
                 std::optional<std::string>& warning) {
  const std::optional<std::uint64_t> given = positive_number(value, most);
  if (given.has_value()) {
    number = static_cast<Number>(*given);
  } else {
    warning = std::string(name) + " needs a number from 1 to " + std::to_string(most) + ", not '" +
              std::string(value) + "'; ignored";
  }
}

void take_style(std::string_view value, TraceOptions& options, std::optional<std::string>& error) {
  if (value == "simple") {
    options.coverage_style = ProbeStyle::kSimple;
  } else if (value == "local") {
    options.coverage_style = ProbeStyle::kLocal;
  } else if (value == "local-prepass") {
    options.coverage_style = ProbeStyle::kLocalPrepass;
  } else if (value != "gams" && value != "lemon") {
    // These two are solvers of level 3, which has its own here.
    error = "-opt-style= needs simple, local or local-prepass, not '" + std::string(value) + "'";
  }
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

// One variant, without its braces.
std::optional<std::string> parse_mechanisms(std::string_view text, MechanismSet& variant) {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string name = upper(text.substr(0, comma));
    const auto* const found =
        std::find_if(kMechanisms.begin(), kMechanisms.end(),
                     [&](const Mechanism& mechanism) { return mechanism.name == name; });
    if (found == kMechanisms.end())
      return "unknown mechanism '" + std::string(text.substr(0, comma)) +
             "'; mechanisms are PT, FC, CC and BBC";
    variant |= found->set;
    if (comma == std::string_view::npos) return std::nullopt;
    text.remove_prefix(comma + 1);
    if (text.empty()) return "a mechanism is missing after ','";
  }
  return std::nullopt;
}

// `line` is without white space.
std::optional<std::string> parse_rule(std::string_view line, TraceRule& rule) {
  const std::size_t semicolon = line.find(';');
  if (semicolon == std::string_view::npos || semicolon == 0)
    return "a rule must have the form FUNCTION;{MECHANISM,...}";
  rule.function = line.substr(0, semicolon);
  line.remove_prefix(semicolon + 1);
  // A semicolon may end the last variant.
  if (line.ends_with(';')) line.remove_suffix(1);
  for (;;) {
    const std::size_t end = line.find('}');
    if (!line.starts_with('{') || end == std::string_view::npos)
      return "a variant must have the form {MECHANISM,...}";
    MechanismSet variant = 0;
    if (const auto error = parse_mechanisms(line.substr(1, end - 1), variant)) return error;
    rule.variants.push_back(variant);
    line.remove_prefix(end + 1);
    if (line.empty()) return std::nullopt;
    if (!line.starts_with(';')) return "';' must separate variants";
    line.remove_prefix(1);
  }
}

}  // namespace

const TraceRule* TraceOptions::rule_for(std::string_view function) const {
  for (const TraceRule& rule : rules) {
    if (rule.function == "*" || rule.function == function) return &rule;
  }
  return nullptr;
}

std::vector<TraceOptionHelp> trace_option_help() {
  return {
      {"--trace=SCHEMA",
       "Instruments functions according to a schema file with lines FUNCTION;{MECHANISM,...}; '-' "
       "is standard input. "
       "Mechanisms are PT (paths), FC, CC and BBC (coverage of functions, calls and blocks); "
       "several variants of a function are separated by ';'. Built in are pt.schema, cc.schema, "
       "bb.schema, cc_pt.schema, all.schema and realistic.schema."},
      {"-csi-opt=N",
       "How many probes of coverage are saved: 0 none, 1 those of further calls in a block, 2 what "
       "a heuristic finds (default), 3 as many as possible."},
      {"-opt-style=STYLE",
       "The heuristic of -csi-opt=2: simple, local or local-prepass (default)."},
      {"-complete-exe", "Saves the probes that only programs that crash need."},
      {"--indirect-style=STYLE",
       "How a function with variants chooses one: std, by a variable of the program (default), or "
       "ifunc, once when the program is loaded."},
      {"-path-array-size=N",
       "Keeps the last N paths of each activation; 10 by default. N may be the next word."},
      {"-hash-size=N",
       "Excludes functions with more than N paths; by default none. N may be the next word."},
      {"-silent", "Prints no warnings about functions that are not instrumented."},
      {"-no-filter",
       "Keeps mechanisms that say nothing about a function, such as paths without branches."},
      {"-f[no-]trace-legacy-names",
       "Uses the names of csi-cc's debug information for the variables, instead of those of its "
       "manual; each function has all three, from its entry on."},
      {"-f[no-]trace-data",
       "Writes what each line reads and writes into the program, for telltale paths --slice "
       "(default). The code is the same without it."},
      {"-f[no-]trace-line-tables",
       "Describes lines and inlined functions to debuggers, but no variables and types of "
       "optimised code, which compiles faster (default without -g)."},
  };
}

bool takes_next_word(std::string_view word) {
  return is_option(word, "trace") || is_option(word, "path-array-size") ||
         is_option(word, "hash-size");
}

bool parse_trace_option(std::string_view word, TraceOptions& options,
                        std::optional<std::string>& error, std::optional<std::string>& warning) {
  std::string_view value = word;
  if (take_name(value, "trace=")) {
    options.schema_file = value;
    if (value.empty()) error = "--trace= needs the name of a schema file";
    // `--trace file.c`: clang would only say that it has no input.
    for (const char* const suffix : {".c", ".cc", ".cpp", ".cxx", ".o"}) {
      if (value.ends_with(suffix))
        error = "--trace needs a schema file, not " + std::string(value) +
                ": --trace=pt.schema traces all functions";
    }
  } else if (take_name(value, "path-array-size=")) {
    // The array is in every frame.
    constexpr std::uint64_t kMostRing = 1U << 20U;
    take_number("-path-array-size= (PT_ARRAY_SIZE)", value, kMostRing, options.ring_size, warning);
  } else if (take_name(value, "hash-size=")) {
    take_number("-hash-size= (PT_HASH_SIZE)", value, TraceOptions().most_paths, options.most_paths,
                warning);
  } else if (take_name(value, "csi-opt=")) {
    if (value.size() != 1 || value[0] < '0' || value[0] > '3') {
      error = "-csi-opt= needs a level from 0 to 3, not '" + std::string(value) + "'";
    } else {
      options.coverage_level = static_cast<unsigned>(value[0] - '0');
    }
  } else if (take_name(value, "opt-style=")) {
    take_style(value, options, error);
  } else if (take_name(value, "indirect-style=")) {
    options.dispatches_by_ifunc = value == "ifunc";
    if (value != "ifunc" && value != "std")
      error = "--indirect-style= needs std or ifunc, not '" + std::string(value) + "'";
  } else if (is_option(word, "complete-exe")) {
    options.only_complete_runs = true;
  } else if (is_option(word, "silent")) {
    options.is_silent = true;
  } else if (is_option(word, "no-filter")) {
    options.filters = false;
  } else if (is_development_option(word)) {
    warning = std::string(word) + " is ignored: it was for the development of csi-cc";
  } else if (word == "-ftrace-legacy-names" || word == "-fno-trace-legacy-names") {
    options.legacy_names = word.starts_with("-ft");
  } else if (word == "-ftrace-data" || word == "-fno-trace-data") {
    options.records_data = word.starts_with("-ft");
  } else if (word == "-ftrace-line-tables" || word == "-fno-trace-line-tables") {
    options.line_tables = word.starts_with("-ft");
  } else {
    return false;
  }
  return true;
}

std::vector<std::string> trace_options_of_environment() {
  std::vector<std::string> words;
  const auto take = [&](const char* variable, const std::string& option) {
    if (const char* const value = std::getenv(variable)) words.push_back(option + value);
  };
  take("PT_ARRAY_SIZE", "-path-array-size=");
  take("PT_HASH_SIZE", "-hash-size=");
  if (std::getenv("CSI_SILENT") != nullptr) words.emplace_back("-silent");
  return words;
}

std::optional<std::string> parse_schema(std::string_view text, const std::string& file,
                                        TraceOptions& options) {
  unsigned number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line;
    for (const char c : text.substr(0, end)) {
      if (std::isspace(static_cast<unsigned char>(c)) == 0) line += c;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    TraceRule rule;
    if (const std::optional<std::string> error = parse_rule(line, rule))
      return file + ":" + std::to_string(number) + ": " + *error;
    options.rules.push_back(std::move(rule));
  }
  return std::nullopt;
}

std::optional<std::string> read_schema(TraceOptions& options) {
  const std::string name =
      options.schema_file.starts_with(kInheritedFile) ? "standard input" : options.schema_file;
  // A folder can be opened, too; reading it would throw.
  std::error_code failure;
  std::ifstream file(options.schema_file);
  if (file && !std::filesystem::is_directory(options.schema_file, failure)) {
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return parse_schema(text, name, options);
  }
  for (const BuiltInSchema& schema : kBuiltInSchemas) {
    if (schema.name == options.schema_file)
      return parse_schema(schema.text, options.schema_file, options);
  }
  if (options.schema_file.starts_with('-'))
    return "--trace needs a schema file: --trace=pt.schema traces all functions";
  return "--trace: cannot read the schema file " + options.schema_file +
         "; without a file of that name, pt.schema traces all functions";
}

std::string name_of(MechanismSet mechanisms) {
  std::string name;
  for (const Mechanism& mechanism : kMechanisms) {
    if ((mechanisms & mechanism.set) == 0) continue;
    if (!name.empty()) name += '$';
    name += mechanism.name;
  }
  return name.empty() ? "none" : name;
}

}  // namespace telltale::instrument
