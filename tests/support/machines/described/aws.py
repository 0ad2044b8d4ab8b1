"""What the guests of AWS have in common."""

import parts
from model import Disk, Function, HostBridge


def base_bus(node, disk_link=None, picture_devices=(), more=(), devices=()):
    """Bus 0: an old chipset, the console's picture, the drive that the guest starts from."""
    drive = Disk("nvme0n1", "Amazon Elastic Block Store", 419430400, "259:0")
    return HostBridge(0x00, [
        Function("01.3", parts.PIIX4, slot="1"),
        Function("03.0", parts.AMAZON_VGA, slot="3", devices=picture_devices),
        Function("04.0", parts.EBS_DISK, link=disk_link, slot="4", driver="nvme",
                 devices=(drive,)), *more], node, 0, devices=devices)
