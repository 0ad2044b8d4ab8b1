/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The RDMA core's peer memory, as far as a client and one driver of a NIC see
 * it. What clients see is declared as peer_mem.h of MLNX_OFED declares it.
 */
#ifndef PEER_CORE_H
#define PEER_CORE_H

#include <linux/scatterlist.h>
#include <linux/types.h>

struct device;

struct peer_memory_client {
	char name[64];
	char version[16];
	int (*acquire)(unsigned long address, size_t size, void *private_data,
		       char *peer_name, void **context);
	int (*get_pages)(unsigned long address, size_t size, int write,
			 int force, struct sg_table *sg, void *context,
			 u64 core_context);
	int (*dma_map)(struct sg_table *sg, void *context,
		       struct device *device, int dmasync, int *count);
	int (*dma_unmap)(struct sg_table *sg, void *context,
			 struct device *device);
	void (*put_pages)(struct sg_table *sg, void *context);
	unsigned long (*get_page_size)(void *context);
	void (*release)(void *context);
};

struct peer_memory_client_ex {
	struct peer_memory_client client;
	size_t ex_size;
	u32 flags;
};

#define PEER_MEM_INVALIDATE_UNMAPS BIT(0)

typedef int (*invalidate_peer_memory)(void *handle, u64 core_context);

void *ib_register_peer_memory_client(const struct peer_memory_client *client,
				     invalidate_peer_memory *invalidate);
void ib_unregister_peer_memory_client(void *handle);

/*
 * What a driver calls:
 *
 *	peer = peer_region_get(address, length, device);
 *	...read peer_region_pages(peer)...
 *	peer_region_activate(peer, stop_dma, driver's region);
 *	...
 *	peer_region_put(peer);
 */
struct peer_region;

struct peer_region *peer_region_get(unsigned long address, size_t length,
				    struct device *device);
const struct sg_table *peer_region_pages(const struct peer_region *peer);
void peer_region_activate(struct peer_region *peer, void (*stop_dma)(void *),
			  void *region);
void peer_region_put(struct peer_region *peer);

#endif
