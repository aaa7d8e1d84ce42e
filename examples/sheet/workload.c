/* Work with a sheet as somebody does it: a table of sales, sums, names, copies, corrections. The
   seed decides what is done, so that a run can be repeated. */
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

static unsigned long long state;

/* xorshift64*: the same numbers on every machine. */
static unsigned below(unsigned limit) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (unsigned)((state * 2685821657736338717ULL) >> 33) % limit;
}

static bool one_in(unsigned n) { return below(n) == 0; }

static void run(struct sheet* sheet, const char* line) {
  if (!sheet->quiet) fprintf(sheet->out, "> %s\n", line);
  run_command(sheet, line);
}

static const char* const kProducts[] = {"apples", "pears", "plums", "figs",
                                        "dates",  "limes", "kiwis", "grapes"};
static const char* const kNames[] = {"sold", "price", "stock", "vat", "total", "rate"};

/* A table of products: name, quantity, price, and their product. */
static void enter_table(struct sheet* sheet, int rows) {
  char line[128];
  run(sheet, "A1 = \"product\"");
  run(sheet, "B1 = \"sold\"");
  run(sheet, "C1 = \"price\"");
  run(sheet, "D1 = \"value\"");
  for (int row = 2; row < rows + 2; ++row) {
    snprintf(line, sizeof line, "A%d = \"%s %u\"", row, kProducts[below(8)], below(20));
    run(sheet, line);
    snprintf(line, sizeof line, "B%d = %u", row, below(90));
    run(sheet, line);
    snprintf(line, sizeof line, "C%d = %u.%02u", row, below(30), below(100));
    run(sheet, line);
    snprintf(line, sizeof line, "D%d = =B%d*C%d", row, row, row);
    run(sheet, line);
  }
}

static void enter_sums(struct sheet* sheet, int rows) {
  char line[128];
  int row = rows + 3;
  snprintf(line, sizeof line, "B%d = =SUM(B2:B%d)", row, rows + 1);
  run(sheet, line);
  snprintf(line, sizeof line, "C%d = =AVG(C2:C%d)", row, rows + 1);
  run(sheet, line);
  snprintf(line, sizeof line, "D%d = =SUM(D2:D%d)", row, rows + 1);
  run(sheet, line);
  snprintf(line, sizeof line, "E%d = =IF(D%d>500,\"good\",\"poor\")", row, row);
  run(sheet, line);
}

static void enter_names(struct sheet* sheet, int rows) {
  char line[128];
  for (int i = 0; i < 6; ++i) {
    snprintf(line, sizeof line, "name %s %c2:%c%d", kNames[i], 'B' + i % 3, 'B' + i % 3, rows + 1);
    run(sheet, line);
  }
  static const char* const kFunctions[] = {"SUM", "AVG", "MAX", "MEDIAN", "STDEV", "COUNT"};
  for (int i = 0; i < 18; ++i) {
    snprintf(line, sizeof line, "G%d = =ROUND(%s(%s)*1.%u,1)", i + 2, kFunctions[below(6)],
             kNames[i % 6], below(9) + 1);
    run(sheet, line);
  }
}

static void edit_cell(struct sheet* sheet, int rows) {
  char line[128];
  unsigned row = 2 + below((unsigned)rows);
  switch (below(4)) {
    case 0:
      snprintf(line, sizeof line, "B%u = %u", row, below(200));
      break;
    case 1:
      snprintf(line, sizeof line, "C%u = =ROUND(C%u*1.0%u,2)", row, 2 + below((unsigned)rows),
               below(9) + 1);
      break;
    case 2:
      snprintf(line, sizeof line, "E%u = =IFERROR(B%u/C%u,0)", row, row, row);
      break;
    default:
      snprintf(line, sizeof line, "F%u = =UPPER(A%u)&\" \"&LEN(A%u)", row, row, row);
  }
  run(sheet, line);
}

static void copy_something(struct sheet* sheet, int rows) {
  char line[128];
  unsigned left = below(3);
  unsigned columns = 1 + below(4);
  /* Mostly beside the table, sometimes near the edge of the sheet. */
  unsigned target = one_in(80) ? 13 + below(3) : 7 + below(5);
  snprintf(line, sizeof line, "copy %c%u:%c%u %c%u", 'A' + left, 2U, 'A' + left + columns - 1,
           2 + below((unsigned)rows), 'A' + target, 1 + below(8));
  run(sheet, line);
}

static void format_something(struct sheet* sheet, int rows) {
  static const char* const kFormats[] = {"percent", "integer", "general"};
  char line[128];
  if (one_in(6)) {
    snprintf(line, sizeof line, "format D2:D%d currency", rows + 1);
  } else {
    snprintf(line, sizeof line, "format %c2:%c%u %s", 'B' + (int)below(2), 'C' + (int)below(2),
             2 + below((unsigned)rows), kFormats[below(3)]);
  }
  run(sheet, line);
}

static void look_at_something(struct sheet* sheet, int rows) {
  char line[128];
  switch (below(8)) {
    case 0:
      snprintf(line, sizeof line, "show A1:E%d", rows + 3);
      break;
    case 1:
      snprintf(line, sizeof line, "csv A1:D%d", rows + 1);
      break;
    case 2:
      snprintf(line, sizeof line, "names");
      break;
    case 3:
      snprintf(line, sizeof line, "explain D%u", 2 + below((unsigned)rows));
      break;
    default:
      snprintf(line, sizeof line, "explain G%u", 2 + below(18));
  }
  run(sheet, line);
}

static void change_structure(struct sheet* sheet, int rows) {
  char line[128];
  switch (below(5)) {
    case 0:
      snprintf(line, sizeof line, "sort A2:D%d %c%s", rows + 1, 'A' + (int)below(4),
               one_in(2) ? " down" : "");
      break;
    case 1:
      snprintf(line, sizeof line, "replace %s %s", kProducts[below(8)], kProducts[below(8)]);
      break;
    case 2:
      snprintf(line, sizeof line, "fill H%u:H%u %u %u", 20U, 21 + below(8), below(9), below(5));
      break;
    case 3:
      snprintf(line, sizeof line, "clear %c%u:%c%u", 'H' + (int)below(3), 10U, 'K' + (int)below(2),
               12U);
      break;
    default:
      if (one_in(8)) {
        const char* name = kNames[below(6)];
        if (find_name(sheet, name) == NULL) return;
        snprintf(line, sizeof line, "unname %s", name);
      } else {
        snprintf(line, sizeof line, "name spare%u A%u", below(9), 1 + below(9));
      }
  }
  run(sheet, line);
}

void run_workload(struct sheet* sheet, unsigned long seed) {
  state = seed * 0x9e3779b97f4a7c15ULL + 0x2545f4914f6cdd1dULL;
  for (int i = 0; i < 8; ++i) below(2); /* neighbouring seeds differ from here on */
  int rows = 4 + (int)below(7);
  enter_table(sheet, rows);
  enter_sums(sheet, rows);
  enter_names(sheet, rows);
  int steps = 60 + (int)below(60);
  for (int i = 0; i < steps; ++i) {
    unsigned kind = below(20);
    if (kind < 8) {
      edit_cell(sheet, rows);
    } else if (kind < 11) {
      copy_something(sheet, rows);
    } else if (kind < 13) {
      format_something(sheet, rows);
    } else if (kind < 17) {
      look_at_something(sheet, rows);
    } else if (kind < 19) {
      change_structure(sheet, rows);
    } else {
      run(sheet, "undo");
    }
  }
  char line[128];
  snprintf(line, sizeof line, "show A1:G%d", rows + 3);
  run(sheet, line);
}
