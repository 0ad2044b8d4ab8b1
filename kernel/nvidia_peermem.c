// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * nvidia_peermem: lets RDMA NICs reach the memory of NVIDIA GPUs, where the
 * RDMA stack has the peer-memory interface (MLNX_OFED, DOCA-OFED, some vendor
 * kernels). kernel/README.md says who needs it, how it is built, and what its
 * parameters and counters mean.
 *
 * A region is one registration (ibv_reg_mr). The RDMA core asks acquire() for
 * each address that is not ordinary memory; get_pages() and dma_map() follow,
 * and dma_unmap(), put_pages() and release() at the end.
 *
 * The GPU driver pins memory in two ways:
 *
 *   kept   It stays pinned until we hand it back, even if its owner frees it.
 *   lent   When the owner frees it, the driver calls us, and when our callback
 *          returns the memory and the page table are the driver's again.
 *
 * In the persistent mode regions are kept, and nobody calls back. In the
 * invalidating mode a region ends when its owner frees the memory. There it is
 * kept as well, and its first page is also lent, as a watch: its callback ends
 * the region, and a thread hands back what was kept.
 *
 * One page is enough. The driver knows memory by allocation, which it frees as a
 * whole, and pins no range that leaves one: a longer range is an error, also
 * where allocations lie side by side, as the chunks of cuMemMap() do. So nobody
 * needs to know where allocations begin. The watch comes first: if it is there
 * when the region is kept, both are of one allocation, and not of two that had
 * the address one after the other.
 *
 * Lending all of it would be simpler, but no order of locks would be right.
 * nvidia_p2p_dma_map_pages() takes the driver's API lock, and the driver holds
 * that lock while it calls back. If the owner frees memory that another thread
 * is just mapping, a callback that waits for the mapping waits for ever, and one
 * that does not lets the driver go on with a table that it has freed. Where the
 * driver cannot keep memory (up to 510; vGPU, some MIG) there is no other way,
 * and any program that frees what it is registering would hang the driver for
 * everybody. So this is done only where the administrator trusts all programs
 * (trust_programs=1; a driver up to 510 has no other mode, and there it is the
 * default), and there the callback waits: a driver that hangs does less harm
 * than one that writes to freed memory.
 *
 * Locks, in the order in which they are taken:
 *
 *   1. the core's lock of a region, held in get_pages() and dma_map(), by some
 *      cores in dma_unmap() and put_pages(), and taken by the function that our
 *      callback tells it with
 *   2. region->mapping_lock: table, mapping and watch, and the calls that map
 *      and unmap
 *   3. the driver's API lock, in all functions of the driver that pin, hand
 *      back or map
 *   4. regions_lock, which covers no calls
 *
 * The callback comes with 3 held. It takes 1, but only for a region that is
 * LIVE, and a core that holds 1 for such a region calls nothing that takes 3.
 * Therefore release(), which no core calls with 1 held, hands memory back, and
 * put_pages() does not. It takes 2 only for a region that is lent, as said above.
 *
 * nvidia_p2p_put_pages() looks for what is lent among the memory of the process
 * that calls. So release() must call it, and no thread of ours can; for what is
 * kept it does not matter who calls. If release() runs in another process (a
 * child has closed the device last, or the NIC was removed), the driver goes on
 * lending, and the region, with its reference to this module, waits for the
 * callback: the driver must find the code there.
 *
 * A table that is lent is ended once: by nvidia_p2p_put_pages(), or, when the
 * driver has called back, by nvidia_p2p_free_page_table(). Under regions_lock
 * the pointer to it says whose turn that is.
 *
 * Only symbols that are exported to every licence are used, apart from the GPU
 * driver's own: a module that needs GPL-only ones cannot be loaded beside the
 * proprietary driver. No debugfs, sysfs groups, workqueues or ktime therefore.
 */
#define pr_fmt(format) KBUILD_MODNAME ": " format

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/proc_fs.h>
#include <linux/ratelimit.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>

/*
 * What the GPU driver exports (nv-p2p.h). Its releases differ in how memory is
 * kept; the build finds out which by the exported symbols.
 */
#define P2P_CALLBACK_ONLY	1	/* up to 510: memory is lent only */
#define P2P_NULL_CALLBACK	2	/* 515 to 525.85: no callback means kept */
#define P2P_PERSISTENT		3	/* 525.105 and later: functions for that */
#ifndef GDR_NVIDIA_P2P_API
#define GDR_NVIDIA_P2P_API P2P_PERSISTENT
#endif

