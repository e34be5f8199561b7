import CTSS2
import Glibc
import Groundwork

/// The TPM2 Software Stack, loaded when a chip is first needed.
struct ChipLibrary: Sendable {
    let esys: LoadedLibrary<latchkey_esys_calls>
    let marshaling: LoadedLibrary<latchkey_tss_marshaling_calls>
    let connection: LoadedLibrary<latchkey_tss_connection_calls>

    private static let loaded = Result { () throws(ChipError) in try ChipLibrary() }

    private init() throws(ChipError) {
        // It would write each error to standard error, and with other settings also what it sends. Nothing else of the
        // program changes the environment.
        setenv("TSS2_LOG", "all+NONE", 1)
        do {
            esys = try LoadedLibrary(filling: latchkey_esys_calls(), by: latchkey_load_esys)
            marshaling = try LoadedLibrary(
                filling: latchkey_tss_marshaling_calls(), by: latchkey_load_tss_marshaling)
            connection = try LoadedLibrary(
                filling: latchkey_tss_connection_calls(), by: latchkey_load_tss_connection)
        } catch {
            throw .libraryMissing(name: error.name)
        }
    }

    /// - Throws: ``ChipError/libraryMissing(name:)``
    static func library() throws(ChipError) -> ChipLibrary { try loaded.get() }
}
