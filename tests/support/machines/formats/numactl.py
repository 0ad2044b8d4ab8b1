"""What `numactl --hardware` prints (numactl, numactl.c)."""


def text(machine):
    nodes = machine.nodes
    numbers = [node.number for node in nodes]
    lines = [f"available: {len(nodes)} nodes ({numbers[0]}-{numbers[-1]})"]
    for node in nodes:
        processors = " ".join(str(number) for first, last in node.processors
                              for number in range(first, last + 1))
        lines += [f"node {node.number} cpus: {processors}",
                  f"node {node.number} size: {node.memory >> 20} MB",
                  f"node {node.number} free: {node.free >> 20} MB"]
    lines += ["node distances:", "node" + "".join(f"{number:>4}" for number in numbers)]
    for node in nodes:
        row = " ".join(f"{distance:>3}" for distance in node.distances)
        lines.append(f"{node.number:>3}: {row}")
    return "\n".join([*lines, ""])
