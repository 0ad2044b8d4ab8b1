// __libc_single_threaded, from glibc 2.32: false here for ever, so the C++ library always counts
// references by atomic operations.
extern char __libc_single_threaded;

char __libc_single_threaded = 0;
