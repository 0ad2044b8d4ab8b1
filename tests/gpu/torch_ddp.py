#!/usr/bin/env python3
"""torch_ddp.py: PyTorch's distributed data-parallel training of a small model, one process a GPU, from
fixed seeds, and its loss at each step.

    python3 tests/gpu/torch_ddp.py [--graphs | --sharded] [--json FILE]
    python3 tests/gpu/torch_ddp.py --compare -- gdr run --soft-nic -- gdr nccl run --fail --

With --graphs, forward, backward with its all-reduces, and the optimizer are one CUDA graph after 11
ordinary steps, as PyTorch's notes on CUDA graphs tell. With --sharded, each process keeps a part of each
layer's parameters (FSDP): all-gathers and reduce-scatters instead of all-reduces. With --compare, the
training runs over NVLink or PCIe (NCCL's P2P), then over the network (NCCL_P2P_DISABLE=1
NCCL_SHM_DISABLE=1) with the words behind -- in front of it; both ways without and with graphs, unless
--sharded. On two GPUs the curves must be equal in every bit. With more, each transport adds in an order
of its own: they may be ten times as far apart as those over P2P and over shared memory
(NCCL_P2P_DISABLE=1) are, which is measured too, or 1e-5.

Exit status 1 when a curve differs, the trainings had different data, the loss does not fall, a process
fails, or there is no end within the time limit. --cpu tries the script itself where there is no GPU (gloo)."""
import argparse
import contextlib
import gc
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

WARM_UP = 11  # steps before a capture: DDP measures its first ten
BATCHES = 32
BATCH, INPUTS, HIDDEN, OUTPUTS = 64, 256, 1024, 16
TOLERANCE = 1e-5


def small_model():
    return torch.nn.Sequential(
        torch.nn.Linear(INPUTS, HIDDEN), torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.LayerNorm(HIDDEN), torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, OUTPUTS))


@contextlib.contextmanager
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def batches_of(rank):
    """Each rank's own data, labelled by a model that all of them know.

    The labels are made on one thread: on several, PyTorch's first multiplication of a process gave
    another batch than usual, 3e-5 apart, in 1 of 304 processes beside seven others (MKL, 32 cores)."""
    torch.manual_seed(1)
    teacher = torch.nn.Sequential(torch.nn.Linear(INPUTS, 32), torch.nn.Tanh(),
                                  torch.nn.Linear(32, OUTPUTS))
    generator = torch.Generator().manual_seed(1000 + rank)
    inputs = torch.randn(BATCHES, BATCH, INPUTS, generator=generator)
    with torch.no_grad(), one_thread():
        targets = teacher(inputs)
    return inputs, targets


def hash_of(tensors):
    taken = hashlib.sha256()
    for tensor in tensors:
        taken.update(tensor.detach().cpu().numpy().tobytes())
    return taken.hexdigest()


class Training:
    """One rank's part of it."""

    def __init__(self, rank, device, steps, sharded=False):
        inputs, targets = batches_of(rank)
        self.hash_of_data = hash_of([inputs, targets])
        self.inputs, self.targets = inputs.to(device), targets.to(device)
        self.input = torch.empty_like(self.inputs[0])
        self.target = torch.empty_like(self.targets[0])
        self.losses = torch.zeros(steps, device=device)
        torch.manual_seed(2)
        model = small_model().to(device)
        if sharded:
            self.model = FullyShardedDataParallel(
                model, auto_wrap_policy=ModuleWrapPolicy({torch.nn.Linear}), use_orig_params=True)
        else:
            # Several all-reduces a step.
            self.model = torch.nn.parallel.DistributedDataParallel(
                model, device_ids=[rank] if device.type == "cuda" else None, bucket_cap_mb=1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.02, momentum=0.9)

    def take_batch(self, step):
        self.input.copy_(self.inputs[step % BATCHES])
        self.target.copy_(self.targets[step % BATCHES])

    def forward_and_back(self):
        loss = torch.nn.functional.mse_loss(self.model(self.input), self.target)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def step(self, step):
        self.take_batch(step)
        self.optimizer.zero_grad(set_to_none=True)
        self.losses[step].copy_(self.forward_and_back())

    def capture(self, stream):
        """A graph of one step, and the loss that it leaves."""
        graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)  # so that backward makes them within the capture
        with torch.cuda.graph(graph, stream=stream):
            loss = self.forward_and_back()
        return graph, loss

    def hash_of_parameters(self):
        is_sharded = isinstance(self.model, FullyShardedDataParallel)
        whole = FullyShardedDataParallel.summon_full_params if is_sharded else contextlib.nullcontext
        with whole(self.model):
            return hash_of(self.model.parameters())


