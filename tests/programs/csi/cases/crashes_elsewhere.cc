// Crashes in the way that the first argument names, several calls below main: for programs of other machines, too.
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace {

int classify(int n) {
  int kind = 0;
  for (int i = 0; i < n; ++i) {
    if (i % 4 == 1) {
      kind += 2;
    } else if (i % 7 == 3) {
      kind ^= 5;
    }
  }
  return kind;
}

int (*volatile nothing)(int);

int call_nothing(int n) {
  if (n > 3) return call_nothing(n - 1) + 1;
  return nothing(n) + classify(n);
}

int throw_at(int n) {
  if (n == 0) throw std::runtime_error("deep");
  return throw_at(n - 1) + n;
}

int fault_when_caught(int n) {
  try {
    return throw_at(n);
  } catch (const std::exception& error) {
    int length = 0;
    for (const char* at = error.what(); *at != 0; ++at) ++length;
    if (length == 4) *static_cast<volatile int*>(nullptr) = length;
    return length;
  }
}

int comparisons_left = 20;

int compare(const void* one, const void* other) {
  const int a = *static_cast<const int*>(one);
  const int b = *static_cast<const int*>(other);
  if (--comparisons_left == 0) std::abort();
  return a < b ? -1 : static_cast<int>(a > b);
}

int abort_in_callback(int n) {
  int numbers[16];
  for (int i = 0; i < 16; ++i) numbers[i] = i * n % 17;
  std::qsort(numbers, 16, sizeof numbers[0], compare);
  return numbers[3];
}

int use_large_frame(int n) {
  char buffer[20000];
  std::memset(buffer, n, sizeof buffer);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += buffer[i * 11];
  if (sum > 10) *static_cast<volatile int*>(nullptr) = sum;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  switch (argc > 1 ? argv[1][0] : 'n') {
    case 'n':
      return call_nothing(6);
    case 'c':
      return fault_when_caught(4);
    case 'q':
      return abort_in_callback(5);
    case 'l':
      return use_large_frame(7);
    default:
      return throw_at(3);
  }
}
