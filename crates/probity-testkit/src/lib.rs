//! Scripted models, fake clocks, memory journals and corpora for tests.
