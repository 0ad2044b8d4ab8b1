"""Names as pci.ids has them, of classes and of functions, in the ways that lspci writes them."""

CLASSES = {0x0000: "Non-VGA unclassified device", 0x0104: "RAID bus controller",
           0x0107: "Serial Attached SCSI controller", 0x0108: "Non-Volatile memory controller",
           0x0200: "Ethernet controller", 0x0207: "Infiniband controller",
           0x0300: "VGA compatible controller", 0x0302: "3D controller", 0x0403: "Audio device",
           0x0600: "Host bridge", 0x0601: "ISA bridge", 0x0604: "PCI bridge", 0x0680: "Bridge",
           0x0880: "System peripheral", 0x0c03: "USB controller", 0x0c05: "SMBus",
           0x1080: "Encryption controller", 0x1300: "Non-Essential Instrumentation"}
INTERFACES = {0x010802: "NVM Express", 0x030000: "VGA controller", 0x060400: "Normal decode",
              0x0c0330: "XHCI"}
# For a class that pci.ids does not know, lspci has the family's name, and the number in any case.
FAMILIES = {0x08: "Generic system peripheral"}


def class_text(part, numbers):
    number = part.code >> 8
    name = CLASSES.get(number)
    if name and not numbers:
        return name
    return f"{name or FAMILIES[number >> 8]} [{number:04x}]"


def device_text(part, numbers=False):
    return _named(part.maker, part.name, part.vendor, part.device, numbers)


def subsystem_text(subsystem, numbers=False):
    return _named(subsystem.maker, subsystem.name, subsystem.vendor, subsystem.device, numbers)


def _named(maker, name, vendor, device, numbers):
    """"NVIDIA Corporation Device 2330"; with numbers "NVIDIA Corporation Device [10de:2330]"."""
    if numbers:
        return f"{maker} {name or 'Device'} [{vendor:04x}:{device:04x}]"
    return f"{maker} {name or f'Device {device:04x}'}"
