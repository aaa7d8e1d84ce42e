#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/calls/profile.h"
#include "base/error.h"
#include "model/clock.h"
#include "model/event_source.h"
#include "model/function_names.h"
#include "output/table/table.h"

namespace telltale {

// What a row of a profile is of, in addition to a function.
enum class ProfileGroup : uint8_t { none, process, thread };

struct FunctionRow {
  const EventStream* of = nullptr;  // the thread, or one of the process; null: all of them
  FunctionProfile profile;
};
struct FunctionTableOptions {
  ProfileGroup group = ProfileGroup::none;
  bool all_columns = false;  // those, too, that are mainly for programs
  bool for_people = false;   // "-" for the extremes of no call
  // Exactly these columns, in this order; empty: the usual ones.
  std::vector<std::string_view> columns = {};
  Ticks whole = 0;  // time in all calls: that of which shares are taken
};

// The keys of all columns.
std::vector<std::string_view> function_columns();
// "self,calls,function": keys, with or without their unit. Errors: usage, for an unknown column.
Result<std::vector<std::string_view>> parse_function_columns(std::string_view text);

// The rows of `top`, in their order: the table of the document schemas::kTop.
Table function_table(const std::vector<FunctionRow>& rows, const FunctionTableOptions& options,
                     const Clock& clock, const FunctionNames& names);

}  // namespace telltale
