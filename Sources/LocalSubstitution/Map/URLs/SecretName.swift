import Foundation
import HTTPSyntax

/// Rules that find credentials in URLs, headers, forms and JSON bodies: by name, such as `access_token`, or by value.
package enum SecretName {
    /// Where a name is used.
    package enum Place {
        /// In a URL, a header or a form.
        case url
        /// In a JSON body, as the key of a member. There, `code`, `key`, `session`, `sign` and `ticket` don't name
        /// credentials, since their values usually tell requests apart.
        case member
    }

    /// Where in a name a word of ``table`` must be, so that the name is a credential's.
    private enum Position {
        /// Inside a word: `password` in `userpasswordhash`.
        case inside
        /// At the end of a word: `token` in `usertoken`.
        case ending
        /// A whole word, or several words together: `apikey` in `my_api_key`.
        case word
        /// Like ``word``, but not in the members of JSON bodies.
        case wordInURL
        /// The last words of the name: `accesstokens` in `allAccessTokens`.
        case last
        /// The whole name.
        case alone
    }

    /// The words, in lowercase, that make a name a credential's name, and where they must be in the name.
    private static let table: [(position: Position, words: String)] = [
        (.inside, "password passwd passphrase passwort kennwort motdepasse contrasena contraseña wachtwoord"),
        (.inside, "apikey sessionid sessid credential secretkey privatekey accesskey"),
        (.ending, "token secret signature pwd nonce assertion"),
        (.word, "auth authorization oauth bearer jwt hmac csrf xsrf otp totp secrets credentials cookie cookies"),
        (.word, "pass userpass upass passcode passkey pin pincode pw psw pswd mdp senha sas sid ssid sig mnemonic"),
        (.word, "authkey authcode authdata basicauth httpauth proxyauth authenticationcode"),
        (.word, "signingkey encryptionkey masterkey subscriptionkey sharedkey sessionkey accountkey consumerkey"),
        (.word, "licensekey recoverykey securitykey sshkey hostkey apikeys accesskeys privatekeys"),
        (.word, "authorizationcode verificationcode verifycode accesscode smscode mfacode twofactorcode"),
        (.word, "onetimecode confirmationcode activationcode logincode resetcode devicecode codeverifier"),
        (.word, "recoverycode recoverycodes backupcode backupcodes secretanswer securityanswer"),
        (.word, "tokenvalue passhash seedphrase recoveryphrase"),
        (.word, "cvv cvc securitycode cardcode cardnumber ccnumber"),
        (.word, "samlresponse samlart wresult hdnea hdnts hdntl gda edgeauth"),
        (.last, "accesstokens refreshtokens authtokens apitokens sessiontokens"),
        (.alone, "tokens authentication"),
        (.wordInURL, "code key session sign ticket"),
    ]

    /// Words that contain a word of ``table``, but don't name a credential.
    private static let harmless = ["passwordless"]

    /// First words of names whose values only describe a credential, such as `max` in `maxTokens`.
    private static let firstOfAttributes = ["max", "min", "num", "total", "has", "is", "show", "hide", "requires"]

    /// Last words of names whose values only describe a credential, such as `type` in `tokenType`.
    private static let lastOfAttributes = [
        "age", "algorithm", "at", "banner", "budget", "consent", "count", "enabled", "expiration", "expired", "expires",
        "expiry", "field", "format", "ids", "in", "label", "length", "limit", "method", "mode", "name", "placeholder",
        "policy", "provider", "required", "rules", "scheme", "size", "status", "strategy", "strength", "ttl", "type",
        "usage", "version",
    ]

    /// The prefixes of parameters in signed URLs of Amazon's and Google's object stores.
    private static let prefixes = ["x-amz-", "x-goog-"]

    private static let rows: [String: Int] = table.enumerated().reduce(into: [:]) { rows, row in
        for word in row.element.words.components(separatedBy: " ") { rows[word] = row.offset }
    }

    /// The words of ``table`` that are found inside a longer word, and whether they must be at its end.
    private static let parts: [(word: [UInt8], isEnding: Bool)] = rows.compactMap { word, row in
        let position = table[row].position
        return position == .inside || position == .ending ? (Array(word.utf8), position == .ending) : nil
    }

    /// Short words that name a credential only if the value looks like one.
    private static let ambiguous = ["tok", "sk", "ak"]

    /// The maximum number of a name's words that are joined and looked up in ``table`` as one word.
    private static let longestRun = 4

    // MARK: Names

    /// The name is split into words, so `auth` is found in `userAuth` and `user-auth`, but not in `author`.
    package static func isSecret(_ name: String, in place: Place = .url) -> Bool {
        let lowered = name.asciiLowercased
        if prefixes.contains(where: { lowered.hasPrefix($0) }) { return true }
        let words = words(of: name)
        guard let first = words.first, let last = words.last else { return false }
        if words.count > 1, firstOfAttributes.contains(first) || lastOfAttributes.contains(last) { return false }
        for index in words.indices {
            if hasPart(words[index]) { return true }
            var run = ""
            for end in index..<min(index + longestRun, words.count) {
                run += words[end]
                switch rows[run].map({ table[$0].position }) {
                case .inside, .ending, .word: return true
                case .wordInURL: if place == .url { return true }
                case .last: if end == words.count - 1 { return true }
                case .alone: if index == 0, end == words.count - 1 { return true }
                case nil: continue
                }
            }
        }
        return false
    }

    /// Returns whether a response's header probably is or contains a credential. The names of CORS headers only mention
    /// credentials.
    package static func isIn(header name: String, value: String) -> Bool {
        !name.asciiLowercased.hasPrefix("access-control-") && isSecret(name) || isIn(value)
    }

    package static func isSecret(_ name: String, value: some Collection<UInt8>, in place: Place = .url) -> Bool {
        if isSecret(name, in: place) { return true }
        guard value.count >= 16, words(of: name).contains(where: ambiguous.contains) else { return false }
        return value.allSatisfy(token.contains) && value.contains(where: \.isDigit) && value.contains(where: \.isLetter)
    }

    private static func hasPart(_ word: String) -> Bool {
        let bytes = Array(word.utf8)
        return parts.contains { part, isEnding in
            isEnding
                ? bytes.suffix(part.count).elementsEqual(part) : contains(part, in: bytes) && !harmless.contains(word)
        }
    }

    private static func contains(_ part: [UInt8], in bytes: [UInt8]) -> Bool {
        bytes.count >= part.count && (0...bytes.count - part.count).contains { bytes[$0...].starts(with: part) }
    }

    /// In lowercase: runs of letters, split where a capital letter begins a word. `apiKey`, `APIKey`, `api_key2` and
    /// `api_key_v2` all become `api` and `key`.
    private static func words(of name: String) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        var lastIsLower = false
        let bytes = Array(name.utf8)
        func finish(beforeDigit: Bool = false) {
            // In `apikeyv2`, the `v` belongs to a version, so it's removed. In `cvv2`, the `v` is a part of the word.
            let isVersion = beforeDigit && word.last == UInt8(ascii: "v")
            if isVersion, rows[String(decoding: word, as: UTF8.self)] == nil { word.removeLast() }
            if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
            word = []
        }
        for (index, byte) in bytes.enumerated() {
            let isUpper = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            let isLower = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || byte >= 0x80
            guard isUpper || isLower else {
                finish(beforeDigit: byte.isDigit)
                continue
            }
            if isUpper, !word.isEmpty {
                let next = index + 1 < bytes.count ? bytes[index + 1] : 0
                if lastIsLower || UInt8(ascii: "a")...UInt8(ascii: "z") ~= next { finish() }
            }
            word.append(isUpper ? byte | 0x20 : byte)
            lastIsLower = isLower
        }
        finish()
        return words
    }

    // MARK: Values

    /// Returns whether a text, such as the value of a header or member, probably is or contains a credential.
    ///
    /// Credentials are an authorization (`Bearer …`), a JSON Web Token, a private key, a well-known service's access
    /// key, a URL with user info, and a parameter or member with a credential's name.
    package static func isIn(_ text: String) -> Bool { finding(in: Array(text.utf8)) != nil }

    /// A predicate, such as “looks like a credential”. The text may be percent-encoded up to four times.
    private static func finding(in text: [UInt8]) -> String? {
        var text = text
        for _ in 0..<5 {
            if let finding = findingAsWritten(in: text) { return finding }
            guard text.contains(UInt8(ascii: "%")) else { return nil }
            let decoded = PercentEncoding.decode(text)
            guard decoded.count < text.count else { return nil }
            text = decoded
        }
        return nil
    }

    private static func findingAsWritten(in text: [UInt8]) -> String? {
        if hasAuthorization(text) || hasWebToken(text) || hasKey(text) || hasPathToken(text) { return looksSecret }
        if hasUserInfo(text) { return "contains a URL with a user name" }
        for piece in runs(of: separators, areMembers: false, in: text[...]) {
            guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = String(decoding: PercentEncoding.decode(piece[..<equals]), as: UTF8.self)
            if isSecret(name, value: piece[(equals + 1)...]) { return "contains “\(name)”, which may be a credential" }
        }
        return ([text] + encodedJSON(in: text)).lazy.compactMap(literal).first
            .map { "contains “\($0)”, which may be a credential" }
    }

    /// JSON objects in base64 or base64url, such as OAuth's `state`.
    private static func encodedJSON(in text: [UInt8]) -> [[UInt8]] {
        runs(of: base64, in: text[...]).filter { $0.starts(with: "eyJ".utf8) }.compactMap { run in
            let standard = run.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? 0x2F : $0 }
            let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - run.count % 4) % 4)
            return Data(base64Encoded: Data(standard + padding)).map { Array($0) }
        }
    }

    fileprivate static let looksSecret = "looks like a credential"

    private static let separators = PercentEncoding.AllowedBytes("?&;<>\"'`, /#\\\n\r\t")
    private static let endsOfParameters = PercentEncoding.AllowedBytes("&;")

    /// Whether the text, or the value of one of its parameters, looks like the value of an `Authorization` header, such
    /// as `Token 0a1b` (RFC 9110 §11.6.2).
    private static func hasAuthorization(_ text: [UInt8]) -> Bool {
        isAuthorization(text[...])
            || runs(of: endsOfParameters, areMembers: false, in: text[...]).contains { parameter in
                guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else { return false }
                return isAuthorization(parameter[(equals + 1)...])
            }
    }

    private static func isAuthorization(_ text: ArraySlice<UInt8>) -> Bool {
        let words = text.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count > 1, words[0].count <= 20 else { return false }
        let scheme = String(decoding: words[0], as: UTF8.self).asciiLowercased
        // Several words after the scheme must be parameters, with `=`. “Token of esteem” isn't an authorization.
        return schemes.contains(scheme) && (words.count == 2 || text.contains(UInt8(ascii: "=")))
    }

    private static let schemes = ["apikey", "aws4-hmac-sha256", "basic", "bearer", "digest", "negotiate", "token"]

    /// A JSON Web Token (RFC 7519), such as `eyJ….….…`. `eyJ` is `{"` in base64.
    private static func hasWebToken(_ text: [UInt8]) -> Bool {
        runs(of: tokenOrPeriod, in: text[...]).contains { run in
            let segments = run.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            return segments.count >= 3 && segments[0].starts(with: "eyJ".utf8) && segments[0].count >= 10
                && segments[1].count >= 2
        }
    }

    /// A private key, or an access key of a well-known service.
    private static func hasKey(_ text: [UInt8]) -> Bool {
        if contains(Array("PRIVATE KEY-----".utf8), in: text) { return true }
        return runs(of: token, in: text[...]).contains { run in
            run.count >= 20 && keyPrefixes.contains { run.starts(with: $0.utf8) }
        }
    }

    /// A path with a token, as bots and webhooks have it: Telegram's `/bot1234:token/`, Slack's
    /// `/services/T…/B…/token`, Discord's `/webhooks/1234/token`. Proxies have these paths on other hosts. Or an
    /// ASP.NET session, `/(S(token))/`.
    static func hasPathToken(_ text: [UInt8]) -> Bool {
        let segments = runs(of: separators, areMembers: false, in: text[...])
        for (index, segment) in segments.enumerated() {
            if segment.starts(with: "bot".utf8), let colon = segment.firstIndex(of: UInt8(ascii: ":")) {
                let number = segment[..<colon].dropFirst(3)
                if number.count >= 6, number.allSatisfy(\.isDigit), isToken(segment[(colon + 1)...], from: 30) {
                    return true
                }
            }
            let isInParentheses = segment.starts(with: "(".utf8) && segment.suffix(2).elementsEqual("))".utf8)
            if isInParentheses, segment.count >= 24 { return true }
            let next = segments[(index + 1)...].prefix(3)
            if segment.elementsEqual("services".utf8), next.count == 3 {
                let starts = zip(next, "TB".utf8).allSatisfy { isToken($0, from: 8) && $0.first == $1 }
                if starts, let last = next.last, isToken(last, from: 20) { return true }
            }
            if segment.elementsEqual("webhooks".utf8), let number = next.first, let last = next.dropFirst().first {
                if number.count >= 15, number.allSatisfy(\.isDigit), isToken(last, from: 30) { return true }
            }
        }
        return false
    }

    private static func isToken(_ text: ArraySlice<UInt8>, from fewest: Int) -> Bool {
        text.count >= fewest && text.allSatisfy(token.contains)
    }

    private static let keyPrefixes = [
        "AKIA", "ASIA", "AIza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-",
        "sk_live_",
        "rk_live_", "sk-ant-",
    ]

    /// Returns the runs of bytes that are members of a set or, if `areMembers` is `false`, of the other bytes.
    private static func runs(
        of set: PercentEncoding.AllowedBytes,
        areMembers: Bool = true,
        in text: ArraySlice<UInt8>
    ) -> [ArraySlice<UInt8>] {
        text.split { set.contains($0) != areMembers }
    }

    /// The alphabet of base64url (RFC 4648 §5).
    private static let token = PercentEncoding.AllowedBytes(base64URL)
    private static let base64 = PercentEncoding.AllowedBytes(base64URL + "+/")
    private static let tokenOrPeriod = PercentEncoding.AllowedBytes(base64URL + ".")
    private static let base64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// A URL with user info, such as `https://user:password@host/`.
    private static func hasUserInfo(_ text: [UInt8]) -> Bool {
        var index = 0
        while index + 1 < text.count {
            let isStart = text[index] == UInt8(ascii: "/") && text[index + 1] == UInt8(ascii: "/")
            // After a letter, digit, `-` or `_`, as in `a//b`, two slashes are a part of a path.
            guard isStart, index == 0 || !token.contains(text[index - 1]) else {
                index += 1
                continue
            }
            let authority = text[(index + 2)...].prefix { !separators.contains($0) }
            if authority.contains(UInt8(ascii: "@")) { return true }
            index = authority.endIndex
        }
        return false
    }

    /// The first name of a credential that's followed by a colon and a literal. It finds `password` in GraphQL's
    /// `login(password: "…")`, and in JSON inside a string, where quotes may be escaped.
    private static func literal(in text: [UInt8]) -> String? {
        // The range of the last name, as long as only quotes and spaces have followed it.
        var name: Range<Int>?
        for (index, byte) in text.enumerated() {
            if tokenOrPeriod.contains(byte) || byte >= 0x80 {
                name = name?.upperBound == index ? (name?.lowerBound ?? index)..<index + 1 : index..<index + 1
            } else if byte == UInt8(ascii: ":"), let range = name {
                name = nil
                let after = text[(index + 1)...].first { !spaces.contains($0) }
                guard let after, literalStarts.contains(after) else { continue }
                let found = String(decoding: text[range], as: UTF8.self)
                if isSecret(found, in: .member) { return found }
            } else if !spaces.contains(byte), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "'") {
                name = nil
            }
        }
        return nil
    }

    /// White space, and the backslashes of escapes.
    private static let spaces = PercentEncoding.AllowedBytes(" \t\r\n\\")
    private static let literalStarts = PercentEncoding.AllowedBytes("\"'-[{0123456789")
}

