// CopyCrew: threads that copy between this process's staging and memory that the CPU reaches, its
// own or another process's, beside the engine thread. One thread copies some 10 GB/s, a GPU 50.
//
//   crew.expect(4);                       // soon; wakes threads, or makes them
//   crew.add(job);
//   while (!job.has_ended()) { ... }      // job.error
//
// Who adds a job owns it, and keeps it until it has ended or was taken back. Any thread. The
// threads are there from the first expect() on, and sleep unless something is expected.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include "local/process_memory.h"

namespace gdr::local {

// One copy by the CPU.
struct Carry {
  enum class By { kTouching, kKernelHere, kKernelThere } by;  // memory here, or of `process`
  ProcessMemory process;
  void* staging;
  std::uint64_t address, length;
  bool into_staging;
};
// 0 or an errno value.
int carry_out(const Carry& carry);

class CrewJob {
 public:
  bool has_ended() const { return state_.load(std::memory_order_acquire) == State::kEnded; }
  int error() const { return error_; }

 private:
  friend class CopyCrew;
  enum class State { kNone, kWaiting, kTaken, kEnded };
  Carry carry_{};
  std::atomic<State> state_{State::kNone};
  int error_ = 0;
};

class CopyCrew {
 public:
  // A quarter of the processors that this process may use, 8 threads at most; in test builds what
  // GDR_TEST_COPY_THREADS says.
  CopyCrew();
  explicit CopyCrew(unsigned most_threads) : most_(most_threads) {}
  ~CopyCrew();  // no job waits
  CopyCrew(const CopyCrew&) = delete;
  CopyCrew& operator=(const CopyCrew&) = delete;

  // How many threads there are, or would be; 0: nothing may be added.
  unsigned size() const { return most_; }
  // So many jobs come in some microseconds.
  void expect(unsigned jobs);
  void add(CrewJob& job, const Carry& carry);
  // True: nobody has begun it, nor will.
  bool take_back(CrewJob& job);

 private:
  void run();
  CrewJob* next();
  CrewJob* take_first();

  unsigned most_;
  std::atomic<unsigned> count_{0};  // of jobs that wait
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<CrewJob*> waiting_;                     // under mutex_
  unsigned threads_ = 0, sleeping_ = 0, woken_ = 0;  // under mutex_; woken: not up yet
  bool stopping_ = false;                            // under mutex_
};

}  // namespace gdr::local
