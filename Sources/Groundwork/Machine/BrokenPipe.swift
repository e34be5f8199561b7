import Glibc

/// Runs code that may write to sockets without `MSG_NOSIGNAL`, as other people's libraries do: a broken one ends their
/// call, not the process (`SIGPIPE`).
public func withoutBrokenPipe<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    var (brokenPipe, before) = (sigset_t(), sigset_t())
    sigemptyset(&brokenPipe)
    sigaddset(&brokenPipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &brokenPipe, &before)
    defer {
        if sigismember(&before, SIGPIPE) == 0 {
            // It is sent to the thread that writes, so what waits now is the library's.
            var atOnce = timespec()
            while sigtimedwait(&brokenPipe, nil, &atOnce) == SIGPIPE {}
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    return try body()
}
