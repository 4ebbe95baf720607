use probity_contract::{Allowance, Spending};

use super::atomics::Mutex;

/// What the tasks of one call may still spend, shared by all of them.
///
/// What is taken is no one else's until it is given back, so all that was taken and not given back never exceeds what was there
/// at the beginning, whoever takes at the same time.
#[derive(Debug)]
pub(crate) struct Purse {
    left: Mutex<Allowance>,
}

impl Purse {
    pub(crate) fn new(all: Allowance) -> Self {
        Self { left: Mutex::new(all) }
    }

    /// Takes as much as is wanted, or what there is.
    pub(crate) fn take(&self, wanted: &Allowance) -> Allowance {
        self.change(|left| {
            let taken = left.least(wanted);
            *left = left.without(&taken.all_spent());
            taken
        })
    }

    /// Gives back what was taken and not spent.
    pub(crate) fn give_back(&self, taken: &Allowance, spent: &Spending) {
        let unused = taken.without(spent);
        self.change(|left| {
            left.turns = left.turns.saturating_add(unused.turns);
            left.tool_calls = left.tool_calls.saturating_add(unused.tool_calls);
            left.tokens = left.tokens.zip(unused.tokens).map(|(left, unused)| left.saturating_add(unused));
            left.cost_usd = left.cost_usd.zip(unused.cost_usd).map(|(left, unused)| left + unused);
        });
    }

    fn change<R>(&self, change: impl FnOnce(&mut Allowance) -> R) -> R {
        match self.left.lock() {
            Ok(mut left) => change(&mut left),
            // Plain numbers are whole whatever panicked beside them.
            Err(poisoned) => change(&mut poisoned.into_inner()),
        }
    }
}
