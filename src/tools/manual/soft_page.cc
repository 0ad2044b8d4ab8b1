// gdr-soft(7).
#include "manual/man_page.h"
#include "manual/variables.h"

namespace gdr::manual {
namespace {

constexpr const char* kDescription[] = {
    "The software NIC is a libibverbs.so.1 and the software GPU a libcuda.so.1 and a libcudart.so. "
    "gdr loads them in place of hardware that a machine does not have, or where it is told to: "
    "gdr run for other people's programs, gdr prove, gdr perf and gdr list for themselves.",
    "They need neither a kernel module nor a privilege. Between processes of one host the software "
    "NIC copies memory. Between hosts it exchanges RoCEv2 packets over UDP, which Linux's own "
    "software NIC, rxe, understands. The software GPU has the memory part of CUDA and runs no "
    "kernels.",
    "These environment variables configure them. Programs that gdr run starts inherit them."};

void variable(Mdoc& out, const Variable& one) {
  out.macro("It", "Ev " + argument(assignment_of(one)));
  out.prose(brief_of(one) + ".");
  if (*one.more != '\0') out.prose(one.more);
  if (*one.option != '\0') out.prose(std::string("Option: ") + one.option + ".");
  if (*one.example == '\0') return;
  out.prose("Example:");
  out.literal({std::string(one.name) + "=" + one.example});
}

}  // namespace

std::string soft_page(const Edition& edition) {
  Mdoc out;
  begin_page(out, "gdr-soft", "7", "the software NIC and GPU, and their environment variables",
             edition);
  out.macro("Sh", "DESCRIPTION");
  for (const char* paragraph : kDescription) {
    if (paragraph != kDescription[0]) out.macro("Pp");
    out.prose(paragraph);
  }
  out.macro("Sh", "ENVIRONMENT");
  for (const ConcernText& concern : all_concerns()) {
    out.macro("Ss", argument(concern.heading));
    out.prose(concern.text);
    begin_list(out);
    for (const Variable& one : all_variables()) {
      if (one.concern == concern.concern) variable(out, one);
    }
    end_list(out);
  }
  out.macro("Sh", "EXAMPLES");
  out.prose("Two hosts, each with an address of its own:");
  out.literal({"GDR_SOFT_DEVICES=soft0/ip=10.0.0.1 gdr run -- ib_write_bw -d soft0",
               "GDR_SOFT_DEVICES=soft0/ip=10.0.0.2 gdr run -- ib_write_bw -d soft0 10.0.0.1"});
  out.macro("Pp");
  out.prose("Four software GPUs of 16 GiB each:");
  out.literal({"GDR_SOFT_GPUS=4:16G gdr run -- ./program"});
  see_also(out, {"gdr(1)", "gdr-counters(1)", "gdr-prove(1)", "gdr-run(1)", "rsocket(7)"});
  return out.take();
}

}  // namespace gdr::manual
