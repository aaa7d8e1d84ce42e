/* Functions of which the Sampler makes copies, on the stack of a crash: they call themselves, directly and through others,
   take arguments in memory and variable arguments, are methods, never return, and always return the same.
   "ran": in each call of the function. Values are kept after calls, so that no call becomes a jump. */
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#define OWN __attribute__((noinline))

struct Large {
  long values[12];
};

static volatile int sink;

static OWN void stop(int count, const int* numbers) {
  if (count > 3)   /* ran */
    std::puts("large"); /* ran */
  for (int i = 0; i < count; ++i) /* ran */
    if (numbers[i] == 7) /* ran */
      std::printf("seven at %d\n", i); /* not */
  std::abort(); /* ran */
}

static OWN int sum(int count, ...) {
  int numbers[4] = {0, 0, 0, 0};
  va_list all;
  va_start(all, count); /* ran */
  for (int i = 0; i < count; ++i) /* ran */
    numbers[i % 4] += va_arg(all, int); /* ran */
  va_end(all); /* ran */
  if (numbers[1] == 2) /* ran */
    stop(count, numbers); /* ran */
  return numbers[0]; /* not */
}

struct Store {
  int limit;
  OWN int put(int number) {
    if (number > limit) /* ran */
      number = sink; /* not */
    for (int i = 0; i < number; ++i) /* ran */
      if (i % 2 == 1) /* ran */
        limit += i; /* ran */
    sink = sum(number, 1, 2, 3, 4); /* ran */
    return limit; /* not */
  }
};

static OWN int odd(Store* store, int number);

static OWN int even(Store* store, int number) {
  if (number == 0) /* ran */
    sink = store->put(4);
  else
    sink = odd(store, number - 1);
  return sink + 1; /* not */
}

static int odd(Store* store, int number) {
  if (number == 0) /* ran */
    return sink; /* not */
  sink = even(store, number - 1); /* ran */
  return sink + 1; /* not */
}

static OWN int down(Store* store, int number) {
  int turns = 0;
  while (turns < number && store->limit > turns) /* ran */
    ++turns;
  if (number == 0) /* ran */
    sink = even(store, 4);
  else
    sink = down(store, number - 1);
  return sink + turns; /* not */
}

/* Small enough to be inlined, into itself, too. */
static int deep(Store* store, int number) {
  if (number == 0) /* ran */
    sink = down(store, 2);
  else
    sink = deep(store, number - 1);
  return sink + store->limit; /* not */
}

static OWN int large(Large all, Store* store) {
  if (all.values[3] == 0) /* ran */
    return 0; /* not */
  sink = deep(store, 2); /* ran */
  return sink + static_cast<int>(all.values[2]); /* not */
}

int main(int count, char**) {
  Store store{4};
  Large all{{1, 2, 3, count}};
  if (count < 9) /* ran */
    sink = large(all, &store); /* ran */
  return 0; /* not */
}
