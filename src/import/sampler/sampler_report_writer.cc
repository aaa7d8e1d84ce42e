#include "import/sampler/sampler_report_writer.h"

#include <span>
#include <string>

#include "formats/sampler/report_writer.h"

namespace telltale {
namespace {

void append_bounds(const sampler::Bounds& bounds, std::string& out) {
  using sampler::BoundValue;
  const bool lost = bounds.minimum.form == BoundValue::Form::none;
  const BoundValue one{BoundValue::Form::unsigned_number, 1};
  const BoundValue zero{BoundValue::Form::unsigned_number, 0};
  sampler::append_row(out, lost ? sampler::Bounds{one, zero} : bounds);
}

}  // namespace

void write_as_one_report(const SamplerReports& reports, BlockWriter& out) {
  sampler::append_report_begin(out.block(), sampler::kSamplesReport);
  for (const SamplerReports::Section& section : reports.sections()) {
    if (section.times_reported == 0 && !section.tells_first && !section.tells_last) continue;
    const std::string& scheme = section.scheme->name;
    if (section.times_reported != 0) {
      sampler::append_samples_begin(out.block(), section.unit, scheme);
      const size_t width = section.scheme->counters.size();
      for (size_t row = 0; row < section.rows; ++row) {
        if (section.scheme->bounds) {
          append_bounds(section.bounds[row], out.block());
        } else {
          sampler::append_row(out.block(), std::span(section.counts).subspan(row * width, width));
        }
        out.flush_if_full();
      }
      sampler::append_samples_end(out.block());
    }
    for (const bool first : {true, false}) {
      if (!(first ? section.tells_first : section.tells_last)) continue;
      sampler::append_timestamps_begin(out.block(), section.unit, scheme, first ? "first" : "last");
      for (const uint64_t& time : first ? section.first_times : section.last_times)
        sampler::append_row(out.block(), std::span(&time, 1));
      sampler::append_timestamps_end(out.block());
    }
    out.flush_if_full();
  }
  sampler::append_report_end(out.block());
  for (const SamplerReports::Subreport& subreport : reports.subreports()) {
    sampler::append_report_begin(out.block(), subreport.id);
    out.block() += subreport.text;
    sampler::append_report_end(out.block());
    out.flush_if_full();
  }
}

}  // namespace telltale
