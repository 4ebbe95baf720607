use super::super::checks::{check, stays};

#[test]
fn every_value_of_a_secret_goes() {
    check(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ntype: Opaque\ndata:\n  user: YWRtaW4=\n  tls.key: |\n    YWRt\n    YWRt\nimmutable: true\n",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ntype: Opaque\ndata:\n  [REDACTED:kubernetes-secret]\nimmutable: true\n",
    );
    check(
        "apiVersion: v1\ndata:\n  user: 'YWRtaW4='\n  x: \"\"\"\nkind: Secret\n",
        "apiVersion: v1\ndata:\n  user: 'YWRtaW4='\n  x: \"\"\"\nkind: Secret\n",
    );
    check(
        "items:\r\n- apiVersion: v1\r\n  data:\r\n    user: 'YWRtaW4='\r\n\r\n    b: YQ==\r\n  immutable: false\r\n  kind: Secret\r\n",
        "items:\r\n- apiVersion: v1\r\n  data:\r\n    [REDACTED:kubernetes-secret]\r\n  immutable: false\r\n  kind: Secret\r\n",
    );
    check(
        "+kind: Secret\n+stringData:\n+  a: tiger\n+  b: |\n+    c: lion\n+type: Opaque\n",
        "+kind: Secret\n+stringData:\n+  [REDACTED:kubernetes-secret]\n+type: Opaque\n",
    );
}

#[test]
fn a_long_value_is_one_as_well() {
    let value = "YWRtaW4h".repeat(2_000);
    check(
        &format!("kind: Secret\ndata:\n  ca.pem: {value}\n  b: YQ==\nx: y\n"),
        "kind: Secret\ndata:\n  [REDACTED:kubernetes-secret]\nx: y\n",
    );
}

#[test]
fn in_json_too() {
    check(
        r#"{"apiVersion":"v1","data":{"a":"YWRtaW4=","b":"YQ=="},"kind":"Secret"}"#,
        r#"{"apiVersion":"v1","data":{[REDACTED:kubernetes-secret]},"kind":"Secret"}"#,
    );
    check(
        "\"kind\": \"Secret\",\n\"stringData\": {\n  \"a\": \"x}\\\"y\",\n  \"b\": \"lion\"\n}\n",
        "\"kind\": \"Secret\",\n\"stringData\": {\n  [REDACTED:kubernetes-secret]}\n",
    );
    check(
        r#"last: "{\"data\":{\"a\":\"YWRtaW4=\"},\"kind\":\"Secret\"}""#,
        r#"last: "{\"data\":{[REDACTED:kubernetes-secret]},\"kind\":\"Secret\"}""#,
    );
}

#[test]
fn other_maps_stay() {
    stays("kind: ConfigMap\ndata:\n  user: YWRtaW4=\n");
    stays("data:\n  user: YWRtaW4=\nkind: ConfigMap\n---\nkind: Secret\n");
    stays("data:\n  user: YWRtaW4=\n---\nkind: Secret\n");
    stays("kind: SecretStore\ndata:\n  user: YWRtaW4=\n");
    stays("kind: Secret\ndata:\n  user: not base64\n");
    stays(r#"{"data":{"name":"Joan","city":"Rome"},"kind":"person"}"#);
    stays(r#"{"data":{"name":"John Doe"},"kind":"Secret"}"#);
    stays("data:\n  - one\n  - two\nkind: Secret\n");
}
