#include "codegen/site_table_writer.h"

#include <vector>

#include "codegen/assembly_text.h"

namespace telltale::instrument {

std::string write_site_tables(const TranslationUnit& unit,
                              const std::array<unsigned, kSchemeCount>& rows) {
  std::array<std::vector<const Site*>, kSchemeCount> by_row;
  for (std::size_t i = 0; i < kSchemeCount; ++i) by_row[i].resize(rows[i]);
  for (const Site& site : unit.sites) {
    if (site.row >= 0)
      by_row[static_cast<std::size_t>(site.scheme)][static_cast<std::size_t>(site.row)] = &site;
  }
  std::string out;
  for (std::size_t i = 0; i < kSchemeCount; ++i) {
    if (!unit.options.schemes[i]) continue;
    out += "<sites unit=\"" + signature_hex(unit) + "\" scheme=\"" +
           scheme_name(static_cast<Scheme>(i)) + "\">\n";
    for (const Site* const site : by_row[i]) {
      out += site->file + "\t" + std::to_string(site->line) + "\t" +
             unit.functions[static_cast<std::size_t>(site->function)].name + "\t" +
             std::to_string(site->cfg_node);
      for (const std::string& field : site->fields) out += "\t" + field;
      out += "\n";
    }
    out += "</sites>\n";
  }
  return out;
}

void append_section(llvm::Module& module, llvm::StringRef name, llvm::StringRef text) {
  // On ARM, @ begins a comment.
  std::string assembly = "\t.pushsection " + name.str() + ",\"\",%progbits\n";
  assembly += ascii_directives(text);
  module.appendModuleInlineAsm(assembly + "\t.popsection\n");
}

}  // namespace telltale::instrument
