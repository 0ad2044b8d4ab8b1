/* gdr-mpi.c: what an MPI moves, and whether it moves it right, from host and from GPU memory.
 *
 *   mpicc -std=c99 -O2 -o gdr-mpi gdr-mpi.c -ldl
 *   mpirun -n 2 ./gdr-mpi --sizes 8,65536 --memory host,gpu
 *
 * `gdr mpi run` compiles it with the user's own mpicc, starts it, and reads what rank 0 prints:
 * JSON, one object a line. It needs an MPI of version 3.0 and nothing else: CUDA is loaded at run
 * time, and counters of the NICs are read from a descriptor that `gdr mpi run` gives each rank.
 *
 * Every message that arrives is compared. What it must be is made from who sends it, which one it
 * is, and the place in it, so that a message that is lost, late, doubled or shifted is a wrong
 * value. To fill and to compare takes no part in the times.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SIZES = 64, MOST_REPEATS = 100, MOST_SLOTS = 64, SHOWN = 8192, WARM_UPS = 2 };
static const size_t window_bytes = (size_t)16 << 20;      /* in flight at once */
static const size_t collective_bytes = (size_t)256 << 20; /* most memory of an all-to-all */

static int rank, ranks;

static void fail(const char* format, ...) {
  char words[512];
  va_list values;
  va_start(values, format);
  vsnprintf(words, sizeof words, format, values);
  va_end(values);
  for (char* at = words; *at != '\0'; ++at) {
    if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ') *at = ' ';
  }
  printf("{\"problem\":\"%s\",\"rank\":%d}\n", words, rank);
  fflush(stdout);
  int started = 0;
  MPI_Initialized(&started);
  if (started) MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

/* ---- options ---- */

static struct {
  size_t sizes[MOST_SIZES];
  int size_count;
  const char *measures, *memory, *gpu_pointers;
  int ranks, repeats;
  double seconds; /* of one row */
} options = {{8, 4096, 65536, 1048576, 4194304},
             5,
             "latency,bandwidth,bidirectional,multi-pair,all-reduce,all-to-all",
             "host",
             "auto",
             0,
             5,
             0.2};

static int lists(const char* list, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = list; (at = strstr(at, word)) != NULL; at += length) {
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return 1;
  }
  return 0;
}

static void read_sizes(const char* list) {
  options.size_count = 0;
  for (const char* at = list; *at != '\0';) {
    char* end;
    const unsigned long long size = strtoull(at, &end, 10);
    if (end == at || size < 1 || size > (1ULL << 30) || (*end != ',' && *end != '\0') ||
        options.size_count == MOST_SIZES) {
      fail("--sizes %s: not a list of at most %d numbers from 1 to 2^30", list, MOST_SIZES);
    }
    options.sizes[options.size_count++] = (size_t)size;
    at = *end == ',' ? end + 1 : end;
  }
}

static void read_options(int count, char** words) {
  for (int i = 1; i < count; i += 2) {
    const char* name = words[i];
    const char* value = i + 1 < count ? words[i + 1] : "";
    if (strcmp(name, "--sizes") == 0) {
      read_sizes(value);
    } else if (strcmp(name, "--measures") == 0) {
      options.measures = value;
    } else if (strcmp(name, "--memory") == 0) {
      options.memory = value;
    } else if (strcmp(name, "--gpu-pointers") == 0) {
      options.gpu_pointers = value;
    } else if (strcmp(name, "--ranks") == 0) {
      options.ranks = atoi(value);
    } else if (strcmp(name, "--repeats") == 0) {
      options.repeats = atoi(value);
    } else if (strcmp(name, "--seconds") == 0) {
      options.seconds = atof(value);
    } else {
      fail("unknown option %s", name);
    }
  }
  if (options.repeats < 1 || options.repeats > MOST_REPEATS) fail("--repeats: not 1 to 100");
}

/* ---- CUDA, where there is any ---- */

typedef unsigned long long device_pointer;
static struct {
  int there; /* this rank has a GPU */
  int device, devices;
  char name[128], why_not[256];
  int (*init)(unsigned), (*count)(int*), (*get)(int*, int), (*get_name)(char*, int, int);
  int (*retain)(void**, int), (*set)(void*), (*synchronize)(void);
  int (*allocate)(device_pointer*, size_t), (*release)(device_pointer);
  int (*allocate_host)(void**, size_t), (*release_host)(void*);
  int (*to_gpu)(device_pointer, const void*, size_t), (*to_host)(void*, device_pointer, size_t);
  uint64_t bytes_to_gpu, bytes_to_host; /* that this program has copied */
} cuda;

