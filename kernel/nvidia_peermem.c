// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * nvidia_peermem: lets RDMA NICs reach the memory of NVIDIA GPUs, where the
 * RDMA stack has the peer-memory interface (MLNX_OFED, DOCA-OFED, some vendor
 * kernels). docs/peermem.md says who needs it.
 *
 * A region is one registration (ibv_reg_mr). The RDMA core asks acquire() for
 * each address that is not ordinary memory; get_pages() and dma_map() follow,
 * and dma_unmap(), put_pages() and release() at the end. The GPU driver holds
 * the memory ("pins" it) from acquire() on. It has two ways of doing so:
 *
 *   persistent     The memory stays pinned until we let go of it, even if its
 *                  owner frees it. Nobody calls us back.
 *   invalidating   When the owner frees the memory the driver calls us, and
 *                  when our callback returns the memory is gone.
 *
 * Three locks meet here. The core holds its lock of a region when it calls
 * get_pages(), dma_map(), dma_unmap() and put_pages(), and takes it in its
 * invalidate function, which our callback calls. The driver holds a lock when
 * it calls the callback, and takes it in nvidia_p2p_put_pages(). Therefore
 *
 *   - region->lock covers the state and the pointers, and no call;
 *   - in the invalidating mode a thread of ours calls nvidia_p2p_put_pages(),
 *     and not put_pages() under the core's lock;
 *   - what dma_map() and dma_unmap() work with stays valid: a callback that
 *     comes meanwhile waits for the core's lock before it returns.
 *
 * The core's own comment warns that release() may run while the callback does,
 * and that dma_unmap() and put_pages() may come after it. So the driver is given
 * a number and no pointer, regions are counted, and what the callback has handed
 * back is forgotten before anybody else looks at it.
 *
 * Only symbols that are exported to every licence are used, apart from the GPU
 * driver's own: a module that needs GPL-only ones cannot be loaded beside the
 * proprietary driver. No debugfs, sysfs groups, workqueues or ktime therefore.
 */
#define pr_fmt(format) KBUILD_MODNAME ": " format

#include <linux/ctype.h>
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
#include <linux/wait.h>

/*
 * What the GPU driver exports (nv-p2p.h). Its releases differ in how memory is
 * pinned for good; the build finds out which by the exported symbols.
 */
#define P2P_CALLBACK_ONLY	1	/* up to 510 */
#define P2P_NULL_CALLBACK	2	/* 515 to 525.85: no callback means persistent */
#define P2P_PERSISTENT		3	/* 525.105 and later */
#ifndef GDR_NVIDIA_P2P_API
#define GDR_NVIDIA_P2P_API P2P_PERSISTENT
#endif

#define P2P_PAGE_SIZE_64KB	1
#define P2P_MAJOR(version)	((version) >> 16)

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

/* The core leaves dma_unmap() and put_pages() to the client that invalidates. */
#define PEER_MEM_INVALIDATE_UNMAPS	BIT(0)

typedef int (*invalidate_peer_memory)(void *client, u64 core_context);

void *ib_register_peer_memory_client(const struct peer_memory_client *client,
				     invalidate_peer_memory *invalidate);
void ib_unregister_peer_memory_client(void *client);

#ifndef GDR_MODULE_VERSION
#define GDR_MODULE_VERSION "0.2.0"
#endif

#define GPU_PAGE_SHIFT	16
#define GPU_PAGE_SIZE	(1UL << GPU_PAGE_SHIFT)
#define GPU_PAGE_MASK	(~(GPU_PAGE_SIZE - 1))

static bool persistent = GDR_NVIDIA_P2P_API != P2P_CALLBACK_ONLY;
module_param(persistent, bool, 0444);
MODULE_PARM_DESC(persistent,
		 "keep memory that is freed while it is registered (default, where the GPU driver can); 0: end its registration");
/* The name that NVIDIA's own module has for it. */
module_param_named(persistent_api_support, persistent, bool, 0444);
MODULE_PARM_DESC(persistent_api_support, "the same as persistent");

/*
 *   PINNING ---> PINNED ---> LIVE ---> LEAVING ---> RELEASED
 *      |           |          |           |
 *      +-----------+----------+-----------+-----> INVALIDATED
 *
 * PINNED: the core does not know of it yet, so there is nothing to tell it.
 * LEAVING: our thread hands it back.
 * INVALIDATED: the driver has it again; neither table nor mapping is touched.
 */
enum region_state { PINNING, PINNED, LIVE, LEAVING, RELEASED, INVALIDATED };

