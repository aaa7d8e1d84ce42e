// Runs the program over every prefix and every single-byte mutant of a good file, in one process:
//
//   sweep_driver --scratch FILE --results FILE [--step N] [--from N] [--limit N] GOODFILE
//   [OPTION...]
//
// Mutants set one byte to zero, invert it, or flip one bit; every N-th byte from --from on is
// taken, and prefixes of every N-th length, up to --limit. Each mutant is written to the scratch
// file and given to `info --strict`, `top --strict` and `check`, with the options. The results have
// a line a file, the good one first:
//
//   KIND OFFSET INFO-STATUS TOP-STATUS CHECK-STATUS RECORDS PROBLEMS
//
// with the records and problems that reading it as a recording finds; 0 if it cannot be read. What
// the verbs print goes where this process's output goes. Tests under end_to_end drive it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/command_line.h"  // the very program
#include "import/open_recording.h"

namespace {

struct Job {
  std::string scratch;
  std::string results;
  size_t step = 1;
  size_t from = 0;
  size_t limit = SIZE_MAX;
  std::string good;
  std::vector<std::string> options;
};

Job parse(int argc, char** argv) {
  Job job;
  int i = 1;
  for (; i + 1 < argc && std::string_view(argv[i]).starts_with("--"); i += 2) {
    const std::string_view word = argv[i];
    const std::string value = argv[i + 1];
    if (word == "--scratch") job.scratch = value;
    if (word == "--results") job.results = value;
    if (word == "--step") job.step = std::stoul(value);
    if (word == "--from") job.from = std::stoul(value);
    if (word == "--limit") job.limit = std::stoul(value);
  }
  if (i < argc) {
    std::ifstream file(argv[i], std::ios::binary);
    job.good.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  for (++i; i < argc; ++i) job.options.emplace_back(argv[i]);
  return job;
}

int run_verb(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return telltale::cli::run_command_line(static_cast<int>(words.size()), arguments.data());
}

class Sweep {
 public:
  explicit Sweep(Job job) : job_(std::move(job)), results_(job_.results) {}

  bool run() {
    use("whole", job_.good.size(), job_.good);
    for (size_t at = job_.from; at < job_.good.size() && at < job_.limit; at += job_.step) {
      use("prefix", at, job_.good.substr(0, at));
      const auto byte = static_cast<unsigned char>(job_.good[at]);
      if (byte != 0) use("zero", at, with_byte(at, 0));
      use("invert", at, with_byte(at, byte ^ 0xFFU));
      use("flip", at, with_byte(at, byte ^ (1U << (at / job_.step % 8))));
    }
    return results_.flush().good();
  }

 private:
  [[nodiscard]] std::string with_byte(size_t at, unsigned value) const {
    std::string bytes = job_.good;
    bytes[at] = static_cast<char>(value);
    return bytes;
  }
  [[nodiscard]] std::vector<std::string> words(std::vector<std::string> first) const {
    first.insert(first.begin(), "telltale");
    first.insert(first.end(), job_.options.begin(), job_.options.end());
    first.push_back(job_.scratch);
    return first;
  }
  void use(std::string_view kind, size_t at, const std::string& bytes) {
    // A new file: ext4 writes one that was truncated to the disk when it is closed.
    std::filesystem::remove(job_.scratch);
    std::ofstream(job_.scratch, std::ios::binary) << bytes;
    results_ << kind << ' ' << at << ' ' << run_verb(words({"info", "--strict"})) << ' '
             << run_verb(words({"top", "--strict"})) << ' ' << run_verb(words({"check"}));
    telltale::OpenOptions options;
    options.files = {job_.scratch};
    if (job_.options.size() == 2 && job_.options[0] == "--format-description")
      options.format_description = job_.options[1];
    const auto recording = telltale::open_recording(options);
    if (!recording) {
      results_ << " 0 0\n";
      return;
    }
    const telltale::RecordingInfo info = (*recording)->info(1);
    results_ << ' ' << info.records << ' ' << info.problems.damage_count() << '\n';
  }

  Job job_;
  std::ofstream results_;
};

}  // namespace

int main(int argc, char** argv) {
  Job job = parse(argc, argv);
  if (job.good.empty() || job.scratch.empty() || job.results.empty() || job.step == 0) return 2;
  return Sweep(std::move(job)).run() ? 0 : 1;
}
