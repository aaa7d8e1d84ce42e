/* The functions of formulas. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

enum { MAX_ITEMS = MAX_ROWS * MAX_COLUMNS };

/* The numbers of all arguments; areas contribute their numbers, and nothing else. */
struct numbers {
  double* items;
  int count;
  int cells; /* with what is no number */
  enum error error;
};

static void add_item(struct numbers* numbers, double item) {
  if (numbers->count < MAX_ITEMS) numbers->items[numbers->count++] = item;
}

static void add_area(struct sheet* sheet, const struct area* area, int depth,
                     struct numbers* numbers) {
  for (int row = area->top; row <= area->bottom; ++row) {
    for (int column = area->left; column <= area->right; ++column) {
      struct value value = cell_value(sheet, row, column, depth);
      if (value.kind != EMPTY) ++numbers->cells;
      if (value.kind == NUMBER) add_item(numbers, value.number);
      if (value.kind == ERROR && numbers->error == NO_ERROR) numbers->error = value.error;
    }
  }
}

/* The area of an argument; false if it is a single value. */
static bool area_argument(struct sheet* sheet, const struct node* argument, struct area* area) {
  if (argument->kind == N_AREA) {
    *area = area_of(argument->first, argument->last);
    return true;
  }
  if (argument->kind == N_NAME) {
    struct name* name = find_name(sheet, argument->text);
    if (name == NULL) return false; /* evaluation says that it is unknown */
    *area = name->area;
    return true;
  }
  return false;
}

static void collect(struct sheet* sheet, const struct node* call, int depth,
                    struct numbers* numbers) {
  for (const struct node* argument = call->left; argument != NULL; argument = argument->next) {
    struct area area;
    if (area_argument(sheet, argument, &area)) {
      add_area(sheet, &area, depth, numbers);
      continue;
    }
    struct value value = evaluate(sheet, argument, depth);
    double number = 0;
    if (value.kind == ERROR) {
      if (numbers->error == NO_ERROR) numbers->error = value.error;
    } else if (to_number(&value, &number)) {
      add_item(numbers, number);
      ++numbers->cells;
    } else if (numbers->error == NO_ERROR) {
      numbers->error = BAD_VALUE;
    }
  }
}

static struct value sum_of(const struct numbers* numbers) {
  double sum = 0;
  for (int i = 0; i < numbers->count; ++i) sum += numbers->items[i];
  return make_number(sum);
}

static struct value product_of(const struct numbers* numbers) {
  double product = 1;
  for (int i = 0; i < numbers->count; ++i) product *= numbers->items[i];
  return make_number(product);
}

static struct value average_of(const struct numbers* numbers) {
  if (numbers->count == 0) return make_error(DIVISION);
  double sum = 0;
  for (int i = 0; i < numbers->count; ++i) sum += numbers->items[i];
  return make_number(sum / numbers->count);
}

static struct value smallest_of(const struct numbers* numbers) {
  double smallest = numbers->count == 0 ? 0 : numbers->items[0];
  for (int i = 1; i < numbers->count; ++i) {
    if (numbers->items[i] < smallest) smallest = numbers->items[i];
  }
  return make_number(smallest);
}

static struct value largest_of(const struct numbers* numbers) {
  double largest = numbers->count == 0 ? 0 : numbers->items[0];
  for (int i = 1; i < numbers->count; ++i) {
    if (numbers->items[i] > largest) largest = numbers->items[i];
  }
  return make_number(largest);
}

static struct value count_of(const struct numbers* numbers) { return make_number(numbers->count); }

static struct value cells_of(const struct numbers* numbers) { return make_number(numbers->cells); }

static int compare_doubles(const void* a, const void* b) {
  double left = *(const double*)a;
  double right = *(const double*)b;
  return (left > right) - (left < right);
}

static struct value median_of(const struct numbers* numbers) {
  if (numbers->count == 0) return make_error(BAD_VALUE);
  qsort(numbers->items, (size_t)numbers->count, sizeof(double), compare_doubles);
  int middle = numbers->count / 2;
  if (numbers->count % 2 == 1) return make_number(numbers->items[middle]);
  return make_number((numbers->items[middle - 1] + numbers->items[middle]) / 2);
}

static struct value deviation_of(const struct numbers* numbers) {
  if (numbers->count < 2) return make_error(DIVISION);
  double mean = 0;
  for (int i = 0; i < numbers->count; ++i) mean += numbers->items[i] / numbers->count;
  double squares = 0;
  for (int i = 0; i < numbers->count; ++i) {
    double distance = numbers->items[i] - mean;
    squares += distance * distance;
  }
  return make_number(sqrt(squares / (numbers->count - 1)));
}

/* The sum of payments that are due at the end of each period; the first number is the rate. */
static struct value present_value_of(const struct numbers* numbers) {
  if (numbers->count < 2 || numbers->items[0] <= -1) return make_error(BAD_VALUE);
  double factor = 1;
  double sum = 0;
  for (int i = 1; i < numbers->count; ++i) {
    factor *= 1 + numbers->items[0];
    sum += numbers->items[i] / factor;
  }
  return make_number(sum);
}

struct aggregate {
  const char* name;
  struct value (*compute)(const struct numbers* numbers);
};

