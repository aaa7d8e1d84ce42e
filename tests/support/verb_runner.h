#pragma once

// Runs telltale's command line in this process: output goes to memory, and standard input is the
// tested recording.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "support/verb_command_lines.h"

namespace telltale::testing {

class VerbRunner {
 public:
  VerbRunner() {
    std::string folder = std::filesystem::temp_directory_path() / "telltale-verbs-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    folder_ = folder;
    files_ = {.recording = folder + "/recording",
              .output = folder + "/output",
              .description = folder + "/description"};
    ::unsetenv("DEBUGINFOD_URLS");
    set_recording("");
    if (run({"expand_events", "--show_format"}) != 0) std::abort();
    std::ofstream(files_.description, std::ios::binary) << printed();
  }
  VerbRunner(const VerbRunner&) = delete;
  VerbRunner& operator=(const VerbRunner&) = delete;
  ~VerbRunner() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    ::close(out_);
  }

  [[nodiscard]] const VerbFiles& files() const { return files_; }

  // A new file: ext4 writes one that was truncated to the disk when it is closed.
  void set_recording(std::string_view bytes) {
    std::filesystem::remove(files_.recording);
    std::ofstream(files_.recording, std::ios::binary) << bytes;
  }

  // Returns the exit status. Outputs of earlier runs are gone: verbs replace no file of another
  // kind.
  int run(Words words) {
    for (const char* const extension : {"", ".svg", ".json"})
      std::filesystem::remove(files_.output + extension);
    words.insert(words.begin(), "telltale");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (::ftruncate(out_, 0) != 0 || ::lseek(out_, 0, SEEK_SET) != 0) std::abort();
    const Redirected output(stdout, STDOUT_FILENO, out_);
    const int in = ::open(files_.recording.c_str(), O_RDONLY | O_CLOEXEC);
    if (in < 0) std::abort();
    const Redirected input(nullptr, STDIN_FILENO, in);
    ::close(in);
    return cli::run_command_line(static_cast<int>(words.size()), arguments.data());
  }

  // The standard output of the last run.
  [[nodiscard]] std::string printed() const {
    std::string text(static_cast<size_t>(::lseek(out_, 0, SEEK_END)), '\0');
    if (::pread(out_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      std::abort();
    return text;
  }

 private:
  // Redirects descriptor `number` during its lifetime.
  class Redirected {
   public:
    Redirected(std::FILE* stream, int number, int to) : stream_(stream), number_(number) {
      if (stream_ != nullptr) std::fflush(stream_);
      kept_ = ::fcntl(number_, F_DUPFD_CLOEXEC, 3);
      if (::dup2(to, number_) < 0) std::abort();
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;
    ~Redirected() {
      if (stream_ != nullptr) std::fflush(stream_);
      if (kept_ < 0) {
        ::close(number_);
      } else {
        ::dup2(kept_, number_);
        ::close(kept_);
      }
    }

   private:
    std::FILE* stream_;
    int number_;
    int kept_ = -1;
  };

  std::filesystem::path folder_;
  VerbFiles files_;
  int out_ = ::memfd_create("output", MFD_CLOEXEC);
};

}  // namespace telltale::testing
