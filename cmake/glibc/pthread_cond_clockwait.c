// pthread_cond_clockwait, from glibc 2.30: std::condition_variable waits by it until a time of the
// monotonic clock. Before, the clock was a condition variable's own, and the C++ library's have the
// wall clock.
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

enum { kNanoseconds = 1000000000 };

// A wait until a time of the wall clock lasts too long if somebody sets that clock back. So no wait
// is longer than this; what ends early counts as a spurious wakeup, which every caller expects.
enum { kLongestSeconds = 1 };

static struct timespec difference(const struct timespec* later, const struct timespec* earlier) {
  struct timespec left = {later->tv_sec - earlier->tv_sec, later->tv_nsec - earlier->tv_nsec};
  if (left.tv_nsec < 0) {
    left.tv_nsec += kNanoseconds;
    --left.tv_sec;
  }
  return left;
}

static bool is_before(const struct timespec* one, const struct timespec* other) {
  return one->tv_sec != other->tv_sec ? one->tv_sec < other->tv_sec : one->tv_nsec < other->tv_nsec;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  struct timespec now, wall;
  if (clock_gettime(clock, &now) != 0) return EINVAL;
  struct timespec left = difference(until, &now);
  if (left.tv_sec < 0) left = (struct timespec){0, 0};
  if (left.tv_sec >= kLongestSeconds) left = (struct timespec){kLongestSeconds, 0};
  clock_gettime(CLOCK_REALTIME, &wall);
  wall.tv_sec += left.tv_sec;
  wall.tv_nsec += left.tv_nsec;
  if (wall.tv_nsec >= kNanoseconds) {
    wall.tv_nsec -= kNanoseconds;
    ++wall.tv_sec;
  }
  const int result = pthread_cond_timedwait(condition, mutex, &wall);
  if (result != ETIMEDOUT) return result;
  clock_gettime(clock, &now);
  return is_before(&now, until) ? 0 : ETIMEDOUT;
}
