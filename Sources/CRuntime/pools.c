// libdispatch looks once a second, for as long as the process lives, whether the threads of its pools are blocked and more
// are needed. A board that is idle shall sleep, and the agent blocks none of those threads: its blocking work has named
// threads of its own. The look is therefore taken less often than the broker is pinged. There is no setting for it, so the
// program is linked with --wrap=dispatch_source_set_timer, and the one timer that is exactly like that is slowed down.
//
// It also gives each thread of its pools a priority of its own, some above those of the board's other programs. The
// service may not do that, and libdispatch would complain of it in the log: --wrap=setpriority leaves them all alike.

#ifdef LATCHKEY_IS_SHIPPED

#include <stdint.h>
#include <sys/types.h>

static const uint64_t second = 1000000000;

void __real_dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway);
void __wrap_dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway);

void __wrap_dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway)
{
    if (interval == second && leeway == 0) {
        interval = 120 * second;
        leeway = 60 * second;
    }
    __real_dispatch_source_set_timer(source, start, interval, leeway);
}

int __wrap_setpriority(int which, id_t who, int priority);

int __wrap_setpriority(int which, id_t who, int priority)
{
    (void)which, (void)who, (void)priority;
    return 0;
}

#endif
