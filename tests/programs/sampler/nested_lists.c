/* A recursive-descent reader of nested lists with names, as readers of JSON are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct reader { const char *at, *end; long values, lists, names, deepest, problems; };
static int value(struct reader *in, int depth, long *size);
static void blanks(struct reader *in) { while (in->at < in->end && (*in->at == ' ' || *in->at == '\n')) in->at++; }
static int name(struct reader *in, char *buffer, size_t room) {
  size_t used = 0; int problems = 0; char c;
  blanks(in);
  while (in->at < in->end && (c = *in->at) >= 'a' && c <= 'z') { if (used + 1 < room) buffer[used++] = c; else problems++; in->at++; }
  buffer[used] = 0;
  in->names += used > 0; in->problems += problems;
  return (int)used;
}
static int entry(struct reader *in, int depth, long *size) {
  char text[64]; long inner = 0; int length, result; char following;
  length = name(in, text, sizeof text);
  blanks(in);
  following = in->at < in->end ? *in->at : 0;
  if (length && following == '=') { in->at++; } else if (length) { in->problems++; }
  result = value(in, depth, &inner);
  *size += inner + length;
  if (result && strcmp(text, "end") == 0) return 0;
  return result;
}
static int list(struct reader *in, int depth, long *size) {
  long count = 0, total = 0, before = in->values; int more = 1, result = 1; char following;
  in->lists++;
  if (depth > in->deepest) in->deepest = depth;
  while (more) {
    long inner = 0;
    result = entry(in, depth + 1, &inner);
    total += inner; count++;
    blanks(in);
    following = in->at < in->end ? *in->at : 0;
    more = following == ','; if (more) in->at++;
    if (!result) more = 0;
  }
  following = in->at < in->end ? *in->at : 0;
  if (following == ']') in->at++; else in->problems++;
  if (in->values - before > 1000000) in->problems++;
  *size += total + count;
  return result;
}
static int value(struct reader *in, int depth, long *size) {
  char digits[32]; size_t used = 0; int sign = 1, result = 1; long number = 0; char c;
  blanks(in);
  c = in->at < in->end ? *in->at : 0;
  if (c == '[') { in->at++; return list(in, depth, size); }
  if (c == '-') { sign = -1; in->at++; }
  while (in->at < in->end && (c = *in->at) >= '0' && c <= '9') { if (used + 1 < sizeof digits) digits[used++] = c; in->at++; }
  digits[used] = 0;
  number = sign * atol(digits);
  if (!used) { in->problems++; result = 0; }
  in->values++; *size += number;
  return result;
}
int main(int argc, char **argv) {
  long levels = argc > 1 ? atol(argv[1]) : 1000, i, size = 0;
  char *text = malloc(16 * (size_t)levels + 16), *end = text;
  struct reader in;
  for (i = 0; i < levels; i++) { memcpy(end, "[a=1,b=", 7); end += 7; }
  *end++ = '7';
  for (i = 0; i < levels; i++) *end++ = ']';
  memset(&in, 0, sizeof in);
  in.at = text; in.end = end;
  value(&in, 0, &size);
  printf("%ld %ld %ld %ld %ld %ld\n", in.values, in.lists, in.names, in.deepest, in.problems, size);
  free(text);
  return 0;
}
