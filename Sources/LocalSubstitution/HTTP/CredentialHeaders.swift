/// The headers by which a server knows the sender, so that its response may be for that sender alone.
enum CredentialHeaders {
    static let names = ["Authorization", "Proxy-Authorization", "Cookie"]
}
