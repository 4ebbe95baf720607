use probity_contract::{Permit, Tool, ToolContext};

async fn run(tool: &dyn Tool, permit: Permit, cx: ToolContext) {
    let _ = tool.run(permit, cx.clone()).await;
    let _ = tool.run(permit, cx).await;
}

fn main() {}