static const char * const state_names[] = {
	[PINNING] = "pinning", [PINNED] = "pinned", [LIVE] = "live",
	[LEAVING] = "leaving", [RELEASED] = "released",
	[INVALIDATED] = "invalidated",
};

struct region {
	struct kref count;	/* the core, the driver, the thread, a callback */
	u64 number;		/* what the driver knows it by */
	u64 address, length;	/* as asked for */
	u64 first, pinned;	/* in whole GPU pages: start and length */
	unsigned long since;	/* jiffies */
	pid_t process;
	char command[TASK_COMM_LEN];
	struct hlist_node by_number;	/* regions_lock */
	struct list_head leaving;	/* regions_lock */
	struct sg_table sg;	/* the core calls one function at a time */

	struct mutex lock;	/* all below */
	enum region_state state;
	int error;		/* why it could not be pinned */
	bool driver_counts;	/* the driver may call back */
	bool handing_back;	/* the thread is in nvidia_p2p_put_pages() */
	u64 core_context;
	struct pci_dev *nic;
	struct nvidia_p2p_page_table *table;
	struct nvidia_p2p_dma_mapping *mapping;
};

static DEFINE_SPINLOCK(regions_lock);
static DEFINE_HASHTABLE(regions, 12);
static LIST_HEAD(leaving);
static u64 last_number;
static DECLARE_WAIT_QUEUE_HEAD(something_leaves);
static DECLARE_WAIT_QUEUE_HEAD(something_left);
static struct task_struct *releaser;

static void *client;
static invalidate_peer_memory invalidate;

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

