/* Linked into an instrumented program, for which the processor then has no AVX2. Not instrumented. */
extern unsigned char telltale_sampler_has_avx2_v1;

__attribute__((constructor)) static void forget_it(void) { telltale_sampler_has_avx2_v1 = 0; }
