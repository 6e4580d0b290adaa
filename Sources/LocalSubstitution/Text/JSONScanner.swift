/// A reader of the members of a JSON object and of their lines. If members have equal keys, it returns all of them.
///
/// It checks the syntax of the whole text, decodes keys and strings, and returns the range of each value.
package struct JSONScanner {
    /// One key and value of an object, or one element of an array.
    package struct Member {
        /// Empty for an element.
        package let key: String
        package let line: Int
        /// The line on which the value begins. It can be after the key's line.
        package let valueLine: Int
        package let kind: JSONCursor.Kind
        /// `nil` if the value isn't a string.
        package let text: String?
        /// The value's range in the scanner's text.
        package let range: Range<Int>
    }

    private let bytes: [UInt8]
    private let range: Range<Int>
    private let line: Int

    /// - Parameters:
    ///   - range: The range of one value inside the text. By default, it's the whole text.
    ///   - line: The line on which the value begins; 0 if lines aren't counted.
    package init(_ bytes: [UInt8], in range: Range<Int>? = nil, line: Int = 1) {
        self.bytes = bytes
        self.range = range ?? 0..<bytes.count
        self.line = line
    }

    /// All members in order, even those with equal keys.
    package func members() throws(Complaint) -> [Member] {
        var members: [Member] = []
        try forEachMember { members.append($0) }
        return members
    }

    /// If the JSON has a syntax error, calls the closure for the members before the error, then throws the error.
    package func forEachMember(_ body: (Member) -> Void) throws(Complaint) {
        try bytes.withUnsafeBufferPointer { bytes throws(Complaint) in
            var cursor = JSONCursor(bytes, in: range, line: line, isStrict: true)
            guard let first = cursor.next else { throw cursor.failure("is empty. Write a JSON object.") }
            guard first == .object else {
                throw cursor.failure("isn't a JSON object. Begin it with {.", kind: JSONCursor.notAnObject)
            }
            try cursor.object { cursor, key, line throws(Complaint) in
                body(try Self.member(&cursor, key: key, line: line))
            }
            try cursor.finish()
        }
    }

    package func elements() throws(Complaint) -> [Member] {
        var elements: [Member] = []
        try bytes.withUnsafeBufferPointer { bytes throws(Complaint) in
            var cursor = JSONCursor(bytes, in: range, line: line, isStrict: true)
            try cursor.array { cursor throws(Complaint) in
                elements.append(try Self.member(&cursor, key: "", line: cursor.line))
            }
        }
        return elements
    }

    @inline(never)
    private static func member(
        _ cursor: inout JSONCursor,
        key: String,
        line: Int
    ) throws(Complaint) -> Member {
        let (start, valueLine, kind) = (cursor.offset, cursor.line, cursor.next ?? .other)
        let text = try cursor.text()
        return Member(
            key: key,
            line: line,
            valueLine: valueLine,
            kind: kind,
            text: text,
            range: start..<cursor.offset
        )
    }
}
