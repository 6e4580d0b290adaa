// Imported for all files of these tests.
@_exported import TestSupport
