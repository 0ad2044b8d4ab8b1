// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for the RDMA core's peer memory. It keeps the order of calls and
 * locks that NVIDIA's kernels and MLNX_OFED have in peer_mem.c:
 *
 *   - acquire() under one lock for all clients;
 *   - get_pages() and dma_map() under the region's lock, which stays locked
 *     until the driver can stop its DMA (peer_region_activate);
 *   - a client that invalidates comes by number, under the same lock;
 *   - of a client that unmaps by itself (PEER_MEM_INVALIDATE_UNMAPS) nothing is
 *     unmapped then, and otherwise dma_unmap() and put_pages() come without
 *     the lock;
 *   - release() without the lock.
 *
 * With old_locks=1 it knows no such flag, as cores before it: dma_unmap() and
 * put_pages() come under the lock, also while a client invalidates.
 */
#define pr_fmt(format) "peer_core: " format

#include <linux/kref.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "peer_core.h"

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("stand-in for the RDMA core's peer memory");

static bool old_locks;
module_param(old_locks, bool, 0644);
MODULE_PARM_DESC(old_locks, "1: unmap with the region's lock held");
static bool has_pci = true;
module_param(has_pci, bool, 0644);
MODULE_PARM_DESC(has_pci, "0: the NIC is no PCI function");

static int regions, told;
module_param(regions, int, 0444);
module_param(told, int, 0444);
MODULE_PARM_DESC(told, "how many regions a client has ended");

struct client {
	struct list_head in_all;
	const struct peer_memory_client *calls;
	bool invalidates, unmaps;
	struct xarray by_number;
	u32 next;
	int users;	/* clients_lock */
};

enum peer_state { NOTHING, MAPPED, UNMAPPED, INVALIDATED };

struct peer_region {
	struct kref count;
	struct client *client;
	void *context;
	struct device *device;
	struct sg_table pages;
	u32 number;
	struct mutex lock;	/* below */
	enum peer_state state;
	void (*stop_dma)(void *region);
	void *region;
	struct scatterlist *last;
	struct { dma_addr_t address; unsigned int length, last_length; } whole;
};

static DEFINE_MUTEX(clients_lock);
static LIST_HEAD(clients);

static void free_region(struct kref *count)
{
	kfree(container_of(count, struct peer_region, count));
}

/* To the pages of this machine, which are smaller than the client's. */
static void trim(struct peer_region *peer, unsigned long address, size_t length,
		 unsigned long page)
{
	struct scatterlist *first = peer->pages.sgl;
	unsigned long offset = ALIGN_DOWN(address, PAGE_SIZE) -
			       ALIGN_DOWN(address, page);
	unsigned long rest = ALIGN(address + length, page) -
			     ALIGN(address + length, PAGE_SIZE);
	struct scatterlist *entry;
	unsigned int i;

	for_each_sg(peer->pages.sgl, entry, peer->pages.nents, i)
		peer->last = entry;
	peer->whole.address = sg_dma_address(first);
	peer->whole.length = sg_dma_len(first);
	peer->whole.last_length = sg_dma_len(peer->last);
	sg_dma_address(first) += offset;
	sg_dma_len(first) -= offset;
	sg_dma_len(peer->last) -= rest;
}

static void untrim(struct peer_region *peer)
{
	sg_dma_len(peer->last) = peer->whole.last_length;
	sg_dma_address(peer->pages.sgl) = peer->whole.address;
	sg_dma_len(peer->pages.sgl) = peer->whole.length;
}

static void unmap(struct peer_region *peer, enum peer_state was, bool here)
{
	const struct peer_memory_client *calls = peer->client->calls;

	if (was != MAPPED)
		return;
	untrim(peer);
	if (!here)
		return;
	calls->dma_unmap(&peer->pages, peer->context, peer->device);
	calls->put_pages(&peer->pages, peer->context);
}

static bool leaves_it_to_client(const struct peer_region *peer)
{
	return peer->client->unmaps && !old_locks;
}

static int invalidate(void *handle, u64 number)
{
	struct client *client = handle;
	struct peer_region *peer;

	xa_lock(&client->by_number);
	peer = xa_load(&client->by_number, number);
	if (peer)
		kref_get(&peer->count);
	xa_unlock(&client->by_number);
	if (!peer)
		return 0;
	mutex_lock(&peer->lock);
	if (peer->state == MAPPED && peer->stop_dma) {
		peer->stop_dma(peer->region);
		told++;
	}
	unmap(peer, peer->state, !leaves_it_to_client(peer));
	peer->state = leaves_it_to_client(peer) ? INVALIDATED : UNMAPPED;
	mutex_unlock(&peer->lock);
	kref_put(&peer->count, free_region);
	return 0;
}