#define P2P_PAGE_SIZE_64KB	1
#define P2P_MAJOR(version)	((version) >> 16)
#define P2P_ENOTSUPP		524	/* a number that user space does not know */

struct nvidia_p2p_page {
	u64 physical_address;
	u32 registers[6];
};

/* Version 2 (580 and later) has one more member behind these. */
struct nvidia_p2p_page_table {
	u32 version;
	u32 page_size;
	struct nvidia_p2p_page **pages;
	u32 entries;
	u8 *gpu_uuid;
};

/* Version 2 in all these releases. */
struct nvidia_p2p_dma_mapping {
	u32 version;
	u32 page_size_type;
	u32 entries;
	u64 *dma_addresses;
	void *private;
	struct pci_dev *pci_dev;
};

int nvidia_p2p_get_pages(u64 token, u32 va_space, u64 address, u64 length,
			 struct nvidia_p2p_page_table **table,
			 void (*callback)(void *data), void *data);
int nvidia_p2p_put_pages(u64 token, u32 va_space, u64 address,
			 struct nvidia_p2p_page_table *table);
int nvidia_p2p_dma_map_pages(struct pci_dev *peer,
			     struct nvidia_p2p_page_table *table,
			     struct nvidia_p2p_dma_mapping **mapping);
int nvidia_p2p_dma_unmap_pages(struct pci_dev *peer,
			       struct nvidia_p2p_page_table *table,
			       struct nvidia_p2p_dma_mapping *mapping);
int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *table);
int nvidia_p2p_free_dma_mapping(struct nvidia_p2p_dma_mapping *mapping);
#if GDR_NVIDIA_P2P_API == P2P_PERSISTENT
int nvidia_p2p_get_pages_persistent(u64 address, u64 length,
				    struct nvidia_p2p_page_table **table,
				    u32 flags);
int nvidia_p2p_put_pages_persistent(u64 address,
				    struct nvidia_p2p_page_table *table,
				    u32 flags);
#elif GDR_NVIDIA_P2P_API == P2P_NULL_CALLBACK
extern int nvidia_p2p_cap_persistent_pages;
#endif

/*
 * What the RDMA core exports (peer_mem.h). Old releases have void * where
 * core_context is a u64; to a 64-bit processor they are the same.
 */
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

/* The last character of the version says that this follows. */
struct peer_memory_client_ex {
	struct peer_memory_client client;
	size_t size;
	u32 flags;
};

/* The core calls neither dma_unmap() nor put_pages() while a callback tells it. */
#define PEER_MEM_INVALIDATE_UNMAPS	BIT(0)

typedef int (*invalidate_peer_memory)(void *client, u64 core_context);

void *ib_register_peer_memory_client(const struct peer_memory_client *client,
				     invalidate_peer_memory *invalidate);
void ib_unregister_peer_memory_client(void *client);

#ifndef GDR_MODULE_VERSION
#define GDR_MODULE_VERSION "0.2.0"
#endif

#define GPU_PAGE_SHIFT	16
#define GPU_PAGE_SIZE	BIT(GPU_PAGE_SHIFT)
#define GPU_PAGE_MASK	(~(GPU_PAGE_SIZE - 1))

/*
 * No GPU has that much. For each page that is asked for, and before it looks
 * whether there is one, the driver takes 16 bytes of the kernel's memory.
 */
#define MOST_BYTES	BIT_ULL(40)

static bool persistent = GDR_NVIDIA_P2P_API != P2P_CALLBACK_ONLY;
module_param(persistent, bool, 0444);
MODULE_PARM_DESC(persistent,
		 "keep memory that is freed while it is registered (default, where the GPU driver can); 0: end its registration");
/* The name that NVIDIA's own module has for it. */
module_param_named(persistent_api_support, persistent, bool, 0444);
MODULE_PARM_DESC(persistent_api_support, "the same as persistent");
static bool trust_programs = GDR_NVIDIA_P2P_API == P2P_CALLBACK_ONLY;
module_param(trust_programs, bool, 0444);
MODULE_PARM_DESC(trust_programs,
		 "1: also where a program that frees memory at the wrong moment can hang or crash the GPU driver (up to 510, where it is the default; vGPU, some MIG; up to 525.85 with persistent=0)");

/*
 *   PINNING ---> PINNED ---> LIVE ---> LEAVING
 *      |           |          |
 *      +-----------+----------+------> INVALIDATED
 *
 * LIVE: mapped, so that the core has to be told when the owner frees it.
 * LEAVING: release() hands it back; a callback has nothing left to do.
 * INVALIDATED: the owner has freed it.
 */
