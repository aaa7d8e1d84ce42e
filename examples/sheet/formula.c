/* Formulas: parsing, copying, printing.

   formula = sum [compare sum]
   sum     = product {(+ | - | &) product}
   product = power {(* | /) power}
   power   = factor [^ power]
   factor  = - factor | number | "text" | ( formula ) | name ( formula {, formula} ) | area | name
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

struct parser {
  const char* at;
  const char* message; /* NULL: no error so far */
  int depth;
};

static struct node* parse_comparison(struct parser* parser);

static struct node* make_node(enum node_kind kind) {
  struct node* node = calloc(1, sizeof *node);
  if (node == NULL) {
    fprintf(stderr, "sheet: out of memory\n");
    exit(2);
  }
  node->kind = kind;
  return node;
}

void free_formula(struct node* node) {
  while (node != NULL) {
    struct node* next = node->next;
    free_formula(node->left);
    free_formula(node->right);
    free(node);
    node = next;
  }
}

static struct node* fail(struct parser* parser, const char* message) {
  if (parser->message == NULL) parser->message = message;
  return NULL;
}

static void skip_blanks(struct parser* parser) {
  while (*parser->at == ' ') ++parser->at;
}

static bool accept(struct parser* parser, char wanted) {
  skip_blanks(parser);
  if (*parser->at != wanted) return false;
  ++parser->at;
  return true;
}

static struct node* parse_number(struct parser* parser) {
  char* end = NULL;
  double number = strtod(parser->at, &end);
  if (end == parser->at) return fail(parser, "a number is missing");
  struct node* node = make_node(N_NUMBER);
  node->number = number;
  parser->at = end;
  return node;
}

static struct node* parse_text(struct parser* parser) {
  const char* begin = ++parser->at;
  while (*parser->at != 0 && *parser->at != '"') ++parser->at;
  if (*parser->at == 0) return fail(parser, "the closing quote is missing");
  size_t length = (size_t)(parser->at - begin);
  ++parser->at;
  if (length >= MAX_TEXT) length = MAX_TEXT - 1;
  struct node* node = make_node(N_TEXT);
  memcpy(node->text, begin, length);
  return node;
}

static struct node* parse_arguments(struct parser* parser, struct node* call) {
  if (accept(parser, ')')) return call;
  struct node** end = &call->left;
  do {
    struct node* argument = parse_comparison(parser);
    if (argument == NULL) {
      free_formula(call);
      return NULL;
    }
    *end = argument;
    end = &argument->next;
  } while (accept(parser, ','));
  if (accept(parser, ')')) return call;
  free_formula(call);
  return fail(parser, "the ) of a call is missing");
}

/* A reference, an area, a name or a call. */
static struct node* parse_word(struct parser* parser) {
  struct reference first;
  size_t used = read_reference(parser->at, &first);
  if (used != 0) {
    parser->at += used;
    struct node* node = make_node(N_REFERENCE);
    node->first = first;
    if (*parser->at == ':') {
      size_t more = read_reference(parser->at + 1, &node->last);
      if (more == 0) {
        free_formula(node);
        return fail(parser, "the end of an area is missing");
      }
      parser->at += 1 + more;
      node->kind = N_AREA;
    }
    return node;
  }
  const char* begin = parser->at;
  while (isalnum((unsigned char)*parser->at) || *parser->at == '_') ++parser->at;
  size_t length = (size_t)(parser->at - begin);
  if (length == 0) return fail(parser, "a value is missing");
  if (length > 15) return fail(parser, "a name is too long");
  struct node* node = make_node(N_NAME);
  memcpy(node->text, begin, length);
  if (!accept(parser, '(')) return node;
  node->kind = N_CALL;
  for (char* letter = node->text; *letter != 0; ++letter)
    *letter = (char)toupper((unsigned char)*letter);
  return parse_arguments(parser, node);
}

static struct node* parse_factor(struct parser* parser) {
  if (++parser->depth > MAX_DEPTH) return fail(parser, "the formula is nested too deeply");
  skip_blanks(parser);
  struct node* node = NULL;
  if (accept(parser, '-')) {
    struct node* operand = parse_factor(parser);
    if (operand != NULL) {
      node = make_node(N_NEGATE);
      node->left = operand;
    }
  } else if (accept(parser, '(')) {
    node = parse_comparison(parser);
    if (node != NULL && !accept(parser, ')')) {
      free_formula(node);
      node = fail(parser, "a ) is missing");
    }
  } else if (*parser->at == '"') {
    node = parse_text(parser);
  } else if (isdigit((unsigned char)*parser->at) || *parser->at == '.') {
    node = parse_number(parser);
  } else {
    node = parse_word(parser);
  }
  --parser->depth;
  return node;
}

static struct node* join(struct parser* parser, struct node* left, char operation,
                         struct node* right) {
  if (right == NULL) {
    free_formula(left);
    return fail(parser, "an operand is missing");
  }
  struct node* node = make_node(N_BINARY);
  node->operation = operation;
  node->left = left;
  node->right = right;
  return node;
}

