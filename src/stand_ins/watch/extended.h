// Extended queue pairs and completion queues: their functions stand in the objects themselves.
#pragma once

#include <infiniband/verbs.h>

#include "watch/objects.h"

namespace gdr::watch {

// Put this library's functions into an object that is known; the provider's are kept in `known`.
void wrap_posting(QueuePair& known);
void unwrap_posting(const QueuePair& known);
void wrap_polling(CompletionQueue& known);
void unwrap_polling(const CompletionQueue& known);

}  // namespace gdr::watch
