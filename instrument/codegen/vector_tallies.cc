#include "codegen/vector_tallies.h"

#include <string>
#include <vector>

#include "codegen/cold_functions.h"
#include "runtime/sampler/abi.h"

namespace telltale::instrument {
namespace {

// Writes the assembly. LLVM refuses AVX2 in a function that any processor may run, but not in
// assembly.
//
// Its operands: $0 the result, $1 the block, $2 the value, from $3 on the vectors. xmm0 to xmm7 may
// hold the vectors; registers 8 to 11 get all operands of the comparison, 12 the value, 13 to 15
// results, each -1 or 0.
class VectorAssembly {
 public:
  VectorAssembly(unsigned vectors, bool is_narrow, bool is_signed)
      : type_(is_narrow ? "d" : "q"),
        // Eight i32 do not need registers of 256 bits.
        is_wide_(vectors > 2),
        registers_(is_wide_ ? vectors / 2 : vectors) {
    load();
    if (!is_signed) change_signs(is_narrow ? "31" : "63");
    // Code that observes counts less and greater before it counts that it has observed.
    compare(is_narrow, [&](unsigned i) { return reg(kValue) + ", " + reg(kOperands + i); });
    subtract_in(0);
    compare(is_narrow, [&](unsigned i) { return reg(kOperands + i) + ", " + reg(kValue); });
    subtract_in(telltale::sampler::kTallySites);
    add("vpcmpeqd %xmm13, %xmm13, %xmm13");
    subtract_in(2 * telltale::sampler::kTallySites);
    add("vmovd %xmm13, $0");
    if (is_wide_) add("vzeroupper");
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  enum : unsigned { kOperands = 8, kValue = 12, kResults };

  void add(const std::string& line) { text_ += line + "\n"; }
  [[nodiscard]] std::string reg(unsigned number) const {
    return (is_wide_ ? "%ymm" : "%xmm") + std::to_string(number);
  }
  // Vector `index` of the assembly's operands.
  static std::string vector(unsigned index, const std::string& modifier = "") {
    const std::string number = std::to_string(3 + index);
    return modifier.empty() ? "$" + number : "${" + number + ":" + modifier + "}";
  }

  // A pack takes the low halves of two registers and then their high halves. So the first vector
  // shares a register with the first of the second half, and results are in the order of the sites.
  void load() {
    add("vmov" + type_ + " $2, %xmm12");
    add("vpbroadcast" + type_ + " %xmm12, " + reg(kValue));
    for (unsigned i = 0; i < registers_; ++i) {
      if (is_wide_) {
        add("vinserti128 $$1, " + vector(registers_ + i) + ", " + vector(i, "t") + ", " +
            reg(kOperands + i));
      } else {
        add("vmovdqa " + vector(i) + ", " + reg(kOperands + i));
      }
    }
  }

  // Unsigned numbers compare like signed ones with the other sign.
  void change_signs(const std::string& bit) {
    const std::string sign = reg(kResults);
    add("vpcmpeqd " + sign + ", " + sign + ", " + sign);
    add("vpsll" + type_ + " $$" + bit + ", " + sign + ", " + sign);
    for (unsigned i = 0; i < registers_; ++i)
      add("vpxor " + sign + ", " + reg(kOperands + i) + ", " + reg(kOperands + i));
    add("vpxor " + sign + ", " + reg(kValue) + ", " + reg(kValue));
  }

  // Leaves the results in the bytes of xmm13. `sides` returns the two sides of a comparison.
  template <typename Sides>
  void compare(bool is_narrow, const Sides& sides) {
    const std::string greater = "vpcmpgt" + type_ + " ";
    const auto pack = [&](unsigned from) {
      add("vpackssdw " + reg(from + 1) + ", " + reg(from) + ", " + reg(from));
    };
    add(greater + sides(0) + ", " + reg(kResults));
    add(greater + sides(1) + ", " + reg(kResults + 1));
    pack(kResults);
    if (registers_ > 2) {
      add(greater + sides(2) + ", " + reg(kResults + 1));
      add(greater + sides(3) + ", " + reg(kResults + 2));
      pack(kResults + 1);
      pack(kResults);
    }
    // Results of eight numbers are packed with themselves, into bytes that nobody reads.
    std::string high = "%xmm13";
    if (is_wide_) {
      high = "%xmm14";
      add("vextracti128 $$1, %ymm13, %xmm14");
      if (registers_ == 2 && !is_narrow) {
        add("vpackssdw %xmm14, %xmm13, %xmm13");
        high = "%xmm13";
      }
    }
    add("vpacksswb " + high + ", %xmm13, %xmm13");
  }

  // xmm13 gets the new bytes.
  void subtract_in(unsigned offset) {
    const std::string place = std::to_string(offset) + "($1)";
    add("vpaddb " + place + ", %xmm13, %xmm13");
    add("vmovdqa %xmm13, " + place);
  }

  std::string type_;
  bool is_wide_;
  unsigned registers_;
  std::string text_;
};

}  // namespace

llvm::Value* emit_vector_tallies(llvm::IRBuilderBase& at, llvm::Value& block, llvm::Value& value,
                                 llvm::ArrayRef<llvm::Value*> operands, bool is_signed) {
  const VectorAssembly assembly(static_cast<unsigned>(operands.size()),
                                value.getType()->isIntegerTy(32), is_signed);
  std::vector<llvm::Value*> arguments{&block, &value};
  std::string constraints = "=&r,r,r";
  for (llvm::Value* const operand : operands) {
    arguments.push_back(operand);
    constraints += ",x";
  }
  constraints +=
      ",~{xmm8},~{xmm9},~{xmm10},~{xmm11},~{xmm12},~{xmm13},~{xmm14},~{xmm15},~{dirflag},~{fpsr},"
      "~{flags}";
  return call_asm_without_aliasing(at, at.getInt32Ty(), assembly.text().c_str(),
                                   constraints.c_str(), arguments);
}

}  // namespace telltale::instrument
