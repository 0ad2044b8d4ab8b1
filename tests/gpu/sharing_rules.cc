// What a CUDA driver really does where its manual leaves a question open: which contexts may open
// another process's memory, and which GPU may copy mapped memory. Prints answers; exits with 1 only
// when it cannot ask.
//
//   sharing_rules            # one line a question
//
// Each group of questions is asked in a process of its own, since a driver may not recover from
// one.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cuda/driver.h"

namespace {

using namespace gdr::cuda;

constexpr std::size_t kBytes = 4 << 20;
constexpr unsigned kLazy = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;

const Driver* driver = nullptr;

void answer(const std::string& question, const std::string& text) {
  std::printf("%-72s %s\n", (question + ":").c_str(), text.c_str());
}

bool answer(const std::string& question, CUresult result) {
  answer(question, result == CUDA_SUCCESS ? "CUDA_SUCCESS" : driver->describe(result));
  return result == CUDA_SUCCESS;
}

void must(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::printf("cannot ask: %s: %s\n", what, driver->describe(result).c_str());
  std::fflush(stdout);
  _exit(1);
}

double micros(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

void load() {
  const auto loaded = Driver::load();
  if (!loaded) {
    std::printf("cannot ask: %s\n", loaded.error().message.c_str());
    std::fflush(stdout);
    _exit(1);
  }
  driver = *loaded;
  must(driver->init(0), "cuInit");
}

CUcontext primary_of(int gpu) {
  CUcontext context = nullptr;
  must(driver->device_primary_ctx_retain(&context, gpu), "cuDevicePrimaryCtxRetain");
  must(driver->ctx_set_current(context), "cuCtxSetCurrent");
  return context;
}

CUcontext another_of(int gpu) {
  CUcontext context = nullptr, popped = nullptr;
  must(driver->ctx_create(&context, 0, gpu), "cuCtxCreate");
  must(driver->ctx_pop_current(&popped), "cuCtxPopCurrent");
  return context;
}

int gpus() {
  int count = 0;
  must(driver->device_get_count(&count), "cuDeviceGetCount");
  return count;
}

struct Handles {
  CUipcMemHandle first, second;
};

// Another process with two allocations on GPU 0, until its pipe is closed.
class Owner {
 public:
  Owner() {
    int to_owner[2], from_owner[2];
    if (pipe(to_owner) != 0 || pipe(from_owner) != 0) _exit(1);
    pid_ = fork();
    if (pid_ == 0) {
      close(to_owner[1]);
      own(to_owner[0], from_owner[1]);
    }
    close(to_owner[0]);
    end_ = to_owner[1];
    if (read(from_owner[0], &handles_, sizeof handles_) != sizeof handles_) _exit(1);
    close(from_owner[0]);
  }
  ~Owner() {
    close(end_);
    waitpid(pid_, nullptr, 0);
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  const Handles& handles() const { return handles_; }

 private:
  [[noreturn]] static void own(int end, int out) {
    load();
    primary_of(0);
    Handles handles{};
    CUdeviceptr first = 0, second = 0;
    must(driver->mem_alloc(&first, kBytes), "cuMemAlloc");
    must(driver->mem_alloc(&second, kBytes), "cuMemAlloc");
    must(driver->memset_d8(first, 0x5a, kBytes), "cuMemsetD8");
    must(driver->ctx_synchronize(), "cuCtxSynchronize");
    must(driver->ipc_get_mem_handle(&handles.first, first), "cuIpcGetMemHandle");
    must(driver->ipc_get_mem_handle(&handles.second, second), "cuIpcGetMemHandle");
    char byte = 0;
    if (write(out, &handles, sizeof handles) == sizeof handles) (void)!read(end, &byte, 1);
    _exit(0);
  }
  pid_t pid_ = -1;
  int end_ = -1;
  Handles handles_{};
};

CUresult open_in(CUcontext context, const CUipcMemHandle& handle, CUdeviceptr* address) {
  CUcontext popped = nullptr;
  must(driver->ctx_push_current(context), "cuCtxPushCurrent");
  const CUresult result = driver->ipc_open_mem_handle(address, handle, kLazy);
  must(driver->ctx_pop_current(&popped), "cuCtxPopCurrent");
  return result;
}

CUresult close_in(CUcontext context, CUdeviceptr address) {
  CUcontext popped = nullptr;
  must(driver->ctx_push_current(context), "cuCtxPushCurrent");
  const CUresult result = driver->ipc_close_mem_handle(address);
  must(driver->ctx_pop_current(&popped), "cuCtxPopCurrent");
  return result;
}

// A driver without the rule opens it, and then it is closed again.
void try_in(const std::string& question, CUcontext context, const CUipcMemHandle& handle) {
  CUdeviceptr address = 0;
  if (answer(question, open_in(context, handle, &address))) close_in(context, address);
}

void who_may_open() {
  const Owner owner;
  load();
  const CUcontext primary = primary_of(0), own = another_of(0);
  CUdeviceptr first = 0, again = 0;
  must(open_in(primary, owner.handles().first, &first), "cuIpcOpenMemHandle");
  if (answer("open in primary, the same once more in primary",
             open_in(primary, owner.handles().first, &again))) {
    answer("... at the same address", again == first ? "yes" : "no");
    answer("... closed once", close_in(primary, again));
    unsigned char byte = 0;
    answer("... and still readable", driver->memcpy_dtoh(&byte, first, 1));
  }
  try_in("open in primary, the same in another context of that GPU", own, owner.handles().first);
  try_in("open in primary, that process's other memory in another context", own,
         owner.handles().second);
  try_in("open in primary, that process's other memory in primary", primary,
         owner.handles().second);
  if (gpus() > 1) {
    try_in("open in primary of GPU 0, the same in primary of GPU 1", primary_of(1),
           owner.handles().first);
    primary_of(0);
  }
  answer("open in primary, closed with another context current", close_in(own, first));
  (void)close_in(primary, first);
  if (!answer("closed, and open in another context", open_in(own, owner.handles().first, &first))) {
    return;
  }
  try_in("open in another context, the same in primary", primary, owner.handles().first);
  try_in("open in another context, that process's other memory in primary", primary,
         owner.handles().second);
}

double time_of_copy(CUcontext context, CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  CUcontext popped = nullptr;
  CUstream stream = nullptr;
  must(driver->ctx_push_current(context), "cuCtxPushCurrent");
  must(driver->stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  double best = 1e9;
  for (int i = 0; i < 50; ++i) {
    best = std::min(best, micros([&] {
                      must(driver->memcpy_async(to, from, bytes, stream), "cuMemcpyAsync");
                      must(driver->stream_synchronize(stream), "cuStreamSynchronize");
                    }));
  }
  must(driver->stream_destroy(stream), "cuStreamDestroy");
  must(driver->ctx_pop_current(&popped), "cuCtxPopCurrent");
  return best;
}

std::string identity_of(CUdeviceptr address) {
  unsigned long long id = 0;
  const CUresult result =
      driver->pointer_get_attribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address);
  return result == CUDA_SUCCESS ? std::to_string(id) : driver->describe(result);
}

void use_from_another_context(int gpu) {
  const Owner owner;
  load();
  if (gpu >= gpus()) return;
  const std::string where = "GPU " + std::to_string(gpu) + ": ";
  const CUcontext primary = primary_of(gpu), own = another_of(gpu);
  CUdeviceptr opened = 0, mine = 0, base = 0;
  std::size_t bytes = 0;
  must(driver->mem_alloc(&mine, kBytes), "cuMemAlloc");
  for (const bool in_primary : {true, false}) {
    const std::string how = where + (in_primary ? "open in primary, " : "open in another, ");
    const CUcontext context = in_primary ? primary : own;
    const double first = micros(
        [&] { must(open_in(context, owner.handles().first, &opened), "cuIpcOpenMemHandle"); });
    answer(how + "time of opening", std::to_string(first) + " us");
    answer(how + "its identity (BUFFER_ID)", identity_of(opened));
    CUcontext popped = nullptr;
    must(driver->ctx_push_current(own), "cuCtxPushCurrent");
    const CUresult found = driver->mem_get_address_range(&base, &bytes, opened);
    must(driver->ctx_pop_current(&popped), "cuCtxPopCurrent");
    if (answer(how + "its range, asked for in another context", found)) {
      answer("... is the whole", base == opened && bytes == kBytes ? "yes" : "no");
    }
    for (const std::size_t size : {std::size_t{4096}, std::size_t{1} << 20, kBytes}) {
      const double time = time_of_copy(own, opened, mine, size);
      answer(how + "copy by another context, " + std::to_string(size) + " bytes",
             std::to_string(time) + " us");
    }
    answer(how + "closed", close_in(context, opened));
    answer(how + "its identity then", identity_of(opened));
  }
}

void wait_for(void* flag) {
  while (!*static_cast<volatile bool*>(flag)) usleep(100);
}

// Whether the primary context's work is waited for: a host function stands for a kernel.
void waits_behind_work() {
  const Owner owner;
  load();
  const CUcontext primary = primary_of(0);
  static volatile bool go_on = false;
  CUstream stream = nullptr;
  CUdeviceptr opened = 0;
  must(driver->stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  must(driver->launch_host_func(stream, wait_for, const_cast<bool*>(&go_on)), "cuLaunchHostFunc");
  std::thread release([] {
    usleep(500'000);
    go_on = true;
  });
  const double opening =
      micros([&] { must(open_in(primary, owner.handles().first, &opened), "cuIpcOpenMemHandle"); });
  const double closing = micros([&] { must(close_in(primary, opened), "cuIpcCloseMemHandle"); });
  release.join();
  answer("primary busy for 500 ms, time of opening in it", std::to_string(opening) + " us");
  answer("... and of closing after that", std::to_string(closing) + " us");
}

void ends_with_its_context() {
  const Owner owner;
  load();
  const CUcontext primary = primary_of(0);
  another_of(0);
  CUdeviceptr opened = 0;
  must(open_in(primary, owner.handles().first, &opened), "cuIpcOpenMemHandle");
  answer("open in primary, identity", identity_of(opened));
  must(driver->device_primary_ctx_reset(0), "cuDevicePrimaryCtxReset");
  answer("primary reset, identity", identity_of(opened));
}

CUdeviceptr mapped_on(int gpu) {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, gpu};
  const CUmemAccessDesc access{wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  must(driver->mem_create(&handle, kBytes, &wanted, 0), "cuMemCreate");
  must(driver->mem_address_reserve(&address, kBytes, 0, 0, 0), "cuMemAddressReserve");
  must(driver->mem_map(address, kBytes, 0, handle, 0), "cuMemMap");
  must(driver->mem_set_access(address, kBytes, &access, 1), "cuMemSetAccess");
  return address;
}

// Memory of two GPUs, each of which may touch its own only: copied by that GPU, or as between
// peers.
void two_gpus(int by, bool as_peers) {
  load();
  if (gpus() < 2) return;
  const CUcontext context[] = {another_of(0), another_of(1)};
  const CUdeviceptr from = mapped_on(0), to = mapped_on(1);
  must(driver->ctx_push_current(context[by]), "cuCtxPushCurrent");
  CUstream stream = nullptr;
  must(driver->stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  const std::string question = std::string("mapped on 0 for 0, to mapped on 1 for 1, ") +
                               (as_peers ? "cuMemcpyPeerAsync" : "cuMemcpyAsync") + " by GPU " +
                               std::to_string(by);
  const CUresult issued =
      as_peers ? driver->memcpy_peer_async(to, context[1], from, context[0], kBytes, stream)
               : driver->memcpy_async(to, from, kBytes, stream);
  if (answer(question, issued)) {
    answer("... and when it has ended", driver->stream_synchronize(stream));
  }
  unsigned long long granted = 0;
  const CUmemLocation other{CU_MEM_LOCATION_TYPE_DEVICE, 1 - by};
  answer("... cuMemGetAccess of the other's", driver->mem_get_access(&granted, &other, from));
}

bool ask(const std::function<void()>& questions) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    questions();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 1;
  waitpid(pid, &status, 0);
  if (status != 0) std::printf("ended with status %d\n", status);
  return status == 0;
}

}  // namespace

int main() {
  bool asked = ask(who_may_open);
  asked &= ask([] { use_from_another_context(0); });
  asked &= ask([] { use_from_another_context(1); });
  asked &= ask(waits_behind_work);
  asked &= ask(ends_with_its_context);
  for (const int by : {0, 1}) {
    for (const bool as_peers : {false, true}) asked &= ask([=] { two_gpus(by, as_peers); });
  }
  return asked ? 0 : 1;
}
