//! Redaction passes and the checked text type that every exit demands.
