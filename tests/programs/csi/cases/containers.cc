#include <string>
#include <vector>

namespace {

struct Item {
  std::string name;
  int size;
  [[nodiscard]] bool is_large() const { return size > 2; }
};

[[gnu::noinline]] int total(const std::vector<Item>& items, const int* limit) {
  int sum = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].is_large()) sum += items[i].size;
    if (sum > 3) sum -= *limit;
  }
  return sum;
}

}  // namespace

int main(int argc, char**) {
  const std::vector<Item> items = {{"a", argc}, {"b", 3}, {"c", 4}};
  const int* volatile nowhere = nullptr;
  return total(items, nowhere);
}
