#include <cstdlib>
#include <vector>
static int first_negative(const std::vector<int>& values) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] < 0) return static_cast<int>(i);
  return -1;
}
static int* find(std::vector<int>& values) {
  const int at = first_negative(values);
  return at < 0 ? nullptr : &values[static_cast<size_t>(at)];
}
int main(int argc, char** argv) {
  std::vector<int> values = {3, 4, argc > 1 ? std::atoi(argv[1]) : -5};
  volatile int* found = find(values);
  *found = 1;
  return 0;
}
