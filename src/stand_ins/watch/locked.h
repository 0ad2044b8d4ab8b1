// Locked: while it lives, this thread alone changes what this library knows of the process. Cold.
//
//   const Locked lock;
//
// A fork waits for it, so that a child never inherits it taken by a thread that it does not have
// (process.cc registers that). Nothing of the program or of another library is called under it.
#pragma once

#include <pthread.h>

namespace gdr::watch {

inline pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;

class Locked {
 public:
  Locked() { pthread_mutex_lock(&table_mutex); }
  ~Locked() { pthread_mutex_unlock(&table_mutex); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

}  // namespace gdr::watch
