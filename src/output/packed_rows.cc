#include "output/packed_rows.h"

#include <array>
#include <cstring>
#include <type_traits>

#include "output/proto_writer.h"

namespace telltale {
namespace {

constexpr size_t kBlockBytes = size_t{64} << 10;

enum class Tag : char { nothing, signed_number, unsigned_number, real, kept_text, text };

void put(std::string& to, uint64_t number) {
  std::array<char, 10> bytes;
  to.append(bytes.data(), static_cast<size_t>(write_varint(bytes.data(), number) - bytes.data()));
}

uint64_t take(const char*& at) {
  uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(*at++);
    number |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return number;
  }
}

// Small numbers of either sign become small unsigned ones.
uint64_t fold(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}
int64_t unfold(uint64_t number) { return static_cast<int64_t>((number >> 1) ^ (0 - (number & 1))); }

void put_tag(std::string& to, Tag tag) { to += static_cast<char>(tag); }

void set_text(TableCell& cell, std::string_view text) {
  if (auto* old = std::get_if<std::string>(&cell)) {
    old->assign(text);
  } else {
    cell.emplace<std::string>(text);
  }
}

}  // namespace

void PackedRows::add(std::span<const TableCell> cells) {
  if (blocks_.empty() || blocks_.back().size() >= kBlockBytes) {
    if (!blocks_.empty()) blocks_.back().shrink_to_fit();
    blocks_.emplace_back();
  }
  for (const TableCell& cell : cells) pack(blocks_.back(), cell);
  ++rows_;
}

void PackedRows::pack_text(std::string& to, const std::string& text) {
  auto known = known_.find(text);
  if (known == known_.end() && kept_.size() < kMostKept) {
    known = known_.emplace(text, static_cast<uint32_t>(kept_.size())).first;
    kept_.push_back(text);
  }
  if (known != known_.end()) {
    put_tag(to, Tag::kept_text);
    put(to, known->second);
    return;
  }
  put_tag(to, Tag::text);
  put(to, text.size());
  to += text;
}

void PackedRows::pack(std::string& to, const TableCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return pack_text(to, *text);
  if (const auto* i = std::get_if<int64_t>(&cell)) {
    put_tag(to, Tag::signed_number);
    return put(to, fold(*i));
  }
  if (const auto* u = std::get_if<uint64_t>(&cell)) {
    put_tag(to, Tag::unsigned_number);
    return put(to, *u);
  }
  if (const auto* d = std::get_if<double>(&cell)) {
    std::array<char, sizeof(double)> bytes;
    std::memcpy(bytes.data(), d, sizeof *d);
    put_tag(to, Tag::real);
    to.append(bytes.data(), bytes.size());
    return;
  }
  put_tag(to, Tag::nothing);
}

const char* PackedRows::unpack(const char* at, TableCell& cell) const {
  switch (static_cast<Tag>(*at++)) {
    case Tag::nothing:
      cell = std::monostate();
      break;
    case Tag::signed_number:
      cell = unfold(take(at));
      break;
    case Tag::unsigned_number:
      cell = take(at);
      break;
    case Tag::real: {
      double number;
      std::memcpy(&number, at, sizeof number);
      at += sizeof number;
      cell = number;
      break;
    }
    case Tag::kept_text:
      set_text(cell, kept_[take(at)]);
      break;
    case Tag::text: {
      const size_t size = take(at);
      set_text(cell, {at, size});
      at += size;
      break;
    }
  }
  return at;
}

}  // namespace telltale
