// A C++ program of ordinary code: containers, regular expressions and streams of the standard
// library, so that most of its functions are templates with long names, and its debug information
// is large. Prints one number. Built with -fxray-instrument by xray_account_bench.cc.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace shop {

struct Item {
  std::string name;
  double price = 0;
  std::vector<std::string> tags;
};
using Value = std::variant<int, double, std::string, std::vector<Item>>;

class Stock {
 public:
  void add(Item item) {
    for (const std::string& tag : item.tags) by_tag_[tag].insert(item.name);
    const std::string name = item.name;
    items_[name] = std::make_shared<Item>(std::move(item));
  }
  [[nodiscard]] double worth(const std::string& tag) const {
    const auto found = by_tag_.find(tag);
    if (found == by_tag_.end()) return 0;
    return std::accumulate(
        found->second.begin(), found->second.end(), 0.0,
        [&](double sum, const std::string& name) { return sum + items_.at(name)->price; });
  }
  [[nodiscard]] std::vector<Item> sorted() const {
    std::vector<Item> all;
    for (const auto& [name, item] : items_) all.push_back(*item);
    std::ranges::sort(all, [](const Item& a, const Item& b) {
      return a.price != b.price ? a.price < b.price : a.name < b.name;
    });
    return all;
  }

 private:
  std::unordered_map<std::string, std::shared_ptr<Item>> items_;
  std::map<std::string, std::set<std::string>> by_tag_;
};

double size_of(const Value& value) {
  return std::visit(
      [](const auto& held) -> double {
        if constexpr (requires { held.size(); }) {
          return static_cast<double>(held.size());
        } else {
          return static_cast<double>(held);
        }
      },
      value);
}

Item parse(const std::string& line) {
  static const std::regex shape("(\\w+)=([0-9.]+)((?: #\\w+)*)");
  std::smatch parts;
  Item item;
  if (!std::regex_match(line, parts, shape)) return item;
  item.name = parts[1];
  item.price = std::stod(parts[2]);
  std::istringstream tags(parts[3]);
  for (std::string tag; tags >> tag;) item.tags.push_back(tag.substr(1));
  return item;
}

}  // namespace shop

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  shop::Stock stock;
  for (int i = 0; i < count; ++i) {
    std::ostringstream line;
    line << "item" << i << '=' << i * 7919 % 1009 << ".5 #t" << i % 13 << " #u" << i % 7;
    stock.add(shop::parse(line.str()));
  }
  const std::vector<shop::Item> all = stock.sorted();
  const std::vector<shop::Value> values = {count, 0.5, all.front().name, all};
  const std::function<double(double, const shop::Value&)> add =
      [](double sum, const shop::Value& value) { return sum + shop::size_of(value); };
  std::cout << std::accumulate(values.begin(), values.end(), stock.worth("t3"), add) << '\n'
            << std::filesystem::path("a/b/../c").lexically_normal().string() << '\n';
}
