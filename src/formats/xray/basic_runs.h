#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// One 32-byte record of a basic-mode log.
struct BasicRecord {
  uint64_t offset = 0;  // in the file
  BasicRecordType type = BasicRecordType::normal;
  uint8_t cpu = 0;                    // normal records: low 8 bits of the CPU's number
  BasicKind kind = BasicKind::enter;  // normal records
  int32_t function_id = 0;
  uint64_t tsc = 0;       // normal records: absolute
  uint64_t argument = 0;  // argument records
  uint32_t tid = 0;
  uint32_t pid = 0;  // 0 before version 3
};

// Reads the record at `in`. Errors: truncated; bad_field for an unknown type or kind.
Result<BasicRecord> read_basic_record(Cursor& in, uint16_t version);

// The problems of an unreadable record, and of `bytes` after the last whole record.
Problem bad_basic_record(const Error& error, const std::string& file_name);
Problem torn_basic_record(uint64_t offset, uint64_t bytes, const std::string& file_name);

// Consecutive records of one thread, as the writer flushed them; split at about 4 MiB.
struct BasicRun {
  uint64_t begin = 0;      // offset of the first record
  uint64_t end = 0;        // one past the last record's last byte
  uint64_t first_tsc = 0;  // of the first normal record; 0 if there is none
  uint32_t tid = 0;
  uint32_t pid = 0;
  uint64_t orphan_arguments = 0;  // that do not follow the entry of their function
  uint64_t first_orphan = 0;      // offset
};

// Splits a basic-mode log into runs, in file order. An incomplete last record is a torn tail in
// `problems`. Records of unknown type or kind are problems, too, and are skipped one by one. Copies
// of earlier records, as forked processes write them, are in no run; a problem counts them.
std::vector<BasicRun> find_basic_runs(Bytes file, const FileHeader& header,
                                      const std::string& file_name, ProblemLog& problems);

// Passes the records in [begin, end) to visitor.record(const BasicRecord&), in file order;
// unreadable ones are skipped (find_basic_runs has reported them).
template <typename Visitor>
void walk_basic_records(Bytes file, uint64_t begin, uint64_t end, const FileHeader& header,
                        Visitor& visitor) {
  for (uint64_t at = begin; at + kBasicRecordBytes <= end; at += kBasicRecordBytes) {
    Cursor in(file.subspan(static_cast<size_t>(at), kBasicRecordBytes), header.order, at);
    if (const Result<BasicRecord> record = read_basic_record(in, header.version))
      visitor.record(*record);
  }
}

}  // namespace telltale::xray
