use super::super::super::cursor::is_zero_width;
use super::HIDDEN_LEADS;

#[test]
fn the_leads_of_what_is_invisible_are_all_there() {
    let mut leads: Vec<[u8; 2]> = ('\u{80}'..=char::MAX)
        .filter(|c| is_zero_width(*c))
        .filter_map(|c| c.encode_utf8(&mut [0; 4]).as_bytes().first_chunk().copied())
        .collect();
    leads.sort_unstable();
    leads.dedup();
    assert_eq!(leads, HIDDEN_LEADS);
}
