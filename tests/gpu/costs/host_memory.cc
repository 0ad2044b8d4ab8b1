// Between GPU memory and ordinary memory of hosts: by the driver alone, and through a ring of
// pinned chunks that threads fill or empty.
#include <emmintrin.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "ways.h"

namespace gdr::costs {

using namespace cuda;

namespace {

constexpr int kRounds = 7;
constexpr unsigned kMostThreads = 8;

// Stores that leave the cache alone. Whole cache lines.
void copy_around_cache(std::byte* to, const std::byte* from, std::size_t bytes) {
  auto* target = reinterpret_cast<__m128i*>(to);
  const auto* source = reinterpret_cast<const __m128i*>(from);
  for (std::size_t i = 0; i < bytes / sizeof(__m128i); i += 4) {
    const __m128i a = _mm_loadu_si128(source + i), b = _mm_loadu_si128(source + i + 1);
    const __m128i c = _mm_loadu_si128(source + i + 2), d = _mm_loadu_si128(source + i + 3);
    _mm_stream_si128(target + i, a);
    _mm_stream_si128(target + i + 1, b);
    _mm_stream_si128(target + i + 2, c);
    _mm_stream_si128(target + i + 3, d);
  }
  _mm_sfence();
}

// Threads of this process that work at jobs while it lives.
class Crew {
 public:
  Crew(Jobs& jobs, std::function<void(unsigned job)> work) : jobs_(jobs), work_(std::move(work)) {
    for (unsigned i = 0; i < kMostThreads; ++i) {
      threads_.emplace_back([this, i] {
        while (jobs_.stop == 0) {
          const unsigned job = jobs_.take(i);
          if (job != Jobs::kMost) {
            work_(job);
            jobs_.finish(job);
          } else if (i >= jobs_.threads.load()) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
          }
        }
      });
    }
  }
  ~Crew() {
    jobs_.stop = 1;
    for (std::thread& thread : threads_) thread.join();
    jobs_.stop = 0;
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

 private:
  Jobs& jobs_;
  std::function<void(unsigned)> work_;
  std::vector<std::thread> threads_;
};

struct Ring {
  Setup& setup;
  std::vector<CUevent> events;
  explicit Ring(Setup& its_setup) : setup(its_setup), events(Jobs::kMost) {
    for (CUevent& event : events) {
      must(driver->event_create(&event, CU_EVENT_DISABLE_TIMING), "event");
    }
    must(driver->mem_host_register(setup.other.shared().ring, kBytes,
                                   CU_MEMHOSTREGISTER_PORTABLE_FLAG),
         "cuMemHostRegister");
  }

  // Threads fill chunks, the GPU fetches them.
  double to_gpu(Jobs& jobs, unsigned threads, unsigned chunk, unsigned slots) {
    const std::byte* ring = setup.other.shared().ring;
    const unsigned count = kBytes / chunk;
    unsigned filled = 0, fetched = 0;
    const auto start = clock_now();
    jobs.begin(threads, chunk, slots);
    for (unsigned posted = 0; fetched < count;) {
      for (; posted < count && posted < fetched + slots; ++posted) jobs.post();
      if (filled < count && jobs.done[filled].load(std::memory_order_acquire) != 0) {
        must(driver->memcpy_htod_async(setup.to + std::size_t{filled} * chunk,
                                       ring + std::size_t{filled % slots} * chunk, chunk,
                                       setup.stream),
             "cuMemcpyHtoDAsync");
        must(driver->event_record(events[filled++], setup.stream), "cuEventRecord");
      } else if (fetched < filled && driver->event_query(events[fetched]) == CUDA_SUCCESS) {
        ++fetched;
      }
    }
    return micros_since(start);
  }

