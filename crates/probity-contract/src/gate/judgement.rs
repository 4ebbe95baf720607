use std::sync::Arc;

use super::call::FrozenCall;
use super::question::Grant;
use super::redemption::Redemption;
use super::ruling::{Asker, Bench, Denial, DenialCode, Epoch, Level, Opinion, Ruling};
use super::seat::Seat;
use crate::digest::Digest;

/// The hearing of one frozen call: collects what the seats say and makes the permit when all have allowed.
///
/// It is not serializable. A call that is taken up again is heard again; only a person's grant outlives the pause.
#[derive(Debug)]
pub struct Judgement {
    call: Arc<FrozenCall>,
    bench: Bench,
    grant: Option<Grant>,
    redemption: Option<Redemption>,
    adjudicated: Option<Ruling>,
    inherited: Option<Ruling>,
    rechecked: Option<Ruling>,
    // By what each policy judged last: what a grant must have been given under.
    epochs: Vec<Epoch>,
}

impl Judgement {
    /// Opens the hearing of `call` before the policies of `bench`.
    #[must_use]
    pub const fn open(call: Arc<FrozenCall>, bench: Bench) -> Self {
        Self {
            call,
            bench,
            grant: None,
            redemption: None,
            adjudicated: None,
            inherited: None,
            rechecked: None,
            epochs: Vec::new(),
        }
    }

    /// The call that is heard.
    #[must_use]
    pub const fn call(&self) -> &Arc<FrozenCall> {
        &self.call
    }

    /// Takes a person's approval.
    pub fn grant(&mut self, grant: Grant) {
        self.grant = Some(grant);
    }

    /// Takes the proof that the approval was not used before.
    pub fn redeem(&mut self, redemption: Redemption) {
        self.redemption = Some(redemption);
    }

    /// Takes what was said at a seat and tells what the seat concludes, with all that it heard before: a seat that is
    /// heard twice can only become stricter. At [`Seat::EditRecheck`] all levels are heard at once, and what they say
    /// counts for the two seats before. No policy judges at [`Seat::Targets`]; whoever speaks there denies the call.
    pub fn hear(&mut self, seat: Seat, opinions: &[Opinion]) -> Ruling {
        let ruling = self.bench.rule(seat, opinions);
        self.learn_epochs(opinions);
        match seat {
            Seat::Targets => {
                let reason = "no policy judges at this seat".to_owned();
                let (code, level) = (DenialCode::Incomplete, Level::OWN);
                add(&mut self.adjudicated, Ruling::Deny(Denial { code, seat, by: None, level, reason }))
            }
            Seat::Adjudicate => add(&mut self.adjudicated, ruling),
            Seat::Inherited => add(&mut self.inherited, ruling),
            Seat::EditRecheck => {
                add(&mut self.inherited, ruling.clone());
                add(&mut self.adjudicated, ruling)
            }
            Seat::ExecuteRecheck => add(&mut self.rechecked, ruling),
        }
    }

    /// The last word of each policy counts.
    fn learn_epochs(&mut self, opinions: &[Opinion]) {
        for Opinion { level, policy, epoch, .. } in opinions {
            self.epochs.retain(|known| (known.level, &known.policy) != (*level, policy));
            self.epochs.extend(epoch.map(|epoch| Epoch { level: *level, policy: policy.clone(), epoch }));
        }
    }

    /// Hears a call whose first hearing a pause has ended. The same policies are heard now, under what is in force now, so
    /// what they say just before the effect counts for the seats before as well.
    pub fn hear_after_pause(&mut self, opinions: &[Opinion]) -> Ruling {
        let ruling = self.hear(Seat::ExecuteRecheck, opinions);
        add(&mut self.adjudicated, ruling.clone());
        add(&mut self.inherited, ruling)
    }

    /// Everybody who has asked so far.
    #[must_use]
    pub fn askers(&self) -> Vec<Asker> {
        let mut askers: Vec<Asker> = Vec::new();
        for ruling in [&self.adjudicated, &self.inherited, &self.rechecked].into_iter().flatten() {
            let Ruling::Ask(more) = ruling else { continue };
            let new = more.iter().filter(|asker| {
                !askers.iter().any(|known| (known.level, &known.policy) == (asker.level, &asker.policy))
            });
            let new: Vec<Asker> = new.cloned().collect();
            askers.extend(new);
        }
        askers
    }

    /// By what everybody judged last.
    #[must_use]
    pub fn epochs(&self) -> &[Epoch] {
        &self.epochs
    }

    /// Whether a grant answers all that was asked so far. Whether there is still time for it is for the permit to say.
    #[must_use]
    pub fn is_answered_by(&self, grant: &Grant) -> bool {
        grant.answers(&self.call, &self.askers(), &self.epochs)
    }

    /// Makes the permit, or says why there is none.
    ///
    /// All seats must have been heard; a seat that asked needs a grant for this very call and everyone who asked there,
    /// given under the rules that were just judged by, that has begun, has not expired at `now_ms`, and was redeemed.
    ///
    /// # Errors
    /// The denial.
    pub fn permit(self, now_ms: u64) -> Result<Permit, Denial> {
        let none_above = (!self.bench.has_ancestors()).then_some(Ruling::Allow);
        let seats = [
            (Seat::Adjudicate, self.adjudicated.as_ref()),
            (Seat::Inherited, self.inherited.as_ref().or(none_above.as_ref())),
            (Seat::ExecuteRecheck, self.rechecked.as_ref()),
        ];
        let mut redeems = None;
        for (seat, ruling) in seats {
            let denial = |code, reason: &str| Denial {
                code,
                seat,
                by: None,
                level: Level::OWN,
                reason: reason.to_owned(),
            };
            let askers = match ruling {
                None => return Err(denial(DenialCode::Incomplete, "not every policy could be heard")),
                Some(Ruling::Deny(denial)) => return Err(denial.clone()),
                Some(Ruling::Allow) => continue,
                Some(Ruling::Ask(askers)) => askers,
            };
            let nobody = || denial(DenialCode::NobodyToAsk, "a person must approve this call first");
            let grant = self.grant.as_ref().ok_or_else(nobody)?;
            if !grant.answers(&self.call, askers, &self.epochs) {
                return Err(nobody());
            }
            if !grant.holds_at(now_ms) {
                return Err(denial(DenialCode::Expired, "the approval has expired"));
            }
            if self.redemption.as_ref().map(Redemption::binding) != Some(grant.binding()) {
                return Err(denial(DenialCode::Redeemed, "the approval was not redeemed"));
            }
            redeems = Some(grant.binding());
        }
        Ok(Permit { call: self.call, redeems })
    }
}

fn add(heard: &mut Option<Ruling>, ruling: Ruling) -> Ruling {
    let ruling = match heard.take() {
        Some(before) => before.and(ruling),
        None => ruling,
    };
    heard.insert(ruling).clone()
}

/// The right to run one frozen call once.
///
/// Not `Clone`, not serializable, with one maker: [`Judgement::permit`]. [`crate::Tool::run`] takes it by value.
#[derive(Debug)]
#[must_use = "a permit that is dropped runs nothing"]
pub struct Permit {
    // INVARIANT: every seat has allowed exactly this call.
    call: Arc<FrozenCall>,
    redeems: Option<Digest>,
}

impl Permit {
    /// The permitted call; its arguments are what the tool acts on.
    #[must_use]
    pub const fn call(&self) -> &Arc<FrozenCall> {
        &self.call
    }

    /// The question whose approval this permit uses up, where a person was asked.
    #[must_use]
    pub const fn redeems(&self) -> Option<Digest> {
        self.redeems
    }
}
