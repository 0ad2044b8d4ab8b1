/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the two files of the stand-in share. The structures are declared in a
 * header, as the driver's are, since symbol versions cover only such ones.
 */
#ifndef NVIDIA_STUB_H
#define NVIDIA_STUB_H

#include <linux/bits.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>

#ifndef STUB_API
#define STUB_API 3
#endif

#define GPU_PAGE	BIT(16)
#define GPU_PAGE_ORDER	(16 - PAGE_SHIFT)

struct nvidia_p2p_page {
	u64 physical_address;
	u32 registers[6];
};

struct nvidia_p2p_page_table {
	u32 version;
	u32 page_size;
	struct nvidia_p2p_page **pages;
	u32 entries;
	u8 *gpu_uuid;
#ifdef STUB_TABLE_2
	u32 flags;
#endif
};

struct nvidia_p2p_dma_mapping {
	u32 version;
	u32 page_size_type;
	u32 entries;
	u64 *dma_addresses;
	void *private;
	struct pci_dev *pci_dev;
};

struct imported;

struct memory {
	struct list_head in_all;
	struct file *file;
	struct imported *imported;	/* NULL: the pages are the driver's own */
	pid_t process;
	u64 offset, address;	/* address: 0 until it is mapped */
	unsigned int count, pins;
	bool freed;
	struct page *pages[];
};

struct pin {
	struct nvidia_p2p_page_table table;
	struct list_head in_all;
	struct memory *memory;
	void (*callback)(void *data);
	void *data;
	bool called_back, freed;	/* pins_lock; freed: by the client */
	struct list_head mappings;
	struct mutex mappings_lock;	/* the list */
};

struct mapping {
	struct nvidia_p2p_dma_mapping shown;
	struct list_head of_pin;
};

extern struct mutex api_lock;
extern uint window_pages;

enum counter { ALLOCATIONS, PINNED_PAGES, TABLES, MAPPINGS, CALLBACKS, COUNTERS };
void count_by(enum counter which, int by);
int counted(enum counter which);

/* memory.c; api_lock is held. */
struct memory *find_memory(u64 address, u64 length);
void put_memory(struct memory *memory);

/* nvidia_stub.c; api_lock is held. Calls back whoever was lent it. */
void take_back(struct memory *memory);

/*
 * import.c: the pages of a dma-buf. Its functions are for GPL modules only, so
 * the proprietary driver has none of this.
 */
#ifdef STUB_PROPRIETARY
static inline struct imported *import_pages(int buffer, struct page **pages,
					    u64 count)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void end_import(struct imported *imported)
{
}
#else
struct imported *import_pages(int buffer, struct page **pages, u64 count);
void end_import(struct imported *imported);
#endif

int start_memory(void);
void stop_memory(void);

#endif
