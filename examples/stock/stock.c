/* The stock of a shop, kept in memory: a program with two bugs for `telltale run --study` and
 * `telltale isolate`. `stock RUN` plays one day of the shop: the number chooses the commands of the
 * day, which are written as text, read back, and carried out. `stock RUN COMMANDS` plays a longer or
 * a shorter day.
 *
 * Some days end with a crash. docs/analysis/isolation.md shows how the reports of many days lead to
 * the two causes. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  kItems = 64,
  kNameBytes = 16,
  kLineBytes = 96,
  kHistory = 32,
  kFirstTags = 4,
  kPoolBytes = 1 << 16,
  kCommands = 300,
};

/* ---------------------------------------------------------------- chance */

static unsigned long long chance_state;

static unsigned next_chance(void) {
  chance_state = chance_state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(chance_state >> 33);
}

static int chance_below(int limit) { return (int)(next_chance() % (unsigned)limit); }

static int chance_of(int percent) { return chance_below(100) < percent; }

/* ---------------------------------------------------------------- memory */

/* Memory is handed out from one block and given back at the end of the day. */
static char pool[kPoolBytes];
static size_t pool_used;

static void *take(size_t bytes) {
  size_t rounded = (bytes + 7) / 8 * 8;
  if (pool_used + rounded > kPoolBytes) {
    fprintf(stderr, "stock: the pool is used up\n");
    exit(0);
  }
  void *taken = pool + pool_used;
  pool_used += rounded;
  memset(taken, 0, rounded);
  return taken;
}

static char *copy_text(const char *text) {
  char *copy = take(strlen(text) + 1);
  strcpy(copy, text);
  return copy;
}

/* ---------------------------------------------------------------- items */

struct note {
  char *text;
  struct note *next;
};

struct item {
  char name[kNameBytes];
  int quantity;
  int reserved; /* of the quantity, for orders */
  int price;    /* in cents */
  long *tags;
  int tag_count;
  int tag_room;
  struct note *notes;
};

static struct item *items[kItems];
static int item_count;

static struct item *find_item(const char *name) {
  for (int i = 0; i < item_count; ++i) {
    if (strcmp(items[i]->name, name) == 0) return items[i];
  }
  return NULL;
}

static struct item *make_item(const char *name) {
  if (item_count == kItems) return NULL;
  struct item *item = take(sizeof *item);
  snprintf(item->name, sizeof item->name, "%s", name);
  items[item_count++] = item;
  return item;
}

static int drop_item(const char *name) {
  for (int i = 0; i < item_count; ++i) {
    if (strcmp(items[i]->name, name) != 0) continue;
    items[i] = items[item_count - 1];
    --item_count;
    return 1;
  }
  return 0;
}

/* ---------------------------------------------------------------- tags */

static int has_tag(const struct item *item, long tag) {
  for (int i = 0; i < item->tag_count; ++i) {
    if (item->tags[i] == tag) return 1;
  }
  return 0;
}

static void grow_tags(struct item *item, int room) {
  long *grown = take((size_t)room * sizeof *grown);
  for (int i = 0; i < item->tag_count; ++i) grown[i] = item->tags[i];
  item->tags = grown;
  item->tag_room = room;
}

static void add_tag(struct item *item, long tag) {
  if (has_tag(item, tag)) return;
  if (item->tag_count == item->tag_room)
    grow_tags(item, item->tag_room == 0 ? kFirstTags : item->tag_room * 2);
  item->tags[item->tag_count] = tag;
  item->tag_count++;
}

static int remove_tag(struct item *item, long tag) {
  for (int i = 0; i < item->tag_count; ++i) {
    if (item->tags[i] != tag) continue;
    item->tags[i] = item->tags[item->tag_count - 1];
    item->tag_count--;
    return 1;
  }
  return 0;
}

static int room_left(const struct item *item) { return item->tag_room - item->tag_count; }

/* The first bug: there must be room for the tags of both items. Tags that do not fit are written
 * over what was taken from the pool next. If that was a note, its text is lost, and the day ends
 * when somebody reads it; often nobody does. */