static const struct aggregate kAggregates[] = {
    {"SUM", sum_of},           {"AVG", average_of},     {"MIN", smallest_of},
    {"MAX", largest_of},       {"COUNT", count_of},     {"CELLS", cells_of},
    {"MEDIAN", median_of},     {"STDEV", deviation_of}, {"PRODUCT", product_of},
    {"NPV", present_value_of},
};

static struct value aggregate_value(struct sheet* sheet, const struct node* call, int depth,
                                    const struct aggregate* aggregate) {
  double* items = malloc(MAX_ITEMS * sizeof *items);
  if (items == NULL) return make_error(BAD_VALUE);
  struct numbers numbers = {items, 0, 0, NO_ERROR};
  collect(sheet, call, depth, &numbers);
  struct value value =
      numbers.error == NO_ERROR ? aggregate->compute(&numbers) : make_error(numbers.error);
  free(items);
  return value;
}

static int count_arguments(const struct node* call) {
  int count = 0;
  for (const struct node* argument = call->left; argument != NULL; argument = argument->next)
    ++count;
  return count;
}

static struct value if_value(struct sheet* sheet, const struct node* call, int depth) {
  struct value condition = evaluate(sheet, call->left, depth);
  double number = 0;
  if (condition.kind == ERROR) return condition;
  if (!to_number(&condition, &number)) return make_error(BAD_VALUE);
  const struct node* chosen = number != 0 ? call->left->next : call->left->next->next;
  return evaluate(sheet, chosen, depth);
}

static struct value if_error_value(struct sheet* sheet, const struct node* call, int depth) {
  struct value value = evaluate(sheet, call->left, depth);
  return value.kind == ERROR ? evaluate(sheet, call->left->next, depth) : value;
}

static struct value round_value(struct sheet* sheet, const struct node* call, int depth) {
  struct value value = evaluate(sheet, call->left, depth);
  struct value places = evaluate(sheet, call->left->next, depth);
  double number = 0;
  double digits = 0;
  if (value.kind == ERROR) return value;
  if (places.kind == ERROR) return places;
  if (!to_number(&value, &number) || !to_number(&places, &digits)) return make_error(BAD_VALUE);
  if (digits < -9 || digits > 9) return make_error(BAD_VALUE);
  double scale = pow(10, floor(digits));
  return make_number(floor(number * scale + 0.5) / scale);
}

static struct value abs_value(struct sheet* sheet, const struct node* call, int depth) {
  struct value value = evaluate(sheet, call->left, depth);
  double number = 0;
  if (value.kind == ERROR) return value;
  if (!to_number(&value, &number)) return make_error(BAD_VALUE);
  return make_number(fabs(number));
}

static struct value length_value(struct sheet* sheet, const struct node* call, int depth) {
  struct value value = evaluate(sheet, call->left, depth);
  if (value.kind == ERROR) return value;
  char text[MAX_TEXT];
  value_to_text(&value, -1, text, sizeof text);
  return make_number((double)strlen(text));
}

static struct value upper_value(struct sheet* sheet, const struct node* call, int depth) {
  struct value value = evaluate(sheet, call->left, depth);
  if (value.kind == ERROR) return value;
  char text[MAX_TEXT];
  value_to_text(&value, -1, text, sizeof text);
  for (char* letter = text; *letter != 0; ++letter) *letter = (char)toupper((unsigned char)*letter);
  return make_text(text, strlen(text));
}

/* LOOKUP(what, area): the last column of the first row whose first column equals `what`. */
static struct value lookup_value(struct sheet* sheet, const struct node* call, int depth) {
  struct value wanted = evaluate(sheet, call->left, depth);
  struct area area;
  if (wanted.kind == ERROR) return wanted;
  if (!area_argument(sheet, call->left->next, &area)) return make_error(BAD_VALUE);
  for (int row = area.top; row <= area.bottom; ++row) {
    struct value key = cell_value(sheet, row, area.left, depth);
    if (key.kind == wanted.kind && compare_values(&key, &wanted) == 0)
      return cell_value(sheet, row, area.right, depth);
  }
  return make_error(BAD_VALUE);
}

struct special {
  const char* name;
  int arguments;
  struct value (*compute)(struct sheet* sheet, const struct node* call, int depth);
};

static const struct special kSpecials[] = {
    {"IF", 3, if_value},         {"IFERROR", 2, if_error_value}, {"ROUND", 2, round_value},
    {"ABS", 1, abs_value},       {"LEN", 1, length_value},       {"UPPER", 1, upper_value},
    {"LOOKUP", 2, lookup_value},
};

struct value call_function(struct sheet* sheet, const struct node* call, int depth) {
  for (size_t i = 0; i < sizeof kAggregates / sizeof *kAggregates; ++i) {
    if (strcmp(call->text, kAggregates[i].name) == 0)
      return aggregate_value(sheet, call, depth, &kAggregates[i]);
  }
  for (size_t i = 0; i < sizeof kSpecials / sizeof *kSpecials; ++i) {
    if (strcmp(call->text, kSpecials[i].name) != 0) continue;
    if (count_arguments(call) != kSpecials[i].arguments) return make_error(BAD_VALUE);
    return kSpecials[i].compute(sheet, call, depth);
  }
  return make_error(BAD_NAME);
}
