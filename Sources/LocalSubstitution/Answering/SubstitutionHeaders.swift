/// Headers by which a substitution is recognized.
package enum SubstitutionHeaders {
    /// The `Cache-Control` of a substitution whose entry has none: fresh for a year, for loaders that ask how old it is.
    package static let cacheControl = "max-age=\(365 * 24 * 60 * 60)"

    /// The beginning of a substitution's `Cache-Status`, unless its entry sets that header.
    package static let hitStatus = "LocalSubstitutionCache; hit"
}
