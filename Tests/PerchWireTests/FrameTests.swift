import PerchWire
