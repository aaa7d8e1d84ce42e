#include "program/instrumentation_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/elf_image.h"

namespace telltale {

std::string to_string(SledKind kind) {
  switch (kind) {
    case SledKind::function_enter:
      return "function-enter";
    case SledKind::function_exit:
      return "function-exit";
    case SledKind::tail_exit:
      return "tail-exit";
    case SledKind::log_args_enter:
      return "log-args-enter";
    case SledKind::custom_event:
      return "custom-event";
    case SledKind::typed_event:
      return "typed-event";
  }
  return fmt::format("kind-{}", static_cast<unsigned>(kind));
}

Result<InstrumentationMap> InstrumentationMap::read(Bytes bytes, const std::string& file,
                                                    ProblemLog& problems) {
  if (!ElfImage::recognises(bytes)) return read_yaml(bytes, file, problems);
  const Result<ElfImage> image = ElfImage::read(bytes, file);
  if (!image) return std::unexpected(image.error());
  return read_elf(*image, problems);
}

const InstrumentedFunction* InstrumentationMap::find(uint32_t id) const {
  const auto found = std::ranges::lower_bound(functions_, id, {}, &InstrumentedFunction::id);
  return found == functions_.end() || found->id != id ? nullptr : &*found;
}

std::string_view InstrumentationMap::given_name(const InstrumentedFunction& function) const {
  if (names_.empty()) return {};
  return names_[static_cast<size_t>(&function - functions_.data())];
}

void InstrumentationMap::group_functions() {
  for (size_t i = 0; i < sleds_.size(); ++i) {
    const Sled& sled = sleds_[i];
    if (functions_.empty() || functions_.back().id != sled.function_id) {
      functions_.push_back({sled.function_id, sled.function_section, sled.function, i, 0});
    }
    ++functions_.back().sled_count;
  }
}

}  // namespace telltale
