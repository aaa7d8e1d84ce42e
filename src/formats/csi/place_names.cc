#include "formats/csi/place_names.h"

#include <charconv>
#include <system_error>

namespace telltale::csi {

void PlaceNames::add(std::string_view reference, const Place& place) {
  if (const std::optional<uint64_t> hash = parse(reference)) known_.try_emplace(*hash, place);
}

PlaceNames::Place PlaceNames::find(std::string_view reference) {
  const std::optional<uint64_t> hash = parse(reference);
  const auto found = hash ? known_.find(*hash) : known_.end();
  if (found != known_.end()) return found->second;
  ++missing_;
  return {};
}

std::optional<uint64_t> PlaceNames::parse(std::string_view reference) {
  constexpr int kBase = 16;
  uint64_t hash = 0;
  const auto [end, error] =
      std::from_chars(reference.data(), reference.data() + reference.size(), hash, kBase);
  const bool is_whole = end == reference.data() + reference.size();
  return error == std::errc() && is_whole ? std::optional(hash) : std::nullopt;
}

}  // namespace telltale::csi
