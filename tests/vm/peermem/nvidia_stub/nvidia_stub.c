// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A stand-in for nvidia.ko, as far as peer memory is concerned. "GPU" memory is
 * RAM that is mapped without struct pages, so that the kernel cannot pin it for
 * a NIC, and the nvidia_p2p functions give it out in pages of 64 KiB.
 *
 * It behaves as NVIDIA's open driver does in its source (nv-p2p.c, osapi.c,
 * p2p.c), above all where it hurts:
 *
 *   - one API lock is held by all functions that pin, hand back or map, and
 *     while a client is called back because memory is freed;
 *   - when that callback returns, the page table is freed;
 *   - what is lent can be handed back by the process that it belongs to only;
 *     for any other the call succeeds and does nothing;
 *   - no range is pinned that leaves one allocation.
 *
 * A page table that is used after it was freed is reported by a warning. So is
 * a client that is unloaded while it is called back or while something is lent
 * to it. With client_frees=1 the driver keeps the older contract to the letter:
 * after a callback, table and mapping are there until the client has freed them.
 *
 * What kind of driver it is the build decides:
 *   STUB_PROPRIETARY   its licence is NVIDIA's, and symbols are for everybody
 *   STUB_API           1: memory is lent only; 2: no callback means kept;
 *                      3: functions for what is kept (default)
 *   STUB_TABLE_2       page tables of version 2, as 580 has them
 */
#define pr_fmt(format) "nvidia_stub: " format

#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "nvidia_stub.h"

#ifdef STUB_PROPRIETARY
MODULE_LICENSE("NVIDIA");
#define STUB_EXPORT(symbol) EXPORT_SYMBOL(symbol)
#else
MODULE_LICENSE("Dual MIT/GPL");
#define STUB_EXPORT(symbol) EXPORT_SYMBOL_GPL(symbol)
#endif
MODULE_DESCRIPTION("stand-in for the GPU driver's peer-memory functions");
MODULE_VERSION("999.1");

#ifdef STUB_TABLE_2
#define TABLE_VERSION 0x00020000
#else
#define TABLE_VERSION 0x00010002
#endif
#define MAPPING_VERSION	0x00020003
#define SIZE_64_KB	1

static uint table_version = TABLE_VERSION;
module_param(table_version, uint, 0644);
MODULE_PARM_DESC(table_version, "what page tables say that they are");
static bool can_keep = STUB_API > 1;
module_param(can_keep, bool, 0644);
MODULE_PARM_DESC(can_keep, "0: memory cannot be kept, as on vGPU");
uint window_pages = 65536;
module_param(window_pages, uint, 0644);
MODULE_PARM_DESC(window_pages, "how much can be pinned (BAR1), in pages of 64 KiB");
static bool client_frees;
module_param(client_frees, bool, 0644);
MODULE_PARM_DESC(client_frees, "1: tables that were called back are the client's to free");
static uint pin_delay_ms;
module_param(pin_delay_ms, uint, 0644);
MODULE_PARM_DESC(pin_delay_ms, "how long pinning waits before it takes the lock");
static uint callback_delay_ms;
module_param(callback_delay_ms, uint, 0644);
MODULE_PARM_DESC(callback_delay_ms, "how long a callback seems to take after its last line");
static ulong longest_asked;
module_param(longest_asked, ulong, 0644);
MODULE_PARM_DESC(longest_asked, "the most bytes that anybody wanted pinned at once");
static uint map_delay_ms;
module_param(map_delay_ms, uint, 0644);
MODULE_PARM_DESC(map_delay_ms, "how long mapping waits before it takes the lock");

static int counters[COUNTERS];
module_param_named(allocations, counters[ALLOCATIONS], int, 0444);
module_param_named(pinned_pages, counters[PINNED_PAGES], int, 0444);
module_param_named(tables, counters[TABLES], int, 0444);
module_param_named(mappings, counters[MAPPINGS], int, 0444);
module_param_named(callbacks, counters[CALLBACKS], int, 0444);

static LIST_HEAD(pins);	/* changed with both api_lock and pins_lock held */
static LIST_HEAD(orphans);	/* called back, and the client's to free */
static DEFINE_SPINLOCK(pins_lock);	/* pins, orphans, counters */
static bool calling_back;
static u8 uuid[16];

void count_by(enum counter which, int by)
{
	spin_lock(&pins_lock);
	counters[which] += by;
	spin_unlock(&pins_lock);
}

int counted(enum counter which)
{
	return READ_ONCE(counters[which]);
}

