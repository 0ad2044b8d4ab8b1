// What a container or sandbox gave to this process: devices, capabilities, limits, namespaces; and
// the options that give a container more.
//
//   const ContainerView view = look_at_container(host);
#pragma once

#include <string>
#include <vector>

#include "doctor/host.h"

namespace gdr::doctor {

struct ContainerView {
  struct Fact {
    std::string name, value;
  };
  bool in_container = false;
  std::vector<Fact> facts;
  // Options for the tools that start containers: {"docker, podman", "--ulimit memlock=-1 …"}.
  std::vector<Fact> start_with;
};

ContainerView look_at_container(const Host& host);

// Whether something shows that this is a container: what it lacks is given to it when it is
// started. A batch job is none.
bool is_container(const Host& host);

}  // namespace gdr::doctor
