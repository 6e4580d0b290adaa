/// The JSON Schema of maps, as in the package's file `substitutions.schema.json`. A test compares both.
///
/// It isn't a resource: SwiftPM's `.embedInCode` breaks universal builds (SwiftPM issues 6969 and 9459).
enum MapSchema {
    static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "Substitution map",
          "description": "A map for LocalSubstitutionCache: remote URLs, and what is returned for them. A schema can't see missing files or URLs that are given twice. `substitute check` finds those.",
          "type": "object",
          "properties": {
            "$schema": {
              "description": "The location of this schema, for editors. Ignored."
            },
            "$version": {
              "description": "The version of the map format that the map needs: two numbers with a period between them, such as 1.0, the default.",
              "type": "string",
              "pattern": "^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)$"
            },
            "$defaults": {
              "description": "Fields for all entries that don't set them. Headers are merged.",
              "$ref": "#/$defs/fields",
              "propertyNames": {
                "enum": ["headers", "mimeType", "charset", "ignoreQuery", "methods", "use", "timeout", "enabled", "delay", "bytesPerSecond", "comment"]
              }
            }
          },
          "propertyNames": {
            "anyOf": [
              { "enum": ["$schema", "$version", "$defaults"] },
              { "$ref": "#/$defs/key" }
            ]
          },
          "additionalProperties": { "$ref": "#/$defs/entry" },
          "if": {
            "required": ["$defaults"],
            "properties": {
              "$defaults": { "required": ["use"], "properties": { "use": { "const": "whenOffline" } } }
            }
          },
          "else": {
            "patternProperties": {
              "^[^$]": {
                "if": { "$ref": "#/$defs/sendsOnByItself" },
                "then": { "required": ["use"] }
              }
            }
          },
          "$defs": {
            "key": {
              "description": "An absolute http or https URL with a host, without user info or fragment. With *, it's a match pattern. * can be the scheme, the host, the part of the host before .domain, the port, or any part of the path and query.",
              "type": "string",
              "pattern": "^([Hh][Tt][Tt][Pp][Ss]?|\\*)://(\\[[0-9A-Fa-f:.]+\\]|\\*|(\\*\\.)?[^\\s/?#@:*\\[\\]]+)(:([0-9]*|\\*))?([/?][^#]*)?$"
            },
            "token": {
              "description": "An HTTP token (RFC 9110, section 5.6.2).",
              "type": "string",
              "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
            },
            "entry": {
              "description": "A file, an object with fields, a list of alternatives, or null for URLs that are never substituted.",
              "anyOf": [
                { "$ref": "#/$defs/file" },
                {
                  "type": "object",
                  "allOf": [{ "$ref": "#/$defs/fields" }, { "$ref": "#/$defs/answer" }],
                  "properties": { "times": false },
                  "if": { "$ref": "#/$defs/sendsOnByItself" },
                  "then": { "properties": { "use": { "const": "whenOffline" } } }
                },
                { "$ref": "#/$defs/alternatives" },
                { "type": "null" }
              ]
            },
            "alternatives": {
              "description": "Tried from first to last.",
              "type": "array",
              "minItems": 1,
              "maxItems": 10000,
              "items": {
                "anyOf": [
                  { "$ref": "#/$defs/file" },
                  {
                    "type": "object",
                    "allOf": [{ "$ref": "#/$defs/fields" }, { "$ref": "#/$defs/answer" }],
                    "properties": { "ignoreQuery": false, "enabled": false, "use": false, "timeout": false, "alternatives": false },
                    "not": { "$ref": "#/$defs/sendsOnByItself" }
                  }
                ]
              }
            },
            "answer": {
              "description": "What is returned, and which fields can be combined.",
              "oneOf": [
                { "required": ["file"] },
                { "required": ["json"] },
                { "required": ["text"] },
                { "required": ["stream"] },
                { "required": ["error"] },
                { "required": ["forwardTo"] },
                { "required": ["handler"] },
                { "required": ["alternatives"] },
                { "allOf": [{ "$ref": "#/$defs/noAnswer" }, { "anyOf": [{ "required": ["status"] }, { "required": ["setRequestHeaders"] }] }] }
              ],
              "dependentSchemas": {
                "follow": {
                  "required": ["status"],
                  "properties": { "status": { "enum": [301, 302, 303, 307, 308] } }
                },
                "json": { "$ref": "#/$defs/inline" },
                "text": { "$ref": "#/$defs/inline" },
                "stream": {
                  "$ref": "#/$defs/rateless",
                  "properties": {
                    "status": { "not": { "enum": [204, 205, 304] } },
                    "charset": { "$ref": "#/$defs/utf8" }, "setRequestHeaders": false, "use": false, "timeout": false
                  }
                },
                "error": { "$ref": "#/$defs/headless" },
                "forwardTo": { "$ref": "#/$defs/network" },
                "handler": { "$ref": "#/$defs/headless" },
                "alternatives": {
                  "properties": {
                    "status": false, "setRequestHeaders": false, "secondsPerLine": false, "secondsPerEvent": false, "use": false, "timeout": false,
                    "when": false, "times": false
                  }
                }
              },
              "not": {
                "anyOf": [
                  { "required": ["bytesPerSecond", "secondsPerLine"] },
                  { "required": ["bytesPerSecond", "secondsPerEvent"] },
                  { "required": ["secondsPerLine", "secondsPerEvent"] }
                ]
              },
              "if": { "$ref": "#/$defs/noAnswer" },
              "then": {
                "if": { "required": ["status"] },
                "then": {
                  "$ref": "#/$defs/rateless",
                  "properties": { "mimeType": false, "charset": false, "use": { "enum": ["always", "whenOffline"] } }
                },
                "else": { "$ref": "#/$defs/network" }
              }
            },
            "noAnswer": {
              "description": "An entry without a field that says what is returned.",
              "properties": {
                "file": false, "json": false, "text": false, "stream": false, "error": false, "forwardTo": false, "handler": false, "alternatives": false
              }
            },
            "utf8": { "description": "The charset of a body that is UTF-8.", "pattern": "^[Uu][Tt][Ff]-?8$" },
            "inline": {
              "properties": {
                "charset": { "$ref": "#/$defs/utf8" },
                "use": { "enum": ["always", "whenOffline"] }
              }
            },
            "rateless": {
              "description": "An entry whose body can't have a rate.",
              "properties": { "bytesPerSecond": false, "secondsPerLine": false, "secondsPerEvent": false }
            },
            "headless": {
              "description": "An entry without the fields that describe a response.",
              "$ref": "#/$defs/rateless",
              "properties": {
                "status": false, "mimeType": false, "charset": false, "headers": false, "setRequestHeaders": false, "use": false, "timeout": false
              }
            },
            "network": {
              "$ref": "#/$defs/rateless",
              "properties": { "status": false, "mimeType": false, "charset": false, "use": false, "timeout": false }
            },
            "sendsOnByItself": {
              "description": "An entry that returns something local and sets request headers. It must use whenOffline, or its request is never forwarded.",
              "type": "object",
              "required": ["setRequestHeaders"],
              "anyOf": [{ "required": ["file"] }, { "required": ["json"] }, { "required": ["text"] }, { "required": ["status"] }]
            },
            "conditions": {
              "type": "object",
              "minProperties": 1,
              "additionalProperties": { "type": ["string", "null"] }
            },
            "file": {
              "description": "A relative path in the folder Substitutes beside the map, else in Resources, else in the map's own folder. Each * is replaced by the text that a wildcard in the key's path matched.",
              "type": "string",
              "minLength": 1,
              "pattern": "^(?!/)(?![A-Za-z][A-Za-z0-9+.-]*://)(?![\\s\\S]*\\u0000)(?!([\\s\\S]*/)?\\.\\.(/|$))"
            },
            "seconds": {
              "type": "number",
              "minimum": 0,
              "maximum": 3600
            },
            "piece": {
              "description": "A piece of a stream: text, or an object with one content. error ends the stream, so it's the last piece.",
              "anyOf": [
                { "type": "string" },
                {
                  "type": "object",
                  "properties": {
                    "text": { "description": "Text in UTF-8.", "type": "string" },
                    "base64": {
                      "description": "Bytes, in base64.",
                      "type": "string",
                      "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
                    },
                    "json": { "description": "Any JSON value, sent exactly as written, without a line end." },
                    "file": { "$ref": "#/$defs/file" },
                    "error": { "$ref": "#/$defs/fields/properties/error" },
                    "delay": { "description": "How many seconds after the previous piece this one is sent.", "$ref": "#/$defs/seconds" }
                  },
                  "additionalProperties": false,
                  "oneOf": [
                    { "required": ["text"] }, { "required": ["base64"] }, { "required": ["json"] }, { "required": ["file"] }, { "required": ["error"] }
                  ]
                }
              ]
            },
            "content": {
              "description": "A piece that isn't the last one. A schema can't tell which piece is the last, so only the first eight are checked.",
              "not": { "type": "object", "required": ["error"] }
            },
            "fields": {
              "type": "object",
              "properties": {
                "file": { "$ref": "#/$defs/file" },
                "json": {
                  "description": "The body, any JSON value, sent exactly as written. At most 64 levels deep."
                },
                "text": {
                  "description": "The body, in UTF-8. By default, its MIME type follows from the URL's extension, or is text/plain.",
                  "type": "string"
                },
                "stream": {
                  "description": "The body in pieces, each sent when it's due. By default, its MIME type is text/event-stream.",
                  "type": "array",
                  "minItems": 1,
                  "maxItems": 10000,
                  "items": { "$ref": "#/$defs/piece" },
                  "contains": { "type": "object", "required": ["error"] },
                  "minContains": 0,
                  "maxContains": 1,
                  "allOf": [
                    { "if": { "minItems": 2 }, "then": { "prefixItems": [{ "$ref": "#/$defs/content" }] } },
                    { "if": { "minItems": 3 }, "then": { "prefixItems": [true, { "$ref": "#/$defs/content" }] } },
                    { "if": { "minItems": 4 }, "then": { "prefixItems": [true, true, { "$ref": "#/$defs/content" }] } },
                    { "if": { "minItems": 5 }, "then": { "prefixItems": [true, true, true, { "$ref": "#/$defs/content" }] } },
                    { "if": { "minItems": 6 }, "then": { "prefixItems": [true, true, true, true, { "$ref": "#/$defs/content" }] } },
                    { "if": { "minItems": 7 }, "then": { "prefixItems": [true, true, true, true, true, { "$ref": "#/$defs/content" }] } },
                    { "if": { "minItems": 8 }, "then": { "prefixItems": [true, true, true, true, true, true, { "$ref": "#/$defs/content" }] } },
                    { "if": { "minItems": 9 }, "then": { "prefixItems": [true, true, true, true, true, true, true, { "$ref": "#/$defs/content" }] } }
                  ]
                },
                "handler": {
                  "description": "The name of a handler: a closure that code passes when it loads the map, and that computes the answer.",
                  "type": "string",
                  "minLength": 1
                },
                "error": {
                  "description": "Fails the request with this URLError code.",
                  "enum": [
                    "unknown", "cancelled", "badURL", "timedOut", "unsupportedURL", "cannotFindHost", "cannotConnectToHost",
                    "networkConnectionLost", "dnsLookupFailed", "httpTooManyRedirects", "resourceUnavailable",
                    "notConnectedToInternet", "redirectToNonExistentLocation", "badServerResponse",
                    "userCancelledAuthentication", "userAuthenticationRequired", "zeroByteResource", "cannotDecodeRawData",
                    "cannotDecodeContentData", "cannotParseResponse", "appTransportSecurityRequiresSecureConnection",
                    "fileDoesNotExist", "fileIsDirectory", "noPermissionsToReadFile", "dataLengthExceedsMaximum",
                    "secureConnectionFailed", "serverCertificateHasBadDate", "serverCertificateUntrusted",
                    "serverCertificateHasUnknownRoot", "serverCertificateNotYetValid", "clientCertificateRejected",
                    "clientCertificateRequired", "cannotLoadFromNetwork", "cannotCreateFile", "cannotOpenFile",
                    "cannotCloseFile", "cannotWriteToFile", "cannotRemoveFile", "cannotMoveFile",
                    "downloadDecodingFailedMidStream", "downloadDecodingFailedToComplete", "internationalRoamingOff",
                    "callIsActive", "dataNotAllowed", "requestBodyStreamExhausted",
                    "backgroundSessionRequiresSharedContainer", "backgroundSessionInUseByAnotherProcess",
                    "backgroundSessionWasDisconnected"
                  ]
                },
                "forwardTo": {
                  "description": "Sends the request to this URL instead. * is allowed in the path, and as a whole value in the query. It's replaced by the text that a wildcard in the key's path matched.",
                  "type": "string",
                  "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://(\\[[0-9A-Fa-f:.]+\\]|[^\\s/?#@:*\\[\\]]+)(:[0-9]*)?(/[^?#]*)?(\\?([^*&#]*|[^*&#=]*=\\*)(&([^*&#]*|[^*&#=]*=\\*))*)?$"
                },
                "setRequestHeaders": {
                  "description": "Sets headers of a request that is forwarded. null removes a header.",
                  "type": "object",
                  "minProperties": 1,
                  "propertyNames": {
                    "$ref": "#/$defs/token",
                    "not": {
                      "pattern": "^([Hh][Oo][Ss][Tt]|[Cc][Oo][Nn][Tt][Ee][Nn][Tt]-[Ll][Ee][Nn][Gg][Tt][Hh]|[Tt][Rr][Aa][Nn][Ss][Ff][Ee][Rr]-[Ee][Nn][Cc][Oo][Dd][Ii][Nn][Gg])$"
                    }
                  },
                  "additionalProperties": {
                    "type": ["string", "null"],
                    "not": { "type": "string", "pattern": "[\\u0000-\\u0008\\u000a-\\u001f\\u007f]" }
                  }
                },
                "delay": {
                  "description": "How long the response waits, in seconds.",
                  "$ref": "#/$defs/seconds"
                },
                "bytesPerSecond": {
                  "description": "Sends the body evenly at this rate.",
                  "type": "integer",
                  "minimum": 1,
                  "maximum": 1000000000
                },
                "secondsPerLine": {
                  "description": "Sends the body line by line: the first line at once, and each other line this many seconds after the previous one.",
                  "$ref": "#/$defs/seconds"
                },
                "secondsPerEvent": {
                  "description": "Sends the body event by event: the first event at once, and each other event this many seconds after the previous one. A blank line ends an event.",
                  "$ref": "#/$defs/seconds"
                },
                "when": {
                  "description": "Conditions on the request. All of them must hold.",
                  "type": "object",
                  "minProperties": 1,
                  "properties": {
                    "headers": {
                      "description": "The values of request headers, with * for any text. null means that the header is absent.",
                      "$ref": "#/$defs/conditions"
                    },
                    "query": {
                      "description": "The values of query parameters, with * for any text. null means that the parameter is absent.",
                      "$ref": "#/$defs/conditions"
                    },
                    "json": {
                      "description": "A part of the request's JSON body. The body's objects may have more members. At most 64 levels deep."
                    },
                    "text": {
                      "description": "The request's body as text, with * for any text. A request without a body has an empty text.",
                      "type": "string"
                    }
                  },
                  "additionalProperties": false
                },
                "times": {
                  "description": "Only in an alternative: how many requests it matches before it's skipped.",
                  "type": "integer",
                  "minimum": 1,
                  "maximum": 1000000000
                },
                "alternatives": { "$ref": "#/$defs/alternatives" },
                "mimeType": {
                  "description": "The MIME type of the response. By default, it follows from the extension of the file or the URL.",
                  "type": "string",
                  "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
                },
                "charset": {
                  "description": "The charset of the response, an IANA name, or null to send none. The default is utf-8 for text.",
                  "anyOf": [{ "$ref": "#/$defs/token" }, { "type": "null" }]
                },
                "status": {
                  "description": "The HTTP status.",
                  "type": "integer",
                  "minimum": 200,
                  "maximum": 599,
                  "default": 200
                },
                "headers": {
                  "description": "More response headers. They win over those that the cache sets.",
                  "type": "object",
                  "propertyNames": {
                    "$ref": "#/$defs/token",
                    "not": {
                      "pattern": "^([Cc][Oo][Nn][Tt][Ee][Nn][Tt]-([Ll][Ee][Nn][Gg][Tt][Hh]|[Ee][Nn][Cc][Oo][Dd][Ii][Nn][Gg])|[Tt][Rr][Aa][Nn][Ss][Ff][Ee][Rr]-[Ee][Nn][Cc][Oo][Dd][Ii][Nn][Gg])$"
                    }
                  },
                  "additionalProperties": {
                    "type": "string",
                    "not": { "pattern": "[\\u0000-\\u0008\\u000a-\\u001f\\u007f]" }
                  }
                },
                "follow": {
                  "description": "For a redirect: whether a session follows it. With false, the client gets the redirect itself.",
                  "type": "boolean",
                  "default": true
                },
                "ignoreQuery": {
                  "description": "Query parameters to ignore: true for all, or a list of names. A name may end in *.",
                  "anyOf": [
                    { "type": "boolean" },
                    {
                      "type": "array",
                      "items": { "type": "string", "pattern": "^[^*]*[\\s\\S]$" }
                    }
                  ]
                },
                "use": {
                  "description": "When the file is returned: always, until it's refreshed from the network, or when the network fails.",
                  "enum": ["always", "untilUpdated", "whenOffline"],
                  "default": "always"
                },
                "timeout": {
                  "description": "For whenOffline: how many seconds the network may take for the complete response, or for the first piece of an event stream.",
                  "type": "number",
                  "exclusiveMinimum": 0
                },
                "methods": {
                  "description": "The HTTP methods to match, or [\"*\"] for all. GET includes HEAD. By default, GET. For error, forwardTo, handler, and setRequestHeaders without a response, all methods.",
                  "type": "array",
                  "items": { "$ref": "#/$defs/token" },
                  "minItems": 1,
                  "not": { "minItems": 2, "contains": { "const": "*" } }
                },
                "enabled": {
                  "description": "Whether the entry is used.",
                  "type": "boolean",
                  "default": true
                },
                "comment": {
                  "description": "A note. Ignored.",
                  "type": "string"
                }
              },
              "additionalProperties": false
            }
          }
        }

        """#
}
