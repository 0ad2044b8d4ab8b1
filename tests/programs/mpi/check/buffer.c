#include "buffer.h"

#include <stdlib.h>
#include <string.h>

enum { kGuard = 64, kPiece = 4096 };

struct buffer buffer_make(struct check* check, size_t size) {
  struct buffer buffer = {NULL, size, malloc(size + 2 * kGuard)};
  if (buffer.memory == NULL) {
    fail(check, "no memory for %zu bytes", size);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
  }
  buffer.bytes = buffer.memory + kGuard;
  memset(buffer.memory, kUntouched, size + 2 * kGuard);
  return buffer;
}

void buffer_free(struct check* check, struct buffer* buffer) {
  expect_untouched(check, buffer->memory, kGuard);
  expect_untouched(check, buffer->bytes + buffer->size, kGuard);
  free(buffer->memory);
  *buffer = (struct buffer){NULL, 0, NULL};
}

// SplitMix64's finalizer: neighbouring inputs have nothing in common.
static uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

uint64_t pattern(int from, int to, unsigned number) {
  return mix(((uint64_t)(unsigned)from << 48) ^ ((uint64_t)(unsigned)to << 32) ^ number);
}

void pattern_write(unsigned char* bytes, size_t size, uint64_t pattern, size_t place) {
  while (size > 0) {
    const uint64_t word = mix(pattern + place / sizeof word);
    const size_t offset = place % sizeof word;
    const size_t length = size < sizeof word - offset ? size : sizeof word - offset;
    memcpy(bytes, (const unsigned char*)&word + offset, length);
    bytes += length;
    size -= length;
    place += length;
  }
}

void pattern_expect(struct check* check, const unsigned char* bytes, size_t size, uint64_t pattern,
                    size_t place) {
  unsigned char expected[kPiece];
  size_t wrong = 0, first = 0;
  unsigned char found = 0, wanted = 0;
  for (size_t done = 0; done < size; done += kPiece) {
    const size_t length = size - done < kPiece ? size - done : kPiece;
    pattern_write(expected, length, pattern, place + done);
    if (memcmp(bytes + done, expected, length) == 0) continue;
    for (size_t i = 0; i < length; ++i) {
      if (bytes[done + i] == expected[i] || wrong++ != 0) continue;
      first = done + i;
      found = bytes[first];
      wanted = expected[i];
    }
  }
  check->tally->compared += (long long)size;
  if (wrong != 0) {
    fail(check, "byte %zu of %zu is 0x%02x, expected 0x%02x; %zu bytes are wrong", first, size,
         found, wanted, wrong);
  }
}

void buffer_fill(struct buffer* buffer, size_t offset, size_t size, uint64_t pattern) {
  pattern_write(buffer->bytes + offset, size, pattern, 0);
}

void buffer_expect(struct check* check, const struct buffer* buffer, size_t offset, size_t size,
                   uint64_t pattern) {
  pattern_expect(check, buffer->bytes + offset, size, pattern, 0);
}

void expect_untouched(struct check* check, const unsigned char* bytes, size_t size) {
  // Equal to its own successor everywhere and to the value at the beginning: fast where all is
  // well.
  if (size == 0 || (bytes[0] == kUntouched && memcmp(bytes, bytes + 1, size - 1) == 0)) return;
  size_t first = 0;
  while (bytes[first] == kUntouched) ++first;
  fail(check, "a byte outside of the message has become 0x%02x, %zu bytes into its guard of %zu",
       bytes[first], first, size);
}