extension SecretName {
    /// A part of a URL that may be or contain a credential. Its description is a clause without a period.
    package struct Parameter: Sendable, Hashable, CustomStringConvertible {
        /// The decoded name of a parameter in the query or path. `nil` for a parameter without a name, and for a token in
        /// the path.
        package let name: String?
        package let description: String

        package init(name: String) { self.init(name: name, reason: "may be a credential") }

        private init(name: String?, reason: String) {
            self.name = name
            let subject = name.map { "the URL's parameter “\($0)”" } ?? "an unnamed parameter of the URL"
            description = "\(subject) \(reason)"
        }

        private init(description: String) { (name, self.description) = (nil, description) }

        /// A JSON Web Token, or a bot's or webhook's token, in the path.
        fileprivate static let tokenInPath = Parameter(description: "the URL's path seems to contain a token")

        /// - Parameter name: `nil` for a parameter without a name.
        fileprivate init(name: String?, finding: String) {
            let isWhole = finding == SecretName.looksSecret && name != nil
            self.init(name: name, reason: isWhole ? "has a value that \(finding)" : finding)
        }

        /// The description with a capital letter and a period.
        package var sentence: String { description.capitalizedFirst.sentence }
    }

    /// Looks at the parameters of the path (`;jsessionid=…`), at those of the query, and then for a token in the path.
    package static func first(in url: NormalizedURL) -> Parameter? {
        let path = Array(url.path.utf8)
        let inPath = path.split(separator: UInt8(ascii: "/")).flatMap {
            $0.split(separator: UInt8(ascii: ";")).dropFirst()
        }
        let query = Array((url.query ?? "").utf8)[...]
        for parameter in inPath + runs(of: endsOfParameters, areMembers: false, in: query) {
            let name = String(
                decoding: PercentEncoding.decode(parameter.prefix { $0 != UInt8(ascii: "=") }),
                as: UTF8.self
            )
            let hasName = parameter.contains(UInt8(ascii: "="))
            let value = hasName ? parameter.drop { $0 != UInt8(ascii: "=") }.dropFirst() : parameter
            if isSecret(name, value: value) { return Parameter(name: name) }
            let spaced = value.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
            if let finding = finding(in: spaced) { return Parameter(name: hasName ? name : nil, finding: finding) }
        }
        return hasWebToken(path) || hasPathToken(PercentEncoding.decode(path)) ? .tokenInPath : nil
    }
}
