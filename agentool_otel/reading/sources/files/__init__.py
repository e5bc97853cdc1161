"""Files of spans: framings, compression, JSON, protobuf, CSV, and the recovery of damaged ones."""
