// byte_check: every operation of RC, UC and UD between two hosts, in both directions, each byte
// compared by the owner of the memory, with guards around it. Programs of the field measure and
// compare little; this is what says that the data was right.
//
//   byte_check -d DEVICE -g GID-INDEX [-p PORT] [-l] [-r] [SERVER]
//
// Without SERVER it waits for the other side. -l: packets may be lost; -r: RC
// alone, where a packet may come twice or late, and nobody could tell whose it is. A line for each
// group of cases; exit status 0 when all were right on both sides.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cases.h"

namespace {

using byte_check::Case;

struct Options {
  const char* device = nullptr;
  const char* server = nullptr;
  int gid_index = 0;
  int port = 18600;
  bool lossy = false;
  bool reliable_only = false;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int option; (option = getopt(argc, argv, "d:g:p:lr")) != -1;) {
    if (option == 'd') options.device = optarg;
    if (option == 'g') options.gid_index = atoi(optarg);
    if (option == 'p') options.port = atoi(optarg);
    if (option == 'l') options.lossy = true;
    if (option == 'r') options.reliable_only = true;
    if (option == '?') exit(2);
  }
  if (!options.device) exit(2);
  if (optind < argc) options.server = argv[optind];
  return options;
}

const char* name_of(ibv_qp_type transport) {
  return transport == IBV_QPT_RC ? "RC" : transport == IBV_QPT_UC ? "UC" : "UD";
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  const bool client = options.server != nullptr;
  // The client's packet sequence numbers soon wrap around.
  byte_check::Endpoint side(options.device, options.gid_index, client ? 0xfffff0 : 0x1234);
  const auto port = static_cast<std::uint16_t>(options.port);
  byte_check::Link link =
      client ? byte_check::Link::to(options.server, port) : byte_check::Link::await(port);
  side.connect(link.swap(side.ends()));
  link.meet();
  int count = 0, failures = 0;
  for (bool client_is_active : {true, false}) {
    for (const Case& c : byte_check::cases(side.mtu(), options.lossy, options.reliable_only)) {
      const bool active = client == client_is_active;
      const std::string seen =
          byte_check::run(side, link, c, active, 100 + static_cast<std::uint64_t>(count));
      ++count;
      if (seen.empty()) continue;
      ++failures;
      printf("wrong: %s %s of %u bytes, %s: %s\n", name_of(c.transport), c.name, c.bytes,
             active ? "from here" : "to here", seen.c_str());
      if (c.transport == IBV_QPT_RC) return 1;  // the connection is in error
    }
  }
  for (std::uint64_t round = 0; round < 2; ++round) {
    const std::string seen = byte_check::run_many(side, link, 1000 * (round + 1));
    if (!seen.empty()) {
      printf("wrong: many at once: %s\n", seen.c_str());
      return 1;
    }
  }
  printf("%d transfers and 2 x 384 at once each way, path MTU %u: %s\n", count, side.mtu(),
         failures ? "wrong" : "every byte right");
  return failures ? 1 : 0;
}
