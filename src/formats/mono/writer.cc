#include "formats/mono/writer.h"

#include <algorithm>

#include "bytes/byte_writer.h"
#include "formats/mono/field_writer.h"
#include "formats/mono/frames.h"

namespace telltale::mono {
namespace {

void write_string(ByteWriter& out, std::string_view text) {
  out.write<int32_t>(static_cast<int32_t>(text.size() + 1));
  out.write(std::as_bytes(std::span(text.data(), text.size())));
  out.zeros(1);
}

// Encodes the events of a buffer over their original bytes.
struct Rewriter {
  std::string& out;
  const Layout& layout;
  BufferBases bases;
  template <typename Record>
  void event(const EventHead& head, const Record& record) {
    write_event(head, record, layout, bases, head.raw, out);
  }
};

}  // namespace

void append_uleb(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void append_sleb(std::string& out, int64_t value) {
  while (true) {
    const auto byte = static_cast<uint8_t>(value & 0x7F);
    value >>= 7;
    const bool negative = (byte & 0x40) != 0;
    if ((value == 0 && !negative) || (value == -1 && negative)) {
      out.push_back(static_cast<char>(byte));
      return;
    }
    out.push_back(static_cast<char>(byte | 0x80));
  }
}

void write_file_header(const FileHeader& header, std::string& out) {
  const HeaderLayout layout = header_layout(header.major);
  ByteWriter bytes;
  bytes.write(kFileId).write(header.major).write(header.minor).write(header.version);
  bytes.write(header.pointer_size).write(header.startup_ms);
  if (layout.has_startup_ns) bytes.write(header.startup_ns);
  bytes.write(header.timer_overhead_ns).write(header.flags).write(header.pid).write(header.port);
  if (layout.has_strings) {
    write_string(bytes, header.arguments);
    write_string(bytes, header.architecture);
    write_string(bytes, header.operating_system);
  } else {
    bytes.write<uint16_t>(0);
  }
  out += bytes.bytes();
}

void write_buffer_header(const BufferHeader& header, std::string& out) {
  ByteWriter bytes;
  bytes.write(kBufferId).write(header.length).write(header.time_base).write(header.pointer_base);
  bytes.write(header.object_base).write(header.thread).write(header.method_base);
  out += bytes.bytes();
}

Result<void> rewrite_recording(Bytes file, const ByteSink& sink) {
  const Result<FileHeader> header = read_file_header(file);
  if (!header) return std::unexpected(header.error());
  const BufferFrames frames = frame_file(file, *header, {});
  const Layout layout = find_layout(file, *header, frames);
  BlockWriter out(sink);
  const auto copy = [&](uint64_t from, uint64_t to) {
    const Bytes bytes = file.subspan(static_cast<size_t>(from), static_cast<size_t>(to - from));
    out.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  copy(0, header->bytes);
  uint64_t at = header->bytes;
  for (const BufferFrame& frame : frames.buffers) {
    copy(at, frame.offset);  // bytes outside any buffer
    write_buffer_header(frame.header, out.block());
    const BufferBases bases = frame.header.bases(header->address_mask());
    Rewriter events{out.block(), layout, bases};
    const DecodeEnd end = decode_buffer(frame.events(file), bases, frame.begin, layout, events);
    copy(end.offset, frame.end);  // unreadable bytes
    at = frame.end;
  }
  copy(at, file.size());
  return out.finish();
}

}  // namespace telltale::mono
