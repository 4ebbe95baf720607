include!(concat!(env!("OUT_DIR"), "/vendors.rs"));

/// Names of services whose keys people paste, in lower case and sorted: those that mean nothing else, and those that are
/// also words.
pub(crate) fn vendors() -> (&'static [&'static str], &'static [&'static str]) {
    (VENDORS, VENDOR_WORDS)
}

#[cfg(test)]
#[path = "vendors_tests.rs"]
mod tests;
