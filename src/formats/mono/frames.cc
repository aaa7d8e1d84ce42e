#include "formats/mono/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace telltale::mono {
namespace {

constexpr std::string_view kBufferIdBytes("\x01\x4C\x50\x4D", 4);

// Walks a file from header to header.
class Framer {
 public:
  Framer(Bytes file, const std::string& file_name) : file_(file), file_name_(file_name) {}

  BufferFrames run(uint64_t at) {
    while (at < file_.size()) {
      const std::optional<BufferHeader> header = read_buffer_header(file_, at);
      at = header ? add_buffer(at, *header) : skip_to_header(at);
    }
    return std::move(frames_);
  }

 private:
  [[nodiscard]] bool starts_buffer(uint64_t at) const {
    return at <= file_.size() && text().substr(static_cast<size_t>(at)).starts_with(kBufferIdBytes);
  }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(file_.data()), file_.size()};
  }
  // A complete header whose buffer ends at another header, or at or after the end of the file.
  [[nodiscard]] bool plausible(uint64_t at) const {
    const std::optional<BufferHeader> header = read_buffer_header(file_, at);
    if (!header) return false;
    const uint64_t end = at + kBufferHeaderBytes + header->length;
    return end >= file_.size() || starts_buffer(end);
  }
  // The next plausible header in [from, to); `to` if there is none.
  [[nodiscard]] uint64_t find_header(uint64_t from, uint64_t to) const {
    for (uint64_t at = from; at < to; ++at) {
      const size_t found = text().substr(0, static_cast<size_t>(to)).find(kBufferIdBytes, at);
      if (found == std::string_view::npos) return to;
      at = found;
      if (plausible(at)) return at;
    }
    return to;
  }

  uint64_t add_buffer(uint64_t at, const BufferHeader& header) {
    BufferFrame frame{.offset = at,
                      .begin = at + kBufferHeaderBytes,
                      .end = at + kBufferHeaderBytes + header.length,
                      .header = header};
    if (frame.end != file_.size() && !starts_buffer(frame.end)) {
      const uint64_t declared = frame.end;
      const uint64_t limit = std::min<uint64_t>(declared, file_.size());
      frame.end = next_header(frame.begin, limit);
      frame.torn = frame.end != declared;
      if (frame.torn) {
        const bool at_file_end = frame.end == file_.size();
        frames_.problems.add({at_file_end ? Problem::Kind::torn_tail : Problem::Kind::corruption,
                              at, file_name_, "Buffer",
                              fmt::format("says {} bytes, but {} after {}", header.length,
                                          at_file_end ? "the file ends" : "the next buffer begins",
                                          frame.end - frame.begin),
                              at_file_end ? declared - frame.end : 0});
      }
    }
    frames_.buffers.push_back(frame);
    return frame.end;
  }

  // find_header with a cached result: several buffers with wrong lengths may search the same range.
  uint64_t next_header(uint64_t from, uint64_t to) {
    if (from < searched_from_ || from > searched_to_) {
      searched_from_ = from;
      searched_to_ = find_header(from, file_.size());
    }
    return std::min(std::max(searched_to_, from), to);
  }

  uint64_t skip_to_header(uint64_t at) {
    const uint64_t next = next_header(at + 1, file_.size());
    const bool tail = next == file_.size();
    const bool cut_header = tail && file_.size() - at < kBufferHeaderBytes &&
                            kBufferIdBytes.starts_with(text().substr(at, kBufferIdBytes.size()));
    frames_.problems.add({cut_header ? Problem::Kind::torn_tail : Problem::Kind::corruption, at,
                          file_name_, "Buffer",
                          cut_header ? "the file ends inside this buffer's header"
                                     : "these bytes belong to no buffer",
                          next - at});
    frames_.gaps.push_back({at, next - at});
    return next;
  }

  Bytes file_;
  const std::string& file_name_;
  uint64_t searched_from_ = 1;  // an empty range: nothing searched yet
  uint64_t searched_to_ = 0;
  BufferFrames frames_;
};

struct VtableFinder {
  bool found = false;
  void event(const EventHead&, const Metadata& r) {
    found = found || r.kind == MetadataKind::vtable;
  }
};

}  // namespace

Layout find_layout(Bytes file, const FileHeader& header, const BufferFrames& frames) {
  if (header.version != 15 || header.major != 2) return layout_of(header.version);
  VtableFinder finder;
  const Layout layout = layout_of(header.version);
  for (const BufferFrame& frame : frames.buffers) {
    decode_buffer(frame.events(file), frame.header.bases(header.address_mask()), frame.begin,
                  layout, finder);
    if (finder.found) return layout;
  }
  return layout_of(header.version, /*counters_only=*/true);
}

BufferFrames frame_file(Bytes file, const FileHeader& header, const std::string& file_name) {
  return Framer(file, file_name).run(header.bytes);
}

Problem decode_problem(const DecodeEnd& end, const BufferFrame& frame,
                       const std::string& file_name) {
  const bool torn = frame.torn && end.error->cause == Error::Cause::truncated;
  return {torn ? Problem::Kind::torn_tail : Problem::Kind::corruption,
          end.offset,
          file_name,
          end.error->record,
          end.error->detail,
          frame.end - end.offset};
}

}  // namespace telltale::mono
