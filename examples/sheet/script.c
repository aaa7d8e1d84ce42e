/* Commands, one a line:

     A1 = 17            a number; or "text"; or =SUM(A1:A9)*2
     copy A1:B3 D1      clear A1:B3        undo
     fill A1:A9 1 2     sort A1:C9 B down  replace old new
     format A1:B3 currency | percent | integer | general
     name total A1:A9   unname total       names
     show [A1:C4]       explain B2         csv A1:C4 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

enum { MAX_LINE = 512, MAX_WORDS = 8 };

/* The words of a command. */
struct words {
  char text[MAX_LINE];
  char* word[MAX_WORDS];
  int count;
};

static bool wrong(const char* line, const char* message) {
  fprintf(stderr, "sheet: %s: %s\n", message, line);
  return false;
}

static void split(const char* line, struct words* words) {
  snprintf(words->text, sizeof words->text, "%s", line);
  words->count = 0;
  char* at = words->text;
  while (words->count < MAX_WORDS) {
    while (isspace((unsigned char)*at)) ++at;
    if (*at == 0) break;
    words->word[words->count++] = at;
    while (*at != 0 && !isspace((unsigned char)*at)) ++at;
    if (*at == 0) break;
    *at++ = 0;
  }
}

static bool whole_area(const char* text, struct area* area) {
  size_t used = read_area(text, area);
  return used != 0 && text[used] == 0;
}

static bool set_command(struct sheet* sheet, const char* line) {
  struct reference place;
  size_t used = read_reference(line, &place);
  const char* at = line + used;
  while (*at == ' ') ++at;
  if (*at != '=') return wrong(line, "a cell is set with =");
  ++at;
  while (*at == ' ') ++at;
  struct area area = {place.row, place.column, place.row, place.column};
  save_area(sheet, "set", &area);
  if (*at == '=') {
    const char* message = NULL;
    struct node* formula = parse_formula(at + 1, &message);
    if (formula == NULL) return wrong(line, message);
    set_formula(sheet, place.row, place.column, formula);
    return true;
  }
  if (*at == '"') {
    size_t length = strlen(at + 1);
    if (length > 0 && at[length] == '"') --length;
    set_value(sheet, place.row, place.column, make_text(at + 1, length));
    return true;
  }
  char* end = NULL;
  double number = strtod(at, &end);
  if (end == at || *end != 0) return wrong(line, "neither a number, \"text\" nor a formula");
  set_value(sheet, place.row, place.column, make_number(number));
  return true;
}

static bool copy_command(struct sheet* sheet, const struct words* words, const char* line) {
  struct area from;
  struct reference to;
  if (words->count != 3 || !whole_area(words->word[1], &from) ||
      read_reference(words->word[2], &to) == 0)
    return wrong(line, "copy AREA CELL");
  copy_area(sheet, &from, to.row, to.column);
  return true;
}

static bool fill_command(struct sheet* sheet, const struct words* words, const char* line) {
  struct area area;
  if (words->count < 3 || !whole_area(words->word[1], &area))
    return wrong(line, "fill AREA FIRST [STEP]");
  fill_area(sheet, &area, atof(words->word[2]), words->count > 3 ? atof(words->word[3]) : 0);
  return true;
}

static bool sort_command(struct sheet* sheet, const struct words* words, const char* line) {
  struct area area;
  if (words->count < 3 || !whole_area(words->word[1], &area) || words->word[2][1] != 0)
    return wrong(line, "sort AREA COLUMN [down]");
  int key = toupper((unsigned char)words->word[2][0]) - 'A';
  sort_area(sheet, &area, key, words->count > 3 && strcmp(words->word[3], "down") == 0);
  return true;
}

static bool format_command(struct sheet* sheet, const struct words* words, const char* line) {
  static const char* const kNames[] = {"general", "integer", "percent", "currency"};
  struct area area;
  if (words->count != 3 || !whole_area(words->word[1], &area))
    return wrong(line, "format AREA HOW");
  for (int i = 0; i < 4; ++i) {
    if (strcmp(words->word[2], kNames[i]) != 0) continue;
    format_area(sheet, &area, (enum format)i);
    return true;
  }
  return wrong(line, "unknown format");
}

static bool name_command(struct sheet* sheet, const struct words* words, const char* line) {
  struct area area;
  if (words->count != 3 || !whole_area(words->word[2], &area)) return wrong(line, "name NAME AREA");
  if (!add_name(sheet, words->word[1], &area)) return wrong(line, "no such name can be added");
  return true;
}

static bool area_command(struct sheet* sheet, const struct words* words, const char* line,
                         void (*run)(struct sheet*, const struct area*)) {
  struct area area;
  if (words->count != 2 || !whole_area(words->word[1], &area))
    return wrong(line, "an area is missing");
  run(sheet, &area);
  return true;
}

static bool explain_command(struct sheet* sheet, const struct words* words, const char* line) {
  struct reference place;
  if (words->count != 2 || read_reference(words->word[1], &place) == 0)
    return wrong(line, "explain CELL");
  explain_cell(sheet, place.row, place.column);
  return true;
}

static bool run_words(struct sheet* sheet, const struct words* words, const char* line) {
  const char* verb = words->word[0];
  if (strcmp(verb, "copy") == 0) return copy_command(sheet, words, line);
  if (strcmp(verb, "fill") == 0) return fill_command(sheet, words, line);
  if (strcmp(verb, "sort") == 0) return sort_command(sheet, words, line);
  if (strcmp(verb, "format") == 0) return format_command(sheet, words, line);
  if (strcmp(verb, "name") == 0) return name_command(sheet, words, line);
  if (strcmp(verb, "clear") == 0) return area_command(sheet, words, line, clear_area);
  if (strcmp(verb, "csv") == 0) return area_command(sheet, words, line, write_csv);
  if (strcmp(verb, "explain") == 0) return explain_command(sheet, words, line);
  if (strcmp(verb, "undo") == 0) return undo(sheet) ? true : wrong(line, "nothing to undo");
  if (strcmp(verb, "names") == 0) {
    show_names(sheet);
    return true;
  }
  if (strcmp(verb, "unname") == 0) {
    if (words->count != 2 || !remove_name(sheet, words->word[1]))
      return wrong(line, "no such name");
    return true;
  }
  if (strcmp(verb, "replace") == 0) {
    if (words->count != 3) return wrong(line, "replace OLD NEW");
    replace_text(sheet, words->word[1], words->word[2]);
    return true;
  }
  if (strcmp(verb, "show") == 0) {
    if (words->count > 1) return area_command(sheet, words, line, show_area);
    show_sheet(sheet);
    return true;
  }
  return wrong(line, "unknown command");
}

bool run_command(struct sheet* sheet, const char* line) {
  struct reference place;
  struct words words;
  while (isspace((unsigned char)*line)) ++line;
  if (*line == 0 || *line == '#') return true;
  bool done = false;
  if (read_reference(line, &place) != 0) {
    done = set_command(sheet, line);
  } else {
    split(line, &words);
    done = run_words(sheet, &words, line);
  }
  recalculate(sheet);
  return done;
}

int run_script(struct sheet* sheet, FILE* in) {
  char line[MAX_LINE];
  int failures = 0;
  while (fgets(line, sizeof line, in) != NULL) {
    line[strcspn(line, "\n")] = 0;
    if (!run_command(sheet, line)) ++failures;
  }
  return failures;
}
