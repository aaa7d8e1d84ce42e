#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "base/range_map.h"
#include "bytes/cursor.h"
#include "formats/xray/wire.h"

namespace telltale::xray {

// The side record of telltale's recorder (docs/formats/xray-recorder.md, "The side record"). Times
// are on the trace's clock. Text is never trusted.

// Where the header says how many bytes of the file count.
constexpr uint64_t kSideCommittedOffset = 16;
// Where the fields about the end begin that `telltale run` writes: SideRecord::end to system_ns.
constexpr uint64_t kSideEndOffset = 168;

// A program or shared object that was loaded.
struct SideObject {
  uint32_t number = 0;
  bool is_program = false;
  uint64_t load_bias = 0;  // run-time address minus link-time address
  uint64_t begin = 0;      // run-time addresses
  uint64_t end = 0;
  uint32_t id_base = 0;    // function f of its map (1, 2 ...) has id id_base + f
  uint32_t functions = 0;  // in its map; 0: it has none
  uint64_t loaded = 0;
  uint64_t file_bytes = 0;
  uint64_t modified_ns = 0;  // since 1970
  std::string build_id;      // lower-case hex digits; empty: none
  std::string path;          // absolute
  uint64_t offset = 0;       // of the record in the file
};

// A function that got its id at its first call.
struct SideFunction {
  uint32_t id = 0;
  uint64_t address = 0;  // run-time address
  size_t object = 0;     // index into SideRecord::objects, or kNoObject
};
constexpr size_t kNoObject = static_cast<size_t>(-1);

// A function that the recorder dropped (option `auto`): its later calls are not in the trace.
struct SideDropped {
  uint32_t id = 0;
  uint64_t time = 0;
  uint64_t calls_a_second = 0;  // when it was dropped
  uint64_t call_ps = 0;         // picoseconds that its calls took on average
};

// What the program that ran said about a function: it may be gone, or rebuilt.
struct SideName {
  uint32_t id = 0;
  uint32_t line = 0;         // 0: unknown
  std::string linkage_name;  // empty: unknown
  std::string file;
};

enum class FrequencySource : uint8_t { unknown = 0, exact = 1, stated = 2, measured = 3 };

struct SideRecord {
  bool ended = false;  // the process ended by exit
  bool ring = false;
  bool snapshot = false;
  bool objects_may_be_missing = false;
  bool some_sleds_unpatched = false;
  bool compared_linkage_names = false;  // patterns chose functions by these alone
  bool stopped = false;                 // recording was stopped while the process ran
  uint64_t committed = 0;               // bytes of the file that count
  uint32_t pid = 0;
  uint32_t parent_pid = 0;  // of the recorded process that forked this one; 0: none
  uint64_t start = 0;
  uint64_t start_realtime_ns = 0;  // since 1970
  uint64_t start_monotonic_ns = 0;
  uint64_t cycle_frequency = 0;
  FrequencySource frequency_source = FrequencySource::unknown;
  uint32_t uncertainty_ppb = 0;  // of the frequency, upper bound
  uint32_t sparse_interval = 0;
  // Events that are not in the trace, exactly.
  uint64_t lost_overwritten = 0;
  uint64_t lost_no_space = 0;
  uint64_t lost_reentrant = 0;
  uint64_t lost_too_large = 0;
  uint64_t lost_in_snapshot = 0;
  uint64_t left_out = 0;  // by filters; not lost
  uint64_t clock_anomalies = 0;
  uint64_t unnamed = 0;
  // A fatal signal that the recorder saw; the process may have survived it (`ended`, `end`).
  uint32_t fault_signal = 0;  // 0: none
  uint32_t fault_thread = 0;
  uint64_t fault_time = 0;
  uint64_t fault_address = 0;  // 0: none
  // What `telltale run` saw of the end.
  enum class End : uint8_t { unknown = 0, exit = 1, signal = 2 };
  End end = End::unknown;
  uint32_t end_status = 0;  // exit status, or number of the signal
  uint64_t end_monotonic_ns = 0;
  uint64_t user_ns = 0;  // processor time, with that of the children that it waited for
  uint64_t system_ns = 0;
  // What recording a call cost, measured at the start, in thousandths of a tick; 0 both: unknown.
  uint32_t cost_inside = 0;          // between the times of its entry and its exit
  uint32_t cost_outside = 0;         // before and after them
  uint64_t stop_time = 0;            // when recording was stopped; 0: it was not
  uint32_t part = 0;                 // of the process's recordings, from 1; 0: unknown
  uint32_t unrecorded_children = 0;  // forked, and without files of their own
  uint32_t unrecorded_error = 0;     // errno of the last one
  // The patterns that chose functions, as the recorder's option `functions` has them: GLOB;!GLOB.
  // Empty: all were recorded, or the recorder is too old to say it.
  std::string chosen;
  std::vector<SideObject> objects;                        // in file order
  std::vector<SideFunction> functions;                    // by id
  std::vector<SideDropped> dropped;                       // in file order
  std::vector<SideName> names;                            // by id
  std::vector<std::pair<uint32_t, std::string>> threads;  // tid and name; the last record counts

  RangeMap object_by_id;  // function ids to indexes in objects

  // The function with the assigned id `id`; null if there is none.
  [[nodiscard]] const SideFunction* find_assigned(uint32_t id) const;
  // What the file itself says about the function; null: nothing.
  [[nodiscard]] const SideName* find_name(uint32_t id) const;
};

// True for the mark that opens a side record.
bool looks_like_side_record(Bytes file);
// Reads a side record. Every whole record before the first impossible one is kept; the rest is
// reported as a problem. Memory is at most about 20 times the file's size. Safe on untrusted input.
// Errors: truncated, bad_magic, unsupported_version; placed, without the file's name.
Result<SideRecord> read_side_record(Bytes file, const std::string& file_name, ProblemLog& problems);
// A record to append to a side record.
std::string encode_side_name(const SideName& name);

}  // namespace telltale::xray
