"""Files of spans: framings, compression, JSON, protobuf, CSV, and what is left of damaged ones."""