/* pins_lock is held. */
static struct pin *find_pin(struct list_head *list,
			    const struct nvidia_p2p_page_table *table)
{
	struct pin *pin;

	list_for_each_entry(pin, list, in_all)
		if (&pin->table == table)
			return pin;
	return NULL;
}

static bool is_live(const struct nvidia_p2p_page_table *table)
{
	bool found;

	spin_lock(&pins_lock);
	found = find_pin(&pins, table);
	spin_unlock(&pins_lock);
	return found;
}

static bool is_known(const struct nvidia_p2p_page_table *table)
{
	bool found;

	spin_lock(&pins_lock);
	found = find_pin(&pins, table) || find_pin(&orphans, table);
	spin_unlock(&pins_lock);
	return found;
}

static void free_mapping(struct mapping *mapping)
{
	list_del(&mapping->of_pin);
	kfree(mapping->shown.dma_addresses);
	kfree(mapping);
	count_by(MAPPINGS, -1);
}

/* Of a table that is not among the pins any more. */
static void free_pin(struct pin *pin)
{
	struct mapping *mapping, *next;
	unsigned int i;

	WARN(client_frees && pin->called_back && !list_empty(&pin->mappings),
	     "a table is freed before its mapping\n");
	mutex_lock(&pin->mappings_lock);
	list_for_each_entry_safe(mapping, next, &pin->mappings, of_pin)
		free_mapping(mapping);
	mutex_unlock(&pin->mappings_lock);
	for (i = 0; i < pin->table.entries; i++)
		kfree(pin->table.pages[i]);
	count_by(PINNED_PAGES, -(int)pin->table.entries);
	count_by(TABLES, -1);
	kvfree(pin->table.pages);
	pin->memory->pins--;
	put_memory(pin->memory);
	kfree(pin);
}

static void forget_pin(struct pin *pin)
{
	spin_lock(&pins_lock);
	list_del(&pin->in_all);
	spin_unlock(&pins_lock);
}

static int fill_table(struct pin *pin, u64 address, u64 length)
{
	struct nvidia_p2p_page_table *table = &pin->table;
	unsigned int first = (address - pin->memory->address) / GPU_PAGE;
	unsigned int count = length / GPU_PAGE;

	table->version = table_version;
	table->page_size = SIZE_64_KB;
	table->gpu_uuid = uuid;
	table->pages = kvcalloc(count, sizeof(*table->pages), GFP_KERNEL);
	if (!table->pages)
		return -ENOMEM;
	for (; table->entries < count; table->entries++) {
		struct nvidia_p2p_page *page = kzalloc(sizeof(*page), GFP_KERNEL);

		if (!page)
			return -ENOMEM;
		page->physical_address =
			page_to_phys(pin->memory->pages[first + table->entries]);
		table->pages[table->entries] = page;
		count_by(PINNED_PAGES, 1);
	}
	return 0;
}

static int pin_locked(u64 address, u64 length,
		      struct nvidia_p2p_page_table **table,
		      void (*callback)(void *data), void *data)
{
	struct memory *memory = find_memory(address, length);
	struct pin *pin;
	int error;

	if (!memory)
		return -EINVAL;
	if (counted(PINNED_PAGES) + length / GPU_PAGE > window_pages)
		return -ENOMEM;
	pin = kzalloc(sizeof(*pin), GFP_KERNEL);
	if (!pin)
		return -ENOMEM;
	pin->memory = memory;
	pin->callback = callback;
	pin->data = data;
	INIT_LIST_HEAD(&pin->mappings);
	mutex_init(&pin->mappings_lock);
	memory->pins++;
	count_by(TABLES, 1);
	error = fill_table(pin, address, length);
	if (error) {
		free_pin(pin);
		return error;
	}
	spin_lock(&pins_lock);
	list_add_tail(&pin->in_all, &pins);
	spin_unlock(&pins_lock);
	*table = &pin->table;
	return 0;
}

/* When the driver fails, it frees the table, and leaves its address there. */
static struct nvidia_p2p_page_table *freed_table(void)
{
	struct pin *pin = kzalloc(sizeof(*pin), GFP_KERNEL);
	unsigned long address = (unsigned long)pin;

	kfree(pin);
	return (struct nvidia_p2p_page_table *)address;
}

static int get(u64 address, u64 length, struct nvidia_p2p_page_table **table,
	       void (*callback)(void *data), void *data)
{
	int error;

	*table = NULL;
	longest_asked = max_t(ulong, longest_asked, length);
	if (!length || address % GPU_PAGE || length % GPU_PAGE)
		return -EINVAL;
	if (!callback && !can_keep)
		return -524;	/* ENOTSUPP, which user space does not know */
	if (pin_delay_ms)
		msleep(pin_delay_ms);
	mutex_lock(&api_lock);
	error = pin_locked(address, length, table, callback, data);
	mutex_unlock(&api_lock);
	if (error)
		*table = freed_table();
	return error;
}

