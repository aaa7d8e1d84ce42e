#pragma once

// Builds small Mono recordings for tests, through the writer's own field code.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/mono/field_writer.h"
#include "formats/mono/writer.h"

// Tests set the fields that matter to them.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace telltale::testing {

class MonoBuilder {
 public:
  explicit MonoBuilder(uint8_t version, uint8_t pointer_size = 8, bool counters_only = false)
      : layout_(mono::layout_of(version, counters_only)) {
    header_.version = version;
    header_.pointer_size = pointer_size;
    header_.major = version <= 12 ? 0 : version == 13 ? 1 : version <= 15 ? 2 : 3;
    header_.minor = version == 1 ? 1 : version <= 12 ? 4 : version == 13 ? 1 : 0;
    header_.startup_ms = 0x0102'0304'0506;
    if (header_.major >= 3) header_.startup_ns = 0x1112'1314'1516;
    header_.timer_overhead_ns = 0x21222324;
    header_.pid = 0x31323334;
    if (header_.major >= 1) {
      header_.port = 0x4142;
      header_.arguments = "log:calls,output=\"\x1b[31m\"";
      header_.architecture = "x86-64";
      header_.operating_system = "linux";
    }
  }

  mono::FileHeader& header() { return header_; }
  [[nodiscard]] const mono::Layout& layout() const { return layout_; }

  MonoBuilder& buffer(const mono::BufferHeader& header) {
    end_buffer();
    open_ = true;
    buffer_ = header;
    bases_ = header.bases(header_.address_mask());
    return *this;
  }
  // `step`: ns since the previous event; unused if the event has no time in this version.
  template <typename Record>
  MonoBuilder& event(mono::Group group, uint8_t info, uint64_t step, Record record) {
    const mono::EventHead head{.first_byte = mono::event_byte(group, info),
                               .time = bases_.time + step};
    mono::write_event(head, record, layout_, bases_, {}, events_);
    return *this;
  }
  MonoBuilder& enter(uint64_t step, uint64_t method) {
    return event(mono::Group::method, mono::info::kMethodEnter, step, mono::Call{.method = method});
  }
  MonoBuilder& leave(uint64_t step, uint64_t method) {
    return event(mono::Group::method, mono::info::kMethodLeave, step, mono::Call{.method = method});
  }
  MonoBuilder& jit(uint64_t step, uint64_t method, std::string_view name) {
    return event(mono::Group::method, mono::info::kMethodJit, step,
                 mono::Jit{.method = method, .code = 0, .code_size = 0, .name = name});
  }
  MonoBuilder& raw_event(std::string_view bytes) {
    events_ += bytes;
    return *this;
  }
  MonoBuilder& raw(std::string_view bytes) {
    end_buffer();
    buffers_ += bytes;
    return *this;
  }
  std::string bytes() {
    end_buffer();
    std::string file;
    mono::write_file_header(header_, file);
    return file + buffers_;
  }

 private:
  void end_buffer() {
    if (!open_) return;
    buffer_.length = static_cast<uint32_t>(events_.size());
    mono::write_buffer_header(buffer_, buffers_);
    buffers_ += std::exchange(events_, {});
    open_ = false;
  }

  mono::Layout layout_;
  mono::FileHeader header_;
  mono::BufferHeader buffer_;
  mono::BufferBases bases_;
  bool open_ = false;
  std::string events_;
  std::string buffers_;
};

}  // namespace telltale::testing
