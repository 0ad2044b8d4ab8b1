// A libnvidia-ml whose driver hangs.
#include <unistd.h>

extern "C" int nvmlInit_v2() {
  sleep(600);
  return 0;
}
