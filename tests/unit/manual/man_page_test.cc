#include "manual/man_page.h"

#include <gtest/gtest.h>

namespace gdr::manual {
namespace {

TEST(ManPage, HasAllThatIsKnownOfACommand) {
  const Page page{.name = "gdr x y",
                  .usages = {{"gdr x y --server [OPTIONS] -- PROGRAM [ARGS...]", "a note"}},
                  .help = {"Second."},
                  .description = {"First."},
                  .exit_status = {{"0", "done"}},
                  .variables = {"NO_COLOR"},
                  .files = {{"/etc/x", "its file"}},
                  .examples = {{"gdr x y", "as it is"}, {"gdr x y -q"}},
                  .see_also = {"gdr-soft(7)", "gdr(1)"}};
  const Command command{
      "gdr x y",
      "Do it.",
      {{{"FILE"}, "", "What is read"}},
      {{"Output", {{{"-q", "--quiet"}, "", "Less"}, {{"--json"}, "FILE", "More"}}}},
      {}};
  EXPECT_EQ(man_page(command, page, {"1.2.3", "May 1, 2026"}),
            ".Dd May 1, 2026\n.Dt GDR-X-Y 1\n.Os gdrkit 1.2.3\n"
            ".Sh NAME\n.Nm gdr\\-x\\-y\n.Nd do it\n"
            ".Sh SYNOPSIS\n.Nm gdr\n.Cm \\&x\n.Cm \\&y\n.Fl \\-server\n.Op Ar OPTIONS\n.Fl \\-\n"
            ".Ar PROGRAM\n.Op Ar ARGS ...\n"
            ".Sh DESCRIPTION\nFirst.\n.Pp\nSecond.\n.Pp\nThe arguments are:\n"
            ".Bl -tag -width Ds\n.It Ar FILE\nWhat is read\n.El\n"
            ".Sh OPTIONS\n.Ss Output\n.Bl -tag -width Ds\n.It Fl q , Fl \\-quiet\nLess\n"
            ".It Fl \\-json Ar FILE\nMore\n.El\n"
            ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev NO_COLOR\nNo colours in a terminal.\n.El\n"
            ".Sh FILES\n.Bl -tag -width Ds\n.It Pa /etc/x\nits file\n.El\n"
            ".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It \\&0\ndone\n.El\n"
            ".Sh EXAMPLES\nAs it is:\n.Bd -literal -offset indent\ngdr x y\n.Ed\n"
            ".Bd -literal -offset indent\ngdr x y \\-q\n.Ed\n"
            ".Sh SEE ALSO\n.Xr gdr 1 ,\n.Xr gdr-soft 7\n");
}

}  // namespace
}  // namespace gdr::manual
