/// Settings about the users of accounts of every kind.
package enum LoginSettings {
    /// Whether a user stays logged in whom the server could not log out.
    package static let keepUserOnError = Setting("login.keep_user_on_error", preset: true)
}
