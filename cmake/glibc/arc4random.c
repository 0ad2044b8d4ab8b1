// arc4random, from glibc 2.36: std::random_device calls it.
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

uint32_t arc4random(void) {
  uint32_t number;
  // Up to 256 bytes come whole or, before the kernel has gathered randomness, later.
  if (getentropy(&number, sizeof number) != 0) abort();
  return number;
}