static void cuda_must(int result, const char* call) {
  if (result != 0) fail("%s: CUDA error %d", call, result);
}

/* ISO C has no conversion from an object's address to a function's. */
static int find_function(void* library, const char* name, void* function) {
  void* found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

static int load_cuda(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) {
    snprintf(cuda.why_not, sizeof cuda.why_not, "no libcuda.so.1: no NVIDIA driver here");
    return 0;
  }
  if (!find_function(library, "cuInit", &cuda.init) ||
      !find_function(library, "cuDeviceGetCount", &cuda.count) ||
      !find_function(library, "cuDeviceGet", &cuda.get) ||
      !find_function(library, "cuDeviceGetName", &cuda.get_name) ||
      !find_function(library, "cuDevicePrimaryCtxRetain", &cuda.retain) ||
      !find_function(library, "cuCtxSetCurrent", &cuda.set) ||
      !find_function(library, "cuCtxSynchronize", &cuda.synchronize) ||
      !find_function(library, "cuMemAlloc_v2", &cuda.allocate) ||
      !find_function(library, "cuMemFree_v2", &cuda.release) ||
      !find_function(library, "cuMemAllocHost_v2", &cuda.allocate_host) ||
      !find_function(library, "cuMemFreeHost", &cuda.release_host) ||
      !find_function(library, "cuMemcpyHtoD_v2", &cuda.to_gpu) ||
      !find_function(library, "cuMemcpyDtoH_v2", &cuda.to_host)) {
    snprintf(cuda.why_not, sizeof cuda.why_not, "libcuda.so.1 lacks functions of CUDA 4");
    return 0;
  }
  int result = cuda.init(0);
  if (result == 0) result = cuda.count(&cuda.devices);
  if (result != 0 || cuda.devices == 0) {
    snprintf(cuda.why_not, sizeof cuda.why_not, "no GPU: CUDA error %d", result);
    return 0;
  }
  return 1;
}

/* Before MPI_Init: an MPI that takes GPU memory wants to find the context there. */
static void start_cuda(void) {
  static const char* const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                      "SLURM_LOCALID", "MV2_COMM_WORLD_LOCAL_RANK"};
  if (!load_cuda()) return;
  int local = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    const char* value = getenv(names[i]);
    if (value != NULL) local = atoi(value);
  }
  int device = 0;
  void* context = NULL;
  cuda.device = local % cuda.devices;
  cuda_must(cuda.get(&device, cuda.device), "cuDeviceGet");
  cuda_must(cuda.get_name(cuda.name, sizeof cuda.name, device), "cuDeviceGetName");
  cuda_must(cuda.retain(&context, device), "cuDevicePrimaryCtxRetain");
  cuda_must(cuda.set(context), "cuCtxSetCurrent");
  cuda.there = 1;
}

/* ---- memory ---- */

enum place { HOST, GPU, STAGED };
static const char* const place_names[] = {"host", "gpu", "staged"};

/* `given` is what MPI is given: the memory itself, or for STAGED the host memory beside it. */
struct buffer {
  enum place place;
  size_t size;
  char* given;
  device_pointer gpu;
};

static void* must_allocate(size_t size) {
  void* memory = calloc(size == 0 ? 1 : size, 1);
  if (memory == NULL) fail("no %zu bytes of memory", size);
  return memory;
}

static struct buffer make_buffer(enum place place, size_t size) {
  struct buffer made = {place, size, NULL, 0};
  if (place == HOST) {
    made.given = must_allocate(size);
    return made;
  }
  cuda_must(cuda.allocate(&made.gpu, size), "cuMemAlloc");
  if (place == GPU) {
    made.given = (char*)(uintptr_t)made.gpu;
  } else {
    void* pinned = NULL;
    cuda_must(cuda.allocate_host(&pinned, size), "cuMemAllocHost");
    made.given = pinned;
  }
  return made;
}

