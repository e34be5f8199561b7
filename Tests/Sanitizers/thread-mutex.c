// Tells ThreadSanitizer what Swift's Mutex does where two threads meet at it. Its quick path is in the program and is seen;
// the slow one is in the standard library, which is not sanitized, so that all it protects would look unprotected.
// Linked in by deploy/sanitize, with --wrap for both functions.
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

void __tsan_acquire(void *address);
void __tsan_release(void *address);

SWIFT void real_lock(uint32_t thread, SELF void *mutex) __asm__("__real_$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void wrap_lock(uint32_t thread, SELF void *mutex) __asm__("__wrap_$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void real_unlock(SELF void *mutex) __asm__("__real_$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
SWIFT void wrap_unlock(SELF void *mutex) __asm__("__wrap_$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

SWIFT void wrap_lock(uint32_t thread, SELF void *mutex)
{
    real_lock(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT void wrap_unlock(SELF void *mutex)
{
    __tsan_release(mutex);
    real_unlock(mutex);
}
