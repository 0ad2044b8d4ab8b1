#include "softgpu/stream.h"

#include <system_error>

#include "base/quiet_thread.h"

namespace gdr::softgpu {
namespace {

std::atomic<std::uint64_t> next_id{16};  // above the numbers that stand for default streams

}  // namespace

bool Mark::reached() const { return stream == nullptr || stream->completed() >= ticket; }

void Mark::wait() const {
  if (stream != nullptr) stream->wait_for(ticket);
}

Stream::Stream(Context* context, Kind kind, int priority)
    : context_(context), kind_(kind), priority_(priority), id_(next_id.fetch_add(1)) {}

void Stream::start_thread() {
  // The thread keeps the stream alive, and outlives main() without harm: it touches nothing that is
  // ever destroyed.
  const Result<void> started =
      start_quiet_thread("soft-gpu-stream", [self = shared_from_this()] { self->run(); });
  if (!started) throw std::system_error(started.error().code, std::generic_category());
  started_ = true;
}

std::uint64_t Stream::enqueue(std::vector<Mark> after, std::function<void()> work) {
  std::lock_guard guard(lock_);
  if (!started_) start_thread();
  const std::uint64_t ticket = issued_.load(std::memory_order_relaxed) + 1;
  queue_.push_back({ticket, std::move(after), std::move(work)});
  issued_.store(ticket, std::memory_order_release);
  work_arrived_.notify_one();
  return ticket;
}

bool Stream::begin_inline() {
  std::lock_guard guard(lock_);
  if (!idle()) return false;
  issued_.store(issued_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  return true;
}

void Stream::finish_inline() {
  std::lock_guard guard(lock_);
  completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  progressed_.notify_all();
}

void Stream::close() {
  std::lock_guard guard(lock_);
  closed_ = true;
  work_arrived_.notify_one();
}

void Stream::wait_for(std::uint64_t ticket) {
  if (completed() >= ticket) return;
  std::unique_lock guard(lock_);
  progressed_.wait(guard, [&] { return completed() >= ticket; });
}

void Stream::run() {
  std::unique_lock guard(lock_);
  for (;;) {
    work_arrived_.wait(guard, [&] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) return;
    {
      Operation operation = std::move(queue_.front());
      queue_.pop_front();
      // An inline operation in front of this one may still be under way on its caller's thread.
      progressed_.wait(guard, [&] { return completed() + 1 == operation.ticket; });
      guard.unlock();
      for (const Mark& mark : operation.after) mark.wait();
      if (operation.work) operation.work();
      operation.after.clear();
      operation.work = nullptr;  // what it kept alive goes before anybody is told
      guard.lock();
      completed_.store(operation.ticket, std::memory_order_release);
    }
    progressed_.notify_all();
  }
}

}  // namespace gdr::softgpu