enum region_state { PINNING, PINNED, LIVE, LEAVING, INVALIDATED };

static const char * const state_names[] = {
	[PINNING] = "pinning", [PINNED] = "pinned", [LIVE] = "live",
	[LEAVING] = "leaving", [INVALIDATED] = "invalidated",
};

struct region {
	struct kref count;	/* the core, the driver while it lends, the thread */
	u64 number;		/* what the driver knows it by */
	u64 address, length;	/* as asked for */
	u64 first, pinned;	/* in whole GPU pages: start and length */
	unsigned long since;	/* jiffies */
	pid_t process;
	char command[TASK_COMM_LEN];
	bool lent_whole;	/* nothing is kept; set before the driver knows the number */
	u64 core_context;	/* set before the region is LIVE */
	int error;		/* why it cannot be used; acquire() to get_pages() */
	struct sg_table sg;	/* the core's calls, of which there is one at a time */

	/* regions_lock */
	struct hlist_node by_number;
	struct list_head leaving;
	enum region_state state;
	bool lending;		/* the driver may call back */
	struct nvidia_p2p_page_table *lent;	/* a watch, or all of it */
	bool counted;
	char nic_name[20];

	struct mutex mapping_lock;	/* all below */
	struct nvidia_p2p_page_table *table;	/* of all of it, kept or lent */
	struct nvidia_p2p_dma_mapping *mapping;
	struct pci_dev *nic;
};

static DEFINE_SPINLOCK(regions_lock);
static DEFINE_HASHTABLE(regions, 12);
static LIST_HEAD(leaving);
static u64 last_number;
static DECLARE_WAIT_QUEUE_HEAD(something_leaves);
static struct task_struct *releaser;

static void *client;
static invalidate_peer_memory invalidate;
static struct proc_dir_entry *list_of_regions;

/* regions_lock. They are parameters, since sysfs groups are for GPL modules. */
static unsigned long registered, invalidated, refused, live_regions, live_bytes;
module_param(registered, ulong, 0444);
MODULE_PARM_DESC(registered, "counter: regions that were registered");
module_param(invalidated, ulong, 0444);
MODULE_PARM_DESC(invalidated, "counter: regions whose memory was freed under them");
module_param(refused, ulong, 0444);
MODULE_PARM_DESC(refused, "counter: regions of GPU memory that could not be registered");
module_param(live_regions, ulong, 0444);
MODULE_PARM_DESC(live_regions, "regions that are pinned now");
module_param(live_bytes, ulong, 0444);
MODULE_PARM_DESC(live_bytes, "bytes of GPU memory that are pinned now");

static void add_to(unsigned long *counter, unsigned long amount)
{
	spin_lock(&regions_lock);
	*counter += amount;
	spin_unlock(&regions_lock);
}

/* regions_lock is held. */
static void count_as_live(struct region *region, bool live)
{
	if (region->counted == live)
		return;
	region->counted = live;
	if (live) {
		live_regions++;
		live_bytes += region->pinned;
	} else {
		live_regions--;
		live_bytes -= region->pinned;
	}
}

static bool is_invalidated(struct region *region)
{
	bool is;

	spin_lock(&regions_lock);
	is = region->state == INVALIDATED;
	spin_unlock(&regions_lock);
	return is;
}

/* Any user can cause these, so there is a limit to how many are logged. */
static __printf(2, 3) void region_err(const struct region *region,
				  const char *format, ...)
{
	struct va_format why;
	va_list arguments;

	va_start(arguments, format);
	why.fmt = format;
	why.va = &arguments;
	pr_err_ratelimited("%llu bytes at 0x%llx of %s (process %d) are not registered: %pV\n",
			   region->length, region->address, region->command,
			   region->process, &why);
	va_end(arguments);
	add_to(&refused, 1);
}

/*
 * The reference to the module makes the kernel refuse to unload it. That this
 * code goes on after it has been given back is safe: whoever can run it here,
 * stop() waits for.
 */
static void free_region(struct kref *count)
{
	struct region *region = container_of(count, struct region, count);

	spin_lock(&regions_lock);
	hash_del(&region->by_number);
	spin_unlock(&regions_lock);
	kfree(region);
	module_put(THIS_MODULE);
}

static void put_region(struct region *region)
{
	kref_put(&region->count, free_region);
}

static void start_lending(struct region *region)
{
	kref_get(&region->count);
	spin_lock(&regions_lock);
	region->lending = true;
	spin_unlock(&regions_lock);
}

