/* Undo: each edit first saves the cells that it changes. The oldest of many records is dropped. */
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

static void free_record(struct undo_record* record) {
  for (size_t i = 0; i < record->count; ++i) free_formula(record->cells[i].cell.formula);
  free(record->cells);
  record->cells = NULL;
  record->count = 0;
}

static struct undo_record* next_record(struct sheet* sheet) {
  if (sheet->undo_count == MAX_UNDO) {
    free_record(&sheet->undo[sheet->undo_first]);
    sheet->undo_first = (sheet->undo_first + 1) % MAX_UNDO;
    --sheet->undo_count;
  }
  return &sheet->undo[(sheet->undo_first + sheet->undo_count++) % MAX_UNDO];
}

void save_area(struct sheet* sheet, const char* action, const struct area* area) {
  struct undo_record* record = next_record(sheet);
  size_t room = (size_t)(area_rows(area) * area_columns(area));
  record->action = action;
  record->count = 0;
  record->cells = calloc(room, sizeof *record->cells);
  if (record->cells == NULL) return;
  for (int row = area->top; row <= area->bottom; ++row) {
    for (int column = area->left; column <= area->right; ++column) {
      if (!is_inside(row, column)) continue;
      struct saved_cell* saved = &record->cells[record->count++];
      saved->row = row;
      saved->column = column;
      saved->cell = sheet->cells[row][column];
      saved->cell.formula = move_formula(saved->cell.formula, 0, 0);
    }
  }
}

bool undo(struct sheet* sheet) {
  if (sheet->undo_count == 0) return false;
  --sheet->undo_count;
  struct undo_record* record = &sheet->undo[(sheet->undo_first + sheet->undo_count) % MAX_UNDO];
  for (size_t i = 0; i < record->count; ++i) {
    struct saved_cell* saved = &record->cells[i];
    struct cell* cell = &sheet->cells[saved->row][saved->column];
    clear_cell(cell);
    *cell = saved->cell;
    cell->computed = 0;
  }
  free(record->cells); /* the formulas are the sheet's again */
  record->cells = NULL;
  record->count = 0;
  return true;
}

void free_undo(struct sheet* sheet) {
  for (int i = 0; i < sheet->undo_count; ++i)
    free_record(&sheet->undo[(sheet->undo_first + i) % MAX_UNDO]);
  sheet->undo_count = 0;
}
