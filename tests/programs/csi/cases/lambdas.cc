// Symbols of lambdas, and of functions of their types, contain '$'.
#include <csignal>

int sink;
template <class Call>
__attribute__((noinline)) static void twice(Call call) {
  for (int i = 0; i < 2; i++) call(i);
}
int main(int argc, char **) {
  const auto runs = [](int i) {
    if (i > 0) sink += 1;
  };
  const auto never = [](int i) {
    if (i > 0) sink -= 1;
  };
  twice(runs);
  if (argc > 5) twice(never);
  if (sink > 0) raise(SIGILL);
  return 0;
}
