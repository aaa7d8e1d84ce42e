#include "formats/sampler/decimate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "formats/sampler/counter_rows.h"
#include "formats/sampler/report_reader.h"
#include "formats/sampler/report_writer.h"

namespace telltale::sampler {
namespace {

constexpr uint64_t kMany = uint64_t{1} << 40;

class Decimator {
 public:
  Decimator(uint64_t sparsity, uint64_t seed)
      : share_(1 / static_cast<double>(sparsity)), random_(seed) {}

  void rewrite(std::string_view line, std::string& out) {
    values_.clear();
    for (size_t at = 0; at <= line.size();) {
      const size_t tab = std::min(line.find('\t', at), line.size());
      const std::optional<uint64_t> value = parse_unsigned(line.substr(at, tab - at));
      if (!value) {
        out.append(line).append("\n");
        return;
      }
      values_.push_back(*value);
      at = tab + 1;
    }
    for (uint64_t& value : values_) value = draw(value);
    append_row(out, values_);
  }

 private:
  uint64_t draw(uint64_t count) {
    if (count == 0 || share_ == 1) return count;
    if (count > kMany) return draw_of_many(count);
    std::binomial_distribution<int64_t> seen(static_cast<int64_t>(count), share_);
    return static_cast<uint64_t>(seen(random_));
  }

  // Above this count the binomial distribution is indistinguishable from a Poisson or a normal one;
  // libstdc++'s binomial distribution overflows there.
  uint64_t draw_of_many(uint64_t count) {
    constexpr double kNormalFrom = 1e5;
    const double n = static_cast<double>(count);
    const double mean = n * share_;
    if (mean < kNormalFrom) {
      std::poisson_distribution<int64_t> seen(mean);
      return std::min(count, static_cast<uint64_t>(seen(random_)));
    }
    std::normal_distribution<double> seen(mean, std::sqrt(mean * (1 - share_)));
    const double drawn = std::round(seen(random_));
    if (!(drawn > 0)) return 0;
    return drawn < n ? static_cast<uint64_t>(drawn) : count;
  }

  double share_;
  std::mt19937_64 random_;
  std::vector<uint64_t> values_;
};

}  // namespace

Result<void> decimate(Bytes report, uint64_t sparsity, uint64_t seed, const ByteSink& sink,
                      ProblemLog& problems) {
  BlockWriter out(sink);
  Decimator decimator(sparsity, seed);
  ReportReader reader(report);
  while (const std::optional<ReportItem> item = reader.next()) {
    if (item->complaint) problems.add(problem_of(*item, {}));
    if (item->kind != ReportItem::Kind::samples || item->scheme == "bounds") {
      out.write(item->bytes);
      continue;
    }
    const size_t tag = item->body_offset - item->offset;
    out.write(item->bytes.substr(0, tag));
    for_each_line(item->body, [&](std::string_view line, size_t) {
      decimator.rewrite(line, out.block());
      out.flush_if_full();
    });
    out.write(item->bytes.substr(tag + item->body.size()));
  }
  return out.finish();
}

}  // namespace telltale::sampler
