// Turns exceptions into errors: the standard library's containers and threads throw where memory or
// a thread cannot be had. At the top of a server's thread that would end the server, and with it
// what it does for others.
//
//   Result<void> done = caught([&] { return work(); });
//   Result<void> begun = start_thread(thread, [&] { work_long(); });
#pragma once

#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <thread>

#include "base/result.h"

namespace gdr::perf {

// Its text may need memory that is not there: then it is one so short that it needs none.
template <typename Text>
Error error_of(int code, Text&& text) {
  try {
    return {code, text()};
  } catch (const std::exception&) {
    return {code, "out of memory"};
  }
}

inline Error out_of_memory() {
  return error_of(ENOMEM, [] {
    return "memory that is needed cannot be had; use smaller --sizes or fewer --threads";
  });
}

// `work` returns a Result. What it has left in the middle is for `clean_up`, which is given the
// error and does not throw.
template <typename Work, typename CleanUp>
auto caught(Work&& work, CleanUp&& clean_up) -> decltype(work()) {
  Error thrown;
  try {
    return work();
  } catch (const std::bad_alloc&) {
    thrown = out_of_memory();
  } catch (const std::exception& error) {
    thrown = error_of(EIO, [&] { return std::string("failed within: ") + error.what(); });
  }
  clean_up(thrown);
  return thrown;
}
template <typename Work>
auto caught(Work&& work) -> decltype(work()) {
  return caught(work, [](const Error&) {});
}

// An error: `thread` is still none.
template <typename Work>
Result<void> start_thread(std::thread& thread, Work&& work) {
  try {
    thread = std::thread(std::forward<Work>(work));
    return {};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::system_error& error) {
    return error_of(error.code().value(), [&] {
      return "a thread cannot be started (" + error.code().message() +
             "); raise ulimit -u, pids.max of its cgroup, or what it may take of memory";
    });
  }
}

}  // namespace gdr::perf
