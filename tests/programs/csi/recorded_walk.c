// Runs through loops, switches, gotos and recursion as its seed says, and records every line beside
// path tracing: the program writes (activation, line) to the file, and ends with a signal at the
// given record. Usage: recorded_walk FILE SEED RECORDS
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static int file;
static uint32_t state;
static int activations;
static long left;

struct record {
  int32_t activation;
  int32_t line;  // 0: the activation ends
};

// Not traced: tests/programs/csi/recorded_walk.schema.
__attribute__((noinline)) void record(int activation, int line) {
  const struct record made = {activation, line};
  if (write(file, &made, sizeof made) != sizeof made) _exit(9);
  if (line != 0 && --left == 0) *(volatile int*)0 = line;
}
__attribute__((noinline)) unsigned draw(unsigned below) {
  state = state * 1664525U + 1013904223U;
  return (state >> 16) % below;
}

#define LINE record(me, __LINE__)

__attribute__((noinline)) int walk(int depth);

__attribute__((noinline)) static int count_down(int from) {
  const int me = ++activations;
  LINE;
  do {
    LINE;
    if (draw(3) == 0) {
      LINE;
      continue;
    }
    LINE;
    if (draw(40) == 0) break;
  } while (--from > 0);
  LINE;
  record(me, 0);
  return from;
}

__attribute__((noinline)) static int irreducible(int depth) {
  const int me = ++activations;
  int turns = 0;
  LINE;
  if (draw(2) == 0) goto second;
first:
  LINE;
  if (++turns > 12) goto done;
second:
  LINE;
  if (draw(3) != 0) goto first;
  if (depth > 0 && draw(2) == 0) {
    LINE;
    turns += walk(depth - 1);
  }
done:
  LINE;
  record(me, 0);
  return turns;
}

int walk(int depth) {
  const int me = ++activations;
  int sum = 0;
  LINE;
  for (unsigned i = 0; i < 2 + draw(14); ++i) {
    LINE;
    switch (draw(6)) {
      case 0:
      case 1:
        LINE;
        sum += 1;
        break;
      case 2:
        LINE;
        if (depth > 0) sum += walk(depth - 1);
        break;
      case 3:
        LINE;
        sum += count_down(1 + (int)draw(8));
        LINE;
        break;
      case 4:
        LINE;
        if (sum > 4 && draw(8) == 0) {
          LINE;
          record(me, 0);
          return sum;
        }
        // fall through
      default:
        LINE;
        for (unsigned j = 0; j < draw(3); ++j) {
          LINE;
          sum ^= (int)j;
        }
    }
    LINE;
  }
  sum += irreducible(depth);
  LINE;
  record(me, 0);
  return sum;
}

int main(int argc, char** argv) {
  const int me = ++activations;
  if (argc != 4) return 2;
  file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  state = (uint32_t)atol(argv[2]);
  left = atol(argv[3]);
  LINE;
  while (1) {
    LINE;
    walk(4);
  }
}
