/* A small spreadsheet: cells, formulas, names, undo. Shared types and functions. */
#ifndef SHEET_H
#define SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
  MAX_ROWS = 48,
  MAX_COLUMNS = 16,
  MAX_NAMES = 24,
  MAX_TEXT = 96,
  MAX_DEPTH = 48,
  MAX_UNDO = 32
};

/* ---- values ---- */

enum kind { EMPTY, NUMBER, TEXT, ERROR };
enum error { NO_ERROR, BAD_VALUE, BAD_NAME, BAD_REFERENCE, DIVISION, CYCLE, TOO_DEEP };

struct value {
  enum kind kind;
  double number;       /* NUMBER */
  enum error error;    /* ERROR */
  char text[MAX_TEXT]; /* TEXT */
};

struct value make_empty(void);
struct value make_number(double number);
struct value make_text(const char* text, size_t length);
struct value make_error(enum error error);
const char* error_text(enum error error);
/* Numbers before texts before errors before empty cells; -1, 0 or 1. */
int compare_values(const struct value* a, const struct value* b);
bool to_number(const struct value* value, double* number);
void value_to_text(const struct value* value, int decimals, char* out, size_t size);

/* ---- places ---- */

struct reference {
  int row; /* from 0 */
  int column;
  bool fixed_row; /* $: does not move when a formula is copied */
  bool fixed_column;
};

struct area {
  int top, left, bottom, right; /* inclusive, top <= bottom, left <= right */
};

struct area area_of(struct reference a, struct reference b);
int area_rows(const struct area* area);
int area_columns(const struct area* area);
bool is_inside(int row, int column);
/* Reads "B12" or "$B$12"; returns the characters used, 0 if there is no reference. */
size_t read_reference(const char* text, struct reference* out);
void reference_to_text(const struct reference* reference, char* out, size_t size);
/* Reads "A1" or "A1:C4". */
size_t read_area(const char* text, struct area* out);

/* ---- formulas ---- */

enum node_kind { N_NUMBER, N_TEXT, N_REFERENCE, N_AREA, N_NAME, N_NEGATE, N_BINARY, N_CALL };

struct node {
  enum node_kind kind;
  char operation;               /* N_BINARY: + - * / ^ & = < > and l (<=), g (>=), n (<>) */
  double number;                /* N_NUMBER */
  char text[MAX_TEXT];          /* N_TEXT, N_NAME; N_CALL: name of the function */
  struct reference first, last; /* N_REFERENCE has first only */
  struct node *left, *right;    /* N_BINARY; N_NEGATE: left. N_CALL: left is the first argument */
  struct node* next;            /* the next argument of a call */
};

/* Parses what follows "=". NULL if it is no formula; then `message` says why. */
struct node* parse_formula(const char* text, const char** message);
void free_formula(struct node* node);
/* A copy in which references that are not fixed move. */
struct node* move_formula(const struct node* node, int rows, int columns);
void formula_to_text(const struct node* node, char* out, size_t size);

/* ---- the sheet ---- */

enum format { GENERAL, INTEGER, PERCENT, CURRENCY };

struct cell {
  struct value value;   /* entered, or computed from the formula */
  struct node* formula; /* NULL: none */
  enum format format;
  unsigned computed; /* the recalculation that computed it */
  bool computing;    /* being computed: meeting it again is a cycle */
};

struct name {
  char text[16];
  struct area area;
};

/* How the sheet is shown. */
struct layout {
  int width[MAX_COLUMNS];
  const char* currency;
  int decimals;
  int last_column; /* the rightmost one in use */
  int last_row;
};

struct saved_cell {
  int row, column;
  struct cell cell; /* its formula belongs to the undo record */
};

struct undo_record {
  const char* action;
  size_t count;
  struct saved_cell* cells;
};

struct sheet {
  struct cell cells[MAX_ROWS][MAX_COLUMNS];
  struct layout layout;
  struct name* names[MAX_NAMES]; /* sorted by text */
  int name_count;
  struct undo_record undo[MAX_UNDO]; /* a ring */
  int undo_first, undo_count;
  unsigned recalculation;
  FILE* out;
  bool quiet; /* prints nothing but errors */
};

struct sheet* open_sheet(FILE* out);
void close_sheet(struct sheet* sheet);
void clear_cell(struct cell* cell);
/* The rightmost column in use; -1: none is. */
int last_column(const struct sheet* sheet);
void set_value(struct sheet* sheet, int row, int column, struct value value);
void set_formula(struct sheet* sheet, int row, int column, struct node* formula);
/* Recomputes all formulas. */
void recalculate(struct sheet* sheet);

/* evaluation */
struct value evaluate(struct sheet* sheet, const struct node* node, int depth);
struct value cell_value(struct sheet* sheet, int row, int column, int depth);
/* A function of the formula language; `call` is its node. */
struct value call_function(struct sheet* sheet, const struct node* call, int depth);

/* names.c */
struct name* find_name(struct sheet* sheet, const char* text);
bool add_name(struct sheet* sheet, const char* text, const struct area* area);
bool remove_name(struct sheet* sheet, const char* text);
void free_names(struct sheet* sheet);

/* undo.c */
void save_area(struct sheet* sheet, const char* action, const struct area* area);
bool undo(struct sheet* sheet);
void free_undo(struct sheet* sheet);

/* edit.c */
void copy_area(struct sheet* sheet, const struct area* from, int row, int column);
void fill_area(struct sheet* sheet, const struct area* area, double first, double step);
void clear_area(struct sheet* sheet, const struct area* area);
void format_area(struct sheet* sheet, const struct area* area, enum format format);
void sort_area(struct sheet* sheet, const struct area* area, int key, bool descending);
int replace_text(struct sheet* sheet, const char* what, const char* with);

/* show.c */
void measure(struct sheet* sheet);
void show_area(struct sheet* sheet, const struct area* area);
void show_sheet(struct sheet* sheet);
void explain_cell(struct sheet* sheet, int row, int column);
void write_csv(struct sheet* sheet, const struct area* area);
void show_names(struct sheet* sheet);

/* script.c */
/* One command; returns false for one that is wrong, after a message. */
bool run_command(struct sheet* sheet, const char* line);
int run_script(struct sheet* sheet, FILE* in);

/* workload.c */
/* A day of work with the sheet, chosen by the seed. */
void run_workload(struct sheet* sheet, unsigned long seed);

#endif