  // The GPU fills chunks, threads carry them away.
  double from_gpu(Jobs& jobs, unsigned threads, unsigned chunk, unsigned slots) {
    std::byte* ring = setup.other.shared().ring;
    const unsigned count = kBytes / chunk;
    unsigned issued = 0, arrived = 0, carried = 0;
    const auto start = clock_now();
    jobs.begin(threads, chunk, slots);
    while (carried < count) {
      if (issued < count && issued < carried + slots) {
        must(driver->memcpy_dtoh_async(ring + std::size_t{issued % slots} * chunk,
                                       setup.from + std::size_t{issued} * chunk, chunk,
                                       setup.stream),
             "cuMemcpyDtoHAsync");
        must(driver->event_record(events[issued++], setup.stream), "cuEventRecord");
      }
      if (arrived < issued && driver->event_query(events[arrived]) == CUDA_SUCCESS) {
        ++arrived;
        jobs.post();
      }
      while (carried < arrived && jobs.done[carried].load(std::memory_order_acquire) != 0) {
        ++carried;
      }
    }
    return micros_since(start);
  }
};

double rate(const std::function<double()>& once) {
  std::vector<double> times;
  (void)once();
  for (int i = 0; i < kRounds; ++i) times.push_back(once());
  return static_cast<double>(kBytes) / median(times) / 1e3;
}

double rate_of(Setup& setup, const std::function<CUresult()>& issue) {
  return rate([&] {
    const auto start = clock_now();
    must(issue(), "copy");
    must(driver->stream_synchronize(setup.stream), "cuStreamSynchronize");
    return micros_since(start);
  });
}

using Measure = std::function<double(unsigned threads, unsigned chunk, unsigned slots)>;

void table(const char* name, const Measure& measure) {
  std::printf("%s, GB/s\n  %-16s", name, "chunk, slots");
  for (const unsigned threads : {1u, 2u, 3u, 4u, 6u, 8u})
    std::printf("  %u thread%s", threads, threads > 1 ? "s" : " ");
  std::printf("\n");
  for (const unsigned chunk : {128u << 10, 256u << 10, 512u << 10, 1u << 20, 2u << 20, 4u << 20}) {
    for (const unsigned slots : {4u, 16u}) {
      if (chunk * slots > kBytes / 2) continue;
      std::printf("  %4u KiB, %2u    ", chunk >> 10, slots);
      for (const unsigned threads : {1u, 2u, 3u, 4u, 6u, 8u}) {
        std::printf("  %8.2f ", rate([&] { return measure(threads, chunk, slots); }));
        std::fflush(stdout);
      }
      std::printf("\n");
    }
  }
}

std::byte* ordinary_memory() {
  auto* memory = static_cast<std::byte*>(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(memory, 3, kBytes);
  return memory;
}

}  // namespace

void from_host_memory(int gpu, int far) {
  apart([&] {
    Setup setup(kWays[0], gpu, far);
    std::printf("\n== host memory of this process into the other's GPU, 64 MiB\n");
    std::byte* plain = ordinary_memory();
    std::printf(
        "pinned by the program: %.1f GB/s; ordinary, by the driver: %.1f GB/s\n",
        rate_of(setup,
                [&] {
                  return driver->memcpy_htod_async(setup.to, setup.pinned, kBytes, setup.stream);
                }),
        rate_of(setup,
                [&] { return driver->memcpy_htod_async(setup.to, plain, kBytes, setup.stream); }));
    const auto start = clock_now();
    const CUresult r = driver->mem_host_register(plain, kBytes, CU_MEMHOSTREGISTER_PORTABLE_FLAG);
    if (r == CUDA_SUCCESS) {
      std::printf("to pin 64 MiB takes %.0f us", micros_since(start));
      const auto then = clock_now();
      must(driver->mem_host_unregister(plain), "cuMemHostUnregister");
      std::printf(", and to let it go %.0f us\n", micros_since(then));
    }
    Ring ring(setup);
    Shared& shared = setup.other.shared();
    Jobs jobs{};
    for (const bool around : {false, true}) {
      Crew crew(jobs, [&](unsigned job) {
        const std::size_t chunk = jobs.chunk;
        std::byte* to = shared.ring + job % jobs.slots * chunk;
        if (around) {
          copy_around_cache(to, plain + job * chunk, chunk);
        } else {
          std::memcpy(to, plain + job * chunk, chunk);
        }
      });
      table(around ? "ring, filled around the cache" : "ring, filled by memcpy",
            [&](unsigned threads, unsigned chunk, unsigned slots) {
              return ring.to_gpu(jobs, threads, chunk, slots);
            });
    }
  });
}

void to_host_memory(int gpu, int far) {
  apart([&] {
    Setup setup(kWays[0], gpu, far);
    std::printf("\n== GPU memory of this process into ordinary memory of the other, 64 MiB\n");
    std::printf("bare, into own pinned memory: %.1f GB/s\n", rate_of(setup, [&] {
                  return driver->memcpy_dtoh_async(setup.pinned, setup.from, kBytes, setup.stream);
                }));
    Ring ring(setup);
    Shared& shared = setup.other.shared();
    std::byte* far_host = setup.other.told().host;
    Jobs jobs{};
    {
      Crew crew(jobs, [&](unsigned job) {
        const std::size_t chunk = jobs.chunk;
        const iovec here{shared.ring + job % jobs.slots * chunk, chunk};
        const iovec there{far_host + job * chunk, chunk};
        (void)process_vm_writev(setup.other.pid(), &here, 1, &there, 1, 0);
      });
      table("ring, carried by process_vm_writev here",
            [&](unsigned threads, unsigned chunk, unsigned slots) {
              return ring.from_gpu(jobs, threads, chunk, slots);
            });
    }
    table("ring, copied by the other's threads",
          [&](unsigned threads, unsigned chunk, unsigned slots) {
            return ring.from_gpu(shared.jobs, threads, chunk, slots);
          });
  });
}

}  // namespace gdr::costs
