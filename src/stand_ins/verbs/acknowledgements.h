// Verbs promises that no event handed out refers to an object that has been destroyed
// (ibv_ack_cq_events(3), ibv_get_async_event(3)): destroying waits until the program has
// acknowledged them all. In a fork's child nobody is left to do so.
//
//   wait_for_acknowledgements(qp.base, [&] { return qp.base.events_completed == qp.events_taken;
//   });
#pragma once

#include <pthread.h>

#include "verbs/objects.h"

namespace gdr::verbs {

// `base`: the program's struct, whose condition is signalled by each acknowledgement.
template <typename Base, typename Done>
void wait_for_acknowledgements(Base& base, const Done& all_are_in) {
  if (context_of(base.context).session->is_inherited()) return;
  pthread_mutex_lock(&base.mutex);
  while (!all_are_in()) pthread_cond_wait(&base.cond, &base.mutex);
  pthread_mutex_unlock(&base.mutex);
}

}  // namespace gdr::verbs
