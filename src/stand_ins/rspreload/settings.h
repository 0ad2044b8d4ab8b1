// What the environment and the configuration file say, read once.
#pragma once

#include "rspreload/config.h"

namespace gdr::rspreload {

struct Settings {
  Config config;                   // /etc/rdma/rsocket/preload_config, or GDR_RSPRELOAD_CONFIG
  int send_queue = 0;              // RS_SQ_SIZE; 0: as rsockets have it
  int receive_queue = 0;           // RS_RQ_SIZE
  int inline_bytes = 0;            // RS_INLINE
  bool connects_in_child = false;  // RDMAV_FORK_SAFE
};

const Settings& settings();

}  // namespace gdr::rspreload
