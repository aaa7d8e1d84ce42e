// Random programs run with a full trace; what the place of the stop depends on, by the trace alone,
// must be in the slice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/paths/control_dependence.h"
#include "analysis/paths/random_program.h"
#include "analysis/paths/slice.h"

namespace telltale {
namespace {

using StepKind = FunctionData::Kind;
using Program = testing::RandomProgram;
using testing::kBytes;
using testing::kPrivate;
using testing::kVariables;
using testing::ProgramMaker;
using testing::Random;

// Runs a program for a number of steps, and keeps all dependences.
class Machine {
 public:
  using Event = size_t;
  struct Step {
    size_t activation = 0;
    uint32_t block = 0;
    uint32_t step = 0;
    std::set<Event> needs;
  };
  struct Activation {
    uint32_t function = 0;
    std::optional<Event> call;
    std::vector<uint32_t> blocks = {};  // in the order in which it ran them
    std::map<uint32_t, std::set<Event>> values = {};
    std::map<uint32_t, std::vector<Event>> branches = {};  // of each block, by its last step
    bool is_direct = true;
  };

  Machine(Random& random, const Program& program, size_t steps)
      : random_(random), program_(program), left_(steps) {
    for (uint32_t f = 0; f < program.data.size(); ++f) {
      BlockEdges edges;
      for (const auto& block : program.flow.functions[f].blocks) edges.push_back(block.successors);
      control_.push_back(control_dependences(edges));
      if (f != 0 && program.flow.functions[f].is_open) callable_.push_back(f);
    }
    run(0, std::nullopt, {}, true);
  }

  [[nodiscard]] bool has_stopped() const { return has_stopped_; }
  [[nodiscard]] const std::vector<Step>& trace() const { return trace_; }
  [[nodiscard]] const std::vector<Activation>& activations() const { return activations_; }
  // Activations that have not ended, the innermost last.
  [[nodiscard]] const std::vector<size_t>& stack() const { return stack_; }
  // The step that each of them is in.
  [[nodiscard]] const std::map<size_t, Event>& at() const { return at_; }

 private:
  using Place = std::tuple<size_t, uint32_t, uint64_t>;  // activation (0: global), object, byte
  static constexpr uint32_t kHeap = 1000;

  // The result's needs; nothing if the program stopped.
  std::optional<std::set<Event>> run(uint32_t function, std::optional<Event> call,
                                     std::vector<std::set<Event>> arguments, bool is_direct) {
    const size_t self = activations_.size();
    activations_.push_back({.function = function, .call = call, .is_direct = is_direct});
    stack_.push_back(self);
    for (uint32_t i = 0; i < arguments.size(); ++i)
      activations_[self].values[i] = std::move(arguments[i]);
    std::optional<uint32_t> before;
    for (uint32_t block = 0;;) {
      activations_[self].blocks.push_back(block);
      std::set<Event> result;
      const auto& steps = program_.data[function].blocks[block].steps;
      for (uint32_t i = 0; i < steps.size(); ++i) {
        if (!step(self, block, i, before, result)) return std::nullopt;
      }
      const ProgramFlow::Block& of = program_.flow.functions[function].blocks[block];
      if (of.returns) {
        stack_.pop_back();
        at_.erase(self);
        return result;
      }
      before = block;
      block = of.successors[random_.below(static_cast<uint32_t>(of.successors.size()))];
      if (left_ == 0) {  // loops without steps
        has_stopped_ = false;
        return std::nullopt;
      }
      --left_;
    }
  }

  std::set<Event> control_of(size_t self, uint32_t block) {
    const Activation& of = activations_[self];
    std::set<Event> latest;
    for (const ControlEdge& edge : control_[of.function][block]) {
      const auto branch = of.branches.find(edge.from);
      if (branch == of.branches.end()) continue;
      // Not the branch that this visit of the block ends with.
      latest.insert(branch->second.back());
    }
    return latest.empty() ? latest : std::set<Event>{*latest.rbegin()};
  }

