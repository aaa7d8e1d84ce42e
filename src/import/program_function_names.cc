#include "import/program_function_names.h"

#include "import/id_names.h"

namespace telltale {

Result<std::shared_ptr<const FunctionNames>> open_function_names(const OpenOptions& options,
                                                                 ProblemLog& problems) {
  if (options.programs.empty()) return std::make_shared<IdNames>();
  std::vector<ProgramObject> objects;
  for (const std::string& text : options.programs) {
    Result<ProgramObject> object = parse_program_object(text);
    if (!object) return std::unexpected(object.error());
    objects.push_back(*std::move(object));
  }
  SymbolizerOptions symbols;
  symbols.places = options.source_places;
  Result<ProgramNames> names = ProgramNames::open(objects, std::move(symbols), problems);
  if (!names) return std::unexpected(names.error());
  return std::make_shared<ProgramFunctionNames>(*std::move(names));
}

const FunctionInfo& ProgramFunctionNames::describe(FunctionId id) const {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = described_.try_emplace(id);
  if (is_new) {
    const ProgramFunction& function = names_.describe(to_number(id));
    place->second = {function.name, function.linkage_name, function.file, function.line,
                     function.module};
  }
  return place->second;
}

}  // namespace telltale
