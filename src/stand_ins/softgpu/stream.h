// Stream: operations carried out in the order they were issued, by a thread of the stream's own.
//
//   std::uint64_t ticket = stream->enqueue({other_mark}, [] { copy(); });
//   Mark{stream, ticket}.wait();
//
// Every operation gets the next ticket; `completed()` is the last one carried out. What an
// operation must wait for on other streams is a list of marks, all of operations issued earlier, so
// waiting cannot go in circles. The thread is started by the first operation and sleeps while there
// is none.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/driver_abi.h"

namespace gdr::softgpu {

class Context;
class Stream;

// A point in a stream. A mark without a stream has always been reached.
struct Mark {
  std::shared_ptr<Stream> stream;
  std::uint64_t ticket = 0;

  bool reached() const;
  void wait() const;
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  enum class Kind { kLegacy, kBlocking, kNonBlocking };

  Stream(Context* context, Kind kind, int priority);

  std::uint64_t enqueue(std::vector<Mark> after, std::function<void()> work);

  // For an idle stream: takes a ticket that the caller carries out itself and then reports with
  // finish_inline. False, and nothing happened, when an operation is outstanding.
  bool begin_inline();
  void finish_inline();

  // No operation follows; the thread ends behind the last one.
  void close();
  bool closed() const { return closed_.load(std::memory_order_acquire); }

  std::uint64_t issued() const { return issued_.load(std::memory_order_acquire); }
  std::uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  bool idle() const { return completed() == issued(); }
  void wait_for(std::uint64_t ticket);
  Mark last() { return {shared_from_this(), issued()}; }

  Context* context() const { return context_; }
  Kind kind() const { return kind_; }
  int priority() const { return priority_; }
  std::uint64_t id() const { return id_; }

 private:
  struct Operation {
    std::uint64_t ticket;
    std::vector<Mark> after;
    std::function<void()> work;
  };
  void run();
  void start_thread();  // with lock_ held

  Context* const context_;
  const Kind kind_;
  const int priority_;
  const std::uint64_t id_;

  std::mutex lock_;
  std::condition_variable work_arrived_;
  std::condition_variable progressed_;
  std::deque<Operation> queue_;
  std::atomic<std::uint64_t> issued_{0};
  std::atomic<std::uint64_t> completed_{0};
  bool started_ = false;
  std::atomic<bool> closed_{false};
};

}  // namespace gdr::softgpu
