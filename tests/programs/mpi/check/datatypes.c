// Messages whose bytes do not lie side by side: sent from one layout and received in another, and
// packed. What lies between the bytes of a layout must stay as it was.
#include <stdlib.h>
#include <string.h>

#include "buffer.h"

struct record {
  char letter;
  double number;
  short pair[2];
};

enum { kBlock = 24 };  // bytes that lie side by side

// A layout, and how one reads or writes it without MPI: where its n-th block is.
struct layout {
  const char* name;
  MPI_Datatype (*make)(struct check* check, int blocks);
  size_t (*place)(size_t block, int blocks);
  size_t extent_per_block;
};

static MPI_Datatype committed(struct check* check, MPI_Datatype type) {
  MUST(check, MPI_Type_commit(&type));
  return type;
}

static MPI_Datatype make_contiguous(struct check* check, int blocks) {
  MPI_Datatype type;
  MUST(check, MPI_Type_contiguous(blocks * 24, MPI_BYTE, &type));
  return committed(check, type);
}

static size_t contiguous_place(size_t block, int blocks) {
  (void)blocks;
  return block * kBlock;
}

// 24 of every 40 bytes.
static MPI_Datatype make_vector(struct check* check, int blocks) {
  MPI_Datatype type;
  MUST(check, MPI_Type_vector(blocks, 24, 40, MPI_BYTE, &type));
  return committed(check, type);
}

static size_t vector_place(size_t block, int blocks) {
  (void)blocks;
  return block * 40;
}

// 24 bytes in each 37, aligned to nothing.
static MPI_Datatype make_odd_vector(struct check* check, int blocks) {
  MPI_Datatype type;
  MUST(check, MPI_Type_create_hvector(blocks, 24, 37, MPI_BYTE, &type));
  return committed(check, type);
}

static size_t odd_vector_place(size_t block, int blocks) {
  (void)blocks;
  return block * 37;
}

// Blocks of 24 bytes every 48, the last first.
static MPI_Datatype make_backwards(struct check* check, int blocks) {
  int* lengths = calloc((size_t)blocks, sizeof *lengths);
  int* places = calloc((size_t)blocks, sizeof *places);
  for (int i = 0; i < blocks; ++i) {
    lengths[i] = 24;
    places[i] = (blocks - 1 - i) * 48;
  }
  MPI_Datatype type;
  MUST(check, MPI_Type_indexed(blocks, lengths, places, MPI_BYTE, &type));
  free(lengths);
  free(places);
  return committed(check, type);
}

static size_t backwards_place(size_t block, int blocks) {
  return ((size_t)blocks - 1 - block) * 48;
}

// The middle columns of a matrix that is 40 bytes wide.
static MPI_Datatype make_columns(struct check* check, int blocks) {
  const int sizes[] = {blocks, 40}, parts[] = {blocks, 24}, starts[] = {0, 8};
  MPI_Datatype type;
  MUST(check, MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, &type));
  return committed(check, type);
}

static size_t columns_place(size_t block, int blocks) {
  (void)blocks;
  return block * 40 + 8;
}

static const struct layout kLayouts[] = {
    {"contiguous", make_contiguous, contiguous_place, 24},
    {"vector", make_vector, vector_place, 40},
    {"unaligned vector", make_odd_vector, odd_vector_place, 37},
    {"indexed, backwards", make_backwards, backwards_place, 48},
    {"subarray", make_columns, columns_place, 40},
};
enum { kLayoutCount = sizeof kLayouts / sizeof *kLayouts };

static void write_layout(const struct layout* layout, struct buffer* buffer, int blocks,
                         const struct buffer* plain) {
  for (int i = 0; i < blocks; ++i) {
    memcpy(buffer->bytes + layout->place((size_t)i, blocks), plain->bytes + i * kBlock, kBlock);
  }
}

// The bytes of the layout, out of it; what is between them must be untouched.
static void read_layout(struct check* check, const struct layout* layout, struct buffer* buffer,
                        int blocks, struct buffer* plain) {
  for (int i = 0; i < blocks; ++i) {
    unsigned char* block = buffer->bytes + layout->place((size_t)i, blocks);
    memcpy(plain->bytes + i * kBlock, block, kBlock);
    memset(block, kUntouched, kBlock);
  }
  expect_untouched(check, buffer->bytes, buffer->size);
}

