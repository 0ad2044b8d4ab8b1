// Work in a process of its own: a library that crashes or hangs takes nobody along. The work's
// answer is a message (process/codec.h).
//
//   Result<CudaFacts> facts = apart<CudaFacts>("the CUDA driver", 20 * kSecond, ask_cuda);
//
// For programs with one thread: after fork() the work has this process's memory and no other
// thread.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "process/codec.h"

namespace gdr::process {

// `name`: who is to blame, as in "the CUDA driver was killed by signal 11". ETIMEDOUT: it took
// longer than `limit`, and was killed; ECONNRESET: it ended without an answer.
Result<Bytes> bytes_from_apart(const std::string& name, Nanoseconds limit,
                               const std::function<Bytes()>& work);

template <typename Answer>
Result<Answer> apart(const std::string& name, Nanoseconds limit,
                     const std::function<Answer()>& work) {
  Result<Bytes> bytes = bytes_from_apart(name, limit, [&work] { return encode(work()); });
  if (!bytes) return bytes.error();
  return decode<Answer>(*bytes);
}

}  // namespace gdr::process
