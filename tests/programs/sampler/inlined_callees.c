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
