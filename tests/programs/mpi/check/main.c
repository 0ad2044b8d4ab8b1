// mpi_check: does an MPI do what it should? Every group of checks, every byte compared.
//
//   mpicc -std=gnu11 -O2 -o mpi_check *.c && mpirun -n 4 ./mpi_check --largest 1048576
//
// It prints a line for each group, and "mpi_check: all right: ..." at the end; or lines with
// "mpi_check: FAILED: rank ...". The exit status is 0, 1 for a failure, 2 for wrong use.
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static const struct {
  const char* name;
  void (*run)(struct check*);
} kGroups[] = {
    {"point-to-point", check_point_to_point}, {"matching", check_matching},
    {"persistent", check_persistent},         {"datatypes", check_datatypes},
    {"collectives", check_collectives},       {"communicators", check_communicators},
    {"one-sided", check_one_sided},           {"atomics", check_atomics},
};
enum { kGroupCount = sizeof kGroups / sizeof *kGroups, kMostBytes = 1 << 28, kMostSeconds = 86400 };

struct options {
  long largest;      // bytes of a message
  long limit;        // seconds for everything
  const char* only;  // names with commas between them; NULL: all groups
  int sparse;
};

static void print_usage(FILE* to) {
  fputs(
      "Usage: mpi_check [--largest BYTES] [--limit SECONDS] [--only GROUP,...] [--sparse]\n"
      "  --largest  longest message (default 16777216)\n"
      "  --limit    seconds after which it fails, naming the step that it hangs in (default 600)\n"
      "  --sparse   few message lengths and roots, for many ranks\n"
      "  --only     these groups:",
      to);
  for (int i = 0; i < kGroupCount; ++i) fprintf(to, " %s", kGroups[i].name);
  fputc('\n', to);
}

static int is_among(const char* names, const char* name) {
  const size_t length = strlen(name);
  for (const char* at = names; at != NULL; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, name, length) == 0 && (at[length] == '\0' || at[length] == ',')) return 1;
  }
  return 0;
}

// Each of the names with commas between them is a group's.
static int are_groups(const char* names) {
  size_t known = 0;
  for (int i = 0; i < kGroupCount; ++i) known += is_among(names, kGroups[i].name) ? 1 : 0;
  size_t given = 1;
  for (const char* at = names; *at != '\0'; ++at) given += *at == ',';
  return known == given;
}

static int read_number(const char* text, long most, long* number) {
  char* end;
  errno = 0;
  *number = strtol(text, &end, 10);
  return errno == 0 && *text != '\0' && *end == '\0' && *number > 0 && *number <= most;
}

// -1: run; else the exit status.
static int read_options(int argc, char** argv, struct options* options) {
  static const struct option kOptions[] = {
      {"largest", required_argument, NULL, 'L'}, {"limit", required_argument, NULL, 'T'},
      {"only", required_argument, NULL, 'O'},    {"sparse", no_argument, NULL, 'S'},
      {"help", no_argument, NULL, 'H'},          {NULL, 0, NULL, 0},
  };
  for (int option; (option = getopt_long(argc, argv, "", kOptions, NULL)) != -1;) {
    int right = 1;
    if (option == 'L') right = read_number(optarg, kMostBytes, &options->largest);
    if (option == 'T') right = read_number(optarg, kMostSeconds, &options->limit);
    if (option == 'O') right = are_groups(options->only = optarg);
    if (option == 'S') options->sparse = 1;
    if (option == 'H') {
      print_usage(stdout);
      return 0;
    }
    if (!right) fprintf(stderr, "mpi_check: '%s' is not a value of that option\n", optarg);
    if (!right || option == '?') {
      print_usage(stderr);
      return 2;
    }
  }
  if (optind == argc) return -1;
  fprintf(stderr, "mpi_check: '%s' is not an option\n", argv[optind]);
  print_usage(stderr);
  return 2;
}

static struct tally tally;
static char hang[300];

static void put(const char* text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(1);
}

// Its parts were written before, so that the handler only copies them out.
static void end_late(int signal) {
  (void)signal;
  put("mpi_check: FAILED: no end within its time limit: ");
  put(hang);
  put(tally.step);
  put("\n");
  _exit(1);
}

static void run_group(struct check* check, int group) {
  const double start = MPI_Wtime();
  const long failures = tally.failures;
  kGroups[group].run(check);
  step(check, "end of %s", kGroups[group].name);
  long failed = tally.failures - failures, all = 0;
  MUST(check, MPI_Allreduce(&failed, &all, 1, MPI_LONG, MPI_SUM, check->comm));
  if (check->rank == 0) {
    printf("%s  %s (%.1f s)\n", all == 0 ? "ok" : "FAILED", kGroups[group].name,
           MPI_Wtime() - start);
    fflush(stdout);
  }
}

// Rank 0's closing line; the number of failures of all ranks.
static long close_up(struct check* check) {
  long failures = 0;
  long long compared = 0;
  MUST(check, MPI_Allreduce(&tally.failures, &failures, 1, MPI_LONG, MPI_SUM, check->comm));
  MUST(check, MPI_Allreduce(&tally.compared, &compared, 1, MPI_LONG_LONG, MPI_SUM, check->comm));
  if (check->rank != 0) return failures;
  if (failures == 0) {
    printf("mpi_check: all right: %d ranks, %ld steps, %lld bytes compared\n", check->ranks,
           tally.steps, compared);
  } else {
    printf("mpi_check: FAILED: %ld failures of %d ranks in %ld steps\n", failures, check->ranks,
           tally.steps);
  }
  return failures;
}

int main(int argc, char** argv) {
  struct options options = {.largest = 16 << 20, .limit = 600};
  const int status = read_options(argc, argv, &options);
  if (status >= 0) return status;
  signal(SIGALRM, end_late);
  alarm((unsigned)options.limit);
  snprintf(tally.step, sizeof tally.step, "MPI_Init");
  if (MPI_Init(NULL, NULL) != MPI_SUCCESS) return 1;
  struct check check = {
      .largest = (size_t)options.largest, .sparse = options.sparse, .tally = &tally};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MUST(&check, MPI_Comm_dup(MPI_COMM_WORLD, &check.comm));
  check = among(&check, check.comm);
  if (check.ranks < 2) {
    fprintf(stderr, "mpi_check: one rank has nobody to talk to; start it with 'mpirun -n 2'\n");
    MPI_Finalize();
    return 2;
  }
  tally.world_rank = check.rank;
  snprintf(hang, sizeof hang, "rank %d: ", check.rank);
  for (int i = 0; i < kGroupCount; ++i) {
    if (options.only == NULL || is_among(options.only, kGroups[i].name)) run_group(&check, i);
  }
  const long failures = close_up(&check);
  step(&check, "MPI_Finalize");
  MPI_Comm_free(&check.comm);
  MPI_Finalize();
  return failures != 0;
}
