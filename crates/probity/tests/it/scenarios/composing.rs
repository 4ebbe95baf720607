//! Several policies and one call.

use std::sync::Arc;

use probity_contract::{
    Bench, Fact, FnInterceptor, HookVerdict, Interceptor, InterceptorName, Level, Opinion, Point, Roster,
    Ruling, Said, Seat, Tool as _, Verdict,
};
use probity_core::{LayeredRules, Mode, RuleLayer, RuleSource};
use probity_testkit::{ScenarioRow, ScriptedPolicy, policy_name};
use serde_json::Value;

use super::stage::{Decision, Seen, expects, scripted_tool, stage, tool_name, wanted};
use super::words::{Clause, Does, clauses, policy, rules, says};

pub(super) async fn check(row: &ScenarioRow) {
    if says(row, &["monoton", "a set d", "add any policy"]) {
        expects(row, &[">=", "monoton", "never more permissive"]);
        monotone();
    } else if says(row, &["transform", "rewrite"]) {
        changed(row).await;
    } else {
        in_every_order(row).await;
    }
}

/// Plays the policies in every order, in the task and above it; a clause with a pattern is a rule.
async fn in_every_order(row: &ScenarioRow) {
    let clauses = clauses(row);
    let wants = wanted(row.expected("decision").unwrap());
    for order in orders(&clauses) {
        let seen = played(row, &order, false).await;
        seen.expect(row);
        if wants == [Decision::Deny] {
            assert!(!seen.asked(), "a denial is never softened to a question");
        }
        if let Some(layers) = layers(row, &order) {
            let seen = layered(row, &layers).await;
            seen.expect(row);
        }
        // A task above that says the same narrows the same.
        assert!(wants.contains(&played(row, &order, true).await.decision()));
    }
}

/// The clauses as layers of rules, where they are named after who states them.
fn layers(row: &ScenarioRow, clauses: &[Clause]) -> Option<Vec<RuleLayer>> {
    let layer = |clause: &Clause| {
        let name = clause.name.to_lowercase();
        let source = match name.as_str() {
            "managed" | "org" | "organisation" | "organization" | "admin" => RuleSource::Organisation,
            "user" => RuleSource::User,
            "project" | "workspace" | "repo" => RuleSource::Project,
            _ if name.contains("skill") || name == "task" || name == "session" => RuleSource::Task,
            _ => return None,
        };
        let tool = tool_name(row);
        let rule = match clause.pattern.as_deref() {
            None => tool,
            Some(pattern) if pattern.starts_with("tool ") => tool,
            Some(pattern) => format!("{tool}({})", super::stage::in_root(pattern)),
        };
        let list = match clause.does {
            Does::Allows => "allow",
            Does::Asks => "ask",
            Does::Denies => "deny",
            _ => return None,
        };
        let file = serde_json::from_value(serde_json::json!({ list: [rule] })).unwrap();
        Some(RuleLayer { source, file_name: "rules.toml".to_owned(), file, may_widen: true })
    };
    clauses.iter().map(layer).collect()
}

async fn layered(row: &ScenarioRow, layers: &[RuleLayer]) -> Seen {
    let tool = scripted_tool(row);
    let specs = [tool.spec().clone()];
    let rules = LayeredRules::new(policy_name("rules"), layers, &specs, Mode::UNSTATED).unwrap();
    stage(row, &tool_name(row), &row.arguments()).tool(&tool).policy(rules).play().await
}

async fn played(row: &ScenarioRow, clauses: &[Clause], above: bool) -> Seen {
    let tool = scripted_tool(row);
    let mut stage = stage(row, &tool_name(row), &row.arguments()).tool(&tool);
    for clause in clauses {
        let is_rule =
            clause.pattern.is_some() && matches!(clause.does, Does::Allows | Does::Asks | Does::Denies);
        let policy = if is_rule {
            rules(clause, tool.spec())
        } else {
            Arc::new(policy(&clause.name, std::slice::from_ref(clause), &row.arguments(), 0))
        };
        if above { stage.above.push(policy) } else { stage.policies.push(policy) }
    }
    if above {
        stage = stage.policy(ScriptedPolicy::allowing());
    }
    stage.play().await
}

fn orders(clauses: &[Clause]) -> Vec<Vec<Clause>> {
    let Some((first, rest)) = clauses.split_first() else { return vec![Vec::new()] };
    let rest = orders(rest);
    let inserted = |order: &Vec<Clause>| {
        let at = |at: usize| {
            let mut order = order.clone();
            order.insert(at, first.clone());
            order
        };
        (0..=order.len()).map(at).collect::<Vec<_>>()
    };
    rest.iter().flat_map(inserted).collect()
}

