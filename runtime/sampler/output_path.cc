#include "output_path.h"

#include <string.h>
#include <unistd.h>

namespace telltale::sampler {

bool expand_path(const char* pattern, char* path, size_t bytes) {
  size_t used = 0;
  for (const char* from = pattern; *from != 0; ++from) {
    char digits[24];
    size_t count = 1;
    digits[0] = *from;
    if (*from == '%' && from[1] == '%') {
      ++from;
    } else if (*from == '%' && from[1] == 'p') {
      ++from;
      char reversed[24];
      count = 0;
      for (auto number = static_cast<unsigned>(::getpid()); number != 0; number /= 10)
        reversed[count++] = static_cast<char>('0' + number % 10);
      for (size_t i = 0; i < count; ++i) digits[i] = reversed[count - 1 - i];
    }
    if (used + count >= bytes) return false;
    ::memcpy(path + used, digits, count);
    used += count;
  }
  path[used] = 0;
  return true;
}

bool path_from_root(const char* pattern, char* path, size_t bytes) {
  size_t used = 0;
  if (*pattern != '/') {
    char folder[kPathBytes];
    if (::getcwd(folder, sizeof(folder)) == nullptr) folder[0] = 0;
    for (const char* from = folder; *from != 0; ++from) {
      if (used + 3 >= bytes) return false;
      if (*from == '%') path[used++] = '%';
      path[used++] = *from;
    }
    if (used > 0) path[used++] = '/';
  }
  if (used + ::strlen(pattern) >= bytes) return false;
  ::memcpy(path + used, pattern, ::strlen(pattern) + 1);
  return true;
}

}  // namespace telltale::sampler
