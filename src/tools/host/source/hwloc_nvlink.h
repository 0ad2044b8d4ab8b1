// NVLinks in hwloc's XML: a matrix of bandwidths between GPUs, and between GPUs and NVSwitches.
//
//   <distances2 type="OSDev" nbobjs="2" kind="25" name="NVLinkBandwidth" indexing="gp">
//     <indexes length="8">332 333 </indexes>
//     <u64values length="30">1000000 40000 40000 1000000 </u64values>
//   </distances2>
#pragma once

#include <vector>

#include "base/result.h"
#include "host/inventory.h"
#include "host/source/xml.h"

namespace gdr::host {

// Fails where the document has no such matrix, or a broken one.
Result<std::vector<NvLinks>> read_hwloc_nvlinks(const XmlElement& topology, const PciTree& tree);

}  // namespace gdr::host
