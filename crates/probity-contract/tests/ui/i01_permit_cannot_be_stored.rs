use probity_contract::Permit;

fn read(text: &str) -> Result<Permit, serde_json::Error> {
    serde_json::from_str(text)
}

fn write(permit: &Permit) -> Result<String, serde_json::Error> {
    serde_json::to_string(permit)
}

fn main() {}
