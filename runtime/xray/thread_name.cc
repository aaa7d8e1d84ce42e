#include "thread_name.h"

#include <sys/prctl.h>

#include "side_record.h"
#include "state.h"
#include "syscalls.h"

namespace telltale::recorder {

void note_thread_name() {
  char name[kThreadNameBytes] = "";
  if (sys::failed(sys::call(SYS_prctl, PR_GET_NAME, static_cast<char*>(name)))) return;
  if (same_text(name, thread_state.name)) return;
  struct {
    uint32_t tid;
    uint32_t name_bytes;
    uint64_t ticks;
  } const record = {static_cast<uint32_t>(sys::tid()), static_cast<uint32_t>(text_length(name)),
                    clock_now()};
  if (append_side(SideKind::thread, &record, sizeof(record), name, record.name_bytes))
    copy_bytes(thread_state.name, name, sizeof(name));
}

}  // namespace telltale::recorder