  bool step(size_t self, uint32_t block, uint32_t number, std::optional<uint32_t> before,
            std::set<Event>& result) {
    const FunctionData& data = program_.data[activations_[self].function];
    const FunctionData::Step& step = data.blocks[block].steps[number];
    const Event event = trace_.size();
    std::set<Event> needs = control_of(self, block);
    if (activations_[self].call) needs.insert(*activations_[self].call);
    add_uses(self, step.uses, needs);
    for (const FunctionData::Incoming& way : step.incoming) {
      if (before != way.block) continue;
      add_uses(self, way.uses, needs);
      needs.merge(control_before_[self]);
      const auto& last = program_.data[activations_[self].function].blocks[*before].steps;
      const auto branch = activations_[self].branches.find(*before);
      if (!last.empty() && branch != activations_[self].branches.end())
        needs.insert(branch->second.back());
    }
    trace_.push_back({self, block, number, needs});
    at_[self] = event;
    if (left_ == 0) {
      has_stopped_ = true;
      return false;
    }
    --left_;
    if (step.kind == StepKind::phi || number == 0) control_before_[self] = control_of(self, block);
    if (step.call) {
      if (!call(self, block, event, step)) return false;
    } else {
      for (const FunctionData::Part& part : step.writes) write(self, part, {event});
      if (step.value) activations_[self].values[*step.value] = {event};
    }
    if (step.kind == StepKind::branch) activations_[self].branches[block].push_back(event);
    if (step.kind == StepKind::ret) result = {event};
    return true;
  }

  bool call(size_t self, uint32_t block, Event event, const FunctionData::Step& step) {
    const auto& flow =
        program_.flow.functions[activations_[self].function].blocks[block].calls[step.call->number];
    if (flow.is_known) {
      std::vector<std::set<Event>> arguments;
      for (const FunctionData::Uses& argument : step.call->arguments) {
        std::set<Event>& needs = arguments.emplace_back(std::set<Event>{event});
        add_uses(self, argument, needs);
      }
      const auto returned = run(flow.callees[0], event, std::move(arguments), true);
      if (!returned) return false;
      if (step.value) {
        activations_[self].values[*step.value] = *returned;
        activations_[self].values[*step.value].insert(event);
      }
      return true;
    }
    // Code without data flow: it uses its arguments, and what it reads.
    std::set<Event> read;
    for (const FunctionData::Uses& argument : step.call->arguments) add_uses(self, argument, read);
    const std::vector<Place> reached = reachable(self, *step.call);
    if (step.call->reads)
      for (int i = 0; i < 2 && !reached.empty(); ++i) add_place(pick(reached), read);
    if (step.call->calls_back && !callable_.empty() && random_.once_in(2)) {
      const uint32_t callee = callable_[random_.below(static_cast<uint32_t>(callable_.size()))];
      std::set<Event> needs = read;
      needs.insert(event);
      // What it passes is known to it.
      std::vector<std::set<Event>> arguments(program_.data[callee].parameters, needs);
      if (!run(callee, event, std::move(arguments), false)) return false;
    }
    const bool is_used = step.value.has_value();
    if (is_used) {
      activations_[self].values[*step.value] = read;
      activations_[self].values[*step.value].insert(event);
    }
    if (step.call->writes && !reached.empty()) {
      std::set<Event> writer = read;
      writer.insert(event);
      for (int i = 0; i < 2; ++i) written_[pick(reached)] = writer;
    }
    return true;
  }

  const Place& pick(const std::vector<Place>& places) {
    return places[random_.below(static_cast<uint32_t>(places.size()))];
  }

