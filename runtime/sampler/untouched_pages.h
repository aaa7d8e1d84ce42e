// Memory that the process has never touched. It is zero, and to read it would cost a page fault for
// each page: most of the time of a report of a large program that ended soon.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace telltale::sampler {

// Only for memory without initial values that is not shared. A page that is touched later may still
// be taken for untouched: make a new object for each report.
class UntouchedPages {
 public:
  UntouchedPages() = default;
  UntouchedPages(const UntouchedPages&) = delete;
  UntouchedPages& operator=(const UntouchedPages&) = delete;
  ~UntouchedPages();

  // Before that, and without /proc, no page is known to be untouched.
  void open();
  // Are all of these bytes on untouched pages?
  [[nodiscard]] bool contain(const void* begin, size_t bytes);

 private:
  [[nodiscard]] bool is_untouched(uintptr_t page);

  int file_ = -1;
  int page_bits_ = 0;  // the logarithm of a page's size
  // How many entries of /proc/self/pagemap, of consecutive pages, are read at once.
  static constexpr size_t kEntries = 64;  // signal stacks are small
  uintptr_t first_ = 0;
  size_t count_ = 0;
  uint64_t entries_[kEntries];
};

}  // namespace telltale::sampler
