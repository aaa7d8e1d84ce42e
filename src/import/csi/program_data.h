#pragma once

#include <map>
#include <string>
#include <vector>

#include "import/csi/flow_functions.h"
#include "import/csi/frame_decoder.h"
#include "model/function_data.h"

namespace telltale {

// The data flow of each function of a program, by the index of FlowFunctions; null: not known. Says
// which objects are the same variable, and what library functions do. `modules` own what the result
// points to.
std::vector<const FunctionData*> data_of_functions(const FlowFunctions& functions,
                                                   std::map<std::string, ModulePaths>& modules);

}  // namespace telltale
