// Neighbours: the switch port at the other end of each network interface, as the LLDP daemon of
// this host has learned it.
//
//   const std::map<std::string, Neighbour> known = ask_neighbours();
//   if (auto found = known.find("eth0"); found != known.end()) puts(found->second.leaf.c_str());
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace gdr::fabric::worker {

struct Neighbour {
  std::string leaf, port;
};

// By network interface. Of what `lldpctl -f keyvalue` prints.
std::map<std::string, Neighbour> parse_neighbours(std::string_view text);

// Runs lldpctl, for two seconds at most. Empty where it is not installed, or knows nothing.
std::map<std::string, Neighbour> ask_neighbours();

}  // namespace gdr::fabric::worker
