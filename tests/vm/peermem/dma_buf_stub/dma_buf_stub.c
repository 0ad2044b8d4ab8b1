// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for a driver that exports device memory as dma-bufs and may move
 * it. The memory is RAM.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#include "device_buffer.h"

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("stand-in for an exporter of device memory");
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS("DMA_BUF");
#else
MODULE_IMPORT_NS(DMA_BUF);
#endif

#define MOST_PAGES 16384

static int buffers, mapped;
module_param(buffers, int, 0444);
MODULE_PARM_DESC(buffers, "dma-bufs that are exported now");
module_param(mapped, int, 0444);
MODULE_PARM_DESC(mapped, "how many of them a device reaches now");

static DEFINE_MUTEX(lock);	/* the counters, and what follows */
static struct page **left_behind;	/* the old place of what was moved last */
static unsigned int left_behind_count;

struct buffer {
	unsigned int count;
	struct page **pages;	/* changed with the reservation held */
};

static void free_pages_of(struct page **pages, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		__free_page(pages[i]);
	kvfree(pages);
}

static struct page **new_pages(unsigned int count)
{
	struct page **pages = kvcalloc(count, sizeof(*pages), GFP_KERNEL);
	unsigned int i;

	if (!pages)
		return NULL;
	for (i = 0; i < count; i++) {
		pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!pages[i]) {
			free_pages_of(pages, i);
			return NULL;
		}
	}
	return pages;
}

static void count_by(int *counter, int amount)
{
	mutex_lock(&lock);
	*counter += amount;
	mutex_unlock(&lock);
}

static int pin(struct dma_buf_attachment *attachment)
{
	return 0;
}

static void unpin(struct dma_buf_attachment *attachment)
{
}

static struct sg_table *map(struct dma_buf_attachment *attachment,
			    enum dma_data_direction direction)
{
	struct buffer *buffer = attachment->dmabuf->priv;
	struct sg_table *table = kzalloc(sizeof(*table), GFP_KERNEL);
	int error;

	if (!table)
		return ERR_PTR(-ENOMEM);
	error = sg_alloc_table_from_pages(table, buffer->pages, buffer->count, 0,
					  (size_t)buffer->count << PAGE_SHIFT,
					  GFP_KERNEL);
	if (error) {
		kfree(table);
		return ERR_PTR(error);
	}
	error = dma_map_sgtable(attachment->dev, table, direction, 0);
	if (error) {
		sg_free_table(table);
		kfree(table);
		return ERR_PTR(error);
	}
	count_by(&mapped, 1);
	return table;
}

static void unmap(struct dma_buf_attachment *attachment, struct sg_table *table,
		  enum dma_data_direction direction)
{
	dma_unmap_sgtable(attachment->dev, table, direction, 0);
	sg_free_table(table);
	kfree(table);
	count_by(&mapped, -1);
}

static void release(struct dma_buf *exported)
{
	struct buffer *buffer = exported->priv;

	free_pages_of(buffer->pages, buffer->count);
	kfree(buffer);
	count_by(&buffers, -1);
}

static vm_fault_t show_page(struct vm_fault *fault)
{
	struct dma_buf *exported = fault->vma->vm_private_data;
	struct buffer *buffer = exported->priv;
	vm_fault_t result = VM_FAULT_SIGBUS;

	dma_resv_lock(exported->resv, NULL);
	if (fault->pgoff < buffer->count) {
		fault->page = buffer->pages[fault->pgoff];
		get_page(fault->page);
		result = 0;
	}
	dma_resv_unlock(exported->resv);
	return result;
}

static const struct vm_operations_struct shown = { .fault = show_page };

static int show(struct dma_buf *exported, struct vm_area_struct *area)
{
	area->vm_private_data = exported;
	area->vm_ops = &shown;
	return 0;
}

static const struct dma_buf_ops operations = {
	.pin = pin,
	.unpin = unpin,
	.map_dma_buf = map,
	.unmap_dma_buf = unmap,
	.release = release,
	.mmap = show,
};

static int export(struct device_buffer *asked)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	u64 count = asked->length >> PAGE_SHIFT;
	struct buffer *buffer;
	struct dma_buf *exported;
	int fd;

	if (!count || count > MOST_PAGES || asked->length & ~PAGE_MASK)
		return -EINVAL;
	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	buffer->count = count;
	buffer->pages = new_pages(count);
	if (!buffer->pages) {
		kfree(buffer);
		return -ENOMEM;
	}
	info.ops = &operations;
	info.size = asked->length;
	info.flags = O_RDWR;
	info.priv = buffer;
	exported = dma_buf_export(&info);
	if (IS_ERR(exported)) {
		free_pages_of(buffer->pages, buffer->count);
		kfree(buffer);
		return PTR_ERR(exported);
	}
	count_by(&buffers, 1);
	fd = dma_buf_fd(exported, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(exported);
	return fd;
}

static void leave_behind(struct page **pages, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		memset(page_address(pages[i]), 0xdb, PAGE_SIZE);
	mutex_lock(&lock);
	if (left_behind)
		free_pages_of(left_behind, left_behind_count);
	left_behind = pages;
	left_behind_count = count;
	mutex_unlock(&lock);
}

static int move(int fd)
{
	struct dma_buf *exported = dma_buf_get(fd);
	struct page **to, **from;
	struct buffer *buffer;
	unsigned int i;

	if (IS_ERR(exported))
		return PTR_ERR(exported);
	buffer = exported->priv;
	to = exported->ops == &operations ? new_pages(buffer->count) : NULL;
	if (!to) {
		dma_buf_put(exported);
		return -EINVAL;
	}
	dma_resv_lock(exported->resv, NULL);
	dma_buf_move_notify(exported);
	unmap_mapping_range(exported->file->f_mapping, 0, 0, 1);
	for (i = 0; i < buffer->count; i++)
		copy_page(page_address(to[i]), page_address(buffer->pages[i]));
	from = buffer->pages;
	buffer->pages = to;
	dma_resv_unlock(exported->resv);
	leave_behind(from, buffer->count);
	dma_buf_put(exported);
	return 0;
}

static long control(struct file *file, unsigned int command, unsigned long argument)
{
	struct device_buffer __user *user = (struct device_buffer __user *)argument;
	struct device_buffer asked;

	if (copy_from_user(&asked, user, sizeof(asked)))
		return -EFAULT;
	if (command == DEVICE_BUFFER_MOVE)
		return move(asked.fd);
	if (command != DEVICE_BUFFER_EXPORT)
		return -ENOTTY;
	asked.fd = export(&asked);
	if (asked.fd < 0)
		return asked.fd;
	return copy_to_user(user, &asked, sizeof(asked)) ? -EFAULT : 0;
}

static int map_left_behind(struct file *file, struct vm_area_struct *area)
{
	unsigned long count = vma_pages(area), i;
	int error = -EINVAL;

	mutex_lock(&lock);
	if (count <= left_behind_count) {
		error = 0;
		for (i = 0; i < count && !error; i++)
			error = vm_insert_page(area, area->vm_start + i * PAGE_SIZE,
					       left_behind[i]);
	}
	mutex_unlock(&lock);
	return error;
}

static const struct file_operations files = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control,
	.mmap = map_left_behind,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "device_buffer",
	.mode = 0666,
	.fops = &files,
};

static int __init start(void)
{
	return misc_register(&device);
}

static void __exit stop(void)
{
	misc_deregister(&device);
	if (left_behind)
		free_pages_of(left_behind, left_behind_count);
}

module_init(start);
module_exit(stop);