static void merge_tags(struct item *into, const struct item *from) {
  int used = into->tag_count;
  int room = into->tag_room;
  if (from->tag_count > room) {
    grow_tags(into, from->tag_count);
    room = into->tag_room;
  }
  for (int i = 0; i < from->tag_count; ++i) {
    if (has_tag(into, from->tags[i])) continue;
    into->tags[used] = from->tags[i];
    used = used + 1;
    into->tag_count = used;
  }
}

/* ---------------------------------------------------------------- notes */

static void add_note(struct item *item, const char *text) {
  struct note *note = take(sizeof *note);
  note->text = copy_text(text);
  note->next = item->notes;
  item->notes = note;
}

static int count_words(const char *text) {
  int words = 0;
  int inside = 0;
  for (; *text != '\0'; ++text) {
    if (isspace((unsigned char)*text)) {
      inside = 0;
    } else if (!inside) {
      inside = 1;
      ++words;
    }
  }
  return words;
}

static int words_of_notes(const struct item *item) {
  int words = 0;
  for (const struct note *note = item->notes; note != NULL; note = note->next)
    words += count_words(note->text);
  return words;
}

/* ---------------------------------------------------------------- history */

struct change {
  char name[kNameBytes];
  int quantity; /* before the change */
  int price;
};

static struct change history[kHistory];
static int history_count;
static int history_start;

static void remember(const struct item *item) {
  struct change *change = &history[(history_start + history_count) % kHistory];
  if (history_count == kHistory) {
    history_start = (history_start + 1) % kHistory;
  } else {
    ++history_count;
  }
  memcpy(change->name, item->name, sizeof change->name);
  change->quantity = item->quantity;
  change->price = item->price;
}

static struct change *last_change(void) {
  if (history_count == 0) return NULL;
  return &history[(history_start + history_count - 1) % kHistory];
}

static void forget_changes(void) {
  history_count = 0;
  history_start = 0;
}

static int undo(void) {
  struct change *change = last_change();
  if (change == NULL) return 0;
  struct item *item = find_item(change->name);
  --history_count;
  if (item == NULL) return 0;
  item->quantity = change->quantity;
  item->price = change->price;
  return 1;
}

/* ---------------------------------------------------------------- prices */

/* Prices are written as sums of products: "3*120+45". */
static const char *reading;

static int read_sum(void);

static int read_number(void) {
  int number = 0;
  if (*reading == '(') {
    ++reading;
    number = read_sum();
    if (*reading == ')') ++reading;
    return number;
  }
  while (isdigit((unsigned char)*reading)) {
    number = number * 10 + (*reading - '0');
    ++reading;
  }
  return number;
}

static int read_product(void) {
  int product = read_number();
  while (*reading == '*' || *reading == '/') {
    char operation = *reading++;
    int next = read_number();
    if (operation == '*') {
      product = (int)((long long)product * next % 1000000);
    } else if (next != 0) {
      product = product / next;
    }
  }
  return product;
}

static int read_sum(void) {
  int sum = read_product();
  while (*reading == '+' || *reading == '-') {
    char operation = *reading++;
    int next = read_product();
    sum = operation == '+' ? sum + next : sum - next;
  }
  return sum;
}

static int price_of(const char *text) {
  reading = text;
  int price = read_sum();
  return price < 0 ? 0 : price;
}

/* ---------------------------------------------------------------- shelves */

static const char *const kShelves[] = {"counter", "window", "store room", "cellar", "barn"};
enum { kShelfCount = sizeof kShelves / sizeof kShelves[0], kShelfItems = 60 };

static int free_quantity(const struct item *item) { return item->quantity - item->reserved; }

static const char *shelf_of(int quantity) {
  if (quantity < 0) return NULL;
  int shelf = quantity / kShelfItems;
  return kShelves[shelf < kShelfCount ? shelf : kShelfCount - 1];
}

/* What is free, and how much room is left for tags: kept up to date after each command. */
struct audit {
  long long free;
  int room;
};

static struct audit audit(void) {
  struct audit sums = {0, 0};
  for (int i = 0; i < item_count; ++i) {
    sums.free += free_quantity(items[i]);
    sums.room += room_left(items[i]);
  }
  return sums;
}

/* ---------------------------------------------------------------- reports */

