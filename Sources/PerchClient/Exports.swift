// Re-exports the model, because the client's values are the model's, and the three types of PerchBase in its signatures. The rest
// of PerchBase stays hidden: a name such as `Limits` would collide with that of another module.
@_exported public import PerchModel

@_exported public import struct PerchBase.Instant
@_exported public import struct PerchBase.Position
@_exported public import struct PerchBase.StoreIdentity
