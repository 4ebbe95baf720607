/// One kind of token that its shape gives away.
///
/// The beginnings and lengths are facts the vendors publish. The examples are templates: `{20}` stands for twenty made-up
/// characters, so that no file of ours holds anything that looks issued.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) kind: &'static str,
    pub(crate) glue: Glue,
    pub(crate) parts: &'static [Part],
    /// Texts that must be redacted.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the table's own test"))]
    pub(crate) examples: &'static [&'static str],
    /// Texts that must stay.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the table's own test"))]
    pub(crate) lookalikes: &'static [&'static str],
}

impl Token {
    /// Whether a token of this kind can start with `c`.
    pub(crate) fn starts_with(&self, c: char) -> bool {
        match self.parts.first() {
            Some(Text(text)) => text.starts_with(c),
            Some(Run(class, _) | Exactly(class, _)) => class(c),
            None => false,
        }
    }
}

/// Whether the token is recognised with a letter or digit directly before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glue {
    /// Its beginning hardly occurs otherwise.
    Allowed,
    /// Its beginning is short or common: it must start a word.
    Refused,
}

/// A piece of a token. Pieces are matched in order, each as long as it goes, never undone.
#[derive(Debug)]
pub(crate) enum Part {
    /// Exactly this text.
    Text(&'static str),
    /// At least this many characters of a class.
    Run(fn(char) -> bool, usize),
    /// This many characters of a class, and what follows is not asked.
    Exactly(fn(char) -> bool, usize),
}

use Glue::{Allowed, Refused};
use Part::{Exactly, Run, Text};

fn alnum(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

fn word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn dotted(c: char) -> bool {
    word(c) || c == '.'
}

fn base64(c: char) -> bool {
    word(c) || matches!(c, '+' | '/' | '=')
}

fn entra(c: char) -> bool {
    dotted(c) || c == '~'
}

fn percent(c: char) -> bool {
    base64(c) || c == '%'
}

fn path(c: char) -> bool {
    word(c) || matches!(c, '/' | '@' | '.' | '%')
}

fn hex(c: char) -> bool {
    c.is_ascii_hexdigit()
}

fn upper(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit()
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

const fn token(
    kind: &'static str,
    glue: Glue,
    parts: &'static [Part],
    examples: &'static [&'static str],
    lookalikes: &'static [&'static str],
) -> Token {
    Token { kind, glue, parts, examples, lookalikes }
}

/// The table.
#[rustfmt::skip]
pub(crate) const TOKENS: &[Token] = &[
    token("github-token", Allowed, &[Text("ghp_"), Run(word, 30)], &["ghp_{30}"], &["ghp_ {20}", "ghp_{4} "]),
    token("github-token", Allowed, &[Text("gho_"), Run(word, 30)], &["gho_{30}"], &["gho_ {20}", "gho_{4} "]),
    token("github-token", Allowed, &[Text("ghu_"), Run(word, 30)], &["ghu_{30}"], &["ghu_ {20}", "ghu_{4} "]),
    token("github-token", Allowed, &[Text("ghs_"), Run(word, 30)], &["ghs_{30}"], &["ghs_ {20}", "ghs_{4} "]),
    token("github-token", Allowed, &[Text("ghr_"), Run(word, 30)], &["ghr_{30}"], &["ghr_ {20}", "ghr_{4} "]),
    token("github-token", Allowed, &[Text("github_pat_"), Run(word, 22)], &["github_pat_{22}"], &["github_pat_ {20}", "github_pat_{4} "]),
    token("gitlab-token", Allowed, &[Text("glpat-"), Run(dotted, 16)], &["glpat-{20}"], &["glpat- {20}", "glpat-{4} "]),
    token("gitlab-token", Allowed, &[Text("gloas-"), Run(word, 16)], &["gloas-{20}"], &["gloas- {20}", "gloas-{4} "]),
    token("gitlab-token", Allowed, &[Text("gldt-"), Run(word, 16)], &["gldt-{20}"], &["gldt- {20}", "gldt-{4} "]),
    token("gitlab-token", Allowed, &[Text("glrt-"), Run(word, 16)], &["glrt-{20}"], &["glrt- {20}", "glrt-{4} "]),
    token("gitlab-token", Allowed, &[Text("glcbt-"), Run(word, 16)], &["glcbt-{20}"], &["glcbt- {20}", "glcbt-{4} "]),
    token("gitlab-token", Allowed, &[Text("glptt-"), Run(word, 16)], &["glptt-{20}"], &["glptt- {20}", "glptt-{4} "]),
    token("gitlab-token", Allowed, &[Text("glft-"), Run(word, 16)], &["glft-{20}"], &["glft- {20}", "glft-{4} "]),
    token("gitlab-token", Allowed, &[Text("glimt-"), Run(word, 16)], &["glimt-{20}"], &["glimt- {20}", "glimt-{4} "]),
    token("gitlab-token", Allowed, &[Text("glagent-"), Run(word, 16)], &["glagent-{20}"], &["glagent- {20}", "glagent-{4} "]),
    token("gitlab-token", Allowed, &[Text("glsoat-"), Run(word, 16)], &["glsoat-{20}"], &["glsoat- {20}", "glsoat-{4} "]),
    token("gitlab-token", Allowed, &[Text("glffct-"), Run(word, 16)], &["glffct-{20}"], &["glffct- {20}", "glffct-{4} "]),
    token("gitlab-token", Allowed, &[Text("_gitlab_session="), Run(word, 16)], &["_gitlab_session={20}"], &["_gitlab_session= {20}", "_gitlab_session={4} "]),
    token("gitlab-token", Allowed, &[Text("GR1348941"), Run(word, 16)], &["GR1348941{20}"], &["GR1348941 {20}", "GR1348941{4} "]),
    token("aws-key-id", Refused, &[Text("AKIA"), Run(upper, 16)], &["AKIA{16:upper}"], &["AKIA{6:upper} ", "AKIANDPACIFICregion"]),
    token("aws-key-id", Refused, &[Text("ASIA"), Run(upper, 16)], &["ASIA{16:upper}"], &["ASIA{6:upper} ", "ASIANDPACIFICregion"]),
    token("aws-key-id", Refused, &[Text("ABIA"), Run(upper, 16)], &["ABIA{16:upper}"], &["ABIA{6:upper} ", "ABIANDPACIFICregion"]),
    token("aws-key-id", Refused, &[Text("ACCA"), Run(upper, 16)], &["ACCA{16:upper}"], &["ACCA{6:upper} ", "ACCANDPACIFICregion"]),
    token("aws-bedrock-key", Refused, &[Text("ABSK"), Run(base64, 100)], &["ABSK{100}"], &["ABSK {20}", "ABSK{4} "]),
    token("slack-token", Allowed, &[Text("xoxb-"), Run(word, 10)], &["xoxb-{12:digit}-{20}"], &["xoxb- ", "xoxb-abc "]),
    token("slack-token", Allowed, &[Text("xoxp-"), Run(word, 10)], &["xoxp-{12:digit}-{20}"], &["xoxp- ", "xoxp-abc "]),
    token("slack-token", Allowed, &[Text("xoxa-"), Run(word, 10)], &["xoxa-{12:digit}-{20}"], &["xoxa- ", "xoxa-abc "]),
    token("slack-token", Allowed, &[Text("xoxr-"), Run(word, 10)], &["xoxr-{12:digit}-{20}"], &["xoxr- ", "xoxr-abc "]),
    token("slack-token", Allowed, &[Text("xoxs-"), Run(word, 10)], &["xoxs-{12:digit}-{20}"], &["xoxs- ", "xoxs-abc "]),
    token("slack-token", Allowed, &[Text("xoxe-"), Run(word, 10)], &["xoxe-{12:digit}-{20}"], &["xoxe- ", "xoxe-abc "]),
    token("slack-token", Allowed, &[Text("xoxc-"), Run(word, 10)], &["xoxc-{12:digit}-{20}"], &["xoxc- ", "xoxc-abc "]),
    token("slack-token", Allowed, &[Text("xoxd-"), Run(word, 10)], &["xoxd-{12:digit}-{20}"], &["xoxd- ", "xoxd-abc "]),
    token("slack-token", Allowed, &[Text("xoxe.xoxp-"), Run(word, 10)], &["xoxe.xoxp-{12:digit}-{20}"], &["xoxe.xoxp- ", "xoxe.xoxp-abc "]),
    token("slack-token", Allowed, &[Text("xoxe.xoxb-"), Run(word, 10)], &["xoxe.xoxb-{12:digit}-{20}"], &["xoxe.xoxb- ", "xoxe.xoxb-abc "]),
    token("slack-token", Allowed, &[Text("xapp-"), Run(word, 14)], &["xapp-{20}"], &["xapp-one "]),
    token("slack-webhook", Allowed, &[Text("hooks.slack.com/"), Run(word, 5), Text("/"), Run(path, 16)], &["https://hooks.slack.com/services/{9:upper}/{9:upper}/{24}"], &["https://hooks.slack.com/docs "]),
    token("stripe-key", Allowed, &[Text("sk_live_"), Run(word, 10)], &["sk_live_{20}"], &["sk_live_ {20}", "sk_live_{4} "]),
    token("stripe-key", Allowed, &[Text("sk_test_"), Run(word, 10)], &["sk_test_{20}"], &["sk_test_ {20}", "sk_test_{4} "]),
    token("stripe-key", Allowed, &[Text("rk_live_"), Run(word, 10)], &["rk_live_{20}"], &["rk_live_ {20}", "rk_live_{4} "]),
    token("stripe-key", Allowed, &[Text("rk_test_"), Run(word, 10)], &["rk_test_{20}"], &["rk_test_ {20}", "rk_test_{4} "]),
    token("stripe-key", Allowed, &[Text("sk_prod_"), Run(word, 10)], &["sk_prod_{20}"], &["sk_prod_ {20}", "sk_prod_{4} "]),
    token("stripe-key", Allowed, &[Text("rk_prod_"), Run(word, 10)], &["rk_prod_{20}"], &["rk_prod_ {20}", "rk_prod_{4} "]),
    token("webhook-secret", Allowed, &[Text("whsec_"), Run(base64, 20)], &["whsec_{20}"], &["whsec_ {20}", "whsec_{4} "]),
    token("openai-key", Allowed, &[Text("sk-proj-"), Run(word, 20)], &["sk-proj-{20}"], &["sk-proj- {20}", "sk-proj-{4} "]),
    token("openai-key", Allowed, &[Text("sk-svcacct-"), Run(word, 20)], &["sk-svcacct-{20}"], &["sk-svcacct- {20}", "sk-svcacct-{4} "]),
    token("openai-key", Allowed, &[Text("sk-admin-"), Run(word, 20)], &["sk-admin-{20}"], &["sk-admin- {20}", "sk-admin-{4} "]),
    token("openai-key", Allowed, &[Text("sk-None-"), Run(word, 20)], &["sk-None-{20}"], &["sk-None- {20}", "sk-None-{4} "]),
    token("anthropic-key", Allowed, &[Text("sk-ant-"), Run(word, 20)], &["sk-ant-{20}"], &["sk-ant-api03 "]),
    token("openrouter-key", Allowed, &[Text("sk-or-"), Run(word, 24)], &["sk-or-{24}"], &["sk-or- {20}", "sk-or-{4} "]),
    token("openai-key", Refused, &[Text("sk-"), Run(alnum, 20)], &["sk-{48}"], &["sk-learn ", "scikit sk-learn-{20}"]),
    token("google-api-key", Allowed, &[Text("AIza"), Run(word, 30)], &["AIza{30}"], &["AIza {35}"]),
    token("google-oauth-token", Allowed, &[Text("ya29."), Run(word, 20)], &["ya29.{20}"], &["ya29. {20}", "ya29.{4} "]),
    token("google-oauth-secret", Allowed, &[Text("GOCSPX-"), Run(word, 20)], &["GOCSPX-{20}"], &["GOCSPX- {20}", "GOCSPX-{4} "]),
    token("google-refresh-token", Refused, &[Text("1//0"), Run(word, 30)], &["1//0{40}"], &["1//0 and"]),
    token("google-api-key", Refused, &[Text("AQ.Ab8"), Run(word, 30)], &["AQ.Ab8{40}"], &["AQ.Ab8 "]),
    token("npm-token", Allowed, &[Text("npm_"), Run(alnum, 30)], &["npm_{30}"], &["npm_config_registry ", "npm_lifecycle_event=test"]),
    token("pypi-token", Allowed, &[Text("pypi-AgE"), Run(word, 40)], &["pypi-AgE{40}"], &["pypi-AgE {20}", "pypi-AgE{4} "]),
    token("rubygems-key", Allowed, &[Text("rubygems_"), Run(hex, 40)], &["rubygems_{40:hex}"], &["rubygems_ {20:hex}", "rubygems_{4:hex} "]),
    token("clojars-token", Allowed, &[Text("CLOJARS_"), Run(hex, 50)], &["CLOJARS_{50:hex}"], &["CLOJARS_ {20:hex}", "CLOJARS_{4:hex} "]),
    token("crates-io-token", Refused, &[Text("cio"), Run(alnum, 32)], &["cio{32}"], &["cio{10} "]),
    token("docker-token", Allowed, &[Text("dckr_pat_"), Run(word, 20)], &["dckr_pat_{20}"], &["dckr_pat_ {20}", "dckr_pat_{4} "]),
    token("docker-token", Allowed, &[Text("dckr_oat_"), Run(word, 20)], &["dckr_oat_{20}"], &["dckr_oat_ {20}", "dckr_oat_{4} "]),
    token("docker-swarm-token", Allowed, &[Text("SWMTKN-1-"), Run(word, 40)], &["SWMTKN-1-{40}"], &["SWMTKN-1- {20}", "SWMTKN-1-{4} "]),
    token("secret-key", Refused, &[Text("sk_"), Run(hex, 40)], &["sk_{48:hex}"], &["sk_name "]),
    token("branch-key", Refused, &[Text("key_live_"), Run(alnum, 24)], &["key_live_{32}"], &["key_live_short "]),
    token("heroku-key", Refused, &[Text("HRKU-"), Run(word, 32)], &["HRKU-{58}"], &["HRKU-a "]),
    token("docker-swarm-token", Allowed, &[Text("SWMKEY-1-"), Run(word, 30)], &["SWMKEY-1-{43}"], &["SWMKEY-1-a "]),
    token("sendgrid-key", Allowed, &[Text("SG."), Run(word, 16), Text("."), Run(word, 30)], &["SG.{22}.{43}"], &["SG.com ", "SG.{5}.{43}"]),
    token("twilio-key", Refused, &[Text("SK"), Run(hex, 32)], &["SK{32:hex}"], &["SK{10:hex} "]),
    token("twilio-sid", Refused, &[Text("AC"), Run(hex, 32)], &["AC{32:hex}"], &["AC{10:hex} "]),
    token("telegram-token", Refused, &[Run(digit, 8), Text(":AA"), Run(word, 30)], &["{10:digit}:AA{33}"], &["{10:digit}:AB{33}", "{3:digit}:AA{33}"]),
    token("discord-token", Refused, &[Text("M"), Run(word, 22), Text("."), Run(word, 6), Text("."), Run(word, 27)], &["M{25}.{6}.{38}"], &["Module.name.{27}"]),
    token("discord-token", Refused, &[Text("N"), Run(word, 22), Text("."), Run(word, 6), Text("."), Run(word, 27)], &["N{25}.{6}.{38}"], &["Name.other.{27}"]),
    token("discord-token", Refused, &[Text("O"), Run(word, 22), Text("."), Run(word, 6), Text("."), Run(word, 27)], &["O{25}.{6}.{38}"], &["Other.name.{27}"]),
    token("discord-webhook", Allowed, &[Text("discord.com/api/webhooks/"), Run(digit, 10), Text("/"), Run(word, 30)], &["https://discord.com/api/webhooks/{18:digit}/{68}"], &["https://discord.com/api/guilds/{18:digit}"]),
    token("discord-webhook", Allowed, &[Text("discordapp.com/api/webhooks/"), Run(digit, 10), Text("/"), Run(word, 30)], &["https://discordapp.com/api/webhooks/{18:digit}/{68}"], &["https://discordapp.com/api/guilds/{18:digit}"]),
    token("digitalocean-token", Allowed, &[Text("dop_v1_"), Run(hex, 40)], &["dop_v1_{40:hex}"], &["dop_v1_ {20:hex}", "dop_v1_{4:hex} "]),
    token("digitalocean-token", Allowed, &[Text("doo_v1_"), Run(hex, 40)], &["doo_v1_{40:hex}"], &["doo_v1_ {20:hex}", "doo_v1_{4:hex} "]),
    token("digitalocean-token", Allowed, &[Text("dor_v1_"), Run(hex, 40)], &["dor_v1_{40:hex}"], &["dor_v1_ {20:hex}", "dor_v1_{4:hex} "]),
    token("huggingface-token", Refused, &[Text("hf_"), Run(alnum, 30)], &["hf_{30}"], &["hf_hub_download "]),
    token("huggingface-token", Refused, &[Text("api_org_"), Run(alnum, 30)], &["api_org_{30}"], &["api_org_name "]),
    token("groq-key", Refused, &[Text("gsk_"), Run(alnum, 40)], &["gsk_{40}"], &["gsk_ {20}", "gsk_{4} "]),
    token("xai-key", Refused, &[Text("xai-"), Run(word, 40)], &["xai-{40}"], &["xai-grok-beta "]),
    token("perplexity-key", Refused, &[Text("pplx-"), Run(alnum, 30)], &["pplx-{30}"], &["pplx- {20}", "pplx-{4} "]),
    token("cerebras-key", Refused, &[Text("csk-"), Run(alnum, 40)], &["csk-{40}"], &["csk- {20}", "csk-{4} "]),
    token("fireworks-key", Refused, &[Text("fw_"), Run(alnum, 24)], &["fw_{24}"], &["fw_ {20}", "fw_{4} "]),
    token("replicate-token", Refused, &[Text("r8_"), Run(alnum, 36)], &["r8_{36}"], &["r8_ {20}", "r8_{4} "]),
    token("nvidia-key", Allowed, &[Text("nvapi-"), Run(word, 40)], &["nvapi-{40}"], &["nvapi- {20}", "nvapi-{4} "]),
    token("together-key", Allowed, &[Text("tgp_v1_"), Run(word, 36)], &["tgp_v1_{36}"], &["tgp_v1_ {20}", "tgp_v1_{4} "]),
    token("jina-key", Refused, &[Text("jina_"), Run(word, 40)], &["jina_{40}"], &["jina_ {20}", "jina_{4} "]),
    token("langsmith-key", Allowed, &[Text("lsv2_"), Run(word, 30)], &["lsv2_{30}"], &["lsv2_ {20}", "lsv2_{4} "]),
    token("tavily-key", Refused, &[Text("tvly-"), Run(word, 20)], &["tvly-{20}"], &["tvly-python "]),
    token("firecrawl-key", Refused, &[Text("fc-"), Run(hex, 32)], &["fc-{32:hex}"], &["fc- {20:hex}", "fc-{4:hex} "]),
    token("databricks-token", Refused, &[Text("dapi"), Run(hex, 32)], &["dapi{32:hex}"], &["dapi {20:hex}", "dapi{4:hex} "]),
    token("grafana-token", Allowed, &[Text("glsa_"), Run(word, 32)], &["glsa_{32}"], &["glsa_ {20}", "glsa_{4} "]),
    token("grafana-token", Refused, &[Text("glc_"), Run(base64, 32)], &["glc_{32}"], &["glc_ {20}", "glc_{4} "]),
    token("newrelic-key", Allowed, &[Text("NRAK-"), Run(alnum, 27)], &["NRAK-{27}"], &["NRAK- {20}", "NRAK-{4} "]),
    token("newrelic-key", Allowed, &[Text("NRJS-"), Run(alnum, 19)], &["NRJS-{20}"], &["NRJS- {20}", "NRJS-{4} "]),
    token("newrelic-key", Allowed, &[Text("NRII-"), Run(word, 30)], &["NRII-{30}"], &["NRII- {20}", "NRII-{4} "]),
    token("newrelic-key", Allowed, &[Text("NRRA-"), Run(alnum, 40)], &["NRRA-{40}"], &["NRRA- {20}", "NRRA-{4} "]),
    token("sentry-token", Allowed, &[Text("sntrys_"), Run(base64, 40)], &["sntrys_{40}"], &["sntrys_ {20}", "sntrys_{4} "]),
    token("sentry-token", Allowed, &[Text("sntryu_"), Run(hex, 60)], &["sntryu_{60:hex}"], &["sntryu_ {20:hex}", "sntryu_{4:hex} "]),
    token("sentry-dsn", Refused, &[Text("https://"), Run(hex, 32), Text("@"), Run(path, 8)], &["https://{32:hex}@o1.ingest.sentry.io/1"], &["https://{8:hex}@host"]),
    token("linear-key", Allowed, &[Text("lin_api_"), Run(alnum, 32)], &["lin_api_{32}"], &["lin_api_ {20}", "lin_api_{4} "]),
    token("linear-key", Allowed, &[Text("lin_oauth_"), Run(alnum, 32)], &["lin_oauth_{32}"], &["lin_oauth_ {20}", "lin_oauth_{4} "]),
    token("notion-token", Refused, &[Text("ntn_"), Run(alnum, 40)], &["ntn_{40}"], &["ntn_ {20}", "ntn_{4} "]),
    token("notion-token", Refused, &[Text("secret_"), Run(alnum, 40)], &["secret_{43}"], &["secret_name ", "secret_{20}"]),
    token("shopify-token", Allowed, &[Text("shpat_"), Run(hex, 30)], &["shpat_{30:hex}"], &["shpat_ {20:hex}", "shpat_{4:hex} "]),
    token("shopify-token", Allowed, &[Text("shpca_"), Run(hex, 30)], &["shpca_{30:hex}"], &["shpca_ {20:hex}", "shpca_{4:hex} "]),
    token("shopify-token", Allowed, &[Text("shppa_"), Run(hex, 30)], &["shppa_{30:hex}"], &["shppa_ {20:hex}", "shppa_{4:hex} "]),
    token("shopify-token", Allowed, &[Text("shpss_"), Run(hex, 30)], &["shpss_{30:hex}"], &["shpss_ {20:hex}", "shpss_{4:hex} "]),
    token("shopify-token", Allowed, &[Text("shptka_"), Run(hex, 30)], &["shptka_{30:hex}"], &["shptka_ {20:hex}", "shptka_{4:hex} "]),
    token("square-token", Allowed, &[Text("sq0atp-"), Run(word, 20)], &["sq0atp-{20}"], &["sq0atp- {20}", "sq0atp-{4} "]),
    token("square-token", Allowed, &[Text("sq0csp-"), Run(word, 20)], &["sq0csp-{20}"], &["sq0csp- {20}", "sq0csp-{4} "]),
    token("square-token", Allowed, &[Text("sq0idp-"), Run(word, 20)], &["sq0idp-{20}"], &["sq0idp- {20}", "sq0idp-{4} "]),
    token("square-token", Refused, &[Text("EAAA"), Run(word, 56)], &["EAAA{56}"], &["EAAA {20}", "EAAA{4} "]),
    token("atlassian-token", Allowed, &[Text("ATATT3"), Run(base64, 60)], &["ATATT3{60}"], &["ATATT3 {20}", "ATATT3{4} "]),
    token("atlassian-token", Allowed, &[Text("ATCTT3"), Run(base64, 60)], &["ATCTT3{60}"], &["ATCTT3 {20}", "ATCTT3{4} "]),
    token("bitbucket-token", Refused, &[Text("ATBB"), Run(alnum, 30)], &["ATBB{30}"], &["ATBB {20}", "ATBB{4} "]),
    token("cloudflare-key", Refused, &[Text("v1.0-"), Run(word, 100)], &["v1.0-{24:hex}-{146:hex}"], &["v1.0-beta "]),
    token("vault-token", Allowed, &[Text("hvs."), Run(word, 20)], &["hvs.{20}"], &["hvs. {20}", "hvs.{4} "]),
    token("vault-token", Allowed, &[Text("hvb."), Run(word, 20)], &["hvb.{20}"], &["hvb. {20}", "hvb.{4} "]),
    token("vault-token", Allowed, &[Text("hvr."), Run(word, 20)], &["hvr.{20}"], &["hvr. {20}", "hvr.{4} "]),
    token("doppler-token", Allowed, &[Text("dp.pt."), Run(dotted, 40)], &["dp.pt.{40}"], &["dp.pt. {20}", "dp.pt.{4} "]),
    token("doppler-token", Allowed, &[Text("dp.st."), Run(dotted, 40)], &["dp.st.{40}"], &["dp.st. {20}", "dp.st.{4} "]),
    token("doppler-token", Allowed, &[Text("dp.ct."), Run(dotted, 40)], &["dp.ct.{40}"], &["dp.ct. {20}", "dp.ct.{4} "]),
    token("doppler-token", Allowed, &[Text("dp.sa."), Run(dotted, 40)], &["dp.sa.{40}"], &["dp.sa. {20}", "dp.sa.{4} "]),
    token("doppler-token", Allowed, &[Text("dp.scim."), Run(dotted, 40)], &["dp.scim.{40}"], &["dp.scim. {20}", "dp.scim.{4} "]),
    token("doppler-token", Allowed, &[Text("dp.audit."), Run(dotted, 40)], &["dp.audit.{40}"], &["dp.audit. {20}", "dp.audit.{4} "]),
    token("pulumi-token", Refused, &[Text("pul-"), Run(hex, 40)], &["pul-{40:hex}"], &["pul- {20:hex}", "pul-{4:hex} "]),
    token("postman-key", Allowed, &[Text("PMAK-"), Run(word, 40)], &["PMAK-{40}"], &["PMAK- {20}", "PMAK-{4} "]),
    token("figma-token", Refused, &[Text("figd_"), Run(word, 36)], &["figd_{36}"], &["figd_ {20}", "figd_{4} "]),
    token("netlify-token", Refused, &[Text("nfp_"), Run(alnum, 36)], &["nfp_{36}"], &["nfp_ {20}", "nfp_{4} "]),
    token("fly-token", Allowed, &[Text("FlyV1 "), Run(base64, 60)], &["FlyV1 {60}"], &["FlyV1  {20}", "FlyV1 {4} "]),
    token("fly-token", Refused, &[Text("fo1_"), Run(word, 40)], &["fo1_{40}"], &["fo1_ {20}", "fo1_{4} "]),
    token("fly-token", Refused, &[Text("fm2_"), Run(base64, 60)], &["fm2_{60}"], &["fm2_ {20}", "fm2_{4} "]),
    token("planetscale-token", Allowed, &[Text("pscale_pw_"), Run(dotted, 30)], &["pscale_pw_{30}"], &["pscale_pw_ {20}", "pscale_pw_{4} "]),
    token("planetscale-token", Allowed, &[Text("pscale_tkn_"), Run(dotted, 30)], &["pscale_tkn_{30}"], &["pscale_tkn_ {20}", "pscale_tkn_{4} "]),
    token("planetscale-token", Allowed, &[Text("pscale_oauth_"), Run(dotted, 30)], &["pscale_oauth_{30}"], &["pscale_oauth_ {20}", "pscale_oauth_{4} "]),
    token("render-key", Refused, &[Text("rnd_"), Run(alnum, 28)], &["rnd_{28}"], &["rnd_ {20}", "rnd_{4} "]),
    token("supabase-token", Refused, &[Text("sbp_"), Run(alnum, 28)], &["sbp_{28}"], &["sbp_ {20}", "sbp_{4} "]),
    token("supabase-token", Allowed, &[Text("sb_secret_"), Run(word, 20)], &["sb_secret_{20}"], &["sb_secret_ {20}", "sb_secret_{4} "]),
    token("shippo-token", Allowed, &[Text("shippo_live_"), Run(hex, 36)], &["shippo_live_{36:hex}"], &["shippo_live_ {20:hex}", "shippo_live_{4:hex} "]),
    token("shippo-token", Allowed, &[Text("shippo_test_"), Run(hex, 36)], &["shippo_test_{36:hex}"], &["shippo_test_ {20:hex}", "shippo_test_{4:hex} "]),
    token("razorpay-key", Allowed, &[Text("rzp_live_"), Run(alnum, 14)], &["rzp_live_{20}"], &["rzp_live_ {20}", "rzp_live_{4} "]),
    token("razorpay-key", Allowed, &[Text("rzp_test_"), Run(alnum, 14)], &["rzp_test_{20}"], &["rzp_test_ {20}", "rzp_test_{4} "]),
    token("easypost-key", Refused, &[Text("EZAK"), Run(alnum, 54)], &["EZAK{54}"], &["EZAK {20}", "EZAK{4} "]),
    token("easypost-key", Refused, &[Text("EZTK"), Run(alnum, 54)], &["EZTK{54}"], &["EZTK {20}", "EZTK{4} "]),
    token("brevo-key", Allowed, &[Text("xkeysib-"), Run(word, 64)], &["xkeysib-{64}"], &["xkeysib- {20}", "xkeysib-{4} "]),
    token("brevo-key", Allowed, &[Text("xsmtpsib-"), Run(word, 64)], &["xsmtpsib-{64}"], &["xsmtpsib- {20}", "xsmtpsib-{4} "]),
    token("mailgun-key", Refused, &[Text("key-"), Run(hex, 32)], &["key-{32:hex}"], &["key- {20:hex}", "key-{4:hex} "]),
    token("resend-key", Refused, &[Text("re_"), Run(word, 30)], &["re_{30}"], &["re_export_this "]),
    token("mailchimp-key", Refused, &[Run(hex, 32), Text("-us"), Run(digit, 1)], &["{32:hex}-us12"], &["{32:hex}-eu12"]),
    token("dynatrace-token", Allowed, &[Text("dt0c01."), Run(dotted, 60)], &["dt0c01.{60}"], &["dt0c01. {20}", "dt0c01.{4} "]),
    token("dynatrace-token", Allowed, &[Text("dt0s01."), Run(dotted, 60)], &["dt0s01.{60}"], &["dt0s01. {20}", "dt0s01.{4} "]),
    token("age-key", Allowed, &[Text("AGE-SECRET-KEY-1"), Run(upper, 50)], &["AGE-SECRET-KEY-1{50:upper}"], &["AGE-SECRET-KEY-1{4:upper} "]),
    token("sourcegraph-token", Refused, &[Text("sgp_"), Run(word, 40)], &["sgp_{40}"], &["sgp_ {20}", "sgp_{4} "]),
    token("apify-token", Allowed, &[Text("apify_api_"), Run(alnum, 30)], &["apify_api_{30}"], &["apify_api_ {20}", "apify_api_{4} "]),
    token("nuget-key", Refused, &[Text("oy2"), Run(alnum, 43)], &["oy2{43}"], &["oy2 {20}", "oy2{4} "]),
    token("artifactory-key", Refused, &[Text("AKCp"), Run(alnum, 60)], &["AKCp{60}"], &["AKCp {20}", "AKCp{4} "]),
    token("artifactory-key", Refused, &[Text("cmVmdGtuO"), Run(base64, 40)], &["cmVmdGtuO{40}"], &["cmVmdGtuO {20}", "cmVmdGtuO{4} "]),
    token("alibaba-key-id", Refused, &[Text("LTAI"), Run(alnum, 16)], &["LTAI{20}"], &["LTAI {20}", "LTAI{4} "]),
    token("yandex-key", Refused, &[Text("AQVN"), Run(word, 34)], &["AQVN{34}"], &["AQVN {20}", "AQVN{4} "]),
    token("yandex-token", Refused, &[Text("t1."), Run(base64, 80)], &["t1.{80}"], &["t1. {20}", "t1.{4} "]),
    token("yandex-key", Refused, &[Text("YCAJ"), Run(word, 21)], &["YCAJ{21}"], &["YCAJ {20}", "YCAJ{4} "]),
    token("readme-key", Refused, &[Text("rdme_"), Run(alnum, 60)], &["rdme_{60}"], &["rdme_ {20}", "rdme_{4} "]),
    token("typeform-token", Refused, &[Text("tfp_"), Run(word, 50)], &["tfp_{50}"], &["tfp_ {20}", "tfp_{4} "]),
    token("duffel-token", Allowed, &[Text("duffel_live_"), Run(word, 30)], &["duffel_live_{30}"], &["duffel_live_ {20}", "duffel_live_{4} "]),
    token("duffel-token", Allowed, &[Text("duffel_test_"), Run(word, 30)], &["duffel_test_{30}"], &["duffel_test_ {20}", "duffel_test_{4} "]),
    token("flutterwave-key", Allowed, &[Text("FLWSECK"), Run(word, 20)], &["FLWSECK{20}"], &["FLWSECK {20}", "FLWSECK{4} "]),
    token("xata-key", Refused, &[Text("xau_"), Run(alnum, 50)], &["xau_{50}"], &["xau_ {20}", "xau_{4} "]),
    token("posthog-key", Refused, &[Text("phx_"), Run(word, 36)], &["phx_{36}"], &["phx_ {20}", "phx_{4} "]),
    token("prefect-key", Refused, &[Text("pnu_"), Run(alnum, 36)], &["pnu_{36}"], &["pnu_ {20}", "pnu_{4} "]),
    token("facebook-token", Allowed, &[Text("EAACEdEose0cBA"), Run(alnum, 20)], &["EAACEdEose0cBA{20}"], &["EAACEdEose0cBA {20}", "EAACEdEose0cBA{4} "]),
    token("instagram-token", Refused, &[Text("IGQV"), Run(word, 60)], &["IGQV{60}"], &["IGQV {20}", "IGQV{4} "]),
    token("openshift-token", Refused, &[Text("sha256~"), Run(word, 40)], &["sha256~{40}"], &["sha256~ {20}", "sha256~{4} "]),
    token("contentful-token", Allowed, &[Text("CFPAT-"), Run(word, 40)], &["CFPAT-{40}"], &["CFPAT- {20}", "CFPAT-{4} "]),
    token("dropbox-token", Refused, &[Text("sl."), Run(word, 100)], &["sl.{130}"], &["sl.name "]),
    token("hubspot-token", Refused, &[Text("pat-na1-"), Run(word, 30)], &["pat-na1-{30}"], &["pat-na1- {20}", "pat-na1-{4} "]),
    token("hubspot-token", Refused, &[Text("pat-eu1-"), Run(word, 30)], &["pat-eu1-{30}"], &["pat-eu1- {20}", "pat-eu1-{4} "]),
    token("zuplo-key", Refused, &[Text("zpka_"), Run(word, 36)], &["zpka_{36}"], &["zpka_ {20}", "zpka_{4} "]),
    token("onepassword-token", Allowed, &[Text("ops_eyJ"), Run(base64, 100)], &["ops_eyJ{100}"], &["ops_eyJ {20}", "ops_eyJ{4} "]),
    token("onepassword-key", Refused, &[Text("A3-"), Run(word, 30)], &["A3-{6:upper}-{11:upper}-{5:upper}-{5:upper}-{5:upper}"], &["A3-size "]),
    token("azure-secret", Refused, &[Text("AccountKey="), Run(base64, 40)], &["AccountKey={86}=="], &["AccountKey=$key "]),
    token("azure-sas", Refused, &[Text("sig="), Run(percent, 36)], &["?sv=1&sig={43}%3D&se=2"], &["sig=abc "]),
    token("azure-client-secret", Refused, &[Exactly(entra, 3), Exactly(digit, 1), Text("Q~"), Run(entra, 31)], &["{3}8Q~{34}"], &["{3}8Q~{6} "]),
    token("jwt", Refused, &[Text("eyJ"), Run(word, 10), Text(".eyJ"), Run(dotted, 16)], &["eyJ{30}.eyJ{40}.{43}", "eyJ{30}.eyJ{900}.{43}"], &["eyJ{30}.exe"]),
    token("jwt", Refused, &[Text("eyJ"), Run(word, 10), Text("."), Run(word, 8), Text("."), Run(word, 10)], &["eyJ{30}.{40}.{43}"], &["eyJ{30} ", "eyJ{5}.js"]),
    token("jwe", Refused, &[Text("eyJ"), Run(word, 10), Text(".."), Run(word, 8), Text("."), Run(word, 8)], &["eyJ{30}..{16}.{40}"], &["eyJ{30}... "]),
    token("teams-webhook", Allowed, &[Text(".webhook.office.com/webhookb2/"), Run(path, 40)], &["https://x.webhook.office.com/webhookb2/{36}@{36}"], &["x.webhook.office.com/about "]),
    token("zapier-webhook", Allowed, &[Text("hooks.zapier.com/hooks/catch/"), Run(path, 12)], &["https://hooks.zapier.com/hooks/catch/{8:digit}/{10}/"], &["hooks.zapier.com/docs "]),
];

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
