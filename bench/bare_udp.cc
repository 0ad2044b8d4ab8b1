// bare_udp stream|latency [--size BYTES] [--packet BYTES] [--window BYTES] [--segmentation on|off]
//                         [--even on|off] [--bind ADDRESS] [-n N] -p PORT [HOST]
//
// What the kernel's UDP can do with packets like RoCEv2's and nothing around them: the limit that
// wire_peers.py holds the software NIC against. Without HOST: the server.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "bare_measure.h"

namespace {

using gdr::bench::BareOptions;

constexpr std::uint64_t kStreamCount = 40'000;
constexpr std::uint64_t kLatencyCount = 100'000;
constexpr std::uint64_t kLatencySize = 64;

bool read_number(std::string_view text, std::uint64_t* number) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, *number);
  return parsed.ec == std::errc() && parsed.ptr == end && *number > 0;
}

bool read_switch(std::string_view text, bool* on) {
  *on = text == "on";
  return *on || text == "off";
}

bool take_option(std::string_view name, const char* value, BareOptions* options) {
  if (value == nullptr) return false;
  if (name == "--size") return read_number(value, &options->size);
  if (name == "--packet") return read_number(value, &options->packet);
  if (name == "--window") return read_number(value, &options->window);
  if (name == "-n") return read_number(value, &options->count);
  if (name == "--bind") return options->bind = value, true;
  if (name == "--segmentation") return read_switch(value, &options->segmentation);
  if (name == "--even") return read_switch(value, &options->even);
  std::uint64_t port = 0;
  if (name != "-p" || !read_number(value, &port) || port > 0xffff) return false;
  options->port = static_cast<std::uint16_t>(port);
  return true;
}

std::optional<BareOptions> read_arguments(int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  const std::string_view what = argv[1];
  if (what != "stream" && what != "latency") return std::nullopt;
  BareOptions options;
  options.latency = what == "latency";
  if (options.latency) options.size = kLatencySize;
  for (int i = 2; i < argc; ++i) {
    if (argv[i][0] != '-') {
      options.host = argv[i];
    } else if (!take_option(argv[i], i + 1 < argc ? argv[i + 1] : nullptr, &options)) {
      return std::nullopt;
    } else {
      ++i;
    }
  }
  if (options.count == 0) options.count = options.latency ? kLatencyCount : kStreamCount;
  const bool whole = options.latency || options.size % options.packet == 0;
  if (options.port == 0 || !whole) return std::nullopt;
  return options;
}

gdr::Result<void> run(const BareOptions& options) {
  const gdr::Result<gdr::bench::BarePair> pair = gdr::bench::BarePair::meet(options);
  if (!pair) return pair.error();
  const bool client = !options.host.empty();
  if (options.latency) return client ? ask(*pair) : answer(*pair);
  return client ? send_stream(*pair) : receive_stream(*pair);
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<BareOptions> options = read_arguments(argc, argv);
  if (!options) {
    std::fprintf(stderr,
                 "usage: bare_udp stream|latency [--size BYTES] [--packet BYTES] [--window BYTES]\n"
                 "                [--segmentation on|off] [--even on|off] [--bind ADDRESS] [-n N]\n"
                 "                -p PORT [HOST]\n"
                 "--size is a multiple of --packet\n");
    return 2;
  }
  if (const gdr::Result<void> done = run(*options); !done) {
    std::fprintf(stderr, "bare_udp: %s\n", done.error().message.c_str());
    return 1;
  }
  return 0;
}
