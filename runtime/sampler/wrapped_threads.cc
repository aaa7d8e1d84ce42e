// Where --wrap=pthread_create leads to thread_start.cc, the link asks for it. Links of programs
// without threads do not.
#include "signals.h"

void telltale::sampler::link_thread_hooks() {}
