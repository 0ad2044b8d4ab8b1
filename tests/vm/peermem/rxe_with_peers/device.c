// SPDX-License-Identifier: GPL-2.0-only
/*
 * rxe as the driver of a NIC on the PCI bus: it can register what needs a device
 * that does DMA. Without an IOMMU, DMA addresses are those of the RAM.
 */
#include <linux/pci.h>

#include "rxe.h"
#include "memory.h"
#include "../peer_core/peer_core.h"

const struct ib_device_ops *rxe_own_operations;

void rxe_set_device_ops(struct ib_device *device, const struct ib_device_ops *own);
int rxe_register_on_pci(struct ib_device *device, const char *name,
			struct device *none);

void rxe_memory_stop(struct rxe_mr *region)
{
	WRITE_ONCE(region->state, RXE_MR_STATE_INVALID);
}

static void stop_dma(void *region)
{
	rxe_memory_stop(region);
}

struct ib_mr *rxe_register(struct ib_pd *pd, u64 start, u64 length, u64 iova,
			   int access, struct ib_udata *data)
{
	struct ib_mr *made = rxe_own_operations->reg_user_mr(pd, start, length,
							     iova, access, data);
	struct rxe_memory *memory;

	if (IS_ERR(made))
		return made;
	memory = rxe_memory_of(to_rmr(made)->umem);
	if (!memory)
		return made;
	memory->region = to_rmr(made);
	if (memory->peer)
		peer_region_activate(memory->peer, stop_dma, memory->region);
	return made;
}

/* Of two functions for the same the core takes the first. */
void rxe_set_device_ops(struct ib_device *device, const struct ib_device_ops *own)
{
	rxe_own_operations = own;
	ib_set_device_ops(device, &rxe_operations_of_ours);
	ib_set_device_ops(device, own);
}

int rxe_register_on_pci(struct ib_device *device, const char *name,
			struct device *none)
{
	static struct pci_dev *nic;	/* kept as long as there is this module */

	if (!nic)
		nic = pci_get_device(PCI_ANY_ID, PCI_ANY_ID, NULL);
	return ib_register_device(device, name, nic ? &nic->dev : NULL);
}
