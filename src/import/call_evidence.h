#pragma once

#include <cstddef>
#include <span>

#include "import/recording_evidence.h"

namespace telltale {

// Reads recordings on `workers` threads (0: all cores), with the same answer for any number.
// Predicates: a function was called; it was called more than n times; one of its calls took longer
// than t; one function called another; a call was left by an exception or longjmp; an exception of
// a type was thrown. n and t are found in the data (isolation::best_threshold). Errors: usage, if a
// recording has no timed calls.
Result<RecordingEvidence> read_call_evidence(std::span<const RunRecording> recordings,
                                             const OpenRecording& open, size_t workers);

}  // namespace telltale
