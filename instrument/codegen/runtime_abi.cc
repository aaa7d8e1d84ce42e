#include "codegen/runtime_abi.h"

#include <type_traits>
#include <vector>

namespace telltale::instrument {
namespace {

// The LLVM type of a C++ type that the interface uses.
template <typename T>
llvm::Type* llvm_type(llvm::LLVMContext& context) {
  if constexpr (std::is_void_v<T>) {
    return llvm::Type::getVoidTy(context);
  } else if constexpr (std::is_pointer_v<T>) {
    return llvm::PointerType::getUnqual(context);
  } else if constexpr (std::is_array_v<T>) {
    return llvm::ArrayType::get(llvm_type<std::remove_extent_t<T>>(context), std::extent_v<T>);
  } else if constexpr (std::is_class_v<T>) {  // only of a variable that is declared here
    return llvm::ArrayType::get(llvm::Type::getInt8Ty(context), sizeof(T));
  } else {
    static_assert(std::is_integral_v<T>);
    return llvm::Type::getIntNTy(context, 8 * sizeof(T));
  }
}

template <typename T>
struct FunctionSignature;
template <typename Result, typename... Parameters>
struct FunctionSignature<Result(Parameters...)> {
  static llvm::FunctionType* type(llvm::LLVMContext& context) {
    return llvm::FunctionType::get(llvm_type<Result>(context), {llvm_type<Parameters>(context)...},
                                   false);
  }
};

// Collects the fields of a structure.
class StructBuilder {
 public:
  explicit StructBuilder(llvm::LLVMContext& context) : context_(context) {}
  template <typename T>
  StructBuilder& add(llvm::Constant* value) {
    fields_.push_back(value != nullptr ? value
                                       : llvm::Constant::getNullValue(llvm_type<T>(context_)));
    return *this;
  }
  llvm::Constant* build() { return llvm::ConstantStruct::getAnon(context_, fields_); }

 private:
  llvm::LLVMContext& context_;
  std::vector<llvm::Constant*> fields_;
};

llvm::GlobalVariable* declare_variable(llvm::Module& module, const char* name, llvm::Type* type) {
  return llvm::cast<llvm::GlobalVariable>(module.getOrInsertGlobal(name, type));
}

}  // namespace

namespace layout {
using namespace telltale::sampler;  // the types of fields
#define ABI_STRUCT(name)                                             \
  llvm::Constant* name::constant(llvm::LLVMContext& context) const { \
    StructBuilder builder(context);
#define ABI_FIELD(type, name) builder.add<type>(name);
#define ABI_STRUCT_END    \
  return builder.build(); \
  }
#include "runtime/sampler/abi.inc"
}  // namespace layout

namespace runtime {
#define ABI_VARIABLE(type, name)                                                  \
  llvm::GlobalVariable* name(llvm::Module& module) {                              \
    return declare_variable(module, #name, llvm_type<type>(module.getContext())); \
  }
#define ABI_THREAD_VARIABLE(type, name)                                                           \
  llvm::GlobalVariable* name(llvm::Module& module) {                                              \
    auto* const variable = declare_variable(module, #name, llvm_type<type>(module.getContext())); \
    variable->setThreadLocalMode(llvm::GlobalVariable::InitialExecTLSModel);                      \
    return variable;                                                                              \
  }
#define ABI_FUNCTION(result, name, parameters)                                   \
  llvm::FunctionCallee name(llvm::Module& module) {                              \
    return module.getOrInsertFunction(                                           \
        #name, FunctionSignature<result parameters>::type(module.getContext())); \
  }
#include "runtime/sampler/abi.inc"
}  // namespace runtime

}  // namespace telltale::instrument
