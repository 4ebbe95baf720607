//! The run machine, its driver and the gate.
