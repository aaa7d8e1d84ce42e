#pragma once

#include <string>
#include <vector>

#include "analysis/calls/call_sequence.h"
#include "base/problem.h"
#include "output/table/field.h"
#include "output/table/write_rows.h"

namespace telltale {

// One thread of a recording.
struct SequenceSide {
  std::string file;
  const EventStream& thread;
  const CallSequence& sequence;
};
// What `diff --order` shows. `numbers` are those of both sequences.
struct SequenceReport {
  SequenceSide a;
  SequenceSide b;
  const NameNumbers& numbers;
  const SequenceAlignment& alignment;
};

// The call that an edit is named after.
const CallSequence::Call& first_call(const SequenceReport& report, const SequenceEdit& edit);
// The edits; repeated insertions or deletions of calls of one function are one.
std::vector<SequenceEdit> merged_edits(const SequenceReport& report);

// For people: at most `limit` lines of differences (0: all).
std::string sequence_text(const SequenceReport& report, size_t limit);
// The document schemas::kDiffOrder.
std::string sequence_document(const SequenceReport& report, const ProblemLog& problems);
std::string sequence_csv(const SequenceReport& report);

namespace schemas {
extern const DocumentSchema kDiffOrder;
}  // namespace schemas

}  // namespace telltale