static int order_by_value(const void *a, const void *b) {
  const struct item *left = *(const struct item *const *)a;
  const struct item *right = *(const struct item *const *)b;
  long long left_value = (long long)left->quantity * left->price;
  long long right_value = (long long)right->quantity * right->price;
  if (left_value != right_value) return left_value < right_value ? 1 : -1;
  return strcmp(left->name, right->name);
}

static long long report_values(void) {
  long long total = 0;
  struct item *sorted[kItems];
  memcpy(sorted, items, sizeof(struct item *) * (size_t)item_count);
  qsort(sorted, (size_t)item_count, sizeof sorted[0], order_by_value);
  for (int i = 0; i < item_count; ++i) {
    long long value = (long long)sorted[i]->quantity * sorted[i]->price;
    total += value;
    const char *shelf = shelf_of(free_quantity(sorted[i]));
    printf("%-16s %5d %8lld %4d %*s\n", sorted[i]->name, sorted[i]->quantity, value,
           words_of_notes(sorted[i]), (int)strlen(shelf) + 1, shelf);
  }
  return total;
}

static int report_notes(const char *name) {
  struct item *item = find_item(name);
  if (item == NULL) return 0;
  int words = words_of_notes(item);
  printf("%s: %d words of notes\n", item->name, words);
  return words;
}

static int report_tag(long tag) {
  int found = 0;
  for (int i = 0; i < item_count; ++i) {
    if (has_tag(items[i], tag)) ++found;
  }
  printf("tag %ld: %d items\n", tag, found);
  return found;
}

static unsigned checksum(void) {
  unsigned sum = 2166136261U;
  for (int i = 0; i < item_count; ++i) {
    for (const char *at = items[i]->name; *at != '\0'; ++at)
      sum = (sum ^ (unsigned char)*at) * 16777619U;
    sum = (sum ^ (unsigned)items[i]->quantity) * 16777619U;
    sum = (sum ^ (unsigned)items[i]->price) * 16777619U;
  }
  return sum;
}

/* ---------------------------------------------------------------- commands */

struct command {
  char verb[kNameBytes];
  char name[kNameBytes];
  char rest[kLineBytes];
};

static int parse(const char *line, struct command *command) {
  memset(command, 0, sizeof *command);
  int fields = sscanf(line, "%15s %15s %95[^\n]", command->verb, command->name, command->rest);
  return fields >= 1;
}

static int do_add(const struct command *command) {
  struct item *item = find_item(command->name);
  if (item == NULL) item = make_item(command->name);
  if (item == NULL) return 0;
  remember(item);
  item->quantity += atoi(command->rest);
  return 1;
}

static int do_sell(const struct command *command) {
  struct item *item = find_item(command->name);
  if (item == NULL) return 0;
  int wanted = atoi(command->rest);
  if (wanted > item->quantity) wanted = item->quantity;
  remember(item);
  item->quantity -= wanted;
  return wanted;
}

/* The second bug: what is reserved must not be sold. The shelf of a negative quantity is unknown,
 * which ends the day when the values are reported. */
static int do_reserve(const struct command *command) {
  struct item *item = find_item(command->name);
  if (item == NULL) return 0;
  int wanted = atoi(command->rest);
  if (wanted > free_quantity(item)) wanted = free_quantity(item);
  if (wanted <= 0) return 0;
  item->reserved += wanted;
  return wanted;
}

static int do_price(const struct command *command) {
  struct item *item = find_item(command->name);
  if (item == NULL) return 0;
  remember(item);
  item->price = price_of(command->rest);
  return item->price;
}

static int do_tag(const struct command *command) {
  struct item *item = find_item(command->name);
  if (item == NULL) return 0;
  long tag = atol(command->rest);
  if (tag < 0) return remove_tag(item, -tag);
  add_tag(item, tag);
  return 1;
}

static int do_note(const struct command *command) {
  struct item *item = find_item(command->name);
  if (item == NULL) return 0;
  add_note(item, command->rest);
  return 1;
}

static int do_merge(const struct command *command) {
  struct item *into = find_item(command->name);
  struct item *from = find_item(command->rest);
  if (into == NULL || from == NULL || into == from) return 0;
  merge_tags(into, from);
  into->quantity += from->quantity;
  into->reserved += from->reserved;
  return drop_item(from->name);
}

