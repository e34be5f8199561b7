/// Settings about the users of accounts of every kind.
package struct LoginSettings: TypedValue {
    /// Whether a user stays logged in whom the server could not log out.
    package var keepUserOnError = true

    package init() {}
}
