#include "formats/xray/side_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "base/sort_rows.h"
#include "bytes/byte_writer.h"

namespace telltale::xray {
namespace {

constexpr uint64_t kMark = 0x4544'4953'5258'5454;  // "TTXRSIDE"
constexpr uint16_t kVersion = 1;
constexpr uint16_t kHeaderBytes = 256;
constexpr uint32_t kRecordHeadBytes = 8;

enum class RecordKind : uint32_t {
  object = 1,
  unload = 2,
  assigned = 3,
  thread = 4,
  dropped = 5,
  name = 6,
  chosen = 7
};

std::string text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string hex_of(Bytes bytes) {
  std::string digits;
  for (const std::byte byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return digits;
}

class SideReader {
 public:
  SideReader(Bytes file, const std::string& file_name, ProblemLog& problems)
      : file_(file), file_name_(file_name), problems_(problems) {}

  Result<SideRecord> read() {
    Cursor in(file_);
    uint64_t committed = 0;
    const uint64_t records = read_header(in, committed);
    if (in.error()) return std::unexpected(*in.error());
    if (committed > file_.size() || committed < records) {
      const bool cut = committed > file_.size();
      problems_.add({cut ? Problem::Kind::torn_tail : Problem::Kind::corruption, 16, file_name_,
                     "SideRecord",
                     fmt::format("claims {} valid bytes of {}", committed, file_.size()),
                     cut ? committed - file_.size() : 0});
      committed =
          std::clamp<uint64_t>(committed, std::min<uint64_t>(records, file_.size()), file_.size());
    }
    if (records < committed) {
      Cursor body(file_.subspan(records, committed - records), std::endian::little, records);
      while (!body.at_end() && read_record(body)) continue;
    }
    record_.committed = committed;
    sort_rows(record_.functions, {}, &SideFunction::id);
    sort_rows(record_.names, {}, &SideName::id);
    return std::move(record_);
  }

 private:
  // Returns the offset of the first record.
  uint64_t read_header(Cursor& in, uint64_t& committed) {
    in.begin_record("SideRecord");
    if (in.read<uint64_t>("mark") != kMark) {
      in.fail_at(0, Error::Cause::bad_magic, "this is not a side record");
      return 0;
    }
    if (const auto version = in.read<uint16_t>("version"); version != kVersion) {
      in.fail_at(8, Error::Cause::unsupported_version,
                 fmt::format("side record version {} is unknown", version));
      return 0;
    }
    const auto header_bytes = in.read<uint16_t>("header_bytes");
    if (header_bytes < kHeaderBytes) {
      in.fail_at(10, Error::Cause::bad_field, fmt::format("the header has {} bytes", header_bytes));
      return 0;
    }
    const auto flags = in.read<uint32_t>("flags");
    record_.ended = (flags & 1) != 0;
    record_.ring = (flags & 2) != 0;
    record_.snapshot = (flags & 4) != 0;
    record_.objects_may_be_missing = (flags & 8) != 0;
    record_.some_sleds_unpatched = (flags & 16) != 0;
    record_.stopped = (flags & 32) != 0;
    record_.compared_linkage_names = (flags & 64) != 0;
    committed = in.read<uint64_t>("committed");
    read_process_and_clock(in);
    for (uint64_t* counter :
         {&record_.lost_overwritten, &record_.lost_no_space, &record_.lost_reentrant,
          &record_.lost_too_large, &record_.lost_in_snapshot, &record_.left_out,
          &record_.clock_anomalies, &record_.unnamed}) {
      *counter = in.read<uint64_t>("counter");
    }
    read_end(in);
    in.take(header_bytes - (in.offset()), "header");
    return header_bytes;
  }

  void read_process_and_clock(Cursor& in) {
    record_.pid = in.read<uint32_t>("pid");
    record_.parent_pid = in.read<uint32_t>("parent_pid");
    record_.start = in.read<uint64_t>("start");
    record_.start_realtime_ns = in.read<uint64_t>("start_realtime");
    record_.start_monotonic_ns = in.read<uint64_t>("start_monotonic");
    record_.cycle_frequency = in.read<uint64_t>("cycle_frequency");
    const auto source = in.read<uint32_t>("frequency_source");
    if (source <= static_cast<uint32_t>(FrequencySource::measured))
      record_.frequency_source = static_cast<FrequencySource>(source);
    record_.uncertainty_ppb = in.read<uint32_t>("uncertainty");
    record_.sparse_interval = in.read<uint32_t>("sparse_interval");
    in.read<uint32_t>("cell_bytes");
  }

  void read_end(Cursor& in) {
    record_.fault_signal = in.read<uint32_t>("fault_signal");
    record_.fault_thread = in.read<uint32_t>("fault_thread");
    record_.fault_time = in.read<uint64_t>("fault_time");
    record_.fault_address = in.read<uint64_t>("fault_address");
    const auto end = in.read<uint32_t>("end");
    if (end <= static_cast<uint32_t>(SideRecord::End::signal))
      record_.end = static_cast<SideRecord::End>(end);
    record_.end_status = in.read<uint32_t>("end_status");
    record_.end_monotonic_ns = in.read<uint64_t>("end_monotonic");
    record_.user_ns = in.read<uint64_t>("user");
    record_.system_ns = in.read<uint64_t>("system");
    record_.cost_inside = in.read<uint32_t>("cost_inside");
    record_.cost_outside = in.read<uint32_t>("cost_outside");
    record_.stop_time = in.read<uint64_t>("stop_time");
    record_.part = in.read<uint32_t>("part");
    record_.unrecorded_children = in.read<uint32_t>("unrecorded_children");
    record_.unrecorded_error = in.read<uint32_t>("unrecorded_error");
  }

  // False if no further record can follow.
  bool read_record(Cursor& in) {
    const uint64_t offset = in.offset();
    in.begin_record("SideRecord");
    const auto kind = static_cast<RecordKind>(in.read<uint32_t>("kind"));
    const auto bytes = in.read<uint32_t>("bytes");
    const uint64_t body_bytes = bytes - uint64_t{kRecordHeadBytes};
    if (in.error() || bytes < kRecordHeadBytes || bytes % 8 != 0 || body_bytes > in.left()) {
      stop_at(offset, fmt::format("no record can have {} bytes here", bytes));
      return false;
    }
    Cursor body = in.split(body_bytes, "record");
    switch (kind) {
      case RecordKind::object:
        read_object(body, offset);
        break;
      case RecordKind::assigned:
        read_assigned(body);
        break;
      case RecordKind::thread:
        read_thread(body);
        break;
      case RecordKind::dropped:
        read_dropped(body);
        break;
      case RecordKind::name:
        read_name(body);
        break;
      case RecordKind::chosen:
        read_chosen(body);
        break;
      case RecordKind::unload:  // ids keep their meaning
      default:
        break;
    }
    if (body.error()) {
      problems_.add({Problem::Kind::corruption, offset, file_name_, "SideRecord",
                     body.error()->detail, bytes});
    }
    return true;
  }

  void stop_at(uint64_t offset, std::string message) {
    problems_.add({Problem::Kind::corruption, offset, file_name_, "SideRecord", std::move(message),
                   file_.size() - offset});
  }

  void read_object(Cursor& in, uint64_t offset) {
    SideObject object;
    object.offset = offset;
    object.number = in.read<uint32_t>("number");
    object.is_program = (in.read<uint32_t>("flags") & 1) != 0;
    object.load_bias = in.read<uint64_t>("load_bias");
    object.begin = in.read<uint64_t>("begin");
    object.end = in.read<uint64_t>("end");
    object.id_base = in.read<uint32_t>("id_base");
    object.functions = in.read<uint32_t>("functions");
    object.loaded = in.read<uint64_t>("loaded");
    object.file_bytes = in.read<uint64_t>("file_bytes");
    object.modified_ns = in.read<uint64_t>("modified");
    const auto build_id_bytes = in.read<uint16_t>("build_id_bytes");
    const auto path_bytes = in.read<uint16_t>("path_bytes");
    in.read<uint32_t>("zero");
    object.build_id = hex_of(in.take(build_id_bytes, "build_id"));
    object.path = text_of(in.take(path_bytes, "path"));
    if (in.error()) return;
    if (object.functions > std::numeric_limits<uint32_t>::max() - object.id_base) {
      in.fail(Error::Cause::bad_field, "its functions have ids beyond 32 bits");
      return;
    }
    const size_t index = record_.objects.size();
    object_by_address_.set(object.begin, object.end, index);
    record_.object_by_id.set(uint64_t{object.id_base} + 1,
                             uint64_t{object.id_base} + object.functions + 1, index);
    record_.objects.push_back(std::move(object));
  }

  void read_assigned(Cursor& in) {
    const auto first = in.read<uint32_t>("first_id");
    const auto count = in.read<uint32_t>("count");
    if (count > in.left() / sizeof(uint64_t) ||
        count > std::numeric_limits<uint32_t>::max() - first) {
      in.fail(Error::Cause::bad_field, fmt::format("is too small for {} addresses", count));
      return;
    }
    for (uint32_t i = 0; i < count; ++i) {
      const auto address = in.read<uint64_t>("address");
      record_.functions.push_back(
          {first + i, address, object_by_address_.find(address).value_or(kNoObject)});
    }
  }

  void read_thread(Cursor& in) {
    const auto tid = in.read<uint32_t>("tid");
    const auto name_bytes = in.read<uint32_t>("name_bytes");
    in.read<uint64_t>("time");
    std::string name = text_of(in.take(name_bytes, "name"));
    if (!in.error()) record_.threads.emplace_back(tid, std::move(name));
  }

  void read_dropped(Cursor& in) {
    SideDropped dropped;
    dropped.id = in.read<uint32_t>("id");
    in.read<uint32_t>("zero");
    dropped.time = in.read<uint64_t>("time");
    dropped.calls_a_second = in.read<uint64_t>("calls_a_second");
    dropped.call_ps = in.read<uint64_t>("call_ps");
    if (!in.error()) record_.dropped.push_back(dropped);
  }

  void read_name(Cursor& in) {
    SideName name;
    name.id = in.read<uint32_t>("id");
    name.line = in.read<uint32_t>("line");
    const auto name_bytes = in.read<uint32_t>("name_bytes");
    const auto file_bytes = in.read<uint32_t>("file_bytes");
    name.linkage_name = text_of(in.take(name_bytes, "name"));
    name.file = text_of(in.take(file_bytes, "file"));
    if (!in.error()) record_.names.push_back(std::move(name));
  }

  void read_chosen(Cursor& in) {
    const auto list_bytes = in.read<uint32_t>("list_bytes");
    in.read<uint32_t>("zero");
    std::string list = text_of(in.take(list_bytes, "list"));
    if (!in.error()) record_.chosen = std::move(list);
  }

  Bytes file_;
  const std::string& file_name_;
  ProblemLog& problems_;
  SideRecord record_;
  RangeMap object_by_address_;
};

}  // namespace

bool looks_like_side_record(Bytes file) { return Cursor(file).read<uint64_t>("mark") == kMark; }

Result<SideRecord> read_side_record(Bytes file, const std::string& file_name,
                                    ProblemLog& problems) {
  return SideReader(file, file_name, problems).read();
}

const SideFunction* SideRecord::find_assigned(uint32_t id) const {
  const auto after = std::ranges::upper_bound(functions, id, {}, &SideFunction::id);
  if (after == functions.begin() || std::prev(after)->id != id) return nullptr;
  return &*std::prev(after);
}

const SideName* SideRecord::find_name(uint32_t id) const {
  const auto found = std::ranges::lower_bound(names, id, {}, &SideName::id);
  return found == names.end() || found->id != id ? nullptr : &*found;
}

std::string encode_side_name(const SideName& name) {
  constexpr size_t kFields = 4 * sizeof(uint32_t);
  constexpr size_t kAlignment = 8;
  const size_t used = kRecordHeadBytes + kFields + name.linkage_name.size() + name.file.size();
  const size_t padding = (kAlignment - used % kAlignment) % kAlignment;
  ByteWriter out(std::endian::little);
  out.write(static_cast<uint32_t>(RecordKind::name)).write(static_cast<uint32_t>(used + padding));
  out.write(name.id).write(name.line);
  out.write(static_cast<uint32_t>(name.linkage_name.size()));
  out.write(static_cast<uint32_t>(name.file.size()));
  out.write(std::as_bytes(std::span(name.linkage_name))).write(std::as_bytes(std::span(name.file)));
  return out.zeros(padding).take();
}

}  // namespace telltale::xray
