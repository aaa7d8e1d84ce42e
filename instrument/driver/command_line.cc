#include "command_line.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "driver/traced_object.h"
#include "option_table.h"
#include "trace_options.h"

namespace telltale::driver {
namespace {

using instrument::Options;

// With these options clang does not link.
constexpr std::array<std::string_view, 15> kNoLink = {
    "-c",        "-S",           "-E",           "-M",     "-MM",
    "--version", "-dumpversion", "-dumpmachine", "--help", "-fsyntax-only",
    "-emit-ast", "--precompile", "-r",           "-###",   "--analyze"};
// With these options clang compiles nothing.
constexpr std::array<std::string_view, 6> kNoCode = {"-E",   "-M",        "-MM",
                                                     "-###", "--analyze", "-fsyntax-only"};
// Options whose value is the next word.
constexpr std::array<std::string_view, 30> kTakesNext = {
    "-o",           "-x",          "-include", "-I",         "-D",        "-U",
    "-L",           "-l",          "-MF",      "-MT",        "-MQ",       "-isystem",
    "-iquote",      "-Xassembler", "-Xlinker", "-target",    "-arch",     "-Xclang",
    "-z",           "-u",          "-imacros", "-idirafter", "-isysroot", "--sysroot",
    "-include-pch", "-mllvm",      "-T",       "-e",         "--param",   "-Xpreprocessor"};
// With these options clang does not link libc, which runtimes need.
constexpr std::array<std::string_view, 3> kNoLibc = {"-nostdlib", "-nodefaultlibs", "-nolibc"};
constexpr std::array<std::string_view, 5> kHeaderEndings = {".h", ".hh", ".H", ".hpp", ".hxx"};
constexpr std::array<std::string_view, 9> kSourceEndings = {".c",   ".cc",   ".cpp", ".cxx", ".C",
                                                            ".c++", ".cppm", ".ixx", ".CPP"};

template <std::size_t kSize>
bool is_one_of(const std::array<std::string_view, kSize>& names, std::string_view word) {
  return std::find(names.begin(), names.end(), word) != names.end();
}

// Expands response files, which may contain sampler options, to a limited depth. clang reports
// those that cannot be read.
void expand(const std::vector<std::string>& given, std::vector<std::string>& out, int depth) {
  constexpr int kMostDepth = 16;
  for (const std::string& word : given) {
    std::ifstream file(word.starts_with("@") && depth < kMostDepth ? word.substr(1)
                                                                   : std::string());
    if (word.size() < 2 || word[0] != '@' || !file) {
      out.push_back(word);
      continue;
    }
    expand(words_of(std::string(std::istreambuf_iterator<char>(file), {})), out, depth + 1);
  }
}

struct Parts {
  std::vector<std::string> clang;    // clang's own words
  std::vector<std::string> sampler;  // words for the plugin
  std::vector<std::string> tracing;  // likewise
  std::vector<std::string> warnings;
  Options options;
  instrument::TraceOptions trace_options;
  std::string language;  // of -x, for the files that follow; empty for none
  bool links = true;
  bool compiles = true;
  bool reads_source = false;  // from standard input
  bool has_input = false;
  bool has_source = false;           // in C or C++
  std::vector<std::string> objects;  // object files and archives
  std::string representation;        // the first input in LLVM's own language; empty for none
  bool only_headers = true;          // all inputs so far are headers
  bool is_static = false;            // the program needs no dynamic linker
  bool is_library = false;           // a shared object
  bool has_libc = true;
  bool is_quiet = false;  // no warnings are wanted
  bool threads_given = false;
  bool threads_by_clang = false;
  std::optional<std::string> error;
};

// A compiled header is not linked.
bool is_header(const std::string& file, const std::string& language) {
  if (!language.empty()) return language.ends_with("-header");
  return std::any_of(kHeaderEndings.begin(), kHeaderEndings.end(),
                     [&](std::string_view ending) { return file.ends_with(ending); });
}

bool is_source(const std::string& file, const std::string& language) {
  if (!language.empty()) return language == "c" || language == "c++";
  return std::any_of(kSourceEndings.begin(), kSourceEndings.end(),
                     [&](std::string_view ending) { return file.ends_with(ending); });
}

// The plugin instruments C and C++ while clang compiles them.
bool is_representation(const std::string& file, const std::string& language) {
  return language.empty() ? file.ends_with(".bc") || file.ends_with(".ll") : language == "ir";
}

// The linker uses the runtime only if an object needs it. The words are passed with -Xlinker, since
// -x may declare all files to be C.
//
// By default each program and each library contains a copy of the runtime, so that it can be moved
// anywhere. The copies in one process elect a leader (runtime/sampler/leader.h). A library hides
// its copy: a program that is linked with the library must not use it as its own.
std::vector<std::string> words_of_runtime(const Parts& parts, const std::string& folder) {
  std::vector<std::string> words{"-Wl,--push-state,--as-needed", "-Xlinker"};
  if (parts.options.shared_runtime && !parts.is_static) {
    words.insert(words.end(),
                 {folder + "/libtelltale_sampler.so", "-Xlinker", "-rpath", "-Xlinker", folder});
  } else if (!parts.is_static && !parts.is_library) {
    words.push_back(folder + "/libtelltale_sampler_program.a");
  } else {
    words.push_back(folder + "/libtelltale_sampler.a");
    if (parts.is_library) words.emplace_back("-Wl,--exclude-libs,libtelltale_sampler.a");
    // Libraries that follow may be the first to need it. A shared object without instrumented code
    // gets no runtime.
    if (parts.threads_by_clang && (parts.is_static || parts.options.any_scheme()))
      words.insert(words.end(), {"-Wl,--wrap=pthread_create", "-Wl,-u,__wrap_pthread_create"});
  }
  words.emplace_back("-Wl,--pop-state");
  return words;
}

// The crash handler of traced programs. Libraries need none: that of the program serves them.
std::vector<std::string> words_of_crash_handler(const Parts& parts, const std::string& folder) {
  std::vector<std::string> words{"-Wl,-u,telltale_paths_v1"};
  if (!parts.is_static) words.emplace_back("-Wl,-u,telltale_paths_threads_v1");
  words.insert(words.end(), {"-Xlinker", folder + "/libtelltale_paths.a"});
  return words;
}

void take_language(const std::string& name, Parts& parts) {
  parts.language = name == "none" ? "" : name;
}

bool take_trace_word(const std::string& word, Parts& parts) {
  std::optional<std::string> warning;
  if (!instrument::parse_trace_option(word, parts.trace_options, parts.error, warning))
    return false;
  if (warning) {
    parts.warnings.push_back(*warning);
  } else if (parts.trace_options.schema_file == "-" && word.ends_with("trace=-")) {
    parts.tracing.emplace_back(kSchemaOfInput);
  } else {
    parts.tracing.push_back(word);
  }
  return true;
}

void take_word(const std::string& word, Parts& parts) {
  if (take_trace_word(word, parts)) return;
  if (const instrument::Option* const option = instrument::find_option(word); option != nullptr) {
    instrument::parse_option(word, parts.options, parts.error);
    if (!option->is_for_driver) parts.sampler.push_back(word);
    parts.threads_given = parts.threads_given || word == "-fthreads" || word == "-fno-threads";
    return;
  }
  if (word == "-mt" || word == "-pthreads") {
    parts.threads_by_clang = true;
    parts.clang.emplace_back("-pthread");
    return;
  }
  parts.threads_by_clang = parts.threads_by_clang || word == "-pthread" || word == "-fopenmp" ||
                           word.starts_with("-fopenmp=");
  parts.is_quiet = parts.is_quiet || word == "-w";
  parts.links = parts.links && !is_one_of(kNoLink, word) && !word.starts_with("-print-");
  parts.compiles = parts.compiles && !is_one_of(kNoCode, word);
  parts.has_libc = parts.has_libc && !is_one_of(kNoLibc, word);
  parts.is_static = parts.is_static || word == "-static" || word == "-static-pie";
  parts.is_library = parts.is_library || word == "-shared" || word == "--shared";
  if (word == "-" || !word.starts_with("-")) {
    parts.has_input = true;
    parts.reads_source = parts.reads_source || word == "-";
    parts.only_headers = parts.only_headers && is_header(word, parts.language);
    parts.has_source = parts.has_source || is_source(word, parts.language);
    if (word.ends_with(".o") || word.ends_with(".a")) parts.objects.push_back(word);
    if (parts.representation.empty() && is_representation(word, parts.language))
      parts.representation = word;
  }
  if (word.starts_with("-x")) take_language(word.substr(2), parts);
  parts.clang.push_back(word);
}

Parts sort_out(const std::vector<std::string>& given) {
  Parts parts;
  // Options of the command line follow, and win.
  for (const std::string& word : instrument::trace_options_of_environment())
    take_trace_word(word, parts);
  for (std::size_t i = 0; i < given.size() && !parts.error; ++i) {
    if (instrument::takes_next_word(given[i])) {
      const std::string option = given[i] + "=";
      take_trace_word(i + 1 < given.size() ? option + given[++i] : option, parts);
    } else if (is_one_of(kTakesNext, given[i]) && i + 1 < given.size()) {
      parts.clang.push_back(given[i]);
      parts.clang.push_back(given[++i]);
      if (given[i - 1] == "-x") take_language(given[i], parts);
      if (given[i - 1] == "-l") {
        parts.has_input = true;
        parts.only_headers = false;
      }
    } else {
      take_word(given[i], parts);
    }
  }
  return parts;
}

}  // namespace

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
      if (in_word) words.push_back(word);
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

namespace {

// The target, or its processor alone if none is given.
std::string target_of(const std::vector<std::string>& words) {
  std::string target = TELLTALE_HOST_PROCESSOR;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--target=")) target = words[i].substr(9);
    if (words[i] == "-target" && i + 1 < words.size()) target = words[i + 1];
    if (words[i] == "-m32" || words[i] == "-mx32") target = "i386";
    if (words[i] == "-m64" && target == "i386") target = TELLTALE_HOST_PROCESSOR;
  }
  return target;
}

// Is the target this machine's? Runtimes are built for it alone.
bool is_native(const std::string& target) {
  return target == TELLTALE_HOST_PROCESSOR || (target.starts_with(TELLTALE_HOST_PROCESSOR) &&
                                               target.find("linux-gnu") != std::string::npos);
}

// Does clang know -fbasic-block-address-map here? It refuses it for most targets, and GNU as does
// not know the section. gold links no functions that are dropped and in it: users can do without.
bool knows_block_map(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "-fno-integrated-as" || word == "-no-integrated-as" ||
        word == "-fno-basic-block-address-map")
      return false;
  }
  const std::string target = target_of(words);
  for (const std::string_view system : {"windows", "mingw", "apple", "darwin", "uefi"}) {
    if (target.find(system) != std::string::npos) return false;
  }
  return target.starts_with("x86_64") || target.starts_with("aarch64");
}

