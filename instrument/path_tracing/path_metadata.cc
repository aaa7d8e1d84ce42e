#include "path_tracing/path_metadata.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <iterator>

#include "codegen/assembly_text.h"
#include "formats/csi/wire.h"
#include "path_tracing/flow_graph.h"
#include "path_tracing/fnv1a.h"
#include "path_tracing/source_lines.h"
#include "path_tracing/source_pieces.h"
#include "source_function.h"

namespace telltale::instrument {
namespace {

// Calls `visit(location)` for the instructions that .debug_PT lists, and declarations of variables,
// which were instructions once.
template <typename Visit>
void visit_locations(const llvm::Instruction& instruction, const Visit& visit) {
  for (const llvm::DbgRecord& record : instruction.getDbgRecordRange()) {
    const auto* const variable = llvm::dyn_cast<llvm::DbgVariableRecord>(&record);
    if (variable != nullptr &&
        variable->getType() == llvm::DbgVariableRecord::LocationType::Declare &&
        variable->getDebugLoc())
      visit(*variable->getDebugLoc());
  }
  if (instruction.getDebugLoc() && !is_unconditional_branch(instruction) &&
      !is_line_marker(instruction))
    visit(*instruction.getDebugLoc());
}

// `with_calls`: also where the block's calls are.
std::string place_lines(const char* keyword, std::uint64_t id,
                        const std::vector<SourceLine>& source, bool with_calls, PathScopes& scopes,
                        std::string& scope_text) {
  std::string lines;
  std::pair<std::size_t, unsigned> last;  // scope and line; no line is 0
  unsigned calls = 0;
  for (const SourceLine& line : source) {
    const std::pair place(scopes.number_of(*line.scope, line.call, scope_text), line.line);
    if (place == last) continue;
    for (; with_calls && calls < line.calls; ++calls) lines += "\tc";
    lines += "\t" + std::to_string(place.first) + ":" + std::to_string(place.second);
    last = place;
  }
  return lines.empty() ? "" : keyword + ("\t" + std::to_string(id)) + lines + "\n";
}

std::string place_of_function(const llvm::Function& function) {
  std::string text = "symbol\t" + escaped_field(function.getName()) + "\n";
  const llvm::DISubprogram* const subprogram = source_of(function).subprogram;
  if (subprogram == nullptr)
    return text + "file\t" + escaped_field(function.getParent()->getSourceFileName()) + "\n";
  return text + "file\t" + escaped_field(path_of(subprogram->getFile())) + "\nline\t" +
         std::to_string(subprogram->getLine()) + "\n";
}

// The directive that begins a part of a section, in the function's comdat, so that the linker drops
// the text together with the function.
std::string push_section(const llvm::Function& function, const char* section) {
  const std::string name = std::string("\t.pushsection ") + section;
  if (!function.hasComdat()) return name + ",\"\",%progbits\n";
  return name + ",\"G\",%progbits,\"" + function.getComdat()->getName().str() + "\",comdat\n";
}

std::string kind_directive(csi::RecordKind kind) {
  return "\t.byte " + std::to_string(static_cast<unsigned>(kind)) + "\n";
}

}  // namespace

std::uint64_t function_key(const llvm::Function& function, const NumberedGraph& numbered,
                           std::uint64_t first_id) {
  Fnv1a hash;
  hash.add(place_of_function(function));
  hash.add(first_id);
  for (const NumberedEdge& edge : numbered.edges) {
    hash.add(edge.from);
    hash.add(edge.to);
    hash.add(edge.increment);
  }
  for (const llvm::BasicBlock& block : function) {
    for (const llvm::Instruction& instruction : block)
      visit_locations(instruction,
                      [&](const llvm::DILocation& location) { hash.add(location.getLine()); });
  }
  return hash.hash();
}

std::string path_entry(const llvm::Function& function, const NumberedGraph& numbered,
                       const std::vector<llvm::BasicBlock*>& block_of_node, std::uint64_t first_id,
                       const llvm::DenseSet<const llvm::Instruction*>& stores) {
  const auto id = [&](std::uint32_t node) { return std::to_string(first_id + node); };
  std::string text = "#\n" + function.getName().str() + "\n";
  for (const std::uint32_t node : numbered.print_order) {
    text += id(node);
    if (node == kExitNode) {
      text += "|EXIT\n";
      continue;
    }
    if (node == kEntryNode) text += "|ENTRY";
    std::string lines;
    for (const llvm::Instruction& instruction : *block_of_node[node]) {
      if (stores.contains(&instruction)) lines += "|-1";
      visit_locations(instruction, [&](const llvm::DILocation& location) {
        lines += "|" + std::to_string(location.getLine());
      });
    }
    if (lines.empty() && node != kEntryNode) lines = "|NULL";
    text += lines + "\n";
  }
  text += "$\n";
  for (const NumberedEdge& edge : numbered.edges) {
    text += id(edge.from) + (edge.is_back ? "~>" : "->") + id(edge.to) + "|" +
            std::to_string(edge.increment) + "$" + std::to_string(edge.weight) + "\n";
  }
  return text;
}

std::string function_record_text(const TracedFunction& traced, const TraceOptions& options) {
  const llvm::Function& function = traced.function;
  const NumberedGraph& numbered = traced.numbered;
  const std::uint64_t slots =
      keeps_ring(numbered, options) ? ring_slots(options, traced.numbers_prefixes) : 0;
  std::string text = place_of_function(function);
  text += "paths\t" + std::to_string(numbered.path_count) + "\n";
  text += "ring\t" + std::to_string(slots) + "\n";
  if (calls_setjmp(function)) text += "flag\tsetjmp\n";
  for (const NumberedEdge& edge : numbered.edges) {
    if (edge.is_back && edge.exit_increment != 0)
      text += "exit\t" + std::to_string(traced.first_id + edge.from) + "\t" +
              std::to_string(traced.first_id + edge.to) + "\t" +
              std::to_string(edge.exit_increment) + "\n";
    if (edge.repeats)
      text += "repeat\t" + std::to_string(traced.first_id + edge.from) + "\t" +
              std::to_string(traced.first_id + edge.to) + "\n";
  }
  PathScopes scopes;
  std::string scope_text;
  std::string lines;
  for (const std::uint32_t node : numbered.print_order) {
    if (node != kExitNode)
      lines += place_lines("lines", traced.first_id + node,
                           source_lines(*traced.block_of_node[node]), false, scopes, scope_text);
  }
  text += scope_text + lines;
  if (traced.sets_late) text += "flag\tlate\n";
  if (traced.numbers_prefixes) text += "flag\tprefixes\n";
  return text;
}

std::string skipped_record_text(const llvm::Function& function, const std::string& reason,
                                std::uint64_t path_count) {
  std::string text = place_of_function(function) + "reason\t" + reason + "\n";
  if (path_count != 0) text += "paths\t" + std::to_string(path_count) + "\n";
  return text;
}

std::string located_lines(const llvm::BasicBlock& block) {
  std::string lines;
  for (const llvm::Instruction& instruction : block) {
    visit_locations(instruction, [&](const llvm::DILocation& location) {
      lines += "|" + std::to_string(location.getLine());
    });
  }
  return lines;
}

std::string scope_and_line_text(const llvm::Function& function,
                                const std::vector<llvm::BasicBlock*>& blocks, bool with_calls,
                                PathScopes& scopes) {
  std::string scope_text;
  std::string lines;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::vector<SourceLine> before = lines_before(*blocks[i]);
    const std::vector<SourceLine> here = source_lines(*blocks[i]);
    std::vector<SourceLine> of_block;
    std::merge(before.begin(), before.end(), here.begin(), here.end(), std::back_inserter(of_block),
               [](const SourceLine& a, const SourceLine& b) { return a.calls < b.calls; });
    lines += place_lines("lines", i, of_block, with_calls, scopes, scope_text);
    if (!with_calls) continue;
    lines += place_lines("lost", i, lines_lost_after(*blocks[i]), false, scopes, scope_text);
    const auto add = [&](const char* word, const std::vector<const llvm::DISubprogram*>& gone) {
      for (const llvm::DISubprogram* const each : gone)
        lines +=
            word + ("\t" + std::to_string(i)) + "\t" + names_of_places().reference(*each) + "\n";
    };
    add("gone", functions_gone(*blocks[i]));
    add("uncalled", calls_gone(*blocks[i]));
  }
  return place_of_function(function) + scope_text + lines;
}

