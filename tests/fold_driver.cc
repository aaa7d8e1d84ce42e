// Folds stores, in one process: reads their paths from standard input, one on each line, and prints
// "ok" or what went wrong for each. tests/end_to_end/test_collect_power.py drives it.
#include <iostream>
#include <string>

#include "base/error.h"
#include "collect/store/fold.h"
#include "collect/store_folder.h"

int main() {
  std::string path;
  while (std::getline(std::cin, path)) {
    const auto done = telltale::collect::fold(telltale::collect::StoreFolder(path));
    std::cout << (done ? "ok" : to_string(done.error())) << '\n' << std::flush;
  }
}
