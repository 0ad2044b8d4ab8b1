// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The pages of a dma-buf as memory of this GPU, which keeps them as long as the
 * memory is there. They come in runs of 64 KiB, or not at all: a GPU has no
 * smaller pages.
 */
#define pr_fmt(format) "nvidia_stub: " format

#include <linux/dma-buf.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/version.h>

#include "nvidia_stub.h"

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS("DMA_BUF");
#else
MODULE_IMPORT_NS(DMA_BUF);
#endif

/* The locked functions came with 6.2. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define dma_buf_map_attachment_unlocked dma_buf_map_attachment
#define dma_buf_unmap_attachment_unlocked dma_buf_unmap_attachment
#endif

struct imported {
	struct dma_buf *buffer;
	struct dma_buf_attachment *attachment;
	struct sg_table *pages;
	struct pci_dev *device;
};

void end_import(struct imported *imported)
{
	if (imported->pages)
		dma_buf_unmap_attachment_unlocked(imported->attachment,
						  imported->pages,
						  DMA_BIDIRECTIONAL);
	if (imported->attachment)
		dma_buf_detach(imported->buffer, imported->attachment);
	if (imported->buffer)
		dma_buf_put(imported->buffer);
	pci_dev_put(imported->device);
	kfree(imported);
}

static int map(struct imported *imported, int fd)
{
	struct dma_buf *buffer = dma_buf_get(fd);

	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	imported->buffer = buffer;
	/* Any that does DMA; without an IOMMU its addresses are those of the RAM. */
	imported->device = pci_get_device(PCI_ANY_ID, PCI_ANY_ID, NULL);
	if (!imported->device)
		return -ENODEV;
	imported->attachment = dma_buf_attach(buffer, &imported->device->dev);
	if (IS_ERR(imported->attachment)) {
		int error = PTR_ERR(imported->attachment);

		imported->attachment = NULL;
		return error;
	}
	imported->pages = dma_buf_map_attachment_unlocked(imported->attachment,
							  DMA_BIDIRECTIONAL);
	if (IS_ERR(imported->pages)) {
		int error = PTR_ERR(imported->pages);

		imported->pages = NULL;
		return error;
	}
	return 0;
}

/* Entries begin and end with pages of this machine. */
static int fill(struct imported *imported, struct page **pages, u64 count)
{
	struct scatterlist *entry;
	u64 place = 0, in_entry;
	unsigned int i;

	for_each_sgtable_dma_sg(imported->pages, entry, i) {
		for (in_entry = 0; in_entry < sg_dma_len(entry);
		     in_entry += PAGE_SIZE, place += PAGE_SIZE) {
			u64 address = sg_dma_address(entry) + in_entry;
			u64 in_page = place % GPU_PAGE;

			if (place == count * GPU_PAGE)
				return -EINVAL;
			if (!in_page)
				pages[place / GPU_PAGE] =
					pfn_to_page(PHYS_PFN(address));
			if ((!in_page && address % GPU_PAGE) ||
			    address != page_to_phys(pages[place / GPU_PAGE]) +
				       in_page) {
				pr_err("a dma-buf has no whole page of 64 KiB at %llu\n",
				       place);
				return -ENXIO;
			}
		}
	}
	return place == count * GPU_PAGE ? 0 : -EINVAL;
}

struct imported *import_pages(int fd, struct page **pages, u64 count)
{
	struct imported *imported = kzalloc(sizeof(*imported), GFP_KERNEL);
	int error;

	if (!imported)
		return ERR_PTR(-ENOMEM);
	error = map(imported, fd);
	if (!error)
		error = fill(imported, pages, count);
	if (!error)
		return imported;
	end_import(imported);
	return ERR_PTR(error);
}