/* Whether it was still lent; if not, a callback has ended it. */
static bool stop_lending(struct region *region)
{
	bool was;

	spin_lock(&regions_lock);
	was = region->lending;
	region->lending = false;
	region->lent = NULL;
	spin_unlock(&regions_lock);
	if (was)
		put_region(region);
	return was;
}

static int get_kept(struct region *region, u64 length,
		    struct nvidia_p2p_page_table **table)
{
#if GDR_NVIDIA_P2P_API == P2P_PERSISTENT
	return nvidia_p2p_get_pages_persistent(region->first, length, table, 0);
#elif GDR_NVIDIA_P2P_API == P2P_NULL_CALLBACK
	return nvidia_p2p_get_pages(0, 0, region->first, length, table, NULL,
				    NULL);
#else
	return -P2P_ENOTSUPP;
#endif
}

static void complain(const struct region *region, int error)
{
	if (error)
		pr_err_ratelimited("the GPU driver does not take back %llu bytes at 0x%llx: error %d\n",
				   region->pinned, region->first, error);
}

static void put_kept(struct region *region, struct nvidia_p2p_page_table *table)
{
#if GDR_NVIDIA_P2P_API == P2P_PERSISTENT
	complain(region,
		 nvidia_p2p_put_pages_persistent(region->first, table, 0));
#else
	complain(region, nvidia_p2p_put_pages(0, 0, region->first, table));
#endif
}

/*
 * If the driver takes it back before it sees this call, it finds nothing to hand
 * back and says no error, except in the unlikely case that a table of this
 * process has got the same address since: that race is its own.
 */
static void return_lent(struct region *region)
{
	struct nvidia_p2p_page_table *table;

	if (current->tgid != region->process)
		return;		/* the callback ends it */
	spin_lock(&regions_lock);
	table = region->lent;
	region->lent = NULL;	/* a callback that comes now leaves it to us */
	spin_unlock(&regions_lock);
	if (!table)
		return;
	complain(region, nvidia_p2p_put_pages(0, 0, region->first, table));
	if (!stop_lending(region))
		nvidia_p2p_free_page_table(table);
}

/*
 * mapping_lock is held: a callback that wants its table back waits for it. What
 * was lent and is invalidated belongs to the callback.
 */
static void unmap(struct region *region)
{
	if (!region->mapping || (region->lent_whole && is_invalidated(region)))
		return;
	nvidia_p2p_dma_unmap_pages(region->nic, region->table, region->mapping);
	region->mapping = NULL;
}

/* What is kept, of a region whose owner has freed it. */
static void hand_back(struct region *region)
{
	struct nvidia_p2p_page_table *table;

	mutex_lock(&region->mapping_lock);
	unmap(region);
	table = region->table;
	region->table = NULL;
	mutex_unlock(&region->mapping_lock);
	if (table)
		put_kept(region, table);
}

static struct region *next_that_leaves(void)
{
	struct region *region;

	spin_lock(&regions_lock);
	region = list_first_entry_or_null(&leaving, struct region, leaving);
	if (region)
		list_del(&region->leaving);
	spin_unlock(&regions_lock);
	return region;
}

static int release_regions(void *unused)
{
	struct region *region = NULL;

	while (!kthread_should_stop()) {
		wait_event_interruptible(something_leaves,
					 (region = next_that_leaves()) ||
					 kthread_should_stop());
		if (!region)
			continue;
		hand_back(region);
		put_region(region);
		region = NULL;
	}
	return 0;
}

static void leave_to_thread(struct region *region)
{
	kref_get(&region->count);
	spin_lock(&regions_lock);
	list_add_tail(&region->leaving, &leaving);
	spin_unlock(&regions_lock);
	wake_up(&something_leaves);
}

/* The driver has all of a lent region back when the callback returns. */
static void forget_lent(struct region *region)
{
	struct nvidia_p2p_dma_mapping *mapping;

	mutex_lock(&region->mapping_lock);
	mapping = region->mapping;
	region->mapping = NULL;
	region->table = NULL;
	mutex_unlock(&region->mapping_lock);
	if (mapping)
		nvidia_p2p_free_dma_mapping(mapping);
}

/*
 * By number, and with the driver's own reference to it. The driver has no
 * pointer: if it still lends what it was told to take back, there is no region.
 */
static struct region *take_back(u64 number, enum region_state *was,
				struct nvidia_p2p_page_table **table)
{
	struct region *region, *found = NULL;

	spin_lock(&regions_lock);
	hash_for_each_possible(regions, region, by_number, number) {
		if (region->number != number || !region->lending)
			continue;
		region->lending = false;
		*table = region->lent;
		region->lent = NULL;
		*was = region->state;
		if (region->state != LEAVING) {
			region->state = INVALIDATED;
			count_as_live(region, false);
		}
		found = region;
		break;
	}
	spin_unlock(&regions_lock);
	return found;
}

