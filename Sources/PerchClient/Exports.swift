// Re-exports the model, because the client's values are the model's.
@_exported public import PerchBase
@_exported public import PerchModel
