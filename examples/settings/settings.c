/* Reads settings such as "ports=80,443;limits=7": names, and a list of numbers for each. "!" drops
 * the numbers before it. With a bug; the tour finds it in what ran before the crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
  int count;
  int *values;
};

static void add(struct list *list, int value) {
  if (list->count % 4 == 0)
    list->values = realloc(list->values, (list->count + 4) * sizeof(int));
  list->values[list->count++] = value;
}

static const char *read_list(const char *text, struct list *list) {
  int value = 0;
  for (; *text != 0 && *text != ';'; ++text) {
    if (*text == ',') {
      add(list, value);
      value = 0;
    } else if (*text == '!') {
      free(list->values);
      list->values = NULL;
    } else {
      value = value * 10 + (*text - '0');
    }
  }
  add(list, value);
  return text;
}

static int read_settings(const char *text) {
  int values = 0;
  while ((text = strchr(text, '=')) != NULL) {
    struct list list = {0, NULL};
    text = read_list(text + 1, &list);
    values += list.count;
    free(list.values);
  }
  return values;
}

int main(int argc, char **argv) {
  if (argc < 2) return 1;
  printf("%d numbers\n", read_settings(argv[1]));
  return 0;
}