def train(rank, device, steps, sharded):
    training = Training(rank, device, steps, sharded)
    for step in range(steps):
        training.step(step)
    return training


def train_with_graph(rank, device, steps):
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        training = Training(rank, device, steps)
        for step in range(min(WARM_UP, steps)):
            training.step(step)
    torch.cuda.current_stream().wait_stream(aside)
    torch.cuda.synchronize()
    graph, loss = training.capture(aside)
    for step in range(WARM_UP, steps):
        training.take_batch(step)
        graph.replay()
        training.losses[step].copy_(loss)
    torch.cuda.synchronize()
    # NCCL's communicator cannot end before the graphs that use it.
    graph.reset()
    del graph, loss
    gc.collect()
    return training


def make_deterministic():
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.use_deterministic_algorithms(True)


def run_rank(rank, options, meeting, results):
    make_deterministic()
    if options.graphs:
        os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "0"  # as the notes on CUDA graphs tell
    if options.cpu:
        torch.set_num_threads(1)
        device = torch.device("cpu")
    else:
        torch.cuda.set_device(rank)
        device = torch.device("cuda", rank)
    dist.init_process_group("gloo" if options.cpu else "nccl", init_method=f"file://{meeting}",
                            rank=rank, world_size=options.gpus)
    start = time.monotonic()
    if options.graphs:
        training = train_with_graph(rank, device, options.steps)
    else:
        training = train(rank, device, options.steps, options.sharded)
    losses = training.losses
    dist.all_reduce(losses)
    losses = (losses.cpu() / options.gpus).tolist()
    result = {"parameters": training.hash_of_parameters(), "losses": losses,
              "data": training.hash_of_data,
              "seconds": round(time.monotonic() - start, 3)}
    del training
    if not options.cpu:
        torch.cuda.synchronize()
    dist.destroy_process_group()
    results.put((rank, result))  # last: what comes before it has ended well


def take_results(results, taken):
    while not results.empty():
        rank, result = results.get()
        taken[rank] = result


def run_ranks(options):
    """What was wrong, or None; and what rank 0 has found."""
    with tempfile.TemporaryDirectory() as folder:
        # By a file: a port that was free a moment ago may be another training's by now.
        return run_ranks_at(options, os.path.join(folder, "meeting"))


def run_ranks_at(options, meeting):
    context = torch.multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    ranks = torch.multiprocessing.start_processes(run_rank, (options, meeting, results),
                                                  options.gpus, join=False, start_method="spawn")
    end = time.monotonic() + options.time_limit
    taken = {}
    try:
        while not ranks.join(timeout=1):
            take_results(results, taken)
            if time.monotonic() > end:
                return f"no end within {options.time_limit} seconds", None
    finally:
        for process in ranks.processes:
            if process.is_alive():
                process.kill()
    take_results(results, taken)
    if len(taken) != options.gpus:
        return f"{len(taken)} of {options.gpus} ranks gave a result", None
    if len({(one["parameters"], tuple(one["losses"])) for one in taken.values()}) != 1:
        return "the ranks do not have the same parameters at the end", None
    taken[0]["data"] = [taken[rank]["data"] for rank in range(options.gpus)]
    return judge_curve(taken[0]["losses"]), taken[0]


def judge_curve(losses):
    if not all(math.isfinite(loss) for loss in losses):
        return "a loss is not finite"
    if len(losses) >= 100 and losses[-1] > losses[0] / 2:
        return f"the loss does not fall: {losses[0]:.6f} at first, {losses[-1]:.6f} at last"
    return None


def train_once(options):
    wrong, result = run_ranks(options)
    if result is not None:
        result.update(gpus=options.gpus, graphs=options.graphs, sharded=options.sharded,
                      steps=options.steps)
        text = json.dumps(result)
        if options.json:
            with open(options.json, "w", encoding="ascii") as file:
                file.write(text + "\n")
        else:
            print(text, flush=True)
    if wrong:
        print(f"torch_ddp.py: FAILED: {wrong}", file=sys.stderr, flush=True)
    return 1 if wrong else 0


