import Glibc
import Groundwork
import Testing

@Suite("A broken pipe")
struct BrokenPipeTests {
    @Test("a library that writes to a broken pipe gets an error, and the process lives on")
    func broken() {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        let error = withoutBrokenPipe { write(ends[1], "x", 1) == -1 ? errno : 0 }
        #expect(error == EPIPE)
        var (now, waiting) = (sigset_t(), sigset_t())
        pthread_sigmask(SIG_BLOCK, nil, &now)
        sigpending(&waiting)
        #expect(sigismember(&now, SIGPIPE) == 0 && sigismember(&waiting, SIGPIPE) == 0)
    }
}
