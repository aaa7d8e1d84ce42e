// TELLTALE_SIGNAL_HANDLER, before the definition of a signal handler: the handler aligns its own
// stack. Kernels call handlers with an aligned stack. qemu-user 7.2 calls them with one that is off
// by eight bytes, so that the aligned stores that compilers generate would fault.
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#define TELLTALE_SIGNAL_HANDLER __attribute__((force_align_arg_pointer))
#else
#define TELLTALE_SIGNAL_HANDLER
#endif
