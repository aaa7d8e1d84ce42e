// Every verb with its options over a recording of any format. The input begins with six bytes that
// select: the verb, its input, and up to three options with their values, out of all that telltale
// declares. If the highest bit of the first byte is set, the recording is converted instead, and
// the result is read back. tools/make_verb_seeds.py makes the seeds.
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_checks.h"
#include "import/formats.h"
#include "support/conversion_check.h"
#include "support/verb_command_lines.h"
#include "support/verb_runner.h"

namespace {

using namespace telltale;

constexpr size_t kChoiceBytes = 6;

testing::Words words_of(const testing::VerbToTry& verb,
                        const std::array<size_t, kChoiceBytes>& choice) {
  testing::Words words = verb.forms[choice[1] % verb.forms.size()];
  const size_t uses = verb.use_count();
  fuzz::require(uses <= 256, "a byte chooses one use of an option");
  for (size_t i = 0; i < choice[2] % 4 && uses != 0; ++i) {
    const testing::Words& use = verb.use(choice[3 + i] % uses);
    words.insert(words.begin() + 1, use.begin(), use.end());
  }
  return words;
}

void fail(const testing::Words& words, const std::string& what) {
  std::string line = "does not hold: ";
  for (const std::string& word : words) line += word + " ";
  line += ": " + what;
  fuzz::require(false, line.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static testing::VerbRunner runner;
  static const std::vector<testing::VerbToTry> verbs = testing::verbs_to_try(runner.files());
  static const std::vector<OutputFormat> targets = output_formats();
  if (size < kChoiceBytes) return 0;
  std::array<size_t, kChoiceBytes> choice{};
  for (size_t i = 0; i < kChoiceBytes; ++i) choice[i] = data[i];
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  runner.set_recording(input.substr(kChoiceBytes));
  if ((choice[0] & 0x80) != 0) {
    const std::string target(targets[choice[1] % targets.size()].name.name);
    const std::string wrong = testing::check_conversion(runner, target);
    if (!wrong.empty()) fail({"convert", "--to", target}, wrong);
    return 0;
  }
  const testing::Words words = words_of(verbs[choice[0] % verbs.size()], choice);
  const int status = runner.run(words);
  if (status < 0 || status > 4) fail(words, "exit status " + std::to_string(status));
  return 0;
}