static void exchange(struct check* check, const struct layout* from, const struct layout* to,
                     int blocks) {
  step(check, "%s to %s, %d blocks of 24 bytes", from->name, to->name, blocks);
  const size_t size = (size_t)blocks * kBlock;
  struct buffer plain = buffer_make(check, size);
  struct buffer out = buffer_make(check, (size_t)blocks * from->extent_per_block);
  struct buffer in = buffer_make(check, (size_t)blocks * to->extent_per_block);
  MPI_Datatype out_type = from->make(check, blocks), in_type = to->make(check, blocks);
  MPI_Status status;
  int count;
  buffer_fill(&plain, 0, size, pattern(check->rank, next(check), (unsigned)blocks));
  write_layout(from, &out, blocks, &plain);
  MUST(check, MPI_Sendrecv(out.bytes, 1, out_type, next(check), 3, in.bytes, 1, in_type,
                           before(check), 3, check->comm, &status));
  MUST(check, MPI_Get_elements(&status, in_type, &count));
  read_layout(check, to, &in, blocks, &plain);
  buffer_expect(check, &plain, 0, size, pattern(before(check), check->rank, (unsigned)blocks));
  if (count <= 0) fail(check, "the status says %d elements", count);
  MUST(check, MPI_Type_free(&out_type));
  MUST(check, MPI_Type_free(&in_type));
  buffer_free(check, &plain);
  buffer_free(check, &out);
  buffer_free(check, &in);
}

static void pack(struct check* check, const struct layout* layout, int blocks) {
  step(check, "pack and unpack, %s, %d blocks of 24 bytes", layout->name, blocks);
  const size_t size = (size_t)blocks * kBlock;
  struct buffer plain = buffer_make(check, size);
  struct buffer laid_out = buffer_make(check, (size_t)blocks * layout->extent_per_block);
  struct buffer arrived = buffer_make(check, (size_t)blocks * layout->extent_per_block);
  MPI_Datatype type = layout->make(check, blocks);
  int room, used = 0, read = 0;
  MUST(check, MPI_Pack_size(1, type, check->comm, &room));
  struct buffer packed = buffer_make(check, (size_t)room), in = buffer_make(check, (size_t)room);
  buffer_fill(&plain, 0, size, pattern(check->rank, next(check), 7));
  write_layout(layout, &laid_out, blocks, &plain);
  MUST(check, MPI_Pack(laid_out.bytes, 1, type, packed.bytes, room, &used, check->comm));
  MUST(check, MPI_Sendrecv(packed.bytes, used, MPI_PACKED, next(check), 4, in.bytes, room,
                           MPI_PACKED, before(check), 4, check->comm, MPI_STATUS_IGNORE));
  MUST(check, MPI_Unpack(in.bytes, room, &read, arrived.bytes, 1, type, check->comm));
  read_layout(check, layout, &arrived, blocks, &plain);
  buffer_expect(check, &plain, 0, size, pattern(before(check), check->rank, 7));
  MUST(check, MPI_Type_free(&type));
  buffer_free(check, &plain);
  buffer_free(check, &laid_out);
  buffer_free(check, &arrived);
  buffer_free(check, &packed);
  buffer_free(check, &in);
}

static MPI_Datatype record_type(struct check* check) {
  const int lengths[] = {1, 1, 2};
  const MPI_Aint places[] = {offsetof(struct record, letter), offsetof(struct record, number),
                             offsetof(struct record, pair)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
  MPI_Datatype fields, resized;
  MUST(check, MPI_Type_create_struct(3, lengths, places, types, &fields));
  MUST(check, MPI_Type_create_resized(fields, 0, sizeof(struct record), &resized));
  MUST(check, MPI_Type_free(&fields));
  return committed(check, resized);
}

static void records(struct check* check, int count) {
  step(check, "%d records", count);
  struct buffer out = buffer_make(check, (size_t)count * sizeof(struct record));
  struct buffer in = buffer_make(check, (size_t)count * sizeof(struct record));
  struct record* sent = (struct record*)out.bytes;
  const struct record* got = (const struct record*)in.bytes;
  for (int i = 0; i < count; ++i) {
    sent[i].letter = (char)('a' + i % 26);
    sent[i].number = check->rank * 1000.5 + i;
    sent[i].pair[0] = (short)i;
    sent[i].pair[1] = (short)(-i - check->rank);
  }
  MPI_Datatype type = record_type(check);
  MUST(check, MPI_Sendrecv(sent, count, type, next(check), 5, in.bytes, count, type, before(check),
                           5, check->comm, MPI_STATUS_IGNORE));
  for (int i = 0; i < count; ++i) {
    if (got[i].letter != (char)('a' + i % 26) || got[i].number != before(check) * 1000.5 + i ||
        got[i].pair[0] != (short)i || got[i].pair[1] != (short)(-i - before(check))) {
      fail(check, "record %d of %d is wrong", i, count);
      break;
    }
  }
  check->tally->compared += (long long)count * 13;
  MUST(check, MPI_Type_free(&type));
  buffer_free(check, &out);
  buffer_free(check, &in);
}

void check_datatypes(struct check* check) {
  static const int block_counts[] = {1, 3, 100, 5000, 40000};
  for (size_t i = 0; i < sizeof block_counts / sizeof *block_counts; ++i) {
    const int blocks = block_counts[i];
    if ((size_t)blocks * kBlock > check->largest) break;
    for (int from = 0; from < kLayoutCount; ++from) {
      for (int to = 0; to < kLayoutCount; ++to) {
        exchange(check, &kLayouts[from], &kLayouts[to], blocks);
      }
      pack(check, &kLayouts[from], blocks);
    }
    records(check, blocks);
  }
}
