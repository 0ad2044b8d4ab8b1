// Uses what the C++ library and newer glibc changed: see old_glibc.sh.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

namespace {

struct Global {
  Global() { puts("constructed"); }
  ~Global() { puts("destroyed"); }
} global;

void wait_for_a_time() {
  using namespace std::chrono_literals;
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  // Longer than the longest wait of pthread_cond_clockwait's own.
  never.wait_for(lock, 1200ms, [] { return false; });
  const auto waited = std::chrono::steady_clock::now() - begin;
  if (waited >= 1200ms && waited < 10s) puts("waited");
}

void throw_one() { throw std::runtime_error("caught"); }

}  // namespace

int main() {
  try {
    throw_one();
  } catch (const std::exception& error) {
    puts(error.what());
  }
  wait_for_a_time();
  std::thread([] {
    pthread_setname_np(pthread_self(), "probe");
    if (gettid() != getpid()) puts("thread");
  }).join();
  struct stat status;
  if (stat("/proc/self/exe", &status) == 0 && std::filesystem::is_directory("/proc/self")) {
    puts("file");
  }
  std::random_device random;
  if (random() != random() && dlsym(RTLD_DEFAULT, "malloc") != nullptr) puts("random");
}
