// LLVM inlines push(), although it has grow() inlined: with checks for first executions in both, it
// would be above its limit.
#include <stdlib.h>

struct entry {
  const char* place;
  int owner;
  int distance;
};
struct owner {
  long pad[3];
};

struct entry *base, *limit;
struct owner* owners;
long grown[5];

struct entry* grow(void) {
  const long used = limit - base;
  base = realloc(base, (size_t)(used * 2) * sizeof(*base));
  if (base == NULL) abort();
  limit = base + used * 2;
  grown[0] += used;
  grown[1] += used;
  grown[2] += used;
  grown[3] += used;
  grown[4] += used;
  return base + used;
}

static struct entry* push(struct entry* at, const struct owner* owner, const char* place) {
  at->place = place;
  at->owner = (int)(owner - owners);
  if (++at == limit) at = grow();
  at->distance = 1;
  return at;
}

long fill(const struct owner* owner, const char* text) {
  struct entry* at = base;
  for (; *text != 0; ++text) {
    if (*text == ' ') at = push(at, owner, text);
    if (*text == '.') at = push(at, owner + 1, text + 1);
  }
  return at - base;
}

// A stack that grows downwards. LLVM inlines take(), whose helpers cost less than their calls.
struct value {
  unsigned long kind;
  long* counted;
};
struct stack {
  char* end;
  int top, limit;
};

void fail(const char* what, int top);

static int rounded(int size) { return (size + 15) & ~15; }
static void* place_of(const struct stack* stack, int top) { return stack->end + top; }
static int* below(const struct stack* stack, int top) { return (int*)place_of(stack, top) - 1; }
static int is_last(const struct stack* stack, int top) { return stack->limit == top; }
static unsigned kind_of(struct value value) { return value.counted != 0 ? value.kind & 15 : 1; }

// Saves no register for its caller: the functions that checks in the code inlined here call save
// those that they use.
struct value shared(struct value value) {
  if (value.kind >> 4 == 7 && kind_of(value) == 3) ++*value.counted;
  return value;
}

static int without_last(struct stack* stack, int top, int size) {
  const int left = *below(stack, top);
  if (is_last(stack, top)) stack->limit += rounded(size) + 16;
  return left;
}

static struct value take(struct stack* stack) {
  struct value value = *(struct value*)place_of(stack, stack->top);
  if (!is_last(stack, stack->top)) value = shared(value);
  stack->top = without_last(stack, stack->top, sizeof(value));
  if (kind_of(value) == 0) fail("empty", stack->top);
  return value;
}

long sum_of_four(struct stack* stack) {
  long sum = (long)take(stack).kind;
  sum += (long)take(stack).kind;
  sum += (long)take(stack).kind;
  return sum + (long)take(stack).kind;
}
