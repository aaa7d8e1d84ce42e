#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/paths/flow_structure.h"
#include "import/csi/passed_lines.h"

namespace telltale {
namespace {

// A random program, some of whose functions let another copy of themselves run instead, as the
// Sampler's do. It runs at random until it ends, or is stopped at any place.
class SampledProgram {
 public:
  explicit SampledProgram(unsigned seed) : engine_(seed) {
    const uint32_t count = 1 + random(4);
    for (uint32_t f = 0; f <= count; ++f) {
      const std::string name = name_of(f);
      const bool has_copy = random(2) == 0;
      const bool has_aside = has_copy && random(2) == 0;
      add_function(f, name, count, !has_copy ? "" : name + (has_aside ? ".aside" : ".slow"));
      if (has_aside) add_aside(f, name);
      if (has_copy) add_function(f, name + ".slow", count, "");
    }
    keeps_frames_ = random(2) == 0;
    functions_.add_module("program", records_, {{.unit = "a.c", .taken = {}}}, {});
    for (const auto& function : functions_.flow().functions)
      ran_.emplace_back(function.blocks.size(), false);
  }

  void run() {
    steps_left_ = 1 + random(60);
    const bool ended = run_function(index_of("main"));
    evidence_.calls_return = true;
    evidence_.start_returned = ended;
    if (!ended) evidence_.stacks.push_back(stack_);
    for (const std::vector<bool>& blocks : ran_) {
      auto& flags = evidence_.flags.emplace_back(blocks.size());
      for (size_t block = 0; block < blocks.size(); ++block)
        if (random(3) == 0) flags[block].entered = blocks[block];
    }
  }

  [[nodiscard]] const FlowFunctions& functions() const { return functions_; }
  [[nodiscard]] const ProgramEvidence& evidence() const { return evidence_; }
  [[nodiscard]] bool ran(uint32_t function, size_t block) const { return ran_[function][block]; }
  // By function of the source.
  [[nodiscard]] bool ran(const std::string& source, uint32_t line) const {
    return lines_.contains({source, line});
  }

 private:
  uint32_t random(size_t below) { return static_cast<uint32_t>(engine_() % below); }
  static std::string name_of(uint32_t f) { return f == 0 ? "main" : fmt::format("f{}", f); }

  // Lets either copy run.
  void add_aside(uint32_t f, const std::string& name) {
    csi::FlowRecord record;
    record.key = records_.size() + 1;
    record.unit = record.file = "a.c";
    record.symbol = name + ".aside";
    record.source = name_of(f);
    record.is_local = true;
    record.blocks = {{.successors = {1, 2}},
                     {.successors = {}, .returns = true},
                     {.successors = {}, .returns = true}};
    record.calls = {
        {.block = 1, .callee = name, .may_jump = true, .runs_other_copy = true},
        {.block = 2, .callee = name + ".slow", .may_jump = true, .runs_other_copy = true}};
    records_.push_back(std::move(record));
  }

  // `copy`: the one that it may let run; empty: none.
  void add_function(uint32_t f, const std::string& symbol, uint32_t count,
                    const std::string& copy) {
    csi::FlowRecord record;
    record.key = records_.size() + 1;
    record.unit = record.file = "a.c";
    record.symbol = symbol;
    if (symbol != name_of(f)) record.source = name_of(f);
    record.is_local = symbol != "main";
    record.scopes.push_back({.number = 0, .file = "a.c", .function = name_of(f)});
    const uint32_t size = 1 + random(6);
    record.blocks.resize(size);
    for (uint32_t block = 1; block < size; ++block)
      record.blocks[random(block)].successors.push_back(block);
    if (size > 1) {
      for (uint32_t extra = random(size); extra-- > 0;)
        record.blocks[random(size)].successors.push_back(1 + random(size - 1));
    }
    for (uint32_t block = 0; block < size; ++block) {
      csi::FlowRecord::Block& of = record.blocks[block];
      of.returns = of.successors.empty();
      uint32_t calls = 0;
      if (!copy.empty() && of.returns && random(2) == 0) {
        record.calls.push_back(
            {.block = block, .callee = copy, .may_jump = true, .runs_other_copy = true});
        continue;  // which does nothing else
      }
      for (; f < count && calls < 2 && random(3) == 0; ++calls)
        record.calls.push_back({.block = block, .callee = name_of(f + 1 + random(count - f))});
      uint32_t before = 0;  // calls
      for (uint32_t lines = random(4); lines-- > 0;) {
        before += random(calls - before + 1);
        record.lines.push_back(
            {.block = block, .scope = 0, .line = 10 * f + random(5) + 1, .calls = before});
      }
    }
    records_.push_back(std::move(record));
  }

