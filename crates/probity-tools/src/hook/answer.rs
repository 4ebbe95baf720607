use probity_contract::{Arguments, HookReasons, HookVerdict, NotAVerdict};
use serde_json::Value;

/// One line of a child: the question that it answers, and what it says.
pub(super) struct Answer {
    pub(super) id: u64,
    pub(super) said: Result<HookVerdict, NotAVerdict>,
}

impl Answer {
    /// Reads a line: an object with the members `id`, `verdict` and, where there is one, `extensions`.
    ///
    /// # Errors
    /// When it does not tell which question it answers. What is wrong behind a readable `id` is that answer's fault alone.
    pub(super) fn read(line: &[u8]) -> Result<Self, NotAVerdict> {
        let text =
            std::str::from_utf8(line).map_err(|_| NotAVerdict::of_shape("bytes that are not UTF-8"))?;
        let Ok(Value::Object(mut members)) = serde_json::from_str(text) else {
            let shape = HookVerdict::from_json(text, HookReasons::Required).err();
            return Err(shape.unwrap_or(NotAVerdict::of_shape("no object")));
        };
        // A member that stands twice means one thing to one reader and another to the next.
        if Arguments::parse(text).is_err() {
            return Err(NotAVerdict::of_shape("an object that readers could understand differently"));
        }
        let id = members.remove("id").as_ref().and_then(Value::as_u64);
        let id = id.ok_or(NotAVerdict::of_shape("an object without the `id` of a question"))?;
        let said = if members.contains_key("verdict") {
            HookVerdict::from_value(&Value::Object(members), HookReasons::Required)
        } else {
            Err(NotAVerdict::of_shape("an object without the member `verdict`"))
        };
        Ok(Self { id, said })
    }
}
