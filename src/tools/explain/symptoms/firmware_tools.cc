// What the firmware tools (flint, mlxconfig, mlxfwreset, mlxfwmanager, mst) say besides that they
// do not reach the card: its state, an image it refuses, a reset that is still due.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& firmware_tool_symptoms() {
  static const Symptoms table = {
      {.id = "mst-livefish",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The NIC has no working firmware (flash recovery, livefish)",
       .texts = {{"Flash Recovery]"},
                 {"livefish mode"},
                 {"Flash Recovery mode"},
                 {"Operation is not supported in livefish"},
                 general("livefish && device"),
                 general("Cannot detect && device && -E- && flash"),
                 general("flash recovery && ConnectX")},
       .cause = "The card started without firmware: a burn was interrupted, the image is not for "
                "it, or its recovery jumper is set. It then has another PCI device ID (of the "
                "Flash Recovery function), which no driver takes.",
       .consequence = "No network interface and no RDMA device; other cards are not concerned.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`lspci -nn -d 15b3:`; then burn the image for the card's PSID (on its label) and "
           "cut the power: `sudo mstflint -d ADDRESS -i IMAGE.bin -nofs burn`; a card of a "
           "server's maker: with that maker's tool",
       .fix_for_good = "A card that comes back to this is replaced.",
       .sources = {{"https://docs.nvidia.com/networking/display/mftv4300/"
                    "flint+-+firmware+burning+tool",
                    Stated::kFix},
                   {"https://github.com/mwrnd/innova2_flex_xcku15p_notes/issues/2",
                    Stated::kCauseAndFix}},
       .explains = {"mst-tools", "nic-driver-error", "nic-firmware"}},
      {.id = "mst-reset-due",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "New firmware or settings of the NIC wait for a reset of the card",
       .texts = {{"already updated on flash, pending reset"},
                 {"-E- && pending reset"},
                 {"FwReset required"},
                 {"Reset level {number} is not supported"},
                 {"not supported on the current device && reset"},
                 {"Hot reset is not supported"},
                 {"Multi-Host{}synchronization by driver is not supported"},
                 {"synchronization by driver is not supported"},
                 {"Failed to unload driver && mlxfwreset"},
                 {"mlxfwreset is not supported"},
                 {"reset-type && is not supported"}},
       .cause = "The flash has the new image or setting; the card runs the old one until its "
                "firmware is reset. A warm reboot does not do that on every server, and "
                "`mlxfwreset` cannot where the card is shared by several hosts (Multi-Host, "
                "BlueField), the slot has no hot reset, or the driver is in use.",
       .consequence = "`mlxconfig query` shows the new value, and the card acts by the old one.",
       .checks = {"rdma-nics"},
       .fix_now = "`sudo mlxconfig -d ADDRESS -e query | grep -v 'Default' | head -40`; the column "
                  "Current is what runs; `sudo mlxfwreset -d ADDRESS query`; then `sudo mlxfwreset "
                  "-d ADDRESS -y reset` with nothing using the NIC, else a cold boot: power off, "
                  "then on",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/mstflint/blob/master/small_utils/mlxfwresetlib",
                    Stated::kCause}},
       .explains = {"mst-tools"}},
      {.id = "mst-image-refused",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "The NIC refuses the firmware image: its signature, format or age",
       .texts = {{"Rejected authentication"},
                 {"authentication failed && -E-"},
                 {"Unknown FW image format"},
                 {"FW image verification failed"},
                 {"No valid FS{word} image found"},
                 {"not signed && firmware image"},
                 {"the component is not signed"},
                 {"security version is lower"},
                 {"downgrade is not allowed"},
                 {"lower than the minimum allowed"},
                 {"forbidden version"},
                 {"Failed to verify && firmware && -E-"},
                 {"The Dev Id of the image does not match"},
                 {"Device/Image mismatch"}},
       .cause =
           "Cards with secure firmware take images only that their maker signed, and none "
           "older than a limit that they keep. A file that was downloaded badly, still zipped, "
           "or of another card's generation has a format that is not known.",
       .consequence = "The firmware stays as it was, and works as before.",
       .checks = {},
       .fix_now = "`sudo mstflint -d ADDRESS query full | grep -E 'PSID|Secure|FW Version'`; "
                  "`mstflint -i IMAGE.bin query`; PSID and device must be the same; then the "
                  "unzipped image for this PSID from NVIDIA or the server's maker, not an older "
                  "one",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/networking/display/mftv4300/"
                    "flint+-+firmware+burning+tool",
                    Stated::kCause}},
       .explains = {"mst-tools"}},
      {.id = "mst-value",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "mlxconfig: the value for this setting is not one that the NIC takes",
       .texts = {{"The requested value is out of range"},
                 {"Failed to set config{}Bad Param"},
                 {"-E- Failed to set configuration"},
                 {"illegal value && mlxconfig"},
                 {"-E- Unknown value"},
                 {"Unsupported parameter value"},
                 {"is read only && -E-"},
                 {"is readonly && -E-"},
                 {"does not support write && configuration"}},
       .cause = "The name is right and the value is not: more virtual functions than the card has "
                "room for, a link type on a card that is Ethernet only (an EN or Lx model), a "
                "setting that needs another one first (SRIOV_EN before NUM_OF_VFS), or one that a "
                "server's maker has locked.",
       .consequence = "No setting of this command was changed.",
       .checks = {},
       .fix_now = "`sudo mlxconfig -d ADDRESS show_confs | grep -A8 NAME`; `sudo mlxconfig -d "
                  "ADDRESS -e query | grep NAME`; set the one that it depends on first, then a "
                  "value within its range",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/mstflint/tree/master/mlxconfig", Stated::kCause}},
       .explains = {"mst-tools", "mst-setting"}},
  };
  return table;
}

}  // namespace gdr::explain
