public import LocalSubstitution
import MapTools

extension SubstitutionMap {
    /// Returns warnings about entries and files that are valid, but probably not as intended. The command
    /// `substitute check` shows them.
    ///
    /// The call lists the resources folder, and reads the beginning of every file that an entry uses.
    public func warnings() -> [Warning] { MapReview(self).warnings }
}
