public import LocalSubstitution
import MapTools

extension SubstitutionMap {
    /// Returns warnings about entries and files that are valid, but probably not as intended. The command
    /// `substitute check` shows them.
    ///
    /// It lists the resources folder, and reads the beginning of every file that an entry names without wildcards.
    public func warnings() -> [Warning] { MapReview(self).warnings }
}