/*
 * The owner frees the memory. The driver holds its API lock, so nothing of it
 * may be called but the two functions that end what it has lent.
 */
static void freed_by_owner(void *number)
{
	struct nvidia_p2p_page_table *table;
	enum region_state was;
	struct region *region = take_back((uintptr_t)number, &was, &table);

	if (!region)
		return;
	if (was == LIVE) {
		/* When this returns the NIC reads and writes there no more. */
		invalidate(client, region->core_context);
		add_to(&invalidated, 1);
	}
	if (region->lent_whole)
		forget_lent(region);
	else if (was == PINNED || was == LIVE)
		leave_to_thread(region);
	if (table)
		nvidia_p2p_free_page_table(table);
	put_region(region);
}

/* Zero, or why the table cannot be used. */
static int check_table(struct region *region, u64 length,
		       const struct nvidia_p2p_page_table *table)
{
	u32 major = P2P_MAJOR(table->version);

	if (major < 1 || major > 2) {
		region_err(region, "page tables of version 0x%08x are not known; install a gdrkit that knows this GPU driver",
			   table->version);
		return -EPROTO;
	}
	if (table->page_size != P2P_PAGE_SIZE_64KB ||
	    table->entries != length >> GPU_PAGE_SHIFT) {
		region_err(region, "the GPU driver gives %u pages of size code %u, and not %llu of 64 KiB",
			   table->entries, table->page_size,
		       length >> GPU_PAGE_SHIFT);
		return -EPROTO;
	}
	return 0;
}

static int keep(struct region *region)
{
	struct nvidia_p2p_page_table *table = NULL;
	int error = get_kept(region, region->pinned, &table);

	if (error)
		return error;	/* the driver has freed the table, and left its address */
	error = check_table(region, region->pinned, table);
	if (error)
		put_kept(region, table);
	else
		region->table = table;	/* nobody looks at it before it is PINNED */
	return error;
}

/* A watch, or all of it. The callback may come before this returns. */
static int borrow(struct region *region, u64 length)
{
	struct nvidia_p2p_page_table *table = NULL;
	bool taken_back;
	int error;

	start_lending(region);
	error = nvidia_p2p_get_pages(0, 0, region->first, length, &table,
				     freed_by_owner,
				     (void *)(uintptr_t)region->number);
	if (error) {
		stop_lending(region);
		return error;
	}
	/*
	 * The callback of a lent region waits for this lock, so its table can be
	 * looked into. The driver may be freeing that of a watch at this moment.
	 */
	mutex_lock(&region->mapping_lock);
	spin_lock(&regions_lock);
	taken_back = !region->lending;
	if (!taken_back)
		region->lent = table;	/* release() hands it back in any case */
	spin_unlock(&regions_lock);
	if (!taken_back && region->lent_whole) {
		error = check_table(region, length, table);
		region->table = table;
	}
	mutex_unlock(&region->mapping_lock);
	if (!taken_back)
		return error;
	nvidia_p2p_free_page_table(table);
	return -EFAULT;
}

static int watch_and_keep(struct region *region)
{
	int error = 0;

	if (GDR_NVIDIA_P2P_API == P2P_CALLBACK_ONLY)
		return -P2P_ENOTSUPP;
	if (!persistent)
		error = borrow(region, GPU_PAGE_SIZE);
	return error ? error : keep(region);
}

static int borrow_all(struct region *region)
{
	return_lent(region);
	if (is_invalidated(region))
		return -EFAULT;
	region->lent_whole = true;
	return borrow(region, region->pinned);
}

static int pin(struct region *region)
{
	int error = watch_and_keep(region);

	if (error == -P2P_ENOTSUPP && !persistent && trust_programs)
		error = borrow_all(region);
	if (error)
		return error;
	spin_lock(&regions_lock);
	if (region->state == PINNING) {
		region->state = PINNED;
		count_as_live(region, true);
	} else {
		error = -EFAULT;
	}
	spin_unlock(&regions_lock);
	/* A callback leaves to the thread only what is PINNED. */
	if (error && !region->lent_whole)
		hand_back(region);
	return error;
}

/* The driver has refused the whole: is there memory of a GPU at its beginning? */
static bool begins_in_gpu_memory(struct region *region)
{
	struct nvidia_p2p_page_table *table = NULL;

	if (region->pinned == GPU_PAGE_SIZE ||
	    get_kept(region, GPU_PAGE_SIZE, &table))
		return false;
	put_kept(region, table);
	return true;
}