static __printf(2, 3) void refuse(const struct region *region,
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

static void free_region(struct kref *count)
{
	kfree(container_of(count, struct region, count));
	module_put(THIS_MODULE);
}

static void put_region(struct region *region)
{
	kref_put(&region->count, free_region);
}

/* The caller is the driver with what it has of the region: a number. */
static struct region *get_region(u64 number)
{
	struct region *region, *found = NULL;

	spin_lock(&regions_lock);
	hash_for_each_possible(regions, region, by_number, number) {
		if (region->number != number)
			continue;
		kref_get(&region->count);
		found = region;
		break;
	}
	spin_unlock(&regions_lock);
	return found;
}

/* From here on the driver may call back with the number. */
static void show_to_driver(struct region *region)
{
	kref_get(&region->count);
	region->driver_counts = true;
	spin_lock(&regions_lock);
	region->number = ++last_number;
	hash_add(regions, &region->by_number, region->number);
	live_regions++;
	live_bytes += region->pinned;
	spin_unlock(&regions_lock);
}

/* region->lock is held. True for one caller, who has to call forget(). */
static bool take_from_driver(struct region *region)
{
	bool was = region->driver_counts;

	region->driver_counts = false;
	return was;
}

static void forget(struct region *region)
{
	spin_lock(&regions_lock);
	hash_del(&region->by_number);
	live_regions--;
	live_bytes -= region->pinned;
	spin_unlock(&regions_lock);
	put_region(region);
}

/*
 * The owner frees the memory, and has done so when this returns. The driver
 * holds locks: nothing of it may be called but the two functions that end what
 * it has given us.
 */
static void freed_by_owner(void *number)
{
	struct region *region = get_region((uintptr_t)number);
	struct nvidia_p2p_dma_mapping *mapping;
	struct nvidia_p2p_page_table *table;
	bool tell_core;

	if (!region)
		return;
	mutex_lock(&region->lock);
	if (!take_from_driver(region)) {
		mutex_unlock(&region->lock);
		put_region(region);
		return;
	}
	tell_core = region->state == LIVE;
	/* The driver takes care of a table that is being handed back. */
	table = region->handing_back ? NULL : region->table;
	mapping = region->mapping;
	region->table = NULL;
	region->mapping = NULL;
	region->state = INVALIDATED;
	mutex_unlock(&region->lock);

	/* When this returns the NIC reads and writes there no more. */
	if (tell_core) {
		invalidate(client, region->core_context);
		add_to(&invalidated, 1);
	}
	if (mapping)
		nvidia_p2p_free_dma_mapping(mapping);
	if (table)
		nvidia_p2p_free_page_table(table);
	forget(region);
	put_region(region);
}

static int pin_persistent(struct region *region,
			  struct nvidia_p2p_page_table **table)
{
#if GDR_NVIDIA_P2P_API == P2P_PERSISTENT
	return nvidia_p2p_get_pages_persistent(region->first, region->pinned,
					       table, 0);
#elif GDR_NVIDIA_P2P_API == P2P_NULL_CALLBACK
	return nvidia_p2p_get_pages(0, 0, region->first, region->pinned, table,
				    NULL, NULL);
#else
	return -EOPNOTSUPP;
#endif
}

static void unpin(struct region *region, struct nvidia_p2p_page_table *table)
{
	int error;

#if GDR_NVIDIA_P2P_API == P2P_PERSISTENT
	if (persistent)
		error = nvidia_p2p_put_pages_persistent(region->first, table, 0);
	else
#endif
		error = nvidia_p2p_put_pages(0, 0, region->first, table);
	if (error)
		pr_err_ratelimited("the GPU driver does not take back %llu bytes at 0x%llx: error %d\n",
				   region->pinned, region->first, error);
}

/* Called by the thread, and in the persistent mode, where nobody calls back, at once. */
static void hand_back(struct region *region)
{
	struct nvidia_p2p_page_table *table = NULL;
	bool last = false;

	mutex_lock(&region->lock);
	if (region->state == LEAVING) {
		table = region->table;
		region->handing_back = true;
	}
	mutex_unlock(&region->lock);
	if (!table)
		return;
	unpin(region, table);
	mutex_lock(&region->lock);
	region->table = NULL;
	if (region->state == LEAVING)
		region->state = RELEASED;
	last = take_from_driver(region);
	mutex_unlock(&region->lock);
	if (last)
		forget(region);
}

static struct region *next_that_leaves(void)
{
	struct region *region;

	spin_lock(&regions_lock);
	region = list_first_entry_or_null(&leaving, struct region, leaving);
	spin_unlock(&regions_lock);
	return region;
}

static int release_regions(void *unused)
{
	struct region *region;

	for (;;) {
		wait_event_interruptible(something_leaves,
					 next_that_leaves() ||
					 kthread_should_stop());
		region = next_that_leaves();
		if (!region && kthread_should_stop())
			return 0;
		if (!region)
			continue;
		hand_back(region);
		spin_lock(&regions_lock);
		list_del(&region->leaving);
		spin_unlock(&regions_lock);
		put_region(region);
		wake_up(&something_left);
	}
}

/* The core needs the pages no more. */
static void let_go(struct region *region)
{
	bool leaves;

	mutex_lock(&region->lock);
	leaves = region->state == PINNED || region->state == LIVE;
	if (leaves)
		region->state = LEAVING;
	mutex_unlock(&region->lock);
	if (!leaves)
		return;
	if (persistent) {
		hand_back(region);
		return;
	}
	kref_get(&region->count);
	spin_lock(&regions_lock);
	list_add_tail(&region->leaving, &leaving);
	spin_unlock(&regions_lock);
	wake_up(&something_leaves);
}

/* Zero, or why the table cannot be used. */
static int check_table(struct region *region,
		       const struct nvidia_p2p_page_table *table)
{
	u32 major = P2P_MAJOR(table->version);

	if (major < 1 || major > 2) {
		refuse(region, "page tables of version 0x%08x are not known; install a gdrkit that knows this GPU driver",
		       table->version);
		return -EINVAL;
	}
	if (table->page_size != P2P_PAGE_SIZE_64KB ||
	    table->entries != region->pinned >> GPU_PAGE_SHIFT) {
		refuse(region, "the GPU driver gives %u pages of size code %u, and not %llu of 64 KiB",
		       table->entries, table->page_size,
		       region->pinned >> GPU_PAGE_SHIFT);
		return -EINVAL;
	}
	return 0;
}

/* Zero; -EINVAL: no GPU memory; another error: GPU memory that cannot be had. */
static int pin(struct region *region)
{
	struct nvidia_p2p_page_table *table = NULL;
	bool freed, last = false;
	int error;

	show_to_driver(region);
	if (persistent)
		error = pin_persistent(region, &table);
	else
		error = nvidia_p2p_get_pages(0, 0, region->first,
					     region->pinned, &table,
					     freed_by_owner,
					     (void *)(uintptr_t)region->number);
	mutex_lock(&region->lock);
	freed = region->state == INVALIDATED;
	if (error) {
		region->state = RELEASED;
		last = take_from_driver(region);
	} else if (!freed) {
		region->state = PINNED;
		region->table = table;
	}
	mutex_unlock(&region->lock);
	if (last)
		forget(region);
	return freed ? -EFAULT : error;
}

/* What the thread has yet to hand back takes room in the GPU's window. */
static int pin_with_patience(struct region *region)
{
	int error = pin(region);

	if (error != -ENOMEM || persistent)
		return error;
	wait_event_timeout(something_left, !next_that_leaves(), HZ / 10);
	region->state = PINNING;
	return pin(region);
}

static bool round_to_pages(struct region *region)
{
	u64 last = region->address + region->length - 1;

	if (!region->length || last < region->address)
		return false;
	region->first = region->address & GPU_PAGE_MASK;
	/* At the very end of the address space the next page begins at 0. */
	region->pinned = (last | ~GPU_PAGE_MASK) - region->first + 1;
	return region->pinned >= region->length;
}

static struct region *new_region(unsigned long address, size_t size)
{
	struct region *region = kzalloc(sizeof(*region), GFP_KERNEL);
	unsigned int i;

	if (!region)
		return NULL;
	kref_init(&region->count);
	mutex_init(&region->lock);
	region->address = address;
	region->length = size;
	region->since = jiffies;
	region->process = current->tgid;
	/* Any program chooses its own name, and this one stands in the log. */
	for (i = 0; i < sizeof(region->command) - 1 && current->comm[i]; i++)
		region->command[i] = isgraph(current->comm[i]) ?
				     current->comm[i] : '_';
	if (!round_to_pages(region) || !try_module_get(THIS_MODULE)) {
		kfree(region);
		return NULL;
	}
	return region;
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
	region->error = pin_with_patience(region);
	if (region->error == -EINVAL) {
		put_region(region);
		return 0;
	}
	/* From here the core would hear "not mine" only; get_pages() tells it why. */
	if (region->error == -ENOMEM)
		refuse(region, "the GPU driver has no room to pin them; see BAR1 in nvidia-smi -q -d MEMORY");
	else if (region->error)
		refuse(region, "the GPU driver does not pin them: error %d",
		       region->error);
	else
		region->error = check_table(region, region->table);
	*context = region;
	return 1;
}

static int get_pages(unsigned long address, size_t size, int write, int force,
		     struct sg_table *sg, void *context, u64 core_context)
{
	struct region *region = context;
	int error;

	mutex_lock(&region->lock);
	error = region->error;
	if (!error && region->state != PINNED)
		error = -EFAULT;	/* freed meanwhile */
	if (!error && (address != region->address || size != region->length))
		error = -EINVAL;
	if (!error) {
		region->core_context = core_context;
		region->state = LIVE;
	}
	mutex_unlock(&region->lock);
	return error;
}

static int fill(struct region *region, struct sg_table *sg,
		const struct nvidia_p2p_dma_mapping *mapping)
{
	struct scatterlist *entry;
	unsigned int i;
	int error = sg_alloc_table(&region->sg, mapping->entries, GFP_KERNEL);

	if (error)
		return error;
	for_each_sg(region->sg.sgl, entry, mapping->entries, i) {
		sg_set_page(entry, NULL, GPU_PAGE_SIZE, 0);
		entry->dma_address = mapping->dma_addresses[i];
		entry->dma_length = GPU_PAGE_SIZE;
	}
	*sg = region->sg;	/* release() frees it */
	return 0;
}

static int check_mapping(struct region *region,
			 const struct nvidia_p2p_dma_mapping *mapping)
{
	u32 major = P2P_MAJOR(mapping->version);

	if (major < 1 || major > 2 ||
	    mapping->page_size_type != P2P_PAGE_SIZE_64KB ||
	    mapping->entries != region->pinned >> GPU_PAGE_SHIFT) {
		refuse(region, "the GPU driver's mapping of version 0x%08x has %u pages of size code %u, and not %llu of 64 KiB",
		       mapping->version, mapping->entries,
		       mapping->page_size_type,
		       region->pinned >> GPU_PAGE_SHIFT);
		return -EINVAL;
	}
	return 0;
}

static int dma_map(struct sg_table *sg, void *context, struct device *device,
		   int dmasync, int *count)
{
	struct region *region = context;
	struct nvidia_p2p_dma_mapping *mapping = NULL;
	struct nvidia_p2p_page_table *table;
	struct pci_dev *nic;
	bool live;
	int error;

	if (!device || !dev_is_pci(device)) {
		refuse(region, "the RDMA device is no PCI function, and a GPU's memory can be reached from one only");
		return -EINVAL;
	}
	nic = to_pci_dev(device);
	mutex_lock(&region->lock);
	table = region->state == LIVE ? region->table : NULL;
	mutex_unlock(&region->lock);
	if (!table)
		return -EFAULT;
	error = nvidia_p2p_dma_map_pages(nic, table, &mapping);
	if (error) {
		refuse(region, "the GPU driver does not map them for %s: error %d",
		       pci_name(nic), error);
		return error;
	}
	error = check_mapping(region, mapping);
	if (!error)
		error = fill(region, sg, mapping);
	mutex_lock(&region->lock);
	live = region->state == LIVE;
	if (live && !error) {
		region->nic = nic;
		region->mapping = mapping;
	}
	mutex_unlock(&region->lock);
	if (error || !live) {
		nvidia_p2p_dma_unmap_pages(nic, table, mapping);
		return error ? error : -EFAULT;
	}
	*count = mapping->entries;
	add_to(&registered, 1);
	return 0;
}

static int dma_unmap(struct sg_table *sg, void *context, struct device *device)
{
	struct region *region = context;
	struct nvidia_p2p_dma_mapping *mapping = NULL;
	struct nvidia_p2p_page_table *table = NULL;

	mutex_lock(&region->lock);
	if (region->state == LIVE) {
		table = region->table;
		mapping = region->mapping;
		region->mapping = NULL;
	}
	mutex_unlock(&region->lock);
	if (mapping)
		nvidia_p2p_dma_unmap_pages(region->nic, table, mapping);
	return 0;
}

static void put_pages(struct sg_table *sg, void *context)
{
	let_go(context);
}

static unsigned long get_page_size(void *context)
{
	return GPU_PAGE_SIZE;
}

static void release(void *context)
{
	struct region *region = context;

	let_go(region);
	sg_free_table(&region->sg);
	put_region(region);
}

/* One line for each region: /proc/driver/nvidia_peermem, for root. */
static int show_regions(struct seq_file *file, void *unused)
{
	struct region *region;
	unsigned int bucket;

	seq_puts(file, "process command address length nic mode state age_ms\n");
	spin_lock(&regions_lock);
	hash_for_each(regions, bucket, region, by_number) {
		enum region_state state = READ_ONCE(region->state);
		struct pci_dev *nic = READ_ONCE(region->nic);

		seq_printf(file, "%d %s 0x%llx %llu %s %s %s %u\n",
			   region->process, region->command, region->address,
			   region->length,
			   state == LIVE && nic ? pci_name(nic) : "-",
			   persistent ? "persistent" : "invalidating",
			   state_names[state],
			   jiffies_to_msecs(jiffies - region->since));
	}
	spin_unlock(&regions_lock);
	return 0;
}

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

static int __init start(void)
{
	if (persistent && GDR_NVIDIA_P2P_API == P2P_CALLBACK_ONLY) {
		pr_warn("this GPU driver cannot keep memory that is freed while it is registered; persistent=0 is used\n");
		persistent = false;
	}
	if (!persistent) {
		releaser = kthread_run(release_regions, NULL, KBUILD_MODNAME);
		if (IS_ERR(releaser))
			return PTR_ERR(releaser);
	}
	/* The last character of the version says that flags follow. */
	description.client.version[sizeof(description.client.version) - 1] = 1;
	/* A machine without /proc lacks the list of regions, and nothing else. */
	proc_create_single("driver/" KBUILD_MODNAME, 0400, NULL, show_regions);
	WRITE_ONCE(client,
		   ib_register_peer_memory_client(&description.client,
						  persistent ? NULL : &invalidate));
	if (!client) {
		pr_err("the RDMA core refuses the client; is another peer-memory module loaded?\n");
		remove_proc_entry("driver/" KBUILD_MODNAME, NULL);
		if (releaser)
			kthread_stop(releaser);
		return -EINVAL;
	}
	pr_info("gdrkit %s: registers GPU memory with RDMA NICs (%s)\n",
		GDR_MODULE_VERSION, persistent ? "persistent" : "invalidating");
	return 0;
}

/* No region is left: each holds a reference of the module. */
static void __exit stop(void)
{
	ib_unregister_peer_memory_client(client);
	remove_proc_entry("driver/" KBUILD_MODNAME, NULL);
	if (releaser)
		kthread_stop(releaser);
}

module_init(start);
module_exit(stop);
MODULE_DESCRIPTION("GPU memory for RDMA NICs, by the peer-memory interface");
MODULE_AUTHOR("gdrkit");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION(GDR_MODULE_VERSION);
