package import Foundation
import LocalSubstitution
import MapWriting

/// Entries for URLs that don't have one yet, each with the name that a recorder would give its file.
package struct SuggestedMap {
    /// File names by URL, in normal form.
    package private(set) var files: [String: String] = [:]
    private var names = RecordedFileName.InUse()

    package init() {}

    /// Adds an entry, unless the URL can't be a key.
    ///
    /// - Parameter type: The MIME type, which sets the file's extension if the URL has none; `nil` if it isn't known.
    package mutating func add(_ url: URL, type: String?) {
        guard let url = try? NormalizedURL(url.absoluteString), files[url.canonical] == nil else { return }
        files[url.canonical] = names.take(RecordedFileName(url, type: type))
    }

    /// The map as JSON, with one entry on each line.
    package var text: String { JSONText.lines(files.mapValues(JSONText.string)) }
}