static bool round_to_pages(struct region *region)
{
	u64 last = region->address + region->length - 1;

	if (!region->length || region->length > MOST_BYTES ||
	    last < region->address)
		return false;
	region->first = region->address & GPU_PAGE_MASK;
	/* At the very end of the address space the next page begins at 0. */
	region->pinned = (last | ~GPU_PAGE_MASK) - region->first + 1;
	return region->pinned >= region->length;
}

static struct region *new_region(unsigned long address, size_t size)
{
	struct region *region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);
	unsigned int i;

	if (!region)
		return NULL;
	kref_init(&region->count);
	mutex_init(&region->mapping_lock);
	region->address = address;
	region->length = size;
	region->since = jiffies;
	region->process = current->tgid;
	/* Any program chooses its own name, and this one stands in the log. */
	for (i = 0; i < sizeof(region->command) - 1 && current->comm[i]; i++) {
		char letter = current->comm[i];

		region->command[i] = isascii(letter) && isgraph(letter) ?
					     letter : '_';
	}
	if (!round_to_pages(region) || !try_module_get(THIS_MODULE)) {
		kfree(region);
		return NULL;
	}
	spin_lock(&regions_lock);
	region->number = ++last_number;
	hash_add(regions, &region->by_number, region->number);
	spin_unlock(&regions_lock);
	return region;
}

/* The core needs it no more. */
static void release(void *context)
{
	struct region *region = context;
	struct nvidia_p2p_page_table *table = NULL;

	spin_lock(&regions_lock);
	if (region->state != INVALIDATED)
		region->state = LEAVING;
	count_as_live(region, false);
	spin_unlock(&regions_lock);

	/*
	 * Some cores unmap nothing that is invalidated, and the NIC may go when
	 * this returns. The callback and the thread hand back what is invalidated;
	 * here it could not be done, since some cores call this in the callback.
	 */
	mutex_lock(&region->mapping_lock);
	unmap(region);
	if (!region->lent_whole && !is_invalidated(region)) {
		table = region->table;
		region->table = NULL;
	}
	mutex_unlock(&region->mapping_lock);
	if (table)
		put_kept(region, table);
	return_lent(region);
	sg_free_table(&region->sg);
	put_region(region);
}

static void explain(const struct region *region, int error)
{
	switch (error) {
	case -EPROTO:
		break;	/* check_table() has said why */
	case -ENOMEM:
		region_err(region, "the GPU driver has no room to pin them; see BAR1 in nvidia-smi -q -d MEMORY");
		break;
	case -EFAULT:
		region_err(region, "their owner has freed them meanwhile");
		break;
	case -P2P_ENOTSUPP:
		region_err(region, "the GPU driver cannot keep this memory (vGPU, MIG or confidential computing); where all programs are trusted, load the module with persistent=0 trust_programs=1");
		break;
	default:
		region_err(region, "the GPU driver does not pin them: error %d",
			   error);
	}
}

/* For user space. */
static int errno_of(int error)
{
	return error == -P2P_ENOTSUPP ? -EOPNOTSUPP : error;
}

/* 1: this is memory of a GPU. */
static int acquire(unsigned long address, size_t size, void *private_data,
		   char *peer_name, void **context)
{
	struct region *region;

	if (!READ_ONCE(client))
		return 0;	/* registered, but not all of the way */
	region = new_region(address, size);
	if (!region)
		return 0;
	region->error = pin(region);
	if (region->error == -EINVAL) {	/* no memory of a GPU, or not all of it */
		if (begins_in_gpu_memory(region))
			region_err(region, "they are not all in one allocation of GPU memory; register each allocation by itself");
		release(region);
		return 0;
	}
	/* From here the core would hear "not mine" only; get_pages() tells it why. */
	if (region->error)
		explain(region, region->error);
	*context = region;
	return 1;
}

static int get_pages(unsigned long address, size_t size, int write, int force,
		     struct sg_table *sg, void *context, u64 core_context)
{
	struct region *region = context;

	if (region->error)
		return errno_of(region->error);
	if (address != region->address || size != region->length) {
		region_err(region, "the RDMA core asks for %zu bytes at 0x%lx of them",
			   size, address);
		return -EINVAL;
	}
	if (is_invalidated(region)) {
		explain(region, -EFAULT);
		return -EFAULT;
	}
	region->core_context = core_context;
	return 0;
}

