// Random programs with data flow, for tests of slices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "analysis/paths/cut_blocks.h"
#include "analysis/paths/program_flow.h"
#include "model/function_data.h"

namespace telltale::testing {

inline constexpr uint64_t kBytes = 3;  // of each object
inline constexpr uint32_t kVariables = 5;
inline constexpr uint32_t kPrivate = 2;  // the first variables are accessed by their names alone

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(engine_() % limit); }
  bool once_in(uint32_t times) { return below(times) == 0; }

 private:
  std::mt19937 engine_;
};

struct RandomProgram {
  ProgramFlow flow;
  std::vector<FunctionData> data;
};

class ProgramMaker {
 public:
  ProgramMaker(Random& random, RandomProgram& program) : random_(random), program_(program) {}

  void make() {
    const uint32_t count = 1 + random_.below(4);
    program_.flow.functions.resize(count);
    program_.data.resize(count);
    program_.flow.functions[0].is_start = true;
    for (uint32_t f = 1; f < count; ++f) program_.flow.functions[f].is_open = random_.once_in(4);
    for (uint32_t f = 0; f < count; ++f)
      program_.data[f].parameters = f == 0 ? 0 : random_.below(3);
    for (uint32_t f = 0; f < count; ++f) make_function(f);
  }

 private:
  void make_function(uint32_t f) {
    ProgramFlow::Function& function = program_.flow.functions[f];
    FunctionData& data = program_.data[f];
    data.objects.push_back({.storage = FunctionData::Storage::memory, .name = {}});
    for (const FunctionData::Storage storage :
         {FunctionData::Storage::local, FunctionData::Storage::local,
          FunctionData::Storage::shared_local})
      data.objects.push_back({.storage = storage, .name = "local"});
    for (uint32_t i = 0; i < kVariables; ++i)
      data.objects.push_back({.storage = i < kPrivate ? FunctionData::Storage::private_global
                                                      : FunctionData::Storage::global,
                              .name = "global",
                              .variable = i});
    const uint32_t blocks = 1 + random_.below(6);
    function.blocks.resize(blocks);
    data.blocks.resize(blocks);
    values_ = data.parameters;
    for (uint32_t block = 0; block < blocks; ++block) make_edges(function, block, blocks);
    // Without endless loops, all branches are steps.
    make_ends(function);
    for (uint32_t block = 0; block < blocks; ++block) make_steps(f, block);
  }

  // Nothing leads to the entry.
  void make_edges(ProgramFlow::Function& function, uint32_t block, uint32_t blocks) {
    ProgramFlow::Block& of = function.blocks[block];
    if (blocks == 1 || (block != 0 && random_.once_in(4)) || block + 1 == blocks) {
      of.returns = true;
      return;
    }
    const uint32_t successors = 1 + random_.below(2);
    for (uint32_t i = 0; i < successors; ++i)
      of.successors.push_back(random_.once_in(2) ? block + 1 : 1 + random_.below(blocks - 1));
  }

  // Makes blocks return that cannot reach the end of the function.
  static void make_ends(ProgramFlow::Function& function) {
    BlockEdges edges;
    std::vector<uint32_t> ends;
    for (const ProgramFlow::Block& block : function.blocks) {
      if (block.returns) ends.push_back(static_cast<uint32_t>(edges.size()));
      edges.push_back(block.successors);
    }
    const std::vector<bool> reaches =
        reach_blocks(reversed(edges), std::vector<bool>(edges.size(), true), ends);
    for (size_t block = 0; block < reaches.size(); ++block) {
      if (reaches[block]) continue;
      function.blocks[block].successors.clear();
      function.blocks[block].returns = true;
    }
  }

  FunctionData::Part part(bool is_write) {
    FunctionData::Part part{.object = random_.below(4 + kVariables)};
    if (part.object == 0) return part;
    if (random_.once_in(2)) {
      part.is_exact = is_write;
    } else if (random_.once_in(2)) {
      part.begin = random_.below(kBytes);
      part.end = part.begin + 1 + random_.below(static_cast<uint32_t>(kBytes - part.begin));
      part.is_exact = true;
    }
    return part;
  }

  FunctionData::Uses uses() {
    FunctionData::Uses all;
    for (uint32_t left = random_.below(3); left != 0; --left) {
      if (values_ != 0 && random_.once_in(2)) {
        all.values.push_back(random_.below(values_));
      } else {
        all.contents.push_back(part(false));
      }
    }
    return all;
  }

  void make_steps(uint32_t f, uint32_t block) {
    ProgramFlow::Function& function = program_.flow.functions[f];
    FunctionData& data = program_.data[f];
    auto& steps = data.blocks[block].steps;
    const auto add = [&](FunctionData::Step step) {
      step.line = ++line_;
      if (step.value) {
        step.value = values_++;
        data.results.push_back({.block = block, .step = static_cast<uint32_t>(steps.size())});
      }
      steps.push_back(std::move(step));
    };
    if (block != 0 && random_.once_in(4)) {
      FunctionData::Step phi{.kind = FunctionData::Kind::phi, .value = 0};
      for (uint32_t from = 0; from < function.blocks.size(); ++from) {
        const auto& next = function.blocks[from].successors;
        if (std::ranges::find(next, block) != next.end())
          phi.incoming.push_back({.block = from, .uses = uses()});
      }
      add(std::move(phi));
    }
    for (uint32_t left = random_.below(4); left != 0; --left) {
      if (random_.once_in(3)) {
        make_call(function.blocks[block], add);
      } else if (random_.once_in(3)) {
        add({.kind = FunctionData::Kind::value, .value = 0, .uses = uses()});
      } else {
        add({.kind = FunctionData::Kind::store, .uses = uses(), .writes = {part(true)}});
      }
    }
    const ProgramFlow::Block& of = function.blocks[block];
    if (of.returns) add({.kind = FunctionData::Kind::ret, .uses = uses()});
    if (of.successors.size() > 1) add({.kind = FunctionData::Kind::branch, .uses = uses()});
  }

  template <typename Add>
  void make_call(ProgramFlow::Block& block, const Add& add) {
    FunctionData::Call call;
    call.number = static_cast<uint32_t>(block.calls.size());
    ProgramFlow::Call known{.is_known = true};
    const auto count = static_cast<uint32_t>(program_.flow.functions.size());
    if (count > 1 && !random_.once_in(4)) {
      known.callees.push_back(1 + random_.below(count - 1));
      const uint32_t arguments = program_.data[known.callees[0]].parameters;
      for (uint32_t i = 0; i < arguments; ++i) call.arguments.push_back(uses());
    } else {
      known.is_known = false;
      for (uint32_t left = random_.below(3); left != 0; --left) {
        FunctionData::Uses& argument = call.arguments.emplace_back(uses());
        // The address of a variable that pointers lead to.
        if (random_.once_in(2)) argument.addresses.push_back(3 + random_.below(1));
        if (random_.once_in(3)) argument.addresses.push_back(4 + kPrivate);
      }
      call.reads = random_.below(3) != 0;
      call.writes = random_.below(3) != 0;
      call.arguments_only = random_.once_in(2);
      call.calls_back = random_.once_in(2);
    }
    block.calls.push_back(known);
    add({.kind = FunctionData::Kind::call, .value = 0, .uses = uses(), .call = call});
  }

  Random& random_;
  RandomProgram& program_;
  uint32_t values_ = 0;  // of the function so far
  uint32_t line_ = 0;
};

}  // namespace telltale::testing
