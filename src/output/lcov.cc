#include "output/lcov.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/append_format.h"
#include "output/function_keys.h"

namespace telltale {
namespace {

class Writer {
 public:
  Writer(uint64_t sparsity, BlockWriter& out) : sparsity_(sparsity), out_(out) {}

  void write(const std::string& name, const LineCounts::File& file) {
    line("TN:{}", test_name());
    line("SF:{}", lcov_file_name(name));
    write_functions(file);
    write_branches(file);
    uint64_t hit = 0;
    for (const auto& [number, count] : file.lines) {
      line("DA:{},{}", number, scaled(count));
      hit += count != 0 ? 1 : 0;
    }
    line("LF:{}", file.lines.size());
    line("LH:{}", hit);
    line("end_of_record");
  }

 private:
  template <typename... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    append_format(out_.block(), format, std::forward<Values>(values)...);
    out_.block() += '\n';
    out_.flush_if_full();
  }

  // A test's name may contain only letters, digits and underscores.
  [[nodiscard]] std::string test_name() const {
    if (sparsity_ == 0) return "telltale_counts_as_reported";
    if (sparsity_ == 1) return "telltale_all_counted";
    return fmt::format("telltale_estimates_of_1_in_{}", sparsity_);
  }

  [[nodiscard]] uint64_t scaled(uint64_t count) const {
    uint64_t product = 0;
    if (__builtin_mul_overflow(count, std::max<uint64_t>(sparsity_, 1), &product))
      return UINT64_MAX;
    return product;
  }

  void write_functions(const LineCounts::File& file) {
    std::vector<FunctionLine> functions;
    for (const LineCounts::Function& function : file.functions)
      functions.push_back({lcov_function_name(function.name), function.line});
    const std::vector<std::string> names = unique_function_names(functions);
    uint64_t hit = 0;
    for (size_t i = 0; i < names.size(); ++i) line("FN:{},{}", file.functions[i].line, names[i]);
    for (size_t i = 0; i < names.size(); ++i) {
      line("FNDA:{},{}", scaled(file.functions[i].entered), names[i]);
      hit += file.functions[i].entered != 0 ? 1 : 0;
    }
    if (file.functions.empty()) return;
    line("FNF:{}", file.functions.size());
    line("FNH:{}", hit);
  }

  void write_branches(const LineCounts::File& file) {
    uint64_t hit = 0;
    for (const LineCounts::Branch& branch : file.branches) {
      const uint64_t taken[] = {branch.taken_false, branch.taken_true};
      const bool reached = taken[0] != 0 || taken[1] != 0;
      for (size_t i = 0; i < 2; ++i) {
        line("BRDA:{},{},{},{}", branch.line, branch.block, i,
             reached ? fmt::format("{}", scaled(taken[i])) : "-");
        hit += taken[i] != 0 ? 1 : 0;
      }
    }
    if (file.branches.empty()) return;
    line("BRF:{}", 2 * file.branches.size());
    line("BRH:{}", hit);
  }

  uint64_t sparsity_;
  BlockWriter& out_;
};

}  // namespace

Result<void> write_lcov(const LineCounts& counts, const LcovOptions& options,
                        const ByteSink& sink) {
  BlockWriter out(sink);
  Writer writer(options.sparsity, out);
  for (const auto& [name, file] : counts.files()) writer.write(name, file);
  return out.finish();
}

}  // namespace telltale
