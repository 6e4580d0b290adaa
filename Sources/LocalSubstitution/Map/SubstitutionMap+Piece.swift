public import Foundation

extension SubstitutionMap {
    /// A piece of a stream made in code: text, bytes, JSON, a file, or the error that ends the stream. A string literal is
    /// text. Streams need an attached session.
    ///
    /// ```swift
    /// .stream(["data: a\n\n", .text("data: b\n\n").delay(0.2), .file("rest.sse"), .error(.networkConnectionLost)])
    /// ```
    /// An attached session delivers each piece separately, even if no piece has a delay. So you can test how your code
    /// joins the pieces of a response. Cut the response anywhere, such as within a character:
    ///
    /// ```swift
    /// .stream([.data(Data([0xC3])), .data(Data([0xA9]))])
    /// ```
    public struct Piece: Sendable, ExpressibleByStringInterpolation {
        private let field: (key: String, value: String)
        private var seconds: Double?
        let problem: String?

        private init(_ name: String, _ json: String, problem: String? = nil) {
            field = (name, json)
            self.problem = problem
        }

        /// Creates a piece of text in UTF-8.
        public init(stringLiteral value: String) { self = .text(value) }

        /// Text in UTF-8.
        public static func text(_ text: String) -> Piece { Piece("text", JSONText.string(text)) }

        /// Bytes, such as a part of a picture or of a character.
        public static func data(_ data: Data) -> Piece {
            Piece("base64", JSONText.string(data.base64EncodedString()))
        }

        /// JSON that you write as a literal. No line end is added.
        public static func json(_ value: Answer.JSON) -> Piece { Piece("json", value.text, problem: value.problem) }

        /// The bytes of a file.
        ///
        /// - Parameter name: The file's path in the resources folder. Each `*` is replaced, in order, with the text
        ///   that a wildcard in the key's path or query matched.
        public static func file(_ name: String) -> Piece { Piece("file", JSONText.string(name)) }

        /// Fails the request with an error. Only the last piece can do this.
        public static func error(_ code: URLError.Code) -> Piece {
            Piece("error", JSONText.string(URLErrors.text(code)))
        }

        /// Sends the piece a number of seconds (0–3600) after the previous one. The first piece is sent that long after the
        /// stream begins.
        public func delay(_ seconds: Double) -> Piece {
            var piece = self
            piece.seconds = seconds
            return piece
        }

        var json: String {
            JSONText.object([field] + (seconds.map { [("delay", JSONText.number($0))] } ?? []))
        }
    }
}

extension Entry {
    /// A piece of an entry's stream. A file's name can have wildcards. In a ``Substitution``, they're filled.
    package struct Piece: Sendable {
        package enum Content: Sendable {
            case data(Data)
            case file(FileName)
            case error(URLError.Code)
        }

        package internal(set) var content: Content
        /// In seconds, after the previous piece or, for the first piece, after the stream begins.
        package internal(set) var delay = 0.0
        /// 0 for a map made in code.
        package internal(set) var line = 0

        package var file: FileName? { if case .file(let name) = content { name } else { nil } }

        /// If the only piece has an error, the stream has no head.
        var error: URLError.Code? { if case .error(let code) = content { code } else { nil } }

        /// - Parameter names: For each piece with a file, in order, its new name.
        static func pieces(_ pieces: [Piece], withFiles names: [String]) -> [Piece] {
            var names = names[...]
            return pieces.map { piece in
                guard piece.file != nil, let name = names.popFirst() else { return piece }
                return Piece(content: .file(FileName(text: name)), delay: piece.delay, line: piece.line)
            }
        }
    }
}
