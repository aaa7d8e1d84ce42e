// Runs every verb with every option on truncated recordings of every format. The sanitizer build
// thereby finds uses of freed memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/input_file.h"
#include "import/formats.h"
#include "support/checkout.h"
#include "support/conversion_check.h"
#include "support/golden.h"
#include "support/verb_command_lines.h"
#include "support/verb_runner.h"

namespace telltale {
namespace {

struct File {
  std::string name;
  std::string bytes;
};

// Small files by format, among them real recordings.
std::map<std::string, std::vector<File>> read_small_files() {
  const std::filesystem::path golden =
      std::filesystem::path(testing::kSourceFolder) / "tests/golden";
  std::set<std::string> names = {"examples/orders/orders.yaml"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(golden)) {
    // The text files next to recordings are the output of `dump`.
    if (entry.is_regular_file() && entry.path().extension() != ".txt")
      names.insert(std::filesystem::relative(entry.path(), testing::kSourceFolder));
  }
  std::map<std::string, std::vector<File>> files;
  for (const std::string& name : names) {
    files[std::filesystem::path(name).extension()].push_back(
        {name, testing::read_source_file(name)});
  }
  // A real recording, with four heap shots.
  const std::string sessions = "examples/sessions/sessions.mlpd.gz";
  const Result<InputFile> mono =
      InputFile::open(std::filesystem::path(testing::kSourceFolder) / sessions);
  if (!mono) std::abort();
  const auto* bytes = reinterpret_cast<const char*>(mono->bytes().data());
  files[".mlpd.gz"].push_back({sessions, std::string(bytes, mono->bytes().size())});
  return files;
}

// A size within part `turn` of `turns` equal parts of a file; a different one for each number.
size_t prefix_size(size_t number, size_t turn, size_t turns, size_t size) {
  constexpr double kGolden = 0.61803398874989485;
  double whole = 0;
  const double part = std::modf(kGolden * static_cast<double>(number), &whole);
  return static_cast<size_t>((part + static_cast<double>(turn)) / static_cast<double>(turns) *
                             static_cast<double>(size + 1));
}

// Reports on runtime events are by far the most code behind a single verb.
size_t turns_of(const std::string& format, const std::string& verb) {
  if (verb != "report") return 1;
  return format == ".mlpd" ? 8 : format == ".mlpd.gz" ? 4 : 1;
}

// Each option with each of its values. Options whose values select an answer, such as reports and
// measures, are also combined with every other option.
std::vector<testing::Words> command_lines(const testing::VerbToTry& verb) {
  std::vector<testing::Words> lines = verb.forms;
  const auto add = [&](const testing::Words& first, const testing::Words& second) {
    // Mostly the first form, with one input.
    const size_t form = lines.size() % 4 == 3 ? lines.size() / 4 % verb.forms.size() : 0;
    testing::Words words = verb.forms[form];
    words.insert(words.begin() + 1, first.begin(), first.end());
    words.insert(words.begin() + 1, second.begin(), second.end());
    lines.push_back(words);
  };
  for (const auto& option : verb.options) {
    for (const testing::Words& use : option.uses) {
      add(use, {});
      if (!option.chooses) continue;
      for (const auto& other : verb.options) {
        if (&other != &option) add(use, other.uses[lines.size() % other.uses.size()]);
      }
    }
  }
  return lines;
}

std::string shown(const testing::Words& words) {
  std::string text = "telltale";
  for (const std::string& word : words) text += " " + word;
  return text;
}

const std::map<std::string, std::vector<File>>& small_files() {
  static const std::map<std::string, std::vector<File>> kFiles = read_small_files();
  return kFiles;
}

std::vector<std::string> formats() {
  std::vector<std::string> names;
  for (const auto& [format, files] : small_files()) names.push_back(format);
  return names;
}

// One test per format, so that each is short.
class VerbsOnPrefixes : public ::testing::TestWithParam<std::string> {};

TEST_P(VerbsOnPrefixes, EndWithAStatusOfTheirOwnWhateverTheOptions) {
  const std::string format = GetParam();
  const std::vector<File>& files = small_files().at(format);
  testing::VerbRunner runner;
  const std::vector<testing::VerbToTry> verbs = testing::verbs_to_try(runner.files());
  ASSERT_GT(verbs.size(), 12U);
  size_t number = 0;
  for (const testing::VerbToTry& verb : verbs) {
    const size_t turns = turns_of(format, verb.name);
    for (const testing::Words& words : command_lines(verb)) {
      for (size_t turn = 0; turn < turns; ++turn) {
        const File& file = files[++number % files.size()];
        const size_t size = prefix_size(number, turn, turns, file.bytes.size());
        runner.set_recording(std::string_view(file.bytes).substr(0, size));
        const int status = runner.run(words);
        ASSERT_TRUE(status >= 0 && status <= 4)
            << file.name << " cut at " << size << ": " << shown(words) << " ends with " << status;
      }
    }
  }
}

TEST_P(VerbsOnPrefixes, ConversionsAreReadBackWithTheSameCalls) {
  testing::VerbRunner runner;
  size_t number = 0;
  for (const File& file : small_files().at(GetParam())) {
    for (const OutputFormat& format : output_formats()) {
      const std::string target(format.name.name);
      for (const size_t size :
           {file.bytes.size(), prefix_size(++number, 0, 1, file.bytes.size())}) {
        runner.set_recording(std::string_view(file.bytes).substr(0, size));
        EXPECT_EQ(testing::check_conversion(runner, target), "") << file.name << " cut at " << size;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, VerbsOnPrefixes, ::testing::ValuesIn(formats()), [](const auto& each) {
  std::string name = each.param.substr(1);
  std::ranges::replace(name, '.', '_');
  return name;
});

}  // namespace
}  // namespace telltale
