// any_iova MANNER IOVA [freed]: exports GPU memory as a dma-buf, registers a part of it under IOVA
// with the first RDMA NIC, writes into it and reads from it over a loopback connection, and
// compares every byte of the allocation. One line on standard output:
//
//   moved 1048576 bytes under iova 0x0      exit status 0
//   refused: Invalid argument               3: the registration was
//   anything else                           1
//
// On a real GPU: gdr run --soft-nic -- any_iova dlsym 0, with the targets any_iova and (MANNER
// linked) any_iova_linked of the test build.
//
// With `freed` the memory is freed between export and registration, and allocated again.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "cuda_calls.h"
#include "rdma/queue_pair.h"

namespace gdr::test {
namespace {

constexpr std::uint64_t kBytes = 4 << 20, kOffset = 64 << 10, kRegistered = 2 << 20;
constexpr std::uint64_t kInside = 4099, kMoved = 1 << 20;
constexpr unsigned char kBackground = 0xA5;
constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

[[noreturn]] void end(int status, const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  // The driver may be torn down before what is registered is.
  _exit(status);
}

template <typename T>
T must(Result<T> result) {
  if (!result) end(1, result.error().message);
  return *std::move(result);
}

void must(Result<void> result) {
  if (!result) end(1, result.error().message);
}

void must(cuda::CUresult result, const char* call) {
  if (result != cuda::CUDA_SUCCESS) {
    end(1, std::string(call) + " fails with " + std::to_string(static_cast<int>(result)));
  }
}

struct GpuMemory {
  cuda::CUdeviceptr address = 0;
  UniqueFd descriptor;
};

GpuMemory export_memory(const CudaCalls& cuda, bool freed) {
  GpuMemory memory;
  cuda::CUcontext context = nullptr;
  int descriptor = -1;
  must(cuda.init(0), "cuInit");
  must(cuda.retain(&context, 0), "cuDevicePrimaryCtxRetain");
  must(cuda.set_current(context), "cuCtxSetCurrent");
  must(cuda.alloc(&memory.address, kBytes), "cuMemAlloc");
  must(cuda.fill(memory.address, kBackground, kBytes), "cuMemsetD8");
  // The driver does not wait for a fill, and the NIC writes into this memory next.
  must(cuda.synchronize(), "cuCtxSynchronize");
  must(cuda.export_range(&descriptor, memory.address, kBytes,
                         cuda::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
       "cuMemGetHandleForAddressRange");
  memory.descriptor.reset(descriptor);
  if (freed) {
    must(cuda.free(memory.address), "cuMemFree");
    must(cuda.alloc(&memory.address, kBytes), "cuMemAlloc");
  }
  return memory;
}

// The initiator's queue pair of a connection of the device with itself.
struct Loopback {
  rdma::QueuePair initiator, target;

  void move(ibv_wr_opcode opcode, const ibv_mr& local, std::uint64_t address, std::uint32_t key) {
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(local.addr), kMoved, local.lkey};
    ibv_send_wr request{};
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma.remote_addr = address;
    request.wr.rdma.rkey = key;
    must(initiator.post_send(request));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(200);
    while (std::chrono::steady_clock::now() < deadline) {
      const auto done = must(initiator.poll_send());
      if (!done) continue;
      if (done->status == IBV_WC_SUCCESS) return;
      end(1, "completion status " + std::to_string(done->status));
    }
    end(1, "no completion in 20 seconds");
  }
};

Loopback connect(const rdma::Device& nic, ibv_pd* pd) {
  Loopback pair{must(rdma::QueuePair::create(nic, pd, IBV_QPT_RC, {})),
                must(rdma::QueuePair::create(nic, pd, IBV_QPT_RC, {}))};
  const rdma::PortAddress address = must(nic.address(1));
  rdma::Endpoint ends[2];
  for (rdma::Endpoint& one : ends) {
    one.lid = address.lid;
    one.gid_index = address.gid_index;
    one.gid = address.gid;
    one.global = true;
  }
  ends[0].number = pair.initiator.number();
  ends[1].number = pair.target.number();
  must(pair.initiator.connect(ends[0], ends[1], IBV_MTU_1024));
  must(pair.target.connect(ends[1], ends[0], IBV_MTU_1024));
  return pair;
}

std::vector<unsigned char> pattern() {
  std::vector<unsigned char> made(kMoved);
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
  }
  return made;
}

void compare(const CudaCalls& cuda, const GpuMemory& memory, const std::vector<unsigned char>& sent,
             const std::vector<unsigned char>& read_back) {
  std::vector<unsigned char> expected(kBytes, kBackground), found(kBytes);
  std::memcpy(expected.data() + kOffset + kInside, sent.data(), kMoved);
  must(cuda.read(found.data(), memory.address, kBytes), "cuMemcpyDtoH");
  for (std::uint64_t i = 0; i < kBytes; ++i) {
    if (found[i] != expected[i]) end(1, "byte " + std::to_string(i) + " of the memory is wrong");
  }
  if (read_back != sent) end(1, "what was read back is not what was written");
}

void run(std::string_view manner, std::uint64_t iova, bool freed) {
  CudaCalls cuda;
  if (!get_cuda_calls(manner, &cuda)) end(1, "no CUDA by " + std::string(manner));
  const GpuMemory memory = export_memory(cuda, freed);

  const rdma::Library& verbs = *must(rdma::Library::load("libibverbs.so.1"));
  const std::vector<std::string> names = must(verbs.device_names());
  if (names.empty()) end(1, "no RDMA device");
  const rdma::Device nic = must(rdma::Device::open(verbs, names.front()));
  const auto pd = must(rdma::make_protection_domain(nic));
  const auto region = rdma::register_dmabuf(nic, pd.get(), memory.descriptor.get(), kOffset,
                                            kRegistered, iova, kAccess);
  if (!region) end(3, std::string("refused: ") + std::strerror(region.error().code));

  std::vector<unsigned char> sent = pattern(), read_back(kMoved);
  const auto source = must(rdma::register_memory(nic, pd.get(), sent.data(), kMoved, kAccess));
  const auto sink = must(rdma::register_memory(nic, pd.get(), read_back.data(), kMoved, kAccess));
  Loopback loopback = connect(nic, pd.get());
  loopback.move(IBV_WR_RDMA_WRITE, *source, iova + kInside, (*region)->rkey);
  loopback.move(IBV_WR_RDMA_READ, *sink, iova + kInside, (*region)->rkey);
  compare(cuda, memory, sent, read_back);
  char line[80];
  std::snprintf(line, sizeof line, "moved %llu bytes under iova 0x%llx",
                static_cast<unsigned long long>(kMoved), static_cast<unsigned long long>(iova));
  end(0, line);
}

}  // namespace
}  // namespace gdr::test

int main(int count, char** arguments) {
  if (count != 3 && !(count == 4 && std::strcmp(arguments[3], "freed") == 0)) {
    std::fprintf(stderr, "usage: any_iova MANNER IOVA [freed]\n");
    return 2;
  }
  alarm(600);
  gdr::test::run(arguments[1], std::strtoull(arguments[2], nullptr, 0), count == 4);
}