static int do_close(void) {
  printf("total %lld, checksum %08x\n", report_values(), checksum());
  forget_changes();
  return 1;
}

static int carry_out(const struct command *command) {
  const char *verb = command->verb;
  if (strcmp(verb, "add") == 0) return do_add(command);
  if (strcmp(verb, "sell") == 0) return do_sell(command);
  if (strcmp(verb, "reserve") == 0) return do_reserve(command);
  if (strcmp(verb, "price") == 0) return do_price(command);
  if (strcmp(verb, "tag") == 0) return do_tag(command);
  if (strcmp(verb, "note") == 0) return do_note(command);
  if (strcmp(verb, "merge") == 0) return do_merge(command);
  if (strcmp(verb, "drop") == 0) return drop_item(command->name);
  if (strcmp(verb, "undo") == 0) return undo();
  if (strcmp(verb, "notes") == 0) return report_notes(command->name);
  if (strcmp(verb, "tagged") == 0) return report_tag(atol(command->name));
  if (strcmp(verb, "close") == 0) return do_close();
  return 0;
}

/* ---------------------------------------------------------------- the day */

static const char *const kNames[] = {"apple", "bread", "chalk", "dates", "eggs",
                                     "flour", "grape", "honey", "ink",   "jam"};
enum { kNameCount = sizeof kNames / sizeof kNames[0] };

static const char *some_name(void) { return kNames[chance_below(kNameCount)]; }

static void write_command(char *line) {
  int kind = chance_below(1000);
  if (kind < 300) {
    snprintf(line, kLineBytes, "add %s %d", some_name(), 1 + chance_below(40));
  } else if (kind < 500) {
    snprintf(line, kLineBytes, "sell %s %d", some_name(), 1 + chance_below(30));
  } else if (kind < 504) {
    snprintf(line, kLineBytes, "reserve %s %d", some_name(), 40 + chance_below(60));
  } else if (kind < 560) {
    snprintf(line, kLineBytes, "price %s %d*%d+%d/%d", some_name(), chance_below(50),
             chance_below(20), chance_below(900), chance_below(9));
  } else if (kind < 700) {
    snprintf(line, kLineBytes, "tag %s %d", some_name(),
             chance_of(30) ? -1 - chance_below(40) : 1 + chance_below(40));
  } else if (kind < 800) {
    snprintf(line, kLineBytes, "note %s fresh from the %s of %d", some_name(), some_name(),
             chance_below(100));
  } else if (kind < 804) {
    snprintf(line, kLineBytes, "merge %s %s", some_name(), some_name());
  } else if (kind < 807) {
    snprintf(line, kLineBytes, "drop %s", some_name());
  } else if (kind < 850) {
    snprintf(line, kLineBytes, "undo");
  } else if (kind < 900) {
    snprintf(line, kLineBytes, "notes %s", some_name());
  } else if (kind < 998) {
    snprintf(line, kLineBytes, "tagged %d", 1 + chance_below(40));
  } else {
    snprintf(line, kLineBytes, "close");
  }
}

static int play(int commands) {
  int done = 0;
  long long busiest = 0;
  for (int i = 0; i < commands; ++i) {
    char line[kLineBytes];
    struct command command;
    write_command(line);
    if (!parse(line, &command)) continue;
    if (carry_out(&command) != 0) ++done;
    struct audit sums = audit();
    if (sums.free + sums.room > busiest) busiest = sums.free + sums.room;
  }
  printf("at most %lld free\n", busiest);
  return done;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: stock RUN [COMMANDS]\n");
    return 2;
  }
  chance_state = strtoull(argv[1], NULL, 10) * 0x9E3779B97F4A7C15ULL;
  for (int i = 0; i < 8; ++i) next_chance();
  int commands = argc > 2 ? atoi(argv[2]) : kCommands;
  for (int i = 0; i < 6; ++i) {
    struct item *item = make_item(kNames[chance_below(kNameCount)]);
    if (item != NULL) item->quantity = chance_below(50);
  }
  printf("%d commands done\n", play(commands));
  do_close();
  return 0;
}
