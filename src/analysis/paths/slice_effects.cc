#include "analysis/paths/slice_effects.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace telltale {
namespace {

using Storage = FunctionData::Storage;
using TargetKind = SliceTarget::Kind;

constexpr uint64_t kMostBits = uint64_t{1} << 32;

bool overlap(const FunctionData::Part& part, const SliceTarget& target) {
  return part.begin < target.end && target.begin < part.end;
}

Writes same_object(const FunctionData::Part& part, const SliceTarget& target) {
  if (!overlap(part, target)) return Writes::no;
  return part.is_exact && part.begin <= target.begin && part.end >= target.end ? Writes::all
                                                                               : Writes::maybe;
}

Writes write_of(const FunctionData& data, const FunctionData::Part& part,
                const SliceTarget& target) {
  const FunctionData::Object& object = data.objects[part.object];
  const bool is_global =
      object.storage == Storage::global || object.storage == Storage::private_global;
  switch (target.kind) {
    case TargetKind::parameter:
      return Writes::no;
    case TargetKind::local:
      if (part.object == target.index) return same_object(part, target);
      break;
    case TargetKind::global:
      if (is_global && object.variable == target.index) return same_object(part, target);
      break;
    case TargetKind::memory:
      return object.storage == Storage::local || object.storage == Storage::private_global
                 ? Writes::no
                 : Writes::maybe;
    case TargetKind::foreign:
      break;
  }
  return object.storage == Storage::memory && target.is_shared ? Writes::maybe : Writes::no;
}

bool has_pointers(const FunctionData::Uses& uses) {
  return !uses.values.empty() || !uses.contents.empty();
}

// Of a call that may lead to code without data flow.
SliceAccess::Opaque opaque_of(const FunctionData::Call& call) {
  if (!call.writes) return SliceAccess::Opaque::nothing;
  const bool writes_shared =
      !call.arguments_only || std::ranges::any_of(call.arguments, has_pointers);
  return writes_shared ? SliceAccess::Opaque::shared : SliceAccess::Opaque::opaque_writes;
}

// REQUIRES: the step writes something itself.
SliceAccess access_of(const FunctionData& data, const FunctionData::Step& step, uint32_t index) {
  using Kind = SliceAccess::Kind;
  std::optional<SliceAccess> all;
  for (const FunctionData::Part& part : step.writes) {
    const FunctionData::Object& object = data.objects[part.object];
    SliceAccess access{.step = index, .kind = Kind::locals, .has_writes = true};
    switch (object.storage) {
      case Storage::memory:
        access.kind = Kind::memory;
        break;
      case Storage::local:
      case Storage::shared_local:
        break;
      case Storage::global:
      case Storage::private_global:
        access.kind = object.storage == Storage::global ? Kind::global : Kind::private_global;
        access.variable = object.variable;
        break;
    }
    if (!all) all = access;
    if (all->kind != access.kind || all->variable != access.variable) all->kind = Kind::several;
  }
  return *all;
}

}  // namespace

SliceTarget target_of(const FunctionData& data, const FunctionData::Part& part) {
  const FunctionData::Object& object = data.objects[part.object];
  SliceTarget target{.kind = TargetKind::memory, .begin = part.begin, .end = part.end};
  switch (object.storage) {
    case Storage::memory:
      target.begin = 0;
      target.end = FunctionData::kEnd;
      break;
    case Storage::local:
    case Storage::shared_local:
      target.kind = TargetKind::local;
      target.is_shared = object.storage == Storage::shared_local;
      target.index = part.object;
      break;
    case Storage::private_global:
    case Storage::global:
      target.kind = TargetKind::global;
      target.is_shared = object.storage == Storage::global;
      target.index = object.variable;
      break;
  }
  return target;
}

Writes writes_of(const FunctionData& data, const FunctionData::Step& step,
                 const SliceTarget& target) {
  Writes written = Writes::no;
  for (const FunctionData::Part& part : step.writes)
    written = std::max(written, write_of(data, part, target));
  return written;
}