  // What pointers lead to: shared variables, the heap, shared locals of activations.
  std::vector<Place> shared() const {
    std::vector<Place> places;
    for (uint64_t byte = 0; byte < kBytes; ++byte) {
      places.emplace_back(0, kHeap, byte);
      for (uint32_t i = kPrivate; i < kVariables; ++i) places.emplace_back(0, 4 + i, byte);
      for (const size_t activation : stack_) places.emplace_back(activation + 1, 3, byte);
    }
    return places;
  }
  std::vector<Place> reachable(size_t self, const FunctionData::Call& call) const {
    if (!call.arguments_only) return shared();
    std::vector<Place> places;
    for (const FunctionData::Uses& argument : call.arguments) {
      if (!argument.values.empty() || !argument.contents.empty()) return shared();
      for (const uint32_t object : argument.addresses)
        for (uint64_t byte = 0; byte < kBytes; ++byte)
          places.emplace_back(object < 4 ? self + 1 : 0, object, byte);
    }
    return places;
  }

  [[nodiscard]] static Place place(size_t self, uint32_t object, uint64_t byte) {
    return {object < 4 ? self + 1 : 0, object, byte};
  }
  void add_place(const Place& place, std::set<Event>& needs) const {
    const auto found = written_.find(place);
    if (found != written_.end()) needs.insert(found->second.begin(), found->second.end());
  }
  void add_uses(size_t self, const FunctionData::Uses& uses, std::set<Event>& needs) {
    for (const uint32_t value : uses.values) {
      // A value that is used before it is computed has none.
      const auto found = activations_[self].values.find(value);
      if (found != activations_[self].values.end())
        needs.insert(found->second.begin(), found->second.end());
    }
    for (const FunctionData::Part& part : uses.contents) {
      if (part.object == 0) {
        const std::vector<Place> places = shared();
        add_place(pick(places), needs);
        continue;
      }
      for (uint64_t byte = part.begin; byte < std::min(part.end, kBytes); ++byte)
        add_place(place(self, part.object, byte), needs);
    }
  }
  void write(size_t self, const FunctionData::Part& part, const std::set<Event>& writer) {
    if (part.object == 0) {
      const std::vector<Place> places = shared();
      written_[pick(places)] = writer;
      return;
    }
    for (uint64_t byte = part.begin; byte < std::min(part.end, kBytes); ++byte)
      if (part.is_exact || random_.once_in(2)) written_[place(self, part.object, byte)] = writer;
  }

