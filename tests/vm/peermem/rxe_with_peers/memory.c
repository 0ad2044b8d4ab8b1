// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the kernel's own core has no peer memory, this asks for it as cores do
 * that have: when a process's memory cannot be pinned.
 */
#include <linux/slab.h>

#include "memory.h"
#include "../peer_core/peer_core.h"

/* The place where the core keeps a list entry says that the memory is ours. */
static struct scatterlist mark;

struct ib_umem *rxe_memory_get(struct ib_device *device, unsigned long address,
			       size_t length, int access);
void rxe_memory_release(struct ib_umem *umem);

struct rxe_memory *rxe_memory_of(struct ib_umem *umem)
{
	if (!umem || umem->sgt_append.prv != &mark)
		return NULL;
	return container_of(umem, struct rxe_memory, umem);
}

struct rxe_memory *rxe_memory_new(struct ib_device *device, u64 address,
				  size_t length, int access,
				  const struct sg_table *pages)
{
	struct rxe_memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	struct ib_umem *umem;
	struct scatterlist *from, *to;
	unsigned int i, place;
	int error;

	if (!memory)
		return ERR_PTR(-ENOMEM);
	umem = &memory->umem;
	umem->ibdev = device;
	umem->address = address;
	umem->iova = address;
	umem->length = length;
	umem->writable = ib_access_writable(access);
	error = sg_alloc_table(&umem->sgt_append.sgt, ib_umem_num_pages(umem),
			       GFP_KERNEL);
	if (error) {
		kfree(memory);
		return ERR_PTR(error);
	}
	umem->sgt_append.prv = &mark;
	to = umem->sgt_append.sgt.sgl;
	for_each_sg(pages->sgl, from, pages->nents, i) {
		for (place = 0; to && place < sg_dma_len(from);
		     place += PAGE_SIZE, to = sg_next(to))
			sg_set_page(to, pfn_to_page(PHYS_PFN(sg_dma_address(from) +
							     place)),
				    PAGE_SIZE, 0);
	}
	if (to) {
		rxe_memory_free(memory);
		return ERR_PTR(-EINVAL);
	}
	return memory;
}

void rxe_memory_free(struct rxe_memory *memory)
{
	sg_free_table(&memory->umem.sgt_append.sgt);
	kfree(memory);
}

struct ib_umem *rxe_memory_get(struct ib_device *device, unsigned long address,
			       size_t length, int access)
{
	struct rxe_memory *memory;
	struct peer_region *peer;
	struct ib_umem *umem;

	memory = rxe_buffer_get(device, address, length, access);
	if (memory)
		return IS_ERR(memory) ? ERR_CAST(memory) : &memory->umem;
	umem = ib_umem_get(device, address, length, access);
	if (!IS_ERR(umem))
		return umem;
	peer = peer_region_get(address, length, device->dma_device);
	if (!peer)
		return umem;
	if (IS_ERR(peer))
		return ERR_CAST(peer);
	memory = rxe_memory_new(device, address, length, access,
				peer_region_pages(peer));
	if (IS_ERR(memory)) {
		peer_region_put(peer);
		return ERR_CAST(memory);
	}
	memory->peer = peer;
	return &memory->umem;
}

void rxe_memory_release(struct ib_umem *umem)
{
	struct rxe_memory *memory = rxe_memory_of(umem);

	if (!memory) {
		ib_umem_release(umem);
		return;
	}
	if (memory->peer)
		peer_region_put(memory->peer);
	if (memory->buffer)
		rxe_buffer_put(memory->buffer);
	rxe_memory_free(memory);
}
