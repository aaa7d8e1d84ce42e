// Is linked to whole_program.c without path tracing, and could call its functions.
void later_too(void);
void called_from_elsewhere(void) { later_too(); }
