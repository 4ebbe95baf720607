//! JSON Schemas and tool definitions derived from argument types.

use probity_contract::{Effect, ToolName, ToolSpec};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::setup::ToolSetupError;

/// The definition of a tool whose arguments are `T`.
pub(crate) fn spec<T: JsonSchema>(
    name: &str,
    description: impl Into<String>,
    effect: Effect,
) -> Result<ToolSpec, ToolSetupError> {
    Ok(ToolSpec {
        name: ToolName::new(name).map_err(|error| ToolSetupError::name(name, error))?,
        description: description.into(),
        input_schema: input_schema::<T>().map_err(|why| ToolSetupError::config(name, why))?,
        effect,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
    })
}

/// One self-contained object schema that accepts no unknown member: providers handle `$ref` unevenly, and a member that
/// no reader knows must not be judged as harmless and then mean something.
fn input_schema<T: JsonSchema>() -> Result<Value, &'static str> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    let object = schema.as_object_mut().ok_or("the arguments need an object schema")?;
    object.remove("title");
    if object.get("type").and_then(Value::as_str) != Some("object") {
        return Err("the arguments must be a struct with named fields");
    }
    object.entry("properties").or_insert_with(|| Value::Object(serde_json::Map::new()));
    object.insert("additionalProperties".to_owned(), Value::Bool(false));
    Ok(schema)
}
