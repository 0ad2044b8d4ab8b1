// FileSizeLimit: for as long as it lives, no file of this process may grow beyond that, as on a
// disk that is full. A test prints nothing meanwhile: its own output may be a file.
//
//   const FileSizeLimit limit(64 << 10);
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace gdr::test {

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_before_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_before_);
  }

 private:
  rlimit before_{};
  void (*handler_before_)(int);
};

}  // namespace gdr::test
