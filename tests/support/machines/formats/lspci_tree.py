"""What `lspci -tv` prints (pciutils, ls-tree.c): a line goes on to the right as long as there is
one function only, and branches off below where there are more."""

from formats.names import device_text


def text(machine):
    roots = sorted(machine.bridges, key=lambda bridge: (bridge.domain, bridge.bus))
    writer = _Writer()
    writer.branches("-", [(f"[{root.domain:04x}:{root.bus:02x}]-", root) for root in roots],
                    lambda line, root: writer.bus(line, root.functions), alone="")
    return "".join(line + "\n" for line in writer.lines)


class _Writer:
    def __init__(self):
        self.lines = []

    def branches(self, line, entries, go_on, alone):
        """`line` is what stands to the left; from its second line on only the bars of it."""
        for index, (label, entry) in enumerate(entries):
            last = index == len(entries) - 1
            fork = alone if len(entries) == 1 else ("\\-" if last else "+-")
            go_on(line + fork + label, entry)
            line = "".join("|" if letter in "+|" else " " for letter in line)

    def bus(self, line, functions):
        functions = sorted(functions, key=lambda function: function.number)
        if not functions:
            self.lines.append(line)
        self.branches(line, [(function.number, function) for function in functions],
                      self.function, alone="--")

    def function(self, line, function):
        if not function.buses:
            self.lines.append(f"{line}  {device_text(function.part)}")
            return
        first, last = function.buses
        buses = f"{first:02x}" if first == last else f"{first:02x}-{last:02x}"
        self.bus(f"{line}-[{buses}]--", function.below)
