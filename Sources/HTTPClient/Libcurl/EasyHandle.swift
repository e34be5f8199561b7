import CCurl
import Groundwork

/// A `CURL` easy handle: its options, its results, its error text. Used on the transfer thread only, for one transfer
/// after another.
final class EasyHandle {
    let curl: Curl
    let handle: UnsafeMutableRawPointer
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    init(of curl: Curl) throws(HTTPError) {
        self.curl = curl
        guard let handle = curl.calls.easy_init() else {
            throw .library(operation: "make a handle", reason: "no memory")
        }
        self.handle = handle
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl.calls.easy_cleanup(handle)
        errorText.deallocate()
    }

    /// Resets every option of the last transfer, including the connection pool.
    func reset() {
        _ = latchkey_curl_set_pointer(curl.table, handle, CURLOPT_SHARE, nil)
        curl.calls.easy_reset(handle)
        errorText[0] = 0
    }

    func set(_ option: CURLoption, _ value: Int) throws(HTTPError) {
        try check(option, latchkey_curl_set_long(curl.table, handle, option, value))
    }

    func set(_ option: CURLoption, _ value: Bool) throws(HTTPError) { try set(option, value ? 1 : 0) }

    /// - Parameter value: copied by libcurl.
    func set(_ option: CURLoption, _ value: String) throws(HTTPError) {
        try check(option, latchkey_curl_set_text(curl.table, handle, option, value))
    }

    func set(_ option: CURLoption, offset: Int) throws(HTTPError) {
        try check(option, latchkey_curl_set_offset(curl.table, handle, option, curl_off_t(offset)))
    }

    /// In milliseconds, at least one, because zero means no limit to libcurl.
    func set(_ option: CURLoption, milliseconds duration: Duration) throws(HTTPError) {
        try set(option, Int(min(max(duration.wholeMilliseconds, 1), Int64(Int32.max))))
    }

    /// - Parameter value: used until the option is set again or the handle is reset.
    func set(_ option: CURLoption, pointer value: UnsafeMutableRawPointer?) throws(HTTPError) {
        try check(option, latchkey_curl_set_pointer(curl.table, handle, option, value))
    }

    func set(
        _ option: CURLoption,
        receiver: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int
    ) throws(HTTPError) {
        try check(option, latchkey_curl_set_receiver(curl.table, handle, option, receiver))
    }

    func setErrorText() throws(HTTPError) { try set(CURLOPT_ERRORBUFFER, pointer: errorText) }

    func check(_ option: CURLoption, _ status: CURLcode) throws(HTTPError) {
        guard status == CURLE_OK else {
            throw .library(operation: "set option \(option.rawValue)", reason: curl.text(of: status))
        }
    }

    /// libcurl's text about this failure, or its general text for the code.
    func failureText(_ status: CURLcode) -> String {
        errorText[0] == 0 ? curl.text(of: status) : String(cString: errorText)
    }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return latchkey_curl_get_long(curl.table, handle, info, &value) == CURLE_OK ? value : 0
    }
}
