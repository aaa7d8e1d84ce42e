#include "destination.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../descriptors/open_file.h"

namespace telltale::sampler {

int Destination::open(const char* pattern, bool keep_contents) {
  if (*pattern == 0) return ENOENT;
  keeps_contents_ = keep_contents;
  return path_from_root(pattern, pattern_, sizeof(pattern_)) ? open_path() : ENAMETOOLONG;
}

int Destination::open_later(const char* pattern) {
  if (!path_from_root(pattern, pattern_, sizeof(pattern_)) ||
      !expand_path(pattern_, path_, sizeof(path_)))
    return ENAMETOOLONG;
  is_file_ = true;
  private_ = true;
  on_demand_ = true;
  return 0;
}

bool Destination::open_on_demand() {
  if (!on_demand_) return false;
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND;
  descriptor_ = descriptors::open_kept_file(path_, kFlags, 0600);
  if (descriptor_ >= 0) remember();
  on_demand_ = false;  // not before, since other threads ask whether there is a report
  return descriptor_ >= 0;
}

void Destination::adopt(int descriptor) {
  descriptor_ = descriptor;
  remember();
}

bool Destination::is_per_process() const { return ::strstr(pattern_, "%p") != nullptr; }

void Destination::open_own() {
  close();
  if (!private_) {
    open_path();
  } else {
    on_demand_ = expand_path(pattern_, path_, sizeof(path_));
  }
}

void Destination::reopen_if_replaced() {
  if (descriptor_ < 0 || is_same_file(descriptor_)) return;
  descriptor_ = path_[0] == 0 ? -1
                              : descriptors::open_kept_file(
                                    path_, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK);
  if (descriptor_ < 0 || is_same_file(descriptor_)) return;
  ::close(descriptor_);
  descriptor_ = -1;
}

void Destination::close() {
  if (descriptor_ >= 0 && is_same_file(descriptor_)) ::close(descriptor_);
  descriptor_ = -1;
  on_demand_ = false;
}

// O_APPEND: several processes may write.
int Destination::open_path() {
  if (!expand_path(pattern_, path_, sizeof(path_))) return ENAMETOOLONG;
  const int truncates = keeps_contents_ ? 0 : O_TRUNC;
  descriptor_ = descriptors::open_kept_file(path_, O_WRONLY | O_CREAT | O_APPEND | truncates, 0666);
  if (descriptor_ < 0) return errno;
  remember();
  return 0;
}

bool Destination::is_same_file(int descriptor) const {
  struct stat facts = {};
  return ::fstat(descriptor, &facts) == 0 && facts.st_dev == device_ && facts.st_ino == inode_;
}

void Destination::remember() {
  struct stat facts = {};
  ::fstat(descriptor_, &facts);
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  is_file_ = S_ISREG(facts.st_mode);
}

}  // namespace telltale::sampler
