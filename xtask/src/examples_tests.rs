use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// Runs a stand-in for the binary that is this shell script.
fn check(script: &str) -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("binary");
    fs::write(&binary, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o700)).unwrap();
    run_one(&binary, Path::new("examples/task.toml"), &folder.path().join("home"))
}

#[test]
fn a_task_is_run_by_name_and_prints_json() {
    check("[ \"$1 $2 $3\" = 'run examples/task.toml --json' ] && echo '{\"a\":1}' && echo '{\"b\":2}'")
        .unwrap();
}

#[test]
fn a_task_has_no_settings_and_no_network() {
    check("[ -z \"$XDG_CONFIG_HOME$OPENAI_API_KEY\" ] && [ -z \"$(ls -A $HOME)\" ] && [ $https_proxy = http://127.0.0.1:9 ] && echo 1")
        .unwrap();
}

#[test]
fn each_way_to_fail_is_seen() {
    for (script, expected) in
        [("echo bad >&2; exit 4", ": bad"), ("true", "is empty"), ("echo '{} nothing'", "not JSON")]
    {
        let error = format!("{:#}", check(script).unwrap_err());
        assert!(error.contains(expected), "`{script}`: {error}");
    }
}

#[test]
fn only_our_binary_is_taken() {
    let message = |name, is_test| {
        format!(r#"{{"target":{{"name":"{name}"}},"profile":{{"test":{is_test}}},"executable":"/x/{name}"}}"#)
    };
    assert_eq!(executable(&message("probity", false)), Some(PathBuf::from("/x/probity")));
    assert_eq!(executable(&message("probity", true)), None);
    assert_eq!(executable(&message("build-script-build", false)), None);
    assert_eq!(executable(&message("probity", false).replace("\"/x/probity\"", "null")), None);
    assert_eq!(executable("not json"), None);
}