bool saves_temporaries(const std::string& word) {
  const std::string_view name = std::string_view(word).substr(word.starts_with("--") ? 1 : 0);
  return name == "-save-temps" || name.starts_with("-save-temps=");
}

bool asks_for_debug_information(const std::string& word) {
  return word.starts_with("-g") && !word.starts_with("-gz") && !word.starts_with("-gno-");
}

// Does clang write .dwo files of a version that may also have a part in the program? libdw takes
// the wrong lines for such programs of DWARF 4.
bool splits_debug_information(const std::vector<std::string>& words) {
  bool splits = false;
  bool is_old = false;
  for (const std::string& word : words) {
    splits = splits || word == "-gsplit-dwarf" || word.starts_with("-gsplit-dwarf=");
    if (word.starts_with("-gdwarf-")) is_old = word != "-gdwarf-5";
  }
  return splits && !is_old;
}

// For path tracing. Without debug information no reader finds lines and variables. A later -g0
// wins.
void request_debug_information(Parts& parts, std::vector<std::string>& out) {
  // Without a choice of the user's, the compiler saves the time that describing everything else
  // takes.
  if (std::none_of(out.begin(), out.end(), asks_for_debug_information))
    parts.tracing.insert(parts.tracing.begin(), "-ftrace-line-tables");
  // What is inlined where is also in the program, whose .dwo files may be missing, or be in a form
  // that libdw cannot read. A later -fno-split-dwarf-inlining wins.
  if (splits_debug_information(out)) {
    out.insert(out.begin(), {"--start-no-unused-arguments", "-fsplit-dwarf-inlining",
                             "--end-no-unused-arguments"});
  }
  out.insert(out.begin(), "-g");
}

