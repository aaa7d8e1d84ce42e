#include "import/csi/joined_copies.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "formats/csi/wire.h"
#include "program/demangle.h"

namespace telltale {
namespace {

bool is_generated(const FlowFunction* function, const std::string& symbol) {
  return function == nullptr ? csi::is_of_runtime(symbol) : function->copies.front()->is_generated;
}

// The symbol in the source.
const std::string& source_of(const FlowFunction* function, const std::string& symbol) {
  return function == nullptr ? symbol : function->source;
}

// Gives calls the names of the source. Drops those that the source does not have: of generated
// functions, and those by which copies of one function lead to each other.
void name_calls(const FlowFunctions& flow, const std::string& source, FunctionCoverage& function) {
  std::erase_if(function.calls, [&](FunctionCoverage::Call& call) {
    const FlowFunction* const callee = flow.named(function.module, call.callee);
    if (is_generated(callee, call.callee)) return true;
    call.callee = source_of(callee, call.callee);
    return call.line == 0 && call.callee == source;
  });
}

// What did not run has no line that did.
void settle_lines(FunctionCoverage& copy) {
  if (copy.ran != Ran::no) return;
  for (auto& [place, ran] : copy.lines) ran = Ran::no;
  for (FunctionCoverage::Call& call : copy.calls) call.returned = Ran::no;
}

// The n-th call of a function on a line is the same call in each copy.
void join_calls(const std::vector<FunctionCoverage::Call>& copy,
                std::vector<FunctionCoverage::Call>& calls) {
  std::vector<bool> is_joined(calls.size(), false);
  for (const FunctionCoverage::Call& call : copy) {
    size_t at = 0;
    while (at < is_joined.size() &&
           (is_joined[at] || calls[at].line != call.line || calls[at].callee != call.callee))
      ++at;
    if (at == is_joined.size()) {
      calls.push_back(call);
    } else {
      is_joined[at] = true;
      calls[at].returned = any_of(calls[at].returned, call.returned);
    }
  }
}

// Both are lists like "BBC,CC".
std::string joined_mechanisms(const std::string& a, const std::string& b) {
  std::string all = a;
  for (std::string_view rest = b; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (("," + all + ",").find("," + std::string(name) + ",") != std::string::npos) continue;
    if (!all.empty()) all += ',';
    all += name;
  }
  return all;
}

void join(FunctionCoverage&& copy, FunctionCoverage& function) {
  function.ran = any_of(function.ran, copy.ran);
  function.mechanisms = joined_mechanisms(function.mechanisms, copy.mechanisms);
  add_copies(function.lines, copy.lines);
  join_calls(copy.calls, function.calls);
  std::ranges::move(copy.blocks, std::back_inserter(function.blocks));
}

}  // namespace

void join_copies(const FlowFunctions& flow, std::vector<FunctionCoverage>& functions) {
  using Key = std::tuple<std::string, std::string, std::string>;  // module, source, file
  std::map<Key, std::vector<FunctionCoverage>> copies;
  for (FunctionCoverage& function : functions) {
    const FlowFunction* const known = flow.named(function.module, function.linkage_name);
    if (is_generated(known, function.linkage_name)) continue;
    const std::string source = source_of(known, function.linkage_name);
    name_calls(flow, source, function);
    auto& all = copies[{function.module, source, function.file}];
    // The function's own blocks come first.
    const bool is_itself = function.linkage_name == source;
    all.insert(is_itself ? all.begin() : all.end(), std::move(function));
  }
  functions.clear();
  for (auto& [key, all] : copies) {
    if (all.size() > 1) std::ranges::for_each(all, settle_lines);
    FunctionCoverage function = std::move(all.front());
    for (size_t i = 1; i < all.size(); ++i) join(std::move(all[i]), function);
    if (function.linkage_name != std::get<1>(key)) {
      function.linkage_name = std::get<1>(key);
      function.function = demangle(function.linkage_name);
    }
    functions.push_back(std::move(function));
  }
}

}  // namespace telltale
