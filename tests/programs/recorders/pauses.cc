// A program with one event that then does nothing for a while, so that only its end can measure the
// clock better than its begin did. pauses MILLISECONDS COPY: before it ends it copies its recording
// (and an XRay trace's side record) to COPY.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "event.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  event();
  usleep(static_cast<useconds_t>(std::atoi(argv[1])) * 1000);
  const std::string path = recording();
  const std::string copy = argv[2];
  std::filesystem::copy_file(path, copy);
  if (std::filesystem::exists(path + ".side"))
    std::filesystem::copy_file(path + ".side", copy + ".side");
  return 0;
}
