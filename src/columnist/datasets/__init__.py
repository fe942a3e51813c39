"""Data sets: small ones that come with the package, the documents' sets, and generators."""
