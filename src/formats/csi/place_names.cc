#include "formats/csi/place_names.h"

#include <charconv>
#include <system_error>
#include <utility>

namespace telltale::csi {

void PlaceNames::add(std::string_view reference, Place place) {
  if (const std::optional<uint64_t> hash = parse(reference))
    known_.try_emplace(*hash, std::move(place));
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
  const char* const end = reference.data() + reference.size();
  const auto [last, error] = std::from_chars(reference.data(), end, hash, kBase);
  return error == std::errc() && last == end ? std::optional(hash) : std::nullopt;
}

}  // namespace telltale::csi
