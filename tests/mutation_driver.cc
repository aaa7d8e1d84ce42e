// Runs telltale's verbs over many damaged copies of good files, in one process:
//
//   mutation_driver --count N --seed S --scratch FILE --counts FILE -- VERB ARGUMENTS... @ ... --
//   GOODFILE...
//
// "@" stands for the damaged file. Output goes where this process's output goes. An input that ends
// the process (a crash, more memory than allowed, more than ten seconds) is left in the scratch
// file. Exit status 0: every run ended with one of telltale's own exit statuses, and the counts
// file says how often each came.

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"  // the very program, whatever verbs it has

namespace {

using Random = std::mt19937_64;

size_t pick(Random& random, size_t below) {
  return below == 0 ? 0 : static_cast<size_t>(random() % below);
}

void flip_bytes(std::string& bytes, Random& random) {
  for (size_t times = 1 + pick(random, 8); times != 0; --times) {
    bytes[pick(random, bytes.size())] ^= static_cast<char>(1 + pick(random, 255));
  }
}

void truncate(std::string& bytes, Random& random) { bytes.resize(pick(random, bytes.size())); }

void put_extreme(std::string& bytes, Random& random) {
  static constexpr std::array<uint64_t, 10> kExtremes = {
      0,           1,           0x7FFFFFFF,         0x80000000,         0xFFFFFFFF,
      0x100000000, 0x0FFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF};
  const uint64_t value = kExtremes[pick(random, kExtremes.size())];
  const size_t size = pick(random, 2) == 0 ? 4 : 8;
  if (bytes.size() < size) return;
  const bool swap = pick(random, 8) == 0;
  const size_t at = pick(random, bytes.size() - size + 1);
  for (size_t i = 0; i < size; ++i) {
    bytes[at + (swap ? size - 1 - i : i)] = static_cast<char>(value >> (8 * i));
  }
}

// Copies, inserts or removes a block.
void splice(std::string& bytes, const std::string& other, Random& random) {
  const size_t from = pick(random, other.size());
  const size_t length = 1 + pick(random, std::min<size_t>(other.size() - from, 512));
  const size_t at = pick(random, bytes.size());
  switch (pick(random, 3)) {
    case 0:
      bytes.insert(at, other, from, length);
      break;
    case 1:
      bytes.replace(at, std::min(length, bytes.size() - at), other, from, length);
      break;
    default:
      bytes.erase(at, length);
  }
}

std::string mutate(const std::vector<std::string>& good, Random& random) {
  std::string bytes = good[pick(random, good.size())];
  for (size_t times = 1 + pick(random, 3); times != 0 && !bytes.empty(); --times) {
    switch (pick(random, 8)) {
      case 0:
        truncate(bytes, random);
        break;
      case 1:
      case 2:
        splice(bytes, good[pick(random, good.size())], random);
        break;
      case 3:
      case 4:
        put_extreme(bytes, random);
        break;
      default:
        flip_bytes(bytes, random);
    }
  }
  return bytes;
}

struct Job {
  size_t count = 0;
  uint64_t seed = 0;
  std::string scratch;
  std::string counts;
  std::vector<std::string> words;  // of the command line, the program's name first
  std::vector<std::string> good;
};

Job parse(int argc, char** argv) {
  Job job;
  job.words = {"telltale"};
  size_t part = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") {
      ++part;
    } else if (part == 1) {
      job.words.push_back(word);
    } else if (part == 2) {
      std::ifstream file(word, std::ios::binary);
      job.good.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    } else if (i + 1 < argc) {
      const std::string value = argv[++i];
      if (word == "--count") job.count = std::stoul(value);
      if (word == "--seed") job.seed = std::stoull(value);
      if (word == "--scratch") job.scratch = value;
      if (word == "--counts") job.counts = value;
    }
  }
  return job;
}

void allow_ten_seconds() {
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = 10, .tv_usec = 0}};
  setitimer(ITIMER_REAL, &limit, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const Job job = parse(argc, argv);
  if (job.good.empty() || job.scratch.empty()) return 2;
#ifdef TELLTALE_LIMITED_ADDRESS_SPACE  // sanitizers map terabytes
  const rlimit address_space{.rlim_cur = rlim_t{4} << 30, .rlim_max = rlim_t{4} << 30};
  setrlimit(RLIMIT_AS, &address_space);
#endif
  Random random(job.seed);
  std::array<size_t, 5> statuses{};
  for (size_t run = 0; run < job.count; ++run) {
    // A new file: ext4 writes one that was truncated to the disk when it is closed.
    std::filesystem::remove(job.scratch);
    std::ofstream(job.scratch, std::ios::binary) << mutate(job.good, random);
    std::vector<std::string> words = job.words;
    std::vector<char*> arguments;
    for (std::string& word : words) {
      if (word == "@") word = job.scratch;
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    allow_ten_seconds();
    const int status =
        telltale::cli::run_command_line(static_cast<int>(words.size()), arguments.data());
    if (status < 0 || status > 4) {
      std::fprintf(stderr, "run %zu: exit status %d\n", run, status);
      return 1;
    }
    ++statuses[static_cast<size_t>(status)];
  }
  std::ofstream counts(job.counts);
  for (const size_t count : statuses) counts << count << ' ';
  return counts.flush().good() ? 0 : 2;
}