static void free_buffer(struct buffer* buffer) {
  if (buffer->place == HOST) free(buffer->given);
  if (buffer->place == STAGED) cuda.release_host(buffer->given);
  if (buffer->gpu != 0) cuda.release(buffer->gpu);
}

static void copy_to_gpu(device_pointer to, const void* from, size_t size) {
  cuda_must(cuda.to_gpu(to, from, size), "cuMemcpyHtoD");
  cuda_must(cuda.synchronize(), "cuCtxSynchronize");
  cuda.bytes_to_gpu += size;
}
static void copy_to_host(void* to, device_pointer from, size_t size) {
  cuda_must(cuda.to_host(to, from, size), "cuMemcpyDtoH");
  cuda.bytes_to_host += size;
}

/* The hand's part of a staged transfer, before a send and after a receive. */
static void stage_out(const struct buffer* buffer, size_t at, size_t size) {
  if (buffer->place == STAGED) copy_to_host(buffer->given + at, buffer->gpu + at, size);
}
static void stage_in(const struct buffer* buffer, size_t at, size_t size) {
  if (buffer->place == STAGED) copy_to_gpu(buffer->gpu + at, buffer->given + at, size);
}

/* ---- contents ---- */

static char *expected, *seen; /* room for the largest transfer */
static size_t room;

static void make_room(size_t size) {
  if (size <= room) return;
  free(expected);
  free(seen);
  expected = must_allocate(size);
  seen = must_allocate(size);
  room = size;
}

static uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

static uint64_t row_seed;
static uint64_t seed_of(int from, int to, uint64_t message) {
  return mixed(row_seed + mixed(((uint64_t)(uint32_t)from << 32 | (uint32_t)to) + 1)) +
         mixed(message + 1);
}

static void make_contents(char* at, size_t size, uint64_t seed) {
  for (size_t i = 0; i < size; i += sizeof seed) {
    const uint64_t word = mixed(seed += 0x9e3779b97f4a7c15ULL);
    memcpy(at + i, &word, size - i < sizeof word ? size - i : sizeof word);
  }
}

static struct outcome {
  uint64_t compared, wrong; /* bytes */
  uint64_t sent;            /* bytes given to MPI for other ranks */
  uint64_t first_place, first_size;
  int first_found, first_expected;
} outcome;

static void put(const struct buffer* buffer, size_t at, const char* from, size_t size) {
  if (buffer->place == HOST) {
    memcpy(buffer->given + at, from, size);
  } else {
    copy_to_gpu(buffer->gpu + at, from, size);
  }
}

/* Compares with `expected`. */
static void compare(const struct buffer* buffer, size_t at, size_t size) {
  const char* found = buffer->given + at;
  if (buffer->place != HOST) {
    copy_to_host(seen, buffer->gpu + at, size);
    found = seen;
  }
  outcome.compared += size;
  if (memcmp(found, expected, size) == 0) return;
  for (size_t i = 0; i < size; ++i) {
    if (found[i] == expected[i]) continue;
    if (outcome.wrong++ == 0) {
      outcome.first_place = i;
      outcome.first_size = size;
      outcome.first_found = (unsigned char)found[i];
      outcome.first_expected = (unsigned char)expected[i];
    }
  }
}

static void fill(const struct buffer* buffer, size_t at, size_t size, uint64_t seed) {
  make_contents(expected, size, seed);
  put(buffer, at, expected, size);
}
static void check(const struct buffer* buffer, size_t at, size_t size, uint64_t seed) {
  make_contents(expected, size, seed);
  compare(buffer, at, size);
}

/* ---- one iteration of each measure; each returns the seconds that count ---- */

struct task {
  const char* measure;
  size_t size;
  int slots, both, leads, peer; /* peer -1: this rank only waits */
  uint64_t message;             /* number of the next iteration */
  MPI_Comm active;              /* who takes part */
  struct buffer out, in;
};