void *ib_register_peer_memory_client(const struct peer_memory_client *calls,
				     invalidate_peer_memory *callback)
{
	struct client *client = kzalloc(sizeof(*client), GFP_KERNEL);

	if (!client)
		return NULL;
	client->calls = calls;
	xa_init_flags(&client->by_number, XA_FLAGS_ALLOC);
	if (callback) {
		*callback = invalidate;
		client->invalidates = true;
	}
	if (calls->version[sizeof(calls->version) - 1]) {
		const struct peer_memory_client_ex *extended =
			container_of(calls, const struct peer_memory_client_ex,
				     client);

		client->unmaps =
			extended->ex_size >= offsetofend(struct peer_memory_client_ex,
							 flags) &&
			extended->flags & PEER_MEM_INVALIDATE_UNMAPS;
	}
	mutex_lock(&clients_lock);
	list_add_tail(&client->in_all, &clients);
	mutex_unlock(&clients_lock);
	pr_info("client %s, version %s%s%s\n", calls->name, calls->version,
		client->invalidates ? ", invalidates" : "",
		client->unmaps ? ", unmaps" : "");
	return client;
}
EXPORT_SYMBOL(ib_register_peer_memory_client);

void ib_unregister_peer_memory_client(void *handle)
{
	struct client *client = handle;

	mutex_lock(&clients_lock);
	list_del(&client->in_all);
	WARN(client->users, "the client leaves with %d regions\n",
	     client->users);
	mutex_unlock(&clients_lock);
	xa_destroy(&client->by_number);
	kfree(client);
}
EXPORT_SYMBOL(ib_unregister_peer_memory_client);

static struct client *find_client(unsigned long address, size_t length,
				  void **context)
{
	struct client *client, *found = NULL;

	mutex_lock(&clients_lock);
	list_for_each_entry(client, &clients, in_all) {
		if (client->calls->acquire(address, length, NULL, NULL,
					   context) <= 0)
			continue;
		client->users++;
		regions++;
		found = client;
		break;
	}
	mutex_unlock(&clients_lock);
	return found;
}

static void put_client(struct client *client, void *context)
{
	client->calls->release(context);
	mutex_lock(&clients_lock);
	client->users--;
	regions--;
	mutex_unlock(&clients_lock);
}

/* With the lock held, which stays locked if the client invalidates. */
static int map(struct peer_region *peer, unsigned long address, size_t length)
{
	struct client *client = peer->client;
	const struct peer_memory_client *calls = client->calls;
	int error, count = 0;

	if (client->invalidates) {
		error = xa_alloc_cyclic(&client->by_number, &peer->number, peer,
					xa_limit_31b, &client->next, GFP_KERNEL);
		if (error < 0)
			return error;
	}
	error = calls->get_pages(address, length, 1, 0, NULL, peer->context,
				 peer->number);
	if (error)
		goto out_number;
	error = calls->dma_map(&peer->pages, peer->context, peer->device, 0,
			       &count);
	if (error) {
		calls->put_pages(&peer->pages, peer->context);
		goto out_number;
	}
	peer->pages.nents = count;
	trim(peer, address, length, calls->get_page_size(peer->context));
	peer->state = MAPPED;
	if (!client->invalidates)
		mutex_unlock(&peer->lock);
	return 0;

out_number:
	if (client->invalidates)
		xa_erase(&client->by_number, peer->number);
	return error;
}

struct peer_region *peer_region_get(unsigned long address, size_t length,
				    struct device *device)
{
	struct peer_region *peer;
	struct client *client;
	void *context;
	int error = -ENOMEM;

	client = find_client(address, length, &context);
	if (!client)
		return NULL;
	peer = kzalloc(sizeof(*peer), GFP_KERNEL);
	if (!peer)
		goto out_client;
	kref_init(&peer->count);
	mutex_init(&peer->lock);
	peer->client = client;
	peer->context = context;
	peer->device = has_pci ? device : NULL;
	mutex_lock(&peer->lock);
	error = map(peer, address, length);
	if (!error)
		return peer;
	mutex_unlock(&peer->lock);
	kref_put(&peer->count, free_region);
out_client:
	put_client(client, context);
	return ERR_PTR(error);
}
EXPORT_SYMBOL(peer_region_get);

const struct sg_table *peer_region_pages(const struct peer_region *peer)
{
	return &peer->pages;
}
EXPORT_SYMBOL(peer_region_pages);

void peer_region_activate(struct peer_region *peer, void (*stop_dma)(void *),
			  void *region)
{
	if (!peer->client->invalidates)
		return;
	peer->stop_dma = stop_dma;
	peer->region = region;
	mutex_unlock(&peer->lock);
}
EXPORT_SYMBOL(peer_region_activate);

/* The driver has stopped its DMA. */
void peer_region_put(struct peer_region *peer)
{
	struct client *client = peer->client;
	enum peer_state was;

	/* If it was never activated, the lock is still held. */
	if (!client->invalidates || peer->stop_dma)
		mutex_lock(&peer->lock);
	peer->stop_dma = NULL;
	was = peer->state;
	peer->state = UNMAPPED;
	if (old_locks)
		unmap(peer, was, true);
	mutex_unlock(&peer->lock);
	if (!old_locks)
		unmap(peer, was, true);
	if (client->invalidates)
		xa_erase(&client->by_number, peer->number);
	put_client(client, peer->context);
	kref_put(&peer->count, free_region);
}
EXPORT_SYMBOL(peer_region_put);
