#include "help.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "option_table.h"
#include "trace_options.h"

namespace telltale::driver {
namespace {

using instrument::kSchemeCount;
using instrument::Option;
using instrument::OptionGroup;
using instrument::Scheme;

constexpr std::array<OptionGroup, 4> kGroups = {OptionGroup::kSites, OptionGroup::kSampling,
                                                OptionGroup::kRecords, OptionGroup::kProgram};

struct Entry {
  std::string term;
  std::string text;
};

struct Section {
  std::string title;
  std::vector<Entry> entries;
};

// The help text, with a note if the option is on by default.
std::string with_default(const Option& option) {
  const instrument::Options defaults;
  std::string text(option.help);
  if (option.toggle != nullptr && defaults.*(option.toggle)) text += " On by default.";
  return text;
}

std::vector<Section> option_sections() {
  std::vector<Section> sections;
  for (const OptionGroup group : kGroups) {
    Section section{std::string(title_of(group)), {}};
    for (const Option& option : instrument::all_options()) {
      if (option.group == group)
        section.entries.push_back({spelling_of(option), with_default(option)});
    }
    sections.push_back(std::move(section));
  }
  sections.back().entries.push_back({"-pthreads", "The same as -pthread."});
  sections.back().entries.push_back({"-mt", "The same as -pthread."});
  Section tracing{"Path tracing and coverage", {}};
  for (const instrument::TraceOptionHelp& option : instrument::trace_option_help())
    tracing.entries.push_back({std::string(option.spelling), std::string(option.help)});
  sections.push_back(std::move(tracing));
  sections.push_back({"Information",
                      {{kHelp, "Prints this text. clang's own options: clang --help."},
                       {kPrintManual, "Prints the manual page of telltale-cc in roff."}}});
  return sections;
}

Section scheme_section() {
  Section section{"Schemes", {}};
  for (std::size_t i = 0; i < kSchemeCount; ++i) {
    const auto scheme = static_cast<Scheme>(i);
    section.entries.push_back({instrument::scheme_name(scheme), instrument::scheme_help(scheme)});
  }
  return section;
}

// Environment variables of instrumented programs and of the drivers.
Section environment() {
  return {
      "Environment",
      {{"SAMPLER_SPARSITY",
        "Average number of site executions per observation; 1 or more. Without it, a program that "
        "samples observes nothing."},
       {"SAMPLER_RATES",
        "With -fsampler-adaptive: how many executions of each place are observed at first, as "
        "adaptive:N (the default is adaptive:100); uniform is none."},
       {"SAMPLER_FILE", "File to write the report to; %p becomes the process ID."},
       {"SAMPLER_APPEND", "If not empty: SAMPLER_FILE is not truncated."},
       {"SAMPLER_REPORT_FD",
        "Open file descriptor to write the report to; takes precedence over the file."},
       {"TELLTALE_COLLECT",
        "Without SAMPLER_FILE and SAMPLER_REPORT_FD: folder in which the report waits for "
        "`telltale send`."},
       {"SAMPLER_TRACE", "File that -ftrace-sites writes to; %p becomes the process ID."},
       {"SAMPLER_SEED", "Seed of the random numbers: the same seed gives the same sample."},
       {"SAMPLER_EVENT_COUNTDOWNS", "File of countdowns for -fsampler-random=offline."},
       {"SAMPLER_VERBOSE", "Prints on standard error whether the program writes a report."},
       {"TELLTALE_PATHS",
        "File that a program built with --trace writes when it crashes: a small core file; %p "
        "becomes the process ID."},
       {"TELLTALE_PATHS_AT_EXIT", "If not empty: the same when the program calls exit()."},
       {"TELLTALE_COLLECT_PATHS",
        "If not empty, without TELLTALE_PATHS: the file waits in the folder of TELLTALE_COLLECT, "
        "beside the report."},
       {"PT_ARRAY_SIZE, PT_HASH_SIZE", "The same as -path-array-size= and -hash-size=, which win."},
       {"CSI_SILENT", "The same as -silent."},
       {"TELLTALE_CLANG_RELEASE",
        "Release of clang that telltale-cc runs. Default: the newest that has a plugin."}}};
}

constexpr std::size_t kWidth = 80;

// Wraps `text` at kWidth columns; all lines but the first are indented by `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (column > indent && column + 1 + word.size() > kWidth) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return out;
}

std::string as_text(const Section& section) {
  constexpr std::size_t kColumn = 36;
  std::string out = "\n" + section.title + ":\n";
  for (const Entry& entry : section.entries) {
    std::string line = "  " + entry.term;
    line += line.size() + 2 > kColumn ? "\n" + std::string(kColumn, ' ')
                                      : std::string(kColumn - line.size(), ' ');
    out += line + wrapped(entry.text, kColumn) + "\n";
  }
  return out;
}

// Escapes text for roff.
std::string roff(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\(rs";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
  }
  return out;
}

std::string as_roff(const Section& section, const char* macro) {
  std::string out = macro + (" \"" + roff(section.title) + "\"\n");
  for (const Entry& entry : section.entries)
    out += ".TP\n\\fB" + roff(entry.term) + "\\fR\n" + roff(entry.text) + "\n";
  return out;
}

constexpr std::string_view kSummary = "compile programs that count what they do";
constexpr std::string_view kDescription =
    "telltale-cc and telltale-c++ are clang and clang++ with a plugin. Programs built with them "
    "count what happens at the sites of the chosen schemes, at every execution or at a sample of "
    "them, and write a feedback report when they end. telltale resolve, telltale report and other "
    "verbs read the reports. "
    "With --trace, each function keeps the last paths that it executed, for core files. All other "
    "options "
    "are clang's. Without a scheme or --trace, nothing is instrumented.";

}  // namespace

std::string help_text() {
  std::string out =
      "telltale-cc: " + std::string(kSummary) +
      "\n\n  telltale-cc [OPTION...] FILE...\n  telltale-c++ [OPTION...] FILE...\n\n" +
      wrapped(kDescription, 0) + "\n";
  for (const Section& section : option_sections()) out += as_text(section);
  out += as_text(scheme_section());
  return out + as_text(environment());
}

std::string manual_page() {
  // No date: the build is reproducible.
  std::string out = ".TH \"TELLTALE\\-CC\" 1 \"\" \"telltale " + roff(TELLTALE_VERSION) +
                    "\" \"telltale manual\"\n.nh\n.ad l\n";
  out += ".SH NAME\ntelltale\\-cc, telltale\\-c++, sampler\\-cc, csi\\-cc \\- " + roff(kSummary) +
         "\n";
  out += ".SH SYNOPSIS\n";
  for (const char* const name : {"telltale-cc", "telltale-c++"}) {
    out += "\\fB" + roff(name) + "\\fR [\\fIoption\\fR...] \\fIfile\\fR...\n";
    if (name == std::string_view("telltale-cc")) out += ".br\n";
  }
  out += ".SH DESCRIPTION\n" + roff(kDescription) + "\n";
  out += ".SH OPTIONS\n";
  for (const Section& section : option_sections()) out += as_roff(section, ".SS");
  out += as_roff(scheme_section(), ".SH");
  out += as_roff(environment(), ".SH");
  out += ".SH \"EXIT STATUS\"\nclang's; 1 if an option is invalid or no clang is found.\n";
  return out + ".SH \"SEE ALSO\"\n.BR telltale (1),\n.BR telltale\\-resolve (1),\n.BR clang (1)\n";
}

}  // namespace telltale::driver
