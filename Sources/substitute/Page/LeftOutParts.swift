import Foundation
import LocalSubstitution

/// The parts of a page that aren't loaded with it.
struct LeftOutParts: Sendable {
    enum Reason: CaseIterable, Sendable {
        case frameTooDeep
        case styleSheetTooDeep
        case tooMany

        fileprivate var description: String {
            switch self {
            case .frameTooDeep: "more than \(LoadedPage.deepestFrame) frames deep"
            case .styleSheetTooDeep: "more than \(LoadedPage.deepestStyleSheet) style sheets deep"
            case .tooMany: "beyond the limit of \(LoadedPage.most.grouped) parts"
            }
        }
    }

    private var urls: [(url: URL, reason: Reason)] = []
    private var known: Set<String> = []
    /// The number of scripts, each of which may load more.
    var scripts = 0

    mutating func add(_ url: URL, _ reason: Reason) {
        if known.insert(url.absoluteString).inserted { urls.append((url, reason)) }
    }

    /// Removes parts that were loaded after all, through another reference.
    mutating func forget(where isLoaded: (URL) -> Bool) { urls.removeAll { isLoaded($0.url) } }

    /// A line for each reason, and one for the scripts.
    var lines: [String] {
        var lines = Reason.allCases.compactMap { reason -> String? in
            let left = urls.filter { $0.reason == reason }
            return left.first.map { first in
                "\(left.count.grouped) \(reason.description), " + (left.count == 1 ? "" : "such as ")
                    + first.url.absoluteString
            }
        }
        if scripts > 0 {
            let builders = scripts.counted("script builds", "scripts build")
            lines.append("URLs that \(builders), which aren't known")
        }
        return lines
    }
}
