/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What programs ask of the stand-in for a driver that exports its memory as
 * dma-bufs. The descriptor can be mapped, to look at the bytes.
 */
#ifndef DEVICE_BUFFER_H
#define DEVICE_BUFFER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define DEVICE_BUFFER_DEVICE "/dev/device_buffer"

struct device_buffer {
	__u64 length;	/* whole pages */
	__s32 fd;	/* the dma-buf */
	__u32 unused;
};

/* Sets the descriptor. */
#define DEVICE_BUFFER_EXPORT	_IOWR('G', 16, struct device_buffer)
/*
 * Takes the bytes of the descriptor's buffer to another place, after it has told
 * all who reach it there. The old place is given to somebody else: it is filled
 * with 0xdb, and can be mapped by DEVICE_BUFFER_DEVICE.
 */
#define DEVICE_BUFFER_MOVE	_IOW('G', 17, struct device_buffer)

#endif
