/* Edits of areas. */
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

/* The length of the longest text in a column of an area. */
static int widest_in(struct sheet* sheet, const struct area* area, int column) {
  char text[MAX_TEXT];
  int widest = 0;
  for (int row = area->top; row <= area->bottom; ++row) {
    struct value value = cell_value(sheet, row, column, 0);
    value_to_text(&value, sheet->layout.decimals, text, sizeof text);
    int length = (int)strlen(text);
    if (length > widest) widest = length;
  }
  return widest;
}

static void copy_cell(struct sheet* sheet, const struct cell* from, int rows, int columns, int row,
                      int column) {
  if (!is_inside(row, column)) return;
  if (from->formula != NULL) {
    set_formula(sheet, row, column, move_formula(from->formula, rows, columns));
  } else {
    set_value(sheet, row, column, from->value);
  }
  sheet->cells[row][column].format = from->format;
}

/* Copies what fits on the sheet; columns become as wide as what was pasted. */
void copy_area(struct sheet* sheet, const struct area* from, int row, int column) {
  int rows = area_rows(from);
  int columns = area_columns(from);
  struct area to = {row, column, row + rows - 1, column + columns - 1};
  save_area(sheet, "copy", &to);
  /* The areas may overlap: the source is read before anything is written. */
  struct cell* cells = calloc((size_t)(rows * columns), sizeof *cells);
  if (cells == NULL) return;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      struct cell* cell = &cells[i * columns + j];
      *cell = sheet->cells[from->top + i][from->left + j];
      cell->formula = move_formula(cell->formula, 0, 0);
    }
  }
  for (int j = 0; j < columns; ++j) {
    int target = column + j;
    int widest = widest_in(sheet, from, from->left + j);
    for (int i = 0; i < rows; ++i)
      copy_cell(sheet, &cells[i * columns + j], row - from->top, column - from->left, row + i,
                target);
    /* BUG: cells beyond the edge are left out, their columns are not. */
    sheet->layout.width[target] = widest < 4 ? 4 : widest;
    if (target > sheet->layout.last_column) sheet->layout.last_column = target;
  }
  for (int i = 0; i < rows * columns; ++i) free_formula(cells[i].formula);
  free(cells);
}

void fill_area(struct sheet* sheet, const struct area* area, double first, double step) {
  save_area(sheet, "fill", area);
  double number = first;
  for (int row = area->top; row <= area->bottom; ++row) {
    for (int column = area->left; column <= area->right; ++column) {
      set_value(sheet, row, column, make_number(number));
      number += step;
    }
  }
}

void clear_area(struct sheet* sheet, const struct area* area) {
  save_area(sheet, "clear", area);
  for (int row = area->top; row <= area->bottom; ++row) {
    for (int column = area->left; column <= area->right; ++column)
      clear_cell(&sheet->cells[row][column]);
  }
}

void format_area(struct sheet* sheet, const struct area* area, enum format format) {
  save_area(sheet, "format", area);
  for (int row = area->top; row <= area->bottom; ++row) {
    for (int column = area->left; column <= area->right; ++column)
      sheet->cells[row][column].format = format;
  }
}

/* A row of an area that is sorted. */
struct sort_row {
  struct value key;
  int place; /* before sorting: equal keys keep their order */
  bool descending;
};

static int compare_rows(const void* a, const void* b) {
  const struct sort_row* left = a;
  const struct sort_row* right = b;
  int order = compare_values(&left->key, &right->key);
  if (left->descending && left->key.kind != EMPTY && right->key.kind != EMPTY) order = -order;
  if (order != 0) return order;
  return left->place - right->place;
}

void sort_area(struct sheet* sheet, const struct area* area, int key, bool descending) {
  int rows = area_rows(area);
  int columns = area_columns(area);
  if (key < area->left || key > area->right) return;
  save_area(sheet, "sort", area);
  struct sort_row* order = calloc((size_t)rows, sizeof *order);
  struct cell* cells = calloc((size_t)(rows * columns), sizeof *cells);
  if (order == NULL || cells == NULL) {
    free(order);
    free(cells);
    return;
  }
  for (int i = 0; i < rows; ++i) {
    order[i].key = cell_value(sheet, area->top + i, key, 0);
    order[i].place = i;
    order[i].descending = descending;
    for (int j = 0; j < columns; ++j)
      cells[i * columns + j] = sheet->cells[area->top + i][area->left + j];
  }
  qsort(order, (size_t)rows, sizeof *order, compare_rows);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      struct cell* cell = &sheet->cells[area->top + i][area->left + j];
      *cell = cells[order[i].place * columns + j];
      /* Formulas move with their row. */
      struct node* moved = move_formula(cell->formula, i - order[i].place, 0);
      free_formula(cell->formula);
      cell->formula = moved;
      cell->computed = 0;
    }
  }
  free(order);
  free(cells);
}

/* Replaces a text in all cells that are texts. Returns the number of cells. */
int replace_text(struct sheet* sheet, const char* what, const char* with) {
  size_t length = strlen(what);
  if (length == 0) return 0;
  struct area all = {0, 0, MAX_ROWS - 1, MAX_COLUMNS - 1};
  save_area(sheet, "replace", &all);
  int changed = 0;
  for (int row = 0; row < MAX_ROWS; ++row) {
    for (int column = 0; column < MAX_COLUMNS; ++column) {
      struct cell* cell = &sheet->cells[row][column];
      if (cell->formula != NULL || cell->value.kind != TEXT) continue;
      const char* found = strstr(cell->value.text, what);
      if (found == NULL) continue;
      char text[3 * MAX_TEXT];
      snprintf(text, sizeof text, "%.*s%s%s", (int)(found - cell->value.text), cell->value.text,
               with, found + length);
      cell->value = make_text(text, strlen(text));
      ++changed;
    }
  }
  return changed;
}
