// Each rank sends to the next one and puts into its window; every byte is compared. "all right" and
// exit status 0, or what was wrong.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char byte_of(int rank, int place) { return (unsigned char)(rank * 31 + place); }

static long send_around(int rank, int next, int before, int bytes) {
  unsigned char* out = malloc((size_t)bytes);
  unsigned char* in = calloc((size_t)bytes, 1);
  long wrong = 0;
  for (int i = 0; i < bytes; ++i) out[i] = byte_of(rank, i);
  MPI_Sendrecv(out, bytes, MPI_BYTE, next, bytes, in, bytes, MPI_BYTE, before, bytes,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < bytes; ++i) wrong += in[i] != byte_of(before, i);
  free(out);
  free(in);
  return wrong;
}

static long put_around(int rank, int next, int before) {
  long* memory;
  MPI_Win window;
  MPI_Win_allocate(8 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  memset(memory, 0, 8 * sizeof(long));
  MPI_Win_fence(0, window);
  const long value = rank + 100;
  MPI_Put(&value, 1, MPI_LONG, next, 3, 1, MPI_LONG, window);
  MPI_Win_fence(0, window);
  const long wrong = memory[3] != before + 100;
  MPI_Win_free(&window);
  return wrong;
}

int main(int argc, char** argv) {
  int rank, size;
  long wrong = 0, sum = 0, mine;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int bytes = 1; bytes <= 1 << 20; bytes *= 4) wrong += send_around(rank, next, before, bytes);
  wrong += put_around(rank, next, before);
  mine = rank + 1;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  wrong += sum != (long)size * (size + 1) / 2;
  if (wrong != 0) printf("rank %d: %ld wrong\n", rank, wrong);
  MPI_Barrier(MPI_COMM_WORLD);
  if (wrong == 0 && rank == 0) printf("all right, %d ranks\n", size);
  MPI_Finalize();
  return wrong != 0;
}
