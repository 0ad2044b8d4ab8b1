// Facts: what this process has of the machine: memory, descriptors, threads, processor time.
//
//   const Facts before = facts();
//   ... make 1000 queue pairs ...
//   (facts().own_bytes() - before.own_bytes()) / 1000;  // bytes that one of them takes
#pragma once

#include <cstdint>

namespace gdr::bench {

struct Facts {
  std::uint64_t private_bytes = 0;  // resident, and no other process's
  std::uint64_t segment_bytes = 0;  // in this process's shared segment, whoever touched them
  std::uint64_t resident_bytes = 0;
  std::uint64_t proportional_bytes = 0;  // shared pages divided by those who map them
  std::uint64_t page_table_bytes = 0;    // of the kernel
  std::uint64_t descriptors = 0;
  std::uint64_t threads = 0;
  std::int64_t cpu_nanoseconds = 0;     // of all threads so far
  std::int64_t others_nanoseconds = 0;  // the same without the calling thread: the library's own

  std::uint64_t own_bytes() const { return private_bytes + segment_bytes; }
};

Facts facts();
std::int64_t processor_time();  // nanoseconds of all threads so far

}  // namespace gdr::bench
