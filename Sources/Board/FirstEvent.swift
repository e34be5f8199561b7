import Dispatch
import Groundwork

/// Waits for the first event of a source, or for the cancellation of the task. Then libdispatch has let go of the
/// source's descriptor, which may be closed.
func firstEvent(of makeSource: () -> any DispatchSourceProtocol) async {
    // `nonisolated(unsafe)` is correct because a source of libdispatch may be used from every thread, which its Swift
    // type does not say, and this reference never changes.
    nonisolated(unsafe) let source = makeSource()
    await withCancellableContinuation { continuation in
        source.setEventHandler { source.cancel() }
        source.setCancelHandler { continuation.resume() }
        source.activate()
    } onCancel: {
        source.cancel()
    }
}
