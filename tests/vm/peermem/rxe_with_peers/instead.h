/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read before each file of the kernel's rxe: ours are called in the place of the
 * core's functions. So rxe stays as it is and has what drivers of real NICs have.
 */
#define ib_umem_get		rxe_memory_get
#define ib_umem_release		rxe_memory_release
#define ib_register_device	rxe_register_on_pci
#undef ib_set_device_ops
#define ib_set_device_ops	rxe_set_device_ops
