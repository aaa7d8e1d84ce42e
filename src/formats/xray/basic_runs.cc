#include "formats/xray/basic_runs.h"

#include <fmt/format.h>

namespace telltale::xray {

Result<BasicRecord> read_basic_record(Cursor& in, uint16_t version) {
  const BasicLayout layout = basic_layout(version);
  BasicRecord record;
  record.offset = in.offset();
  in.begin_record("BasicRecord");
  Cursor body = in.split(kBasicRecordBytes, "record");
  const auto type = body.read<uint16_t>("type");
  const auto cpu = body.read<uint8_t>("cpu");
  const auto kind = body.read<uint8_t>("kind");
  record.function_id = body.read<int32_t>("function_id");
  const auto word = body.read<uint64_t>("tsc_or_tid_pid");
  if (type == static_cast<uint16_t>(BasicRecordType::argument)) {
    record.type = BasicRecordType::argument;
    // The eight bytes at offset 8 are two words here: thread and process.
    const bool little = body.order() == std::endian::little;
    record.tid = static_cast<uint32_t>(little ? word : word >> 32);
    if (layout.has_pid) record.pid = static_cast<uint32_t>(little ? word >> 32 : word);
    record.argument = body.read<uint64_t>("argument");
  } else {
    record.cpu = cpu;
    record.kind = static_cast<BasicKind>(kind);
    record.tsc = word;
    record.tid = body.read<uint32_t>("tid");
    if (layout.has_pid) record.pid = body.read<uint32_t>("pid");
    if (type != static_cast<uint16_t>(BasicRecordType::normal)) {
      in.fail_at(record.offset, Error::Cause::bad_field,
                 fmt::format("unknown record type {}", type));
    } else if (kind > static_cast<uint8_t>(BasicKind::enter_args)) {
      in.fail_at(record.offset, Error::Cause::bad_field,
                 fmt::format("unknown record kind {}", kind));
    }
  }
  if (body.error()) return std::unexpected(*body.error());
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