/* Half a round trip. The peer sends back what came; rank 0 compares what it has sent. */
static double round_trip(struct task* task) {
  const int size = (int)task->size;
  double seconds = 0;
  if (task->leads) {
    const uint64_t seed = seed_of(rank, task->peer, task->message);
    fill(&task->out, 0, task->size, seed);
    const double start = MPI_Wtime();
    stage_out(&task->out, 0, task->size);
    MPI_Send(task->out.given, size, MPI_BYTE, task->peer, 1, MPI_COMM_WORLD);
    MPI_Recv(task->in.given, size, MPI_BYTE, task->peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    stage_in(&task->in, 0, task->size);
    seconds = (MPI_Wtime() - start) / 2;
    check(&task->in, 0, task->size, seed);
  } else {
    MPI_Recv(task->in.given, size, MPI_BYTE, task->peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    stage_in(&task->in, 0, task->size);
    stage_out(&task->in, 0, task->size);
    MPI_Send(task->in.given, size, MPI_BYTE, task->peer, 1, MPI_COMM_WORLD);
  }
  outcome.sent += task->size;
  return seconds;
}

/* A window of messages, each with memory of its own, and an answer to the last. */
static double window(struct task* task) {
  MPI_Request sends[MOST_SLOTS], receives[MOST_SLOTS];
  const int sending = task->leads || task->both, receiving = !task->leads || task->both;
  const size_t size = task->size;
  char answer = 0;
  for (int i = 0; sending && i < task->slots; ++i) {
    fill(&task->out, i * size, size, seed_of(rank, task->peer, task->message * MOST_SLOTS + i));
  }
  for (int i = 0; receiving && i < task->slots; ++i) {
    MPI_Irecv(task->in.given + i * size, (int)size, MPI_BYTE, task->peer, 2, MPI_COMM_WORLD,
              &receives[i]);
  }
  MPI_Barrier(task->active);
  const double start = MPI_Wtime();
  for (int i = 0; sending && i < task->slots; ++i) {
    stage_out(&task->out, i * size, size);
    MPI_Isend(task->out.given + i * size, (int)size, MPI_BYTE, task->peer, 2, MPI_COMM_WORLD,
              &sends[i]);
    outcome.sent += size;
  }
  for (int i = 0; receiving && i < task->slots; ++i) {
    MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
    stage_in(&task->in, i * size, size);
  }
  if (sending) MPI_Waitall(task->slots, sends, MPI_STATUSES_IGNORE);
  if (receiving && !task->leads) {
    MPI_Send(&answer, 1, MPI_CHAR, task->peer, 3, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&answer, 1, MPI_CHAR, task->peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const double seconds = MPI_Wtime() - start;
  for (int i = 0; receiving && i < task->slots; ++i) {
    check(&task->in, i * size, size, seed_of(task->peer, rank, task->message * MOST_SLOTS + i));
  }
  return seconds;
}

/* Whole numbers, so small that a sum in any order is exact. */
static void make_addends(size_t count, uint64_t message, int rank_from, int rank_to) {
  float own = 0;
  for (int one = rank_from; one < rank_to; ++one) own += (float)(one % 101);
  for (size_t i = 0; i < count; ++i) {
    const float value = own + (float)(rank_to - rank_from) * (float)((i * 7 + message * 13) % 1009);
    memcpy(expected + i * sizeof value, &value, sizeof value);
  }
}

static double all_reduce(struct task* task) {
  const size_t count = task->size / sizeof(float), size = count * sizeof(float);
  make_addends(count, task->message, rank, rank + 1);
  put(&task->out, 0, expected, size);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  stage_out(&task->out, 0, size);
  MPI_Allreduce(task->out.given, task->in.given, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  stage_in(&task->in, 0, size);
  const double seconds = MPI_Wtime() - start;
  make_addends(count, task->message, 0, ranks);
  compare(&task->in, 0, size);
  return seconds;
}

static double all_to_all(struct task* task) {
  const size_t size = task->size;
  for (int to = 0; to < ranks; ++to) {
    fill(&task->out, to * size, size, seed_of(rank, to, task->message));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  stage_out(&task->out, 0, ranks * size);
  MPI_Alltoall(task->out.given, (int)size, MPI_BYTE, task->in.given, (int)size, MPI_BYTE,
               MPI_COMM_WORLD);
  stage_in(&task->in, 0, ranks * size);
  const double seconds = MPI_Wtime() - start;
  outcome.sent += (ranks - 1) * size;
  for (int from = 0; from < ranks; ++from) {
    check(&task->in, from * size, size, seed_of(from, rank, task->message));
  }
  return seconds;
}

/* ---- counters ---- */

/* One line of JSON from `gdr mpi run` beside this rank; empty where nobody is there. */
static void read_counters(char* text) {
  static int descriptor = -2;
  if (descriptor == -2) {
    const char* number = getenv("GDR_MPI_COUNTERS_FD");
    descriptor = number == NULL ? -1 : atoi(number);
  }
  text[0] = '\0';
  if (descriptor < 0 || write(descriptor, "?", 1) != 1) return;
  for (int length = 0; length < SHOWN - 1; ++length) {
    if (read(descriptor, text + length, 1) != 1) break;
    if (text[length] == '\n') {
      text[length] = '\0';
      return;
    }
  }
  fail("counters that cannot be read");
}

static void print_all(const char* name, const char* own) {
  const int length = (int)strlen(own);
  int* lengths = must_allocate(ranks * sizeof *lengths);
  int* places = must_allocate((ranks + 1) * sizeof *places);
  MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) places[i + 1] = places[i] + lengths[i];
  char* all = must_allocate(rank == 0 ? places[ranks] : 1);
  MPI_Gatherv((void*)own, length, MPI_CHAR, all, lengths, places, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf(",\"%s\":[", name);
    for (int i = 0; i < ranks; ++i) {
      printf("%s%.*s", i == 0 ? "" : ",", lengths[i] == 0 ? 4 : lengths[i],
             lengths[i] == 0 ? "null" : all + places[i]);
    }
    printf("]");
  }
  free(all);
  free(places);
  free(lengths);
}

static char before[SHOWN], after[SHOWN];
static double begun;

static void begin_counting(void) {
  memset(&outcome, 0, sizeof outcome);
  cuda.bytes_to_gpu = cuda.bytes_to_host = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  read_counters(before);
  MPI_Barrier(MPI_COMM_WORLD);
  begun = MPI_Wtime();
}

/* Prints the rest of the line that was begun. */
static void end_counting(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begun;
  read_counters(after);
  MPI_Barrier(MPI_COMM_WORLD);
  uint64_t own[] = {outcome.compared, outcome.wrong, outcome.sent, cuda.bytes_to_host,
                    cuda.bytes_to_gpu};
  uint64_t sums[5] = {0};
  MPI_Reduce(own, sums, 5, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf(",\"seconds\":%.6f,\"compared\":%" PRIu64 ",\"wrong\":%" PRIu64 ",\"sent\":%" PRIu64
           ",\"copied_to_host\":%" PRIu64 ",\"copied_to_gpu\":%" PRIu64,
           seconds, sums[0], sums[1], sums[2], sums[3], sums[4]);
  }
  char first[256] = "";
  if (outcome.wrong > 0) {
    snprintf(first, sizeof first,
             "{\"rank\":%d,\"place\":%" PRIu64 ",\"of\":%" PRIu64
             ",\"found\":%d,\"expected\":%d,\"wrong\":%" PRIu64 "}",
             rank, outcome.first_place, outcome.first_size, outcome.first_found,
             outcome.first_expected, outcome.wrong);
  }
  print_all("wrong_of", first);
  print_all("before", before);
  print_all("after", after);
  if (rank == 0) {
    printf("}\n");
    fflush(stdout);
  }
}

/* ---- rows ---- */

typedef double (*iteration)(struct task*);

/* As many as fit into the time of a repetition, after those that warm up. */
static uint64_t count_of_iterations(struct task* task, iteration once) {
  double longest = 0;
  for (int i = 0; i <= WARM_UPS; ++i) {
    const double start = MPI_Wtime();
    if (task->peer >= 0) once(task);
    ++task->message;
    longest = MPI_Wtime() - start;
  }
  double all = longest;
  MPI_Allreduce(&longest, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double fitting = options.seconds / options.repeats / (all > 1e-9 ? all : 1e-9);
  return fitting < 1 ? 1 : fitting > 10000 ? 10000 : (uint64_t)fitting;
}

/* Seconds of an iteration: of a stream those of the slowest pair, else the mean of those that
 * measure. */
static double joined(double seconds, uint64_t iterations, int measures, int slowest) {
  double own[2] = {measures ? seconds / (double)iterations : 0, measures}, sums[2] = {0, 0};
  if (slowest) {
    MPI_Allreduce(own, sums, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return sums[0];
  }
  MPI_Allreduce(own, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sums[0] / sums[1];
}

static void run_row(struct task* task, iteration once, int pairs, const char* from,
                    const char* to) {
  const int streams = once == window;
  const int measures = task->peer >= 0 && (task->leads || (once != window && once != round_trip));
  double repetitions[MOST_REPEATS];
  row_seed = mixed(row_seed + 1);
  begin_counting();
  const uint64_t iterations = count_of_iterations(task, once);
  for (int i = 0; i < options.repeats; ++i) {
    double seconds = 0;
    for (uint64_t k = 0; k < iterations; ++k, ++task->message) {
      if (task->peer >= 0) seconds += once(task);
    }
    repetitions[i] = joined(seconds, iterations, measures, streams);
  }
  if (rank == 0) {
    printf(
        "{\"measure\":\"%s\",\"size\":%zu,\"from\":\"%s\",\"to\":\"%s\",\"pairs\":%d,"
        "\"iterations\":%" PRIu64 ",\"repetitions\":[",
        task->measure, task->size, from, to, pairs, iterations);
    const double bytes = (double)task->size * task->slots * (task->both ? 2 : 1) * pairs;
    for (int i = 0; i < options.repeats; ++i) {
      printf("%s%.9g", i == 0 ? "" : ",", streams ? bytes / repetitions[i] : repetitions[i]);
    }
    printf("]");
  }
  end_counting();
}

static int partner_of_0; /* a rank on another host where there is one */

static void find_partner(void) {
  MPI_Comm here;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here);
  int first = rank;
  MPI_Bcast(&first, 1, MPI_INT, 0, here);
  MPI_Comm_free(&here);
  int candidate = first == 0 ? ranks : rank; /* 0 is the first of the host of rank 0 */
  MPI_Allreduce(&candidate, &partner_of_0, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (partner_of_0 == ranks) partner_of_0 = ranks > 1 ? 1 : -1;
}

/* `near` is the memory of those that lead, `far` of the others. */
static void run_pairs(const char* measure, size_t size, enum place near, enum place far,
                      const char* from, const char* to) {
  const int many = strcmp(measure, "multi-pair") == 0, pairs = many ? ranks / 2 : 1;
  const int turns = strcmp(measure, "latency") == 0;
  struct task task = {measure,
                      size,
                      1,
                      strcmp(measure, "bidirectional") == 0,
                      0,
                      -1,
                      0,
                      MPI_COMM_NULL,
                      {HOST, 0, NULL, 0},
                      {HOST, 0, NULL, 0}};
  if (many) {
    task.leads = rank < pairs;
    if (rank < 2 * pairs) task.peer = task.leads ? rank + pairs : rank - pairs;
  } else if (rank == 0 || rank == partner_of_0) {
    task.leads = rank == 0;
    task.peer = task.leads ? partner_of_0 : 0;
  }
  const size_t fitting = window_bytes / size;
  if (!turns) task.slots = fitting < 1 ? 1 : fitting > MOST_SLOTS ? MOST_SLOTS : (int)fitting;
  MPI_Comm_split(MPI_COMM_WORLD, task.peer >= 0 ? 1 : MPI_UNDEFINED, rank, &task.active);
  if (task.peer >= 0) {
    const enum place own = task.leads ? near : far;
    make_room(size);
    task.out = make_buffer(own, size * task.slots);
    task.in = make_buffer(own, size * task.slots);
  }
  run_row(&task, turns ? round_trip : window, pairs, from, to);
  if (task.peer < 0) return;
  free_buffer(&task.out);
  free_buffer(&task.in);
  MPI_Comm_free(&task.active);
}

static void run_collective(const char* measure, size_t size, enum place place, const char* name) {
  const int reduces = strcmp(measure, "all-reduce") == 0;
  const size_t all = reduces ? size : size * ranks;
  if ((reduces && size < sizeof(float)) || all > collective_bytes) return;
  struct task task = {measure,
                      size,
                      1,
                      0,
                      0,
                      0,
                      0,
                      MPI_COMM_WORLD,
                      make_buffer(place, all),
                      make_buffer(place, all)};
  make_room(all);
  run_row(&task, reduces ? all_reduce : all_to_all, 0, name, name);
  free_buffer(&task.out);
  free_buffer(&task.in);
}

static void run_measure(const char* measure, int gpus, int takes_gpu_pointers) {
  static const struct {
    enum place near, far;
    const char *from, *to;
  } ways[] = {{HOST, HOST, "host", "host"},
              {HOST, GPU, "host", "gpu"},
              {HOST, STAGED, "host", "staged"},
              {GPU, GPU, "gpu", "gpu"},
              {STAGED, STAGED, "staged", "staged"}};
  const int collective = strncmp(measure, "all-", 4) == 0;
  if (strcmp(measure, "multi-pair") == 0 && ranks < 4) return;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    const int hosts = ways[i].near == HOST && ways[i].far == HOST;
    if (hosts ? !lists(options.memory, "host") : !gpus) continue;
    if (ways[i].far == GPU && !takes_gpu_pointers) continue;
    if (collective && ways[i].near != ways[i].far) continue;
    for (int k = 0; k < options.size_count; ++k) {
      if (collective) {
        run_collective(measure, options.sizes[k], ways[i].near, place_names[ways[i].near]);
      } else {
        run_pairs(measure, options.sizes[k], ways[i].near, ways[i].far, ways[i].from, ways[i].to);
      }
    }
  }
}

/* ---- the beginning ---- */

/* 1, 0, or -1: the MPI has no such function. */
static int cuda_support(void) {
  int (*query)(void) = NULL;
  return find_function(RTLD_DEFAULT, "MPIX_Query_cuda_support", &query) ? query() != 0 : -1;
}

static void print_quoted(const char* text) {
  putchar('"');
  for (; *text != '\0' && *text != '\n'; ++text) {
    if (*text == '"' || *text == '\\') putchar('\\');
    if ((unsigned char)*text >= ' ') putchar(*text);
  }
  putchar('"');
}

/* Who takes part, and what a tenth of a second without any message shows in the counters. */
static void introduce(int gpus, int support) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", where[SHOWN];
  int length = 0, version = 0, revision = 0;
  MPI_Get_library_version(library, &length);
  MPI_Get_version(&version, &revision);
  gethostname(where, sizeof where - 1);
  char host[SHOWN + 64];
  snprintf(host, sizeof host, "{\"host\":\"%.250s\",\"gpu\":%d}", where,
           cuda.there ? cuda.device : -1);
  begin_counting();
  if (rank == 0) {
    printf("{\"gdr_mpi\":1,\"library\":");
    print_quoted(library);
    printf(",\"standard\":\"%d.%d\",\"ranks\":%d,\"partner\":%d,\"gpus\":%s,\"gpu_name\":", version,
           revision, ranks, partner_of_0, gpus ? "true" : "false");
    print_quoted(cuda.name);
    printf(",\"why_no_gpu\":");
    print_quoted(cuda.why_not);
    printf(",\"cuda_support\":%d", support);
  }
  print_all("places", host);
  usleep(100000);
  end_counting();
}

/* In MPI_Finalize MPICH 4.0 over TCP waits for what only another rank's progress brings, and that
 * one may no longer make any. So all make some, until nothing can be under way any more. */
static void settle(void) {
  int there;
  MPI_Barrier(MPI_COMM_WORLD);
  for (const double end = MPI_Wtime() + 0.1; MPI_Wtime() < end;) {
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  }
}

int main(int count, char** words) {
  static const char* const measures[] = {"latency",    "bandwidth",  "bidirectional",
                                         "multi-pair", "all-reduce", "all-to-all"};
  read_options(count, words);
  const int wants_gpu = lists(options.memory, "gpu");
  if (wants_gpu) start_cuda();
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (options.ranks != 0 && options.ranks != ranks) {
    fail("alone: this rank is one of %d, and %d were started together", ranks, options.ranks);
  }
  if (ranks < 2) fail("one rank has nobody to send to; start two");
  int gpus = wants_gpu && cuda.there;
  MPI_Allreduce(MPI_IN_PLACE, &gpus, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  const int support = cuda_support();
  const int takes = strcmp(options.gpu_pointers, "yes") == 0 ||
                    (strcmp(options.gpu_pointers, "auto") == 0 && support == 1);
  find_partner();
  introduce(gpus, support);
  for (size_t i = 0; i < sizeof measures / sizeof *measures; ++i) {
    if (lists(options.measures, measures[i])) run_measure(measures[i], gpus, takes);
  }
  if (rank == 0) {
    printf("{\"done\":true}\n");
    fflush(stdout);
  }
  settle();
  MPI_Finalize();
  return 0;
}
