#include <concepts>
#include <map>
#include <string>
#include <vector>
template <std::integral T> [[gnu::noinline]] T twice(T n) { asm volatile("" : "+r"(n)); return n * 2; }
[[gnu::noinline]] size_t load(const std::string& key, std::map<std::string, std::vector<std::string>>& all) { asm volatile(""); return all[key].size(); }
int main() { std::map<std::string, std::vector<std::string>> all; return static_cast<int>(load("a", all)) + twice(0); }
