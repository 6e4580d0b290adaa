import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The code of the article of 2010 in Swift: a dictionary of file names by URL, another of the responses that were built, no lock,
/// and no check of anything but the URL. It's only a yardstick, since Linux's loader would reject its plain `URLResponse`s.
final class ArticleCache: URLCache, @unchecked Sendable {
    // Unchecked, like its superclass. Only one thread uses it here.
    private let fileNames: [String: String]
    private let folder: URL
    private var responses: [String: CachedURLResponse] = [:]

    init(fileNames: [String: String], folder: URL, diskPath: String) {
        self.fileNames = fileNames
        self.folder = folder
        super.init(memoryCapacity: 4 << 20, diskCapacity: 20 << 20, diskPath: diskPath)
    }

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let url = request.url, let fileName = fileNames[url.absoluteString] else {
            return super.cachedResponse(for: request)
        }
        if let response = responses[url.absoluteString] { return response }

        guard let data = try? Data(contentsOf: folder.appendingPathComponent(fileName)) else { return nil }
        let response = CachedURLResponse(
            response: URLResponse(
                url: url,
                mimeType: "image/png",
                expectedContentLength: data.count,
                textEncodingName: nil
            ),
            data: data
        )
        responses[url.absoluteString] = response
        return response
    }
}