static int fill(struct region *region, struct sg_table *sg,
		const struct nvidia_p2p_dma_mapping *mapping)
{
	struct scatterlist *entry;
	unsigned int i;
	int error = sg_alloc_table(&region->sg, mapping->entries,
				   GFP_KERNEL_ACCOUNT);

	if (error) {
		region_err(region, "the kernel has no memory for a list of %u pages",
			   mapping->entries);
		return error;
	}
	for_each_sg(region->sg.sgl, entry, mapping->entries, i) {
		sg_set_page(entry, NULL, GPU_PAGE_SIZE, 0);
		sg_dma_address(entry) = mapping->dma_addresses[i];
		sg_dma_len(entry) = GPU_PAGE_SIZE;
	}
	*sg = region->sg;	/* the core frees none; release() does */
	return 0;
}

static int check_mapping(struct region *region,
			 const struct nvidia_p2p_dma_mapping *mapping)
{
	if (P2P_MAJOR(mapping->version) == 2 &&
	    mapping->page_size_type == P2P_PAGE_SIZE_64KB &&
	    mapping->entries == region->pinned >> GPU_PAGE_SHIFT)
		return 0;
	region_err(region, "the GPU driver's mapping of version 0x%08x has %u pages of size code %u, and not %llu of 64 KiB",
		   mapping->version, mapping->entries, mapping->page_size_type,
	       region->pinned >> GPU_PAGE_SHIFT);
	return -EPROTO;
}

/* mapping_lock is held. */
static int map_for_nic(struct region *region, struct pci_dev *nic, struct sg_table *sg)
{
	struct nvidia_p2p_dma_mapping *mapping = NULL;
	int error;

	if (!region->table) {
		explain(region, -EFAULT);
		return -EFAULT;
	}
	error = nvidia_p2p_dma_map_pages(nic, region->table, &mapping);
	if (error) {
		region_err(region, "the GPU driver does not map them for %s: error %d",
			   pci_name(nic), error);
		return errno_of(error);
	}
	error = check_mapping(region, mapping);
	if (!error)
		error = fill(region, sg, mapping);
	spin_lock(&regions_lock);
	if (!error && region->state != PINNED)
		error = -EFAULT;
	if (!error) {
		region->state = LIVE;
		strscpy(region->nic_name, pci_name(nic),
			sizeof(region->nic_name));
		registered++;
	}
	spin_unlock(&regions_lock);
	if (error) {
		nvidia_p2p_dma_unmap_pages(nic, region->table, mapping);
		if (error == -EFAULT)
			explain(region, error);
		return error;
	}
	region->nic = nic;
	region->mapping = mapping;
	return 0;
}

static int dma_map(struct sg_table *sg, void *context, struct device *device,
		   int dmasync, int *count)
{
	struct region *region = context;
	int error;

	if (!device || !dev_is_pci(device)) {
		region_err(region, "the RDMA device is no PCI function, and only those reach a GPU's memory");
		return -EINVAL;
	}
	mutex_lock(&region->mapping_lock);
	error = map_for_nic(region, to_pci_dev(device), sg);
	mutex_unlock(&region->mapping_lock);
	if (!error)
		*count = region->sg.nents;
	return error;
}

static int dma_unmap(struct sg_table *sg, void *context, struct device *device)
{
	struct region *region = context;

	mutex_lock(&region->mapping_lock);
	unmap(region);
	mutex_unlock(&region->mapping_lock);
	return 0;
}

/* From here on the core wants to hear nothing; release() hands the pages back. */
static void put_pages(struct sg_table *sg, void *context)
{
	struct region *region = context;

	spin_lock(&regions_lock);
	if (region->state == LIVE)
		region->state = LEAVING;
	spin_unlock(&regions_lock);
}

static unsigned long get_page_size(void *context)
{
	return GPU_PAGE_SIZE;
}

/* /proc/driver/nvidia_peermem, for root: a line for each region. */
static void *first_bucket(struct seq_file *file, loff_t *position)
{
	/* The header, and then the buckets. */
	return *position <= HASH_SIZE(regions) ? position : NULL;
}

static void *next_bucket(struct seq_file *file, void *bucket, loff_t *position)
{
	++*position;
	return first_bucket(file, position);
}

static void last_bucket(struct seq_file *file, void *bucket)
{
}

