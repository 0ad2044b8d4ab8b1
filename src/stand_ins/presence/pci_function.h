// The files that the kernel shows of a PCI function, for a software NIC that has a place among the
// machine's. Its numbers are 0000:0000, which PCI-SIG gives to nobody, and its label says what it
// is.
//
//   for (Entry& entry : make_pci_function(place, 100)) entries.push_back(std::move(entry));
#pragma once

#include <vector>

#include "presence/entry.h"
#include "presence/place.h"

namespace gdr::presence {

// `gigabits`: the port's nominal speed, which the link has to carry.
std::vector<Entry> make_pci_function(const Place& place, unsigned gigabits);

}  // namespace gdr::presence
