#pragma once

#include <array>
#include <cstddef>

#include "output/table/field.h"
#include "report/process_number.h"

// Columns that several reports on a managed runtime have.
namespace telltale::reports {

inline constexpr Field kStack =
    field::text("stack", "Frames from the outermost, separated by ' > '.");
inline constexpr Field kType = field::text("type", "Name of the type.");
inline constexpr Field kClass = field::address("class", "Address of the class.");
inline constexpr Field kAt =
    field::change("at_ns", Unit::ns, "When, since the recording's first event.");
inline constexpr Field kPid =
    field::signed_id("pid", "Process, where the recording has several.").sometimes();
inline constexpr Field kPidOrNone = kPid.or_null();  // of an address that may be of no process
inline constexpr Field kShot =
    field::number_id("shot", "Number of the heap shot, from 0 in order of time.");
inline constexpr Field kSection = field::text("section", "Section of the counter.");
inline constexpr Field kCounterName = field::text("name", "Name of the counter.");
inline constexpr Field kLastName = field::text("name", "Its last name.");
inline constexpr Field kAllNames =
    field::text("names", "All its names, separated by commas.").titled("ALL ITS NAMES");

// `fields` and one more.
template <size_t kCount>
constexpr std::array<Field, kCount + 1> with_last(const std::array<Field, kCount>& fields,
                                                  Field last) {
  std::array<Field, kCount + 1> all{};
  for (size_t i = 0; i < kCount; ++i) all[i] = fields[i];
  all[kCount] = last;
  return all;
}

}  // namespace telltale::reports