  [[nodiscard]] uint32_t index_of(const std::string& symbol) const {
    return functions_.find("program", symbol).at(0);
  }

  // False: the program was stopped.
  bool run_function(uint32_t f) {
    const FlowFunction& function = functions_.functions()[f];
    const csi::FlowRecord& record = *function.copies.front();
    for (uint32_t block = 0;;) {
      ran_[f][block] = true;
      std::vector<const csi::FlowRecord::Call*> calls;
      for (const csi::FlowRecord::Call& call : record.calls)
        if (call.block == block) calls.push_back(&call);
      bool is_other_copy = false;
      for (uint32_t call = 0; call <= calls.size(); ++call) {
        for (const auto& line : record.lines)
          if (line.block == block && line.calls == call)
            lines_.insert({function.source, line.line});
        if (steps_left_-- == 0) {
          stack_.push_back({.function = f, .stopped_in = {block}, .returned = call});
          return false;
        }
        if (call == calls.size()) break;
        is_other_copy = calls[call]->runs_other_copy;
        if (!run_function(index_of(calls[call]->callee))) {
          if (!is_other_copy || keeps_frames_)
            stack_.push_back({.function = f, .stopped_in = {block}, .call = call});
          return false;
        }
      }
      if (is_other_copy || record.blocks[block].returns) return true;
      const auto& next = record.blocks[block].successors;
      block = next[random(next.size())];
    }
  }

  std::mt19937_64 engine_;
  std::vector<csi::FlowRecord> records_;
  FlowFunctions functions_;
  ProgramEvidence evidence_;
  ProgramEvidence::Stack stack_;  // the innermost first
  std::vector<std::vector<bool>> ran_;
  std::set<std::pair<std::string, uint32_t>> lines_;
  bool keeps_frames_ = true;  // of functions that let another copy run
  uint32_t steps_left_ = 0;
};

// Runs `count` random programs. `check(seed, program, ran)`: what is known of their blocks.
template <typename Check>
void for_each_run(unsigned count, const Check& check) {
  for (unsigned seed = 0; seed < count && !::testing::Test::HasFatalFailure(); ++seed) {
    SampledProgram program(seed);
    program.run();
    check(seed, program,
          blocks_of_program(program.functions().flow(), FlowStructure(program.functions().flow()),
                            program.evidence()));
  }
}

TEST(PassedLines, RanInRandomPrograms) {
  size_t found = 0;
  size_t of_copies = 0;
  for_each_run(20'000, [&](unsigned seed, const SampledProgram& program, const ProgramBlocks& ran) {
    const PassedLines passed(program.functions(), program.evidence(), ran);
    for (const auto& [function, lines] : passed.lines()) {
      const std::string& source = std::get<1>(function);
      of_copies += program.functions().find("program", source + ".slow").empty() ? 0 : lines.size();
      for (const auto& [file, line] : lines) {
        ++found;
        ASSERT_TRUE(program.ran(source, line)) << seed << ": " << source << ", line " << line;
      }
    }
  });
  EXPECT_GT(found, 1000U);
  EXPECT_GT(of_copies, 100U);
}

TEST(PassedLines, BlocksOfCopiesInRandomProgramsHaveNoWrongAnswers) {
  size_t certain = 0;
  size_t all = 0;
  // Of 11 faults put into the code of copies, 100,000 programs find five; all five show in these,
  // wrong answers within the first 1,500.
  for_each_run(25'000, [&](unsigned seed, const SampledProgram& program, const ProgramBlocks& ran) {
    for (uint32_t f = 0; f < ran.functions.size(); ++f) {
      for (size_t block = 0; block < ran.functions[f].size(); ++block) {
        ++all;
        const Ran answer = ran.functions[f][block];
        if (answer == Ran::maybe) continue;
        ++certain;
        ASSERT_EQ(answer == Ran::yes, program.ran(f, block))
            << seed << ": " << program.functions().functions()[f].symbol << ", block " << block;
      }
    }
  });
  // 0.900 if copies are taken for functions of their own, 0.908 otherwise.
  EXPECT_GT(certain, all / 1000 * 905);
}

}  // namespace
}  // namespace telltale
