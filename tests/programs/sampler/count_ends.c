// Prints to stderr how often the program asked the runtime about a region, because a countdown had
// ended. Link with --wrap for both functions; compile without instrumentation.
#include <stdint.h>
#include <stdio.h>

static unsigned long ends;

uint32_t __real_telltale_sampler_region_due_v1(void *countdown);
uint32_t __wrap_telltale_sampler_region_due_v1(void *countdown) {
  ++ends;
  return __real_telltale_sampler_region_due_v1(countdown);
}

uint32_t __real_telltale_sampler_region_due_r_v2(void *countdown);
uint32_t __wrap_telltale_sampler_region_due_r_v2(void *countdown) {
  ++ends;
  return __real_telltale_sampler_region_due_r_v2(countdown);
}

__attribute__((destructor)) static void print(void) { fprintf(stderr, "%lu ends\n", ends); }
