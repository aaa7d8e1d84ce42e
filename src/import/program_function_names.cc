#include "import/program_function_names.h"

namespace telltale {

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
