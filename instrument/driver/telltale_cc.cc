// telltale-cc, telltale-c++, sampler-cc, csi-cc: clang with a plugin and the sampler's runtime;
// telltale-llvm-ar and others: LLVM's tools of the same release.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "command_line.h"
#include "help.h"
#include "trace_options.h"

namespace {

namespace fs = std::filesystem;

// CMake takes "telltale-" for the prefix of a toolchain, and expects these with it: archives of
// LLVM's bitcode (link-time optimisation), dependencies of C++20's modules.
constexpr const char* kScanner = "clang-scan-deps";
constexpr std::array<const char*, 3> kTools = {"llvm-ar", "llvm-ranlib", kScanner};

// The newest first. TELLTALE_CLANG_RELEASE chooses another.
constexpr std::array<const char*, 2> kReleases = {"22", "19"};

std::string find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string folders = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  folders += ':';
  std::size_t begin = 0;
  for (std::size_t end = folders.find(':'); end != std::string::npos;
       end = folders.find(':', begin)) {
    const std::string file = folders.substr(begin, end - begin) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return "";
}

bool find_installation(bool is_cxx, telltale::driver::Installation& found) {
  std::error_code ignored;
  const fs::path home = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  // As installed; in a build tree it is lib.
  fs::path library = (home / "bin" / TELLTALE_LIBRARY_FOLDER).lexically_normal();
  if (!fs::exists(library / "telltale", ignored)) library = home / "lib";
  const char* const wanted = std::getenv("TELLTALE_CLANG_RELEASE");
  for (const char* const release : kReleases) {
    if (wanted != nullptr && std::string(wanted) != release) continue;
    const fs::path plugin =
        library / "telltale" / (std::string("telltale-sampler-clang-") + release + ".so");
    const std::string clang = find_program((is_cxx ? "clang++-" : "clang-") + std::string(release));
    if (clang.empty() || !fs::exists(plugin, ignored)) continue;
    found = {clang, plugin.string(), library.string(), std::atoi(release)};
    return true;
  }
  std::fprintf(stderr, "telltale-cc: no clang with a matching plugin found in %s\n",
               (library / "telltale").c_str());
  return false;
}

// Returns only if the program cannot be run.
int execute(const std::string& program, std::vector<std::string> arguments) {
  std::vector<char*> words;
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  std::perror(program.c_str());
  return 1;
}

// `given` are the arguments, the first of which is the tool's name.
int run_tool(const std::string& tool, std::vector<std::string> given) {
  const auto separator = std::find(given.begin(), given.end(), "--");
  const bool scans = tool == kScanner && given.end() - separator > 1;
  telltale::driver::Installation installation;
  if (!find_installation(scans && separator[1].ends_with("++"), installation)) return 1;
  std::string program = find_program(tool + "-" + std::to_string(installation.release));
  std::error_code ignored;
  if (program.empty()) program = fs::canonical(installation.clang, ignored).parent_path() / tool;
  if (::access(program.c_str(), X_OK) != 0) {
    std::fprintf(stderr, "telltale-cc: %s of LLVM %d is not installed\n", tool.c_str(),
                 installation.release);
    return 1;
  }
  if (scans) {
    const std::vector<std::string> words =
        telltale::driver::without_own_options({separator + 2, given.end()});
    separator[1] = installation.clang;
    given.erase(separator + 2, given.end());
    given.insert(given.end(), words.begin(), words.end());
  }
  return execute(program, std::move(given));
}

// The name of a file with the rest of standard input, which clang's processes inherit: there is one
// for each source. Empty if that fails.
std::string spooled_input() {
  const int file = ::memfd_create("schema", 0);
  if (file < 0) return "";
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = ::read(STDIN_FILENO, buffer.data(), buffer.size())) > 0) {
    if (::write(file, buffer.data(), static_cast<std::size_t>(got)) != got) return "";
  }
  return got < 0 ? "" : telltale::instrument::kInheritedFile + std::to_string(file);
}

bool add_schema_of_input(telltale::driver::CommandLine& line, const std::string& name) {
  if (::isatty(STDIN_FILENO) == 1) {
    std::fprintf(stderr,
                 "%s: note: reading the schema from standard input; --trace=pt.schema traces all "
                 "functions\n",
                 name.c_str());
  }
  const std::string file = spooled_input();
  if (file.empty()) {
    std::fprintf(stderr, "%s: error: the schema on standard input: %s\n", name.c_str(),
                 std::strerror(errno));
    return false;
  }
  std::replace(line.arguments.begin(), line.arguments.end(),
               std::string(telltale::driver::kSchemaOfInput), "--trace=" + file);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = fs::path(argv[0]).filename();
  for (const char* const tool : kTools) {
    if (name.ends_with(tool)) return run_tool(tool, {argv, argv + argc});
  }
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help-clang") {  // csi-cc's
      telltale::driver::Installation installation;
      if (!find_installation(name.ends_with("++"), installation)) return 1;
      return execute(installation.clang, {installation.clang, "--help"});
    }
    const bool helps = word == telltale::driver::kHelp;
    if (!helps && word != telltale::driver::kPrintManual) continue;
    const std::string text =
        helps ? telltale::driver::help_text() : telltale::driver::manual_page();
    std::fwrite(text.data(), 1, text.size(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  telltale::driver::Installation installation;
  if (!find_installation(name.ends_with("++"), installation)) return 1;
  std::vector<std::string> given{argv + 1, argv + argc};
  telltale::driver::CommandLine line = telltale::driver::rewrite(given, installation);
  // Without a schema, csi-cc reads one.
  if (name == "csi-cc" && !line.error && line.has_plain_source) {
    given.insert(given.begin(), telltale::driver::kSchemaOfInput);
    line = telltale::driver::rewrite(given, installation);
  }
  if (line.error) {
    std::fprintf(stderr, "%s: error: %s\n", name.c_str(), line.error->c_str());
    return 1;
  }
  for (const std::string& warning : line.warnings)
    std::fprintf(stderr, "%s: warning: %s\n", name.c_str(), warning.c_str());
  if (line.note && ::isatty(STDERR_FILENO) == 1)
    std::fprintf(stderr, "%s: note: %s\n", name.c_str(), line.note->c_str());
  if (line.reads_schema && !add_schema_of_input(line, name)) return 1;
  line.arguments.insert(line.arguments.begin(), installation.clang);
  return execute(installation.clang, std::move(line.arguments));
}