SliceEffects::SliceEffects(const ProgramFlow& flow, const std::vector<const FunctionData*>& data,
                           const std::vector<std::vector<Ran>>& ran)
    : flow_(flow), data_(data), ran_(ran) {
  const auto count = static_cast<uint32_t>(flow.functions.size());
  uint64_t variables = 0;
  is_callable_.resize(count, false);
  for (uint32_t f = 0; f < count; ++f) {
    const ProgramFlow::Function& function = flow.functions[f];
    if (data[f] == nullptr) continue;
    for (const FunctionData::Object& object : data[f]->objects)
      variables = std::max<uint64_t>(variables, uint64_t{object.variable} + 1);
    if ((function.is_open || function.is_taken) && may_have_run(f, 0)) {
      callable_.push_back(f);
      is_callable_[f] = true;
    }
  }
  is_limited_ = variables * count > kMostBits;
  const size_t words = is_limited_ ? 0 : static_cast<size_t>((variables + 63) / 64);
  accesses_.resize(count);
  calls_.resize(count);
  written_.resize(count + 1, {.globals = std::vector<uint64_t>(words, 0)});
  callers_.resize(count + 1);
  for (const uint32_t callable : callable_) callers_[callable].push_back(count);
  std::vector<uint32_t> pending;
  for (uint32_t f = 0; f < count; ++f) {
    if (data[f] == nullptr) continue;
    find_accesses(f);
    find_callees(f);
    add_own(f);
    pending.push_back(f);
  }
  std::vector<bool> is_pending(count + 1, true);
  pending.push_back(count);
  while (!pending.empty() && !is_limited_) {
    const uint32_t callee = pending.back();
    pending.pop_back();
    is_pending[callee] = false;
    for (const uint32_t caller : callers_[callee]) {
      if (!join(caller, callee) || is_pending[caller]) continue;
      is_pending[caller] = true;
      pending.push_back(caller);
    }
  }
}

void SliceEffects::find_accesses(uint32_t function) {
  const FunctionData& data = *data_[function];
  accesses_[function].resize(data.blocks.size());
  calls_[function].resize(data.blocks.size());
  for (uint32_t block = 0; block < data.blocks.size(); ++block) {
    for (const ProgramFlow::Call& call : flow_.functions[function].blocks[block].calls) {
      const bool is_described = std::ranges::none_of(
          call.callees, [&](uint32_t callee) { return data_[callee] == nullptr; });
      calls_[function][block].push_back(
          {.callees = {}, .is_opaque = !call.is_known || !is_described});
    }
    for (uint32_t i = 0; i < data.blocks[block].steps.size(); ++i) {
      const FunctionData::Step& step = data.blocks[block].steps[i];
      if (step.call) {
        const bool is_opaque = this->is_opaque(function, block, *step.call);
        accesses_[function][block].push_back(
            {.step = i,
             .opaque = is_opaque ? opaque_of(*step.call) : SliceAccess::Opaque::nothing,
             .has_writes = !step.writes.empty(),
             .calls_back = !called_back(function, block, *step.call).empty(),
             .callees = &callees(function, block, *step.call)});
      } else if (!step.writes.empty()) {
        accesses_[function][block].push_back(access_of(data, step, i));
      }
    }
  }
}

void SliceEffects::find_callees(uint32_t function) {
  const FunctionData& data = *data_[function];
  for (uint32_t block = 0; block < data.blocks.size(); ++block) {
    const auto& calls = flow_.functions[function].blocks[block].calls;
    std::vector<Reached>& reached = calls_[function][block];
    if (!may_have_run(function, block)) continue;
    for (const FunctionData::Step& step : data.blocks[block].steps) {
      if (!step.call) continue;
      const auto add_caller = [&](uint32_t callee) {
        auto& callers = callers_[callee];
        if (callers.empty() || callers.back() != function) callers.push_back(function);
      };
      if (!called_back(function, block, *step.call).empty()) add_caller(all_callable());
      if (step.call->number >= calls.size()) continue;
      for (const uint32_t callee : calls[step.call->number].callees) {
        if (data_[callee] == nullptr || !may_have_run(callee, 0)) continue;
        reached[step.call->number].callees.push_back(callee);
        add_caller(callee);
      }
    }
  }
}

