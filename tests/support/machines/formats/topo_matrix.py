"""What `nvidia-smi topo -m` prints. Its cells are facts of the description, and not worked out
here: they are what the machine's own driver said."""

LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

"""


def text(gpus, nics, cells, affinity):
    """gpus: how many; nics: their names; cells: a row of words for each of both; affinity: of each
    GPU its processors and its node."""
    labels = [f"GPU{number}" for number in range(gpus)]
    labels += [f"NIC{number}" for number in range(len(nics))]
    lines = ["\t".join(["", *labels, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
    for index, (label, row) in enumerate(zip(labels, cells)):
        words = [" X  " if word == "X" else word for word in row.split()]
        if index < gpus:
            processors, node = affinity[index]
            words += [processors, str(node), "", "N/A"]
        lines.append("\t".join([label, *words]).rstrip())
    names = [f"  NIC{number}: {name}" for number, name in enumerate(nics)]
    return "\n".join([*lines, LEGEND.rstrip("\n"), "", *names, ""])
