#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "formats/sampler/counter_rows.h"
#include "formats/sampler/tag.h"

namespace telltale::sampler {

// Appends the parts of a feedback report to a text, in the exact form of the published text.
// REQUIRES of every text: no line feed, and no quotation mark inside a tag.
void append_report_begin(std::string& out, std::string_view id);
// Begins a section of first executions. Without a sparsity or a number of executions, it is one of
// several runs.
void append_first_report_begin(std::string& out, std::string_view sparsity,
                               std::string_view executions);
void append_report_end(std::string& out);
void append_samples_begin(std::string& out, std::string_view unit, std::string_view scheme);
void append_samples_end(std::string& out);
void append_timestamps_begin(std::string& out, std::string_view unit, std::string_view scheme,
                             std::string_view when);
void append_timestamps_end(std::string& out);
void append_row(std::string& out, std::span<const uint64_t> values);
void append_row(std::string& out, const Bounds& bounds);
// Any tag, with its attributes in their order.
void append_tag(std::string& out, const Tag& tag);

// Reads a whole report and writes it again, tag by tag and number by number; damaged text, or text
// in another form, is copied. The result is the input, byte for byte. Errors: the sink's.
Result<void> rewrite_report(Bytes file, const ByteSink& sink);

}  // namespace telltale::sampler
