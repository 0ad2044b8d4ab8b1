#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>

#include "costs.h"

namespace gdr::costs {

using namespace cuda;

const Driver* driver = nullptr;

void must(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::printf("cannot measure: %s: %s\n", call, driver->describe(result).c_str());
  std::fflush(stdout);
  _exit(1);
}

void load() {
  const auto loaded = Driver::load();
  if (!loaded) {
    std::printf("cannot measure: %s\n", loaded.error().message.c_str());
    std::fflush(stdout);
    _exit(1);
  }
  driver = *loaded;
  must(driver->init(0), "cuInit");
}

double micros_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(clock_now() - start).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

CUcontext primary_of(int gpu) {
  CUcontext context = nullptr;
  must(driver->device_primary_ctx_retain(&context, gpu), "cuDevicePrimaryCtxRetain");
  must(driver->ctx_set_current(context), "cuCtxSetCurrent");
  return context;
}

CUcontext own_of(int gpu) {
  CUcontext context = nullptr, popped = nullptr;
  must(driver->ctx_create(&context, 0, gpu), "cuCtxCreate");
  must(driver->ctx_pop_current(&popped), "cuCtxPopCurrent");
  return context;
}

void Jobs::begin(unsigned how_many_threads, unsigned chunk_bytes, unsigned slot_count) {
  threads = 0;
  posted = taken = finished = 0;
  for (auto& one : done) one = 0;
  chunk = chunk_bytes;
  slots = slot_count;
  threads = how_many_threads;
}

unsigned Jobs::take(unsigned me) {
  if (me >= threads.load(std::memory_order_acquire)) return kMost;
  unsigned next = taken.load();
  if (next >= posted.load(std::memory_order_acquire)) return kMost;
  return taken.compare_exchange_strong(next, next + 1) ? next : kMost;
}

void Jobs::finish(unsigned job) {
  done[job].store(1, std::memory_order_release);
  finished.fetch_add(1);
}

namespace {

constexpr unsigned kThreads = 8;

void serve(Shared& shared, std::byte* host, unsigned me) {
  while (shared.jobs.stop == 0) {
    const unsigned job = shared.jobs.take(me);
    if (job == Jobs::kMost) {
      if (me >= shared.jobs.threads.load()) usleep(200);
      continue;
    }
    const std::size_t chunk = shared.jobs.chunk;
    std::memcpy(host + job * chunk, shared.ring + job % shared.jobs.slots * chunk, chunk);
    shared.jobs.finish(job);
  }
}

CUmemGenericAllocationHandle created_on(int gpu) {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, gpu};
  CUmemGenericAllocationHandle handle = 0;
  must(driver->mem_create(&handle, kBytes, &wanted, 0), "cuMemCreate");
  return handle;
}

CUdeviceptr mapped(CUmemGenericAllocationHandle handle, int gpu) {
  CUdeviceptr address = 0;
  must(driver->mem_address_reserve(&address, kBytes, 0, 0, 0), "cuMemAddressReserve");
  must(driver->mem_map(address, kBytes, 0, handle, 0), "cuMemMap");
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, gpu},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  must(driver->mem_set_access(address, kBytes, &access, 1), "cuMemSetAccess");
  return address;
}

[[noreturn]] void own(int gpu, int end, int out, Shared& shared) {
  load();
  primary_of(gpu);
  Other::Told told{};
  CUdeviceptr address = 0;
  must(driver->mem_alloc(&address, kBytes), "cuMemAlloc");
  must(driver->ipc_get_mem_handle(&told.handle, address), "cuIpcGetMemHandle");
  must(driver->mem_export_to_shareable_handle(&told.descriptor, created_on(gpu),
                                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
       "cuMemExportToShareableHandle");
  told.host = static_cast<std::byte*>(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(told.host, 1, kBytes);
  for (unsigned i = 0; i < kThreads; ++i) {
    std::thread([&shared, host = told.host, i] { serve(shared, host, i); }).detach();
  }
  char byte = 0;
  if (write(out, &told, sizeof told) == sizeof told) (void)!read(end, &byte, 1);
  _exit(0);
}

}  // namespace

Other::Other(int gpu) {
  void* mapped =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int to[2], from[2];
  if (mapped == MAP_FAILED || pipe(to) != 0 || pipe(from) != 0) _exit(1);
  shared_ = static_cast<Shared*>(mapped);
  pid_ = fork();
  if (pid_ == 0) {
    close(to[1]);
    own(gpu, to[0], from[1], *shared_);
  }
  close(to[0]);
  close(from[1]);
  end_ = to[1];
  if (read(from[0], &told_, sizeof told_) != sizeof told_) _exit(1);
  close(from[0]);
}

Other::~Other() {
  close(end_);
  waitpid(pid_, nullptr, 0);
}

CUdeviceptr Other::open_allocated() const {
  CUdeviceptr address = 0;
  must(driver->ipc_open_mem_handle(&address, told_.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
       "cuIpcOpenMemHandle");
  return address;
}

CUdeviceptr Other::map_created(int gpu) const {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  const long descriptor = syscall(SYS_pidfd_getfd, pidfd, told_.descriptor, 0);
  CUmemGenericAllocationHandle handle = 0;
  must(driver->mem_import_from_shareable_handle(&handle, reinterpret_cast<void*>(descriptor),
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
       "cuMemImportFromShareableHandle");
  return mapped(handle, gpu);
}

CUdeviceptr created_and_mapped_on(int gpu) { return mapped(created_on(gpu), gpu); }

}  // namespace gdr::costs