int nvidia_p2p_get_pages(u64 token, u32 va_space, u64 address, u64 length,
			 struct nvidia_p2p_page_table **table,
			 void (*callback)(void *data), void *data)
{
	if (!callback && STUB_API != 2)
		return -EINVAL;
	return get(address, length, table, callback, data);
}
STUB_EXPORT(nvidia_p2p_get_pages);

static int put(struct nvidia_p2p_page_table *table, bool kept)
{
	struct pin *pin, *found = NULL;

	mutex_lock(&api_lock);
	/* By the address alone: a freed table's may have been given to another. */
	list_for_each_entry(pin, &pins, in_all)
		if (&pin->table == table && kept == !pin->callback &&
		    (kept || pin->memory->process == current->tgid))
			found = pin;
	if (found) {
		forget_pin(found);
		free_pin(found);
	}
	mutex_unlock(&api_lock);
	if (!found && kept)
		WARN(1, "what is handed back is not kept\n");
	if (!found && !kept && client_frees)
		WARN(!is_known(table), "what is handed back was freed already\n");
	return 0;
}

int nvidia_p2p_put_pages(u64 token, u32 va_space, u64 address,
			 struct nvidia_p2p_page_table *table)
{
	bool kept = false;

	/* This API looks into the table to find out, freed or not. */
	if (STUB_API == 2)
		kept = !container_of(table, struct pin, table)->callback;
	return put(table, kept);
}
STUB_EXPORT(nvidia_p2p_put_pages);

#if STUB_API == 2
int nvidia_p2p_cap_persistent_pages = 1;
STUB_EXPORT(nvidia_p2p_cap_persistent_pages);
#elif STUB_API == 3
int nvidia_p2p_get_pages_persistent(u64 address, u64 length,
				    struct nvidia_p2p_page_table **table,
				    u32 flags)
{
	if (flags)
		return -EINVAL;
	return get(address, length, table, NULL, NULL);
}
STUB_EXPORT(nvidia_p2p_get_pages_persistent);

int nvidia_p2p_put_pages_persistent(u64 address,
				    struct nvidia_p2p_page_table *table,
				    u32 flags)
{
	if (flags)
		return -EINVAL;
	return put(table, true);
}
STUB_EXPORT(nvidia_p2p_put_pages_persistent);
#endif

static struct mapping *new_mapping(struct pci_dev *peer,
				   const struct nvidia_p2p_page_table *table)
{
	struct mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
	unsigned int i;

	if (!mapping)
		return NULL;
	mapping->shown.version = MAPPING_VERSION;
	mapping->shown.page_size_type = table->page_size;
	mapping->shown.entries = table->entries;
	mapping->shown.pci_dev = peer;
	mapping->shown.dma_addresses = kcalloc(table->entries, sizeof(u64),
					       GFP_KERNEL);
	if (!mapping->shown.dma_addresses) {
		kfree(mapping);
		return NULL;
	}
	/* Without an IOMMU a NIC's addresses are the physical ones. */
	for (i = 0; i < table->entries; i++)
		mapping->shown.dma_addresses[i] =
			table->pages[i]->physical_address;
	return mapping;
}

int nvidia_p2p_dma_map_pages(struct pci_dev *peer,
			     struct nvidia_p2p_page_table *table,
			     struct nvidia_p2p_dma_mapping **shown)
{
	struct pin *pin = container_of(table, struct pin, table);
	struct mapping *mapping = NULL;

	if (!peer || WARN(!is_live(table), "a freed table is mapped\n"))
		return -EINVAL;
	if (map_delay_ms)
		msleep(map_delay_ms);
	mutex_lock(&api_lock);
	if (!WARN(!is_live(table), "a table is mapped while it is freed\n"))
		mapping = new_mapping(peer, table);
	mutex_unlock(&api_lock);
	if (!mapping)
		return -ENOMEM;
	mutex_lock(&pin->mappings_lock);
	list_add_tail(&mapping->of_pin, &pin->mappings);
	count_by(MAPPINGS, 1);
	mutex_unlock(&pin->mappings_lock);
	*shown = &mapping->shown;
	return 0;
}
STUB_EXPORT(nvidia_p2p_dma_map_pages);

