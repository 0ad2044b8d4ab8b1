#include "rdma_writes.h"

#include <cstdio>
#include <iterator>
#include <vector>

#include "side.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = 32 << 20;
constexpr std::size_t kMost = 16 << 20;
constexpr std::size_t kPlace = 4097;  // of what is written; the flag is the word at 0
constexpr Nanoseconds kKernelsLimit = 2 * kSecond;
constexpr std::size_t kLengths[] = {1,      2,      3,      7,       8,      63,
                                    255,    4096,   4097,   24'575,  24'576, 24'577,
                                    65'535, 65'536, 65'537, 1 << 20, kMost};

// A queue pair connected to itself, and memory of all kinds.
class Loop {
 public:
  explicit Loop(const cuda::Driver& driver) : driver_(driver), host_(side_.memory(kMost)) {
    for (Buffer* one : {&target_, &source_}) {
      check(driver_, driver_.mem_alloc(&one->address, kBytes), "cuMemAlloc");
      one->region = ibv_reg_mr(side_.domain(), reinterpret_cast<void*>(one->address), kBytes,
                               static_cast<int>(kAllAccess));
      require(one->region != nullptr, "GPU memory is registered");
    }
    qp_ = side_.queue_pair(IBV_QPT_RC, 16, true);
    side_.connect(qp_, side_.endpoint(qp_));
  }
  ~Loop() {
    for (const Buffer* one : {&target_, &source_}) ibv_dereg_mr(one->region);
  }

  // Bytes, then the flag; true if the kernel saw it, and all bytes are there.
  bool writes_arrive(Kernel& kernel, bool from_gpu, std::size_t length, std::size_t flag_length);

 private:
  struct Buffer {
    cuda::CUdeviceptr address = 0;
    ibv_mr* region = nullptr;
  };
  void post(const ibv_sge& from, std::size_t place) {
    ibv_send_wr request{};
    request.opcode = IBV_WR_RDMA_WRITE;
    request.wr.rdma = {target_.address + place, target_.region->rkey};
    side_.post(qp_, request, {from});
  }

  const cuda::Driver& driver_;
  Side side_;
  Memory& host_;
  Buffer target_, source_;
  ibv_qp* qp_ = nullptr;
  std::uint64_t seed_ = 0;
};

bool Loop::writes_arrive(Kernel& kernel, bool from_gpu, std::size_t length,
                         std::size_t flag_length) {
  check(driver_, driver_.memset_d8(target_.address, 0, kBytes), "cuMemsetD8");
  host_.fill_pattern(++seed_, 0, length);
  check(driver_, driver_.memcpy_htod(source_.address, host_.bytes(), length), "cuMemcpyHtoD");
  check(driver_, driver_.ctx_synchronize(), "cuCtxSynchronize");
  kernel.start(target_.address, kKernelsLimit);
  const Nanoseconds begin = now();
  const ibv_sge bytes =
      from_gpu ? ibv_sge{source_.address, static_cast<std::uint32_t>(length), source_.region->lkey}
               : host_.segment(0, length);
  post(bytes, kPlace);
  side_.expect(IBV_WC_SUCCESS);
  const Nanoseconds taken = now() - begin;
  std::vector<std::uint8_t> found(length), wanted(host_.bytes(), host_.bytes() + length);
  host_.bytes()[0] = 1;
  for (std::size_t i = 1; i < flag_length; ++i) host_.bytes()[i] = 0;
  post(host_.segment(0, flag_length), 0);
  side_.expect(IBV_WC_SUCCESS);
  const Kernel::Outcome outcome = kernel.end(kSecond);
  check(driver_, driver_.memcpy_dtoh(found.data(), target_.address + kPlace, length),
        "cuMemcpyDtoH");
  const bool in_time = outcome == Kernel::Outcome::kSawItsFlag;
  const bool right = found == wanted;
  std::printf("  RDMA write from %-12s %9zu B, flag of %zu B: %10.1f us  %s\n",
              from_gpu ? "the same GPU" : "the host", length, flag_length,
              static_cast<double>(taken) / 1e3,
              !in_time ? "FAIL: only when the kernel had given up"
              : !right ? "FAIL: other bytes"
                       : "ok");
  std::fflush(stdout);
  return in_time && right;
}

}  // namespace

bool rdma_writes_arrive(const cuda::Driver& driver, Kernel& kernel, bool has_room) {
  Loop loop(driver);
  bool all = true;
  for (const bool from_gpu : {false, true}) {
    if (from_gpu && !has_room) continue;
    int stuck = 0;
    for (std::size_t i = 0; i < std::size(kLengths) && stuck < 3; ++i) {  // seconds each
      const std::size_t flag_lengths[] = {1, 2, 4};
      const bool good = loop.writes_arrive(kernel, from_gpu, kLengths[i], flag_lengths[i % 3]);
      stuck += good ? 0 : 1;
      all &= good;
    }
  }
  return all;
}

}  // namespace gdr::test
