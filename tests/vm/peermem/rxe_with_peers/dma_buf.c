// SPDX-License-Identifier: GPL-2.0-only
/*
 * dma-bufs, by the core's own functions, as drivers of real NICs do it. rxe has
 * no page faults: when the exporter moves the memory, the registration ends.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/version.h>

#include "rxe.h"
#include "memory.h"

static int buffers, moved;
module_param(buffers, int, 0444);
MODULE_PARM_DESC(buffers, "dma-bufs that are registered now");
module_param(moved, int, 0444);
MODULE_PARM_DESC(moved, "registrations that ended because the memory was moved");

/* What a thread is about to register; rxe itself knows of no descriptor. */
struct request {
	struct list_head in_all;
	struct task_struct *task;
	int fd;
};

static DEFINE_MUTEX(lock);
static LIST_HEAD(requests);

static void moves(struct dma_buf_attachment *attachment)
{
	struct ib_umem_dmabuf *buffer = attachment->importer_priv;
	struct rxe_memory *memory = buffer->private;

	if (!buffer->sgt)
		return;
	if (memory && memory->region)
		rxe_memory_stop(memory->region);
	ib_umem_dmabuf_unmap_pages(buffer);
	moved++;
}

static const struct dma_buf_attach_ops importer = {
	.allow_peer2peer = true,
	.move_notify = moves,
};

static int requested_fd(void)
{
	struct request *request;
	int fd = -1;

	mutex_lock(&lock);
	list_for_each_entry(request, &requests, in_all)
		if (request->task == current)
			fd = request->fd;
	mutex_unlock(&lock);
	return fd;
}

struct rxe_memory *rxe_buffer_get(struct ib_device *device, u64 offset,
				  size_t length, int access)
{
	struct rxe_memory *memory = NULL;
	struct ib_umem_dmabuf *buffer;
	int fd = requested_fd();
	int error;

	if (fd < 0)
		return NULL;
	buffer = ib_umem_dmabuf_get(device, offset, length, fd, access,
				    &importer);
	if (IS_ERR(buffer))
		return ERR_CAST(buffer);
	dma_resv_lock(buffer->attach->dmabuf->resv, NULL);
	error = ib_umem_dmabuf_map_pages(buffer);
	if (!error) {
		memory = rxe_memory_new(device, offset, length, access,
					&buffer->umem.sgt_append.sgt);
		error = PTR_ERR_OR_ZERO(memory);
	}
	if (!error) {
		memory->buffer = buffer;
		buffer->private = memory;
	}
	dma_resv_unlock(buffer->attach->dmabuf->resv);
	if (error) {
		ib_umem_release(&buffer->umem);
		return ERR_PTR(error);
	}
	mutex_lock(&lock);
	buffers++;
	mutex_unlock(&lock);
	return memory;
}

void rxe_buffer_put(struct ib_umem_dmabuf *buffer)
{
	ib_umem_release(&buffer->umem);
	mutex_lock(&lock);
	buffers--;
	mutex_unlock(&lock);
}

static struct ib_mr *register_buffer(struct ib_pd *pd, u64 offset, u64 length,
				     u64 iova, int fd, int access)
{
	struct request request = { .task = current, .fd = fd };
	struct ib_mr *made;

	/* rxe has pages, so the offsets in them must be the same. */
	if ((offset ^ iova) & ~PAGE_MASK)
		return ERR_PTR(-EINVAL);
	mutex_lock(&lock);
	list_add(&request.in_all, &requests);
	mutex_unlock(&lock);
	made = rxe_register(pd, offset, length, iova, access, NULL);
	mutex_lock(&lock);
	list_del(&request.in_all);
	mutex_unlock(&lock);
	if (!IS_ERR(made)) {
		made->iova = iova;
		made->length = length;
	}
	return made;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
static struct ib_mr *operation(struct ib_pd *pd, u64 offset, u64 length,
			       u64 iova, int fd, int access,
			       struct uverbs_attr_bundle *attributes)
#else
static struct ib_mr *operation(struct ib_pd *pd, u64 offset, u64 length,
			       u64 iova, int fd, int access,
			       struct ib_udata *data)
#endif
{
	return register_buffer(pd, offset, length, iova, fd, access);
}

const struct ib_device_ops rxe_operations_of_ours = {
	.reg_user_mr = rxe_register,
	.reg_user_mr_dmabuf = operation,
};
