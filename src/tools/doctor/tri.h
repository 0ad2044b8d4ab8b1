// Tri: yes, no, or nobody could tell.
#pragma once

#include "host/tri.h"

namespace gdr::doctor {

using host::Tri;

}  // namespace gdr::doctor
