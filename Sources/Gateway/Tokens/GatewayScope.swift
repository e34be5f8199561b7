import OAuth

/// Which scopes are asked for (MAG 5.1, 7.1), and when one suffices (MAG 5.2). Pure.
enum GatewayScope {
    /// Words that are about the session, not about APIs; a token serves a request without having them.
    static let sessionWords: Set = ["openid", "msso", "msso_register", "msso_client_register"]

    /// What a grant by credentials or id_token asks for.
    ///
    /// `msso_register` is left out, as it must not be asked for once the device is registered; `msso` is added to grants by
    /// credentials while single sign-on is on and nothing in the scope names it, and left out while it is off.
    static func requested(
        configured: String?, additional: String?, standard: String, singleSignOn: Bool, addsSession: Bool
    ) -> String {
        var words = Scope.list(configured ?? standard)
        words += Scope.list(additional).filter { !words.contains($0) }
        let namesSession = words.contains { $0.contains("msso") }
        words.removeAll { $0 == "msso_register" || ($0 == "msso" && !singleSignOn) }
        if singleSignOn, addsSession, !namesSession { words.append("msso") }
        return words.joined(separator: " ")
    }

    /// What an authorization session asks for (MAG 7.1). A code with `msso_register` registers a device and does
    /// nothing else, so it is asked for where that is wanted and nowhere else (MAG checklist 34).
    static func authorization(configured: String?, singleSignOn: Bool, registers: Bool) -> String {
        var words = Scope.list(configured ?? "openid")
        words.removeAll { $0 == "msso_register" || ($0 == "msso" && !singleSignOn) }
        if singleSignOn, !words.contains("openid") { words.append("openid") }
        if registers { words.append("msso_register") }
        return words.joined(separator: " ")
    }

    static func suffices(_ granted: String, for requested: String?) -> Bool {
        Scope.suffices(granted, for: requested, without: sessionWords)
    }
}
