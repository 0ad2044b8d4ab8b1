#!/usr/bin/env python3
"""torch_nvshmem.py [--gpus N] [--largest BYTES] [--by-nvlink]: PyTorch's symmetric memory on NVSHMEM,
one process a GPU: put, get, put with a signal, broadcast, all-to-all, and the all-to-all whose lengths
only the GPU knows. Every value is compared with what the CPU computes.

    tests/gpu/beside_gpus.sh gdr run --soft-nic -- python3 tests/gpu/torch_nvshmem.py

NVSHMEM would take NVLink within a host, so that is switched off, and all goes by its transport over
verbs (IBRC). Ends with 1 when a value is wrong, with 77 where PyTorch has no NVSHMEM."""
import argparse
import os
import sys
import tempfile
import zlib

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric
import torch.multiprocessing

SIZES = [8, 4096, 65544, 1 << 20, 16 << 20, 64 << 20]  # bytes
# PyTorch 2.11's kernel for parts of unequal length asserts that its blocks divide each part, which
# longer parts of any length do not fulfil.
LARGEST_UNEQUAL = 65544
SETTINGS = {
    "NVSHMEM_REMOTE_TRANSPORT": "ibrc",
    "NVSHMEM_IB_ENABLE_IBGDA": "0",
    "NVSHMEM_DISABLE_NVLS": "1",
    "NVSHMEM_SYMMETRIC_SIZE": "1G",
    "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
}


def values(count, *seed):
    generator = torch.Generator().manual_seed(zlib.crc32(repr(seed).encode()))
    return torch.randint(-(1 << 30), 1 << 30, (count,), dtype=torch.int32, generator=generator)


