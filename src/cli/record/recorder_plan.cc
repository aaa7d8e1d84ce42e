#include "cli/record/recorder_plan.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>

#include "bytes/temporary_path.h"
#include "cli/record/child_process.h"
#include "cli/record/left_files.h"
#include "cli/record/recorder_settings.h"
#include "formats/stacktrack/wire.h"
#include "program/recording_hooks.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kXrayLibrary = "libtelltale_xray.so";
constexpr std::string_view kXraySuffix = ".xray";
constexpr std::string_view kStacktrackSuffix = ".tlg";

// The recorder's library relative to the folder of this program: in the build tree, and in an
// installation.
Result<std::string> find_library(std::string_view name) {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  if (failure) return io_error("/proc/self/exe", "cannot read", failure.value());
  const fs::path folder = self.parent_path();
  for (const std::string_view place :
       {"../runtime/xray", TELLTALE_LIBRARY_FOLDER, "../lib", "../lib64"}) {
    std::string path = (folder / place / name).lexically_normal();
    if (fs::exists(path, failure)) return path;
    // Without the development files there is only the name that programs load.
    std::string versioned = path + "." TELLTALE_SOVERSION;
    if (fs::exists(versioned, failure)) return versioned;
  }
#if defined(__x86_64__)
  constexpr std::string_view kWhy = "the recorder is not installed";
#else
  constexpr std::string_view kWhy = "function calls are recorded on x86-64 only: no recorder";
#endif
  return io_error((folder / TELLTALE_LIBRARY_FOLDER / name).lexically_normal().string(), kWhy,
                  ENOENT);
}

// Settings of a recorder in the syntax of its environment variable.
class Settings {
 public:
  explicit Settings(RecorderKind recorder) : recorder_(recorder) {}