def train_apart(options, graphs, prefix, settings):
    """As a program of its own: what was wrong, or None; and its result."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE")}
    environment.update(settings)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [*prefix, sys.executable, os.path.abspath(__file__), "--json", file.name,
                   "--gpus", str(options.gpus), "--steps", str(options.steps),
                   "--time-limit", str(options.time_limit)]
        command += (["--graphs"] * graphs + ["--sharded"] * options.sharded +
                    ["--cpu"] * options.cpu)
        program = subprocess.Popen(command, env=environment, start_new_session=True)
        try:
            status = program.wait(timeout=options.time_limit + 60)
        except subprocess.TimeoutExpired:
            return "it does not end", None
        finally:
            if program.poll() is None:
                os.killpg(program.pid, signal.SIGKILL)
                program.wait()
        if status != 0:
            return f"exit status {status}", None
        return None, json.loads(file.read())


def difference(one, other):
    """In words; and the largest, as a share of the loss."""
    apart = [(abs(a - b) / max(abs(a), abs(b)), step)
             for step, (a, b) in enumerate(zip(one["losses"], other["losses"])) if a != b]
    if not apart:
        same = one["parameters"] == other["parameters"]
        return ("equal in every bit" + ("" if same else ", but not the parameters at the end"),
                0 if same else math.inf)
    largest, step = max(apart)
    words = (f"first differ at step {apart[0][1]}, most at step {step}: {one['losses'][step]!r} and "
             f"{other['losses'][step]!r}, {largest:.1e} apart")
    return words, largest


def compare(options, prefix):
    over_network = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"}
    failures = 0
    for graphs in [False] if options.cpu or options.sharded else [False, True]:
        kind = "sharded" if options.sharded else "CUDA graph" if graphs else "no graph"
        name = f"{options.gpus} GPUs, {options.steps} steps, {kind}"
        found = []
        ways = [("P2P", [], {}), ("network", prefix, over_network)]
        if options.gpus > 2:
            ways.append(("SHM", [], {"NCCL_P2P_DISABLE": "1"}))
        for way, words, settings in ways:
            wrong, result = train_apart(options, graphs, words, settings)
            if wrong:
                print(f"FAILED: {name}, {way}: {wrong}", flush=True)
                break
            found.append(result)
        if len(found) < len(ways):
            failures += 1
            continue
        if any(one["data"] != found[0]["data"] for one in found):
            print(f"FAILED: {name}: the trainings had different data, so that nothing follows from "
                  "their losses", flush=True)
            failures += 1
            continue
        words, apart = difference(*found[:2])
        allowed = 0 if options.gpus == 2 else TOLERANCE
        if options.gpus > 2:
            # More than two addends: each transport adds in its own order, and training makes the
            # rounding grow. What two of NCCL's own transports differ by is the measure.
            others, allowance = difference(found[0], found[2])
            allowed = max(TOLERANCE, 10 * allowance)
            print(f"{name}: P2P beside SHM: {others}", flush=True)
        too_large = apart > allowed
        failures += too_large
        losses = found[0]["losses"]
        print(f"{'DIFFERENT' if too_large else 'same'}: {name}: loss {losses[0]:.6f} to "
              f"{losses[-1]:.6f} over P2P in {found[0]['seconds']} s and the network in "
              f"{found[1]['seconds']} s, {words}", flush=True)
    return 1 if failures else 0


def main():
    mine, prefix = sys.argv[1:], []
    if "--" in mine:
        at = mine.index("--")
        mine, prefix = mine[:at], mine[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpus", type=int, default=torch.cuda.device_count() or 2)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--sharded", action="store_true", help="FSDP instead of DDP")
    parser.add_argument("--compare", action="store_true", help="over P2P and over the network")
    parser.add_argument("--time-limit", type=int, default=120, help="seconds for one training")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args(mine)
    if options.cpu and (options.graphs or options.sharded):
        parser.error("--graphs and --sharded need GPUs")
    if options.graphs and options.sharded:
        parser.error("--graphs and --sharded exclude each other")
    if prefix and not options.compare:
        parser.error("what stands behind -- is for --compare")
    if options.graphs and options.steps <= WARM_UP:
        parser.error(f"--steps must be above {WARM_UP} with --graphs")
    sys.exit(compare(options, prefix) if options.compare else train_once(options))


if __name__ == "__main__":
    main()
