//! Which arm to run next, and what the arms that were run say. Pure: no clock, no chance, no model.