class Checks:
    """What one process finds. Each operation has a method; all processes call it together."""

    def __init__(self, rank, ranks):
        self.rank, self.ranks = rank, ranks
        self.group = dist.group.WORLD.group_name
        self.device = torch.device("cuda", rank)
        self.failures = 0

    def barrier(self):
        torch.cuda.synchronize()
        dist.barrier()

    def buffer(self, count, dtype=torch.int32):
        made = symmetric.empty(count, dtype=dtype, device=self.device)
        return made, symmetric.rendezvous(made, group=self.group)

    def compare(self, name, count, got, expected):
        torch.cuda.synchronize()
        if torch.equal(got.cpu(), expected):
            return
        wrong = int((got.cpu() != expected).sum())
        print(f"WRONG {name} of {4 * count} bytes, rank {self.rank}: {wrong} of "
              f"{expected.numel()} values", flush=True)
        self.failures += 1

    def put(self, count):
        """Rank 0 writes its buffer into that of each other rank."""
        data, _ = self.buffer(count)
        data.copy_(values(count, "put", self.rank))
        self.barrier()
        if self.rank == 0:
            for peer in range(1, self.ranks):
                torch.ops.symm_mem.nvshmem_put(data, peer)
        self.barrier()
        self.compare("put", count, data, values(count, "put", 0))

    def get(self, count):
        """Each rank but the last reads the last one's buffer."""
        last = self.ranks - 1
        data, _ = self.buffer(count)
        data.copy_(values(count, "get", self.rank))
        self.barrier()
        if self.rank != last:
            torch.ops.symm_mem.nvshmem_get(data, last)
        self.barrier()
        self.compare("get", count, data, values(count, "get", last))

    def put_with_signal(self, count, rounds=20):
        """A chain: each rank waits for its signal, looks at its data at once, and passes them on."""
        data, handle = self.buffer(count)
        signals = handle.get_signal_pad(self.rank, (1,), torch.int64)
        signals.zero_()
        self.barrier()
        for turn in range(1, rounds + 1):
            if self.rank == 0:
                data.copy_(values(count, "signal", turn))
            else:
                torch.ops.symm_mem.nvshmem_wait_for_signal(signals, turn, self.rank - 1)
            kept = data.clone()  # on the stream, right behind the wait
            if self.rank + 1 < self.ranks:
                torch.ops.symm_mem.nvshmem_put_with_signal(data, signals, turn, self.rank + 1)
            self.compare("put with signal", count, kept, values(count, "signal", turn))
            self.barrier()

    def broadcast(self, count):
        root = self.ranks - 1
        data, _ = self.buffer(count)
        data.copy_(values(count, "broadcast", self.rank))
        self.barrier()
        torch.ops.symm_mem.nvshmem_broadcast(data, root, self.group)
        self.barrier()
        self.compare("broadcast", count, data, values(count, "broadcast", root))

    def all_to_all(self, count):
        part = max(count // self.ranks, 1)
        source, _ = self.buffer(part * self.ranks)
        target, _ = self.buffer(part * self.ranks)
        source.copy_(values(part * self.ranks, "all", self.rank))
        target.fill_(-1)
        self.barrier()
        torch.ops.symm_mem.nvshmem_all_to_all(source, target, self.group)
        self.barrier()
        here = slice(self.rank * part, (self.rank + 1) * part)
        self.compare("all-to-all", part * self.ranks, target, torch.cat(
            [values(part * self.ranks, "all", peer)[here] for peer in range(self.ranks)]))

    def all_to_all_of_unequal_parts(self, count):
        """The GPU exchanges the lengths and fetches the parts itself, by NVSHMEM's device functions."""
        most = max(count // self.ranks, 1)

        def lengths(rank):
            return values(self.ranks, "lengths", rank).abs().long() % (most + 1)

        source, _ = self.buffer(most * self.ranks)
        target, _ = self.buffer(most * self.ranks * self.ranks)
        given, _ = self.buffer(self.ranks, torch.int64)
        taken, _ = self.buffer((2, self.ranks), torch.int64)
        source.copy_(values(most * self.ranks, "parts", self.rank))
        target.fill_(-1)
        given.copy_(lengths(self.rank))
        self.barrier()
        torch.ops.symm_mem.all_to_all_vdev(source, target, given, taken, self.group)
        self.barrier()
        parts = []
        for peer in range(self.ranks):
            start = int(lengths(peer)[:self.rank].sum())
            length = int(lengths(peer)[self.rank])
            parts.append(values(most * self.ranks, "parts", peer)[start:start + length])
        expected = torch.cat(parts)
        self.compare("lengths of an all-to-all of unequal parts", count, taken[0],
                     torch.tensor([part.numel() for part in parts]))
        self.compare("all-to-all of unequal parts", count, target[:expected.numel()], expected)


def run(rank, options, meeting, failures):
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    if not options.by_nvlink:
        os.environ["NVSHMEM_DISABLE_P2P"] = "1"
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{meeting}", rank=rank, world_size=options.gpus,
                            device_id=torch.device("cuda", rank))
    symmetric.set_backend("NVSHMEM")
    symmetric.enable_symm_mem_for_group(dist.group.WORLD.group_name)
    checks = Checks(rank, options.gpus)
    for size in [one for one in SIZES if one <= options.largest]:
        for operation in (checks.put, checks.get, checks.put_with_signal, checks.broadcast,
                          checks.all_to_all, checks.all_to_all_of_unequal_parts):
            if operation != checks.all_to_all_of_unequal_parts or size <= LARGEST_UNEQUAL:
                operation(size // 4)
    failures[rank] = checks.failures
    checks.barrier()
    sys.stdout.flush()
    os._exit(0)  # NVSHMEM's own end is left out: it may crash when the process group is gone


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpus", type=int, default=torch.cuda.device_count())
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--by-nvlink", action="store_true", help="leave NVSHMEM its own choice")
    options = parser.parse_args()
    if not symmetric.is_nvshmem_available():
        print("skipped: this PyTorch has no NVSHMEM")
        sys.exit(77)
    failures = torch.full((options.gpus,), -1, dtype=torch.int64).share_memory_()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(run, (options, os.path.join(folder, "meeting"), failures), options.gpus)
    if int(failures.abs().sum()):
        print(f"FAILED: wrong results by rank: {failures.tolist()} (-1: did not end)")
        sys.exit(1)
    print(f"{options.gpus} GPUs: every value right, up to {options.largest} bytes")


if __name__ == "__main__":
    main()
