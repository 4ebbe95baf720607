use super::super::checks::{check, stays};

#[test]
fn a_user_flag_goes_with_its_user_and_quotes() {
    check("curl -u bob:Qx7v x", "curl -u [REDACTED:password] x");
    check("curl --user \"bob:Qx7v#\" x", "curl --user [REDACTED:password] x");
    check("curl --user bob:'Qx7v#' x", "curl --user [REDACTED:password] x");
    check("curl --user \":Qx7v#\" x", "curl --user [REDACTED:password] x");
    check("curl -ubob:Qx7v# x", "curl -ubob:[REDACTED:password] x");
    stays("docker run -u 1000:1000 x");
    stays("curl -u \"$USER:$PASS\" x");
}

#[test]
fn words_in_lists_of_pairs() {
    check("jdbc:x://h/db?user=app&password=weak", "jdbc:x://h/db?user=app&password=[REDACTED:password]");
    check("Server=h;User Id=sa;Password=weak;", "Server=h;User Id=sa;Password=[REDACTED:password];");
    stays("Server=h;Password=process.env.DB_PASSWORD;");
    stays("x=1;password=weak;");
    stays("app --connection-string Endpoint=https://a.example;Id=xxx;Secret=xxx");
}

#[test]
fn accounts_tags_and_brackets() {
    check("machine h login bob password qx7vkt2w", "machine h login bob password [REDACTED:password]");
    check(
        "<Pass encoding=\"base64\">UXg3dkt0Mnc=</Pass>",
        "<Pass encoding=\"base64\">[REDACTED:password]</Pass>",
    );
    check("<Pass id=\"new\" >Qx7vKt2w</Pass>", "<Pass id=\"new\" >[REDACTED:password]</Pass>");
    stays("if (a == \"password\" > b) {}");
    check("secret: /Qx7vKt2w:Zp9LmR}", "secret: [REDACTED:secret]");
    check("{secret: /Qx7vKt2w:Zp9LmR}", "{secret: [REDACTED:secret]}");
    stays("secret[] = other2Value;");
    stays("\"Store::AccessKey\": \"62d91b17309e76c8\"");
}

#[test]
fn cookies_of_sessions() {
    check("Cookie: auth=Qx7vKt2w==; id=9", "Cookie: [REDACTED:cookie]");
    stays("set-cookie: CUSTOMER=WILE_E_COYOTE");
    stays("{ cookie: value == \"admin1\" }");
}

#[test]
fn three_quotes_are_one() {
    check("password = '''hunter22'''", "password = '''[REDACTED:password]'''");
    check("key = \"\"\"FAKEfake0NOTreal1xQzW7\n0NOTreal1xQ==\"\"\"", "key = \"\"\"[REDACTED:api-key]\"\"\"");
    stays("password = \"\"");
    stays("password = ''''''");
}
