// __libc_start_main: up to glibc 2.33 it runs a program's constructors by a function that it is
// given, and from 2.34 on it finds them itself, unless it is given one. The start file of newer
// systems gives none. The linker sends its call here (--wrap).
#include <stddef.h>

typedef void Constructor(int, char**, char**);
typedef int Main(int, char**, char**);

extern Constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor* __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void);

int __real___libc_start_main(Main* main, int count, char** arguments, Constructor* construct,
                             void (*destroy)(void), void (*end_loader)(void), void* stack_end);
int __wrap___libc_start_main(Main* main, int count, char** arguments, Constructor* construct,
                             void (*destroy)(void), void (*end_loader)(void), void* stack_end);

static void run_constructors(int count, char** arguments, char** environment) {
  _init();
  const size_t number = (size_t)(__init_array_end - __init_array_start);
  for (size_t i = 0; i < number; ++i) __init_array_start[i](count, arguments, environment);
}

// The loader itself runs what must come before all constructors, and, by `end_loader`, destructors.
int __wrap___libc_start_main(Main* main, int count, char** arguments, Constructor* construct,
                             void (*destroy)(void), void (*end_loader)(void), void* stack_end) {
  return __real___libc_start_main(main, count, arguments,
                                  construct == NULL ? run_constructors : construct, destroy,
                                  end_loader, stack_end);
}
