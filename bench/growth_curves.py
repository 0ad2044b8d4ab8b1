"""What growth_page.py draws: the curves, and the exponent of each.

A curve is a figure of bench_growth at each count. Its exponent is the slope between the logarithms
of count and figure over the three largest counts: 0 does not grow, 1 grows as the count does. It is
fitted in each round by itself; the median of the rounds counts.
"""
import dataclasses
import math
import statistics


@dataclasses.dataclass(frozen=True)
class Curve:
    name: str          # as the page calls it
    figure: str        # of bench_growth's line
    unit: str          # "s", "B", "1" or "ms/s"
    scale: float = 1.0  # what one of the figure is in that unit
    each: bool = False  # the growth since none, divided by the count


@dataclasses.dataclass(frozen=True)
class Panel:
    what: str     # which lines: bench_growth's first argument
    title: str
    axis: str     # what is counted
    curves: tuple


US, MS = 1e-6, 1e-3


def steps(thing):
    return (Curve(f"create one {thing}", "create_us", "s", US),
            Curve("connect it", "connect_us", "s", US),
            Curve("destroy it", "destroy_us", "s", US),
            Curve("register 64 B beside them", "register_us", "s", US),
            Curve("deregister", "deregister_us", "s", US))


def transfers(plural, infix):
    """Writes and sends over one of the queue pairs, and over all in turn."""
    return tuple(Curve(f"{words}{plural}, {way}", f"{name}{infix}_{key}_us", "s", US)
                 for words, name in (("8 B write", "write"), ("64 B send", "send"))
                 for way, key in (("one of them", "one"), ("all in turn", "all")))


def latencies():
    return (*transfers("", ""), Curve("64 B send, by events", "event_one_us", "s", US))


def rates():
    return transfers("s", "_rate")


def memory(thing):
    return (Curve(f"own memory of one {thing}", "own_bytes", "B", each=True),
            Curve("of it in the shared segment", "segment_bytes", "B", each=True))


def processor_time():
    return (Curve("a write each millisecond", "paced_cpu_ms", "ms/s"),
            Curve("nothing to do", "idle_cpu_ms", "ms/s"))


PANELS = (
    Panel("queue-pairs", "Queue pairs: calls", "queue pairs", steps("with its completion queue")),
    Panel("queue-pairs", "Queue pairs: latency", "queue pairs", latencies()),
    Panel("queue-pairs", "Queue pairs: time per message, 16 under way", "queue pairs", rates()),
    Panel("queue-pairs", "Queue pairs: memory", "queue pairs", memory("queue pair")),
    Panel("connections", "Connections by packets: calls", "connections",
          steps("with its completion queue")),
    Panel("connections", "Connections by packets: latency", "connections", latencies()),
    Panel("connections", "By packets: time per message, 16 under way", "connections", rates()),
    Panel("connections", "Connections by packets: memory", "connections", memory("connection")),
    Panel("connections", "By packets: the library's threads", "connections", processor_time()),
    Panel("registrations", "Registrations: calls", "registrations",
          (Curve("register one more", "register_us", "s", US),
           Curve("deregister it", "deregister_us", "s", US),
           Curve("8 B write by random keys", "write_us", "s", US))),
    Panel("registrations", "Registrations: memory", "registrations",
          (Curve("own memory of one registration", "own_bytes", "B", each=True),)),
    Panel("gpu-registrations", "Registrations of GPU memory: calls", "registrations, each of its own allocation",
          (Curve("register one more", "register_us", "s", US),
           Curve("deregister it", "deregister_us", "s", US),
           Curve("processor time of the library's threads", "background_us", "s", US),
           Curve("8 B write by random keys", "write_us", "s", US))),
    Panel("gpu-registrations", "Registrations of GPU memory: memory", "registrations, each of its own allocation",
          (Curve("own memory of one registration", "own_bytes", "B", each=True),)),
    Panel("processes", "Processes: meeting", "processes",
          (Curve("all open the device", "open_ms", "s", MS),
           Curve("the same, processor time of each", "open_cpu_ms", "s", MS),
           Curve("all connect to all", "connect_ms", "s", MS),
           Curve("the same, processor time of each", "connect_cpu_ms", "s", MS),
           Curve("processor time of one connection", "connection_cpu_us", "s", US))),
    Panel("processes", "Processes: 64 B, all to all", "processes",
          (Curve("time per message", "message_us", "s", US),
           Curve("processor time per message", "message_cpu_us", "s", US))),
    Panel("processes", "Processes: memory of each", "processes",
          (Curve("its own", "own_bytes", "B"),
           Curve("page tables", "page_table_bytes", "B"))),
    Panel("processes", "Processes: descriptors and threads of each", "processes",
          (Curve("file descriptors", "descriptors", "1"),
           Curve("threads", "threads", "1"))),
)


def points_of(panel, curve, lines):
    """Count and figure of one round, in order; a figure that is not above 0 is left out."""
    own = [line for line in lines if line["what"] == panel.what]
    none = next((line[curve.figure] for line in own if line["count"] == 0 and curve.figure in line), 0)
    points = []
    for line in own:
        if line["count"] == 0 or curve.figure not in line:
            continue
        value = line[curve.figure] * curve.scale
        if curve.each:
            value = (line[curve.figure] - none) * curve.scale / line["count"]
        if value > 0:
            points.append((line["count"], value))
    return points


def medians_of(panel, curve, rounds):
    at = {}
    for lines in rounds:
        for count, value in points_of(panel, curve, lines):
            at.setdefault(count, []).append(value)
    return [(count, statistics.median(values)) for count, values in sorted(at.items())]


def slope(points):
    """Least squares over the logarithms; None where there are too few points."""
    if len(points) < 2:
        return None
    xs = [math.log(count) for count, _ in points]
    ys = [math.log(value) for _, value in points]
    x, y = statistics.mean(xs), statistics.mean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def exponents_of(panel, curve, rounds):
    """Of each round, sorted."""
    found = [slope(points_of(panel, curve, lines)[-3:]) for lines in rounds]
    return sorted(one for one in found if one is not None)


def written(value, unit):
    """A figure for a person: 3 digits at most and its unit."""
    for size, name in {"s": ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
                       "B": ((1e6, "MB"), (1e3, "kB"), (1, "B")),
                       "ms/s": ((1, "ms/s"), (1e-3, "µs/s")),
                       "1": ((1, ""),)}[unit]:
        if value >= 0.9995 * size:
            break
    scaled = value / size
    digits = max(0, 2 - int(math.floor(math.log10(scaled)))) if scaled > 0 else 0
    text = f"{scaled:.{min(digits, 2)}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text} {name}".strip()
