// What a client shows are the model's values: who imports the one has the other.
@_exported public import PerchBase
@_exported public import PerchModel