// The arguments that load the plugin with its options. Removes from `out`, clang's other arguments,
// those that instrumented code cannot be compiled with; adds a warning for each.
std::vector<std::string> words_of_plugin(Parts& parts, const Installation& installation,
                                         std::vector<std::string>& out,
                                         std::vector<std::string>& warnings) {
  // clang would compile in steps: the plugin would see the source in one, optimisation in
  // another.
  if (std::erase_if(out, saves_temporaries) != 0) {
    warnings.emplace_back(
        "-save-temps is ignored: instrumented code cannot be compiled in its steps; -E and -S "
        "write what it would keep");
  }
  if (!parts.representation.empty()) {
    warnings.push_back(parts.representation +
                       " is not instrumented here: only C and C++ are, when they are "
                       "compiled to LLVM's representation");
  }
  if (parts.threads_by_clang && !parts.threads_given) parts.sampler.emplace_back("-fthreads");
  std::vector<std::string> words{"-fplugin=" + installation.plugin};
  if (parts.trace_options.is_on()) {
    parts.sampler.insert(parts.sampler.end(), parts.tracing.begin(), parts.tracing.end());
    // Where machine blocks begin: the compiler may put instructions before a block's first
    // position.
    if (knows_block_map(out)) words.emplace_back("-fbasic-block-address-map");
  }
  // Objects must be rebuilt when one of these files changes.
  for (const std::string& file :
       {parts.trace_options.schema_file, parts.options.reset_file, parts.options.scales_file}) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored))
      words.insert(words.end(), {"-Xclang", "-fdepfile-entry=" + file});
  }
  for (const std::string& option : parts.sampler)
    words.insert(words.end(), {"-Xclang", "-plugin-arg-sampler", "-Xclang", option});
  // A module in one step: clang would write its interface after marks are inserted.
  if (installation.release > 19) words.emplace_back("-fno-modules-reduced-bmi");
  return words;
}

}  // namespace

