// Texts of debuggers: no crash; memory stays within bounds, whatever elements the text repeats;
// problems are placed inside the input; what was read, written as gdb and as LLDB print it, is read
// as the same stack.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/paths/path_history.h"
#include "fuzz_checks.h"
#include "import/csi/debugger_text.h"
#include "import/csi/frame_decoder.h"

namespace {

using namespace telltale;

constexpr size_t kMostValues = size_t{1} << 20;
constexpr size_t kMostFrames = 10'000;
constexpr size_t kMostWritten = 1'000;  // values, to keep the fuzzer quick

size_t values_of(const std::vector<ThreadStack>& stacks) {
  size_t count = 0;
  for (const ThreadStack& stack : stacks) {
    fuzz::require(!stack.frames.empty(), "a thread has frames");
    fuzz::require(stack.frames.size() <= kMostFrames, "a thread has a bounded number of frames");
    for (const StackFrame& frame : stack.frames) {
      for (const StackVariable& variable : frame.variables) {
        fuzz::require(variable.values.empty() != variable.missing.empty(),
                      "a variable has values or the reason why not");
        count += variable.values.size();
      }
    }
  }
  return count;
}

bool is_written(const StackVariable& variable) {
  return !variable.values.empty() && variable.values.size() <= kMostWritten;
}

std::string gdb_value(const std::vector<int64_t>& values) {
  return fmt::format("{{{}}}", fmt::join(values, ", "));
}

std::string lldb_value(const std::vector<int64_t>& values) {
  std::string text = "{\n";
  for (size_t i = 0; i < values.size(); ++i) text += fmt::format("  [{}] = {}\n", i, values[i]);
  return text + "}";
}

// One frame, without a function, with these variables.
template <typename Value>
void require_same(const std::vector<StackVariable>& variables,
                  const std::vector<std::string>& wanted, const Value& value) {
  std::string text = "#0\n";
  size_t written = 0;
  for (const StackVariable& variable : variables) {
    if (!is_written(variable)) continue;
    text += variable.name + " = " + value(variable.values) + "\n";
    ++written;
  }
  ProblemLog problems;
  const auto stacks = read_debugger_text(text, "again", wanted, problems);
  fuzz::require(problems.count() == 0, "what was read can be read again");
  fuzz::require(stacks.size() == 1 && stacks[0].frames.size() == 1, "it is one frame");
  const std::vector<StackVariable>& again = stacks[0].frames[0].variables;
  fuzz::require(again.size() == written, "it has the same variables");
  size_t i = 0;
  for (const StackVariable& variable : variables) {
    if (!is_written(variable)) continue;
    fuzz::require(again[i].name == variable.name && again[i].values == variable.values,
                  "they have the same values");
    ++i;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> wanted = path_variable_names();
  ProblemLog problems;
  const std::vector<ThreadStack> stacks = read_debugger_text(text, "f", wanted, problems);
  fuzz::require_placed(problems, as_bytes(text));
  fuzz::require(values_of(stacks) <= kMostValues, "a text has a bounded number of values");
  for (const ThreadStack& stack : stacks) {
    for (const StackFrame& frame : stack.frames) {
      if (frame.variables.empty()) continue;
      require_same(frame.variables, wanted, gdb_value);
      require_same(frame.variables, wanted, lldb_value);
    }
  }
  return 0;
}
