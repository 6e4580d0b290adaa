public import LocalSubstitution
import MapTools

extension SubstitutionMap {
    /// Returns warnings about entries and files that are valid, but probably not what you intended. The command
    /// `substitute check` shows the same warnings.
    ///
    /// This method lists the resources folder. It reads the beginning of each file that an entry names without
    /// wildcards.
    public func warnings() -> [Warning] { MapReview(self).warnings }
}
