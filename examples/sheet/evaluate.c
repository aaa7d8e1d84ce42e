/* Evaluation of formulas. A formula is computed when its value is asked for, once in each
   recalculation; cells that need themselves are an error. */
#include <math.h>
#include <string.h>

#include "sheet.h"

struct value cell_value(struct sheet* sheet, int row, int column, int depth) {
  if (!is_inside(row, column)) return make_error(BAD_REFERENCE);
  struct cell* cell = &sheet->cells[row][column];
  if (cell->formula == NULL || cell->computed == sheet->recalculation) return cell->value;
  if (cell->computing) return make_error(CYCLE);
  if (depth > MAX_DEPTH) return make_error(TOO_DEEP);
  cell->computing = true;
  cell->value = evaluate(sheet, cell->formula, depth + 1);
  cell->computing = false;
  cell->computed = sheet->recalculation;
  return cell->value;
}

/* A name stands for its only cell; a larger area is a value for functions alone. */
static struct value name_value(struct sheet* sheet, const char* text, int depth) {
  struct name* name = find_name(sheet, text);
  if (name == NULL) return make_error(BAD_NAME);
  if (area_rows(&name->area) != 1 || area_columns(&name->area) != 1) return make_error(BAD_VALUE);
  return cell_value(sheet, name->area.top, name->area.left, depth);
}

static struct value join_texts(const struct value* left, const struct value* right) {
  char text[2 * MAX_TEXT];
  value_to_text(left, -1, text, MAX_TEXT);
  size_t used = strlen(text);
  value_to_text(right, -1, text + used, MAX_TEXT);
  return make_text(text, strlen(text));
}

static struct value compute(char operation, double left, double right) {
  switch (operation) {
    case '+':
      return make_number(left + right);
    case '-':
      return make_number(left - right);
    case '*':
      return make_number(left * right);
    case '/':
      if (right == 0) return make_error(DIVISION);
      return make_number(left / right);
    case '^':
      return make_number(pow(left, right));
    default:
      return make_error(BAD_VALUE);
  }
}

static struct value compare(char operation, const struct value* left, const struct value* right) {
  int order = compare_values(left, right);
  bool holds = false;
  switch (operation) {
    case '=':
      holds = order == 0;
      break;
    case 'n':
      holds = order != 0;
      break;
    case '<':
      holds = order < 0;
      break;
    case 'l':
      holds = order <= 0;
      break;
    case '>':
      holds = order > 0;
      break;
    case 'g':
      holds = order >= 0;
      break;
    default:
      return make_error(BAD_VALUE);
  }
  return make_number(holds ? 1 : 0);
}

static struct value binary_value(struct sheet* sheet, const struct node* node, int depth) {
  struct value left = evaluate(sheet, node->left, depth + 1);
  if (left.kind == ERROR) return left;
  struct value right = evaluate(sheet, node->right, depth + 1);
  if (right.kind == ERROR) return right;
  if (node->operation == '&') return join_texts(&left, &right);
  if (strchr("=n<l>g", node->operation) != NULL) return compare(node->operation, &left, &right);
  double a = 0;
  double b = 0;
  if (!to_number(&left, &a) || !to_number(&right, &b)) return make_error(BAD_VALUE);
  return compute(node->operation, a, b);
}

struct value evaluate(struct sheet* sheet, const struct node* node, int depth) {
  if (depth > MAX_DEPTH) return make_error(TOO_DEEP);
  switch (node->kind) {
    case N_NUMBER:
      return make_number(node->number);
    case N_TEXT:
      return make_text(node->text, strlen(node->text));
    case N_REFERENCE:
      return cell_value(sheet, node->first.row, node->first.column, depth);
    case N_AREA:
      return make_error(BAD_VALUE);
    case N_NAME:
      return name_value(sheet, node->text, depth);
    case N_NEGATE: {
      struct value operand = evaluate(sheet, node->left, depth + 1);
      double number = 0;
      if (operand.kind == ERROR) return operand;
      if (!to_number(&operand, &number)) return make_error(BAD_VALUE);
      return make_number(-number);
    }
    case N_BINARY:
      return binary_value(sheet, node, depth);
    case N_CALL:
      return call_function(sheet, node, depth + 1);
  }
  return make_error(BAD_VALUE);
}

void recalculate(struct sheet* sheet) {
  ++sheet->recalculation;
  for (int row = 0; row <= sheet->layout.last_row; ++row) {
    int right = last_column(sheet);
    for (int column = 0; column <= right; ++column) {
      if (sheet->cells[row][column].formula != NULL) cell_value(sheet, row, column, 0);
    }
  }
  measure(sheet);
}
