// Makes a link with --wrap=pthread_create include thread_start.cc. Links of programs without
// threads do not need it.
#include "signals.h"

void telltale::sampler::link_thread_hooks() {}
