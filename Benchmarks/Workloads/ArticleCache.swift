import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the article of 2010 does, in Swift: a dictionary of URLs and file names, another of the responses that were built, no
/// lock, and nothing looked at but the URL. It is a yardstick only: Linux's loader would refuse its plain `URLResponse`s.
final class ArticleCache: URLCache, @unchecked Sendable {
    // Unchecked, as its superclass. Only one thread uses it here.
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
