//! The conformance vectors of AGENT-HOOKS-0.1, each as a real run.
//!
//! What a vector brings (a scripted model, tools, interceptors, whoever approves) is given to a task as anybody would give it,
//! the task is run, and what the kit looks at is read off the record and the window afterwards.

mod declared;
mod harness;
mod peer;
mod rows;
mod scenario;
mod vectors;

use std::collections::BTreeMap;

use agent_hooks::ctk::run_vector;

use harness::ProbityHarness;
use vectors::Vector;

/// Vectors of the version that the kit has.
const VECTORS: usize = 75;

#[tokio::test]
async fn agent_hooks_conformance() {
    let Some(vectors) = Vector::all("agent_hooks_conformance") else { return };
    let mut parts: BTreeMap<String, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    for vector in &vectors {
        let mut harness = ProbityHarness::new(vector);
        let result = run_vector(&mut harness, &vector.value).await;
        let mut problems = result.failures;
        problems.extend(harness.unreported(vector));
        if result.status == "pass" && problems.is_empty() {
            *parts.entry(result.part).or_default() += 1;
        } else {
            failures.push(format!(
                "{} {} {}: {}",
                result.id,
                result.status,
                result.detail,
                problems.join("; ")
            ));
        }
    }
    let passed: usize = parts.values().sum();
    println!("{passed} of {} vectors pass, none skipped", vectors.len());
    for (part, count) in &parts {
        println!("  {count:>3} {}", if part.is_empty() { "core" } else { part });
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(passed, VECTORS);
}
