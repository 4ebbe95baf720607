use super::super::checks::{check, stays};

#[test]
fn outputs_that_are_sensitive() {
    check(
        r#"{"db":{"value":"tiger-lily","type":"string","sensitive":true}}"#,
        r#"{"db":{"value":"[REDACTED:secret]","type":"string","sensitive":true}}"#,
    );
    check(
        "\"db\": {\n  \"sensitive\": true,\n  \"type\": \"string\",\n  \"value\": \"x9-orange\"\n}",
        "\"db\": {\n  \"sensitive\": true,\n  \"type\": \"string\",\n  \"value\": \"[REDACTED:secret]\"\n}",
    );
    stays(r#"{"db":{"value":"x9-orange","type":"string","sensitive":false}}"#);
    stays(r#"{"a":{"sensitive":true},"db":{"value":"x9-orange","type":"string"}}"#);
    stays(r#"{"db":{"value":"x9-orange"},"c":{"value":1,"sensitive":true}}"#);
}

#[test]
fn defaults_of_variables() {
    check(
        "variable \"db_password\" {\n  type    = string\n  default = \"hunter2xyz\"\n}",
        "variable \"db_password\" {\n  type    = string\n  default = \"[REDACTED:password]\"\n}",
    );
    stays("variable \"region\" {\n  default = \"eu-west-1\"\n}");
    stays("variable \"db_password\" {\n  type = string\n}\nx {\n  default = \"hunter2xyz\"\n}");
}
