struct Allocator {
  int (*round_up)(int);
};
struct Pair {
  int first, second;
};

extern const struct Allocator standard_allocator;
extern struct Pair box;
extern int shared;