int nvidia_p2p_dma_unmap_pages(struct pci_dev *peer,
			       struct nvidia_p2p_page_table *table,
			       struct nvidia_p2p_dma_mapping *shown)
{
	struct pin *pin = container_of(table, struct pin, table);
	struct mapping *mapping, *next;

	if (!peer || WARN(!is_live(table), "of a freed table a mapping is ended\n"))
		return -EINVAL;
	mutex_lock(&pin->mappings_lock);
	list_for_each_entry_safe(mapping, next, &pin->mappings, of_pin)
		if (&mapping->shown == shown)
			free_mapping(mapping);
	mutex_unlock(&pin->mappings_lock);
	return 0;
}
STUB_EXPORT(nvidia_p2p_dma_unmap_pages);

/* Usually the driver frees both itself, when the callback has returned. */
int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *table)
{
	struct pin *pin, *orphan;
	bool is_clients;

	if (!client_frees)
		return 0;
	spin_lock(&pins_lock);
	pin = find_pin(&pins, table);
	is_clients = pin && pin->called_back && !pin->freed;
	if (is_clients)
		pin->freed = true;	/* take_back() goes on with it */
	orphan = find_pin(&orphans, table);
	if (orphan)
		list_del(&orphan->in_all);
	spin_unlock(&pins_lock);
	WARN(!is_clients && !orphan, "a table is not the client's to free\n");
	if (orphan) {
		mutex_lock(&api_lock);
		free_pin(orphan);
		mutex_unlock(&api_lock);
	}
	return 0;
}
STUB_EXPORT(nvidia_p2p_free_page_table);

/* api_lock is held, since a callback calls this. */
int nvidia_p2p_free_dma_mapping(struct nvidia_p2p_dma_mapping *shown)
{
	struct mapping *mapping, *next;
	struct pin *pin;
	bool found = false;

	if (!client_frees)
		return 0;
	list_for_each_entry(pin, &pins, in_all) {
		if (!pin->called_back)
			continue;
		mutex_lock(&pin->mappings_lock);
		list_for_each_entry_safe(mapping, next, &pin->mappings, of_pin) {
			if (&mapping->shown != shown)
				continue;
			free_mapping(mapping);
			found = true;
		}
		mutex_unlock(&pin->mappings_lock);
	}
	WARN(!found, "a mapping is not the client's to free\n");
	return 0;
}
STUB_EXPORT(nvidia_p2p_free_dma_mapping);

static struct pin *next_lent(struct memory *memory)
{
	struct pin *pin;

	list_for_each_entry(pin, &pins, in_all)
		if (pin->memory == memory && pin->callback)
			return pin;
	return NULL;
}

static void call_back(struct pin *pin)
{
	spin_lock(&pins_lock);
	pin->called_back = true;
	spin_unlock(&pins_lock);
	count_by(CALLBACKS, 1);
	WRITE_ONCE(calling_back, true);
	pin->callback(pin->data);
	if (callback_delay_ms)
		msleep(callback_delay_ms);
	WRITE_ONCE(calling_back, false);
}

void take_back(struct memory *memory)
{
	struct pin *pin;
	bool is_clients;

	while ((pin = next_lent(memory))) {
		call_back(pin);
		spin_lock(&pins_lock);
		is_clients = client_frees && !pin->freed;
		if (is_clients)
			list_move_tail(&pin->in_all, &orphans);
		else
			list_del(&pin->in_all);
		spin_unlock(&pins_lock);
		if (!is_clients)
			free_pin(pin);
	}
}

static int lent_tables(void)
{
	struct pin *pin;
	int count = 0;

	spin_lock(&pins_lock);
	list_for_each_entry(pin, &pins, in_all)
		count += !!pin->callback;
	spin_unlock(&pins_lock);
	return count;
}

/* Its own code to take leave has run by then. */
static int on_module(struct notifier_block *block, unsigned long state,
		     void *data)
{
	const struct module *module = data;

	if (state != MODULE_STATE_GOING || strcmp(module->name, "nvidia_peermem"))
		return NOTIFY_DONE;
	WARN(READ_ONCE(calling_back), "a client leaves while it is called back\n");
	WARN(lent_tables(), "a client leaves and %d tables are lent to it\n",
	     lent_tables());
	return NOTIFY_OK;
}

static struct notifier_block modules = { .notifier_call = on_module };

static int __init start(void)
{
	int error = register_module_notifier(&modules);

	if (error)
		return error;
	error = start_memory();
	if (error)
		unregister_module_notifier(&modules);
	return error;
}

static void __exit stop(void)
{
	stop_memory();
	unregister_module_notifier(&modules);
}

module_init(start);
module_exit(stop);
