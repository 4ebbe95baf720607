use std::sync::Arc;

use probity_contract::{FrozenCall, Tool, ToolContext};

async fn run(tool: &dyn Tool, call: Arc<FrozenCall>, cx: ToolContext) {
    let _ = tool.run(call, cx).await;
}

fn main() {}