std::vector<std::string> without_own_options(const std::vector<std::string>& given) {
  std::vector<std::string> all;
  expand(given, all, 0);
  return sort_out(all).clang;
}

CommandLine rewrite(const std::vector<std::string>& given, const Installation& installation) {
  std::vector<std::string> all;
  expand(given, all, 0);
  Parts parts = sort_out(all);
  if (parts.error) return {{}, parts.error, {}, {}};
  CommandLine result{std::move(parts.clang), std::nullopt, {}, {}};
  result.reads_schema = parts.trace_options.schema_file == "-" && parts.has_input;
  if (result.reads_schema && parts.reads_source)
    return {{}, "the schema needs a file, --trace=FILE: standard input has the source", {}, {}};
  if (!parts.has_input) return result;
  std::vector<std::string>& out = result.arguments;
  // clang must not warn about arguments that a step does not use.
  const auto quietly = [&](const std::vector<std::string>& words) {
    out.emplace_back("--start-no-unused-arguments");
    out.insert(out.end(), words.begin(), words.end());
    out.emplace_back("--end-no-unused-arguments");
  };
  const bool traces = parts.trace_options.is_on();
  if (traces) {
    result.warnings = std::move(parts.warnings);
    request_debug_information(parts, out);
  }
  // LLVM's vectoriser of straight-line code took most of pbzip2's compile time, for the code that
  // passes operands to comparisons, and made nothing faster. A later -fslp-vectorize wins.
  if (!parts.options.sample && parts.options.has(instrument::Scheme::kScalarPairs)) {
    out.insert(out.begin(),
               {"--start-no-unused-arguments", "-fno-slp-vectorize", "--end-no-unused-arguments"});
  }
  if (parts.options.any_scheme() || traces) {
    // LLVM seldom vectorises loops that count, whatever a pragma asks for: its warning would be
    // about our code. A later -Wpass-failed wins.
    out.insert(out.begin(),
               {"--start-no-unused-arguments", "-Wno-pass-failed", "--end-no-unused-arguments"});
    quietly(words_of_plugin(parts, installation, out, result.warnings));
  }
  result.has_plain_source =
      !parts.options.any_scheme() && !traces && parts.has_source && parts.compiles;
  if (result.has_plain_source && !parts.is_quiet)
    result.note = "nothing is instrumented without -fsampler-scheme=SCHEME or --trace=SCHEMA";
  if (!parts.links || parts.only_headers) return result;
  // The linker would name dozens of undefined references. Without libc, the runtime may be
  // anything.
  const std::string target = target_of(out);
  if (!target.starts_with(TELLTALE_HOST_PROCESSOR)) {
    if (!parts.options.any_scheme() || !parts.has_libc) return result;
    return {{},
            "there is no runtime of -fsampler-scheme for " + target +
                ": only programs for " TELLTALE_HOST_PROCESSOR " can be linked; -c compiles",
            {},
            {}};
  }
  std::vector<std::string> words;
  // First: both runtimes interpose pthread_create, and this one serves the other. Build systems may
  // pass --trace to compilations only.
  if (!parts.is_library && parts.has_libc && is_native(target) &&
      (traces || std::any_of(parts.objects.begin(), parts.objects.end(), is_traced_object)))
    words = words_of_crash_handler(parts, installation.library);
  const std::vector<std::string> more = words_of_runtime(parts, installation.library);
  words.insert(words.end(), more.begin(), more.end());
  quietly(words);
  return result;
}

}  // namespace telltale::driver
