// The client's values are those of the model, so an import of the client includes it.
@_exported public import PerchBase
@_exported public import PerchModel
