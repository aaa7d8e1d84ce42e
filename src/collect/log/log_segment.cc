#include "collect/log/log_segment.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>

#include "bytes/as_bytes.h"
#include "bytes/byte_writer.h"

namespace telltale::collect {
namespace {

constexpr std::string_view kEntryMagic = "TTr\x01";

uint32_t checksum(Bytes bytes) { return ::libdeflate_crc32(0, bytes.data(), bytes.size()); }

}  // namespace

std::string entry_head(std::string_view payload) {
  ByteWriter head;
  head.write(as_bytes(kEntryMagic));
  head.write(static_cast<uint32_t>(payload.size())).write(checksum(as_bytes(payload)));
  head.write(checksum(as_bytes(head.bytes())));
  return head.take();
}

SegmentReader::SegmentReader(Bytes file, std::string name, ProblemLog& problems)
    : file_(file), name_(std::move(name)), problems_(problems) {
  if (file_.size() >= kSegmentHead.size() &&
      std::ranges::equal(file_.first(kSegmentHead.size()), as_bytes(kSegmentHead))) {
    at_ = kSegmentHead.size();
  } else if (!file_.empty()) {
    problems_.add({Problem::Kind::corruption, 0, name_, "Segment", "the head is damaged", 0});
  }
}

std::optional<SegmentReader::Entry> SegmentReader::entry_at(size_t at) const {
  Cursor in(file_.subspan(at));
  const Bytes head = in.rest().first(std::min<size_t>(in.left(), kEntryHeadBytes));
  const Bytes magic = in.take(kEntryMagic.size(), "magic");
  const auto size = in.read<uint32_t>("size");
  const auto payload_sum = in.read<uint32_t>("checksum");
  const auto head_sum = in.read<uint32_t>("checksum of the head");
  if (in.error() || !std::ranges::equal(magic, as_bytes(kEntryMagic))) return std::nullopt;
  if (checksum(head.first(kEntryHeadBytes - sizeof(uint32_t))) != head_sum) return std::nullopt;
  const Bytes payload = in.take(size, "payload");
  if (in.error() || checksum(payload) != payload_sum) return std::nullopt;
  return Entry{at, payload};
}

void SegmentReader::skip_damage() {
  const size_t begin = at_;
  const Bytes magic = as_bytes(kEntryMagic);
  while (at_ < file_.size()) {
    const auto found =
        std::ranges::search(file_.subspan(at_ + (at_ == begin ? 1 : 0)), magic).begin();
    at_ = static_cast<size_t>(found - file_.begin());
    if (at_ >= file_.size() || entry_at(at_)) break;
    ++at_;
  }
  const bool torn = at_ >= file_.size();
  problems_.add({torn ? Problem::Kind::torn_tail : Problem::Kind::corruption, begin, name_, "Entry",
                 torn ? "the segment ends inside this entry" : "the entry is damaged",
                 at_ - begin});
}

std::optional<SegmentReader::Entry> SegmentReader::next() {
  if (at_ >= file_.size()) return std::nullopt;
  std::optional<Entry> entry = entry_at(at_);
  if (!entry) {
    skip_damage();
    if (at_ >= file_.size()) return std::nullopt;
    entry = entry_at(at_);
  }
  if (entry) at_ += kEntryHeadBytes + entry->payload.size();
  return entry;
}

}  // namespace telltale::collect
