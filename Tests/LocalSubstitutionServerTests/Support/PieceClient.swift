import Dispatch
import Foundation
import LocalSubstitutionServer
import Loopback
import TestSupport

/// A client that notes when each part of a body arrives.
struct PieceClient: Sendable {
    struct Part: Sendable {
        let text: String
        /// The seconds from the request until the part's first byte was there.
        let seconds: Double
    }

    let client: RawClient
    private let start: DispatchTime

    /// Sends a request for a URL to its origin's port.
    init(_ served: ServedMap, _ url: String, fields: [String] = []) throws {
        let request = try served.request(url, fields: ["Connection: close"] + fields)
        client = try RawClient(served.port(url))
        start = .now()
        try client.send(request)
    }

    /// Reads the head, which ends with an empty line.
    func head() throws -> RawResponse { try RawResponse(client.read(through: "\r\n\r\n")) }

    /// Reads a chunk; returns `nil` at the last one. Throws if the connection ends before that.
    func chunk() throws -> Part? {
        let size = try client.read(through: "\r\n")
        let seconds = seconds
        let count = Int(size.trimmingCharacters(in: .newlines), radix: 16) ?? 0
        let bytes = try client.read(count + 2)
        return count == 0 ? nil : Part(text: String(decoding: bytes.dropLast(2), as: UTF8.self), seconds: seconds)
    }

    /// Reads all chunks. Returns them, and whether the last one was there.
    func chunks() -> (parts: [Part], isComplete: Bool) {
        var parts: [Part] = []
        do {
            while let part = try chunk() { parts.append(part) }
            return (parts, true)
        } catch {
            return (parts, false)
        }
    }

    /// Reads to the end of the connection.
    func parts() throws -> [Part] {
        var parts: [Part] = []
        while case let bytes = try client.connection.read(upTo: 64 << 10), !bytes.isEmpty {
            parts.append(Part(text: String(decoding: bytes, as: UTF8.self), seconds: seconds))
        }
        return parts
    }

    private var seconds: Double { Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9 }
}

extension RawClient {
    /// Reads a number of bytes.
    fileprivate func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, case let part = try connection.read(upTo: count - bytes.count), !part.isEmpty {
            bytes += part
        }
        return bytes
    }
}
