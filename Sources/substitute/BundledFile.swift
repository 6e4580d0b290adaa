import Foundation

/// A file or folder that comes with the command.
enum BundledFile {
    static func url(_ name: String) throws(Failure) -> URL {
        guard let url = Bundle.module.url(forResource: name, withExtension: nil) else {
            throw Failure("there is no “\(name)” in the command's bundle \(Bundle.module.bundlePath)")
        }
        return url
    }
}
