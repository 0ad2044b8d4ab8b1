// What a packet costs before any byte is sent: each version of the CRC, the ICRC of whole packets,
// reading and writing headers. Inputs are in the cache, as a payload is that has just been copied.
#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <vector>

#include "wire/icrc.h"
#include "wire/packet.h"

namespace {

using namespace gdr::wire;

constexpr std::uint8_t kWriteOnly =
    make_opcode(Transport::kReliableConnection, Operation::kWriteOnly);

Flow ipv4_flow() {
  Flow flow{{}, {}, 0xc000, kRocePort};
  flow.source[10] = flow.source[11] = flow.destination[10] = flow.destination[11] = 0xff;
  return flow;
}

// A write's whole datagram, ICRC included.
std::vector<std::byte> datagram_of(std::size_t payload) {
  std::vector<std::byte> datagram(find_opcode(kWriteOnly)->header_bytes + payload + kIcrcBytes);
  datagram[0] = std::byte{kWriteOnly};
  return datagram;
}

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

void crc(benchmark::State& state, CrcFunction update) {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)));
  std::uint32_t crc = 1;
  for (auto _ : state) crc = update(crc, bytes.data(), bytes.size());
  benchmark::DoNotOptimize(crc);
  count_bytes(state, bytes.size());
}

void icrc(benchmark::State& state) {
  const std::vector<std::byte> datagram = datagram_of(static_cast<std::size_t>(state.range(0)));
  const std::span<const std::byte> covered(datagram.data(), datagram.size() - kIcrcBytes);
  Flow flow = ipv4_flow();
  for (auto _ : state) {
    flow.source_port = static_cast<std::uint16_t>(icrc_of(flow, 0, covered));
  }
  benchmark::DoNotOptimize(flow);
  count_bytes(state, datagram.size());
}
BENCHMARK(icrc)->Arg(0)->Arg(256)->Arg(1024)->Arg(4096);

void icrc_beginning(benchmark::State& state) {
  Flow flow = ipv4_flow();
  const std::array<std::byte, kBthBytes> headers{};
  for (auto _ : state) {
    flow.source_port = static_cast<std::uint16_t>(icrc_begin(flow, 0, 4128, headers).value());
  }
  benchmark::DoNotOptimize(flow);
}
BENCHMARK(icrc_beginning);

void identification(benchmark::State& state) {
  std::uint32_t received = 1;
  for (auto _ : state) {
    received += 1u + solve_identification(7, received, 4128).value_or(0);
  }
  benchmark::DoNotOptimize(received);
}
BENCHMARK(identification);

void reading(benchmark::State& state) {
  const std::vector<std::byte> datagram = datagram_of(4096);
  Packet packet;
  for (auto _ : state) {
    benchmark::DoNotOptimize(parse(datagram, &packet));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(reading);

void writing(benchmark::State& state) {
  const std::vector<std::byte> datagram = datagram_of(4096);
  Packet packet;
  if (parse(datagram, &packet) != ParseError::kNone) return state.SkipWithError("not parsed");
  std::byte headers[kMostHeaderBytes];
  for (auto _ : state) {
    benchmark::DoNotOptimize(write_headers(packet, headers));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(writing);

}  // namespace

int main(int argc, char** argv) {
  for (const CrcVersion& version : crc_versions()) {
    benchmark::RegisterBenchmark((std::string("crc/") + version.name).c_str(), crc, version.update)
        ->Arg(12)
        ->Arg(28)
        ->Arg(64)
        ->Arg(256)
        ->Arg(1024)
        ->Arg(4096);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
