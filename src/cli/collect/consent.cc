#include "cli/collect/consent.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "bytes/as_bytes.h"
#include "bytes/write_all.h"
#include "collect/log/durable_file.h"
#include "collect/store_folder.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

std::string variable(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

// A folder of the user by the XDG base directory specification; empty: not known.
std::string user_folder(const char* name, const char* below_home) {
  std::string chosen = variable(name);
  if (chosen.starts_with('/')) return chosen;
  const std::string home = variable("HOME");
  return home.starts_with('/') ? home + below_home : "";
}

std::string consent_path() {
  const std::string folder = user_folder("XDG_CONFIG_HOME", "/.config");
  return folder.empty() ? "" : folder + sampler::kConsentFile;
}

// Empty if there is no such file.
Result<std::string> text_in(const std::string& path) {
  const auto file = collect::open_if_there(path);
  if (!file) return std::unexpected(file.error());
  if (!*file) return std::string();
  const Bytes bytes = (*file)->bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// The first line that fits counts, so a new one goes to the top.
Result<void> remember(const std::string& application, Consent consent) {
  const std::string path = consent_path();
  if (path.empty()) return usage_error("neither HOME nor XDG_CONFIG_HOME is set");
  if (auto made = collect::make_folder(std::filesystem::path(path).parent_path().string()); !made)
    return made;
  const Result<std::string> before = text_in(path);
  if (!before) return std::unexpected(before.error());
  const std::string_view word = consent == Consent::on ? "on" : "off";
  return collect::replace_file(path, fmt::format("{} {}\n{}", application, word, *before));
}

// A line from the terminal, in lower case; empty at its end.
std::string read_answer(int terminal) {
  std::string line;
  char c = 0;
  while (::read(terminal, &c, 1) == 1 && c != '\n') {
    if (line.size() < 16) line += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return line;
}

}  // namespace

Result<Consent> read_consent(const std::string& application) {
  const std::string wish = variable(sampler::kSpoolVariable);
  if (wish == "off" || wish == "0") return Consent::off;
  const std::string path = consent_path();
  if (path.empty()) return Consent::unsaid;
  const Result<std::string> text = text_in(path);
  if (!text) return std::unexpected(text.error());
  return sampler::consent_of(text->data(), text->size(), application.c_str());
}

Result<Consent> ask_consent(const std::string& application, const std::string& where,
                            bool with_paths) {
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return Consent::off;
  const std::string_view rest =
      with_paths ? ", and what was in its memory then: values of variables can be in it, also "
                   "private ones"
                 : "; no files, arguments or names";
  const std::string question = fmt::format(
      "{0} can report how this run went to {1}: which parts of the program ran, and where it "
      "failed{2}.\nSend a report? [y]es, [n]o, [a]lways, ne[v]er: ",
      visible(application), visible(where), rest);
  std::string answer;
  if (write_all(terminal, as_bytes(question), "/dev/tty")) answer = read_answer(terminal);
  ::close(terminal);
  const bool always = answer == "a" || answer == "always";
  const bool never = answer == "v" || answer == "never";
  const Consent consent = always || answer == "y" || answer == "yes" ? Consent::on : Consent::off;
  if (always || never) {
    if (auto kept = remember(application, consent); !kept) return std::unexpected(kept.error());
  }
  return consent;
}

std::string application_of(const std::string& program) {
  std::array<char, sampler::kApplicationBytes + 1> name{};
  sampler::put_application_name(program.c_str(), name.data());
  return name.data();
}

Result<std::string> usual_spool() {
  if (std::string chosen = variable(sampler::kSpoolVariable); chosen.starts_with('/'))
    return chosen;
  const std::string folder = user_folder("XDG_STATE_HOME", "/.local/state");
  if (folder.empty())
    return usage_error("neither HOME nor XDG_STATE_HOME is set: name the folder of reports");
  return folder + "/telltale/spool";
}

}  // namespace telltale::cli
