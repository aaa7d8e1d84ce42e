// Crashes before main(), in functions whose symbols have dots that are not those of a copy.
int sink;

extern "C" int walk(int count) __asm__("walk.v.first_half");

extern "C" __attribute__((noinline)) int walk(int count) {
  for (int i = 0; i < count; ++i) {
    if (i & 1)
      sink += 2;
    else
      sink += 5;
  }
  *(volatile int*)nullptr = sink;
  return sink;
}

int value = walk(4);

int main() { return value; }