  Random& random_;
  const Program& program_;
  size_t left_;
  bool has_stopped_ = false;
  std::vector<std::vector<std::vector<ControlEdge>>> control_;
  std::vector<uint32_t> callable_;
  std::vector<Step> trace_;
  std::vector<Activation> activations_;
  std::vector<size_t> stack_;
  std::map<size_t, Event> at_;
  std::map<size_t, std::set<Event>> control_before_;
  std::map<Place, std::set<Event>> written_;
};

using Key = std::tuple<std::optional<size_t>, uint32_t, uint32_t, uint32_t>;

std::set<Key> steps_of(const Slice& slice) {
  std::set<Key> steps;
  for (const Slice::Step& step : slice.steps)
    steps.emplace(step.frame, step.function, step.block, step.step);
  return steps;
}

// What the last step of the trace depends on.
std::set<Key> steps_of(const Machine& machine) {
  std::map<size_t, size_t> frames;
  for (size_t i = 0; i < machine.stack().size(); ++i)
    frames.emplace(machine.stack()[machine.stack().size() - 1 - i], i);
  std::set<Key> steps;
  std::set<Machine::Event> seen = {machine.trace().size() - 1};
  std::vector<Machine::Event> pending = {machine.trace().size() - 1};
  while (!pending.empty()) {
    const Machine::Step& step = machine.trace()[pending.back()];
    pending.pop_back();
    const auto frame = frames.find(step.activation);
    steps.emplace(frame == frames.end() ? std::nullopt : std::optional(frame->second),
                  machine.activations()[step.activation].function, step.block, step.step);
    for (const Machine::Event need : step.needs)
      if (seen.insert(need).second) pending.push_back(need);
  }
  return steps;
}

// All of it true, some of it less than could be known.
SliceEvidence evidence_of(const Machine& machine, const Program& program, Random& random) {
  SliceEvidence told;
  for (const FunctionData& data : program.data) told.ran.emplace_back(data.blocks.size(), Ran::no);
  for (const Machine::Activation& activation : machine.activations())
    for (const uint32_t block : activation.blocks) told.ran[activation.function][block] = Ran::yes;
  const bool forgets = random.once_in(2);
  const auto forget = [&](std::vector<Ran>& blocks) {
    if (forgets)
      for (Ran& ran : blocks)
        if (random.once_in(3)) ran = Ran::maybe;
  };
  for (size_t i = 0; i < machine.stack().size(); ++i) {
    const size_t self = machine.stack()[machine.stack().size() - 1 - i];
    const Machine::Activation& of = machine.activations()[self];
    const Machine::Step& at = machine.trace()[machine.at().at(self)];
    const FunctionData& data = program.data[of.function];
    SliceEvidence::Frame frame{.function = of.function,
                               .blocks = std::vector<Ran>(data.blocks.size(), Ran::no),
                               .line = data.blocks[at.block].steps[at.step].line,
                               .is_in_call = i != 0};
    if (i != 0) {
      frame.called_directly =
          machine.activations()[machine.stack()[machine.stack().size() - i]].is_direct;
    }
    for (const uint32_t block : of.blocks) frame.blocks[block] = Ran::yes;
    forget(frame.blocks);
    if (random.once_in(3)) {
      if (random.once_in(2)) frame.stopped_in = {at.block};
    } else {
      const size_t lost = random.below(static_cast<uint32_t>(of.blocks.size()));
      const size_t first = random.once_in(2) ? 0 : lost;
      frame.ways = {{of.blocks.begin() + static_cast<std::ptrdiff_t>(first), of.blocks.end()}};
      frame.is_whole = first == 0;
    }
    told.frames.push_back(std::move(frame));
  }
  for (std::vector<Ran>& blocks : told.ran) forget(blocks);
  return told;
}

TEST(SliceProperty, HasWhatTheTraceDependsOn) {
  size_t stops = 0;
  size_t needed = 0;
  size_t found = 0;
  size_t of_stack = 0;
  for (uint32_t seed = 0; seed < 20000; ++seed) {
    Random random(seed);
    Program program;
    ProgramMaker(random, program).make();
    const Machine machine(random, program, 1 + random.below(random.once_in(4) ? 120 : 12));
    if (!machine.has_stopped()) continue;
    ++stops;
    const SliceEvidence evidence = evidence_of(machine, program, random);
    std::vector<const FunctionData*> data;
    for (const FunctionData& each : program.data) data.push_back(&each);
    const std::set<Key> expected = steps_of(machine);
    const std::set<Key> slice = steps_of(slice_backward(program.flow, data, evidence));
    const std::set<Key> wide = steps_of(slice_backward(program.flow, data, stack_alone(evidence)));
    for (const Key& key : expected) {
      const auto& [frame, function, block, step] = key;
      EXPECT_TRUE(slice.contains(key))
          << "seed " << seed << ": function " << function << ", block " << block << ", step "
          << step << ", frame " << (frame ? static_cast<int>(*frame) : -1);
    }
    for (const Key& key : slice) {
      const auto& [frame, function, block, step] = key;
      EXPECT_TRUE(wide.contains(key)) << "seed " << seed << ": function " << function << ", block "
                                      << block << ", step " << step;
    }
    needed += expected.size();
    found += slice.size();
    of_stack += wide.size();
    if (HasFailure()) break;
  }
  EXPECT_GT(stops, 8000U);
  // The restriction is worth something.
  EXPECT_LT(found, of_stack);
  std::printf("%zu stops; steps: %zu by the trace, %zu in slices, %zu with what did not run\n",
              stops, needed, found, of_stack);
}

}  // namespace
}  // namespace telltale
