"""What instrumentors are made of; those of products are in their folders in `integrations`.

kit/   patches, calls of a client, steps of a framework, options
"""
