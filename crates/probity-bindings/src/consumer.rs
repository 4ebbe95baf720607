//! Goes the way from review to effect, with somebody who writes to it meanwhile.

use std::collections::BTreeMap;

use crate::action::{Action, Field};
use crate::build::Door;
use crate::gate::{Approval, GateError};
use crate::repair::Repair;
use crate::topology::{Edge, Topology};

/// When the attacker writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Once the action was reviewed.
    AfterReview,
    /// When the first edge has been passed, and compared where the repair does that.
    AfterFirstEdge,
    /// When the last comparison is over, if there is one.
    AfterLastCheck,
}

impl Moment {
    /// All moments.
    pub const ALL: [Self; 3] = [Self::AfterReview, Self::AfterFirstEdge, Self::AfterLastCheck];
}

/// Another value in what one edge reads for one field. It fits where it stands: nothing can be told from its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attack {
    /// Which edge, counted from 0.
    pub edge: usize,
    /// Which field.
    pub field: Field,
    /// When.
    pub moment: Moment,
}

/// What the sink was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing.
    Rejected,
    /// What was approved.
    Approved,
    /// Something else, under the approval.
    Reached,
}

/// What edges read: what came to them, but where somebody has written something else in its place.
#[derive(Clone)]
struct World {
    written: BTreeMap<(usize, Field), String>,
    // Whether whoever writes here puts the members in another order.
    reordered: bool,
}

impl World {
    fn suffer(&mut self, action: &Action, attack: Option<Attack>, now: Moment) {
        let Some(Attack { edge, field, .. }) = attack.filter(|attack| attack.moment == now) else { return };
        self.written.insert((edge, field), format!("not-{}", action.get(field)));
    }

    /// Rebuilds the action at an edge: through text, as stores and transcripts do.
    fn rebuild(&self, at: usize, edge: &Edge, action: Action) -> Option<Action> {
        let with = |action: Action, field: &Field| match self.written.get(&(at, *field)) {
            Some(value) => action.with(*field, value),
            None => action,
        };
        Action::from_json(&edge.selects.iter().fold(action, with).to_json(self.reordered))
    }
}

/// Has `action` approved, goes the way with it and tells what was executed. With `reordered` every representation has its
/// members in another order than at review.
///
/// # Errors
/// When the gate cannot be set up, which no value of an action leads to.
pub fn consume(
    topology: &Topology,
    repair: Repair,
    door: Door,
    action: &Action,
    attack: Option<Attack>,
    reordered: bool,
) -> Result<Outcome, GateError> {
    let approval = Approval::of(action)?;
    let mut world = World { written: BTreeMap::new(), reordered };
    let frozen = world.clone();
    let walk = |world: &mut World, attack: Option<Attack>| -> Option<Action> {
        let mut current = action.clone();
        for (at, edge) in topology.edges.iter().enumerate() {
            let source = if repair.freezes(at) { &frozen } else { &*world };
            current = source.rebuild(at, edge, current)?;
            if at == 0 {
                if repair.compares_after_first() && current != *action {
                    return None;
                }
                world.suffer(action, attack, Moment::AfterFirstEdge);
            }
        }
        Some(current)
    };
    world.suffer(action, attack, Moment::AfterReview);
    let Some(mut used) = walk(&mut world, attack) else { return Ok(Outcome::Rejected) };
    if repair.compares_at_last() && used != *action {
        return Ok(Outcome::Rejected);
    }
    world.suffer(action, attack, Moment::AfterLastCheck);
    if repair.reads_again() {
        let Some(again) = walk(&mut world, None) else { return Ok(Outcome::Rejected) };
        used = again;
    }
    // The number of the approval is a known one on every way: nobody has touched it.
    let executed = match door {
        Door::Open => Some(used),
        Door::Gate => approval.executes(&used)?,
    };
    Ok(match executed {
        None => Outcome::Rejected,
        Some(executed) if executed == *action => Outcome::Approved,
        Some(_) => Outcome::Reached,
    })
}

/// The edges and fields at which something else than what was approved is executed, at whatever moment it is replaced.
///
/// # Errors
/// When the gate cannot be set up, which no value of an action leads to.
pub fn reached(
    topology: &Topology,
    repair: Repair,
    door: Door,
    action: &Action,
) -> Result<Vec<(usize, Field)>, GateError> {
    let mut reached = Vec::new();
    for (edge, field) in topology.replaceable() {
        for moment in Moment::ALL {
            let attack = Attack { edge, field, moment };
            let outcome = consume(topology, repair, door, action, Some(attack), false)?;
            if outcome == Outcome::Reached && !reached.contains(&(edge, field)) {
                reached.push((edge, field));
            }
        }
    }
    Ok(reached)
}
