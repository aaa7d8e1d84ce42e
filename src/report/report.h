#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "import/capability.h"
#include "output/table/field.h"
#include "output/table/section.h"

namespace telltale {

class CallReadings;
class RuntimeReadings;
class SiteReadings;

// What reports are made from: readings of one recording, which several reports share. That for a
// report's capability is there. None is owned; they outlive this.
struct ReportInput {
  CallReadings* calls = nullptr;       // timed calls
  RuntimeReadings* runtime = nullptr;  // runtime events
  SiteReadings* sites = nullptr;       // counts at sites
};

// One question that a recording with a capability answers: a section of single figures and tables.
// A report is a constant beside the function that makes it; report/reports.cc lists all.
struct Report {
  std::string_view name;           // as --reports and JSON have it; stable
  std::string_view title;          // heading for people
  std::string_view sentence;       // describes the report; ends with a full stop
  Capability needs{};              // that the recording must have
  std::span<const Field> members;  // figures, and tables with their columns
  void (*make)(const ReportInput& input, Section& section) = nullptr;
  bool by_default = true;          // is made if none is asked for
  bool selects_functions = false;  // --function and --depth select its calls or frames of stacks
  bool names_threads = false;      // needs OpenOptions::thread_names
  // Readings that are made once, for all reports that are asked for together; the class of the
  // input names them. Reports with such readings read nothing themselves and are made in parallel.
  uint8_t reads = 0;
};

// Sections of `reports`, in their order. `workers`: threads; 0: all cores.
std::vector<Section> make_sections(std::span<const Report* const> reports, const ReportInput& input,
                                   size_t workers);

}  // namespace telltale
