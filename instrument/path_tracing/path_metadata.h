// The texts of path tracing's sections (docs/formats/csi.md).
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>
#include <vector>

#include "formats/csi/wire.h"
#include "model/ball_larus.h"
#include "path_tracing/path_code.h"
#include "path_tracing/path_scopes.h"
#include "trace_options.h"

namespace telltale::instrument {

// Identifies a function among all functions of a program, before it is instrumented. Units that
// include the same function number its blocks from different `first_id`s on, and positions name
// these: equal keys mean equal records.
std::uint64_t function_key(const llvm::Function& function, const NumberedGraph& numbered,
                           std::uint64_t first_id);

// A function's entry in .debug_PT, after it is instrumented. `stores` print as -1.
std::string path_entry(const llvm::Function& function, const NumberedGraph& numbered,
                       const std::vector<llvm::BasicBlock*>& block_of_node, std::uint64_t first_id,
                       const llvm::DenseSet<const llvm::Instruction*>& stores);

// The text of a function's record, before it is instrumented.
std::string function_record_text(const TracedFunction& traced, const TraceOptions& options);

// The text of the record of a function that is not instrumented. `path_count` is 0 if unknown.
std::string skipped_record_text(const llvm::Function& function, const std::string& reason,
                                std::uint64_t path_count);

// The lines of a block's instructions as the published sections print them: "|12|12|13". Empty if
// it has none.
std::string located_lines(const llvm::BasicBlock& block);

// The lines `symbol`, `file`, `line`, `scope` and `lines` of a function's record; the id of a block
// is its index. `with_calls`: `lines` also have the calls of the block, and there are `lost` and
// `gone`. `scopes`: those that the text numbers.
std::string scope_and_line_text(const llvm::Function& function,
                                const std::vector<llvm::BasicBlock*>& blocks, bool with_calls,
                                PathScopes& scopes);

// A directive that emits a label's address in eight bytes.
std::string address_directive(const llvm::Module& module, const std::string& label);

// Appends them to the sections, in the function's comdat if it has one.
void append_path_entry(llvm::Function& function, const std::string& entry, std::uint64_t key,
                       const std::string& record_text);
void append_skipped_record(llvm::Function& function, const std::string& record_text);
void append_section_text(llvm::Function& function, const char* section, const std::string& text);
// Returns the record's key, a hash of the text.
std::uint64_t append_coverage_record(llvm::Function& function, const std::string& record_text);
// The key of a record that is a key and a text: a hash of the text.
std::uint64_t text_key(const std::string& text);
// Appends a record of any kind that is such a key and the text.
std::uint64_t append_text_record(llvm::Function& function, csi::RecordKind kind,
                                 const std::string& text);
// A record of any kind that is a key and bytes.
void append_keyed_record(llvm::Function& function, csi::RecordKind kind, std::uint64_t key,
                         const std::string& bytes);
// A record about the module, without a key.
void append_module_record(llvm::Module& module, csi::RecordKind kind, const std::string& text);

}  // namespace telltale::instrument