/// Every set of up to four verdicts and every verdict that is added to it: never more is allowed than before.
fn monotone() {
    let said = |at: usize| {
        let reason = || "because".to_owned();
        match at {
            0 => Said::Verdict(Verdict::Allow { reason: reason() }),
            1 => Said::Verdict(Verdict::Ask { reason: reason() }),
            2 => Said::Verdict(Verdict::Deny { reason: reason() }),
            3 => Said::Verdict(Verdict::Abstain),
            _ => Said::Failed("it broke".to_owned()),
        }
    };
    let rank = |set: &[usize]| {
        let names: Vec<_> = (0..set.len()).map(|at| policy_name(&format!("p{at}"))).collect();
        let opinion = |(name, at): (&probity_contract::PolicyName, &usize)| Opinion {
            level: Level::OWN,
            policy: name.clone(),
            epoch: None,
            said: said(*at),
        };
        let opinions: Vec<Opinion> = names.iter().zip(set).map(opinion).collect();
        match Bench::of(Roster::new(names).unwrap()).rule(Seat::Adjudicate, &opinions) {
            Ruling::Allow => 0,
            Ruling::Ask(_) => 1,
            Ruling::Deny(_) => 2,
        }
    };
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    for size in 0..=4 {
        for set in sets.iter().filter(|set| set.len() == size) {
            for added in 0..5 {
                let with: Vec<usize> = set.iter().copied().chain([added]).collect();
                // Where nobody spoke at all the call was denied for want of anybody; the first who allows, allows. Nobody
                // who denied, failed or asked is overruled.
                let silent = set.iter().all(|at| *at == 3);
                assert!(silent || rank(&with) >= rank(set), "{set:?} and {added}");
            }
        }
        let longer: Vec<Vec<usize>> = sets
            .iter()
            .filter(|set| set.len() == size)
            .flat_map(|set| (0..5).map(move |added| set.iter().copied().chain([added]).collect()))
            .collect();
        sets.extend(longer);
    }
}

/// Interceptors that change a call: what was changed comes before everybody again, whoever was heard before, and that ends.
async fn changed(row: &ScenarioRow) {
    let words = row.policies();
    // `… transforms path a.txt->/etc/passwd`: from where, to where. Where nothing is named, the change goes on for ever.
    let arrow = words.iter().find_map(|words| words.split_once("->"));
    let to = arrow.map(|(_, to)| to.split_whitespace().next().unwrap_or_default().to_owned());
    let forbidden =
        words.iter().find_map(|words| words.split_once("denies ").map(|(_, what)| what.to_owned()));
    let path_of = |arguments: &Value| arguments["path"].as_str().unwrap_or_default().to_owned();
    let called = |name: &str| InterceptorName::new(name).unwrap();
    let changes = |name: &str| {
        let to = to.clone();
        FnInterceptor::at(called(name), Point::PreToolCall, move |occasion| {
            let before = path_of(occasion.target());
            let after = to.clone().unwrap_or(format!("{before}+"));
            Ok(HookVerdict::transform("rewritten", "$target.path", Value::from(after))?)
        })
    };
    let prefix = forbidden.map(|what| what.trim_end_matches('*').to_owned());
    let denies = FnInterceptor::at(called("P2"), Point::PreToolCall, move |occasion| {
        let denies = prefix.as_ref().is_some_and(|prefix| path_of(occasion.target()).starts_with(prefix));
        Ok(if denies { HookVerdict::deny("never there")? } else { HookVerdict::allow() })
    });
    // In the order of the row, where it names one: the one that denies looks first, and must look again.
    let other: Arc<dyn Interceptor> =
        if says(row, &["denies"]) { Arc::new(denies) } else { Arc::new(changes("P2")) };
    let tool = scripted_tool(row);
    let stage = stage(row, &tool_name(row), &row.arguments()).tool(&tool);
    let seen = stage
        .policy(ScriptedPolicy::allowing())
        .interceptor(other)
        .interceptor(Arc::new(changes("P1")))
        .play()
        .await;
    seen.expect(row);
    let rows = seen.facts().iter().filter(|fact| matches!(fact, Fact::Intercepted(_))).count();
    assert!((2..=16).contains(&rows), "looked at again, and not for ever: {rows}");
}
