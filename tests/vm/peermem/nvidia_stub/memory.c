// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * "GPU" memory: RAM that is mapped without struct pages, so that the kernel
 * cannot pin it for a NIC; or the pages of a dma-buf, of which the process says
 * where it has them.
 */
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "gpu_memory.h"
#include "nvidia_stub.h"

DEFINE_MUTEX(api_lock);
static LIST_HEAD(memories);	/* api_lock */
static u64 last_offset = GPU_PAGE;

/* Memory is there until nobody has it any more. */
void put_memory(struct memory *memory)
{
	unsigned int i;

	if (!memory->freed || memory->pins)
		return;
	if (memory->imported)
		end_import(memory->imported);
	for (i = 0; i < memory->count && !memory->imported; i++)
		__free_pages(memory->pages[i], GPU_PAGE_ORDER);
	list_del(&memory->in_all);
	kvfree(memory);
	count_by(ALLOCATIONS, -1);
}

struct memory *find_memory(u64 address, u64 length)
{
	struct memory *memory;

	list_for_each_entry(memory, &memories, in_all) {
		u64 size = memory->count * GPU_PAGE;

		if (!memory->freed && memory->address &&
		    memory->process == current->tgid &&
		    address >= memory->address && length <= size &&
		    address - memory->address <= size - length)
			return memory;
	}
	return NULL;
}

/* api_lock is held. */
static void free_memory(struct memory *memory)
{
	if (!memory->imported)
		unmap_mapping_range(memory->file->f_mapping, memory->offset,
				    memory->count * GPU_PAGE, 1);
	memory->freed = true;
	memory->pins++;
	take_back(memory);
	memory->pins--;
	put_memory(memory);
}

static struct memory *by_offset(struct file *file, u64 offset)
{
	struct memory *memory;

	list_for_each_entry(memory, &memories, in_all)
		if (memory->file == file && memory->offset == offset &&
		    !memory->imported && !memory->freed)
			return memory;
	return NULL;
}

#define MOST_PAGES 65536

static struct memory *new_memory(struct file *file, u64 length)
{
	u64 count = length / GPU_PAGE;
	struct memory *memory;

	if (!count || length % GPU_PAGE || count > MOST_PAGES)
		return ERR_PTR(-EINVAL);
	memory = kvzalloc(struct_size(memory, pages, count), GFP_KERNEL);
	if (!memory)
		return ERR_PTR(-ENOMEM);
	memory->file = file;
	memory->process = current->tgid;
	return memory;
}

static long allocate(struct file *file, struct gpu_memory *asked)
{
	u64 count = asked->length / GPU_PAGE;
	struct memory *memory = new_memory(file, asked->length);
	u64 i;

	if (IS_ERR(memory))
		return PTR_ERR(memory);
	for (i = 0; i < count; i++) {
		memory->pages[i] = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP,
					       GPU_PAGE_ORDER);
		if (!memory->pages[i])
			break;
		memory->count++;
	}
	mutex_lock(&api_lock);
	list_add_tail(&memory->in_all, &memories);
	count_by(ALLOCATIONS, 1);
	memory->offset = last_offset;
	last_offset += asked->length;
	asked->offset = memory->offset;
	if (i < count) {
		memory->freed = true;
		put_memory(memory);
	}
	mutex_unlock(&api_lock);
	return i < count ? -ENOMEM : 0;
}

/* What this process has from elsewhere in [address, address + length). */
static void free_imported(u64 address, u64 length)
{
	struct memory *memory, *next;

	list_for_each_entry_safe(memory, next, &memories, in_all)
		if (memory->imported && !memory->freed &&
		    memory->process == current->tgid &&
		    memory->address < address + length &&
		    address < memory->address + memory->count * GPU_PAGE)
			free_memory(memory);
}

static long import(struct file *file, const struct gpu_memory_import *asked)
{
	struct memory *memory = NULL;

	if (asked->address % GPU_PAGE ||
	    asked->address + asked->length < asked->address)
		return -EINVAL;
	if (asked->length) {
		memory = new_memory(file, asked->length);
		if (IS_ERR(memory))
			return PTR_ERR(memory);
		memory->count = asked->length / GPU_PAGE;
		memory->address = asked->address;
		memory->imported = import_pages(asked->buffer, memory->pages,
						memory->count);
		if (IS_ERR(memory->imported)) {
			long error = PTR_ERR(memory->imported);

			kvfree(memory);
			return error;
		}
	}
	mutex_lock(&api_lock);
	free_imported(asked->address, asked->length ?: GPU_PAGE);
	if (memory) {
		list_add_tail(&memory->in_all, &memories);
		count_by(ALLOCATIONS, 1);
	}
	mutex_unlock(&api_lock);
	return 0;
}

static long control(struct file *file, unsigned int command, unsigned long argument)
{
	struct gpu_memory __user *user = (struct gpu_memory __user *)argument;
	struct gpu_memory_import from_elsewhere;
	struct gpu_memory asked;
	struct memory *memory;
	long error;

	if (command == GPU_MEMORY_IMPORT) {
		if (copy_from_user(&from_elsewhere, user, sizeof(from_elsewhere)))
			return -EFAULT;
		return import(file, &from_elsewhere);
	}

	if (copy_from_user(&asked, user, sizeof(asked)))
		return -EFAULT;
	switch (command) {
	case GPU_MEMORY_ALLOCATE:
		error = allocate(file, &asked);
		if (!error && copy_to_user(user, &asked, sizeof(asked)))
			error = -EFAULT;	/* freed with the file */
		return error;
	case GPU_MEMORY_FREE:
		mutex_lock(&api_lock);
		memory = by_offset(file, asked.offset);
		if (memory)
			free_memory(memory);
		mutex_unlock(&api_lock);
		return memory ? 0 : -ENOENT;
	default:
		return -ENOTTY;
	}
}

static int map(struct file *file, struct vm_area_struct *area)
{
	unsigned long length = area->vm_end - area->vm_start;
	struct memory *memory;
	unsigned int i;
	int error = -EINVAL;

	mutex_lock(&api_lock);
	memory = by_offset(file, (u64)area->vm_pgoff << PAGE_SHIFT);
	if (memory && !memory->address && length == memory->count * GPU_PAGE &&
	    area->vm_start % GPU_PAGE == 0) {
		error = 0;
		for (i = 0; i < memory->count && !error; i++)
			error = remap_pfn_range(area,
						area->vm_start + i * GPU_PAGE,
						page_to_pfn(memory->pages[i]),
						GPU_PAGE, area->vm_page_prot);
		if (!error)
			memory->address = area->vm_start;
	}
	mutex_unlock(&api_lock);
	return error;
}

/* The process is at its end, or has closed the device. */
static int close_file(struct inode *inode, struct file *file)
{
	struct memory *memory, *next;

	mutex_lock(&api_lock);
	list_for_each_entry_safe(memory, next, &memories, in_all)
		if (memory->file == file && !memory->freed)
			free_memory(memory);
	mutex_unlock(&api_lock);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control,
	.mmap = map,
	.release = close_file,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gpu_memory",
	.mode = 0666,
	.fops = &operations,
};

int start_memory(void)
{
	return misc_register(&device);
}

void stop_memory(void)
{
	misc_deregister(&device);
}
