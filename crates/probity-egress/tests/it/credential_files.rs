//! Files in which programs keep credentials, each as its program writes it.

use probity_egress::{SamePrincipal, egress_text};

/// Nothing of `secrets` is left of `file`, all of `kept` is, and a second pass changes nothing.
fn file(file: &str, secrets: &[&str], kept: &[&str]) {
    let out = egress_text::<SamePrincipal>(file);
    for secret in secrets {
        assert!(file.contains(secret) && !out.as_str().contains(secret), "left {secret:?}: {}", out.as_str());
    }
    for kept in kept {
        assert!(out.as_str().contains(kept), "lost {kept:?}: {}", out.as_str());
    }
    assert_eq!(egress_text::<SamePrincipal>(out.as_str()), out, "twice");
}

#[test]
fn netrc() {
    file(
        "machine api.example.org\n  login bob\n  password hunter2xyz\nmachine b.example login al password Qx7vKt2wZp9L\n",
        &["hunter2xyz", "Qx7vKt2wZp9L"],
        &["machine api.example.org", "login bob", "login al"],
    );
}

#[test]
fn my_cnf() {
    file(
        "[client]\nuser=bob\npassword=\"tiger lily 7\"\nhost=db\n[mysqldump]\npassword=hunter2xyz\n",
        &["tiger lily 7", "hunter2xyz"],
        &["user=bob", "host=db"],
    );
}

#[test]
fn npmrc() {
    file(
        "registry=https://r.example/\n//r.example/:_authToken=Qx7vKt2wZp9LmR4sNb8cYd3f\n//r.example/:_password=aHVudGVyMnh5eg==\n_auth=Ym9iOmh1bnRlcjI=\nalways-auth=true\n",
        &["Qx7vKt2wZp9L", "aHVudGVyMnh5eg", "Ym9iOmh1bnRlcjI"],
        &["registry=https://r.example/", "always-auth=true"],
    );
}

#[test]
fn pypirc() {
    file(
        "[pypi]\nusername = __token__\npassword = pypi-AgEIcHlwaS5vcmcFAKEfake0NOTreal1FAKEfake0NOTreal1FAKEfake0NOTreal1FAKEfake0NOTreal1\n[own]\nusername = bob\npassword = hunter2xyz\n",
        &["FAKEfake0NOT", "hunter2xyz"],
        &["username = __token__", "username = bob"],
    );
}

#[test]
fn docker_config() {
    file(
        r#"{"auths":{"https://index.example/v1/":{"auth":"Ym9iOmh1bnRlcjI="},"r.example":{"username":"bob","password":"tigerwoods","auth":"Ym9iOnRpZ2Vyd29vZHM="}}}"#,
        &["Ym9iOmh1bnRlcjI", "tigerwoods", "Ym9iOnRpZ2Vyd29vZHM"],
        &["index.example", "\"username\":\"bob\""],
    );
}

#[test]
fn git_credentials() {
    file(
        "https://bob:hunter2@git.example\nhttps://oauth2:Qx7vKt2wZp9L@git.example\n",
        &["hunter2", "Qx7vKt2wZp9L"],
        &["https://bob:", "@git.example"],
    );
}

#[test]
fn htpasswd() {
    let digest = "FAKEfake0NOTreal1".repeat(4);
    let (apr, sha, crypt) = (&digest[..22], &digest[..28], &digest[..53]);
    file(
        &format!("ann:$apr1$salt$.{apr}\nbob:{{SHA}}{sha}\ncy:$2y$05${crypt}\n"),
        &[apr, sha, crypt],
        &["ann:", "bob:", "cy:"],
    );
}

#[test]
fn aws_credentials() {
    file(
        "[default]\naws_access_key_id = AKIAFAKE2KEY7FAKE2KE\naws_secret_access_key = FAKEfake0NOTreal1FAKEfake0NOTreal1FAKEfa\naws_session_token = FAKEfake0NOTreal1FAKEfake0NOTreal1FAKEfaFAKEfake0NOTreal1==\nregion = eu-west-1\n",
        &["AKIAFAKE2KEY7", "FAKEfake0NOT"],
        &["[default]", "region = eu-west-1"],
    );
}

#[test]
fn kubeconfig() {
    file(
        "users:\n- name: admin\n  user:\n    client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURJVENDQWdtZ0F3SUJBZ0lJ\n    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFb3dJQkFBS0NBUUVB\n    token: FAKEfake0NOTreal1FAKE\n",
        &["BSU0EgUFJJVkFURSBLRVkt", "FAKEfake0NOT"],
        &["name: admin", "client-certificate-data: LS0tLS1CRUdJTiBDRVJU"],
    );
}

#[test]
fn terraform_variables_and_state() {
    file(
        "db_password = \"hunter2xyz\"\nregion = \"eu-west-1\"\n",
        &["hunter2xyz"],
        &["region = \"eu-west-1\""],
    );
    file(
        "{\"outputs\": {\"db\": {\"value\": \"x9-orange\", \"type\": \"string\", \"sensitive\": true}},\n \"attributes\": {\"master_password\": \"tigerwoods\", \"engine\": \"postgres\"}}",
        &["x9-orange", "tigerwoods"],
        &["\"engine\": \"postgres\""],
    );
}
