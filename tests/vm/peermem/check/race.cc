#include <time.h>

#include <atomic>
#include <memory>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

#include "cases.h"
#include "fail.h"
#include "gpu_memory.h"
#include "loopback.h"

namespace peermem_check {
namespace {

constexpr std::size_t kBytes = 4 * kGpuPage;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

struct Outcome {
  std::atomic<unsigned> registered{0};
  std::atomic<unsigned> refused{0};
};

// One thread registers, its partner frees.
class Pair {
 public:
  Pair(ibv_pd* pd, unsigned number, unsigned rounds, Outcome& outcome)
      : pd_(pd),
        address_(kAddress + number * (1ULL << 32)),
        rounds_(rounds),
        outcome_(outcome),
        random_(number) {}

  void run() {
    std::thread partner([this] { free_all(); });
    // How long a registration takes, and then any moment of two such times.
    typical_ns_ = 1'000'000;
    for (unsigned i = 0; i < rounds_; ++i) one_round();
    memory_.reset();
    begin_.release();
    partner.join();
  }

 private:
  void one_round() {
    memory_.reset();  // the address is wanted again
    memory_ = std::make_unique<GpuMemory>(address_, kBytes);
    free_after_ns_ = std::uniform_int_distribution<std::int64_t>(0, 2 * typical_ns_)(random_);
    begin_.release();
    const std::int64_t start = now_ns();
    ibv_mr* region = ibv_reg_mr(pd_, memory_->data(), kBytes, kRights);
    if (region) {
      require(ibv_dereg_mr(region) == 0, "ibv_dereg_mr");
      ++outcome_.registered;
      typical_ns_ = (typical_ns_ * 7 + now_ns() - start) / 8;
    } else {
      if (errno != EFAULT) fail("a registration in the race");
      ++outcome_.refused;
    }
    end_.acquire();
  }

  void free_all() {
    for (;;) {
      begin_.acquire();
      if (!memory_) return;
      const std::int64_t until = now_ns() + free_after_ns_;
      while (now_ns() < until) std::this_thread::yield();
      memory_->free();
      end_.release();
    }
  }

  ibv_pd* pd_;
  std::uint64_t address_;
  unsigned rounds_;
  Outcome& outcome_;
  std::mt19937 random_;
  std::unique_ptr<GpuMemory> memory_;
  std::int64_t free_after_ns_ = 0;
  std::int64_t typical_ns_ = 0;
  std::binary_semaphore begin_{0};
  std::binary_semaphore end_{0};
};

}  // namespace

void races(unsigned threads, unsigned registrations) {
  Loopback nic;
  Outcome outcome;
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) {
    all.emplace_back([&, i] { Pair(nic.pd(), i, registrations / threads, outcome).run(); });
  }
  for (std::thread& one : all) one.join();
  printf("%u registered, %u refused\n", outcome.registered.load(), outcome.refused.load());
}

}  // namespace peermem_check
