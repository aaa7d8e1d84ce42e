// Writes every file of support/xray_samples.h, support/mono_samples.h and
// support/stacktrack_samples.h to the folder given as the only argument.

#include <fstream>

#include "support/mono_samples.h"
#include "support/stacktrack_samples.h"
#include "support/xray_samples.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::vector<telltale::testing::Sample> samples = telltale::testing::all_samples();
  for (telltale::testing::Sample& sample : telltale::testing::stacktrack_samples())
    samples.push_back(std::move(sample));
  for (const telltale::testing::Sample& sample : samples) {
    std::ofstream file(std::string(argv[1]) + "/" + sample.name, std::ios::binary);
    file << sample.bytes;
    if (!file) return 1;
  }
  for (const telltale::testing::MonoSample& sample : telltale::testing::valid_mono_samples()) {
    std::ofstream file(std::string(argv[1]) + "/" + sample.name, std::ios::binary);
    file << sample.bytes;
    if (!file) return 1;
  }
  return 0;
}
