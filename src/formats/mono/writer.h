#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "formats/mono/reader.h"

namespace telltale::mono {

// Appends a file header in the layout of its major version.
void write_file_header(const FileHeader& header, std::string& out);
void write_buffer_header(const BufferHeader& header, std::string& out);

// Reads a whole recording and writes it again event by event, with gaps and damaged parts
// unchanged: the result is the input, byte for byte. Errors: those of read_file_header, and the
// sink's.
Result<void> rewrite_recording(Bytes file, const ByteSink& sink);

// Data that a conversion could not preserve.
struct ConversionLoss {
  enum class Reason : uint8_t {
    header_strings,  // arguments, architecture, operating system, port
    loads,           // of assemblies, domains, threads, contexts, vtables; module ids
    handles,         // of the collector, and finalization
    roots,           // of heap shots
    samples,         // hits, symbols, binaries
    counters,
    runtime_code,  // not compiled from a method
    coverage,
    marks,          // sync points, AOT ids, collector locks
    event_parts,    // parts of preserved events: offsets of references and of samples' frames,
                    // generations of objects, kinds of roots and samples, objects of clauses,
                    // stacks of lock events
    unknown_types,  // vtables without a class in the recording
  };
  static constexpr size_t kReasons = 11;
  std::array<uint64_t, kReasons> counts{};
  [[nodiscard]] uint64_t count(Reason reason) const { return counts[static_cast<size_t>(reason)]; }
};
std::string_view loss_text(ConversionLoss::Reason reason);  // "... have no place there; dropped"

// Writes a recording in another data version, kPublishedVersion or kLastVersion; the same version
// is rewritten. Damaged parts are left out and reported in `problems`. Errors: those of
// read_file_header; usage for another target; the sink's.
Result<ConversionLoss> convert_recording(Bytes file, const std::string& file_name,
                                         uint8_t target_version, const ByteSink& sink,
                                         ProblemLog& problems);

}  // namespace telltale::mono