static struct node* parse_power(struct parser* parser) {
  if (++parser->depth > MAX_DEPTH) return fail(parser, "the formula is nested too deeply");
  struct node* left = parse_factor(parser);
  if (left != NULL && accept(parser, '^')) left = join(parser, left, '^', parse_power(parser));
  --parser->depth;
  return left;
}

static struct node* parse_product(struct parser* parser) {
  struct node* left = parse_power(parser);
  while (left != NULL) {
    if (accept(parser, '*')) {
      left = join(parser, left, '*', parse_power(parser));
    } else if (accept(parser, '/')) {
      left = join(parser, left, '/', parse_power(parser));
    } else {
      break;
    }
  }
  return left;
}

static struct node* parse_sum(struct parser* parser) {
  struct node* left = parse_product(parser);
  while (left != NULL) {
    if (accept(parser, '+')) {
      left = join(parser, left, '+', parse_product(parser));
    } else if (accept(parser, '-')) {
      left = join(parser, left, '-', parse_product(parser));
    } else if (accept(parser, '&')) {
      left = join(parser, left, '&', parse_product(parser));
    } else {
      break;
    }
  }
  return left;
}

static struct node* parse_comparison(struct parser* parser) {
  struct node* left = parse_sum(parser);
  if (left == NULL) return NULL;
  if (accept(parser, '=')) return join(parser, left, '=', parse_sum(parser));
  if (accept(parser, '<')) {
    char operation = accept(parser, '=') ? 'l' : accept(parser, '>') ? 'n' : '<';
    return join(parser, left, operation, parse_sum(parser));
  }
  if (accept(parser, '>')) {
    char operation = accept(parser, '=') ? 'g' : '>';
    return join(parser, left, operation, parse_sum(parser));
  }
  return left;
}

struct node* parse_formula(const char* text, const char** message) {
  struct parser parser = {text, NULL, 0};
  struct node* node = parse_comparison(&parser);
  skip_blanks(&parser);
  if (node != NULL && *parser.at != 0) {
    free_formula(node);
    node = fail(&parser, "something follows the formula");
  }
  *message = parser.message;
  return node;
}

static void move_reference(struct reference* reference, int rows, int columns) {
  if (!reference->fixed_row) reference->row += rows;
  if (!reference->fixed_column) reference->column += columns;
}

struct node* move_formula(const struct node* node, int rows, int columns) {
  if (node == NULL) return NULL;
  struct node* copy = make_node(node->kind);
  *copy = *node;
  move_reference(&copy->first, rows, columns);
  move_reference(&copy->last, rows, columns);
  copy->left = move_formula(node->left, rows, columns);
  copy->right = move_formula(node->right, rows, columns);
  copy->next = move_formula(node->next, rows, columns);
  return copy;
}

struct printer {
  char* out;
  size_t size;
  size_t used;
};

static void put(struct printer* printer, const char* text) {
  while (*text != 0 && printer->used + 1 < printer->size) printer->out[printer->used++] = *text++;
  printer->out[printer->used] = 0;
}

static void put_reference(struct printer* printer, const struct reference* reference) {
  char text[32];
  if (!is_inside(reference->row, reference->column)) {
    put(printer, "#REF");
    return;
  }
  reference_to_text(reference, text, sizeof text);
  put(printer, text);
}

static const char* operation_text(char operation) {
  switch (operation) {
    case 'l':
      return "<=";
    case 'g':
      return ">=";
    case 'n':
      return "<>";
    case '+':
      return "+";
    case '-':
      return "-";
    case '*':
      return "*";
    case '/':
      return "/";
    case '^':
      return "^";
    case '&':
      return "&";
    case '=':
      return "=";
    case '<':
      return "<";
    default:
      return ">";
  }
}

static void print_node(struct printer* printer, const struct node* node) {
  char number[40];
  switch (node->kind) {
    case N_NUMBER:
      snprintf(number, sizeof number, "%.10g", node->number);
      put(printer, number);
      break;
    case N_TEXT:
      put(printer, "\"");
      put(printer, node->text);
      put(printer, "\"");
      break;
    case N_REFERENCE:
      put_reference(printer, &node->first);
      break;
    case N_AREA:
      put_reference(printer, &node->first);
      put(printer, ":");
      put_reference(printer, &node->last);
      break;
    case N_NAME:
      put(printer, node->text);
      break;
    case N_NEGATE:
      put(printer, "-");
      print_node(printer, node->left);
      break;
    case N_BINARY:
      put(printer, "(");
      print_node(printer, node->left);
      put(printer, operation_text(node->operation));
      print_node(printer, node->right);
      put(printer, ")");
      break;
    case N_CALL:
      put(printer, node->text);
      put(printer, "(");
      for (const struct node* argument = node->left; argument != NULL; argument = argument->next) {
        if (argument != node->left) put(printer, ",");
        print_node(printer, argument);
      }
      put(printer, ")");
      break;
  }
}

void formula_to_text(const struct node* node, char* out, size_t size) {
  struct printer printer = {out, size, 0};
  out[0] = 0;
  put(&printer, "=");
  print_node(&printer, node);
}