static int show_bucket(struct seq_file *file, void *bucket)
{
	loff_t position = *(loff_t *)bucket;
	struct region *region;

	if (!position) {
		seq_puts(file, "process command address length nic mode state age_s\n");
		return 0;
	}
	spin_lock(&regions_lock);
	hlist_for_each_entry(region, &regions[position - 1], by_number)
		seq_printf(file, "%d %s 0x%llx %llu %s %s %s %lu\n",
			   region->process, region->command, region->address,
			   region->length,
			   *region->nic_name ? region->nic_name : "-",
			   persistent ? "persistent" : "invalidating",
			   state_names[region->state],
			   (jiffies - region->since) / HZ);
	spin_unlock(&regions_lock);
	return 0;
}

static const struct seq_operations buckets = {
	.start = first_bucket,
	.next = next_bucket,
	.stop = last_bucket,
	.show = show_bucket,
};

static struct peer_memory_client_ex description = {
	.client = {
		.name = "nv_mem",
		.version = "gdrkit " GDR_MODULE_VERSION,
		.acquire = acquire,
		.get_pages = get_pages,
		.dma_map = dma_map,
		.dma_unmap = dma_unmap,
		.put_pages = put_pages,
		.get_page_size = get_page_size,
		.release = release,
	},
	.size = sizeof(struct peer_memory_client_ex),
	.flags = PEER_MEM_INVALIDATE_UNMAPS,
};

static int __init choose_mode(void)
{
#if GDR_NVIDIA_P2P_API == P2P_CALLBACK_ONLY
	if (persistent) {
		pr_warn("this GPU driver cannot keep memory that is freed while it is registered; persistent=0 is used\n");
		persistent = false;
	}
#elif GDR_NVIDIA_P2P_API == P2P_NULL_CALLBACK
	/* A driver without this symbol would take no callback for an error. */
	if (!nvidia_p2p_cap_persistent_pages)
		return -EOPNOTSUPP;
#endif
	if (persistent)
		return 0;
#if GDR_NVIDIA_P2P_API != P2P_PERSISTENT
	/* These drivers also look into the table that they are to take back. */
	if (!trust_programs) {
		pr_err("not loaded: with this GPU driver and persistent=0, a program that frees memory at the wrong moment hangs or crashes the driver; where all programs are trusted, load the module with trust_programs=1\n");
		return -EOPNOTSUPP;
	}
	pr_warn("with this GPU driver, a program that frees memory at the wrong moment can hang the driver; trust_programs=0 refuses to load\n");
#endif
	releaser = kthread_run(release_regions, NULL, KBUILD_MODNAME);
	return PTR_ERR_OR_ZERO(releaser);
}

static void stop_releaser(void)
{
	if (releaser)
		kthread_stop(releaser);
}

static int __init start(void)
{
	char *version = description.client.version;
	int error = choose_mode();

	if (error)
		return error;
	/* Its last character says that flags follow, and the one before ends it. */
	BUILD_BUG_ON(sizeof("gdrkit " GDR_MODULE_VERSION) >
		     sizeof(description.client.version) - 1);
	version[sizeof(description.client.version) - 1] = 1;
	/* A machine without /proc lacks the list of regions, and nothing else. */
	list_of_regions = proc_create_seq("driver/" KBUILD_MODNAME, 0400, NULL,
					  &buckets);
	WRITE_ONCE(client,
		   ib_register_peer_memory_client(&description.client,
						  persistent ? NULL : &invalidate));
	if (!client) {
		pr_err("the RDMA core refuses the client; is another peer-memory module loaded?\n");
		proc_remove(list_of_regions);
		stop_releaser();
		return -EINVAL;
	}
	pr_info("gdrkit %s: registers GPU memory with RDMA NICs (%s)\n",
		GDR_MODULE_VERSION, persistent ? "persistent" : "invalidating");
	return 0;
}

/*
 * The driver calls back with its API lock held. This takes the lock, for memory
 * that is not there, so the last callback has left our code when it ends.
 */
static void wait_for_callbacks(void)
{
	struct nvidia_p2p_page_table *table;

	while (nvidia_p2p_get_pages(0, 0, 0, GPU_PAGE_SIZE, &table,
				    freed_by_owner, &last_number) == -ENOMEM)
		msleep(20);	/* it may not have come as far as the lock */
}

/*
 * No region is left: each holds a reference to the module. Whoever gave back the
 * last one may still be in our code: the core, which the first call waits for; a
 * callback; or the thread.
 */
static void __exit stop(void)
{
	ib_unregister_peer_memory_client(client);
	if (!persistent)
		wait_for_callbacks();
	proc_remove(list_of_regions);
	stop_releaser();
}

module_init(start);
module_exit(stop);
MODULE_DESCRIPTION("GPU memory for RDMA NICs, by the peer-memory interface");
MODULE_AUTHOR("gdrkit");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION("gdrkit-" GDR_MODULE_VERSION);
