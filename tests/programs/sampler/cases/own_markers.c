#include <stdio.h>
void cbi_blastMarker(int site, int outcome) { printf("%d %d\n", site, outcome); }
void cbi_blastTerminationMarker(void) { puts("end"); }
