/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that rxe takes for pinned memory of a process, and that is a peer's or
 * a dma-buf's.
 */
#ifndef RXE_MEMORY_H
#define RXE_MEMORY_H

#include <rdma/ib_umem.h>

struct peer_region;
struct rxe_mr;

struct rxe_memory {
	struct ib_umem umem;		/* what rxe sees */
	struct peer_region *peer;	/* one of these two */
	struct ib_umem_dmabuf *buffer;
	struct rxe_mr *region;		/* when it is registered */
};

/* Ours, or NULL for a process's own memory. */
struct rxe_memory *rxe_memory_of(struct ib_umem *umem);

/* With the pages that the NIC reaches by these DMA addresses. */
struct rxe_memory *rxe_memory_new(struct ib_device *device, u64 address,
				  size_t length, int access,
				  const struct sg_table *pages);
void rxe_memory_free(struct rxe_memory *memory);

/* No work request reaches it from here on. */
void rxe_memory_stop(struct rxe_mr *region);

/* A dma-buf, if this thread is about to register one. */
struct rxe_memory *rxe_buffer_get(struct ib_device *device, u64 offset,
				  size_t length, int access);
void rxe_buffer_put(struct ib_umem_dmabuf *buffer);

/* The operations that rxe has itself, for ours to call. */
extern const struct ib_device_ops *rxe_own_operations;
extern const struct ib_device_ops rxe_operations_of_ours;
struct ib_mr *rxe_register(struct ib_pd *pd, u64 start, u64 length, u64 iova,
			   int access, struct ib_udata *data);

#endif
