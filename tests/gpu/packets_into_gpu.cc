// What packets into GPU memory promise, as the GPU itself sees it:
// - a write is there before the next write of its queue pair: a stream that waits for a flag finds
//   all of the data that was written before it;
// - memory that was freed makes an error of the request at once, and of none before it.
//
//   builds/gpu/packets_into_gpu     # a real GPU, or what LD_LIBRARY_PATH finds
//
// Some seconds. Exit status 0: all of it holds. 1: it does not. 77: there is no GPU.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernel.h"
#include "side.h"

namespace gdr::test {
namespace {

constexpr int kPassed = 0, kFailed = 1, kSkipped = 77;
constexpr std::size_t kBytes = 8 << 20;
constexpr std::size_t kLengths[] = {4, 8, 64, 4096, 4100, 65'536, 300'000, 1 << 20, 5 << 20};
constexpr int kRounds = 8;
constexpr unsigned kMostSeconds = 60;

struct Buffer {
  cuda::CUdeviceptr address = 0;
  ibv_mr* region = nullptr;
};

class Test {
 public:
  explicit Test(const cuda::Driver& driver) : driver_(driver) {
    for (Buffer* one : {&target_, &source_, &seen_}) {
      check(driver_, driver_.mem_alloc(&one->address, kBytes), "cuMemAlloc");
    }
    for (Buffer* one : {&target_, &source_}) one->region = registered(one->address);
    check(driver_, driver_.stream_create(&stream_, cuda::CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    ibv_qp* receiver = side_.queue_pair(IBV_QPT_RC, 16, true);
    qp_ = side_.queue_pair(IBV_QPT_RC, 16, true);
    side_.connect(receiver, side_.endpoint(qp_));
    side_.connect(qp_, side_.endpoint(receiver));
  }

  bool flag_comes_behind_its_data();
  bool freed_memory_fails_its_own_request();

 private:
  ibv_mr* registered(cuda::CUdeviceptr address) {
    ibv_mr* region = ibv_reg_mr(side_.domain(), reinterpret_cast<void*>(address), kBytes,
                                static_cast<int>(kAllAccess));
    require(region != nullptr, "GPU memory is registered");
    return region;
  }
  void post(const ibv_sge& from, const Buffer& to, std::size_t place) {
    ibv_send_wr request{};
    request.opcode = IBV_WR_RDMA_WRITE;
    request.wr.rdma = {to.address + place, to.region->rkey};
    side_.post(qp_, request, {from});
  }
  bool is_seen_whole(std::size_t length, std::size_t flag_at, bool from_gpu);

  const cuda::Driver& driver_;
  Side side_;
  Memory& host_ = side_.memory(kBytes);
  Buffer target_, source_, seen_;
  cuda::CUstream stream_ = nullptr;
  ibv_qp* qp_ = nullptr;
  std::uint32_t round_ = 0;
};

// The stream copies the data aside at the moment at which it sees the flag.
bool Test::is_seen_whole(std::size_t length, std::size_t flag_at, bool from_gpu) {
  const std::uint32_t round = ++round_;
  check(driver_, driver_.memset_d8(target_.address, 0, kBytes), "cuMemsetD8");
  host_.fill_pattern(round, 0, length);
  const std::size_t flag_from = kBytes - 4;
  std::memcpy(host_.bytes() + flag_from, &round, sizeof round);
  check(driver_, driver_.memcpy_htod(source_.address, host_.bytes(), kBytes), "cuMemcpyHtoD");
  check(driver_, driver_.ctx_synchronize(), "cuCtxSynchronize");
  check(driver_,
        driver_.stream_wait_value_32(stream_, target_.address + flag_at, round,
                                     cuda::CU_STREAM_WAIT_VALUE_EQ),
        "cuStreamWaitValue32");
  check(driver_, driver_.memcpy_async(seen_.address, target_.address, length, stream_),
        "cuMemcpyAsync");
  const auto from = [&](std::size_t offset, std::size_t bytes) {
    return from_gpu ? ibv_sge{source_.address + offset, static_cast<std::uint32_t>(bytes),
                              source_.region->lkey}
                    : host_.segment(offset, bytes);
  };
  post(from(0, length), target_, 0);
  post(from(flag_from, 4), target_, flag_at);  // waits for nothing
  side_.expect(IBV_WC_SUCCESS);
  side_.expect(IBV_WC_SUCCESS);
  check(driver_, driver_.stream_synchronize(stream_), "cuStreamSynchronize");
  std::vector<std::uint8_t> found(length);
  check(driver_, driver_.memcpy_dtoh(found.data(), seen_.address, length), "cuMemcpyDtoH");
  return std::memcmp(found.data(), host_.bytes(), length) == 0;
}

bool Test::flag_comes_behind_its_data() {
  bool all = true;
  for (const bool from_gpu : {false, true}) {
    for (const std::size_t length : kLengths) {
      for (const std::size_t flag_at : {length, std::size_t{6} << 20}) {  // right behind, far away
        int wrong = 0;
        for (int i = 0; i < kRounds; ++i) wrong += is_seen_whole(length, flag_at, from_gpu) ? 0 : 1;
        if (wrong == 0) continue;
        std::printf("FAIL: %zu B from %s, flag at %zu: incomplete in %d of %d rounds\n", length,
                    from_gpu ? "the GPU" : "the host", flag_at, wrong, kRounds);
        all = false;
      }
    }
  }
  std::printf("%s: a flag is seen behind all of its data\n", all ? "ok" : "FAIL");
  return all;
}

bool Test::freed_memory_fails_its_own_request() {
  Buffer freed;
  check(driver_, driver_.mem_alloc(&freed.address, kBytes), "cuMemAlloc");
  freed.region = registered(freed.address);
  host_.fill_pattern(99, 0, kBytes);
  post(host_.segment(0, 1 << 20), target_, 0);
  post(host_.segment(0, 1 << 20), freed, 0);
  side_.expect(IBV_WC_SUCCESS);
  side_.expect(IBV_WC_SUCCESS);
  check(driver_, driver_.mem_free(freed.address), "cuMemFree");
  post(host_.segment(0, 300'000), target_, 0);
  post(host_.segment(0, 300'000), freed, 0);
  post(host_.segment(0, 8), target_, 0);
  const ibv_wc good = side_.completion(), bad = side_.completion(), behind = side_.completion();
  std::vector<std::uint8_t> found(300'000);
  check(driver_, driver_.memcpy_dtoh(found.data(), target_.address, found.size()), "cuMemcpyDtoH");
  const bool right = good.status == IBV_WC_SUCCESS && bad.status == IBV_WC_REM_OP_ERR &&
                     behind.status == IBV_WC_WR_FLUSH_ERR &&
                     std::memcmp(found.data(), host_.bytes(), found.size()) == 0;
  std::printf("%s: freed memory: %s, %s, %s\n", right ? "ok" : "FAIL",
              ibv_wc_status_str(good.status), ibv_wc_status_str(bad.status),
              ibv_wc_status_str(behind.status));
  ibv_dereg_mr(freed.region);
  return right;
}

int run() {
  const Result<const cuda::Driver*> loaded = cuda::Driver::load();
  if (!loaded) {
    std::printf("skipped: %s\n", loaded.error().message.c_str());
    return kSkipped;
  }
  const cuda::Driver& driver = **loaded;
  cuda::CUcontext primary = nullptr;
  if (driver.init(0) != cuda::CUDA_SUCCESS ||
      driver.device_primary_ctx_retain(&primary, 0) != cuda::CUDA_SUCCESS ||
      driver.ctx_set_current(primary) != cuda::CUDA_SUCCESS ||
      driver.stream_wait_value_32 == nullptr) {
    std::printf("skipped: no GPU, or a driver before CUDA 11.7\n");
    return kSkipped;
  }
  Test test(driver);
  const bool ordered = test.flag_comes_behind_its_data();
  return test.freed_memory_fails_its_own_request() && ordered ? kPassed : kFailed;
}

}  // namespace
}  // namespace gdr::test

int main() {
  setenv("GDR_SOFT_PATH", "packets", 1);
  alarm(gdr::test::kMostSeconds);
  try {
    return gdr::test::run();
  } catch (const std::exception& failure) {
    std::printf("FAIL: %s\n", failure.what());
    return gdr::test::kFailed;
  }
}
