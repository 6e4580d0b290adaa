public import LocalSubstitution
import MapTools

extension SubstitutionMap {
    /// Returns warnings about entries and files that are valid, but probably not what you intended. The command
    /// `substitute check` shows the same warnings.
    ///
    /// This method lists the files in the resources folder. If an entry's file name has no `*`, it also reads the beginning
    /// of the file.
    public func warnings() -> [Warning] { MapReview(self).warnings }
}
