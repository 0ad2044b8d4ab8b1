#include "softgpu/process.h"

#include <pthread.h>

#include "base/random.h"
#include "softgpu/allocation.h"
#include "softgpu/event.h"
#include "softgpu/pool.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

constexpr std::uint64_t kAddressSpace = 1ull << 40;

}  // namespace

Process& Process::instance() {
  static Process* process = new Process;
  return *process;
}

CUresult Process::initialise() {
  if (forked()) return CUDA_ERROR_NOT_INITIALIZED;
  std::call_once(once_, [this] {
    Result<DeviceConfig> config = device_config_from_environment();
    if (!config) {
      outcome_ = CUDA_ERROR_INVALID_VALUE;
      return;
    }
    config_ = *config;
    if (!addresses.reserve(kAddressSpace)) {
      outcome_ = CUDA_ERROR_OUT_OF_MEMORY;
      return;
    }
    devices.resize(static_cast<std::size_t>(config_.count));
    for (int i = 0; i < config_.count; ++i) {
      auto pool = std::make_shared<Pool>(i, true);
      devices[static_cast<std::size_t>(i)].default_pool = pool;
      devices[static_cast<std::size_t>(i)].current_pool = pool;
      pools[pool.get()] = pool;
    }
    last_handle_ = random_u64() >> 16 << 8;
    pthread_atfork(nullptr, nullptr, [] { instance().forked_.store(true); });
    outcome_ = CUDA_SUCCESS;
    ready_.store(true, std::memory_order_release);
  });
  return outcome_;
}

CUresult Process::refuse_beside_capture() {
  if (!captures.any()) return CUDA_SUCCESS;
  const std::lock_guard guard(lock);
  return captures.on_unsafe_call();
}

Context* Process::find_context(CUcontext handle) {
  auto found = contexts.find(reinterpret_cast<Context*>(handle));
  return found != contexts.end() ? found->second.get() : nullptr;
}

Context* Process::create_context(int device, unsigned flags, bool primary) {
  auto made = std::make_unique<Context>(device, flags, primary);
  Context* context = made.get();
  contexts[context] = std::move(made);
  context->revive();
  return context;
}

std::shared_ptr<Range> Process::find_range(std::uint64_t address) {
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin()) return nullptr;
  const std::shared_ptr<Range>& range = std::prev(next)->second;
  return address - range->base < range->bytes ? range : nullptr;
}

Process::Leftovers Process::end_context(Context& context) {
  Leftovers left;
  left.marks = context.end();
  for (auto it = ranges.begin(); it != ranges.end();) {
    if (it->second->context == &context) {
      left.ranges.push_back(it->second);
      it = ranges.erase(it);
    } else {
      ++it;
    }
  }
  std::erase_if(events, [&](const auto& entry) { return entry.second->context() == &context; });
  return left;
}

std::vector<Context*>& context_stack() {
  thread_local std::vector<Context*> stack;
  return stack;
}

std::shared_ptr<Stream> find_stream(Process& process, Context& context, CUstream handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number == 0 || number == kStreamLegacy) return context.legacy_stream();
  if (number == kStreamPerThread) return context.thread_stream();
  auto* stream = reinterpret_cast<Stream*>(handle);
  if (auto own = context.find_stream(stream)) return own;
  for (const auto& [key, other] : process.contexts) {
    if (!other->alive()) continue;
    if (auto found = other->find_stream(stream)) return found;
  }
  return nullptr;
}

}  // namespace gdr::softgpu
