#include "import/sampler/sampler_backtrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "program/call_before.h"
#include "program/demangle.h"

namespace telltale {
namespace {

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The address in the file: from the offset to a symbol or to the load address of the module. A bare
// address suffices only if the module is not relocatable.
std::optional<uint64_t> link_address(const sampler::BacktraceFrame& frame, Symbolizer& symbolizer) {
  if (symbolizer.is_fixed()) return frame.address;
  if (!frame.offset) return std::nullopt;
  if (frame.symbol.empty()) return frame.offset;
  const std::optional<uint64_t> symbol = symbolizer.address_of(std::string(frame.symbol));
  if (!symbol) return std::nullopt;
  return frame.negative_offset ? *symbol - *frame.offset : *symbol + *frame.offset;
}

ResolvedFrame named(const sampler::BacktraceFrame& frame, const CodeName& name) {
  return {.address = fmt::format("{:#x}", frame.address),
          .module = std::string(frame.module),
          .function = demangle(name.linkage_name),
          .file = name.file,
          .line = name.line,
          .directory = name.directory};
}

}  // namespace

BacktraceResolver::BacktraceResolver(std::vector<std::string> modules) {
  for (std::string& path : modules) modules_.push_back({std::move(path), nullptr, {}, {}});
}

void BacktraceResolver::open(Module& module) {
  module.symbolizer = std::make_unique<Symbolizer>(module.path);
  Result<InputFile> file = InputFile::open(module.path);
  if (!file) return;
  module.file = *std::move(file);
  Result<ElfImage> image = ElfImage::read(module.file->bytes(), module.path);
  if (image) module.image = *std::move(image);
}

BacktraceResolver::Module* BacktraceResolver::find(std::string_view module) {
  Module* same_name = nullptr;
  for (Module& one : modules_) {
    if (one.path == module) return &one;
    if (same_name == nullptr && last_part(one.path) == last_part(module)) same_name = &one;
  }
  return same_name;
}

template <typename LookUp>
auto BacktraceResolver::look_up(const sampler::BacktraceFrame& frame, LookUp look_up) {
  using Found = decltype(look_up(std::declval<Symbolizer&>(), uint64_t{}));
  Module* module = frame.module.empty() ? nullptr : find(frame.module);
  if (module == nullptr) {
    if (std::ranges::find(strangers_, frame.module) == strangers_.end())
      strangers_.emplace_back(frame.module);
    return Found();
  }
  met_ = true;
  if (module->symbolizer == nullptr) open(*module);
  const std::optional<uint64_t> address = link_address(frame, *module->symbolizer);
  if (!address || *address == 0) return Found();
  const bool returns = !module->image || call_before(*module->image, *address).value_or(true);
  return look_up(*module->symbolizer, *address - (returns ? 1 : 0));
}

ResolvedFrame BacktraceResolver::resolve(const sampler::BacktraceFrame& frame) {
  return named(frame, look_up(frame, [](Symbolizer& symbolizer, uint64_t address) {
                 return symbolizer.find_instruction(address);
               }));
}

std::vector<ResolvedFrame> BacktraceResolver::resolve_inlined(
    const sampler::BacktraceFrame& frame) {
  std::vector<CodeName> names = look_up(frame, [](Symbolizer& symbolizer, uint64_t address) {
    return symbolizer.find_frames(address);
  });
  if (names.empty()) names.emplace_back();
  std::vector<ResolvedFrame> resolved;
  for (const CodeName& name : names) resolved.push_back(named(frame, name));
  return resolved;
}

std::string BacktraceResolver::mismatch() const {
  if (met_ || strangers_.empty()) return {};
  constexpr size_t kShown = 3;
  std::string names;
  for (size_t i = 0; i < std::min(strangers_.size(), kShown); ++i)
    names += (i == 0 ? "" : ", ") + (strangers_[i].empty() ? "no module" : strangers_[i]);
  if (strangers_.size() > kShown) names += fmt::format(" and {} more", strangers_.size() - kShown);
  return fmt::format("no frame of the backtrace belongs to a given program: they name {}", names);
}

}  // namespace telltale
