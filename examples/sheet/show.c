/* What people see: the sheet, one cell's formula, names, CSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

enum { WIDEST = 40 };

static int shown_width(int width) {
  if (width < 4) return 4;
  return width > WIDEST ? WIDEST : width;
}

/* Shrinks decimals if the sheet would be wider than a page. */
void measure(struct sheet* sheet) {
  int page = 160;
  int total = 0;
  int right = last_column(sheet);
  for (int column = 0; column <= right; ++column) total += shown_width(sheet->layout.width[column]);
  if (total > page && sheet->layout.decimals > 1) --sheet->layout.decimals;
}

static void format_number(struct sheet* sheet, const struct cell* cell, char* out, size_t size) {
  double number = cell->value.number;
  switch (cell->format) {
    case INTEGER:
      snprintf(out, size, "%.0f", floor(number + 0.5));
      break;
    case PERCENT:
      snprintf(out, size, "%.1f %%", number * 100);
      break;
    case CURRENCY:
      snprintf(out, size, "%.*f %s", sheet->layout.decimals, number, sheet->layout.currency);
      break;
    case GENERAL:
      value_to_text(&cell->value, -1, out, size);
      break;
  }
}

static void cell_text(struct sheet* sheet, int row, int column, char* out, size_t size) {
  struct cell* cell = &sheet->cells[row][column];
  cell_value(sheet, row, column, 0);
  if (cell->value.kind == NUMBER) {
    format_number(sheet, cell, out, size);
  } else {
    value_to_text(&cell->value, -1, out, size);
  }
}

/* Numbers to the right, texts to the left; what is too long ends with a tilde. */
static void print_cell(struct sheet* sheet, int row, int column) {
  char text[MAX_TEXT];
  int width = shown_width(sheet->layout.width[column]);
  cell_text(sheet, row, column, text, sizeof text);
  if (sheet->quiet) return;
  int length = (int)strlen(text);
  if (length > width) {
    fprintf(sheet->out, " %.*s~", width - 1, text);
  } else if (sheet->cells[row][column].value.kind == NUMBER) {
    fprintf(sheet->out, " %*s", width, text);
  } else {
    fprintf(sheet->out, " %-*s", width, text);
  }
}

void show_area(struct sheet* sheet, const struct area* area) {
  if (!sheet->quiet) {
    fprintf(sheet->out, "   ");
    for (int column = area->left; column <= area->right; ++column)
      fprintf(sheet->out, " %-*c", shown_width(sheet->layout.width[column]), 'A' + column);
    fprintf(sheet->out, "\n");
  }
  for (int row = area->top; row <= area->bottom; ++row) {
    if (!sheet->quiet) fprintf(sheet->out, "%3d", row + 1);
    for (int column = area->left; column <= area->right; ++column) print_cell(sheet, row, column);
    if (!sheet->quiet) fprintf(sheet->out, "\n");
  }
}

void show_sheet(struct sheet* sheet) {
  struct area all = {0, 0, sheet->layout.last_row, last_column(sheet)};
  if (all.bottom < 0) return;
  show_area(sheet, &all);
}

/* One line for each source of a formula. */
static void explain_node(struct sheet* sheet, const struct node* node, int depth) {
  char text[MAX_TEXT];
  char place[32];
  if (node == NULL || depth > MAX_DEPTH) return;
  if (node->kind == N_REFERENCE && is_inside(node->first.row, node->first.column)) {
    reference_to_text(&node->first, place, sizeof place);
    cell_text(sheet, node->first.row, node->first.column, text, sizeof text);
    if (!sheet->quiet) fprintf(sheet->out, "  %s is %s\n", place, text);
  }
  if (node->kind == N_NAME) {
    struct name* name = find_name(sheet, node->text);
    /* BUG: the name may have been removed since. */
    int cells = area_rows(&name->area) * area_columns(&name->area);
    if (!sheet->quiet) fprintf(sheet->out, "  %s has %d cells\n", node->text, cells);
  }
  explain_node(sheet, node->left, depth + 1);
  explain_node(sheet, node->right, depth + 1);
  explain_node(sheet, node->next, depth + 1);
}

void explain_cell(struct sheet* sheet, int row, int column) {
  char text[4 * MAX_TEXT];
  struct cell* cell = &sheet->cells[row][column];
  if (cell->formula == NULL) {
    cell_text(sheet, row, column, text, sizeof text);
    if (!sheet->quiet) fprintf(sheet->out, "%c%d is %s\n", 'A' + column, row + 1, text);
    return;
  }
  formula_to_text(cell->formula, text, sizeof text);
  if (!sheet->quiet) fprintf(sheet->out, "%c%d %s\n", 'A' + column, row + 1, text);
  explain_node(sheet, cell->formula, 0);
}

static void put_csv_text(FILE* out, const char* text) {
  if (strpbrk(text, ",\"\n") == NULL) {
    fputs(text, out);
    return;
  }
  fputc('"', out);
  for (; *text != 0; ++text) {
    if (*text == '"') fputc('"', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

void write_csv(struct sheet* sheet, const struct area* area) {
  char text[MAX_TEXT];
  for (int row = area->top; row <= area->bottom; ++row) {
    for (int column = area->left; column <= area->right; ++column) {
      struct value value = cell_value(sheet, row, column, 0);
      value_to_text(&value, -1, text, sizeof text);
      if (sheet->quiet) continue;
      if (column > area->left) fputc(',', sheet->out);
      put_csv_text(sheet->out, text);
    }
    if (!sheet->quiet) fputc('\n', sheet->out);
  }
}

void show_names(struct sheet* sheet) {
  for (int i = 0; i < sheet->name_count; ++i) {
    const struct name* name = sheet->names[i];
    if (sheet->quiet) continue;
    fprintf(sheet->out, "%-15s %c%d:%c%d\n", name->text, 'A' + name->area.left, name->area.top + 1,
            'A' + name->area.right, name->area.bottom + 1);
  }
}