void SliceEffects::add_own(uint32_t function) {
  if (is_limited_) return;
  const FunctionData& data = *data_[function];
  Written& written = written_[function];
  const auto add = [&](uint32_t index) {
    const FunctionData::Object& object = data.objects[index];
    if (object.storage == Storage::memory) written.memory = true;
    if (object.storage == Storage::global) written.shared = true;
    if (object.storage == Storage::global || object.storage == Storage::private_global)
      written.globals[object.variable / 64] |= uint64_t{1} << (object.variable % 64);
  };
  for (uint32_t block = 0; block < data.blocks.size(); ++block) {
    if (!may_have_run(function, block)) continue;
    for (const FunctionData::Step& step : data.blocks[block].steps) {
      for (const FunctionData::Part& part : step.writes) add(part.object);
      if (!step.call || !step.call->writes || !is_opaque(function, block, *step.call)) continue;
      if (!step.call->arguments_only) written.memory = true;
      for (const FunctionData::Uses& argument : step.call->arguments) {
        for (const uint32_t object : argument.addresses) add(object);
        if (has_pointers(argument)) written.memory = true;
      }
    }
  }
}

// Whether that adds something to what the caller may write.
bool SliceEffects::join(uint32_t function, uint32_t callee) {
  Written& to = written_[function];
  const Written& from = written_[callee];
  bool is_new = (from.memory && !to.memory) || (from.shared && !to.shared);
  to.memory = to.memory || from.memory;
  to.shared = to.shared || from.shared;
  for (size_t i = 0; i < to.globals.size(); ++i) {
    is_new = is_new || (from.globals[i] & ~to.globals[i]) != 0;
    to.globals[i] |= from.globals[i];
  }
  return is_new;
}

const SliceEffects::Reached& SliceEffects::reached(uint32_t function, uint32_t block,
                                                   const FunctionData::Call& call) const {
  static const Reached kUnknown;
  const std::vector<Reached>& known = calls_[function][block];
  return call.number < known.size() ? known[call.number] : kUnknown;
}

const std::vector<uint32_t>& SliceEffects::callees(uint32_t function, uint32_t block,
                                                   const FunctionData::Call& call) const {
  return reached(function, block, call).callees;
}

const std::vector<uint32_t>& SliceEffects::called_back(uint32_t function, uint32_t block,
                                                       const FunctionData::Call& call) const {
  static const std::vector<uint32_t> kNoCallees;
  const auto& calls = flow_.functions[function].blocks[block].calls;
  const bool is_known = call.number < calls.size() && calls[call.number].is_known;
  return is_known || !call.calls_back ? kNoCallees : callable_;
}

bool SliceEffects::may_call(uint32_t function, uint32_t block, const FunctionData::Call& call,
                            uint32_t callee) const {
  const auto& known = callees(function, block, call);
  return std::ranges::find(known, callee) != known.end() ||
         (is_callable_[callee] && !called_back(function, block, call).empty());
}

std::vector<uint32_t> SliceEffects::callers(uint32_t function) const {
  std::vector<uint32_t> all = callers_[function];
  // all_callable() is a placeholder for unknown code, not a function of the program.
  std::erase(all, all_callable());
  if (!is_callable_[function]) return all;
  std::vector<uint32_t> both;
  std::ranges::set_union(all, callers_[all_callable()], std::back_inserter(both));
  return both;
}

bool SliceEffects::is_opaque(uint32_t function, uint32_t block,
                             const FunctionData::Call& call) const {
  return reached(function, block, call).is_opaque;
}

bool SliceEffects::opaque_writes(uint32_t function, uint32_t block, const FunctionData::Call& call,
                                 const SliceTarget& target) const {
  if (!call.writes || !is_opaque(function, block, call)) return false;
  const FunctionData& data = *data_[function];
  if (target.kind == TargetKind::parameter || !target.is_shared) return false;
  if (!call.arguments_only) return true;
  for (const FunctionData::Uses& argument : call.arguments) {
    if (has_pointers(argument)) return true;
    for (const uint32_t object : argument.addresses) {
      if (write_of(data, {.object = object}, target) != Writes::no) return true;
    }
  }
  return false;
}

bool SliceEffects::may_write(const Written& written, const SliceTarget& target) const {
  if (is_limited_) return true;
  switch (target.kind) {
    case TargetKind::parameter:
    case TargetKind::local:
      return false;
    case TargetKind::global:
      if ((written.globals[target.index / 64] >> (target.index % 64) & 1U) != 0) return true;
      return target.is_shared && written.memory;
    case TargetKind::memory:
      return written.memory || written.shared;
    case TargetKind::foreign:
      return target.is_shared && written.memory;
  }
  return true;
}

SliceTarget SliceEffects::for_callee(const SliceTarget& target) {
  if (target.kind != TargetKind::local) return target;
  return {.kind = TargetKind::foreign, .is_shared = target.is_shared};
}

}  // namespace telltale
