import Foundation
import LocalSubstitution

// Stand-ins with the names and signatures of the libraries that the recipes for other clients use. They're only as large as the
// recipes need.

/// AsyncHTTPClient, with SwiftNIO's types.
enum AsyncHTTPClientStandIn {
    struct HTTPMethod: Sendable {
        let rawValue: String

        static let POST = HTTPMethod(rawValue: "POST")
    }

    struct HTTPHeaders: Sendable, Sequence {
        private var fields: [(name: String, value: String)] = []

        mutating func add(name: String, value: String) { fields.append((name, value)) }
        func first(name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
        func makeIterator() -> [(name: String, value: String)].Iterator { fields.makeIterator() }
    }

    struct ByteBuffer: Sendable {
        let data: Data

        init(bytes: some Sequence<UInt8>) { data = Data(bytes) }
        init(string: String) { self.init(bytes: string.utf8) }
    }

    struct HTTPResponseStatus: Sendable {
        let code: UInt

        init(statusCode: Int) { code = UInt(statusCode) }
    }

    struct HTTPClientRequest: Sendable {
        struct Body: Sendable {
            fileprivate let buffer: ByteBuffer

            static func bytes(_ buffer: ByteBuffer) -> Body { Body(buffer: buffer) }
            func collect(upTo maxBytes: Int) async throws -> ByteBuffer { buffer }
        }

        let url: String
        var method = HTTPMethod(rawValue: "GET")
        var headers = HTTPHeaders()
        var body: Body?

        init(url: String) { self.url = url }
    }

    struct HTTPClientResponse: Sendable {
        struct Body: Sendable {
            let buffer: ByteBuffer

            static func bytes(_ buffer: ByteBuffer) -> Body { Body(buffer: buffer) }
        }

        let status: HTTPResponseStatus
        let headers: HTTPHeaders
        let body: Body

        init(status: HTTPResponseStatus, headers: HTTPHeaders, body: Body) {
            (self.status, self.headers, self.body) = (status, headers, body)
        }
    }
}

extension Data {
    init(buffer: AsyncHTTPClientStandIn.ByteBuffer) { self = buffer.data }
}

/// Swift OpenAPI's runtime, with swift-http-types.
enum OpenAPIStandIn {
    struct HTTPField: Sendable {
        struct Name: Sendable, Hashable {
            let rawName: String

            init?(_ name: String) {
                guard !name.isEmpty else { return nil }
                rawName = name
            }
        }

        let name: Name
        let value: String

        init(name: Name, value: String) { (self.name, self.value) = (name, value) }
    }

    struct HTTPFields: Sendable, Sequence {
        private var fields: [HTTPField] = []

        mutating func append(_ field: HTTPField) { fields.append(field) }
        func makeIterator() -> [HTTPField].Iterator { fields.makeIterator() }
    }

    struct HTTPRequest: Sendable {
        struct Method: Sendable {
            let rawValue: String
        }

        var method: Method
        var path: String?
        var headerFields = HTTPFields()
    }

    struct HTTPResponse: Sendable {
        struct Status: Sendable {
            let code: Int
        }

        var status: Status
        var headerFields = HTTPFields()
    }

    struct HTTPBody: Sendable {
        let data: Data

        init(_ data: Data) { self.data = data }
    }

    protocol ClientTransport: Sendable {
        func send(_ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String) async throws
            -> (HTTPResponse, HTTPBody?)
    }
}

extension Data {
    init(collecting body: OpenAPIStandIn.HTTPBody, upTo maxBytes: Int) async throws { self = body.data }
}

/// Vapor's client.
enum VaporStandIn {
    struct HTTPMethod: Sendable {
        let string: String
    }

    struct URI: Sendable {
        let string: String
    }

    typealias HTTPHeaders = AsyncHTTPClientStandIn.HTTPHeaders

    struct ByteBuffer: Sendable {
        let data: Data

        init(data: Data) { self.data = data }
        var readableBytesView: Data { data }
    }

    struct HTTPStatus: Sendable {
        let code: UInt

        init(statusCode: Int) { code = UInt(statusCode) }
    }

    struct ClientRequest: Sendable {
        var method = HTTPMethod(string: "GET")
        var url: URI
        var headers = HTTPHeaders()
        var body: ByteBuffer?
    }

    struct ClientResponse: Sendable {
        let status: HTTPStatus
        let headers: HTTPHeaders
        let body: ByteBuffer?

        init(status: HTTPStatus, headers: HTTPHeaders, body: ByteBuffer?) {
            (self.status, self.headers, self.body) = (status, headers, body)
        }
    }

    struct EventLoopFuture<Value: Sendable>: Sendable {
        let task: Task<Value, any Error>

        func get() async throws -> Value { try await task.value }
    }

    protocol EventLoop: Sendable {}

    struct AnyEventLoop: EventLoop {}

    protocol Client: Sendable {
        var eventLoop: any EventLoop { get }
        func delegating(to eventLoop: any EventLoop) -> any Client
        func send(_ request: ClientRequest) -> EventLoopFuture<ClientResponse>
    }
}

extension VaporStandIn.EventLoop {
    func makeFutureWithTask<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) -> VaporStandIn.EventLoopFuture<Value> {
        VaporStandIn.EventLoopFuture(task: Task { try await body() })
    }
}
