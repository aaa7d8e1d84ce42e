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

void write_samples(const SamplerReports::Section& section, BlockWriter& out) {
  sampler::append_samples_begin(out.block(), section.unit, section.scheme->name);
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

void write_first_executions(const SamplerReports::FirstExecutions& first, BlockWriter& out) {
  sampler::append_first_report_begin(out.block(), first.sparsity, first.executions);
  for (const SamplerReports::Section& section : first.sections) write_samples(section, out);
  sampler::append_report_end(out.block());
}

}  // namespace

void write_as_one_report(const SamplerReports& reports, BlockWriter& out) {
  sampler::append_report_begin(out.block(), sampler::kSamplesReport);
  for (const SamplerReports::Section& section : reports.sections()) {
    if (section.times_reported != 0) write_samples(section, out);
    for (const bool first : {true, false}) {
      if (!(first ? section.tells_first : section.tells_last)) continue;
      sampler::append_timestamps_begin(out.block(), section.unit, section.scheme->name,
                                       first ? "first" : "last");
      for (const uint64_t& time : first ? section.first_times : section.last_times)
        sampler::append_row(out.block(), std::span(&time, 1));
      sampler::append_timestamps_end(out.block());
    }
    out.flush_if_full();
  }
  sampler::append_report_end(out.block());
  if (reports.first_executions().exist) write_first_executions(reports.first_executions(), out);
  for (const SamplerReports::Subreport& subreport : reports.subreports()) {
    if (subreport.id == sampler::kFirstSamplesReport) continue;
    sampler::append_report_begin(out.block(), subreport.id);
    out.block() += subreport.text;
    sampler::append_report_end(out.block());
    out.flush_if_full();
  }
}

}  // namespace telltale
