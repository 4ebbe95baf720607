use super::super::checks::{check, stays};

#[test]
fn the_next_line_is_the_rest() {
    for end in ["\n", "\r\n"] {
        let value = format!("Qx7vKt2wZp9L{end}mR4sNb8cYd3f");
        check(&format!("api_key=\"{value}\";"), "api_key=\"[REDACTED:api-key]\";");
        check(&format!("api_key: {value}{end}next"), &format!("api_key: [REDACTED:api-key]{end}next"));
    }
}

#[test]
fn the_next_line_is_another() {
    check("api_key=Qx7vKt2wZp9L\nPORT=8080\n", "api_key=[REDACTED:api-key]\nPORT=8080\n");
    check("api_key=Qx7vKt2wZp9L\nconfiguration\n", "api_key=[REDACTED:api-key]\nconfiguration\n");
    check("api_key=Qx7vKt2wZp9L\nuser mR4sNb8cYd3f\n", "api_key=[REDACTED:api-key]\nuser mR4sNb8cYd3f\n");
}

#[test]
fn a_hash_on_the_next_line_is_no_rest() {
    let sha = "0f3c9a1b7e2d4c5f8a6b9d0e1f2a3b4c5d6e7f80";
    check(&format!("api_key: Qx7vKt2wZp9L\n{sha}\n"), &format!("api_key: [REDACTED:api-key]\n{sha}\n"));
}

#[test]
fn what_a_shell_a_mailer_a_diff_and_a_block_put_around_a_break() {
    for around in ["\\\n", "=\r\n", "\n> ", "\n> > ", "\n+", "\n    ", "\\\n  "] {
        let value = format!("Qx7vKt2wZp9L{around}mR4sNb8cYd3f");
        check(&format!("api_key: {value}\nnext"), "api_key: [REDACTED:api-key]\nnext");
        check(&format!("api_key=\"{value}\";"), "api_key=\"[REDACTED:api-key]\";");
        let token = format!("glpat-FAKEfake0N{around}OTreal1FAK");
        check(&format!("at {token}\nnext"), "at [REDACTED:gitlab-token]\nnext");
    }
}

#[test]
fn a_token_that_is_none_on_one_line() {
    for end in ["\n", "\r\n", "\\n"] {
        check(&format!("AKIAQX7VKT{end}2WZP4LMR5S,"), "[REDACTED:aws-key-id],");
        let value = format!("ghp_Qx7vKt2wZp9LmR4s{end}Nb8cYd3fQx7vKt2wZp9L now");
        check(&value, "[REDACTED:github-token] now");
    }
    stays("glpat-FAKEfake0N\nanother line\n");
    stays("glpat-FAKEfake0N\n\nOTreal1FAK\n");
    check("AKIAQX7VKT\nAKIAQX7VKT2WZP4LMR5S\n", "AKIAQX7VKT\n[REDACTED:aws-key-id]\n");
}

#[test]
fn a_token_of_many_lines() {
    let line = "Qx7vKt2wZp9LmR4sNb8cYd3fHj5gTq6n".repeat(2);
    let header = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIx";
    check(&format!("{header}\n{line}\n{line}.{line}\nnext line\n"), "[REDACTED:jwt]\nnext line\n");
}

#[test]
fn a_token_may_break_behind_its_fixed_text_wherever_it_stands() {
    for before in ["", "x ", "xy "] {
        check(
            &format!("{before}glpat-\nFAKEfake0NOTreal1FA\n"),
            &format!("{before}[REDACTED:gitlab-token]\n"),
        );
    }
}
