/* Code of several places that optimisers merge, or turn into code without a branch. Comments say what ran: "ran" or "not". */
#include <stdio.h>
#include <stdlib.h>

static volatile int input;

/* Where it is inlined the first time, the branch becomes a selection; the second time, the number is known. */
static inline int positive(int number, int factor) {
  if (number < 0) /* ran */
    number = 0;   /* ran */
  return number * factor + 1;
}

/* All ways to its end lower the level; the optimiser keeps one place that does. Each variable makes ways longer. */
struct parser {
  int level, mark, tokens, failed;
};
__attribute__((noinline)) static int token(struct parser* parser, int kind) {
  if (parser->mark >= parser->tokens) return 0;
  parser->mark += kind > 0;
  return kind + 1;
}
__attribute__((noinline)) static void give_up(struct parser* parser) { parser->failed = 1; /* not */ }
static int rule(struct parser* parser);
static int alternatives(struct parser* parser) {
  if (parser->level++ == 6000) give_up(parser);
  if (parser->failed) {
    parser->level--; /* not */
    return 0;        /* not */
  }
  int result = 0;
  const int mark = parser->mark;
  {
    if (parser->failed) {
      parser->level--; /* not */
      return 0;        /* not */
    }
    int inner;
    int comma;
    int end;
    if ((inner = rule(parser)) && (comma = token(parser, 1)) && (end = token(parser, 2))) { /* ran */
      int line = token(parser, 3);
      if (line == 0) {
        parser->level--; /* not */
        return 0;        /* not */
      }
      int column = token(parser, 4);
      int width = token(parser, 5);
      result = inner + comma + end + line + column + width; /* ran */
      if (result == 0 && input) {                           /* ran */
        parser->failed = 1;                                 /* not */
        parser->level--;                                    /* not */
        return 0;                                           /* not */
      }
      goto done;
    }
    parser->mark = mark; /* ran */
  }
  {
    if (parser->failed) {
      parser->level--; /* not */
      return 0;        /* not */
    }
    int atom;
    if ((atom = token(parser, 6))) { /* ran */
      result = atom;                 /* ran */
      goto done;
    }
    parser->mark = mark;
  }
  result = 0;
done:
  parser->level--; /* ran */
  return result;   /* ran */
}
static int known;
static int found;
__attribute__((noinline)) static int is_known(struct parser* parser, int* result) {
  if (!known) return 0; /* ran */
  *result = found;
  parser->mark += found != 0;
  return 1; /* ran */
}
__attribute__((noinline)) static int rule(struct parser* parser) {
  if (parser->level++ == 6000) give_up(parser);
  int result = 0;
  if (is_known(parser, &result)) { /* ran */
    parser->level--;               /* ran */
    return result;                 /* ran */
  }
  const int mark = parser->mark;
  int reached = parser->mark;
  while (1) {
    known = 1;
    found = result;
    parser->mark = mark;
    const int once = alternatives(parser); /* ran */
    if (parser->failed) {
      parser->level--; /* not */
      return 0;        /* not */
    }
    if (once == 0 || parser->mark <= reached) break; /* ran */
    reached = parser->mark;                          /* ran */
    result = once;                                   /* ran */
  }
  parser->mark = reached; /* ran */
  parser->level--;        /* ran */
  return result;          /* ran */
}

int main(int argc, char** argv) {
  (void)argv;
  struct parser parser = {0, 0, 20, 0};
  printf("%d\n", rule(&parser));             /* ran */
  printf("%d\n", positive(-argc, argc + 2)); /* ran */
  if (argc > 7) {
    printf("%d\n", positive(-3, argc)); /* not */
  }
  abort(); /* ran */
}
