/* The sheet as a whole, and its cells. */
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

struct sheet* open_sheet(FILE* out) {
  struct sheet* sheet = calloc(1, sizeof *sheet);
  if (sheet == NULL) {
    fprintf(stderr, "sheet: out of memory\n");
    exit(2);
  }
  for (int column = 0; column < MAX_COLUMNS; ++column) sheet->layout.width[column] = 8;
  sheet->layout.currency = "EUR";
  sheet->layout.decimals = 2;
  sheet->layout.last_column = -1;
  sheet->layout.last_row = -1;
  sheet->out = out;
  return sheet;
}

void clear_cell(struct cell* cell) {
  free_formula(cell->formula);
  cell->formula = NULL;
  cell->value = make_empty();
  cell->computed = 0;
}

void close_sheet(struct sheet* sheet) {
  for (int row = 0; row < MAX_ROWS; ++row) {
    for (int column = 0; column < MAX_COLUMNS; ++column) clear_cell(&sheet->cells[row][column]);
  }
  free_names(sheet);
  free_undo(sheet);
  free(sheet);
}

static void note_use(struct sheet* sheet, int row, int column) {
  if (column > sheet->layout.last_column) sheet->layout.last_column = column;
  if (row > sheet->layout.last_row) sheet->layout.last_row = row;
}

int last_column(const struct sheet* sheet) {
  int edge = MAX_COLUMNS - 1;
  int right = sheet->layout.last_column;
  return right > edge ? edge : right;
}

void set_value(struct sheet* sheet, int row, int column, struct value value) {
  if (!is_inside(row, column)) return;
  struct cell* cell = &sheet->cells[row][column];
  clear_cell(cell);
  cell->value = value;
  note_use(sheet, row, column);
}

void set_formula(struct sheet* sheet, int row, int column, struct node* formula) {
  if (!is_inside(row, column)) {
    free_formula(formula);
    return;
  }
  struct cell* cell = &sheet->cells[row][column];
  clear_cell(cell);
  cell->formula = formula;
  note_use(sheet, row, column);
}
