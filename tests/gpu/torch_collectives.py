#!/usr/bin/env python3
"""torch_collectives.py [--gpus N] [--largest BYTES] [--rounds N] [--unchecked] [--measure BYTES,...]:
PyTorch's collectives over NCCL, one process a GPU, on random data, each result compared with what the
CPU computes; then how fast.

    gdr run --soft-nic -- python3 tests/gpu/torch_collectives.py

Which transport NCCL takes is the caller's to choose by its environment (NCCL_P2P_DISABLE=1
NCCL_SHM_DISABLE=1 leaves the network). Exit status 1 when a byte is wrong."""
import argparse
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing

SIZES = [8, 4096, 1 << 16, 1 << 20, 16 << 20, 256 << 20, 1 << 30]


def random_integers(count, seed):
    """Small whole numbers, whose sums are exact in any order."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-1000, 1000, (count,), generator=generator).float()


def inputs(count, size, ranks):
    return [random_integers(count, 1000 * size % 7919 + rank) for rank in range(ranks)]


def check(name, size, got, expected):
    if torch.equal(got.cpu(), expected):
        return 0
    wrong = int((got.cpu() != expected).sum())
    print(f"WRONG {name} of {size} bytes: {wrong} of {expected.numel()} values", flush=True)
    return 1


def check_size(size, rank, ranks):
    """How many collectives of that size went wrong."""
    count = max(size // 4 // ranks * ranks, ranks)
    all_inputs = inputs(count, size, ranks)
    mine = all_inputs[rank].cuda()
    part = count // ranks
    failures = 0

    reduced = mine.clone()
    dist.all_reduce(reduced)
    failures += check("all-reduce", size, reduced, sum(all_inputs))

    gathered = torch.empty(count * ranks, device="cuda")
    dist.all_gather_into_tensor(gathered, mine)
    failures += check("all-gather", size, gathered, torch.cat(all_inputs))

    scattered = torch.empty(part, device="cuda")
    dist.reduce_scatter_tensor(scattered, mine)
    failures += check("reduce-scatter", size, scattered,
                      sum(all_inputs)[rank * part:(rank + 1) * part])

    exchanged = torch.empty_like(mine)
    dist.all_to_all_single(exchanged, mine)
    failures += check("all-to-all", size, exchanged,
                      torch.cat([one[rank * part:(rank + 1) * part] for one in all_inputs]))

    received = torch.empty_like(mine)
    peers = (rank + 1) % ranks, (rank - 1) % ranks
    for request in dist.batch_isend_irecv([dist.P2POp(dist.isend, mine, peers[0]),
                                           dist.P2POp(dist.irecv, received, peers[1])]):
        request.wait()
    failures += check("send and receive", size, received, all_inputs[peers[1]])
    return failures


def seconds_of(operation, rounds):
    for _ in range(3):
        operation()
    torch.cuda.synchronize()
    dist.barrier()
    start = time.perf_counter()
    for _ in range(rounds):
        operation()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / rounds


def measure(rank, ranks, sizes):
    for size in sizes:
        buffer = torch.ones(max(size // 4, 1), device="cuda")
        rounds = 200 if size <= 1 << 20 else 20
        reduce_time = seconds_of(lambda: dist.all_reduce(buffer), rounds)

        def one_way():
            if rank == 0:
                dist.send(buffer, 1)
            elif rank == 1:
                dist.recv(buffer, 0)

        send_time = seconds_of(one_way, rounds)
        if rank == 0:
            bus = size * 2 * (ranks - 1) / ranks / reduce_time / 1e9
            print(f"{size:>11} bytes  all-reduce {reduce_time * 1e6:9.1f} us {bus:7.1f} GB/s   "
                  f"send {send_time * 1e6:9.1f} us {size / send_time / 1e9:7.1f} GB/s", flush=True)


def run(rank, options, meeting, failures):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{meeting}", rank=rank, world_size=options.gpus)
    checked = [] if options.unchecked else [one for one in SIZES if one <= options.largest]
    for size in checked:
        failures[rank] += check_size(size, rank, options.gpus)
    for _ in range(options.rounds):
        failures[rank] += check_size(1 << 20, rank, options.gpus)
    if rank == 0 and checked and not failures[0]:
        print(f"{options.gpus} GPUs: every value right, 8 bytes to {options.largest}", flush=True)
    sizes = options.measure or [one for one in SIZES if one <= min(options.largest, 256 << 20)]
    measure(rank, options.gpus, sizes)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpus", type=int, default=torch.cuda.device_count())
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--rounds", type=int, default=20, help="more checks, of 1 MiB")
    parser.add_argument("--unchecked", action="store_true", help="only how fast")
    parser.add_argument("--measure", metavar="BYTES,...", default=[],
                        type=lambda text: [int(one) for one in text.split(",")])
    options = parser.parse_args()
    failures = torch.zeros(options.gpus, dtype=torch.int64).share_memory_()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(run, (options, os.path.join(folder, "meeting"), failures), options.gpus)
    sys.exit(1 if int(failures.sum()) else 0)


if __name__ == "__main__":
    main()
