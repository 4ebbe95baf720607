use std::collections::HashMap;

use probity_contract::ItemId;

use crate::draft::{Message, Piece, Role};
use crate::json::canonical;

pub(super) type Hash = [u8; 32];

/// What two messages have in common that are one item: role, speaker, words, calls and what they are answers to. What is
/// left out when a message is sent back, and how its text is cut into pieces, does not count.
pub(super) fn hash_of(message: &Message) -> Hash {
    hash(message, true)
}

/// The same without ids, which some traces leave out on one side.
pub(super) fn hash_without_ids(message: &Message) -> Hash {
    hash(message, false)
}

fn hash(message: &Message, with_ids: bool) -> Hash {
    let mut hasher = blake3::Hasher::new();
    let mut field = |mark: u8, bytes: &[u8]| {
        hasher.update(&[mark]);
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    field(
        b'r',
        &[match message.role {
            Role::System => 0,
            Role::User => 1,
            Role::Assistant => 2,
            Role::Tool => 3,
        }],
    );
    if message.role != Role::Tool {
        field(b'n', message.name.as_deref().unwrap_or_default().as_bytes());
    } else if with_ids {
        field(b'i', message.call_id.as_deref().unwrap_or_default().as_bytes());
    }
    field(b't', message.words().trim().as_bytes());
    let mut says_nothing = message.words().trim().is_empty();
    for piece in &message.pieces {
        match piece {
            Piece::Text(_) | Piece::Reasoning(_) => {}
            Piece::Call { id, name, arguments } => {
                says_nothing = false;
                field(b'c', name.as_bytes());
                let mut same = String::new();
                match serde_json::from_str(arguments) {
                    Ok(value) => canonical(&value, &mut same),
                    Err(_) => same.clone_from(arguments),
                }
                field(b'a', same.as_bytes());
                if with_ids {
                    field(b'i', id.as_bytes());
                }
            }
            Piece::Other(value) => {
                says_nothing = false;
                let mut same = String::new();
                canonical(value, &mut same);
                field(b'o', same.as_bytes());
            }
        }
    }
    // A reply of nothing but thoughts is told by them.
    if says_nothing {
        for piece in &message.pieces {
            if let Piece::Reasoning(thought) = piece {
                field(b'h', thought.as_bytes());
            }
        }
    }
    *hasher.finalize().as_bytes()
}

/// Finds the items of one window. Equal messages of a window are different items: the second is the second that was added.
#[derive(Debug, Default)]
pub(super) struct Sameness {
    counts: HashMap<Hash, usize>,
}

impl Sameness {
    pub(super) fn find(
        &mut self,
        message: &Message,
        items: &HashMap<Hash, Vec<ItemId>>,
        items_without_ids: &HashMap<Hash, Vec<ItemId>>,
    ) -> Option<ItemId> {
        let hash = hash_of(message);
        if let Some(item) = items.get(&hash).and_then(|same| self.nth(hash, same)) {
            return Some(item);
        }
        let hash = hash_without_ids(message);
        // Only where one side has no ids: two results with different ids are two results.
        let is_without = match message.role {
            Role::Tool => message.call_id.is_none(),
            Role::Assistant => true,
            Role::System | Role::User => false,
        };
        if !is_without {
            return None;
        }
        items_without_ids.get(&hash).and_then(|same| self.nth(hash, same))
    }

    fn nth(&mut self, hash: Hash, same: &[ItemId]) -> Option<ItemId> {
        let count = self.counts.entry(hash).or_default();
        let item = same.get(*count).copied();
        *count += 1;
        item
    }
}

/// The hash of a list of items that grows.
#[derive(Debug, Default)]
pub(super) struct RunningHash(Hash);

impl RunningHash {
    pub(super) fn push(&mut self, item: ItemId) {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(&item.0.to_le_bytes());
        self.0 = *hasher.finalize().as_bytes();
    }

    pub(super) const fn now(&self) -> Hash {
        self.0
    }
}

pub(super) fn hash_of_items(items: &[ItemId]) -> Hash {
    let mut running = RunningHash::default();
    items.iter().for_each(|item| running.push(*item));
    running.now()
}
