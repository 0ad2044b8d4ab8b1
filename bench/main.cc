// Speed of the software NIC between two processes of one host, beside the limit that the kernel
// sets: bench/README.md.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <charconv>
#include <cstring>
#include <vector>

#include "claims.h"
#include "session.h"
#include "target.h"
#include "transfers.h"

namespace {

// The socket of a program that was started as the target; -1: it was not.
int target_socket(int argc, char** argv) {
  if (argc != 3 || std::strcmp(argv[1], gdr::bench::kTargetRole) != 0) return -1;
  int socket = -1;
  const char* end = argv[2] + std::strlen(argv[2]);
  const auto parsed = std::from_chars(argv[2], end, socket);
  return parsed.ec == std::errc() && parsed.ptr == end ? socket : -1;
}

void name_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&ibv_get_device_list), &info) != 0) {
    benchmark::AddCustomContext("libibverbs", info.dli_fname);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (const int socket = target_socket(argc, argv); socket >= 0) {
    return gdr::bench::run_target(socket);
  }
  // Counters as columns unless told otherwise: what follows overrides.
  char tabular[] = "--benchmark_counters_tabular=true";
  std::vector<char*> arguments(argv, argv + argc);
  arguments.insert(arguments.begin() + 1, tabular);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  name_library();
  gdr::bench::Session session;
  gdr::bench::register_transfers(session);
  benchmark::BenchmarkReporter* display = benchmark::CreateDefaultDisplayReporter();
  benchmark::RunSpecifiedBenchmarks(display);
  // What a machine reads stays what it asked for.
  const bool for_people = dynamic_cast<benchmark::ConsoleReporter*>(display) != nullptr;
  gdr::bench::print_claims(for_people ? stdout : stderr);
  benchmark::Shutdown();
  return 0;
}