  // `origin`: what the user wrote.
  Result<void> add(std::string_view key, std::string_view value, std::string_view origin) {
    if (auto accepted = check_setting(recorder_, key, value, origin); !accepted) return accepted;
    if (!text_.empty()) text_ += ',';
    text_ += fmt::format("{}={}", key, value);
    return {};
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  RecorderKind recorder_;
  std::string text_;
};

std::string with_doubled_percents(const std::string& path) {
  std::string text;
  for (const char letter : path) text.append(letter == '%' ? 2 : 1, letter);
  return text;
}

Result<void> add_given_settings(const RecorderOptions& options, Settings& settings) {
  for (const std::string& setting : options.settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      return usage_error("--set needs KEY=VALUE, but got " + setting);
    const std::string_view all = setting;
    if (auto added =
            settings.add(all.substr(0, equals), all.substr(equals + 1), "--set " + setting);
        !added)
      return added;
  }
  return {};
}

// A setting that an option made. An empty value is not set.
struct OptionSetting {
  std::string_view option;
  std::string_view key;
  std::string value;
};

Result<std::string> all_settings(RecorderKind recorder, const RecorderOptions& options,
                                 std::initializer_list<OptionSetting> from_options) {
  Settings settings(recorder);
  for (const auto& [option, key, value] : from_options) {
    if (value.empty()) continue;
    if (auto added = settings.add(key, value, fmt::format("{} {}", option, value)); !added)
      return std::unexpected(added.error());
  }
  if (auto added = add_given_settings(options, settings); !added)
    return std::unexpected(added.error());
  return settings.text();
}

std::string number_or_empty(size_t number) { return number == 0 ? "" : std::to_string(number); }

constexpr uint64_t kDefaultFileBytes = uint64_t{4} << 30;
constexpr uint64_t kDefaultRingBytes = uint64_t{64} << 20;

// The size that the user gave the recording; empty if none.
std::string given_size(const RecorderOptions& options) {
  constexpr std::string_view kKey = "size=";
  std::string size = options.size;
  for (const std::string& setting : options.settings) {
    if (setting.starts_with(kKey)) size = setting.substr(kKey.size());
  }
  return size;
}

// The size of each recording, so that none fills the disk: without --size, the recorder's default
// but at most half of what is free. Errors: usage, for a --size that the disk cannot hold.
Result<std::string> limited_size(const RecorderOptions& options, const fs::path& folder) {
  if (options.mode == "snapshot") return options.size;
  std::error_code failure;
  const fs::space_info space = fs::space(folder, failure);
  if (failure) return options.size;
  const std::string given = given_size(options);
  if (!given.empty()) {
    if (size_in_bytes(given) <= space.available) return options.size;
    return usage_error(fmt::format("a recording of {} does not fit: {} has {} bytes free", given,
                                   folder.string(), space.available));
  }
  const uint64_t usual = options.mode == "ring" ? kDefaultRingBytes : kDefaultFileBytes;
  return space.available / 2 >= usual ? std::string() : std::to_string(space.available / 2);
}

Result<std::string> xray_settings(const RecorderOptions& options, const fs::path& folder) {
  const fs::path name = options.output.empty()
                            ? fs::path("%p.%i.%n.xray")
                            : fs::path(with_doubled_percents(fs::path(options.output).filename()));
  const std::string pattern = (with_doubled_percents(folder.string()) / name).string();
  const Result<std::string> size = limited_size(options, folder);
  if (!size) return std::unexpected(size.error());
  return all_settings(
      RecorderKind::xray, options,
      {{"--output", "file", pattern},
       {"--mode", "mode", options.mode},
       {"--size", "size", *size},
       {"--function and --without", "functions", function_list(options)},
       {"--depth", "depth", number_or_empty(options.depth)},
       {"--min", "min", options.min},
       {"--threads", "threads", options.threads == 0 ? "" : fmt::format("1/{}", options.threads)},
       {"--sparse", "clock", options.sparse == 0 ? "" : fmt::format("sparse:{}", options.sparse)},
       {"--fdr-version", "version", options.version == 0 ? "" : std::to_string(options.version)},
       {"--signal", "signal", options.signal},
       {"--no-fork", "fork", options.no_fork ? "off" : ""},
       {"--auto", "auto", options.drop_frequent ? "on" : ""},
       {"--control", "control", options.control ? "on" : ""},
       {"telltale run", "crash", "on"}});
}

// Whether a KEY=VALUE of --set is for the StackTrack recorder. All others go to the XRay recorder,
// which reports unknown ones.
bool is_stacktrack_setting(std::string_view setting) {
  constexpr std::array<std::string_view, 7> kBegins = {
      "dir=", "path=", "rotate=", "keep=", "layout=", "sequence=", "ring="};
  constexpr std::string_view kClock = "clock=";
  const bool has_number_of_events = setting.starts_with(kClock) && setting.size() > kClock.size() &&
                                    setting[kClock.size()] >= '0' && setting[kClock.size()] <= '9';
  return has_number_of_events || setting == "fork=no" ||
         std::ranges::any_of(kBegins,
                             [&](std::string_view begin) { return setting.starts_with(begin); });
}

bool is_setting_of_both(std::string_view setting) { return setting.starts_with("size="); }

// Options that only a recorder of functions supports.
bool asks_for_xray(const RecorderOptions& options) {
  return options.mode == "snapshot" || !options.functions.empty() || !options.without.empty() ||
         options.depth != 0 || !options.min.empty() || options.threads != 0 ||
         options.version != 0 || !options.signal.empty() || options.drop_frequent ||
         options.control;
}

// Errors: usage, for a size that no file of the StackTrack recorder can have.
Result<void> check_stacktrack_size(const RecorderOptions& options) {
  const bool classic =
      std::ranges::find(options.settings, "layout=classic") != options.settings.end();
  const uint64_t least =
      classic ? stacktrack::classic::kSmallestFile : stacktrack::wide::kSmallestFile;
  const std::string given = given_size(options);
  if (options.mode == "ring" || given.empty() || size_in_bytes(given) >= least) return {};
  return usage_error(
      fmt::format("--size {}: a StackTrack file has {} bytes at least", given, least));
}

Result<std::string> stacktrack_settings(const RecorderOptions& options, const fs::path& folder) {
  if (asks_for_xray(options)) {
    return usage_error(
        "StackTrack checkpoints are chosen in the program: --mode snapshot, --function, "
        "--without, --depth, --min, --auto, --threads, --fdr-version, --signal and --control are "
        "for "
        "--xray");
  }
  const bool ring = options.mode == "ring";
  const bool rotates = std::ranges::any_of(options.settings, [](const std::string& setting) {
    return setting.starts_with("rotate=") && setting != "rotate=0";
  });
  if (rotates && !options.output.empty())
    return usage_error("files that are rotated have derived names: leave out -o");
  Result<std::string> size = limited_size(options, folder);
  if (!size) return std::unexpected(size.error());
  if (size->empty() && given_size(options).empty() && !rotates)
    size = std::to_string(ring ? kDefaultRingBytes : kDefaultFileBytes);
  if (rotates && options.size.empty()) size->clear();
  const std::string path =
      options.output.empty() ? "" : (folder / fs::path(options.output).filename()).string();
  return all_settings(
      RecorderKind::stacktrack, options,
      {{"--output", path.empty() ? "dir" : "path", path.empty() ? folder.string() : path},
       {"--size", ring ? "ring" : "size", *size},
       {"--sparse", "clock", number_or_empty(options.sparse)},
       {"--no-fork", "fork", options.no_fork ? "no" : ""}});
}

// A file is made and removed, because permissions alone do not say whether the file system is
// read-only or full.
Result<void> check_folder(const std::string& folder) {
  std::string name = folder + "/.telltale-XXXXXX";
  const int file = ::mkstemp(name.data());
  if (file < 0) return io_error(folder, "cannot record into this folder", errno);
  const TemporaryPath removed(std::move(name));
  ::close(file);
  return {};
}

// How the program was built, by its file; unknown for a script.
RecordingHooks how_built(const std::string& program) {
  const std::string path = find_in_path(program);
  return path.empty() ? RecordingHooks{} : find_recording_hooks(path).value_or(RecordingHooks{});
}

// Which recorders to put into a program's environment. Both, if the program has no functions to
// record: it may have checkpoints, and may start other programs, as a shell does.
struct Recorders {
  bool xray = false;
  bool stacktrack = false;
};

// Errors: usage, for a name that the file system does not take, or with which no name of a file
// beside the recording can begin.
Result<void> check_name(const std::string& folder, const std::string& name, Recorders recorders) {
  constexpr std::string_view kXrayAdds = ".4194304.9999.side";
  constexpr std::string_view kStacktrackAdds = ".sort";
  const long most = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  const size_t added = (recorders.xray ? kXrayAdds : kStacktrackAdds).size();
  if (most < 0 || name.size() + added <= static_cast<size_t>(most)) return {};
  return usage_error(fmt::format(
      "the recording's name has {} bytes, but {} at most are possible, because names of "
      "files beside it are longer: -o {}",
      name.size(), static_cast<size_t>(most) - added, name));
}

Recorders choose_recorders(const RecorderOptions& options, const RecordingHooks& hooks) {
  constexpr Recorders kXray{true, false};
  constexpr Recorders kStacktrack{false, true};
  if (options.xray || options.stacktrack) return {options.xray, options.stacktrack};
  if (asks_for_xray(options)) return kXray;
  const bool has_own_settings = !std::ranges::all_of(options.settings, is_setting_of_both);
  if (has_own_settings)
    return std::ranges::all_of(options.settings, is_stacktrack_setting) ? kStacktrack : kXray;
  const fs::path output = options.output;
  if (output.extension() == kXraySuffix) return kXray;
  if (output.extension() == kStacktrackSuffix) return kStacktrack;
  if (hooks.xray || hooks.function_calls || !options.settings.empty()) return kXray;
  return {true, true};
}

// Recordings of forked children of a StackTrack program are named by the program.
std::vector<std::string> suffixes_of(const fs::path& output, Recorders recorders) {
  std::vector<std::string> suffixes;
  if (output.has_extension()) suffixes.push_back(output.extension().string());
  if (recorders.xray && output.empty()) suffixes.emplace_back(kXraySuffix);
  if (recorders.stacktrack) suffixes.emplace_back(kStacktrackSuffix);
  return suffixes;
}

// As AT_SECURE says it to the recorders in the program.
bool has_other_rights(const std::string& program) {
  const std::string path = find_in_path(program);
  struct stat status{};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return false;
  const bool other_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid();
  const bool other_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != ::getgid();
  return other_user || other_group ||
         ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

// Whether it is Mono itself, by its name.
bool is_mono(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  return name == "mono" || name == "mono-sgen" || name == "mono-boehm";
}

// Why the recorder has nothing to record, judging by the program's file; empty if it has.
std::string why_not_recorded(const RecordingHooks& hooks, const std::string& program,
                             Recorders recorders) {
  if (has_other_rights(program)) {
    return program +
           " runs with other rights than its caller (setuid, setgid or capabilities): then "
           "recorders ignore the environment";
  }
  const bool has_hooks = hooks.xray || hooks.function_calls;
  if (!has_hooks && is_mono(program)) {
    return "programs of Mono record themselves: mono --profile=log:calls,output=FILE PROGRAM";
  }
  if (!recorders.xray) {
    return fmt::format("neither {} nor what it may have started reached a StackTrack checkpoint{}",
                       program, has_hooks ? "; --xray records its functions" : "");
  }
  // Before the hooks: a static program has the C library's, which do nothing.
  if (has_hooks && !hooks.loads_libraries && !hooks.recorder) {
    return program +
           " is statically linked: nothing can be preloaded; link telltale::xray_recorder into it";
  }
  if (hooks.own_function_hooks && !hooks.xray) {
    return program +
           " defines __cyg_profile_func_enter: calls of its functions reach that instead of the "
           "recorder";
  }
  if (has_hooks) return {};
  if (hooks.xray_runtime) {
    return program +
           " was built with -fxray-instrument, but clang leaves functions as small as its own out "
           "(-fxray-instruction-threshold=1 instruments all)";
  }
  return fmt::format(
      "neither {} nor what it may have started {}called functions that are instrumented: compile "
      "with -finstrument-functions (g++, clang) or -fxray-instrument (clang, which leaves small "
      "functions out: -fxray-instruction-threshold=1 instruments all); statically linked programs, "
      "and libraries loaded with dlmopen or, if gcc built them, RTLD_DEEPBIND cannot be watched",
      program, recorders.stacktrack ? "reached a StackTrack checkpoint or " : "");
}

// Why a recorder that had functions to watch left no recording.
std::string why_nothing_called(const RecorderOptions& options) {
  if (options.mode == "snapshot") {
    return fmt::format(
        "no snapshot was asked for: it is written when the program gets SIG{} (`kill -{} PID`), "
        "calls telltale_xray_snapshot() or crashes",
        options.signal.empty() ? "USR2" : options.signal,
        options.signal.empty() ? "USR2" : options.signal);
  }
  if (!options.functions.empty() || !options.without.empty()) {
    return "none of the functions that --function and --without leave was called (they compare "
           "plain and demangled names: 'work' or '*::work(*)'; in a program without the C++ "
           "library "
           "only linkage names: '_ZN*4work*')";
  }
  return "none of the functions that can be watched was called";
}

Result<std::pair<std::string, std::string>> preload_setting(std::string_view library) {
  const Result<std::string> path = find_library(library);
  if (!path) return std::unexpected(path.error());
  if (path->find_first_of(" :") != std::string::npos) {
    return usage_error("the dynamic linker cannot preload from a path with blanks or colons: " +
                       *path);
  }
  const char* others = std::getenv("LD_PRELOAD");
  const bool alone = others == nullptr || *others == '\0';
  return std::pair("LD_PRELOAD", alone ? *path : *path + ":" + others);
}

// AddressSanitizer's shared library ends programs in which it is not the first. What it intercepts,
// the recorder's library passes on.
std::pair<std::string, std::string> asan_setting() {
  const char* const others = std::getenv("ASAN_OPTIONS");
  const std::string ours = "verify_asan_link_order=0";
  return {"ASAN_OPTIONS", others == nullptr || *others == '\0' ? ours : ours + ":" + others};
}

// Clang's XRay runtime patches functions before any library's constructor runs, if this variable
// says so, and one function cannot call two recorders. Empty: it does not. Of several values of one
// flag, the runtime takes the last.
std::string xray_options_without_patching() {
  const char* const variable = std::getenv("XRAY_OPTIONS");
  const std::string options = variable == nullptr ? "" : variable;
  constexpr std::string_view kFlag = "patch_premain=";
  const size_t at = options.rfind(kFlag);
  if (at == std::string::npos) return {};
  const std::string value = options.substr(at + kFlag.size(), 1);
  const bool is_on = value != "0" && value != "n" && value != "f";  // no, false
  return is_on ? options + ":patch_premain=false" : "";
}

// The recorder's settings are separated by commas, so a pattern cannot contain one. Replaces commas
// outside of sets by `?`, which matches any character.
std::string without_commas(std::string glob) {
  bool in_set = false;
  for (size_t i = 0; i < glob.size(); ++i) {
    if (in_set) {
      in_set = glob[i] != ']';
    } else if (glob[i] == '[') {
      in_set = true;
      if (i + 1 < glob.size()) ++i;  // a bracket that begins a set is a letter
    } else if (glob[i] == ',') {
      glob[i] = '?';
    }
  }
  return glob;
}

}  // namespace

std::string function_list(const RecorderOptions& options) {
  std::string list;
  const auto add = [&list](std::string_view mark, const std::string& glob) {
    list += fmt::format("{}{}{}", list.empty() ? "" : ";", mark, without_commas(glob));
  };
  for (const std::string& glob : options.functions) add("", glob);
  for (const std::string& glob : options.without) add("!", glob);
  return list;
}

Result<RecorderPlan> plan_recording(const RecorderOptions& options) {
  const std::string& program = options.command.front();
  const RecordingHooks hooks = how_built(program);
  const Recorders recorders = choose_recorders(options, hooks);
  RecorderPlan plan;
  std::error_code failure;
  const fs::path output = options.output;
  const fs::path folder =
      fs::absolute(output.has_parent_path() ? output.parent_path() : fs::path("."), failure)
          .lexically_normal();
  if (auto usable = check_folder(folder.string()); !usable) return std::unexpected(usable.error());
  if (fs::is_directory(output, failure)) {
    return usage_error(fmt::format("{} is a folder; -o names a file, such as {}", options.output,
                                   (output / "run.xray").string()));
  }
  if (auto usable = check_name(folder.string(), output.filename().string(), recorders); !usable)
    return std::unexpected(usable.error());
  if (options.output == "-")
    return usage_error("a recording is a file, and cannot be written to standard output: -o -");
  if (!options.output.empty() && fs::exists(output, failure))
    return usage_error(options.output + " exists; a recording never overwrites a file");
  plan.folder = folder.string();
  plan.suffixes = suffixes_of(output, recorders);
  if (!output.has_extension()) plan.name = output.filename().string();
  plan.before = recordings_in(plan);
  plan.why_nothing = why_not_recorded(hooks, program, recorders);
  if (plan.why_nothing.empty()) plan.why_nothing = why_nothing_called(options);

  if (recorders.stacktrack) {
    const Result<std::string> settings = stacktrack_settings(options, folder);
    if (!settings) return std::unexpected(settings.error());
    if (auto usable = check_stacktrack_size(options); !usable && !recorders.xray)
      return std::unexpected(usable.error());
    plan.environment.emplace_back("TELLTALE_STACKTRACK", *settings);
  }
  if (recorders.xray) {
    const Result<std::string> settings = xray_settings(options, folder);
    if (!settings) return std::unexpected(settings.error());
    plan.environment.emplace_back("TELLTALE_XRAY", *settings);
    auto preload = preload_setting(kXrayLibrary);
    if (!preload) return std::unexpected(preload.error());
    plan.environment.push_back(*std::move(preload));
    plan.environment.push_back(asan_setting());
    if (std::string xray_options = xray_options_without_patching(); !xray_options.empty()) {
      plan.environment.emplace_back("XRAY_OPTIONS", std::move(xray_options));
      plan.remark =
          "patch_premain of XRAY_OPTIONS was switched off: a function cannot call clang's recorder "
          "and telltale's";
    }
  }
  return plan;
}

}  // namespace telltale::cli
