/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What programs ask of the stand-in for the GPU driver: memory that the kernel
 * cannot pin, as that of a GPU, but that they can map and look at.
 */
#ifndef GPU_MEMORY_H
#define GPU_MEMORY_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GPU_MEMORY_DEVICE "/dev/gpu_memory"

struct gpu_memory {
	__u64 length;	/* a multiple of 64 KiB */
	__u64 offset;	/* where mmap() finds it; at an address on 64 KiB, whole */
};

/* Sets the offset. What a process still has at its end is freed. */
#define GPU_MEMORY_ALLOCATE	_IOWR('G', 1, struct gpu_memory)
/* By its offset. It is gone when this returns, also where it is mapped. */
#define GPU_MEMORY_FREE		_IOW('G', 2, struct gpu_memory)

struct gpu_memory_import {
	__u64 address;	/* where this process has it; on 64 KiB */
	__u64 length;	/* a multiple of 64 KiB */
	__s32 buffer;	/* a dma-buf of these bytes, in whole pages of 64 KiB */
	__u32 unused;
};

/*
 * Memory that the process has from elsewhere, such as the software GPU's, is
 * memory of this GPU from now on. What was there before is freed. With a length
 * of 0 nothing else happens.
 */
#define GPU_MEMORY_IMPORT	_IOW('G', 3, struct gpu_memory_import)

#endif
