/* Of an archive, whose members are linked only if something refers to them. */
#include "archived_globals.h"

static int round_up(int size) { return (size + 7) & ~7; }

const struct Allocator standard_allocator = {round_up};
struct Pair box = {7, 8};
int shared = 5;
