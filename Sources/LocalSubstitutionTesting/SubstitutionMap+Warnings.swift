public import LocalSubstitution
import MapTools

extension SubstitutionMap {
    /// Returns warnings about entries and files that probably aren't as they were meant. The command `substitute check` shows them.
    ///
    /// This lists the resources folder, and reads the beginning of every file that an entry names.
    public func warnings() -> [Warning] { MapReview(self).warnings }
}
