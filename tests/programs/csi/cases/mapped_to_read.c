/* The library (-DLIBRARY) crashes. Before, the program maps the files of its arguments for reading. */
int fail_at(const char* text, char fault);

#ifdef LIBRARY
int fail_at(const char* text, char fault) {
  int count = 0;
  for (; *text != 0; ++text) {
    if (*text == fault)
      *(volatile int*)0 = count;
    else
      count++;
  }
  return count;
}
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    struct stat status;
    const int file = open(argv[i], O_RDONLY);
    if (fstat(file, &status) != 0) return 2;
    if (mmap(0, (unsigned long)status.st_size, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED) return 3;
  }
  const int count = fail_at("abcdef", 'e');
  return count + 1;
}
#endif
