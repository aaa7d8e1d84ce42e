#include "output/table/packed_rows.h"

#include <array>
#include <cstring>
#include <type_traits>

#include "base/varint.h"

namespace telltale {
namespace {

constexpr size_t kBlockBytes = size_t{64} << 10;

enum class Tag : char { nothing, signed_number, unsigned_number, real, kept_text, text };

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
  const uint32_t kept = kept_.size() < kMostKept ? kept_.add(text) : kept_.find(text);
  if (kept != TextPool::kNone) {
    put_tag(to, Tag::kept_text);
    append_varint(to, kept);
    return;
  }
  put_tag(to, Tag::text);
  append_varint(to, text.size());
  to += text;
}

void PackedRows::pack(std::string& to, const TableCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return pack_text(to, *text);
  if (const auto* i = std::get_if<int64_t>(&cell)) {
    put_tag(to, Tag::signed_number);
    return append_varint(to, fold_sign(*i));
  }
  if (const auto* u = std::get_if<uint64_t>(&cell)) {
    put_tag(to, Tag::unsigned_number);
    return append_varint(to, *u);
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
      cell = unfold_sign(take_varint(at));
      break;
    case Tag::unsigned_number:
      cell = take_varint(at);
      break;
    case Tag::real: {
      double number;
      std::memcpy(&number, at, sizeof number);
      at += sizeof number;
      cell = number;
      break;
    }
    case Tag::kept_text:
      set_text(cell, kept_[static_cast<uint32_t>(take_varint(at))]);
      break;
    case Tag::text: {
      const size_t size = take_varint(at);
      set_text(cell, {at, size});
      at += size;
      break;
    }
  }
  return at;
}

}  // namespace telltale
