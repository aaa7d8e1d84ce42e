#include "analysis/runtime/native_samples.h"

#include <algorithm>
#include <tuple>

#include "base/sort_rows.h"

namespace telltale {
namespace {

// The last item at or below `address`; null if there is none.
template <typename Map>
const typename Map::value_type* below(const Map& map, uint64_t address) {
  const auto after = map.upper_bound(address);
  return after == map.begin() ? nullptr : &*std::prev(after);
}

}  // namespace

void NativeSamples::on(const SampleEvent& event) {
  if (!any_) {
    any_ = true;
    first_place_ = place_;
    if (event.has_kind) first_kind_ = event.kind;
  }
  for (const uint64_t address : event.addresses) ++hits_[address];
}

void NativeSamples::add_named(std::map<uint64_t, Named>& to,
                              const std::map<uint64_t, Named>& from) {
  for (const auto& [address, theirs] : from) {
    const auto [ours, is_new] = to.try_emplace(address, theirs);
    if (!is_new && theirs.place >= ours->second.place) ours->second = theirs;
  }
}

void NativeSamples::append(const NativeSamples& next) {
  if (next.any_ && (!any_ || next.first_place_ < first_place_)) {
    any_ = true;
    first_place_ = next.first_place_;
    first_kind_ = next.first_kind_;
  }
  for (const auto& [address, hits] : next.hits_) hits_[address] += hits;
  address_bits_ = std::min(address_bits_, next.address_bits_);
  add_named(symbols_, next.symbols_);
  add_named(binaries_, next.binaries_);
}

NativeSamples::Resolved NativeSamples::resolve(
    const std::vector<CompiledCode::Method>& methods) const {
  std::map<uint64_t, const CompiledCode::Method*> code;  // by address
  for (const CompiledCode::Method& method : methods) code.try_emplace(method.address, &method);
  Resolved resolved;
  // By kind, address (of one process), and name.
  const bool one_process = address_bits_ == 64;
  std::map<std::tuple<Line::Kind, uint64_t, std::string>, Line> lines;
  for (const auto& [address, hits] : hits_) {
    Line line;
    uint64_t start = 0;
    const auto* method = below(code, address);
    if (method != nullptr && method->second->holds(address)) {
      line.kind = Line::Kind::method;
      line.function = method->second->function;
      start = to_number(line.function);
      resolved.managed += hits;
    } else {
      resolved.unmanaged += hits;
      const auto* symbol = below(symbols_, address);
      const auto* binary = below(binaries_, address);
      if (symbol != nullptr && address - symbol->first < kSymbolReach) {
        line.kind = Line::Kind::symbol;
        start = one_process ? symbol->first : 0;
        line.name = symbol->second.name;
      } else {
        resolved.unresolved += hits;
        if (binary != nullptr && address - binary->first < binary->second.bytes) {
          line.kind = Line::Kind::binary;
          start = one_process ? binary->first : 0;
          line.name = binary->second.name;
        }
      }
    }
    Line& sum = lines.try_emplace({line.kind, start, line.name}, line).first->second;
    sum.hits += hits;
  }
  for (auto& [key, line] : lines) resolved.lines.push_back(std::move(line));
  sort_rows(resolved.lines, [](const Line& a, const Line& b) {
    return std::tuple(~a.hits, a.kind, a.function, std::cref(a.name).get()) <
           std::tuple(~b.hits, b.kind, b.function, std::cref(b.name).get());
  });
  return resolved;
}

}  // namespace telltale
