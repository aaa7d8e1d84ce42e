#include "formats/xray/basic_runs.h"

#include <fmt/format.h>

#include <concepts>
#include <string_view>

#include "formats/xray/record_fields.h"

namespace telltale::xray {
namespace {

// The codec that reads the fields of a basic record (record_fields.h).
class BasicRecordReader {
 public:
  BasicRecordReader(Bytes record, std::endian order, uint16_t version)
      : record_(record), order_(order), version_(version) {}

  [[nodiscard]] uint16_t version() const { return version_; }
  template <std::integral T>
  void number_at(size_t place, std::string_view name, T& value) {
    value = Cursor(record_.subspan(place, sizeof(T)), order_).read<T>(name);
  }
  void kind_at(size_t place, BasicKind& kind) {
    kind = static_cast<BasicKind>(std::to_integer<uint8_t>(record_[place]));
  }

 private:
  Bytes record_;
  std::endian order_;
  uint16_t version_;
};

}  // namespace

Result<BasicRecord> read_basic_record(Cursor& in, uint16_t version) {
  BasicRecord record;
  record.offset = in.offset();
  in.begin_record("BasicRecord");
  const Bytes raw = in.take(kBasicRecordBytes, "record");
  if (in.error()) return std::unexpected(*in.error());
  const auto type = Cursor(raw, in.order()).read<uint16_t>("type");
  if (type == static_cast<uint16_t>(BasicRecordType::argument))
    record.type = BasicRecordType::argument;
  BasicRecordReader reader(raw, in.order(), version);
  fields(reader, record);
  if (record.type == BasicRecordType::argument) return record;
  if (type != static_cast<uint16_t>(BasicRecordType::normal)) {
    in.fail_at(record.offset, Error::Cause::bad_field, fmt::format("unknown record type {}", type));
  } else if (record.kind > BasicKind::enter_args) {
    in.fail_at(record.offset, Error::Cause::bad_field,
               fmt::format("unknown record kind {}", static_cast<unsigned>(record.kind)));
  }
  if (in.error()) return std::unexpected(*in.error());
  return record;
}

Problem bad_basic_record(const Error& error, const std::string& file_name) {
  return {
      Problem::Kind::corruption, error.offset.value_or(0), file_name, "BasicRecord", error.detail,
      kBasicRecordBytes};
}

Problem torn_basic_record(uint64_t offset, uint64_t bytes, const std::string& file_name) {
  return {Problem::Kind::torn_tail,
          offset,
          file_name,
          "BasicRecord",
          fmt::format("the file ends after {} of {} bytes", bytes, kBasicRecordBytes),
          bytes};
}

constexpr uint64_t kMaxRunBytes = uint64_t{4} << 20;

std::vector<BasicRun> find_basic_runs(Bytes file, const FileHeader& header,
                                      const std::string& file_name, ProblemLog& problems) {
  std::vector<BasicRun> runs;
  uint64_t at = kFileHeaderBytes;
  for (; at + kBasicRecordBytes <= file.size(); at += kBasicRecordBytes) {
    Cursor in(file.subspan(static_cast<size_t>(at), kBasicRecordBytes), header.order, at);
    const Result<BasicRecord> record = read_basic_record(in, header.version);
    if (!record) {
      problems.add(bad_basic_record(record.error(), file_name));
      continue;
    }
    // Keeps an argument with its call.
    const bool full = !runs.empty() && at - runs.back().begin >= kMaxRunBytes &&
                      record->type == BasicRecordType::normal;
    if (runs.empty() || full || runs.back().tid != record->tid || runs.back().pid != record->pid) {
      runs.push_back({at, at, 0, record->tid, record->pid});
    }
    BasicRun& run = runs.back();
    if (run.first_tsc == 0 && record->type == BasicRecordType::normal) run.first_tsc = record->tsc;
    run.end = at + kBasicRecordBytes;
  }
  if (at < file.size()) {
    problems.add(torn_basic_record(at, file.size() - at, file_name));
  }
  return runs;
}

}  // namespace telltale::xray
