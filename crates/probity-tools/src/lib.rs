//! Built-in tools: files inside roots, a sandboxed shell, allow-listed HTTP.