std::string address_directive(const llvm::Module& module, const std::string& label) {
  const llvm::DataLayout& layout = module.getDataLayout();
  if (layout.getPointerSize() == 8) return "\t.quad " + label + "\n";
  return layout.isLittleEndian() ? "\t.long " + label + ",0\n" : "\t.long 0," + label + "\n";
}

void append_path_entry(llvm::Function& function, const std::string& entry, std::uint64_t key,
                       const std::string& record_text) {
  std::string assembly = push_section(function, csi::kPathSection) + "77101:\n" +
                         ascii_directives(entry) + "\t.popsection\n";
  assembly += push_section(function, csi::kRecordSection) + "\t.long " +
              std::to_string(record_text.size() + 17) + "\n" +
              kind_directive(csi::RecordKind::kFunction) + "\t.quad " + std::to_string(key) + "\n" +
              address_directive(*function.getParent(), "77101b") + ascii_directives(record_text) +
              "\t.popsection\n";
  function.getParent()->appendModuleInlineAsm(assembly);
}

void append_skipped_record(llvm::Function& function, const std::string& record_text) {
  function.getParent()->appendModuleInlineAsm(push_section(function, csi::kRecordSection) +
                                              "\t.long " + std::to_string(record_text.size() + 1) +
                                              "\n" + kind_directive(csi::RecordKind::kSkipped) +
                                              ascii_directives(record_text) + "\t.popsection\n");
}

void append_section_text(llvm::Function& function, const char* section, const std::string& text) {
  function.getParent()->appendModuleInlineAsm(push_section(function, section) +
                                              ascii_directives(text) + "\t.popsection\n");
}

void append_keyed_record(llvm::Function& function, csi::RecordKind kind, std::uint64_t key,
                         const std::string& bytes) {
  function.getParent()->appendModuleInlineAsm(
      push_section(function, csi::kRecordSection) + "\t.long " + std::to_string(bytes.size() + 9) +
      "\n" + kind_directive(kind) + "\t.quad " + std::to_string(key) + "\n" +
      ascii_directives(bytes) + "\t.popsection\n");
}

std::uint64_t text_key(const std::string& text) {
  Fnv1a hash;
  hash.add(text);
  return hash.hash();
}

std::uint64_t append_text_record(llvm::Function& function, csi::RecordKind kind,
                                 const std::string& text) {
  const std::uint64_t key = text_key(text);
  append_keyed_record(function, kind, key, text);
  return key;
}

std::uint64_t append_coverage_record(llvm::Function& function, const std::string& record_text) {
  return append_text_record(function, csi::RecordKind::kCoverage, record_text);
}

void append_module_record(llvm::Module& module, csi::RecordKind kind, const std::string& text) {
  module.appendModuleInlineAsm(std::string("\t.pushsection ") + csi::kRecordSection +
                               ",\"\",%progbits\n\t.long " + std::to_string(text.size() + 1) +
                               "\n" + kind_directive(kind) + ascii_directives(text) +
                               "\t.popsection\n");
}

}  // namespace telltale::instrument
