//! Models over HTTP and from rule files, behind one port.
