// Memory for messages, with guard bytes at both ends, and patterns whose every byte tells who sent
// it, in which message, and its place. This is the only place where the checks take memory and look
// into it, so memory of another kind would be added here.
//
//   struct buffer out = buffer_make(check, size), in = buffer_make(check, size);
//   buffer_fill(&out, 0, size, pattern(check->rank, next(check), number));
//   ... send out, receive in ...
//   buffer_expect(check, &in, 0, size, pattern(before(check), check->rank, number));
//   buffer_free(check, &out);  // fails if a guard byte has changed
//   buffer_free(check, &in);
#pragma once

#include <stdint.h>

#include "check.h"

struct buffer {
  unsigned char* bytes;  // for numbers of every type, too: as malloc() aligns
  size_t size;
  unsigned char* memory;
};

// All bytes are kUntouched.
struct buffer buffer_make(struct check* check, size_t size);

// Checks the guard bytes.
void buffer_free(struct check* check, struct buffer* buffer);

enum { kUntouched = 0xc3 };

// The pattern of one message between two ranks.
uint64_t pattern(int from, int to, unsigned number);

// The bytes from `place` on of a pattern, which is endless.
void pattern_write(unsigned char* bytes, size_t size, uint64_t pattern, size_t place);

// Fails, naming the first wrong byte and how many there are, unless the bytes are those of the
// pattern.
void pattern_expect(struct check* check, const unsigned char* bytes, size_t size, uint64_t pattern,
                    size_t place);

// The same for bytes of a buffer, which hold the pattern from its beginning.
void buffer_fill(struct buffer* buffer, size_t offset, size_t size, uint64_t pattern);
void buffer_expect(struct check* check, const struct buffer* buffer, size_t offset, size_t size,
                   uint64_t pattern);

// Fails unless nobody has written to these bytes.
void expect_untouched(struct check* check, const unsigned char* bytes, size_t size);
