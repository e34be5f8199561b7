import COpenSSL

/// The subject alternative name extension (RFC 5280 section 4.2.1.6).
enum AlternativeNames {
    static func dnsNames(of certificate: OpaquePointer) -> [String] {
        guard let extensionValue = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(extensionValue)
        defer { GENERAL_NAMES_free(names) }
        return (0..<max(0, latchkey_names_count(names))).compactMap { index in
            var type: Int32 = 0
            guard let value = GENERAL_NAME_get0_value(latchkey_names_at(names, index), &type), type == GEN_DNS
            else { return nil }
            let text = value.assumingMemoryBound(to: ASN1_IA5STRING.self)
            let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text)))
            return bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? String(decoding: bytes, as: UTF8.self) : nil
        }
    }

    static func add(dnsNames: [String], ipAddresses: [String], to certificate: OpaquePointer) throws(CryptographyError)
    {
        guard !dnsNames.isEmpty || !ipAddresses.isEmpty else { return }
        let operation = "name the hosts of a certificate"
        let names = try check(operation, latchkey_names_new())
        defer { GENERAL_NAMES_free(names) }
        for text in dnsNames {
            guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw .invalidParameter(operation: operation, reason: "a DNS name is empty or not in ASCII")
            }
            let value = try check(operation, ASN1_IA5STRING_new())
            guard ASN1_STRING_set(value, text, Int32(text.utf8.count)) == 1 else {
                ASN1_IA5STRING_free(value)
                throw openSSLError(operation)
            }
            try append(UnsafeMutableRawPointer(value), type: GEN_DNS, to: names, operation)
        }
        for text in ipAddresses {
            guard let value = a2i_IPADDRESS(text) else {
                ERR_clear_error()
                throw .invalidParameter(operation: operation, reason: "\(text) is not an IP address")
            }
            try append(UnsafeMutableRawPointer(value), type: GEN_IPADD, to: names, operation)
        }
        try check(operation, X509_add1_ext_i2d(certificate, NID_subject_alt_name, UnsafeMutableRawPointer(names), 0, 0))
    }

    /// Takes ownership of `value`, which is leaked only if there is no memory for a list entry.
    private static func append(
        _ value: UnsafeMutableRawPointer, type: Int32, to names: OpaquePointer, _ operation: String
    ) throws(CryptographyError) {
        let name = try check(operation, GENERAL_NAME_new())
        GENERAL_NAME_set0_value(name, type, value)
        guard latchkey_names_push(names, name) > 0 else {
            GENERAL_NAME_free(name)
            throw openSSLError(operation)
        }
    }
}
