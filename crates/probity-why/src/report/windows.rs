//! What each model call was sent, summed by kind and trust.

use std::collections::{HashMap, HashSet};

use probity_contract::{Integrity, ItemId};
use probity_trace::{Graph, RunAt, Slice};

use super::sources::kind_of;
use super::{AskedAtom, Composition, Share};
use crate::search::SuspectKind;

/// Items of windows that are summed up in one report. Windows together can be as long as the square of a record; those
/// beyond are not told.
pub const WINDOW_ITEMS_MAX: usize = 1 << 20;

#[derive(Debug, Clone, Copy)]
struct Known {
    kind: SuspectKind,
    integrity: Integrity,
    bytes: usize,
    is_holder: bool,
}

pub(super) fn compositions(graph: &Graph<'_>, slice: &Slice<'_>, atoms: &[AskedAtom]) -> Vec<Composition> {
    let Some(record) = graph.record(RunAt::FIRST) else { return Vec::new() };
    let holders: HashSet<ItemId> = atoms
        .iter()
        .flat_map(AskedAtom::places)
        .filter(|place| place.run() == RunAt::FIRST)
        .filter_map(|place| place.item())
        .collect();
    let known: HashMap<ItemId, Known> = record
        .items()
        .map(|item| {
            let bytes = record.item_text(item.item).map_or(0, |text| text.text.len());
            let (kind, integrity) = (kind_of(item.body), item.label.integrity);
            (item.item, Known { kind, integrity, bytes, is_holder: holders.contains(&item.item) })
        })
        .collect();
    let mut left = WINDOW_ITEMS_MAX;
    let mut told = Vec::new();
    for (call, window) in record.windows_all() {
        let node = graph.model_call(RunAt::FIRST, call);
        let is_in_slice = node.is_some_and(|node| slice.contains(node));
        let window = window.ok().filter(|window| window.len() <= left);
        let mut composition = Composition {
            call,
            shares: Vec::new(),
            items: 0,
            bytes: 0,
            is_in_slice,
            is_told: window.is_some(),
        };
        if let Some(window) = window {
            left -= window.len();
            window.iter().filter_map(|item| known.get(item)).for_each(|item| composition.add(item));
        }
        told.push(composition);
        if left == 0 {
            break;
        }
    }
    told
}

impl Composition {
    fn add(&mut self, item: &Known) {
        let Known { kind, integrity, bytes, is_holder } = *item;
        self.items += 1;
        self.bytes += bytes;
        let found = self.shares.iter_mut().find(|share| (share.kind, share.integrity) == (kind, integrity));
        match found {
            Some(share) => {
                share.items += 1;
                share.bytes += bytes;
                share.holders += usize::from(is_holder);
            }
            None => {
                let holders = usize::from(is_holder);
                self.shares.push(Share { kind, integrity, items: 1, bytes, holders });
            }
        }
    }
}
